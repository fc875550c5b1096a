//! What an audit is given: features, people, groups, options and a model.

use super::decimal::Decimal;

/// Everything that one audit needs.
#[derive(Debug, Clone)]
pub struct Case {
    pub features: Vec<Feature>,
    /// Names of the protected attributes, in the order in which they are crossed.
    pub protected: Vec<String>,
    pub people: Vec<Person>,
    /// Merged groups, for a single protected attribute; a value in none of them is its own group.
    pub merge: Vec<MergedGroup>,
    /// Least number of affected people of a compared group.
    pub min_group_size: u64,
    /// Whether the labels of text features are the texts without surrounding blanks. The model
    /// sees the text as it is.
    pub trim_labels: bool,
    pub options: Options,
    pub model: Model,
}

/// Values that are compared as one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedGroup {
    pub name: String,
    pub values: Vec<String>,
}

/// What the user chose for mining.
#[derive(Debug, Clone)]
pub struct Options {
    pub support: Decimal,
    pub validity: Validity,
    /// Whether `>=` and `<=` items are made for ordered features.
    pub ranges: bool,
    /// The most items of a predicate or an action.
    pub max_length: Option<usize>,
    /// The fewest people of a subgroup in each compared group.
    pub min_members: u64,
}

/// Which itemsets are actions of a subgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity {
    /// An itemset over exactly the predicate's features.
    Joint,
    /// The change alone is an itemset.
    Subset,
}

/// One row: how many people it stands for, and what they are like.
#[derive(Debug, Clone, PartialEq)]
pub struct Person {
    /// A cell for each feature of the case.
    pub cells: Vec<Cell>,
    /// A value for each protected attribute; `None` is missing.
    pub protected: Vec<Option<String>>,
    pub weight: u64,
}

/// A raw value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Null,
    Text(String),
    Number(f64),
}

/// A column of the population, and all that is declared about it.
#[derive(Debug, Clone)]
pub struct Feature {
    pub name: String,
    pub kind: Kind,
    pub missing: Missing,
    /// Raw values that stand for a missing one.
    pub missing_codes: Vec<Cell>,
    pub rules: Rules,
    pub cost: Cost,
    /// The feature's weight in the cost of a change.
    pub weight: f64,
}

/// What the levels are. All kinds but `Categorical` are ordered, whatever their cost.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Text; the levels are the distinct labels.
    Categorical,
    /// Text with an explicit order of labels, lowest first.
    Ordinal { order: Vec<String> },
    /// Numbers; the levels are the distinct values.
    NumericExact { integer: bool },
    /// Numbers; the levels are bins.
    NumericBinned {
        integer: bool,
        binning: Binning,
        model_sees: ModelSees,
        move_rule: MoveRule,
    },
}

impl Kind {
    pub fn is_ordered(&self) -> bool {
        !matches!(self, Kind::Categorical)
    }
}

/// How numbers fall into bins, right-closed and with the lowest edge included.
#[derive(Debug, Clone, PartialEq)]
pub enum Binning {
    Quantiles(usize),
    EqualWidth(usize),
    /// Ascending edges, possibly infinite at the ends; a label for each bin, or printed edges.
    Edges {
        edges: Vec<f64>,
        labels: Option<Vec<String>>,
    },
}

/// What the model gets for a binned number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelSees {
    Raw,
    Label,
}

/// Where an action puts a raw number inside the target bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveRule {
    Linear,
    Median,
    Nearest,
}

/// What becomes of a row with a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    Drop,
    Level,
    Error,
}

/// Feasibility rules of a feature.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    pub immutable: bool,
    pub increase: bool,
    pub decrease: bool,
    pub max_step: Option<MaxStep>,
    /// Labels into which no action may lead.
    pub not_a_target: Vec<String>,
    /// Forbidden transitions: from label, to label.
    pub forbidden: Vec<(String, String)>,
    /// Features that must change too when this one changes.
    pub linked: Vec<String>,
}

/// How far one change may go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MaxStep {
    Levels(usize),
    Units(f64),
}

/// The distance `d_f(from, to)`.
#[derive(Debug, Clone, PartialEq)]
pub enum Cost {
    /// 1 for every change.
    Categorical,
    /// Difference of ranks.
    Ordinal,
    /// Difference of numbers, divided by the population's range when normalised.
    Numeric { normalised: bool },
    /// From label, to label, cost.
    Table(Vec<(String, String, f64)>),
}

/// A person in the model's own terms.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRow {
    pub cells: Vec<Cell>,
    pub protected: Vec<String>,
}

/// A binary classifier: favourable when the row's score reaches the threshold.
#[derive(Debug, Clone)]
pub struct Model {
    pub form: Form,
    pub seed: u64,
    pub threshold: u64,
}

/// How the score of a row comes about. Numbers are read in quarters, off the grid of values that
/// cases use, so that a last-digit difference in a moved number cannot turn a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Each cell brings 0 to 8 points; each protected value 0 to `protected_points`.
    Additive { protected_points: u64 },
    /// An arbitrary function of the whole row, 0 to 999: every interaction is possible.
    Arbitrary { sees_protected: bool },
}

impl Model {
    pub fn favourable(&self, row: &ModelRow) -> bool {
        self.score(row) >= self.threshold
    }

    pub fn score(&self, row: &ModelRow) -> u64 {
        match self.form {
            Form::Additive { protected_points } => {
                let cells = row.cells.iter().enumerate().map(|(column, cell)| {
                    fnv(self.seed, &[&column.to_string(), &reading(cell)]) % 9
                });
                let protected = row.protected.iter().enumerate().map(|(column, value)| {
                    fnv(self.seed, &["protected", &column.to_string(), value])
                        % (protected_points + 1)
                });
                cells.sum::<u64>() + protected.sum::<u64>()
            }
            Form::Arbitrary { sees_protected } => {
                let mut parts: Vec<String> = row.cells.iter().map(reading).collect();
                if sees_protected {
                    parts.extend(row.protected.iter().cloned());
                }
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                fnv(self.seed, &parts) % 1000
            }
        }
    }
}

/// What the model reads in a cell.
fn reading(cell: &Cell) -> String {
    match cell {
        Cell::Null => "null".to_string(),
        Cell::Text(text) => format!("text {text}"),
        Cell::Number(number) => format!("number {}", ((number + 0.0917) * 4.0).floor()),
    }
}

/// The 64-bit FNV-1a hash of the parts, with a last mixing step so that its low digits are even.
fn fnv(seed: u64, parts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let bytes = seed.to_le_bytes().into_iter().chain(
        parts
            .iter()
            .flat_map(|part| part.bytes().chain(std::iter::once(0xff))),
    );
    for byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}
