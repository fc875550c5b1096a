//! The audit: the method's steps in order, and the value that holds what they found.

mod affected;
mod again;
mod check;
mod individuals;
mod options;
mod run;
mod search;
mod searched;
mod suppress;

use std::borrow::Borrow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use self::again::audit_again;
pub(crate) use self::individuals::Alike;
pub use self::individuals::Individuals;
pub use self::options::Options;
pub use self::run::{audit, audit_with_individuals};
pub use self::searched::{Searched, Seconds, search};
use crate::actions::{Change, Validity};
use crate::decimal::Support;
use crate::definitions::{self, Definition};
use crate::distribution::{Count, Subgroup};
use crate::error::Error;
use crate::flips::Favourable;
use crate::population::{Levels, Summary};
use crate::ranking::{self, AggregatedRankings, Filters, Ranking, RankingAnalysis, Shown};
use crate::subgroups::Predicate;

/// The version of the saved form of an [`Audit`].
pub const FORMAT: u32 = 1;

/// Everything an audit found: counts, no individuals.
///
/// Any definition can be asked for later, without the model and without the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Audit {
    /// The version of the saved form.
    pub format: u32,
    /// The features, in order of name.
    pub features: Vec<Levels>,
    /// What was read and what was left out.
    pub population: Summary,
    /// The groups compared, in order of name.
    pub groups: Vec<Group>,
    /// The groups not compared, and why.
    pub set_aside: Vec<SetAside>,
    /// People with the favourable prediction, of all groups.
    pub unaffected: u64,
    /// How the audit was made.
    pub settings: Settings,
    /// How large each step was.
    pub sizes: Sizes,
    /// All changes that some valid action makes.
    pub changes: Vec<Change>,
    /// Subgroups with a valid action: more members first, then by text.
    pub subgroups: Vec<Subgroup>,
    /// Subgroups for which no valid action was mined, in the same order. They are not ranked: "no
    /// action works" and "no action was found" are different findings.
    pub without_actions: Vec<WithoutActions>,
    /// If counts below k were suppressed: k, and how many subgroups were removed for it.
    pub suppression: Option<Suppression>,
}

/// A protected group under comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// People in it.
    pub people: u64,
    /// Those with the unfavourable prediction.
    pub affected: u64,
}

/// A protected group that is not compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetAside {
    /// Its name.
    pub name: String,
    /// People in it.
    pub people: Count,
    /// Those with the unfavourable prediction.
    pub affected: Count,
    /// Why it is not compared.
    pub why: String,
}

/// A subgroup for which no valid action was mined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WithoutActions {
    /// Who belongs to it.
    pub predicate: Predicate,
    /// Members by group.
    pub members: Vec<u64>,
}

/// What was suppressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    /// Counts from 1 to k − 1 are not told.
    pub k: u64,
    /// Subgroups removed because a group has fewer than k members.
    pub removed: usize,
}

/// How an audit was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The least share of each group that a subgroup must have.
    pub support: Support,
    /// Which actions are valid.
    pub validity: Validity,
    /// Whether range items were used.
    pub ranges: bool,
    /// The most items of a predicate, if limited.
    pub max_length: Option<usize>,
    /// The least number of people that a subgroup must have in each group. Audits that were saved before
    /// there was such a number had none.
    #[serde(default = "one")]
    pub min_members: u64,
    /// Groups with fewer affected people were set aside.
    pub min_group_size: u64,
    /// Which class is favourable.
    pub favourable: Favourable,
}

fn one() -> u64 {
    1
}

impl Settings {
    fn of(options: &Options) -> Self {
        Self {
            support: options.support,
            validity: options.validity,
            ranges: options.ranges,
            max_length: options.max_length,
            min_members: options.min_members,
            min_group_size: options.min_group_size,
            favourable: options.favourable.clone(),
        }
    }
}

/// How large each step of an audit was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Distinct rows of the population.
    pub profiles: usize,
    /// Distinct rows among the affected of the groups compared.
    pub affected_profiles: usize,
    /// Subgroups common to all groups.
    pub common_subgroups: usize,
    /// Frequent itemsets of the unaffected.
    pub action_itemsets: usize,
    /// Pairs of a subgroup and a valid action.
    pub pairs: usize,
    /// Distinct changes among those.
    pub changes: usize,
    /// Distinct pairs of a profile and a change that had to be decided.
    pub decisions: u64,
    /// Rows of the population that the model was asked for.
    pub rows_asked: u64,
    /// Counterfactual rows that the model was asked for.
    pub counterfactual_rows_asked: u64,
}

impl Audit {
    /// Ranks the subgroups by a definition.
    pub fn rank(&self, definition: &dyn Definition) -> Ranking {
        Ranking::new(definition, &self.subgroups)
    }

    /// Ranks the subgroups by several definitions.
    pub fn rank_all(&self, definitions: &[Box<dyn Definition>]) -> Vec<Ranking> {
        definitions
            .par_iter()
            .map(|definition| self.rank(definition.as_ref()))
            .collect()
    }

    /// What a ranking shows under filters. `definition` must be the one it was ranked by.
    pub fn show<'a>(
        &self,
        ranking: &'a Ranking,
        definition: &dyn Definition,
        filters: &Filters,
    ) -> Vec<Shown<'a>> {
        filters.apply(ranking, definition, &self.subgroups, &self.changes)
    }

    /// Budgets chosen from the data: the 30th, 60th and 90th percentile of what it costs a group
    /// until half of it achieves recourse.
    pub fn automatic_budgets(&self) -> Result<Vec<f64>, Error> {
        ranking::automatic(&self.subgroups)
    }

    /// The paper's columns with automatic budgets.
    pub fn paper_columns(&self) -> Result<Vec<Box<dyn Definition>>, Error> {
        definitions::paper_columns(&self.automatic_budgets()?)
    }

    /// How each definition ranks: how many share rank 1, and against whom the findings are.
    pub fn ranking_analysis<R: Borrow<Ranking>>(&self, rankings: &[R]) -> RankingAnalysis {
        RankingAnalysis::new(rankings, self.groups.len())
    }

    /// Where the first of each definition stand under the others.
    pub fn aggregated_rankings<R: Borrow<Ranking>>(&self, rankings: &[R]) -> AggregatedRankings {
        AggregatedRankings::new(rankings, self.subgroups.len())
    }

    /// A predicate as one reads it.
    pub fn text(&self, predicate: &Predicate) -> String {
        predicate.text(&self.features)
    }

    /// The share of group `g`'s affected that a subgroup covers.
    pub fn coverage(&self, subgroup: &Subgroup, g: usize) -> f64 {
        subgroup.members[g] as f64 / self.groups[g].affected as f64
    }
}
