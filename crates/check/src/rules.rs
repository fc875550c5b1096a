//! Rules, checked: each demands one thing, and says so in words.

use std::collections::HashSet;

use facts_engine::definitions;
use facts_report::text::number;
use serde::Serialize;

use crate::error::CheckError;
use crate::settings::{
    EvidenceWanted, OnUndecided, RuleSettings, Settings, Severity, VerdictWanted,
};

/// A rule that can be judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Rule {
    /// What it is called.
    pub name: String,
    /// What it demands.
    pub demand: Demand,
    /// Only what is against these groups counts; against any, if none is named.
    pub groups: Vec<String>,
    /// Only subgroups whose predicates meet this count.
    #[serde(rename = "where")]
    pub condition: Option<String>,
    /// How bad it is if it fails.
    pub severity: Severity,
    /// What becomes of it if it is undecided.
    pub on_undecided: OnUndecided,
    /// Which findings count.
    pub evidence: EvidenceWanted,
    /// The line of the configuration that it starts at; none if nobody wrote it.
    pub line: Option<usize>,
}

/// What a rule demands.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
pub enum Demand {
    /// No story with more people at a loss than this.
    Stories {
        /// So many may be at a loss.
        max_loss: f64,
    },
    /// No finding of a definition that scores over this.
    Findings {
        /// The definition's id.
        definition: String,
        /// So much it may score.
        max_score: f64,
    },
    /// To no group is the way out less open than this, beside the group to which it is most open.
    Ratio {
        /// The least ratio.
        min_ratio: f64,
    },
    /// A verdict.
    Verdict {
        /// Which.
        wanted: VerdictWanted,
    },
}

impl Rule {
    /// The rule that is judged when none is written: no story against anybody.
    fn unwritten(on_undecided: OnUndecided) -> Self {
        Self {
            name: "no story against anybody".to_owned(),
            demand: Demand::Stories { max_loss: 0.0 },
            groups: Vec::new(),
            condition: None,
            severity: Severity::Error,
            on_undecided,
            evidence: EvidenceWanted::Together,
            line: None,
        }
    }

    /// The rules that settings name, checked.
    pub fn all(settings: &Settings) -> Result<Vec<Self>, CheckError> {
        let on_undecided = settings.on_undecided.unwrap_or_default();
        if settings.rule.is_empty() {
            return Ok(vec![Self::unwritten(on_undecided)]);
        }
        let written = settings.rule.iter().enumerate();
        let rules = written
            .map(|(place, rule)| Self::new(rule, place + 1, on_undecided))
            .collect::<Result<Vec<Self>, CheckError>>()?;
        let mut names = HashSet::new();
        match rules.iter().find(|rule| !names.insert(&rule.name)) {
            Some(again) => Err(CheckError::SameName(again.name.clone())),
            None => Ok(rules),
        }
    }

    fn new(
        settings: &RuleSettings,
        place: usize,
        on_undecided: OnUndecided,
    ) -> Result<Self, CheckError> {
        let refuse = |why: &str| CheckError::Rule {
            rule: match &settings.name {
                Some(name) => format!("check.rule `{name}`"),
                None => format!("check.rule number {place}"),
            },
            why: why.to_owned(),
        };
        let demand = demand(settings).map_err(|why| refuse(&why))?;
        let of_findings = matches!(demand, Demand::Findings { .. });
        if settings.evidence.is_some() && !of_findings {
            return Err(refuse(
                "`evidence` is for rules with a `definition`: stories and verdicts rest on what passes for all definitions together",
            ));
        }
        if settings.condition.is_some()
            && matches!(demand, Demand::Ratio { .. } | Demand::Verdict { .. })
        {
            return Err(refuse(
                "`where` is for rules about stories or a `definition`: ratios and verdicts are about everybody",
            ));
        }
        let groups: Vec<String> = (settings.groups.iter())
            .map(|group| group.trim().to_owned())
            .collect();
        let mut rule = Self {
            name: String::new(),
            demand,
            groups,
            condition: settings.condition.clone(),
            severity: settings.severity.unwrap_or_default(),
            on_undecided: settings.on_undecided.unwrap_or(on_undecided),
            evidence: settings.evidence.unwrap_or_default(),
            line: settings.line,
        };
        rule.name = match &settings.name {
            Some(name) if name.trim().is_empty() => return Err(refuse("its `name` is empty")),
            Some(name) => name.trim().to_owned(),
            None => rule.in_words(),
        };
        Ok(rule)
    }

    /// What it demands, in words.
    pub fn in_words(&self) -> String {
        let against = match self.groups.as_slice() {
            [] => String::new(),
            groups => format!(" against {}", groups.join(" or ")),
        };
        let place = match &self.condition {
            None => String::new(),
            Some(condition) => format!(" where {condition}"),
        };
        match &self.demand {
            Demand::Stories { max_loss } if *max_loss == 0.0 => {
                let against = if against.is_empty() {
                    " against anybody"
                } else {
                    &against
                };
                format!("no story{against}{place}")
            }
            Demand::Stories { max_loss } => format!(
                "no story{against}{place} with over {} people at a loss",
                number(*max_loss)
            ),
            Demand::Findings {
                definition,
                max_score,
            } => format!(
                "no {definition}{against}{place} over {}",
                number(*max_score)
            ),
            Demand::Ratio { min_ratio } => format!(
                "a way out at least {} times as open{}",
                number(*min_ratio),
                match self.groups.as_slice() {
                    [] => " to every group as to the best off".to_owned(),
                    groups => format!(" to {} as to the best off", groups.join(" and ")),
                }
            ),
            Demand::Verdict { wanted } => match wanted {
                VerdictWanted::Fair => "the verdict is fair".to_owned(),
                VerdictWanted::NotUnfair => format!("the verdict is not unfair{against}"),
            },
        }
    }
}

/// The one thing that a rule demands.
fn demand(settings: &RuleSettings) -> Result<Demand, String> {
    let limit = |name: &str, value: Option<f64>| match value {
        Some(value) if value.is_nan() || value < 0.0 => {
            Err(format!("`{name}` is {value}; it must be 0 or more"))
        }
        value => Ok(value),
    };
    let max_loss = limit("max-loss", settings.max_loss)?;
    let max_score = limit("max-score", settings.max_score)?;
    let only = |key: &str, others: &[(&str, bool)]| match others.iter().find(|(_, said)| *said) {
        Some((other, _)) => Err(format!(
            "`{key}` and `{other}` do not go together: make two rules"
        )),
        None => Ok(()),
    };
    let (loss, score) = (
        ("max-loss", max_loss.is_some()),
        ("max-score", max_score.is_some()),
    );
    let verdict = ("verdict", settings.verdict.is_some());
    let definition = ("definition", settings.definition.is_some());
    if let Some(min_ratio) = settings.min_ratio {
        only("min-ratio", &[loss, score, verdict, definition])?;
        if !(min_ratio > 0.0 && min_ratio <= 1.0) {
            return Err(format!(
                "`min-ratio` is {min_ratio}; it must lie between 0 and 1, such as 0.8"
            ));
        }
        return Ok(Demand::Ratio { min_ratio });
    }
    if let Some(wanted) = settings.verdict {
        only("verdict", &[loss, score, definition])?;
        return Ok(Demand::Verdict { wanted });
    }
    if let Some(text) = &settings.definition {
        only("definition", &[loss])?;
        let definition = definitions::parse(text).map_err(|error| error.to_string())?;
        return Ok(Demand::Findings {
            definition: definition.id(),
            max_score: max_score.unwrap_or(0.0),
        });
    }
    if score.1 {
        return Err("`max-score` needs a `definition` whose score is meant".to_owned());
    }
    Ok(Demand::Stories {
        max_loss: max_loss.unwrap_or(0.0),
    })
}
