//! Audit: the engine's work, under what the configuration asks for.

use facts_engine::definitions::Definition;
use facts_engine::{Audit, Individuals, Options, Support, Watch};
use facts_report::text;

use crate::config::Config;
use crate::definitions::definitions_for;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::model::AuditedModel;
use crate::people::People;

/// The most subgroups where the support is chosen.
const COMFORTABLE: usize = 50_000;

/// The fewest people of a subgroup in each group, unless the user says otherwise.
const MIN_MEMBERS: u64 = 20;

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
    let watch = |progress| listener.progress(progress);
    let found = facts_engine::audit_with_individuals(
        &people.population,
        model.model.as_ref(),
        options,
        Watch::new(&watch),
    );
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

/// The options with what the audit chose, for further audits to be made alike.
pub(crate) fn as_chosen(options: Options, audit: &Audit) -> Options {
    let options = options.support(audit.settings.support);
    match audit.settings.max_length {
        None => options,
        Some(items) => options.max_length(items),
    }
}

/// The engine's options.
pub(crate) fn options(config: &Config) -> Result<Options, Failure> {
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
    if let Some(mib) = audit.max_memory_mib {
        options = options.max_memory(mib.saturating_mul(1 << 20));
    }
    // A group too small to be told of is not compared, only named.
    let least = audit
        .min_group_size
        .unwrap_or(1)
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
