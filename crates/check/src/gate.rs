//! The gate: all rules judged, with what the baseline and the waivers say.

use facts_report::answer::words;
use facts_report::{Record, Report};
use serde::Serialize;

use crate::baseline::{Baseline, Beside, News};
use crate::date::Date;
use crate::error::CheckError;
use crate::judging::{Finding, Found, Judged, Judging, State, Status, several};
use crate::rules::{Demand, Rule};
use crate::settings::{Settings, Severity};
use crate::waivers::{self, MOST_DAYS, Waived};

/// What came of all rules.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// Whether no rule failed that counts as an error.
    pub passed: bool,
    /// The audit's verdict, in two or three words.
    pub verdict: String,
    /// Who has a way out, in one sentence.
    pub headline: String,
    /// The day by which waivers were judged.
    pub today: Date,
    /// The rules, in the order in which they are written.
    pub rules: Vec<Judged>,
    /// The waivers, in the order in which they are written.
    pub waivers: Vec<Waived>,
    /// What is to be said about the baseline; none if there is none.
    pub baseline: Option<News>,
}

impl Gate {
    /// How many rules came out so.
    pub fn count(&self, status: Status) -> usize {
        self.rules
            .iter()
            .filter(|rule| rule.status == status)
            .count()
    }
}

/// Judges an audit by rules. A baseline comes with the audit that lies beside it.
pub fn check(
    report: &Report<'_>,
    settings: &Settings,
    baseline: Option<(&Baseline, &Record)>,
    today: Date,
) -> Result<Gate, CheckError> {
    let rules = Rule::all(settings)?;
    let judging = Judging { report };
    let mut found = rules
        .iter()
        .map(|rule| judging.find(rule))
        .collect::<Result<Vec<Found>, CheckError>>()?;
    let beside = baseline.map(|(baseline, before)| Beside::new(report, baseline, before));
    let beside = beside.transpose()?;
    if let Some(beside) = &beside {
        let findings = found.iter_mut().flat_map(|found| &mut found.findings);
        findings.for_each(|finding| beside.set_state(finding));
    }
    let ids: Vec<&str> = (found.iter())
        .flat_map(|found| &found.findings)
        .map(|finding| finding.id.as_str())
        .collect();
    let most = settings.max_waiver_days.unwrap_or(MOST_DAYS);
    let waivers = waivers::judge(&settings.waive, most, today, &ids);
    let place = |id: &str| {
        waivers
            .iter()
            .position(|waived| waived.id == id && waived.holds())
    };
    for finding in found.iter_mut().flat_map(|found| &mut found.findings) {
        finding.waived = place(&finding.id);
    }
    let rules: Vec<Judged> = (rules.into_iter().zip(found))
        .map(|(rule, found)| judged(rule, found, baseline.is_some()))
        .collect();
    let answered = report.answered();
    Ok(Gate {
        passed: rules
            .iter()
            .all(|rule| rule.level() != Some(Severity::Error)),
        verdict: answered
            .as_ref()
            .map_or_else(|| "Not tested".to_owned(), words::verdict),
        headline: answered.as_ref().map_or_else(String::new, words::headline),
        today,
        baseline: beside.map(|beside| beside.news(&rules)),
        rules,
        waivers,
    })
}

fn judged(rule: Rule, found: Found, baseline: bool) -> Judged {
    let counting = found
        .findings
        .iter()
        .filter(|finding| finding.counts())
        .count();
    let (status, reason) = match found.undecided {
        _ if counting > 0 => (Status::Fails, failing(&rule, &found.findings, baseline)),
        Some(why) => (Status::Undecided, why),
        None => (Status::Holds, holding(&rule, &found.findings)),
    };
    Judged {
        rule,
        status,
        reason,
        findings: found.findings,
    }
}

/// So many of what a rule is about.
fn things(rule: &Rule, number: usize) -> String {
    let (one, more) = match rule.demand {
        Demand::Stories { .. } => ("story", "stories"),
        Demand::Findings { .. } => ("finding", "findings"),
        Demand::Ratio { .. } => ("group", "groups"),
        Demand::Verdict { .. } => ("verdict", "verdicts"),
    };
    several(number as u64, one, more)
}

fn failing(rule: &Rule, findings: &[Finding], baseline: bool) -> String {
    let is = |state: State| move |f: &&Finding| f.counts() && f.state == state;
    let (new, grown) = (
        findings.iter().filter(is(State::New)).count(),
        findings.iter().filter(is(State::Grown)).count(),
    );
    let mut parts = Vec::new();
    if new > 0 {
        let new = things(rule, new);
        parts.push(if baseline {
            format!("{new} not in the baseline")
        } else {
            new
        });
    }
    if grown > 0 {
        parts.push(format!(
            "{} grown since the baseline, beyond chance",
            things(rule, grown)
        ));
    }
    parts.join("; ") + &passed_over(findings)
}

fn holding(rule: &Rule, findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "nothing found".to_owned();
    }
    format!(
        "{} found{}",
        things(rule, findings.len()),
        passed_over(findings)
    )
}

/// How many findings do not count, and why.
fn passed_over(findings: &[Finding]) -> String {
    let waived = findings.iter().filter(|f| f.waived.is_some()).count();
    let is = |state: State| move |f: &&Finding| f.waived.is_none() && f.state == state;
    let known = findings.iter().filter(is(State::Known)).count();
    let unlisted = findings.iter().filter(is(State::Unlisted)).count();
    let parts = [
        (known, "in the baseline"),
        (
            unlisted,
            "that did not show before, with a gap that is not shown to have grown",
        ),
        (waived, "waived"),
    ];
    let parts: Vec<String> = (parts.iter())
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} {what}"))
        .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!(" ({})", parts.join(", "))
    }
}
