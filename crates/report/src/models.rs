//! Several models on one table, side by side: which of them are unfair, against whom, and how sure that is.
//!
//! The order answers first: unfair models by how many people are surely at a loss, then those of which the
//! audit cannot tell, then the others, and last those that could not be audited.

use facts_engine::answer::Verdict;
use serde::Serialize;

use crate::answer::{Answered, words};
use crate::csv::{Formulas, csv};
use crate::evidence::words::{level, p_value, several};
use crate::forms::Failure;
use crate::grid::{Grid, Side, escape};
use crate::report::Report;
use crate::sheets::{Cells, Sheet};
use crate::text::{count, percent, visible_lines};

/// The version of the form of a summary of models in JSON.
pub const MODELS_VERSION: u32 = 1;

/// What the audit of one model came to, in a word for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A finding passes.
    Unfair,
    /// A gap that matters could have gone unseen.
    CannotTell,
    /// A gap that matters would most likely have been seen.
    NotShown,
    /// All gaps surely lie within δ.
    FairWithin,
    /// No finding was tested.
    NotTested,
    /// The model was not audited.
    Failed,
}

/// One model of several.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelRow {
    /// What it is called in the list.
    pub name: String,
    /// What it is.
    pub model: String,
    /// What its audit came to.
    pub outcome: Outcome,
    /// The same in words.
    pub verdict: String,
    /// The groups that it is unfair against, the one with most people at a loss first.
    pub against: Vec<String>,
    /// The smallest p-value of its findings, for all subgroups and definitions together; none if nothing was
    /// tested.
    pub p: Option<f64>,
    /// How many findings pass.
    pub findings: usize,
    /// How many people of those groups are at a loss.
    pub at_a_loss: f64,
    /// How many at least, when chance is given its due.
    pub at_a_loss_at_least: f64,
    /// The group to whose refused people the way out is least open, and their share, if it can be told.
    pub least_open: Option<Open>,
    /// The group to whom it is most open.
    pub most_open: Option<Open>,
    /// Why it was not audited, if it was not.
    pub failure: Option<String>,
}

/// How open the way out is to the refused people of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Open {
    /// The group.
    pub group: String,
    /// Of its refused people, those who have a way.
    pub with_a_way: u64,
    /// Its refused people.
    pub refused: u64,
    /// The share, as it is shown.
    #[serde(skip)]
    shown: String,
}

impl ModelRow {
    /// A model that was audited.
    pub fn audited(name: &str, report: &Report<'_>) -> Self {
        let record = report.record;
        let evidence = record.evidence.as_ref();
        let tested = evidence.into_iter().flat_map(|evidence| {
            let all = evidence.tests.iter().flat_map(|tests| &tests.tested);
            let definitions = evidence.tests.len();
            all.flatten().map(move |t| t.together(definitions))
        });
        let mut row = Self {
            p: tested.reduce(f64::min),
            model: record.model.description.clone(),
            outcome: Outcome::NotTested,
            verdict: "Not tested".to_owned(),
            ..Self::failed(name, String::new())
        };
        row.failure = None;
        if let Some(answered) = report.answered() {
            row.answer(&answered);
        }
        row
    }

    /// A model that could not be audited.
    pub fn failed(name: &str, why: String) -> Self {
        Self {
            name: name.to_owned(),
            model: String::new(),
            outcome: Outcome::Failed,
            verdict: "Failed".to_owned(),
            against: Vec::new(),
            p: None,
            findings: 0,
            at_a_loss: 0.0,
            at_a_loss_at_least: 0.0,
            least_open: None,
            most_open: None,
            failure: Some(why),
        }
    }

    fn answer(&mut self, answered: &Answered<'_>) {
        let answer = answered.answer;
        self.verdict = words::verdict(answered);
        self.outcome = match &answer.verdict {
            None => Outcome::NotTested,
            Some(Verdict::Unfair { .. }) => Outcome::Unfair,
            Some(Verdict::FairWithin { .. }) => Outcome::FairWithin,
            Some(Verdict::NotShown { .. }) => Outcome::NotShown,
            Some(Verdict::CannotTell { .. }) => Outcome::CannotTell,
        };
        if let Some(Verdict::Unfair {
            against, findings, ..
        }) = &answer.verdict
        {
            self.against = against.iter().map(|&g| answered.called(g)).collect();
            self.findings = *findings;
            let told = answer.stories.iter();
            for story in told.filter(|story| against.contains(&story.worse_off)) {
                self.at_a_loss += story.loss.people;
                self.at_a_loss_at_least += story.loss.at_least;
            }
        }
        let open = |g: usize| {
            let share = answer.people[g].open()?;
            Some(Open {
                group: answered.called(g),
                with_a_way: share.part,
                refused: share.whole,
                shown: percent(share),
            })
        };
        if let Some(compared) = answered.compared() {
            self.least_open = open(compared.worst);
            self.most_open = open(compared.best);
        }
    }

    /// The cells of a table for people.
    fn cells(&self) -> [String; 7] {
        let loss = match self.at_a_loss_at_least > 0.0 {
            true => format!(
                "{} ({})",
                count(self.at_a_loss.round() as u64),
                words::at_least(self.at_a_loss_at_least)
            ),
            false => String::new(),
        };
        let open = |open: &Option<Open>| {
            let said = open.as_ref();
            said.map_or_else(String::new, |open| format!("{} {}", open.group, open.shown))
        };
        [
            self.name.clone(),
            self.verdict.clone(),
            self.p.map_or_else(String::new, p_value),
            match self.findings {
                0 => String::new(),
                findings => count(findings as u64),
            },
            loss,
            open(&self.least_open),
            open(&self.most_open),
        ]
    }
}

/// Several models on one table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Models {
    /// What this is, for whoever reads it as JSON.
    pub kind: &'static str,
    /// The version of the form.
    pub version: u32,
    /// The tool that made it.
    pub tool: String,
    /// The table.
    pub data: String,
    /// The chance, at most, that any model is wrongly called unfair; none if nothing was tested.
    pub alpha: Option<f64>,
    /// The level that each model was tested at.
    pub alpha_each: Option<f64>,
    /// The models, unfair ones first.
    pub models: Vec<ModelRow>,
}

impl Models {
    /// Puts models in the order in which they are shown. `alpha` is for all of them together.
    pub fn new(tool: &str, data: &str, alpha: Option<f64>, mut models: Vec<ModelRow>) -> Self {
        models.sort_by(|a, b| {
            let p = |row: &ModelRow| row.p.unwrap_or(f64::INFINITY);
            (a.outcome.cmp(&b.outcome))
                .then(b.at_a_loss_at_least.total_cmp(&a.at_a_loss_at_least))
                .then(p(a).total_cmp(&p(b)))
                .then_with(|| a.name.cmp(&b.name))
        });
        Self {
            kind: "summary of models",
            version: MODELS_VERSION,
            tool: tool.to_owned(),
            data: data.to_owned(),
            alpha,
            alpha_each: alpha.map(|alpha| alpha / models.len().max(1) as f64),
            models,
        }
    }

    fn of(&self, outcome: Outcome) -> usize {
        let models = self.models.iter();
        models.filter(|row| row.outcome == outcome).count()
    }

    /// The answer in a sentence.
    pub fn headline(&self) -> String {
        let all = self.models.len();
        let models = several(all as u64, "model");
        let tested = all - self.of(Outcome::Failed) - self.of(Outcome::NotTested);
        let unfair = self.of(Outcome::Unfair);
        match (tested, unfair) {
            (0, _) => format!("None of {models} was tested."),
            (_, 0) => format!("None of {models} is shown to be unfair."),
            _ => format!("Unfair: {unfair} of {models}."),
        }
    }

    /// How many came to what else, and how sure that is.
    pub fn reasons(&self) -> Vec<String> {
        let said = [
            (Outcome::CannotTell, "undecided"),
            (Outcome::NotShown, "not shown to be unfair"),
            (Outcome::FairWithin, "fair within δ"),
            (Outcome::NotTested, "not tested"),
            (Outcome::Failed, "failed"),
        ];
        let others: Vec<String> = said
            .iter()
            .filter(|(outcome, _)| self.of(*outcome) > 0)
            .map(|(outcome, words)| format!("{} {words}", self.of(*outcome)))
            .collect();
        let mut reasons = Vec::new();
        if !others.is_empty() {
            let which = match self.of(Outcome::Unfair) {
                0 => "Among them",
                _ => "The others",
            };
            reasons.push(format!("{which}: {}.", others.join(", ")));
        }
        if let (Some(alpha), Some(each)) = (self.alpha, self.alpha_each) {
            reasons.push(format!(
                "The chance that any finding of any model passes wrongly is at most {}: each model is tested at α = {}.",
                level(alpha),
                level(each)
            ));
        }
        reasons
    }

    fn grid(&self) -> Grid {
        let mut grid = Grid::new([
            ("model", Side::Left),
            ("verdict", Side::Left),
            ("p", Side::Right),
            ("findings", Side::Right),
            ("at a loss", Side::Right),
            ("least open to", Side::Left),
            ("most open to", Side::Left),
        ]);
        for row in &self.models {
            grid.row(row.cells());
        }
        grid
    }

    fn failures(&self) -> impl Iterator<Item = (&str, &str)> {
        let models = self.models.iter();
        models.filter_map(|row| Some((row.name.as_str(), row.failure.as_deref()?)))
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.headline());
        for reason in self.reasons() {
            text += &format!("{reason}\n");
        }
        text += &format!("\n{}", self.grid().text(2));
        for (name, why) in self.failures() {
            text += &format!("\n{name} failed: {why}\n");
        }
        visible_lines(&text)
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!("# Models\n\n**{}**", escape(&self.headline()));
        for reason in self.reasons() {
            text += &format!(" {}", escape(&reason));
        }
        text += &format!("\n\n{}", self.grid().markdown());
        for (name, why) in self.failures() {
            text += &format!("\n- {} failed: {}\n", escape(name), escape(why));
        }
        text
    }

    /// As a sheet.
    pub fn sheet(&self) -> Sheet {
        let text = |of: fn(&ModelRow) -> String| Cells::Text(self.models.iter().map(of).collect());
        let number =
            |of: fn(&ModelRow) -> Option<f64>| Cells::Number(self.models.iter().map(of).collect());
        let whole =
            |of: fn(&ModelRow) -> Option<u64>| Cells::Count(self.models.iter().map(of).collect());
        fn group(open: &Option<Open>) -> String {
            let open = open.as_ref();
            open.map_or_else(String::new, |open| open.group.clone())
        }
        let columns = [
            ("name", text(|row| row.name.clone())),
            ("model", text(|row| row.model.clone())),
            ("verdict", text(|row| row.verdict.clone())),
            ("against", text(|row| row.against.join("; "))),
            ("p", number(|row| row.p)),
            ("findings", whole(|row| Some(row.findings as u64))),
            ("at_a_loss", number(|row| Some(row.at_a_loss))),
            (
                "at_a_loss_at_least",
                number(|row| Some(row.at_a_loss_at_least)),
            ),
            ("least_open_to", text(|row| group(&row.least_open))),
            (
                "least_open_with_a_way",
                whole(|row| row.least_open.as_ref().map(|open| open.with_a_way)),
            ),
            (
                "least_open_refused",
                whole(|row| row.least_open.as_ref().map(|open| open.refused)),
            ),
            ("most_open_to", text(|row| group(&row.most_open))),
            (
                "most_open_with_a_way",
                whole(|row| row.most_open.as_ref().map(|open| open.with_a_way)),
            ),
            (
                "most_open_refused",
                whole(|row| row.most_open.as_ref().map(|open| open.refused)),
            ),
            (
                "failure",
                text(|row| row.failure.clone().unwrap_or_default()),
            ),
        ];
        Sheet {
            columns: columns.map(|(name, cells)| (name.to_owned(), cells)).into(),
        }
    }

    /// In a form of [`MODEL_FORMS`]; none if there is no such form.
    pub fn form(&self, name: &str, formulas: Formulas) -> Option<Result<Vec<u8>, Failure>> {
        let form = MODEL_FORMS.iter().find(|form| form.name == name)?;
        Some((form.write)(self, formulas))
    }
}

/// A form of the summary.
pub struct ModelForm {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The file it is written to.
    pub file: &'static str,
    /// Writes it.
    pub write: fn(&Models, Formulas) -> Result<Vec<u8>, Failure>,
}

/// All forms of the summary there are.
pub const MODEL_FORMS: &[ModelForm] = &[
    ModelForm {
        name: "text",
        file: "models.txt",
        write: |models, _| Ok(models.text().into_bytes()),
    },
    ModelForm {
        name: "markdown",
        file: "models.md",
        write: |models, _| Ok(models.markdown().into_bytes()),
    },
    ModelForm {
        name: "json",
        file: "models.json",
        write: |models, _| {
            let mut json = serde_json::to_vec_pretty(models)?;
            json.push(b'\n');
            Ok(json)
        },
    },
    ModelForm {
        name: "csv",
        file: "models.csv",
        write: |models, formulas| Ok(csv(&models.sheet(), formulas)),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, outcome: Outcome, at_least: f64) -> ModelRow {
        ModelRow {
            outcome,
            verdict: format!("{outcome:?}"),
            at_a_loss: at_least * 2.0,
            at_a_loss_at_least: at_least,
            failure: (outcome == Outcome::Failed).then(|| "it is not there".to_owned()),
            ..ModelRow::failed(name, String::new())
        }
    }

    #[test]
    fn the_worst_come_first_and_failures_last() {
        let rows = vec![
            row("a", Outcome::Failed, 0.0),
            row("b", Outcome::NotShown, 0.0),
            row("c", Outcome::Unfair, 3.5),
            row("d", Outcome::Unfair, 80.25),
        ];
        let models = Models::new("facts", "people.csv", Some(0.05), rows);
        let names: Vec<&str> = models.models.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["d", "c", "b", "a"]);
        assert_eq!(models.headline(), "Unfair: 2 of 4 models.");
        assert_eq!(models.alpha_each, Some(0.0125));
        let text = models.text();
        assert!(
            text.contains("The others: 1 not shown to be unfair, 1 failed.\n"),
            "{text}"
        );
        assert!(text.contains("at most 0.05: each model is tested at α = 0.0125"));
        assert!(text.contains("161 (at least 80)"), "{text}");
        assert!(text.ends_with("\na failed: it is not there\n"), "{text}");
        let csv = String::from_utf8(models.form("csv", Formulas::Kept).unwrap().unwrap()).unwrap();
        assert_eq!(csv.lines().count(), 5);
        assert!(csv.starts_with("name,model,verdict,against,p,"));
        assert!(models.form("xml", Formulas::Kept).is_none());
    }

    #[test]
    fn nothing_tested_is_not_called_fair() {
        let models = Models::new("facts", "t", None, vec![row("a", Outcome::NotTested, 0.0)]);
        assert_eq!(models.headline(), "None of 1 model was tested.");
        let models = Models::new("facts", "t", None, vec![row("a", Outcome::NotShown, 0.0)]);
        assert_eq!(models.headline(), "None of 1 model is shown to be unfair.");
    }
}
