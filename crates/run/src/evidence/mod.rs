//! From a configuration to evidence: what is asked for is gathered after the audit.
//!
//! **How often the model is asked.** Tests and intervals ask it nothing: they reuse what it answered.
//! Variants and the hold-out are audits of their own, and most of what they ask was answered before.
//! A model that is asked row by row (a program, a server, a large graph, a function) therefore has
//! its answers kept as long as the audit takes, in a file in the temporary folder if the user names
//! no other (see `AuditedModel::keeping_answers`), and is asked for each distinct row once. Linear models and
//! boosted trees tell whom a change flips without being sent rows; they are simply asked again.

mod variants;

use std::ops::ControlFlow;

use facts_engine::evidence::{
    self, Evidence, Gathering, HoldOut, HoldOutPlan, Stability, StabilityAnalysis, Tests,
};
use facts_engine::flips::Model;
use facts_engine::population::Declaration;
use facts_engine::{Audit, Error, Options, Phase, Progress, Watch};
use serde_json::json;

use self::variants::{Variant, variants};
use crate::audit::Audited;
use crate::config::Config;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::people::People;

/// What is to be gathered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    gathering: Gathering,
    stability: bool,
    hold_out: Option<f64>,
}

impl Plan {
    /// What a configuration asks for, checked; none if that is nothing.
    pub(crate) fn new(config: &Config) -> Result<Option<Self>, Failure> {
        let said = &config.evidence;
        let usual = Gathering::default();
        let plan = Self {
            gathering: Gathering {
                seed: said.seed.unwrap_or(usual.seed),
                alpha: said.alpha.unwrap_or(usual.alpha),
                shuffles: said.shuffles.unwrap_or(usual.shuffles),
                resamples: said.resamples.unwrap_or(usual.resamples),
                detailed: said.detailed.unwrap_or(usual.detailed),
            },
            stability: said.stability.unwrap_or(false),
            hold_out: said.hold_out,
        };
        between_0_and_1("evidence.alpha", plan.gathering.alpha)?;
        if let Some(delta) = said.delta {
            between_0_and_1("evidence.delta", delta)?;
        }
        at_most("evidence.shuffles", plan.gathering.shuffles)?;
        at_most("evidence.resamples", plan.gathering.resamples)?;
        enough_shuffles(&plan.gathering)?;
        if let Some(share) = plan.hold_out {
            between_0_and_1("evidence.hold-out", share)?;
            if plan.gathering.shuffles == 0 {
                return Err(Failure::usage(
                    "`evidence.hold-out` tests what it finds, but `evidence.shuffles` is 0; raise it, or leave the hold-out",
                ));
            }
        }
        let Gathering {
            shuffles,
            resamples,
            ..
        } = plan.gathering;
        let nothing = shuffles == 0 && resamples == 0 && !plan.stability && plan.hold_out.is_none();
        Ok((!nothing).then_some(plan))
    }

    /// How many thousand shuffles are made of each subgroup.
    pub(crate) fn thousand_shuffles(&self) -> f64 {
        self.gathering.shuffles as f64 / 1000.0
    }

    /// How many more audits are made.
    pub(crate) fn audits(&self) -> usize {
        let variants = if self.stability {
            variants::VARIANTS
        } else {
            0
        };
        variants + usize::from(self.hold_out.is_some())
    }

    /// The level of the tests.
    pub(crate) fn alpha(&self) -> f64 {
        self.gathering.alpha
    }

    /// Whether findings are tested.
    pub(crate) fn tests(&self) -> bool {
        self.gathering.shuffles > 0
    }

    /// As many shuffles as are planned, or as findings need to be able to pass at another level.
    pub(crate) fn shuffles_for(&self, alpha: f64) -> usize {
        match self.gathering.shuffles {
            0 => 0,
            shuffles => shuffles.max(needed_shuffles(alpha)),
        }
    }

    /// Whether the model will be asked again.
    pub(crate) fn asks_again(&self) -> bool {
        self.stability || self.hold_out.is_some()
    }
}

fn between_0_and_1(key: &str, value: f64) -> Result<(), Failure> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "`{key}` is {value}, but must be above 0 and below 1; write five percent as 0.05"
    )))
}

/// More shuffles and resamples than this tell nothing more.
const MOST: usize = 1_000_000;

fn at_most(key: &str, value: usize) -> Result<(), Failure> {
    if value <= MOST {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "`{key}` is {value}, but must be at most {MOST}"
    )))
}

/// The fewest shuffles with which something could pass.
fn needed_shuffles(alpha: f64) -> usize {
    // What was found counts as one of the deals, and one part of them is given to the bounds.
    (2.0 / alpha - 1e-9).ceil() as usize - 1
}

/// Refuses so few shuffles that nothing could pass, and levels for which there are never enough.
fn enough_shuffles(gathering: &Gathering) -> Result<(), Failure> {
    let Gathering {
        shuffles, alpha, ..
    } = *gathering;
    let needed = needed_shuffles(alpha);
    if needed > MOST {
        return Err(Failure::usage(format!(
            "`evidence.alpha` is {alpha}, but {MOST} shuffles, which are the most there can be, tell nothing below {}",
            2.0 / (MOST + 1) as f64
        )));
    }
    if shuffles == 0 || shuffles >= needed {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "`evidence.shuffles` is {shuffles}, but nothing could pass at α = {alpha} with fewer than {needed}; raise it, or write 0 for no tests"
    )))
}

/// An audit for which evidence is gathered, and what it was made of.
pub(crate) struct Evidenced<'a> {
    pub(crate) declaration: &'a Declaration,
    pub(crate) people: &'a People<'a>,
    pub(crate) model: &'a dyn Model,
    pub(crate) options: &'a Options,
    pub(crate) audited: &'a Audited,
    pub(crate) suppress_below: Option<u64>,
    pub(crate) listener: &'a dyn Listener,
}

impl Evidenced<'_> {
    /// Gathers what is asked for, and what the user should know about it.
    pub(crate) fn gather(&self, plan: Plan) -> Result<(Evidence, Vec<String>), Failure> {
        let mut notes = Vec::new();
        let gathering = plan.gathering;
        let tests = self.tests(&gathering, &mut notes)?;
        self.listener.step("drawing members again");
        let watch = |progress| self.listener.progress(progress);
        let watch = Watch::new(&watch);
        let Audited {
            audit,
            individuals,
            definitions,
            ..
        } = self.audited;
        let intervals = self.options.work(|| {
            evidence::intervals_of_first(audit, individuals, definitions, &tests, &gathering, watch)
        })??;
        let stability = match plan.stability {
            true => Some(self.stability(&tests, &gathering, &mut notes)?),
            false => None,
        };
        let hold_out = match plan.hold_out {
            Some(share) => self.hold_out(share, &gathering, &mut notes)?,
            None => None,
        };
        self.listener.clear();
        let evidence = Evidence {
            gathering,
            tests,
            intervals,
            stability,
            hold_out,
        };
        Ok((evidence, notes))
    }

    fn tests(&self, gathering: &Gathering, notes: &mut Vec<String>) -> Result<Vec<Tests>, Failure> {
        if gathering.shuffles == 0 {
            return Ok(Vec::new());
        }
        self.listener.step("telling findings from chance");
        let watch = |progress| self.listener.progress(progress);
        let watch = Watch::new(&watch);
        let tested = self.options.work(|| {
            let Audited {
                audit,
                individuals,
                definitions,
                ..
            } = self.audited;
            evidence::test(audit, individuals, definitions, gathering, watch)
        })?;
        match tested {
            Err(error @ Error::TooManyToPermute { .. }) => {
                notes.push(format!("nothing was tested: {error}"));
                Ok(Vec::new())
            }
            tested => Ok(tested?),
        }
    }

    /// Follows the first findings through the variants. One that cannot be made has no outcomes, and
    /// its name says why.
    fn stability(
        &self,
        tests: &[Tests],
        gathering: &Gathering,
        notes: &mut Vec<String>,
    ) -> Result<Stability, Failure> {
        let mut followed = StabilityAnalysis::new(
            &self.audited.audit,
            &self.audited.definitions,
            tests,
            gathering,
        );
        if followed.is_empty() {
            notes.push("no finding to follow through variants: all is fair".to_owned());
            return Ok(followed.stability());
        }
        self.listener.step("making variants of the audit");
        let variants = variants(
            self.declaration.declared_features(),
            &self.audited.audit,
            gathering.seed,
            notes,
        );
        let total = variants.len();
        for (done, variant) in variants.iter().enumerate() {
            self.listener.event(
                "variant",
                json!({ "variant": done + 1, "of": total, "name": variant.name }),
            );
            let made = self.variant(variant, (done as u64, total as u64));
            match made {
                Ok(audit) if audit.subgroups.is_empty() => {
                    let name = format!("{} (no common subgroup)", variant.name);
                    followed.variant(name, Some(&audit));
                }
                Ok(audit) => followed.variant(&variant.name, Some(&audit)),
                Err(Error::Cancelled { .. }) => return Err(Failure::interrupted()),
                Err(error) => {
                    let name = format!("{} ({})", variant.name, in_short(&error));
                    followed.variant(name, None);
                }
            }
        }
        Ok(followed.stability())
    }

    /// Makes one variant; `at` is how many are done, of how many.
    fn variant(&self, variant: &Variant, (done, total): (u64, u64)) -> Result<Audit, Error> {
        // One bar for all variants, not six for each.
        let watch = |_| -> ControlFlow<()> {
            self.listener.progress(Progress {
                phase: Phase::Evidence,
                done,
                total,
            })
        };
        let groups = self
            .audited
            .audit
            .groups
            .iter()
            .map(|group| group.name.as_str());
        let least = self.suppress_below.unwrap_or(1).max(1);
        let options = self.options.clone().compare(groups).min_group_size(least);
        let (population, options) = variant.apply(self, options)?;
        let population = population.as_ref().unwrap_or(&self.people.population);
        let audit = facts_engine::audit(population, self.model, &options, Watch::new(&watch))?;
        Ok(match self.suppress_below {
            Some(k) => audit.suppressed(k),
            None => audit,
        })
    }

    /// Finds among some and tests among the others. If that cannot be done, a note says why.
    fn hold_out(
        &self,
        share: f64,
        gathering: &Gathering,
        notes: &mut Vec<String>,
    ) -> Result<Option<HoldOut>, Failure> {
        self.listener
            .step("finding among some and testing among others");
        let halves = HoldOutPlan {
            share,
            groups: &self.audited.audit.groups,
            definitions: &self.audited.definitions,
            gathering,
            options: self.options,
            suppress_below: self.suppress_below,
        };
        let watch = |progress| self.listener.progress(progress);
        match halves.hold_out(&self.people.population, self.model, Watch::new(&watch)) {
            Ok(halved) => {
                if halved.left_out > 0 {
                    notes.push(format!(
                        "{} of the hold-out {} left out: some group has nobody there among whom to test",
                        if halved.left_out == 1 {
                            "1 finding".to_owned()
                        } else {
                            format!("{} findings", halved.left_out)
                        },
                        if halved.left_out == 1 { "is" } else { "are" },
                    ));
                }
                Ok(Some(halved.hold_out))
            }
            Err(Error::Cancelled { .. }) => Err(Failure::interrupted()),
            Err(error) => {
                notes.push(format!("no hold-out was made: {error}"));
                Ok(None)
            }
        }
    }
}

/// Why a variant could not be made, in a few words.
fn in_short(error: &Error) -> &'static str {
    match error {
        Error::TooManyItemsets { .. } => "too many subgroups",
        Error::ItemsetsTooLarge { .. }
        | Error::TooMuchMemory { .. }
        | Error::TableTooLarge { .. }
        | Error::OverBudget { .. }
        | Error::TooManyRows { .. } => "too much memory",
        Error::NobodyAffected { .. } => "nobody affected",
        Error::NobodyUnaffected { .. } => "nobody unaffected",
        Error::TooFewGroups { .. } => "too few groups",
        Error::Model(_) => "the model failed",
        Error::BadBins { .. } | Error::BinsDoNotCover { .. } => "no such bins",
        _ => "cannot be made",
    }
}

#[cfg(test)]
mod tests;
