//! Three groups made up by lot, of which the first two are alike: how often is it said that they differ, and
//! how often that the third does?

use facts_engine::definitions::{self, Definition};
use facts_engine::evidence::{Gathering, PairTested};
use rayon::prelude::*;

use crate::simulation::{ALPHA, DEFINITIONS, World};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What came of pairs of groups in many repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairsFound {
    /// Repeats.
    pub repeats: usize,
    /// Those in which the test of all groups passes somewhere, for all definitions together.
    pub all_groups: usize,
    /// Those in which any pair at all is shown to differ.
    pub any: usize,
    /// Those in which the first two groups are, in any subgroup and by any definition.
    pub alike: usize,
    /// The same, were a pair judged by its own p-value, once the test of all groups passes.
    pub alike_alone: usize,
    /// Those in which the third group is shown to be worse off than another.
    pub third: usize,
}

impl PairsFound {
    fn of(pairs: &[&PairTested]) -> Self {
        let any = |wanted: &dyn Fn(&PairTested) -> bool| {
            usize::from(pairs.iter().any(|pair| wanted(pair)))
        };
        let differ = |pair: &PairTested| pair.passes(ALPHA);
        Self {
            repeats: 1,
            all_groups: usize::from(!pairs.is_empty()),
            any: any(&differ),
            alike: any(&|pair| differ(pair) && pair.groups == [0, 1]),
            alike_alone: any(&|pair| pair.p <= ALPHA && pair.groups == [0, 1]),
            third: any(&|pair| differ(pair) && pair.against == [2]),
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            repeats: self.repeats + other.repeats,
            all_groups: self.all_groups + other.all_groups,
            any: self.any + other.any,
            alike: self.alike + other.alike,
            alike_alone: self.alike_alone + other.alike_alone,
            third: self.third + other.third,
        }
    }
}

/// Makes people up, mines and tests, so often.
pub fn pairs_found(world: World, times: u64) -> Result<PairsFound, Failure> {
    let parsed = DEFINITIONS.map(definitions::parse);
    let parsed: Vec<Box<dyn Definition>> = parsed.into_iter().collect::<Result<_, _>>()?;
    let repeat = |seed: u64| -> Result<PairsFound, Failure> {
        let gathering = Gathering {
            seed,
            alpha: ALPHA,
            shuffles: world.shuffles,
            ..Gathering::default()
        };
        let (_, tests) = world.tested(seed, &parsed, &gathering)?;
        let pairs: Vec<&PairTested> = tests.iter().flat_map(|tests| &tests.pairs).collect();
        Ok(PairsFound::of(&pairs))
    };
    let all: Vec<PairsFound> = (0..times)
        .into_par_iter()
        .map(repeat)
        .collect::<Result<_, _>>()?;
    Ok(all.into_iter().fold(PairsFound::default(), PairsFound::and))
}
