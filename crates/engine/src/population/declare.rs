//! What the user declares about the columns of a table.
//!
//! Nothing here is checked against data: [`Population`](super::Population) does that once, when
//! the table is there, and everything behind it works with checked values.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Level;

/// What the columns of a table are.
#[derive(Clone, Debug, Default)]
pub struct Declaration {
    pub(super) features: Vec<Feature>,
    pub(super) protected: Vec<Protected>,
    pub(super) weight: Option<String>,
    pub(super) context: Vec<String>,
    pub(super) trim: bool,
    pub(super) everybody: bool,
}

impl Declaration {
    /// Nothing declared yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A column that people differ in.
    pub fn feature(mut self, feature: Feature) -> Self {
        self.features.push(feature);
        self
    }

    /// Several such columns.
    pub fn features(mut self, features: impl IntoIterator<Item = Feature>) -> Self {
        self.features.extend(features);
        self
    }

    /// A protected attribute. Declared again, the attributes are crossed.
    pub fn protected(mut self, attribute: Protected) -> Self {
        self.protected.push(attribute);
        self
    }

    /// The column that says how many people a row stands for.
    pub fn weight(mut self, column: impl Into<String>) -> Self {
        self.weight = Some(column.into());
        self
    }

    /// A column that the model sees and the audit does not speak of.
    pub fn context(mut self, column: impl Into<String>) -> Self {
        self.context.push(column.into());
        self
    }

    /// Names levels and groups by their text without surrounding blanks. The model still receives
    /// every value exactly as it stands in the table.
    pub fn trim(mut self, trim: bool) -> Self {
        self.trim = trim;
        self
    }

    /// Keeps people whose protected value is missing, as a group of their own: a model may be fitted
    /// on them, though nobody can compare them.
    pub fn everybody(mut self) -> Self {
        self.everybody = true;
        self
    }

    /// The same with other features.
    pub fn with_features(mut self, features: Vec<Feature>) -> Self {
        self.features = features;
        self
    }

    /// Columns that the model sees and the audit does not speak of.
    pub fn declared_context(&self) -> &[String] {
        &self.context
    }

    /// The features that are declared.
    pub fn declared_features(&self) -> &[Feature] {
        &self.features
    }
}

/// How a column becomes levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Each distinct value is a level; levels have no order.
    Categorical,
    /// Levels in an explicit order, lowest first.
    Ordinal(Vec<String>),
    /// Each distinct number is a level, in numeric order.
    Numeric,
    /// Numbers cut into bins.
    Binned(Bins),
}

/// Bins of a number, and what the model gets to see of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bins {
    /// Where the edges lie.
    pub edges: Edges,
    /// Names of the bins, lowest first; printed intervals when absent.
    pub labels: Option<Vec<String>>,
    /// What the model is given.
    pub view: View,
}

/// Where the edges of bins lie. Bins are right-closed, the lowest edge included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edges {
    /// So many bins with about as many people each.
    Quantiles(usize),
    /// So many bins of equal width between the least and the greatest number.
    EqualWidth(usize),
    /// These edges, ascending; the outermost may be infinite.
    At(#[serde(with = "crate::infinity::list")] Vec<f64>),
}

/// What the model sees of a binned number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// The label of the bin: the model was trained on the binned column.
    Label,
    /// The raw number: an action into a bin moves it by this rule.
    Raw(Move),
}

/// How an action into a bin moves a person's raw number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Move {
    /// The person keeps their relative place: the bin they leave maps linearly onto the bin they
    /// enter.
    #[default]
    Linear,
    /// The median of the unaffected in the bin entered.
    Median,
    /// The observed value of the bin entered that is closest to the person's own.
    Nearest,
}

/// What to do with a row in which a feature is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Treat "missing" as a level of its own, to which no action leads: nobody leaves an audit because
    /// a field is empty.
    #[default]
    Level,
    /// Leave the row out, and count it.
    Drop,
    /// Stop with an error that names the row.
    Error,
}

/// Which way a feature may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Only up the order.
    Increase,
    /// Only down the order.
    Decrease,
}

/// How far one change may go.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// So many levels of an ordered feature.
    Levels(usize),
    /// So many units of a number (bin midpoints for bins).
    Units(f64),
}

/// Which changes of a feature are feasible.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// Never changes.
    pub immutable: bool,
    /// May only go one way.
    pub direction: Option<Direction>,
    /// May only go so far.
    pub max_step: Option<Step>,
    /// Levels to which no action leads.
    pub not_a_target: Vec<String>,
    /// Transitions (from, to) that are not allowed.
    pub forbidden: Vec<(String, String)>,
    /// Features that must change too when this one does.
    pub linked: Vec<String>,
    /// Whether a transition is allowed, as code; it cannot be saved, and need not be: a loaded audit
    /// holds the actions that passed.
    #[serde(skip)]
    pub allowed: Option<TransitionRule>,
}

type Transition = dyn Fn(&Level, &Level) -> bool + Send + Sync;

/// A rule given as a Rust function of the level left and the level reached.
#[derive(Clone)]
pub struct TransitionRule(Arc<Transition>);

impl TransitionRule {
    /// Transitions for which `rule` holds are allowed. It is asked about each at most a few times.
    pub fn new(rule: impl Fn(&Level, &Level) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(rule))
    }

    /// Whether a transition is allowed.
    pub(crate) fn allows(&self, from: &Level, to: &Level) -> bool {
        (self.0)(from, to)
    }
}

impl fmt::Debug for TransitionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TransitionRule")
    }
}

/// Code is equal to itself only.
impl PartialEq for TransitionRule {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A cost given as a Rust function of the level left and the level reached.
pub type CostFunction = Arc<dyn Fn(&Level, &Level) -> f64 + Send + Sync>;

/// What it costs to change a feature from one level to another, before its weight.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// 1, whatever the levels.
    Categorical,
    /// The difference of ranks.
    Ordinal,
    /// The difference of numbers; normalised, as a share of the range in the population.
    Numeric {
        /// Whether the difference is divided by the range.
        normalised: bool,
    },
    /// An explicit table of (from, to, cost).
    Table(Vec<(String, String, f64)>),
    /// A function; saved by name only, since code cannot be saved. A loaded audit holds its costs
    /// and never asks again.
    #[serde(serialize_with = "as_unit", deserialize_with = "from_unit")]
    Function(CostFunction),
}

fn as_unit<S: serde::Serializer>(_: &CostFunction, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_unit()
}

fn from_unit<'de, D: serde::Deserializer<'de>>(from: D) -> Result<CostFunction, D::Error> {
    <()>::deserialize(from)?;
    // No cost, so that whoever asks nevertheless is told so.
    Ok(Arc::new(|_, _| f64::NAN))
}

impl fmt::Debug for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Categorical => f.write_str("Categorical"),
            Self::Ordinal => f.write_str("Ordinal"),
            Self::Numeric { normalised } => write!(f, "Numeric {{ normalised: {normalised} }}"),
            Self::Table(rows) => f.debug_tuple("Table").field(rows).finish(),
            Self::Function(_) => f.write_str("Function"),
        }
    }
}

/// One column that people differ in and, unless a rule forbids it, can change.
#[derive(Clone, Debug)]
pub struct Feature {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) missing: Missing,
    pub(crate) missing_codes: Vec<String>,
    pub(crate) rules: Rules,
    pub(crate) distance: Option<Distance>,
    pub(crate) weight: f64,
}

impl Feature {
    /// A feature of the given kind, free to change at weight 1.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            kind,
            missing: Missing::default(),
            missing_codes: Vec::new(),
            rules: Rules::default(),
            distance: None,
            weight: 1.0,
        }
    }

    /// The column's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How its column becomes levels.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The same feature with levels of another kind.
    /// The values that stand for "missing".
    pub fn codes_for_missing(&self) -> &[String] {
        &self.missing_codes
    }

    pub(crate) fn with_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// Whether no rule keeps the feature from ever changing.
    pub fn can_change(&self) -> bool {
        !self.rules.immutable
    }

    /// The same feature with changes that count so many times as heavily.
    pub fn heavier(mut self, times: f64) -> Self {
        self.weight *= times;
        self
    }

    /// The same feature in so many more bins, or fewer but at least two.
    ///
    /// None if it is not cut into a number of bins, or is left as it is: where the model sees the
    /// labels of its bins it knows no others, and bins that have names, or that rules and costs name,
    /// cannot be others.
    pub fn rebinned(&self, more: isize) -> Option<Self> {
        let Kind::Binned(bins) = &self.kind else {
            return None;
        };
        let named = bins.labels.is_some()
            || !self.rules.not_a_target.is_empty()
            || !self.rules.forbidden.is_empty()
            || matches!(self.distance, Some(Distance::Table(_)));
        if bins.view == View::Label || named {
            return None;
        }
        let others = |count: usize| {
            let others = count.saturating_add_signed(more).max(2);
            (others != count).then_some(others)
        };
        let edges = match bins.edges {
            Edges::Quantiles(count) => Edges::Quantiles(others(count)?),
            Edges::EqualWidth(count) => Edges::EqualWidth(others(count)?),
            Edges::At(_) => return None,
        };
        let bins = Bins {
            edges,
            ..bins.clone()
        };
        Some(self.clone().with_kind(Kind::Binned(bins)))
    }

    /// A feature whose distinct values are levels without an order.
    pub fn categorical(name: impl Into<String>) -> Self {
        Self::new(name, Kind::Categorical)
    }

    /// A feature with an explicit order of levels, lowest first.
    pub fn ordinal<L: Into<String>>(
        name: impl Into<String>,
        order: impl IntoIterator<Item = L>,
    ) -> Self {
        Self::new(
            name,
            Kind::Ordinal(order.into_iter().map(Into::into).collect()),
        )
    }

    /// A feature whose distinct numbers are levels.
    pub fn numeric(name: impl Into<String>) -> Self {
        Self::new(name, Kind::Numeric)
    }

    /// A number cut into bins; the model sees the raw number, which actions move linearly.
    pub fn binned(name: impl Into<String>, edges: Edges) -> Self {
        Self::new(
            name,
            Kind::Binned(Bins {
                edges,
                labels: None,
                view: View::Raw(Move::default()),
            }),
        )
    }

    /// Names the bins, lowest first. Only bins have labels; on other kinds this does nothing.
    pub fn labels<L: Into<String>>(mut self, labels: impl IntoIterator<Item = L>) -> Self {
        if let Kind::Binned(bins) = &mut self.kind {
            bins.labels = Some(labels.into_iter().map(Into::into).collect());
        }
        self
    }

    /// Says what the model sees of the bins. On other kinds this does nothing.
    pub fn view(mut self, view: View) -> Self {
        if let Kind::Binned(bins) = &mut self.kind {
            bins.view = view;
        }
        self
    }

    /// Says what to do with rows where the feature is missing.
    pub fn missing(mut self, missing: Missing) -> Self {
        self.missing = missing;
        self
    }

    /// Values that stand for "missing", such as `?`. The model still receives them as they are.
    pub fn missing_codes<C: Into<String>>(mut self, codes: impl IntoIterator<Item = C>) -> Self {
        self.missing_codes = codes.into_iter().map(Into::into).collect();
        self
    }

    /// All feasibility rules at once.
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// The feature never changes.
    pub fn immutable(mut self) -> Self {
        self.rules.immutable = true;
        self
    }

    /// The feature may only go one way.
    pub fn only(mut self, direction: Direction) -> Self {
        self.rules.direction = Some(direction);
        self
    }

    /// One change may only go so far.
    pub fn max_step(mut self, step: Step) -> Self {
        self.rules.max_step = Some(step);
        self
    }

    /// Levels to which no action may lead.
    pub fn not_a_target<L: Into<String>>(mut self, levels: impl IntoIterator<Item = L>) -> Self {
        self.rules.not_a_target = levels.into_iter().map(Into::into).collect();
        self
    }

    /// A transition that is not allowed. May be called again for more.
    pub fn forbid(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.rules.forbidden.push((from.into(), to.into()));
        self
    }

    /// A feature that must change too when this one changes. May be called again for more.
    pub fn linked_to(mut self, other: impl Into<String>) -> Self {
        self.rules.linked.push(other.into());
        self
    }

    /// Only transitions for which `rule` holds, beside the other rules.
    pub fn allow(mut self, rule: TransitionRule) -> Self {
        self.rules.allowed = Some(rule);
        self
    }

    /// What a change costs before the weight. By default 1 for categories, ranks for ordinals, the
    /// normalised difference for numbers.
    pub fn distance(mut self, distance: Distance) -> Self {
        self.distance = Some(distance);
        self
    }

    /// How heavily changes of this feature count in a cost.
    pub fn weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }
}

/// A protected attribute: a column whose values are the groups that are compared.
#[derive(Clone, Debug)]
pub struct Protected {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) missing_codes: Vec<String>,
    pub(crate) merged: Vec<(String, Vec<String>)>,
}

impl Protected {
    /// Each distinct value of the column is a group.
    pub fn attribute(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: Kind::Categorical,
            missing_codes: Vec::new(),
            merged: Vec::new(),
        }
    }

    /// How values become groups where they are not taken one by one: bins of age, for example.
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// Values that stand for "missing"; rows that hold them are excluded and counted.
    pub fn missing_codes<C: Into<String>>(mut self, codes: impl IntoIterator<Item = C>) -> Self {
        self.missing_codes = codes.into_iter().map(Into::into).collect();
        self
    }

    /// Merges values into one group; `*` stands for every value that no mapping names.
    pub fn merge<V: Into<String>>(
        mut self,
        group: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        self.merged.push((group.into(), values));
        self
    }
}
