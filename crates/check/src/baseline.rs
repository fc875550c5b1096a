//! The baseline: what was found before, so that only what is new or has grown counts.
//!
//! It lists the findings that were accepted, by id with their values, for people who review a change of
//! it. Beside it lies the audit that they are from, which holds the counts of all subgroups: with these
//! a gap of today is tested against that of then, whether it was a finding or not. What merely crossed
//! the line of significance has not grown.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use facts_engine::comparison::{Comparison, GapMoved, compare};
use facts_report::{Diff, Record, Report};
use serde::{Deserialize, Serialize};

use crate::error::CheckError;
use crate::judging::{Finding, Judged, State};

/// What a baseline calls itself.
pub const KIND: &str = "facts-baseline";

/// The version of its form.
const VERSION: u32 = 1;

/// What was found before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Baseline {
    kind: String,
    version: u32,
    /// The tool that wrote it.
    pub tool: String,
    /// When the audit was made, in UTC.
    pub made: String,
    /// The SHA-256 of the audit beside it.
    pub audit_sha256: String,
    /// The findings that were accepted, by id.
    pub findings: BTreeMap<String, Listed>,
    /// Findings that were there and not accepted, or that were gone and taken out: they count as new,
    /// whatever the audit beside it holds.
    pub counts_as_new: BTreeSet<String>,
}

/// A finding that was accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// The rule that found fault with it.
    pub rule: String,
    /// The people at a loss, the score or the ratio.
    pub value: String,
    /// What was found, in one sentence.
    pub sentence: String,
}

/// What is to be said about a baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct News {
    /// How many findings it lists.
    pub listed: usize,
    /// Those that no rule finds today, by id, with what was found.
    pub gone: BTreeMap<String, String>,
    /// What keeps it from being compared like with like.
    pub warnings: Vec<String>,
}

impl Baseline {
    /// A baseline that accepts what rules find fault with today. What is waived is not accepted: it
    /// must count once the waiver lapses.
    pub fn new(record: &Record, audit_sha256: String, judged: &[Judged]) -> Self {
        let (waived, accepted): (Vec<_>, Vec<_>) =
            all(judged).partition(|(_, finding)| finding.waived.is_some());
        let listed = |(rule, finding): (&Judged, &Finding)| {
            let listed = Listed {
                rule: rule.rule.name.clone(),
                value: facts_report::text::number(finding.value),
                sentence: finding.sentence.clone(),
            };
            (finding.id.clone(), listed)
        };
        Self {
            kind: KIND.to_owned(),
            version: VERSION,
            tool: record.tool.clone(),
            made: record.made.clone(),
            audit_sha256,
            findings: accepted.into_iter().map(listed).collect(),
            counts_as_new: (waived.iter())
                .map(|(_, finding)| finding.id.clone())
                .collect(),
        }
    }

    /// Reads a baseline.
    pub fn parse(text: &str) -> Result<Self, CheckError> {
        #[derive(Deserialize)]
        struct Kind {
            kind: Option<String>,
            version: Option<u32>,
        }
        let refuse = |error: serde_json::Error| CheckError::NotABaseline(error.to_string());
        let found: Kind = serde_json::from_str(text).map_err(refuse)?;
        match (found.kind.as_deref(), found.version) {
            (Some(KIND), Some(VERSION)) => serde_json::from_str(text).map_err(refuse),
            (Some(KIND), Some(found)) => Err(CheckError::BaselineVersion {
                found,
                known: VERSION,
            }),
            (kind, _) => {
                let kind = kind.unwrap_or("something else");
                Err(CheckError::NotABaseline(format!("it is {kind}")))
            }
        }
    }

    /// The baseline as it is written.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Takes out what no rule finds any more, so that it counts as new if it comes back. Says how many
    /// findings that were.
    pub fn prune(&mut self, judged: &[Judged]) -> usize {
        let gone: Vec<String> = self.gone(judged).map(|(id, _)| id.clone()).collect();
        for id in &gone {
            self.findings.remove(id);
            self.counts_as_new.insert(id.clone());
        }
        gone.len()
    }

    /// The findings listed that no rule finds today.
    fn gone<'a>(&'a self, judged: &'a [Judged]) -> impl Iterator<Item = (&'a String, &'a Listed)> {
        let found: BTreeSet<&str> = all(judged)
            .map(|(_, finding)| finding.id.as_str())
            .collect();
        let listed = self.findings.iter();
        listed.filter(move |(id, _)| !found.contains(id.as_str()))
    }
}

fn all(judged: &[Judged]) -> impl Iterator<Item = (&Judged, &Finding)> {
    judged
        .iter()
        .flat_map(|rule| rule.findings.iter().map(move |finding| (rule, finding)))
}

/// What today's gaps are beside those of a baseline.
pub(crate) struct Beside<'a> {
    baseline: &'a Baseline,
    comparison: Option<Comparison>,
    /// Where each predicate stands in the comparison.
    places: HashMap<String, usize>,
    warnings: Vec<String>,
    alpha: f64,
}

impl<'a> Beside<'a> {
    pub(crate) fn new(
        report: &Report<'_>,
        baseline: &'a Baseline,
        before: &Record,
    ) -> Result<Self, CheckError> {
        let now = report.record;
        let alpha = now.alpha();
        let comparison = compare(before.side(), now.side(), &[], alpha);
        // By no definitions: what is wanted is what keeps the two apart.
        let apart = Diff::new(before, now, &[])
            .map_err(|error| CheckError::NotABaseline(error.to_string()))?;
        let mut warnings = apart.warnings;
        if comparison.is_none() {
            let none = "nothing in the baseline can be compared with this audit: every finding counts as new";
            warnings.insert(0, none.to_owned());
        }
        let compared = comparison.iter().flat_map(|c| &c.subgroups).enumerate();
        Ok(Self {
            baseline,
            places: compared
                .map(|(place, s)| (s.predicate.clone(), place))
                .collect(),
            comparison,
            warnings,
            alpha,
        })
    }

    /// Says what a finding is beside the baseline.
    pub(crate) fn set_state(&self, finding: &mut Finding) {
        let listed = self.baseline.findings.contains_key(&finding.id);
        if self.baseline.counts_as_new.contains(&finding.id) {
            finding.state = State::New;
            return;
        }
        let Some((worse, better)) = finding.pair else {
            // A verdict has no gap of its own to be tested.
            finding.state = if listed { State::Known } else { State::New };
            return;
        };
        let Some(gap) = self.gap(finding.predicate.as_deref(), worse, better) else {
            finding.state = State::New;
            return;
        };
        let grown = gap.moved_against(worse, self.alpha);
        finding.growth_p = Some(gap.moved.corrected);
        finding.state = match (listed, grown) {
            (true, true) => State::Grown,
            (true, false) => State::Known,
            (false, true) => State::New,
            (false, false) => State::Unlisted,
        };
    }

    /// The gap between two groups of a subgroup, or of all people.
    fn gap(&self, predicate: Option<&str>, worse: usize, better: usize) -> Option<&GapMoved> {
        let comparison = self.comparison.as_ref()?;
        match predicate {
            None => comparison.people.as_ref()?.between(worse, better),
            Some(predicate) => {
                let place = *self.places.get(predicate)?;
                let within = comparison.subgroups[place].within(None)?;
                within.between(worse, better)
            }
        }
    }

    /// What is to be said about the baseline.
    pub(crate) fn news(self, judged: &[Judged]) -> News {
        let gone = self.baseline.gone(judged);
        News {
            listed: self.baseline.findings.len(),
            gone: gone
                .map(|(id, listed)| (id.clone(), listed.sentence.clone()))
                .collect(),
            warnings: self.warnings,
        }
    }
}
