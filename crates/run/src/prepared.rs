//! What an audit is made of: roles, a model and people; and what several models on one table share of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use facts_engine::Options;
use facts_engine::population::{CostFunction, TransitionRule};
use facts_models::{Input, InputKind, Spelling};
use serde_json::json;

use crate::audit;
use crate::columns::Columns;
use crate::config::Config;
use crate::evidence::Plan;
use crate::failure::Failure;
use crate::found::Ready;
use crate::listener::Listener;
use crate::model::{self, AuditedModel};
use crate::people::People;
use crate::profiles::Manifest;
use crate::readings;
use crate::run::FromCode;
use crate::table::Table;
use crate::two_passes;

/// What audits of any number of models on one table rest on: settings that were checked, and the table.
pub(crate) struct Basis<'a> {
    /// What evidence is to be gathered.
    pub(crate) plan: Option<Plan>,
    pub(crate) options: Options,
    pub(crate) table: Cow<'a, Table>,
}

impl<'a> Basis<'a> {
    /// Checks the settings, and that there is something to audit.
    pub(crate) fn new(
        config: &Config,
        table: &'a Table,
        listener: &dyn Listener,
    ) -> Result<Self, Failure> {
        let config = &table.says(config);
        let plan = Plan::new(config)?;
        let options = audit::options(config, table)?;
        if table.rows() == 0 {
            let name = &table.origin.name;
            return Err(Failure::data(format!("{name}: the table has no rows")));
        }
        listener.event(
            "read",
            json!({ "rows": table.rows(), "data": table.origin.name }),
        );
        listener.check()?;
        let table = with_shared_numbers(config, table)?;
        Ok(Self {
            plan,
            options,
            table,
        })
    }
}

/// Roles and people, by what the models read for which they were decided and taken in. Whoever keeps one
/// audits under settings that differ in the model alone.
#[derive(Default)]
pub(crate) struct Taken<'a> {
    known: Vec<(Option<Vec<Input>>, Columns, Arc<People<'a>>)>,
}

impl<'a> Taken<'a> {
    /// Those of an earlier model that reads the same, or else what `take` makes.
    fn or_take(
        &mut self,
        reads: Option<&[Input]>,
        take: impl FnOnce() -> Result<(Columns, Arc<People<'a>>), Failure>,
    ) -> Result<(Columns, Arc<People<'a>>), Failure> {
        let known = self.known.iter().find(|known| known.0.as_deref() == reads);
        if let Some((_, columns, people)) = known {
            return Ok((columns.clone(), Arc::clone(people)));
        }
        let (columns, people) = take()?;
        self.known.push((
            reads.map(<[Input]>::to_vec),
            columns.clone(),
            Arc::clone(&people),
        ));
        Ok((columns, people))
    }
}

/// What an audit is made of.
pub(crate) struct Prepared<'a> {
    pub(crate) columns: Columns,
    pub(crate) model: AuditedModel,
    pub(crate) people: Arc<People<'a>>,
    /// The people as they are, where they share rows.
    pub(crate) own: Option<Arc<People<'a>>>,
    pub(crate) notes: Vec<String>,
}

/// The table, with numbers that at least k people hold if small counts are to be suppressed.
pub(crate) fn with_shared_numbers<'a>(
    config: &Config,
    table: &'a Table,
) -> Result<Cow<'a, Table>, Failure> {
    let Some(k) = config.audit.suppress_below else {
        return Ok(Cow::Borrowed(table));
    };
    let label = config.label.column.as_deref();
    let checked = config.model.check.as_deref();
    let exact = [config.data.weight.as_deref(), label, checked];
    let names = table.names().into_iter();
    let names: Vec<&str> = names.filter(|name| !exact.contains(&Some(*name))).collect();
    let mut origin = table.origin.clone();
    for file in &mut origin.files {
        // All but whole multiples of k would tell, by subtraction, how few are left out.
        file.rows = file.rows / k.max(1) * k;
    }
    Ok(Cow::Owned(Table {
        cells: table.cells.with_shared_numbers(&names, k)?,
        origin,
        manifest: table.manifest.clone(),
        notes: table.notes.clone(),
    }))
}

impl<'a> Prepared<'a> {
    /// Roles, model and people. A model that is opened tells what it reads before roles are given; one
    /// that is fitted here reads what was given a role, and leaves some of the people for the audit.
    pub(crate) fn new(
        config: &Config,
        table: &'a Table,
        code: FromCode,
        taken: Option<&mut Taken<'a>>,
        listener: &dyn Listener,
    ) -> Result<Self, Failure> {
        let prepared = if code.model.is_none() && config.is_train() {
            Self::fitted(config, table, code, listener)?
        } else {
            Self::opened(config, table, code, taken, listener)?
        };
        listener.event(
            "model",
            json!({ "model": prepared.model.origin.description }),
        );
        listener.check()?;
        Ok(prepared)
    }

    /// With a model that is fitted on part of the table.
    fn fitted(
        config: &Config,
        table: &'a Table,
        code: FromCode,
        listener: &dyn Listener,
    ) -> Result<Self, Failure> {
        let mut columns = decide(config, table, None, code.costs, code.allowed, listener)?;
        listener.step("fitting a model");
        let fitted = model::fit_on_part(config, &mut columns, table, code.fitted)?;
        if let Some(path) = &config.train.save {
            save_model(path, &fitted.additive, listener)?;
        }
        Ok(Self {
            columns,
            model: fitted.model,
            people: Arc::new(fitted.people),
            own: None,
            notes: fitted.notes,
        })
    }

    /// With a model that is at hand or is opened.
    fn opened(
        config: &Config,
        table: &'a Table,
        code: FromCode,
        taken: Option<&mut Taken<'a>>,
        listener: &dyn Listener,
    ) -> Result<Self, Failure> {
        let model = match code.model {
            Some((model, origin)) => AuditedModel::at_hand(model, origin),
            None => {
                listener.step("opening the model");
                model::open(config, listener)?
            }
        };
        let reads = code.reads.map(|columns| {
            let input = |column| Input {
                column,
                kind: InputKind::Any,
                spelling: Spelling::Exact,
            };
            columns.into_iter().map(input).collect::<Vec<_>>()
        });
        let reads = reads.as_deref().or(model.inputs.as_deref());
        let take = || {
            let columns = decide(config, table, reads, code.costs, code.allowed, listener)?;
            listener.step("taking in the population");
            let people = People::of(config, &columns.declaration, Cow::Borrowed(&table.cells))?;
            Ok((columns, Arc::new(people)))
        };
        let (columns, people) = match taken {
            Some(taken) => taken.or_take(reads, take)?,
            None => take()?,
        };
        Ok(Self {
            people,
            columns,
            own: None,
            notes: model.note.iter().cloned().collect(),
            model,
        })
    }

    /// Checks that the model fits the people, and learns which of its answers is the yes.
    pub(crate) fn ready<'c>(
        mut self,
        config: &'c Config,
        basis: &'c Basis<'_>,
    ) -> Result<Ready<'a, 'c>, Failure> {
        let manifest = basis.table.manifest.as_deref();
        self.notes.extend(manifest.and_then(Manifest::note));
        self.notes.extend(basis.table.notes.iter().cloned());
        self.notes.extend(two_passes::note(&basis.table.cells));
        let protected: Vec<&str> = config.protected.keys().map(String::as_str).collect();
        let columns = self.people.population.columns();
        self.notes
            .extend(self.model.check_columns(columns, &protected)?);
        if basis.plan.is_some_and(|plan| plan.asks_again()) {
            self.model = self.model.keeping_answers(config)?;
        }
        let favourable = readings::favourable(config, &self.model, &self.people)?;
        Ok(Ready {
            config,
            basis,
            options: basis.options.clone().favourable(favourable),
            prepared: self,
        })
    }

    /// The same with rows that people share, if small counts are to be suppressed. What can only be asked of
    /// people as they are is asked before.
    pub(crate) fn shared(
        mut self,
        config: &Config,
        listener: &dyn Listener,
    ) -> Result<Self, Failure> {
        let k = config.audit.suppress_below;
        if k.is_some() || config.model.check.is_some() {
            let protected: Vec<&str> = config.protected.keys().map(String::as_str).collect();
            (self.model).check_columns(self.people.population.columns(), &protected)?;
        }
        if let Some(column) = &config.model.check {
            let note = (self.model).check_answers(column, &self.people, k.is_none())?;
            self.notes.push(note);
        }
        let Some(k) = k else {
            return Ok(self);
        };
        listener.step("putting people together who are alike");
        let declaration = std::mem::take(&mut self.columns.declaration);
        let declaration = declaration.with_edges_of(&self.people.population);
        let model = self.model.model.as_ref();
        let (people, note) = self.people.shared(config, &declaration, model, k)?;
        self.columns.declaration = declaration;
        self.own = Some(std::mem::replace(&mut self.people, Arc::new(people)));
        self.model.suppress(self.people.population.summary(), k);
        self.notes.push(note);
        Ok(self)
    }
}

/// What each column is to the audit of a model that reads these inputs.
fn decide(
    config: &Config,
    table: &Table,
    inputs: Option<&[Input]>,
    costs: HashMap<String, CostFunction>,
    allowed: HashMap<String, TransitionRule>,
    listener: &dyn Listener,
) -> Result<Columns, Failure> {
    listener.step("looking at the columns");
    let mut columns = Columns::decide(config, &table.cells, inputs)?;
    columns.take_code(costs, allowed)?;
    Ok(columns)
}

fn save_model(
    path: &Path,
    model: &facts_models::AdditiveModel,
    listener: &dyn Listener,
) -> Result<(), Failure> {
    let mut text =
        serde_json::to_vec_pretty(model).map_err(|e| Failure::output(path.display(), e))?;
    text.push(b'\n');
    crate::files::write(path, &text, listener)
}
