//! Two audits compared: what changed for people, and which findings appeared, vanished, grew, shrank.
//!
//! Both are ranked by the same definitions, those of the older audit unless others are given, since
//! a finding is known by its predicate, its definition with parameters, and the groups compared.
//!
//! That a finding appeared, vanished, grew or shrank is said only where the engine's comparison shows that
//! the gap behind it moved; where chance could explain the move, it is too close to tell.

mod comparable;
mod page;
mod people;
mod series;
mod standings;
mod tested;

use facts_engine::Error;
use facts_engine::comparison::{Comparison, Tally, compare};
use facts_engine::definitions::Definition;
use serde::Serialize;

use self::comparable::warnings;
pub use self::people::{GroupChange, PeopleChange, Trend};
pub use self::series::{LookDiff, SeriesDiff};
use self::standings::Audited;
pub use self::standings::Standing;
pub use self::tested::{Change, GapChange};
use self::tested::{Tested, word};
use crate::finding::finding_id;
use crate::record::Record;
use crate::report::{Column, Report};

/// The version of the form of a diff in JSON.
pub const DIFF_VERSION: u32 = 3;

/// One finding that is not the same in both audits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    /// Its id.
    pub finding: String,
    /// What became of it.
    pub change: Change,
    /// The definition's id.
    pub definition: String,
    /// The predicate.
    pub predicate: String,
    /// How it stood.
    pub old: Standing,
    /// How it stands.
    pub new: Standing,
    /// How the gap behind it moved: of the shares with a way within the definition's budget or, without
    /// one, within the cost at which the gap is widest in both audits together. None if it cannot be
    /// compared.
    pub gap: Option<GapChange>,
}

/// Two audits compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// What this is, for whoever reads it as JSON.
    pub kind: &'static str,
    /// The version of the form.
    pub version: u32,
    /// Why the two may not be comparable: bins, levels, groups, options that differ.
    pub warnings: Vec<String>,
    /// The level α of all that is said to have changed.
    pub alpha: f64,
    /// Whether the same people were compared, by those whose answer changed; else two samples were.
    pub same_people: bool,
    /// What changed for people; none if one of the audits has no answer.
    pub people: Option<PeopleChange>,
    /// What became of the widest gap of each subgroup that both audits rank; none if they compare other
    /// groups.
    pub subgroups: Option<Tally>,
    /// How many moves of shares and gaps in subgroups were tested together.
    pub tests: usize,
    /// The definitions compared by.
    pub definitions: Vec<String>,
    /// The same as one reads them.
    #[serde(skip)]
    pub titles: Vec<String>,
    /// How many findings are unfair in both with the same score and against the same groups, and their
    /// gap is not shown to have moved.
    pub unchanged: usize,
    /// The others: by definition, then by what became of them, then the largest first.
    pub changed: Vec<Changed>,
}

impl Diff {
    /// Compares two audits by definitions, as two samples.
    pub fn new(old: &Record, new: &Record, definitions: &[String]) -> Result<Self, Error> {
        let (old, new) = (report_by(old, definitions)?, report_by(new, definitions)?);
        Ok(Self::of(&old, &new))
    }

    /// Compares two audits by definitions, as a comparison says that was made of them within the
    /// budgets that they name.
    pub fn with(
        old: &Record,
        new: &Record,
        definitions: &[String],
        comparison: Option<&Comparison>,
    ) -> Result<Self, Error> {
        let (old, new) = (report_by(old, definitions)?, report_by(new, definitions)?);
        Ok(Self::tested(&old, &new, comparison))
    }

    /// Compares two reports by the same definitions, in the same order.
    pub fn of(old: &Report<'_>, new: &Report<'_>) -> Self {
        let budgets = old.budgets();
        let alpha = new.record.alpha();
        let comparison = compare(old.record.side(), new.record.side(), &budgets, alpha);
        Self::tested(old, new, comparison.as_ref())
    }

    fn tested(old: &Report<'_>, new: &Report<'_>, comparison: Option<&Comparison>) -> Self {
        let rankings = || old.columns.iter().map(|column| &column.ranking);
        let definitions: Vec<String> = rankings().map(|r| r.definition.clone()).collect();
        let people = comparison.and_then(|found| {
            let people = found.people.as_ref()?;
            Some(PeopleChange::new(new.record, people, found.alpha))
        });
        let mut diff = Self {
            kind: "facts-diff",
            version: DIFF_VERSION,
            warnings: warnings(old.record, new.record, &definitions),
            alpha: comparison.map_or(new.record.alpha(), |found| found.alpha),
            same_people: comparison.is_some_and(|found| found.same_people),
            people,
            subgroups: comparison.map(Comparison::tally),
            tests: comparison.map_or(0, |found| found.tests),
            titles: rankings().map(|r| r.title.clone()).collect(),
            definitions,
            unchanged: 0,
            changed: Vec::new(),
        };
        let sides = (Audited::new(old), Audited::new(new));
        let tested = Tested::new(comparison);
        for (old, new) in old.columns.iter().zip(&new.columns) {
            diff.meet((&sides.0, old), (&sides.1, new), &tested);
        }
        diff
    }

    /// Takes in what one definition says of both audits.
    fn meet(
        &mut self,
        (old_side, old): (&Audited<'_>, &Column),
        (new_side, new): (&Audited<'_>, &Column),
        tested: &Tested<'_>,
    ) {
        let definition = &old.ranking.definition;
        let budget = old.definition.budget();
        let groups: Vec<String> = new_side.groups().map(str::to_owned).collect();
        let same_groups = old_side.groups().eq(new_side.groups());
        let (was, is) = (old_side.standings(old), new_side.standings(new));
        let mut changed = Vec::new();
        let mut meet = |predicate: &str, side: &Audited<'_>, old: Standing, new: Standing| {
            if !old.is_unfair() && !new.is_unfair() {
                return;
            }
            let found = tested.find(predicate, budget, &old, &new);
            let Some(change) = word(&old, &new, found.as_ref(), self.alpha) else {
                self.unchanged += 1;
                return;
            };
            changed.push(Changed {
                finding: finding_id(predicate, definition, side.groups()),
                change,
                definition: definition.clone(),
                predicate: predicate.to_owned(),
                gap: found.map(|found| found.change(&groups)),
                old,
                new,
            });
        };
        for (&predicate, old) in &was {
            let new = match is.get(predicate) {
                Some(new) if same_groups => new.clone(),
                // Of other groups it is another finding.
                Some(_) => Standing::Absent,
                None => new_side.other(predicate),
            };
            meet(predicate, old_side, old.clone(), new);
        }
        for (&predicate, new) in &is {
            match was.get(predicate) {
                Some(_) if same_groups => {}
                Some(_) => meet(predicate, new_side, Standing::Absent, new.clone()),
                None => meet(predicate, new_side, old_side.other(predicate), new.clone()),
            }
        }
        changed.sort_by(|a, b| {
            (a.change.cmp(&b.change))
                .then_with(|| b.weight().total_cmp(&a.weight()))
                .then_with(|| a.predicate.cmp(&b.predicate))
        });
        self.changed.extend(changed);
    }
}

impl Changed {
    /// How much it matters: how far the score moved; how large it is when only one audit has one.
    fn weight(&self) -> f64 {
        let (old, new) = (self.old.score(), self.new.score());
        if old == new { old } else { (new - old).abs() }
    }
}

/// A record read by definitions.
fn report_by<'r>(record: &'r Record, definitions: &[String]) -> Result<Report<'r>, Error> {
    let ids = definitions.iter();
    let definitions: Result<Vec<Box<dyn Definition>>, Error> =
        ids.map(|id| facts_engine::definitions::parse(id)).collect();
    Ok(Report::by(record, definitions?))
}
