//! Audit: the engine's work, under what the configuration asks for.

use facts_engine::definitions::Definition;
use facts_engine::{Audit, Budget, Individuals, Options, Searched, Support, Watch};
use facts_report::{Size, text};

use crate::config::Config;
use crate::definitions::definitions_for;
use crate::evidence::Plan;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::model::AuditedModel;
use crate::people::People;
use crate::table::Table;

/// The most subgroups where the support is chosen.
const COMFORTABLE: usize = 50_000;

/// The fewest people of a subgroup in each group, unless the user says otherwise.
const MIN_MEMBERS: u64 = 20;

/// The definitions that are reported unless the user says which: the columns of the paper.
const PAPER_COLUMNS: usize = 12;

/// A time in seconds that is said before it is spent.
const WORTH_SAYING: f64 = 10.0;

/// What a thousand shuffles of a subgroup take one thread, and how much more they take for each of its
/// actions, in seconds: fitted to audits of 800 to 9,300 subgroups with 2,700 to 150,000 actions.
const SHUFFLES: (f64, f64) = (0.002, 0.000_17);

/// What the engine found, and by which definitions it is to be read.
#[derive(Debug)]
pub(crate) struct Audited {
    /// The audit, suppressed if it is to be.
    pub(crate) audit: Audit,
    pub(crate) individuals: Individuals,
    pub(crate) definitions: Vec<Box<dyn Definition>>,
    pub(crate) notes: Vec<String>,
}

/// Audits a model on people.
pub(crate) fn audit(
    config: &Config,
    people: &People<'_>,
    model: &AuditedModel,
    options: &Options,
    listener: &dyn Listener,
) -> Result<Audited, Failure> {
    let plan = Plan::new(config)?;
    let watch = |progress| listener.progress(progress);
    let found = search(people, model, options, Watch::new(&watch)).and_then(|searched| {
        check_reports(config, &searched)?;
        let expected = Expected::of(&searched, model, plan)?;
        if expected.seconds > WORTH_SAYING {
            listener.note(&expected.to_string());
        }
        searched.audit(model.model.as_ref())
    });
    listener.clear();
    let (mut audit, individuals) = found.map_err(|error| about_answers(error, model))?;
    if let Some(k) = config.audit.suppress_below {
        audit = audit.suppressed(k);
    }
    let definitions = definitions_for(config, &audit)?;
    let mut notes: Vec<String> = definitions.note.into_iter().collect();
    notes.extend(about_choice(config, &audit));
    if audit.subgroups.is_empty() {
        notes.push(format!(
            "no subgroup is common to all {} groups with a valid action at this support; lower `audit.support` or `audit.min-members`, raise `audit.min-group-size` to set small groups aside, or merge groups",
            audit.groups.len()
        ));
    }
    Ok(Audited {
        audit,
        individuals,
        definitions: definitions.all,
        notes,
    })
}

/// Refuses an audit whose reports would not fit into memory, before the model is asked about any change. An
/// audit that is only shown takes far less.
fn check_reports(config: &Config, searched: &Searched<'_>) -> Result<(), facts_engine::Error> {
    if config.report.out.is_none() {
        return Ok(());
    }
    let (predicates, pairs_text) = searched.letters();
    let size = Size {
        groups: searched.groups(),
        definitions: match config.report.definitions.len() {
            0 => PAPER_COLUMNS,
            named => named,
        },
        subgroups: searched.subgroups(),
        pairs: searched.pairs(),
        predicates,
        pairs_text,
    };
    searched.budget().check(
        "writing the reports",
        size.report_bytes(),
        "report fewer definitions, allow fewer items a predicate, or raise the support",
    )
}

fn search<'a>(
    people: &'a People<'_>,
    model: &AuditedModel,
    options: &'a Options,
    watch: Watch<'a>,
) -> Result<Searched<'a>, facts_engine::Error> {
    facts_engine::search(&people.population, model.model.as_ref(), options, watch)
}

/// How much an audit will have to do, and how long that will take, about.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The subgroups.
    pub subgroups: usize,
    /// The pairs of a subgroup and a valid action.
    pub pairs: usize,
    /// The support that was given or chosen.
    pub support: Support,
    /// The most items of a predicate, if limited.
    pub max_length: Option<usize>,
    /// The people who are audited.
    pub people: u64,
    /// How long the audit will take from here, evidence included.
    pub seconds: f64,
}

impl Expected {
    fn of(
        searched: &Searched<'_>,
        model: &AuditedModel,
        plan: Option<Plan>,
    ) -> Result<Self, facts_engine::Error> {
        let seconds = searched.seconds_left(model.model.as_ref())?;
        let settings = searched.settings();
        let audit = seconds.flips + seconds.counting;
        let evidence = plan.map_or(0.0, |plan| {
            let (subgroups, pairs) = (searched.subgroups() as f64, searched.pairs() as f64);
            let shuffled = SHUFFLES.0 * subgroups + SHUFFLES.1 * pairs;
            plan.thousand_shuffles() * shuffled / searched.threads() as f64
                + plan.audits() as f64 * audit
        });
        Ok(Self {
            subgroups: searched.subgroups(),
            pairs: searched.pairs(),
            support: settings.support,
            max_length: settings.max_length,
            people: searched.people(),
            seconds: audit + evidence,
        })
    }

    /// Finds out how much an audit would have to do.
    pub(crate) fn search(
        config: &Config,
        people: &People<'_>,
        model: &AuditedModel,
        options: &Options,
        listener: &dyn Listener,
    ) -> Result<Self, Failure> {
        let plan = Plan::new(config)?;
        let watch = |progress| listener.progress(progress);
        let expected = search(people, model, options, Watch::new(&watch))
            .and_then(|searched| Self::of(&searched, model, plan));
        listener.clear();
        Ok(expected?)
    }
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let length = match self.max_length {
            None => String::new(),
            Some(1) => ", predicates of 1 item".to_owned(),
            Some(items) => format!(", predicates of up to {items} items"),
        };
        let (subgroups, pairs) = (self.subgroups as u64, self.pairs as u64);
        write!(
            f,
            "{} subgroups with {} actions at support {}{length}: {}",
            text::count(subgroups),
            text::count(pairs),
            self.support,
            about(self.seconds)
        )
    }
}

/// A time that is not known exactly.
fn about(seconds: f64) -> String {
    let minutes = seconds / 60.0;
    if seconds <= WORTH_SAYING {
        "less than 10 seconds".to_owned()
    } else if minutes < 1.5 {
        format!("about {:.0} seconds", (seconds / 10.0).ceil() * 10.0)
    } else if minutes < 90.0 {
        format!("about {minutes:.0} minutes")
    } else {
        format!("about {:.0} hours", minutes / 60.0)
    }
}

/// Which support and length were chosen, where that is not what one would expect, and why.
fn about_choice(config: &Config, audit: &Audit) -> Option<String> {
    let settings = &audit.settings;
    let raised = config.audit.support.is_none() && settings.support != Support::ONE_PERCENT;
    let limited = settings
        .max_length
        .filter(|_| config.audit.max_length.is_none());
    let support = format!("support {}", settings.support);
    let what = match limited {
        None if raised => support,
        None => return None,
        Some(1) => format!("{support} and predicates of 1 item"),
        Some(items) => format!("{support} and predicates of up to {items} items"),
    };
    Some(format!(
        "chosen, as none was given: {what}; at support {} and any length allowed there are more than {} subgroups, or more actions than fit into memory; choose with `audit.support` and `audit.max-length`",
        Support::ONE_PERCENT,
        text::count(COMFORTABLE as u64)
    ))
}

/// What a model answered before it failed is kept; says so.
fn about_answers(error: facts_engine::Error, model: &AuditedModel) -> Failure {
    use facts_engine::Error;
    use facts_engine::flips::ModelError;
    let failed = matches!(
        error,
        Error::Model(ModelError::Failed(_)) | Error::Cancelled { .. }
    );
    let failure: Failure = error.into();
    match &model.answers {
        Some(path) if failed => failure.with(format!(
            "what the model answered until then is kept in {}: run the same command again to go on from there",
            path.display()
        )),
        Some(path) => failure.with(format!(
            "the model's answers are kept in {}: remove it if the model answers otherwise now",
            path.display()
        )),
        None => failure,
    }
}

/// The options with what the audit chose, for further audits to be made alike beside it.
pub(crate) fn as_chosen(options: Options, audit: &Audit, beside: &Individuals) -> Options {
    let options = options
        .support(audit.settings.support)
        .drawing_on(beside.budget());
    match audit.settings.max_length {
        None => options,
        Some(items) => options.max_length(items),
    }
}

/// How much memory an audit may take, in bytes.
pub(crate) fn max_memory(config: &Config) -> u64 {
    match config.audit.max_memory_mib {
        Some(mib) => mib.saturating_mul(1 << 20),
        None => Options::new().memory(),
    }
}

/// The engine's options, for an audit of a table that is kept in memory.
pub(crate) fn options(config: &Config, table: &Table) -> Result<Options, Failure> {
    let audit = &config.audit;
    let mut options = Options::new().min_members(audit.min_members.unwrap_or(MIN_MEMBERS));
    options = match &audit.support {
        Some(support) => options.support(support.0.parse()?),
        None => options.choose_support(COMFORTABLE),
    };
    if let Some(validity) = audit.validity {
        options = options.validity(validity);
    }
    if let Some(ranges) = audit.ranges {
        options = options.ranges(ranges);
    }
    if audit.max_length == Some(0) {
        return Err(Failure::usage("`audit.max-length` is 0; give at least 1"));
    }
    if let Some(items) = audit.max_length {
        options = options.max_length(items);
    }
    if let Some(subgroups) = audit.max_subgroups {
        options = options.max_subgroups(subgroups);
    }
    let budget = Budget::new(max_memory(config));
    options = options.drawing_on(budget.without(table.cells.bytes()));
    // A group too small to be told of is not compared, only named. Neither is one with fewer people
    // than a subgroup must have of it: no subgroup would be common to all.
    let least = audit
        .min_group_size
        .unwrap_or(audit.min_members.unwrap_or(MIN_MEMBERS))
        .max(audit.suppress_below.unwrap_or(1));
    options = options.min_group_size(least);
    if let Some(groups) = &audit.compare {
        options = options.compare(groups);
    }
    if let Some(rows) = config.model.batch_rows {
        options = options.batch_rows(rows);
    }
    if audit.threads == Some(0) {
        return Err(Failure::usage("`audit.threads` is 0; give at least 1"));
    }
    if let Some(threads) = audit.threads {
        options = options.threads(threads);
    }
    Ok(options)
}
