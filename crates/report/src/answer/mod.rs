//! The answer: what an audit comes to, as data and in words, for every form of report.

mod screen;
pub mod words;

use facts_engine::answer::{Answer, Compared, GroupPeople, Loss, Parameters, Story, Verdict, Why};
use facts_engine::distribution::Share;
use facts_engine::evidence::{Interval, clopper_pearson};
use serde::Serialize;

pub use self::screen::{about, first_screen, people, people_beside_plot, stories, story};
use crate::report::Report;

/// A report's answer, ready to be said.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// The report.
    pub report: &'a Report<'a>,
    /// The answer of its audit.
    pub answer: &'a Answer,
}

/// The people of one group, as they are shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeopleRow {
    /// The group.
    pub group: String,
    /// All its people.
    pub people: u64,
    /// Those who are refused.
    pub refused: u64,
    /// Those of them who have a way out; none if too few to be told.
    pub with_a_way: Option<u64>,
    /// From where to where the share of the refused who have a way may lie (Clopper and Pearson).
    pub open_interval: Option<Interval>,
    /// What the way out costs the middle one of those who have one.
    pub median_cost: Option<f64>,
    /// What it costs them on average.
    pub mean_cost: Option<f64>,
    /// Those who have a way within each budget that a definition names, by budget.
    pub within: Vec<(f64, u64)>,
}

/// A story, as it is shown.
#[derive(Clone, Debug, Serialize)]
pub struct StoryRow {
    /// Its number, from 1.
    pub number: usize,
    /// The subgroup, by its place in the audit.
    #[serde(skip)]
    pub subgroup: usize,
    /// The predicate.
    pub predicate: String,
    /// The whole story in one sentence.
    pub sentence: String,
    /// The group that is worse off.
    pub against: String,
    /// The group that is best off.
    pub better_off: String,
    /// The people it is the first to tell of, by group, and those of them who have a way.
    pub groups: Vec<StoryGroup>,
    /// The cost within which they have one.
    pub cost: f64,
    /// How many people are at a loss.
    pub loss: Loss,
    /// What would have to change.
    pub changes: String,
    /// What the gap is made of, and the same in words.
    pub why: Option<Why>,
    /// The same in words.
    pub why_sentence: Option<String>,
    /// Where the gap is sharper: predicate and gap.
    pub sharper: Vec<(String, f64)>,
    /// How many distinct sets of people that pass it stands for.
    pub stands_for: usize,
    /// Under which definitions its subgroup passes, and against whom.
    pub definitions: Vec<StoryDefinition>,
}

/// The people of one group whom a story tells of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StoryGroup {
    /// The group.
    pub group: String,
    /// People that the story is the first to tell of.
    pub people: u64,
    /// Those of them who have a way within its cost.
    pub with_a_way: u64,
}

/// What one definition says of a story's subgroup.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StoryDefinition {
    /// The definition's id.
    pub definition: String,
    /// The definition as one reads it.
    pub title: String,
    /// Against whom it is unfair; nobody if it is fair.
    pub against: Vec<String>,
    /// Whether it passes for all definitions together; none if it was not tested.
    pub passes: Option<bool>,
}

/// The answer as JSON holds it.
#[derive(Serialize)]
pub struct AnswerDocument<'a> {
    verdict: &'a Option<Verdict>,
    verdict_words: String,
    headline: String,
    reason: String,
    parameters: Parameters,
    people: Vec<PeopleRow>,
    compared: Option<Compared>,
    stories: Vec<StoryRow>,
    drivers: Vec<DriverRow>,
}

/// An item and what it does to the gap, as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriverRow {
    /// The item as one reads it.
    pub item: String,
    /// Its global Shapley value: above 0 it widens the gap.
    pub value: f64,
    /// Of the worse-off group's refused people who meet it, those who have a way out.
    pub worse: Share,
    /// The same of the best-off group.
    pub better: Share,
}

impl<'a> Answered<'a> {
    /// The answer as JSON holds it.
    pub fn document(&self) -> AnswerDocument<'a> {
        AnswerDocument {
            verdict: &self.answer.verdict,
            verdict_words: words::verdict(self),
            headline: words::headline(self),
            reason: words::reason(self),
            parameters: self.answer.parameters,
            people: self.people(),
            compared: self.compared(),
            stories: self.stories(),
            drivers: self.drivers(),
        }
    }

    /// The items that go with the gap, those that widen it most first.
    pub fn drivers(&self) -> Vec<DriverRow> {
        let features = &self.report.record.audit.features;
        let drivers = self
            .answer
            .drivers
            .iter()
            .flat_map(|drivers| &drivers.items);
        drivers
            .map(|driver| DriverRow {
                item: driver.item.text(features),
                value: driver.value,
                worse: driver.worse,
                better: driver.better,
            })
            .collect()
    }
}

impl Report<'_> {
    /// The answer; none in audits that were saved before there was one.
    pub fn answered(&self) -> Option<Answered<'_>> {
        let answer = self.record.answer.as_ref()?;
        Some(Answered {
            report: self,
            answer,
        })
    }
}

impl Answered<'_> {
    /// A group's name, by its place.
    pub fn group(&self, g: usize) -> &str {
        self.report.record.audit.groups[g].name.trim()
    }

    /// What a group is called in words: by its name, or by attribute and value where the name is a bare
    /// number, which says nothing in a sentence.
    pub fn called(&self, g: usize) -> String {
        let name = self.group(g);
        match self.report.record.protected.as_slice() {
            [attribute] if name.parse::<f64>().is_ok() => {
                format!("{} = {name}", attribute.trim())
            }
            _ => name.to_owned(),
        }
    }

    /// The same after a number of people: `14 of 100 Female`, `14 of 100 with SEX = 2`.
    pub fn people_of(&self, g: usize) -> String {
        let called = self.called(g);
        if called == self.group(g) {
            called
        } else {
            format!("with {called}")
        }
    }

    /// The level α that the evidence was gathered at, or the usual one.
    fn alpha(&self) -> f64 {
        self.report.record.alpha()
    }

    /// Who is refused, and who has a way out, by group.
    pub fn people(&self) -> Vec<PeopleRow> {
        let budgets = self.report.budgets();
        let row = |(g, people): (usize, &GroupPeople)| {
            let open = people.open();
            let within = |&budget: &f64| Some((budget, people.open_within(budget)?.part));
            PeopleRow {
                group: self.group(g).to_owned(),
                people: people.people,
                refused: people.refused,
                with_a_way: open.map(|open| open.part),
                open_interval: open.map(|o| clopper_pearson(o.part, o.whole, self.alpha())),
                median_cost: people.median_cost(),
                mean_cost: people.mean_cost(),
                within: budgets.iter().filter_map(within).collect(),
            }
        };
        self.answer.people.iter().enumerate().map(row).collect()
    }

    /// The group to which the way is least open beside the one to which it is most; none if counts are
    /// suppressed, or if it is as open to all.
    pub fn compared(&self) -> Option<Compared> {
        let people = self.answer.people.iter();
        let open: Vec<Share> = people.map(GroupPeople::open).collect::<Option<_>>()?;
        let compared = Compared::new(&open, words::Z_95)?;
        (compared.worst != compared.best).then_some(compared)
    }

    /// The stories, those with most people at a loss first.
    pub fn stories(&self) -> Vec<StoryRow> {
        let stories = self.answer.stories.iter().enumerate();
        stories
            .map(|(place, story)| self.story(place, story))
            .collect()
    }

    fn story(&self, place: usize, story: &Story) -> StoryRow {
        let audit = &self.report.record.audit;
        let text = |subgroup: usize| audit.text(&audit.subgroups[subgroup].predicate);
        let groups = story.told.iter().enumerate();
        let sharper = story.sharper.iter();
        StoryRow {
            number: place + 1,
            subgroup: story.subgroup,
            predicate: text(story.subgroup),
            sentence: words::story(self, place, story),
            against: self.group(story.worse_off).to_owned(),
            better_off: self.group(story.better_off).to_owned(),
            groups: groups
                .map(|(g, share)| StoryGroup {
                    group: self.group(g).to_owned(),
                    people: share.whole,
                    with_a_way: share.part,
                })
                .collect(),
            cost: story.cost,
            loss: story.loss,
            changes: words::changes(audit, story),
            why: story.why.clone(),
            why_sentence: words::why(self, story),
            sharper: sharper
                .map(|inside| (text(inside.subgroup), inside.gap))
                .collect(),
            stands_for: story.stands_for,
            definitions: self.definitions(story.subgroup),
        }
    }

    /// What each definition says of a subgroup.
    fn definitions(&self, subgroup: usize) -> Vec<StoryDefinition> {
        let record = self.report.record;
        let columns = self.report.columns.iter();
        columns
            .map(|column| {
                let found = column.definition.assess(&record.audit.subgroups[subgroup]);
                let id = &column.ranking.definition;
                let evidence = record.evidence.as_ref();
                let tests = record.tests_of(id);
                let against = found.into_iter().flat_map(|found| match tests {
                    Some(tests) => tests.shown_against(subgroup, &found, self.alpha()),
                    None => found.against.to_vec(),
                });
                StoryDefinition {
                    definition: id.clone(),
                    title: column.ranking.title.clone(),
                    against: against.map(|g| self.group(g).to_owned()).collect(),
                    passes: evidence
                        .zip(tests)
                        .map(|(found, tests)| found.passes_together(tests, subgroup)),
                }
            })
            .collect()
    }
}
