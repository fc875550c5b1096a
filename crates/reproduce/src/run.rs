//! Running an experiment: the authors' set-up as a configuration, its rows, its model, an audit.

use std::path::Path;

use facts_engine::Individuals;
use facts_report::Record;
use facts_run::{Config, Failure, FittedElsewhere, Given, Listener, Table, run_with};

use crate::experiments::{self, Experiment, Variant, authors_model};
use crate::tables::{ADULT, COMPAS};

/// An experiment that is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Which.
    pub experiment: &'static Experiment,
    /// With whose split and model.
    pub variant: Variant,
    /// The real table, where it is at hand.
    pub data: Option<&'a Path>,
    /// Another support than the paper's.
    pub support: Option<&'a str>,
    /// How many threads to work with.
    pub threads: Option<usize>,
}

/// An experiment that was run.
#[derive(Debug)]
pub struct Made {
    /// Which.
    pub experiment: &'static Experiment,
    /// With whose split and model.
    pub variant: Variant,
    /// Whether the rows are generated ones in the place of the real ones.
    pub stand_in: bool,
    /// What was found.
    pub record: Record,
    /// The people behind the counts.
    pub individuals: Individuals,
}

impl Run<'_> {
    /// An experiment as the paper runs it.
    pub fn new(experiment: &'static Experiment, variant: Variant) -> Self {
        Self {
            experiment,
            variant,
            data: None,
            support: None,
            threads: None,
        }
    }

    /// Runs it.
    pub fn run(&self, listener: &dyn Listener) -> Result<Made, Failure> {
        let config = self.config()?;
        listener.step("reading the table");
        let (table, stand_in) = self.table(&config)?;
        let given = Given {
            fitted: self.fitted_by_the_authors()?,
            ..Given::default()
        };
        let (record, individuals) = run_with(&config, &table, given, listener)?;
        Ok(Made {
            experiment: self.experiment,
            variant: self.variant,
            stand_in,
            record,
            individuals,
        })
    }

    fn config(&self) -> Result<Config, Failure> {
        let mut settings = Vec::new();
        if self.variant == Variant::Own {
            settings.push("train.split=own".to_owned());
        }
        if let Some(support) = self.support {
            settings.push(format!("audit.support={support}"));
        }
        if let Some(threads) = self.threads {
            settings.push(format!("audit.threads={threads}"));
        }
        let name = format!("the configuration of {}", self.experiment.name);
        Config::parse(&name, self.experiment.config, &settings)
    }

    /// The rows, and whether they are generated ones.
    fn table(&self, config: &Config) -> Result<(Table, bool), Failure> {
        let data = &config.data;
        if let Some(path) = self.data {
            let table = Table::read(path, data).map_err(|failure| {
                let name = self.experiment.name;
                failure.with(format!(
                    "{} is read as `facts reproduce {name} --print-config` says",
                    path.display()
                ))
            })?;
            return Ok((table, false));
        }
        Ok(match self.experiment.table {
            experiments::Table::Adult => (Table::embedded("adult.csv.gz", ADULT, data)?, false),
            experiments::Table::Compas => {
                let name = "compas-scores-two-years.csv.gz";
                (Table::embedded(name, COMPAS, data)?, false)
            }
            experiments::Table::Ssl | experiments::Table::AdCampaign => {
                return Err(Failure::data("no rows yet"));
            }
        })
    }

    /// The authors' own model, where it is known.
    fn fitted_by_the_authors(&self) -> Result<Option<FittedElsewhere>, Failure> {
        if self.variant == Variant::Own || !self.experiment.has_authors_model() {
            return Ok(None);
        }
        Ok(Some(FittedElsewhere {
            model: authors_model().map_err(Failure::model)?,
            description: "the authors' logistic regression, fitted by scikit-learn".to_owned(),
        }))
    }
}
