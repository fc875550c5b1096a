//! What can be asked of an audit, whoever asks: which findings to show, one subgroup by name, a form
//! by name.

use facts_engine::answer::Wanted;
use facts_engine::ranking::{ActionFilter, Filters};
use facts_engine::subgroups::Predicate;
use thiserror::Error;

use crate::conditions::Conditions;
use crate::csv::Formulas;
use crate::finding::finding_id;
use crate::forms::FORMS;
use crate::record::Record;
use crate::report::{Order, Report, Showing};
use crate::text::count;

/// Why a question about an audit cannot be answered.
#[derive(Debug, Error)]
pub enum AskError {
    /// Only findings that pass are wanted where none can.
    #[error(
        "nothing was tested in this audit, so nothing can pass; audit again with tests: gather evidence, with `evidence.shuffles` above 0"
    )]
    NothingTested,
    /// Only findings that pass are wanted, by definitions that were not tested.
    #[error("{what} tested in this audit, so nothing can pass; audit again with `report.definitions` naming what is to be tested", what = match .0.as_slice() {
        [one] => format!("{one} was not"),
        _ => "none of these definitions was".to_owned(),
    })]
    NotTested(Vec<String>),
    /// A condition on predicates that cannot be read.
    #[error("cannot read `{text}`: {why}")]
    Condition {
        /// What was given.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// A condition where a whole predicate is needed.
    #[error("`{0}` is no whole predicate; write one such as \"age = 30, job = clerk\"")]
    NotAPredicate(String),
    /// The id of a finding that there is not.
    #[error("no finding {0} by the definitions of this audit; name the definition it is about")]
    UnknownFinding(String),
    /// A common subgroup without actions.
    #[error(
        "this subgroup is common ({0}), but no valid action was mined for it, so it is not ranked"
    )]
    NotRanked(String),
    /// A subgroup that there is not.
    #[error(
        "no subgroup of this audit has exactly this predicate: it is not common to all groups at support {0}; subgroups can be searched by a condition"
    )]
    UnknownSubgroup(String),
    /// A form that there is not.
    #[error("there is no form `{0}`; write one of: {known}", known = FORMS.iter().map(|form| form.name).collect::<Vec<_>>().join(", "))]
    UnknownForm(String),
    /// A form that could not be written.
    #[error("{form}: {why}")]
    Form {
        /// The form.
        form: &'static str,
        /// What went wrong.
        #[source]
        why: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A group or a number that makes no sense.
    #[error(transparent)]
    Engine(#[from] facts_engine::Error),
}

/// Which findings are to be shown, in the words of whoever asks. [`Choice::showing`] checks it
/// against an audit.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// How many of each definition.
    pub top: usize,
    /// Only subgroups whose predicate says so: `occupation = Sales and age`.
    pub wanted: Option<String>,
    /// Only findings against this group.
    pub against: Option<String>,
    /// Only findings that pass.
    pub passing: bool,
    /// Fair subgroups too.
    pub fair: bool,
    /// Without subgroups that only add items which no shown action changes.
    pub drop_contained: bool,
    /// With every valid action, not only those that the definition lists.
    pub all_actions: bool,
    /// With actions of at least this effectiveness.
    pub min_effectiveness: Option<String>,
    /// With actions of at most this cost.
    pub max_cost: Option<f64>,
    /// With only the cheapest of the actions left.
    pub least_cost: bool,
    /// Which come first.
    pub order: Order,
    /// What becomes of formulas in CSV.
    pub formulas: Formulas,
}

impl Choice {
    /// Which findings of a report are shown.
    pub fn showing(&self, report: &Report<'_>) -> Result<Showing, AskError> {
        let record = report.record;
        if self.passing {
            record.check_tested(report.columns.iter().map(|c| c.ranking.definition.as_str()))?;
        }
        let mut actions = Vec::new();
        if let Some(phi) = &self.min_effectiveness {
            actions.push(ActionFilter::AtLeast(phi.parse()?));
        }
        actions.extend(self.max_cost.map(ActionFilter::AtMost));
        if self.least_cost {
            actions.push(ActionFilter::LeastCost);
        }
        let against = self.against.as_deref().map(|name| record.group(name));
        let wanted = self.wanted.as_deref().map(|text| record.condition(text));
        Ok(Showing {
            top: self.top,
            filters: Filters {
                drop_fair: !self.fair,
                drop_contained: self.drop_contained,
                against: against.transpose()?,
                all_actions: self.all_actions,
                actions,
            },
            conditions: wanted.transpose()?,
            passing: self.passing,
            order: self.order,
            formulas: self.formulas,
        })
    }
}

impl Record {
    /// Refuses to look for what passes by definitions none of which was tested.
    pub fn check_tested<'d>(
        &self,
        definitions: impl Iterator<Item = &'d str> + Clone,
    ) -> Result<(), AskError> {
        if !self.is_tested() {
            return Err(AskError::NothingTested);
        }
        if (definitions.clone()).any(|id| self.tests_of(id).is_some()) {
            return Ok(());
        }
        let definitions = definitions.map(str::to_owned);
        Err(AskError::NotTested(definitions.collect()))
    }

    /// The place of a subgroup, by its predicate or by the id of one of its findings by these
    /// definitions.
    pub fn find<'d>(
        &self,
        subgroup: &str,
        definitions: impl Iterator<Item = &'d str> + Clone,
    ) -> Result<usize, AskError> {
        let audit = &self.audit;
        let place = |is_it: &dyn Fn(&Predicate) -> bool| {
            (audit.subgroups.iter()).position(|subgroup| is_it(&subgroup.predicate))
        };
        // As it is written in reports, whatever names and levels contain.
        if let Some(found) = place(&|predicate| audit.text(predicate) == subgroup) {
            return Ok(found);
        }
        if subgroup.len() == 12 && subgroup.chars().all(|c| c.is_ascii_hexdigit()) {
            let found = place(&|predicate| {
                let text = audit.text(predicate);
                let groups = || audit.groups.iter().map(|group| group.name.as_str());
                (definitions.clone()).any(|id| finding_id(&text, id, groups()) == subgroup)
            });
            return found.ok_or_else(|| AskError::UnknownFinding(subgroup.to_owned()));
        }
        let items = self.condition(subgroup)?.exactly();
        let items = items.ok_or_else(|| AskError::NotAPredicate(subgroup.to_owned()))?;
        let is_it = |predicate: &Predicate| predicate.items() == items;
        if let Some(found) = place(&is_it) {
            return Ok(found);
        }
        let mut without = audit.without_actions.iter();
        Err(match without.find(|one| is_it(&one.predicate)) {
            Some(without) => {
                let members = (audit.groups.iter().zip(&without.members))
                    .map(|(group, members)| format!("{} {}", count(*members), group.name.trim()));
                AskError::NotRanked(members.collect::<Vec<_>>().join(", "))
            }
            None => AskError::UnknownSubgroup(audit.settings.support.to_string()),
        })
    }

    /// A condition on predicates.
    fn condition(&self, text: &str) -> Result<Conditions, AskError> {
        Conditions::parse(text, &self.audit.features).map_err(|why| AskError::Condition {
            text: text.to_owned(),
            why,
        })
    }

    /// Which refused people are meant: a group by its name, if one is named, and conditions on them.
    pub fn people_wanted(
        &self,
        group: Option<&str>,
        conditions: &str,
    ) -> Result<(Option<usize>, Vec<Wanted>), AskError> {
        let group = group.map(|name| self.group(name)).transpose()?;
        if conditions.trim().is_empty() {
            return Ok((group, Vec::new()));
        }
        let read = Conditions::parse_of_a_person(conditions, &self.audit.features);
        let read = read.map_err(|why| AskError::Condition {
            text: conditions.to_owned(),
            why,
        })?;
        let wanted = read.of_a_person();
        let wanted = wanted.ok_or_else(|| AskError::Condition {
            text: conditions.to_owned(),
            why: "a feature alone says nothing of a person; write one such as `job = clerk`"
                .to_owned(),
        })?;
        Ok((group, wanted))
    }

    /// The place of a group, by its name.
    fn group(&self, name: &str) -> Result<usize, AskError> {
        let names = || self.audit.groups.iter().map(|group| group.name.trim());
        let unknown = || facts_engine::Error::UnknownGroup {
            group: name.to_owned(),
            known: names().map(str::to_owned).collect(),
        };
        let place = names().position(|known| known == name.trim());
        Ok(place.ok_or_else(unknown)?)
    }
}

impl Report<'_> {
    /// The report in one of the [`FORMS`], by its name.
    pub fn form(&self, name: &str, showing: &Showing) -> Result<Vec<u8>, AskError> {
        let known = FORMS.iter().find(|form| form.name == name);
        let form = known.ok_or_else(|| AskError::UnknownForm(name.to_owned()))?;
        (form.write)(self, showing).map_err(|why| AskError::Form {
            form: form.name,
            why,
        })
    }

    /// Whether a finding scores over a limit, of those that are asked for: that pass, are against a
    /// group, have a predicate that says so.
    pub fn any_over(&self, limit: f64, showing: &Showing) -> bool {
        let first = Showing {
            top: 1,
            filters: Filters {
                drop_fair: true,
                against: showing.filters.against,
                ..Filters::default()
            },
            ..showing.clone()
        };
        let mut columns = self.columns.iter();
        columns.any(|column| {
            let findings = self.findings(column, &first);
            findings.iter().any(|finding| finding.score > limit)
        })
    }
}
