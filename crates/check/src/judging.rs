//! Judging one rule by one audit.

use facts_engine::answer::{Compared, Verdict};
use facts_engine::distribution::Share;
use facts_engine::evidence::Tests;
use facts_engine::ranking::Ranked;
use facts_engine::similar::most_similar;
use facts_report::answer::{Answered, words};
use facts_report::text::{count, number, value};
use facts_report::{Column, Conditions, Report};
use serde::Serialize;

use crate::error::CheckError;
use crate::rules::{Demand, Rule};
use crate::settings::{EvidenceWanted, OnUndecided, Severity, VerdictWanted};

/// The name under which stories have ids, where findings have that of their definition.
pub const STORY: &str = "story";

/// What became of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It holds.
    Holds,
    /// It fails.
    Fails,
    /// There is too little data to tell.
    Undecided,
}

/// A rule and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The rule.
    pub rule: Rule,
    /// What became of it.
    pub status: Status,
    /// Why, in one sentence.
    pub reason: String,
    /// What it finds fault with; what is known or waived is among them.
    pub findings: Vec<Finding>,
}

/// Something that a rule finds fault with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Its id, the same in every audit that speaks of it.
    pub id: String,
    /// The predicate, if it is about a subgroup.
    pub predicate: Option<String>,
    /// The groups that are worse off.
    pub against: Vec<String>,
    /// What was found, in one sentence.
    pub sentence: String,
    /// People at a loss (at least so many), the score, or the ratio.
    #[serde(serialize_with = "facts_report::json::JsonNumber::write")]
    pub value: f64,
    /// Beside the baseline.
    pub state: State,
    /// How likely a gap that grew so much is by chance, corrected for all subgroups compared.
    pub growth_p: Option<f64>,
    /// The waiver that lets it through, by its place.
    pub waived: Option<usize>,
    /// The worse-off and the better-off group, by place; none where no gap is compared.
    #[serde(skip)]
    pub(crate) pair: Option<(usize, usize)>,
}

/// What a finding is beside the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// There is no baseline, it has nothing to compare with, or the finding is not listed there and its
    /// gap has grown beyond chance.
    New,
    /// It is listed, and its gap has grown beyond chance.
    Grown,
    /// It is listed, and its gap is not shown to have grown.
    Known,
    /// It is not listed, and its gap is not shown to have grown: it was there and did not show.
    Unlisted,
}

impl Finding {
    /// Whether a rule fails for it.
    pub fn counts(&self) -> bool {
        self.waived.is_none() && matches!(self.state, State::New | State::Grown)
    }
}

impl Judged {
    /// What it amounts to: nothing if it holds, or if it is undecided and that may be.
    pub fn level(&self) -> Option<Severity> {
        match (self.status, self.rule.on_undecided) {
            (Status::Holds, _) | (Status::Undecided, OnUndecided::Pass) => None,
            (Status::Fails, _) | (Status::Undecided, OnUndecided::Fail) => Some(self.rule.severity),
            (Status::Undecided, OnUndecided::Warn) => Some(self.rule.severity.min(Severity::Warn)),
        }
    }

    /// Those that the rule fails for.
    pub fn counting(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.counts())
    }
}

/// What a rule finds fault with, and what keeps it from being decided if nothing of that counts.
pub(crate) struct Found {
    pub(crate) findings: Vec<Finding>,
    pub(crate) undecided: Option<String>,
}

/// A report with what its rules may speak of.
pub(crate) struct Judging<'a> {
    pub(crate) report: &'a Report<'a>,
}

impl Judging<'_> {
    /// What a rule finds fault with.
    pub(crate) fn find(&self, rule: &Rule) -> Result<Found, CheckError> {
        let refuse = |why: String| CheckError::Rule {
            rule: format!("check.rule `{}`", rule.name),
            why,
        };
        let groups = self.groups(rule).map_err(refuse)?;
        let features = &self.report.record.audit.features;
        let conditions = rule.condition.as_deref();
        let conditions = conditions
            .map(|text| Conditions::parse(text, features))
            .transpose()
            .map_err(|why| refuse(format!("`where`: {why}")))?;
        let admits = |place: usize| {
            let predicate = &self.report.record.audit.subgroups[place].predicate;
            conditions.as_ref().is_none_or(|c| c.admit(predicate))
        };
        let Some(answered) = self.report.answered() else {
            let why = "the audit was saved before there was an answer: make it again";
            return Ok(undecided(why));
        };
        Ok(match &rule.demand {
            Demand::Stories { max_loss } => self.stories(&answered, *max_loss, &groups, admits),
            Demand::Findings {
                definition,
                max_score,
            } => {
                let parsed = facts_engine::definitions::parse(definition);
                let parsed = parsed.map_err(|error| refuse(error.to_string()))?;
                let ranked = Report::by(self.report.record, vec![parsed]);
                let narrowed = rule.condition.is_some();
                let found = Findings {
                    answered: &answered,
                    column: &ranked.columns[0],
                    evidence: rule.evidence,
                    max_score: *max_score,
                    narrowed,
                };
                found.find(&groups, admits)
            }
            Demand::Ratio { min_ratio } => self.ratio(&answered, *min_ratio, &groups),
            Demand::Verdict { wanted } => self.verdict(&answered, *wanted, &groups),
        })
    }

    /// The groups that a rule names, by place; all if it names none.
    fn groups(&self, rule: &Rule) -> Result<Vec<usize>, String> {
        let groups = &self.report.record.audit.groups;
        let names = || groups.iter().map(|group| group.name.trim());
        if rule.groups.is_empty() {
            return Ok((0..groups.len()).collect());
        }
        let place = |name: &String| {
            names().position(|known| known == name).ok_or_else(|| {
                let known = most_similar(name, names()).join(", ");
                format!("no group is called `{name}`; there are {known}")
            })
        };
        rule.groups.iter().map(place).collect()
    }

    fn stories(
        &self,
        answered: &Answered<'_>,
        max_loss: f64,
        groups: &[usize],
        admits: impl Fn(usize) -> bool,
    ) -> Found {
        if answered.answer.verdict.is_none() {
            return undecided("no finding was tested, so nothing tells findings from chance");
        }
        let (mut findings, mut perhaps) = (Vec::new(), 0);
        let rows = answered.stories();
        for (story, row) in answered.answer.stories.iter().zip(rows) {
            if !groups.contains(&story.worse_off) || !admits(story.subgroup) {
                continue;
            }
            if story.loss.at_least <= max_loss {
                perhaps += u64::from(story.loss.people > max_loss);
                continue;
            }
            findings.push(Finding {
                id: self.report.finding_id(&row.predicate, STORY),
                predicate: Some(row.predicate),
                against: vec![row.against],
                sentence: row.sentence,
                value: story.loss.at_least,
                state: State::New,
                growth_p: None,
                waived: None,
                pair: Some((story.worse_off, story.better_off)),
            });
        }
        let undecided = match (&answered.answer.verdict, perhaps) {
            (Some(Verdict::CannotTell { .. }), _) => Some(words::reason(answered)),
            (_, 0) => None,
            (_, some) => Some(format!(
                "in {} the people at a loss may be more than {}, and may be fewer",
                several(some, "story", "stories"),
                number(max_loss)
            )),
        };
        Found {
            findings,
            undecided,
        }
    }

    fn ratio(&self, answered: &Answered<'_>, min_ratio: f64, groups: &[usize]) -> Found {
        let people = answered.answer.people.iter();
        let open: Option<Vec<Share>> = people
            .map(facts_engine::answer::GroupPeople::open)
            .collect();
        let Some(open) = open else {
            return undecided("how many have a way out is suppressed");
        };
        let alpha = self
            .report
            .evidence()
            .map_or(0.05, |found| found.gathering.alpha);
        // Each group is compared with the best off.
        let alpha = alpha / open.len().saturating_sub(1).max(1) as f64;
        let Some(best) = Compared::at(&open, alpha).map(|compared| compared.best) else {
            return undecided("there is no group");
        };
        if open[best].part == 0 {
            return undecided("nobody has a way out");
        }
        let (mut findings, mut perhaps) = (Vec::new(), Vec::new());
        for &g in groups.iter().filter(|&&g| g != best) {
            let compared = Compared::at(&[open[g], open[best]], alpha);
            let Some((ratio, interval)) =
                compared.and_then(|compared| compared.ratio.zip(compared.ratio_interval))
            else {
                continue;
            };
            let sentence = format!(
                "Of the refused, {} of {} {} and {} of {} {} have a way out: the ratio is {}, and lies between {} and {}.",
                count(open[g].part),
                count(open[g].whole),
                answered.group(g),
                count(open[best].part),
                count(open[best].whole),
                answered.group(best),
                number(rounded(ratio)),
                number(rounded(interval.low)),
                number(rounded(interval.high)),
            );
            if interval.high >= min_ratio {
                if interval.low < min_ratio {
                    perhaps.push(sentence);
                }
                continue;
            }
            findings.push(Finding {
                id: self.report.finding_id(answered.group(g), "recourse-ratio"),
                predicate: None,
                against: vec![answered.group(g).to_owned()],
                sentence,
                value: ratio,
                state: State::New,
                growth_p: None,
                waived: None,
                pair: Some((g, best)),
            });
        }
        Found {
            findings,
            undecided: (!perhaps.is_empty()).then(|| perhaps.join(" ")),
        }
    }

    fn verdict(&self, answered: &Answered<'_>, wanted: VerdictWanted, groups: &[usize]) -> Found {
        let reason = words::reason(answered);
        let said = words::verdict(answered);
        match &answered.answer.verdict {
            Some(Verdict::Unfair { against, .. })
                if against.is_empty() || against.iter().any(|g| groups.contains(g)) =>
            {
                let against = against.iter().map(|&g| answered.group(g).to_owned());
                Found {
                    findings: vec![Finding {
                        id: self.report.finding_id("", "verdict"),
                        predicate: None,
                        against: against.collect(),
                        sentence: format!("{said}: {reason}"),
                        value: answered
                            .answer
                            .stories
                            .iter()
                            .map(|s| s.loss.at_least)
                            .sum(),
                        state: State::New,
                        growth_p: None,
                        waived: None,
                        pair: None,
                    }],
                    undecided: None,
                }
            }
            None => undecided("no finding was tested, so nothing tells findings from chance"),
            Some(Verdict::CannotTell { .. }) => undecided(&format!("{said}: {reason}")),
            Some(Verdict::NotShown { .. }) if wanted == VerdictWanted::Fair => {
                undecided(&format!("{said}: {reason}"))
            }
            Some(_) => Found {
                findings: Vec::new(),
                undecided: None,
            },
        }
    }
}

/// Which findings of a definition a rule looks for.
struct Findings<'a> {
    answered: &'a Answered<'a>,
    column: &'a Column,
    evidence: EvidenceWanted,
    max_score: f64,
    /// Whether the rule is about some subgroups only.
    narrowed: bool,
}

impl Findings<'_> {
    fn find(&self, groups: &[usize], admits: impl Fn(usize) -> bool) -> Found {
        let report = self.answered.report;
        let record = report.record;
        let tests = record.tests_of(&self.column.ranking.definition);
        if tests.is_none() && self.evidence != EvidenceWanted::None {
            return undecided(&format!(
                "{} was not tested in this audit: name it in `report.definitions`",
                self.column.ranking.definition
            ));
        }
        if !(0..record.audit.subgroups.len()).any(&admits) {
            return undecided("no ranked subgroup meets `where`");
        }
        let people = self
            .column
            .ranking
            .for_people(self.column.definition.as_ref(), &record.audit.subgroups);
        let over = people.unfair().iter().filter(|ranked| {
            let against = &ranked.assessment.against;
            ranked.assessment.score > self.max_score
                && against.iter().any(|g| groups.contains(g))
                && admits(ranked.subgroup)
        });
        let (passing, others): (Vec<&Ranked>, Vec<&Ranked>) =
            over.partition(|ranked| self.passes(tests, ranked.subgroup));
        Found {
            findings: passing.iter().map(|ranked| self.finding(ranked)).collect(),
            undecided: tests.and_then(|tests| self.undecided(tests, &others)),
        }
    }

    fn passes(&self, tests: Option<&Tests>, subgroup: usize) -> bool {
        let evidence = self.answered.report.evidence();
        let known = evidence.zip(tests);
        match self.evidence {
            EvidenceWanted::None => true,
            EvidenceWanted::Together => {
                known.is_some_and(|(found, tests)| found.passes_together(tests, subgroup))
            }
            EvidenceWanted::Definition => {
                self.answered.report.passes(self.column, subgroup) == Some(true)
            }
        }
    }

    /// Why it cannot be told whether those over the limit that do not pass are chance: too many of
    /// their members are in subgroups in which no score could have passed, or the audit itself cannot
    /// tell.
    fn undecided(&self, tests: &Tests, others: &[&Ranked]) -> Option<String> {
        if self.evidence == EvidenceWanted::None {
            return None;
        }
        let cannot = matches!(
            self.answered.answer.verdict,
            Some(Verdict::CannotTell { .. })
        );
        if cannot && !self.narrowed {
            return Some(words::reason(self.answered));
        }
        let audit = &self.answered.report.record.audit;
        let powerless = |ranked: &Ranked| {
            let tested = tests.tested.get(ranked.subgroup).copied().flatten();
            tested.is_none_or(|tested| tested.least_score.is_none())
        };
        let members = |ranked: &Ranked| audit.subgroups[ranked.subgroup].people();
        let all: u64 = others.iter().map(|ranked| members(ranked)).sum();
        let unseen: Vec<&&Ranked> = others.iter().filter(|ranked| powerless(ranked)).collect();
        let hidden: u64 = unseen.iter().map(|ranked| members(ranked)).sum();
        let telling = self.answered.answer.parameters.telling_share;
        (hidden as f64 > (1.0 - telling) * all as f64).then(|| {
            format!(
                "of {} over {} that do not pass, {} too small for any score to pass",
                several(others.len() as u64, "subgroup", "subgroups"),
                number(self.max_score),
                match unseen.len() {
                    1 => "1 is".to_owned(),
                    some => format!("{} are", count(some as u64)),
                }
            )
        })
    }

    fn finding(&self, ranked: &Ranked) -> Finding {
        let report = self.answered.report;
        let audit = &report.record.audit;
        let subgroup = &audit.subgroups[ranked.subgroup];
        let predicate = audit.text(&subgroup.predicate);
        let found = &ranked.assessment;
        let against: Vec<String> = (found.against.iter())
            .map(|&g| self.answered.group(g).to_owned())
            .collect();
        let values = found.values.iter().enumerate();
        let values =
            values.map(|(g, found)| format!("{} {}", self.answered.group(g), value(*found)));
        let widest = subgroup.widest_gap(facts_engine::distribution::Viewpoint::Micro);
        // The better off is whoever has the way most open, unless that is who is worse off here.
        let pair = widest.and_then(|widest| {
            let worse = *found.against.first()?;
            let better = if widest.best() == worse {
                widest.worst()
            } else {
                widest.best()
            };
            (worse != better).then_some((worse, better))
        });
        Finding {
            id: report.finding_id(&predicate, &self.column.ranking.definition),
            sentence: format!(
                "{predicate}: {} is unfair against {}, score {} ({}).",
                self.column.ranking.title,
                against.join(" and "),
                number(found.score),
                values.collect::<Vec<_>>().join(", ")
            ),
            predicate: Some(predicate),
            against,
            value: found.score,
            state: State::New,
            growth_p: None,
            waived: None,
            pair,
        }
    }
}

fn undecided(why: &str) -> Found {
    Found {
        findings: Vec::new(),
        undecided: Some(why.to_owned()),
    }
}

/// To three digits, as ratios are read.
fn rounded(ratio: f64) -> f64 {
    (ratio * 1000.0).round() / 1000.0
}

/// So many of them.
pub(crate) fn several(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}
