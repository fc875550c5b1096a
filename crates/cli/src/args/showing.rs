//! What is typed about what is shown: definitions and findings.

use clap::Args;
use facts_report::csv::Formulas;
use facts_report::{Choice, Order};
use facts_run::Config;
use facts_run::config::Text;

use super::number;

/// Which definitions.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Definitions")]
pub(crate) struct DefinitionArgs {
    /// A definition of fairness, such as equal-choice:0.7; repeat for more
    #[arg(long, short, value_name = "ID")]
    pub(crate) definition: Vec<String>,
    /// φ, for definitions that leave it open; repeat for more [default: 0.3 and 0.7]
    #[arg(long, value_name = "SHARE")]
    pub(crate) phi: Vec<String>,
    /// The budget c, for definitions that leave it open; repeat for more [default: chosen from the
    /// data]
    #[arg(long, value_name = "COST", value_parser = number)]
    pub(crate) budget: Vec<f64>,
}

impl DefinitionArgs {
    /// Whether anything was asked for.
    pub(crate) fn any(&self) -> bool {
        !(self.definition.is_empty() && self.phi.is_empty() && self.budget.is_empty())
    }

    pub(crate) fn apply(self, config: &mut Config) {
        if !self.definition.is_empty() {
            config.report.definitions = self.definition;
        }
        if !self.phi.is_empty() {
            config.report.phi = self.phi.into_iter().map(Text).collect();
        }
        if !self.budget.is_empty() {
            config.report.budgets = self.budget;
        }
    }
}

/// Which findings are shown.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What is shown")]
pub(crate) struct ShowingArgs {
    /// All that was found: what was audited, against whom, the first findings of each definition
    #[arg(long)]
    pub(crate) full: bool,
    /// Which findings come first: those with most people at a loss when chance is given its due
    /// (people), or those with the greatest score, as the paper ranks (score)
    #[arg(long, value_name = "ORDER", value_parser = Order::NAMES, default_value = "people")]
    pub(crate) order: String,
    /// How many findings of each definition [default: 3]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Only subgroups whose predicate says so: "occupation = Sales and age"
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) wanted: Option<String>,
    /// Only findings against this group
    #[arg(long, value_name = "GROUP")]
    pub(crate) against: Option<String>,
    /// Only findings that pass: that chance alone would seldom show, among all subgroups of the
    /// definition
    #[arg(long, conflicts_with = "fair")]
    pub(crate) passing: bool,
    /// Show fair subgroups too
    #[arg(long)]
    pub(crate) fair: bool,
    /// Leave out subgroups that only add items which no shown action changes
    #[arg(long)]
    pub(crate) drop_contained: bool,
    /// List every valid action, not only those that the definition lists
    #[arg(long)]
    pub(crate) all_actions: bool,
    /// List only actions of at least this effectiveness
    #[arg(long, value_name = "SHARE")]
    pub(crate) min_effectiveness: Option<String>,
    /// List only actions of at most this cost
    #[arg(long, value_name = "COST", value_parser = number)]
    pub(crate) max_cost: Option<f64>,
    /// List only the cheapest of the actions left
    #[arg(long)]
    pub(crate) least_cost: bool,
    /// In CSV, put an apostrophe in front of names and levels that a spreadsheet would take for formulas
    #[arg(long)]
    pub(crate) spreadsheet: bool,
}

/// How many findings of each definition are shown unless said otherwise.
const TOP: usize = 3;

impl From<ShowingArgs> for Choice {
    fn from(args: ShowingArgs) -> Self {
        Self {
            top: args.top.unwrap_or(TOP),
            wanted: args.wanted,
            against: args.against,
            passing: args.passing,
            fair: args.fair,
            drop_contained: args.drop_contained,
            all_actions: args.all_actions,
            min_effectiveness: args.min_effectiveness,
            max_cost: args.max_cost,
            least_cost: args.least_cost,
            order: Order::named(&args.order).unwrap_or_default(),
            formulas: match args.spreadsheet {
                true => Formulas::Disarmed,
                false => Formulas::Kept,
            },
        }
    }
}

impl ShowingArgs {
    /// Whether anything is chosen.
    pub(crate) fn any(&self) -> bool {
        let choices = [
            self.full,
            Order::named(&self.order) == Some(Order::Score),
            self.top.is_some(),
            self.wanted.is_some(),
            self.against.is_some(),
            self.passing,
            self.fair,
            self.drop_contained,
            self.all_actions,
            self.min_effectiveness.is_some(),
            self.max_cost.is_some(),
            self.least_cost,
        ];
        choices.contains(&true)
    }
}

/// One part of what was found, in full.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What is shown")]
pub(crate) struct PartArgs {
    /// One story in full, by its number
    #[arg(long, value_name = "N", conflicts_with_all = ["stories", "subgroup", "tables", "format", "wanted", "against", "top"])]
    pub(crate) story: Option<usize>,
    /// All stories
    #[arg(long, conflicts_with_all = ["subgroup", "tables", "format", "wanted", "against", "top"])]
    pub(crate) stories: bool,
    /// One subgroup in full, by its predicate or by the id of a finding
    #[arg(long, value_name = "PREDICATE", conflicts_with_all = ["tables", "format", "wanted", "against", "top"])]
    pub(crate) subgroup: Option<String>,
    /// The two analysis tables
    #[arg(long, conflicts_with_all = ["format", "wanted", "against", "top"])]
    pub(crate) tables: bool,
}

impl PartArgs {
    /// Whether one is asked for that is read by the paper's definitions, too.
    pub(crate) fn by_all_definitions(&self) -> bool {
        self.subgroup.is_some() || self.tables || self.story.is_some()
    }

    /// Whether one is asked for.
    pub(crate) fn any(&self) -> bool {
        self.by_all_definitions() || self.stories
    }
}
