//! What is typed about the model.

use std::path::PathBuf;

use clap::Args;
use facts_models::train::ClassWeights;
use facts_run::config::Text;
use facts_run::{Config, Failure};

use super::{number, replace};

/// How the model is asked or fitted.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "The model")]
pub(super) struct ModelArgs {
    /// From which probability on the answer is yes
    #[arg(long, value_name = "P", value_parser = number)]
    threshold: Option<f64>,
    /// The model's output that holds the answer, if it has several
    #[arg(long, value_name = "NAME")]
    output: Option<String>,
    /// The table's column for an input of the model that is called otherwise; repeat for more
    #[arg(long, value_name = "INPUT=COLUMN")]
    map: Vec<String>,
    /// The column that holds what the original of an exported model answered: differences are noted
    #[arg(long, value_name = "COLUMN")]
    check_against: Option<String>,
    /// Seconds that a batch may take
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// How many batches may be out at the same time
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// How many rows a batch has at most
    #[arg(long, value_name = "N")]
    batch_rows: Option<usize>,
    /// Keep the model's answers in this file, and go on from it after a failure [default with
    /// --out: DIR/answers, for programs, servers and ONNX]
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// The column that holds what really happened: for base rates, and to train on
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// The favourable value of the label, where it is not the --favourable class
    #[arg(long, value_name = "VALUE")]
    label_favourable: Option<String>,
    /// With --model train: the seed of the split
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// With --model train: the percentage of rows that is audited, not trained on
    #[arg(long, value_name = "PERCENT")]
    test_percent: Option<u8>,
    /// With --model train: let both classes count the same in all
    #[arg(long)]
    balanced: bool,
    /// With --model train: a column that the model is not to see; repeat for more
    #[arg(long, value_name = "COLUMN")]
    not_trained_on: Vec<String>,
    /// With --model train: save the model, to be opened as linear:FILE
    #[arg(long, value_name = "FILE")]
    save_model: Option<PathBuf>,
}

impl ModelArgs {
    pub(super) fn apply(self, config: &mut Config) -> Result<(), Failure> {
        let training = [
            (self.seed.is_some(), "--seed"),
            (self.test_percent.is_some(), "--test-percent"),
            (self.balanced, "--balanced"),
            (!self.not_trained_on.is_empty(), "--not-trained-on"),
            (self.save_model.is_some(), "--save-model"),
        ];
        if let Some((_, flag)) = training.iter().find(|(given, _)| *given)
            && !config.is_train()
        {
            return Err(Failure::usage(format!(
                "{flag} only has a meaning with --model train"
            )));
        }
        let model = &mut config.model;
        replace(&mut model.threshold, self.threshold);
        replace(&mut model.output, self.output);
        for map in &self.map {
            let (input, column) = map
                .split_once('=')
                .ok_or_else(|| Failure::usage(format!("--map {map}: write INPUT=COLUMN")))?;
            model.columns.insert(input.to_owned(), column.to_owned());
        }
        replace(&mut model.check, self.check_against);
        replace(&mut model.timeout, self.timeout);
        replace(&mut model.workers, self.workers);
        replace(&mut model.batch_rows, self.batch_rows);
        replace(&mut model.answers, self.answers);
        if let Some(label) = self.label {
            config.features.shift_remove(&label);
            config.label.column = Some(label);
        }
        replace(
            &mut config.label.favourable,
            self.label_favourable.map(Text),
        );
        replace(&mut config.train.seed, self.seed);
        replace(&mut config.train.test_percent, self.test_percent);
        if self.balanced {
            config.train.class_weights = Some(ClassWeights::Balanced);
        }
        config.train.exclude.extend(self.not_trained_on);
        replace(&mut config.train.save, self.save_model);
        Ok(())
    }
}
