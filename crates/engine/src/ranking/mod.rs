//! Ranking subgroups by a definition, and the tables made from rankings.
//!
//! Descending score, dense ranks; scores closer than 1e-9 share a rank, and a score of 0 is *Fair*
//! and has none. Inside a tie: more members first, then the predicate's text.

mod budgets;
mod filters;
mod tables;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub(crate) use self::budgets::automatic;
pub use self::filters::{ActionFilter, Filters, Shown};
pub use self::tables::{AggregatedRankings, RankingAnalysis, RankingRow};
use crate::definitions::{Assessment, Definition, SCORE_GAP};
use crate::distribution::Subgroup;

/// Standard deviations below which a one-sided bound lies 95 % of the time.
const Z_ONE_SIDED: f64 = 1.644_853_626_951_472_2;

/// The subgroups of an audit under one definition, most unfair first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// The definition's id.
    pub definition: String,
    /// The definition as one reads it.
    pub title: String,
    /// Subgroups in order of rank; the fair ones come last.
    pub ranked: Vec<Ranked>,
    /// The greatest rank; 0 if all are fair.
    pub worst_rank: u32,
    /// Subgroups that cannot be ranked because a count was suppressed, by place in the audit.
    pub suppressed: Vec<usize>,
}

/// One subgroup in a ranking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The subgroup, by its place in the audit.
    pub subgroup: usize,
    /// Its rank from 1, or `None` if it is fair.
    pub rank: Option<u32>,
    /// How its groups compare.
    pub assessment: Assessment,
}

impl Ranking {
    /// Ranks subgroups, which lie in the order that decides ties.
    pub(crate) fn new(definition: &dyn Definition, subgroups: &[Subgroup]) -> Self {
        let assessments: Vec<Option<Assessment>> = subgroups
            .par_iter()
            .map(|subgroup| definition.assess(subgroup))
            .collect();
        let mut suppressed = Vec::new();
        let mut ranked = Vec::with_capacity(assessments.len());
        for (subgroup, assessment) in assessments.into_iter().enumerate() {
            match assessment {
                None => suppressed.push(subgroup),
                Some(assessment) => ranked.push(Ranked {
                    subgroup,
                    rank: None,
                    assessment,
                }),
            }
        }
        // Scores are never NaN, so this is a total order; the sort is stable.
        ranked.sort_by(|a, b| b.assessment.score.total_cmp(&a.assessment.score));
        let worst_rank = give_ranks(&mut ranked);
        // Scores that share a rank may still differ in the last digits: order those as ties too.
        for tied in ranked.chunk_by_mut(|a, b| a.rank == b.rank) {
            tied.sort_by_key(|ranked| ranked.subgroup);
        }
        Self {
            definition: definition.id(),
            title: definition.title(),
            ranked,
            worst_rank,
            suppressed,
        }
    }

    /// The subgroups that are not fair, most unfair first.
    pub fn unfair(&self) -> &[Ranked] {
        let unfair = self.ranked.partition_point(|ranked| ranked.rank.is_some());
        &self.ranked[..unfair]
    }

    /// The same subgroups in the order for people: by the lower bound of how many of the worse-off are
    /// at a loss, which is their number times [what is left of the gap](Definition::gap_at_least) when
    /// chance is given its due. Raw scores put chance and ∞ first. Ranks stay what they are, and order
    /// those for which there is no bound.
    pub fn for_people(&self, definition: &dyn Definition, subgroups: &[Subgroup]) -> Self {
        let order = self.order_for_people(definition, subgroups);
        Self {
            definition: self.definition.clone(),
            title: self.title.clone(),
            ranked: (order.iter().map(|&place| self.ranked[place].clone())).collect(),
            worst_rank: self.worst_rank,
            suppressed: self.suppressed.clone(),
        }
    }

    /// The places of this ranking in [the order for people](Self::for_people).
    pub fn order_for_people(
        &self,
        definition: &dyn Definition,
        subgroups: &[Subgroup],
    ) -> Vec<usize> {
        let unfair = self.unfair().par_iter();
        let mut bounds: Vec<(f64, usize)> = (unfair.enumerate())
            .map(|(place, ranked)| {
                let subgroup = &subgroups[ranked.subgroup];
                let against = ranked.assessment.against.iter();
                let worse_off: u64 = against.map(|&g| subgroup.members[g]).sum();
                let gap = definition.gap_at_least(subgroup, Z_ONE_SIDED);
                let bound = gap.map_or(f64::NEG_INFINITY, |gap| gap * worse_off as f64);
                (bound, place)
            })
            .collect();
        // Stable, so that ties stay in order of rank.
        bounds.sort_by(|a, b| b.0.total_cmp(&a.0));
        let fair = bounds.len()..self.ranked.len();
        bounds.iter().map(|&(_, place)| place).chain(fair).collect()
    }

    /// The first tenth of the unfair ones, rounded down but at least one; subgroups that share the
    /// rank of the last of them are among them.
    pub(crate) fn first_tenth(&self) -> &[Ranked] {
        let unfair = self.unfair();
        let tenth = (unfair.len() / 10).max(1);
        match unfair.get(tenth - 1) {
            None => unfair,
            Some(last) => {
                let among = unfair.partition_point(|ranked| ranked.rank <= last.rank);
                &unfair[..among]
            }
        }
    }

    /// Ranks by place in the audit; fair and suppressed subgroups have none.
    fn ranks(&self, subgroups: usize) -> Vec<Option<u32>> {
        let mut ranks = vec![None; subgroups];
        for ranked in &self.ranked {
            ranks[ranked.subgroup] = ranked.rank;
        }
        ranks
    }
}

/// Gives dense ranks to entries in order of falling score; the greatest rank.
fn give_ranks(ranked: &mut [Ranked]) -> u32 {
    let mut rank = 0;
    let mut previous = f64::NAN;
    for entry in ranked {
        let score = entry.assessment.score;
        if score == 0.0 {
            break;
        }
        // ∞ equals ∞, though their difference is not a number.
        let same = score == previous || previous - score < SCORE_GAP;
        if !same {
            rank += 1;
        }
        previous = score;
        entry.rank = Some(rank);
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::PerGroup;

    /// A ranking with these ranks, in order.
    fn ranking(ranks: impl Iterator<Item = Option<u32>>) -> Ranking {
        let ranked = ranks.enumerate().map(|(subgroup, rank)| Ranked {
            subgroup,
            rank,
            assessment: Assessment {
                values: PerGroup::new(),
                score: 1.0,
                against: PerGroup::new(),
                significant: None,
            },
        });
        Ranking {
            definition: String::new(),
            title: String::new(),
            ranked: ranked.collect(),
            worst_rank: 0,
            suppressed: Vec::new(),
        }
    }

    #[test]
    fn the_first_tenth_is_of_the_unfair_and_takes_ties_along() {
        let first = |ranks: Vec<Option<u32>>| ranking(ranks.into_iter()).first_tenth().len();
        assert_eq!(first((1..40).map(Some).collect()), 3);
        let fair = |unfair: u32| (1..=unfair).map(Some).chain([None; 60]).collect();
        assert_eq!(first(fair(20)), 2);
        assert_eq!(first(fair(9)), 1);
        assert_eq!(first(fair(0)), 0);
        // The second of 20 shares its rank with four others.
        let tied = [1, 2, 2, 2, 2, 2].into_iter().chain(3..17).map(Some);
        assert_eq!(first(tied.collect()), 6);
    }
}
