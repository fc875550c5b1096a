//! Audit: the engine's work, under what the configuration asks for.

use facts_engine::definitions::Definition;
use facts_engine::{Audit, Individuals, Options, Watch};

use crate::config::Config;
use crate::definitions::definitions_for;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::model::AuditedModel;
use crate::people::People;

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
    if audit.subgroups.is_empty() {
        notes.push(format!(
            "no subgroup is common to all {} groups with a valid action at this support; lower `audit.support`, raise `audit.min-group-size` to set small groups aside, or merge groups",
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

/// The engine's options.
pub(crate) fn options(config: &Config) -> Result<Options, Failure> {
    let audit = &config.audit;
    let mut options = Options::new();
    if let Some(support) = &audit.support {
        options = options.support(support.0.parse().map_err(Failure::engine_usage)?);
    }
    if let Some(validity) = audit.validity {
        options = options.validity(validity);
    }
    if let Some(ranges) = audit.ranges {
        options = options.ranges(ranges);
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
