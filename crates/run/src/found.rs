//! What one model's audit found, with what supports it and what it comes to: the way from an audit that is
//! ready to be made to a record.

use std::sync::Arc;

use facts_engine::answer::{self, Answer, Reasons};
use facts_engine::evidence::{self, Evidence};
use facts_engine::{Individuals, Options, Watch};
use facts_report::{BaseRates, Record, VERSION};
use serde_json::json;

use crate::audit::{self, Audited};
use crate::audited_profiles;
use crate::config::Config;
use crate::evidence::Evidenced;
use crate::failure::Failure;
use crate::label::Label;
use crate::listener::Listener;
use crate::model::AuditedModel;
use crate::people::People;
use crate::prepared::{Basis, Prepared};
use crate::run::{TOOL, now};

/// For so many stories it is asked why.
const EXPLAINED: usize = 10;

/// An audit that can be made: the model fits the people, and it is known which of its answers is the yes.
pub(crate) struct Ready<'a, 'c> {
    pub(crate) config: &'c Config,
    pub(crate) basis: &'c Basis<'c>,
    pub(crate) options: Options,
    pub(crate) prepared: Prepared<'a>,
}

impl<'a, 'c> Ready<'a, 'c> {
    /// Makes the audit. The profiles behind it are written, if that is asked for.
    pub(crate) fn audit(mut self, listener: &dyn Listener) -> Result<Found<'a, 'c>, Failure> {
        let config = self.config;
        let Prepared {
            people,
            model,
            notes,
            ..
        } = &mut self.prepared;
        let audited = audit::audit(config, people, model, &self.options, listener)?;
        let audit = &audited.audit;
        self.options = audit::as_chosen(self.options, audit, &audited.individuals);
        notes.extend(audited.notes.iter().cloned());
        if let Some(path) = &config.report.profiles {
            let individuals = &audited.individuals;
            audited_profiles::write(path, &people.population, audit, individuals, listener)?;
        }
        let mut base_rates = None;
        if let Some(label) = Label::of(config, &self.basis.table)? {
            base_rates = label.base_rates(people, audit, config.audit.suppress_below)?;
            if base_rates.is_none() {
                notes.push(
                    "base rates are left out: they rest on counts that are suppressed".to_owned(),
                );
            }
        }
        listener.event(
            "audited",
            json!({ "subgroups": audit.subgroups.len(), "pairs": audit.sizes.pairs }),
        );
        Ok(Found {
            ready: self,
            audited,
            base_rates,
        })
    }
}

/// An audit that was made.
pub(crate) struct Found<'a, 'c> {
    ready: Ready<'a, 'c>,
    audited: Audited,
    base_rates: Option<BaseRates>,
}

impl<'a> Found<'a, '_> {
    /// Gathers what supports the findings, if that is asked for.
    pub(crate) fn evidence(
        &mut self,
        listener: &dyn Listener,
    ) -> Result<Option<Evidence>, Failure> {
        let Ready {
            config,
            basis,
            options,
            prepared,
        } = &mut self.ready;
        let Some(plan) = basis.plan else {
            return Ok(None);
        };
        let notes = &mut prepared.notes;
        if let Some(column) = &config.data.weight {
            notes.push(format!(
                "tests and intervals take the weights in {column} as so many people; survey or sampling weights are not, and would make chance pass for a finding"
            ));
        }
        let evidenced = Evidenced {
            declaration: &prepared.columns.declaration,
            people: &prepared.people,
            model: prepared.model.model.as_ref(),
            options,
            audited: &self.audited,
            suppress_below: config.audit.suppress_below,
            listener,
        };
        let gathered = evidenced.gather(plan);
        listener.clear();
        let (mut evidence, more) = gathered?;
        notes.extend(more);
        if let Some(own) = &prepared.own {
            let confirming = (own.as_ref(), &prepared.model, &*options);
            let note = confirm(config, confirming, &self.audited, &mut evidence, listener)?;
            notes.extend(note);
        }
        Ok(Some(evidence))
    }

    /// What the findings come to, and why.
    pub(crate) fn answer(
        &self,
        evidence: Option<&Evidence>,
        listener: &dyn Listener,
    ) -> Result<Answer, Failure> {
        let Ready {
            config,
            options,
            prepared,
            ..
        } = &self.ready;
        let Audited {
            audit,
            individuals,
            definitions,
            ..
        } = &self.audited;
        listener.step("putting the answer together");
        let mut answer = options.work(|| {
            let delta = config.evidence.delta.unwrap_or(answer::DELTA);
            answer::answer(audit, individuals, definitions, evidence, delta)
        })?;
        let population = &prepared.people.population;
        let reads = prepared.model.inputs.as_ref().map(|inputs| {
            let columns = population.columns().iter();
            let read = columns.filter(|c| facts_models::input_of(inputs, c.name()).is_some());
            read.map(|column| column.name().to_owned())
                .collect::<Vec<_>>()
        });
        let reasons = Reasons {
            population,
            model: prepared.model.model.as_ref(),
            audit,
            individuals,
            reads: reads.as_deref(),
            options,
        };
        let watch = |progress| listener.progress(progress);
        let explained = reasons.explain(&mut answer, EXPLAINED, Watch::new(&watch));
        listener.clear();
        explained?;
        Ok(answer)
    }

    /// The record, and the people behind it.
    pub(crate) fn record(
        self,
        evidence: Option<Evidence>,
        answer: Answer,
    ) -> Result<(Record, Individuals, Arc<People<'a>>), Failure> {
        let Ready {
            config,
            basis,
            prepared,
            ..
        } = self.ready;
        let definitions = self.audited.definitions.iter();
        let record = Record {
            version: VERSION,
            tool: TOOL.to_owned(),
            made: now()?,
            data: basis.table.origin.clone(),
            model: prepared.model.origin,
            protected: config.protected.keys().cloned().collect(),
            base_rates: self.base_rates,
            definitions: definitions.map(|definition| definition.id()).collect(),
            assumptions: prepared.columns.notes,
            notes: prepared.notes,
            audit: self.audited.audit,
            evidence,
            answer: Some(answer),
        };
        Ok((record, self.audited.individuals, prepared.people))
    }
}

/// Leaves out of the evidence for rows that people share what does not pass among the people as they are, so
/// that nothing is claimed of them that does not hold of them. Says how much that is, in hundredths.
fn confirm(
    config: &Config,
    (own, model, options): (&People<'_>, &AuditedModel, &Options),
    audited: &Audited,
    evidence: &mut Evidence,
    listener: &dyn Listener,
) -> Result<Option<String>, Failure> {
    if evidence.tests.is_empty() {
        return Ok(None);
    }
    let mut config = config.clone();
    config.audit.suppress_below = None;
    let exact = audit::audit(&config, own, model, options, listener)?;
    let watch = |progress| listener.progress(progress);
    let tests = options.work(|| {
        let (audit, individuals) = (&exact.audit, &exact.individuals);
        let gathering = &evidence.gathering;
        evidence::test(
            audit,
            individuals,
            &audited.definitions,
            gathering,
            Watch::new(&watch),
        )
    })??;
    listener.clear();
    let (passing, confirmed) = evidence.confirm(&audited.audit, &exact.audit, &tests);
    Ok((passing > 0).then(|| {
        let percent = (100.0 * confirmed as f64 / passing as f64).floor();
        format!(
            "of the findings that pass among shared rows, {percent} % pass among the people as they are; no test of the others is told"
        )
    }))
}
