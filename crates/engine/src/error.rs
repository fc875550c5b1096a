//! What can go wrong, in words that name the thing and the remedy.

use thiserror::Error;

use crate::phase::Phase;
use crate::similar::probably_meant;

/// Everything that can stop the engine.
///
/// Rows are counted from 1, the first row of data being row 1.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Error {
    // Numbers the user gives.
    /// Text that is not a plain decimal.
    #[error(
        "`{0}` is not a decimal number of at most 18 digits after the point; write it like 0.05"
    )]
    NotADecimal(String),
    /// A share outside (0, 1].
    #[error("{what} is {value}, but must be above 0 and at most 1; write one percent as 0.01")]
    ShareOutOfRange {
        /// Which number.
        what: &'static str,
        /// What was given.
        value: String,
    },
    /// A parameter of a definition that makes no sense.
    #[error("{what} is {value}, but must be {must}")]
    BadParameter {
        /// Which parameter.
        what: &'static str,
        /// What was given.
        value: String,
        /// What would be accepted.
        must: &'static str,
    },
    /// A definition's text that cannot be read.
    #[error("`{text}` is no definition of fairness; {remedy}")]
    UnknownDefinition {
        /// What was given.
        text: String,
        /// What to write instead.
        remedy: String,
    },
    /// No finite cost from which budgets could be chosen.
    #[error(
        "no subgroup reaches effectiveness 0.5 at any cost, so budgets cannot be chosen automatically; give the budgets yourself"
    )]
    NoAutomaticBudgets,

    // Declarations.
    /// A column that the table does not have.
    #[error("there is no column `{column}`{}; the table has: {}", did_you_mean(column, known), known.join(", "))]
    UnknownColumn {
        /// The column asked for.
        column: String,
        /// The columns there are.
        known: Vec<String>,
    },
    /// A column with two roles.
    #[error(
        "column `{0}` is declared twice; a column is one feature, or protected, or the weight, or context"
    )]
    DeclaredTwice(String),
    /// No feature was declared.
    #[error("no feature is declared; declare the columns that people can differ in")]
    NoFeatures,
    /// No protected attribute was declared.
    #[error("no protected attribute is declared; name the column whose groups are compared")]
    NoProtected,
    /// A rule or cost that needs an order on a feature without one.
    #[error(
        "feature `{feature}`: {what} needs an order of the levels; declare the feature ordinal or numeric"
    )]
    NeedsOrder {
        /// The feature.
        feature: String,
        /// The rule or cost.
        what: &'static str,
    },
    /// A rule or cost that needs numbers on a feature without them.
    #[error(
        "feature `{feature}`: {what} needs numbers, and level `{level}` has none; declare the feature numeric"
    )]
    NeedsNumbers {
        /// The feature.
        feature: String,
        /// The rule or cost.
        what: &'static str,
        /// A level without a number.
        level: String,
    },
    /// A feature that must change and may not.
    #[error(
        "feature `{feature}` is immutable, but changing `{because}` requires changing it; drop the link or let `{feature}` change"
    )]
    ImmutableMustChange {
        /// The immutable feature.
        feature: String,
        /// The feature linked to it.
        because: String,
    },
    /// A link to a feature that is not declared.
    #[error("feature `{feature}` is linked to `{linked}`, which is not a declared feature; declared are: {}", known.join(", "))]
    UnknownLink {
        /// The feature.
        feature: String,
        /// What it is linked to.
        linked: String,
        /// The declared features.
        known: Vec<String>,
    },
    /// A weight of a feature in the cost that is no number from 0 up.
    #[error("feature `{feature}` has cost weight {weight}; give a finite number of at least 0")]
    BadFeatureWeight {
        /// The feature.
        feature: String,
        /// The weight.
        weight: f64,
    },
    /// A step size that is no number from 0 up.
    #[error(
        "feature `{feature}` has a greatest step of {step}; give a finite number of at least 0"
    )]
    BadStep {
        /// The feature.
        feature: String,
        /// The step.
        step: f64,
    },
    /// A cost that is no number from 0 up.
    #[error(
        "feature `{feature}`: going from `{from}` to `{to}` costs {cost}; a cost must be a finite number of at least 0"
    )]
    BadCost {
        /// The feature.
        feature: String,
        /// The level left.
        from: String,
        /// The level reached.
        to: String,
        /// The cost given.
        cost: f64,
    },
    /// A cost table without the entry that is needed.
    #[error(
        "feature `{feature}`: the cost table has no entry from `{from}` to `{to}`; add it, or forbid that transition"
    )]
    NoCostEntry {
        /// The feature.
        feature: String,
        /// The level left.
        from: String,
        /// The level reached.
        to: String,
    },

    // The table.
    /// A column type that cannot be read.
    #[error(
        "column `{column}` has type {data_type}, which an audit cannot read; cast it to text, a boolean, an integer or a float"
    )]
    UnsupportedType {
        /// The column.
        column: String,
        /// Its Arrow type.
        data_type: String,
    },
    /// A later batch with other columns.
    #[error("batch {batch} has other columns or types than the first: {difference}")]
    SchemaChanged {
        /// Which batch, from 1.
        batch: usize,
        /// What differs.
        difference: String,
    },
    /// NaN or an infinity.
    #[error(
        "column `{column}`, row {row}: {value} is not a finite number; make it null if it is missing"
    )]
    NonFinite {
        /// The column.
        column: String,
        /// The row.
        row: u64,
        /// The value.
        value: f64,
    },
    /// Text where a number was declared.
    #[error(
        "column `{column}`, row {row}: `{value}` is not a number; list it among the missing codes or declare the feature categorical"
    )]
    NotANumber {
        /// The column.
        column: String,
        /// The row.
        row: u64,
        /// The text.
        value: String,
    },
    /// A text column whose raw numbers are to be moved.
    #[error(
        "column `{0}` holds text, so its numbers cannot be moved between bins; read the column as a number, or let the model see the bin's label"
    )]
    TextCannotMove(String),
    /// A missing value where none is allowed.
    #[error(
        "column `{column}`, row {row}: the value is missing; say what to do with missing values of this feature: drop the row, or treat them as a level"
    )]
    MissingValue {
        /// The column.
        column: String,
        /// The row.
        row: u64,
    },
    /// A category that is called like the missing level.
    #[error(
        "feature `{0}` has a category named `missing` and missing values too; list `missing` among the missing codes, or drop the rows with missing values"
    )]
    MissingLabelTaken(String),
    /// A weight that is no whole number from 0 up.
    #[error(
        "weight column `{column}`, row {row}: {value} is not a whole number of people; weights are 0, 1, 2, …"
    )]
    BadWeight {
        /// The column.
        column: String,
        /// The row.
        row: u64,
        /// The value.
        value: String,
    },
    /// More people than can be counted.
    #[error(
        "the weights add up to more than {most} people, which cannot be counted (at row {0} or a later one); divide them by their common factor",
        most = u64::MAX
    )]
    TooManyPeople(u64),
    /// More people in a subgroup than a permutation test can take.
    #[error(
        "a subgroup has {0} people, and a permutation test takes no more than {most}; divide the weights by their common factor, or gather no evidence",
        most = u32::MAX
    )]
    TooManyToPermute(u64),
    /// A value outside the order of an ordinal.
    #[error("column `{column}`, row {row}: `{label}` is not in the declared order ({}); add it to the order or list it among the missing codes", order.join(" < "))]
    NotInOrder {
        /// The column.
        column: String,
        /// The row.
        row: u64,
        /// The label.
        label: String,
        /// The declared order.
        order: Vec<String>,
    },
    /// Bins that cannot be.
    #[error("feature `{feature}`: {why}")]
    BadBins {
        /// The feature.
        feature: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// A number outside all bins.
    #[error(
        "column `{column}`, row {row}: {value} lies outside the bins, which go from {low} to {high}; widen the outermost edges (-inf and inf are allowed)"
    )]
    BinsDoNotCover {
        /// The column.
        column: String,
        /// The row.
        row: u64,
        /// The value.
        value: f64,
        /// The lowest edge.
        low: f64,
        /// The highest edge.
        high: f64,
    },
    /// No row is left.
    #[error(
        "no row is left to audit: {read} read, {dropped} dropped for missing values, {excluded} without a protected value, {weightless} of weight 0"
    )]
    NoRows {
        /// Rows read.
        read: u64,
        /// Rows dropped.
        dropped: u64,
        /// Rows without a protected value.
        excluded: u64,
        /// Rows of weight zero.
        weightless: u64,
    },

    /// No group is large enough to be told of.
    #[error(
        "no group has {k} people, so nothing can be told of rows that at least so many share; suppress below a smaller number"
    )]
    NobodyShares {
        /// How many must share a row.
        k: u64,
    },

    // Groups.
    /// A value mapped to two groups.
    #[error(
        "protected attribute `{attribute}`: value `{value}` is mapped to two groups; map each value once"
    )]
    MappedTwice {
        /// The attribute.
        attribute: String,
        /// The value.
        value: String,
    },
    /// A protected attribute with a single value.
    #[error(
        "protected attribute `{attribute}` has only the value `{value}`; a comparison needs two groups"
    )]
    OneGroup {
        /// The attribute.
        attribute: String,
        /// Its only value.
        value: String,
    },
    /// Too few groups are left to compare.
    #[error(
        "{} of the groups can be compared, and it takes two; set aside: {}; lower the least group size, merge groups, compare others, or audit more people", match kept.first() { None => "none".to_owned(), Some(group) => format!("only `{group}`") }, set_aside.join(", ")
    )]
    TooFewGroups {
        /// The groups kept.
        kept: Vec<String>,
        /// The groups set aside, each with the reason.
        set_aside: Vec<String>,
    },
    /// A group to compare that does not exist.
    #[error("there is no group `{group}`{}; the groups are: {}", did_you_mean(group, known), known.join(", "))]
    UnknownGroup {
        /// The group asked for.
        group: String,
        /// The groups there are.
        known: Vec<String>,
    },

    /// A part of a hold-out in which a group has too few affected people.
    #[error(
        "group `{0}` has too few affected people for both parts of a hold-out; choose another share, merge groups, or leave the hold-out"
    )]
    PartTooSmall(String),
    /// An audit that is counted again on a population with other levels.
    #[error(
        "feature `{0}` does not have the levels that it had when the audit was made; read the table with the same declaration and bins"
    )]
    OtherLevels(String),
    /// Two audits are of other people.
    #[error(
        "the two audits are not of the same people; make both from the same table with the same columns, or compare them as two samples"
    )]
    OtherPeople,

    // The model and its answers.
    /// The model failed or answered nonsense.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model says yes to everybody.
    #[error(
        "the model gives all {0} people the favourable outcome: nobody is affected, so there is no recourse to audit; check which class is favourable"
    )]
    NobodyAffected(u64),
    /// The model says no to everybody.
    #[error(
        "the model gives all {0} people the unfavourable outcome: there is nobody to learn actions from; check which class is favourable"
    )]
    NobodyUnaffected(u64),

    // Size.
    /// Too many itemsets.
    #[error(
        "support {support} gives too many {what}: {found} were found before stopping, the limit is {limit}; {}",
        fitting(fits)
    )]
    TooManyItemsets {
        /// Subgroups or action itemsets.
        what: &'static str,
        /// The support asked for.
        support: String,
        /// How many had been found.
        found: usize,
        /// The limit.
        limit: usize,
        /// The least support of a fixed ladder at which the search was tried and fits, if there is one.
        fits: Option<f64>,
    },
    /// Itemsets that take more memory than is allowed, whatever their number.
    #[error(
        "support {support} gives more {what} than fit into memory: {found} were found, which need about {needed_mib} MiB; the limit is {limit_mib} MiB; {}",
        fitting(fits)
    )]
    ItemsetsTooLarge {
        /// What there is too much of.
        what: &'static str,
        /// The support asked for.
        support: String,
        /// How many had been found.
        found: usize,
        /// Memory needed for those.
        needed_mib: u64,
        /// Memory allowed.
        limit_mib: u64,
        /// The least support of a fixed ladder at which the search was tried and fits, if there is one.
        fits: Option<f64>,
    },
    /// A table of too many distinct rows.
    #[error(
        "the {rows} rows read so far are {distinct} different ones, and leave too little of the {limit_mib} MiB allowed; raise the memory limit, leave out columns that neither the audit nor the model needs, or cut numbers into bins beforehand (`{column}` has {values} different values)"
    )]
    TableTooLarge {
        /// Rows so far.
        rows: usize,
        /// Different ones among them.
        distinct: usize,
        /// The column with the most values.
        column: String,
        /// How many it has.
        values: usize,
        /// Memory allowed.
        limit_mib: u64,
    },
    /// Too many distinct counterfactual rows.
    #[error(
        "{rows} distinct counterfactual rows fill the {limit_mib} MiB allowed, and {changes_left} of {changes} changes are still to be decided; raise the memory limit or the support"
    )]
    TooManyRows {
        /// Rows so far.
        rows: usize,
        /// Memory allowed.
        limit_mib: u64,
        /// Changes not decided yet.
        changes_left: usize,
        /// Changes in all.
        changes: usize,
    },
    /// Too much memory.
    #[error(
        "support {support} gives {subgroups} subgroups and {itemsets} action itemsets, and {pairs} pairs of the two were found before stopping, which need about {needed_mib} MiB; the limit is {limit_mib} MiB; {}",
        fitting(fits)
    )]
    TooMuchMemory {
        /// The support asked for.
        support: String,
        /// Common subgroups.
        subgroups: usize,
        /// Action itemsets.
        itemsets: usize,
        /// Pairs of subgroup and valid action that had been found.
        pairs: usize,
        /// Memory needed.
        needed_mib: u64,
        /// Memory allowed.
        limit_mib: u64,
        /// The least support of a fixed ladder at which the search was tried and fits, if there is one.
        fits: Option<f64>,
    },
    /// A stage that would take more memory than is left.
    #[error(
        "{stage} would bring the audit to about {needed_mib} MiB of memory, and the limit is {limit_mib} MiB; raise the memory limit, or {remedy}"
    )]
    OverBudget {
        /// What would take it.
        stage: &'static str,
        /// Memory needed, with what is held already.
        needed_mib: u64,
        /// Memory allowed.
        limit_mib: u64,
        /// What would make it less.
        remedy: &'static str,
    },
    /// The watcher stopped the audit.
    #[error("cancelled during {0}")]
    Cancelled(Phase),
    /// Threads could not be started.
    #[error("could not start {threads} threads: {why}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the system said.
        why: String,
    },
}

/// What a model did wrong.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Not one answer a row.
    #[error(
        "the model was asked for {asked} rows and answered {answered}; it must give one class a row, in order"
    )]
    WrongNumberOfRows {
        /// Rows sent.
        asked: usize,
        /// Answers received.
        answered: usize,
    },
    /// An answer that is no class.
    #[error("the model answered {value} for row {row} of a batch, which is not a class; {remedy}")]
    NotAClass {
        /// The row in the batch, from 1.
        row: usize,
        /// What it said.
        value: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A type of answer that cannot hold classes.
    #[error("the model answered with values of type {0}; classes are booleans, numbers or text")]
    NoClasses(String),
    /// A column that the model needs and the table does not have, or holds in another type.
    #[error("the model cannot read column `{column}`: {why}")]
    Column {
        /// The column.
        column: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// The model itself failed.
    #[error("the model failed: {0}")]
    Failed(String),
}

impl ModelError {
    /// Refuses an answer that does not have one class a row.
    pub fn check_rows(asked: usize, answered: usize) -> Result<(), Self> {
        if asked == answered {
            return Ok(());
        }
        Err(Self::WrongNumberOfRows { asked, answered })
    }

    /// A column that the model cannot read, and why.
    pub fn column(column: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Column {
            column: column.into(),
            why: why.into(),
        }
    }
}

fn fitting(fits: &Option<f64>) -> String {
    match fits {
        Some(support) => format!("a support of {support} was tried and fits"),
        None => {
            "raise the limit, allow fewer items a predicate, or use fewer features or wider bins"
                .to_owned()
        }
    }
}

/// " (did you mean `x`?)" when a known name is close to the one given.
fn did_you_mean(given: &str, known: &[String]) -> String {
    let meant = probably_meant(given, known.iter().map(String::as_str));
    meant.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested() {
        let known = vec!["sex".to_owned(), "hours-per-week".to_owned()];
        let error = Error::UnknownColumn {
            column: "Hours-per-weak".to_owned(),
            known: known.clone(),
        };
        assert_eq!(
            error.to_string(),
            "there is no column `Hours-per-weak` (did you mean `hours-per-week`?); the table has: sex, hours-per-week"
        );
        let error = Error::UnknownColumn {
            column: "gender".to_owned(),
            known,
        };
        assert_eq!(
            error.to_string(),
            "there is no column `gender`; the table has: sex, hours-per-week"
        );
    }
}
