//! One subgroup under one definition, as a line of a table.

use facts_engine::Audit;
use facts_engine::definitions::Fair;
use facts_engine::evidence::Tests;
use facts_engine::ranking::Ranked;
use serde::Serialize;

use crate::evidence::words;
use crate::text::{number, value};

/// One subgroup under one definition, as a line of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its place in the audit.
    pub subgroup: usize,
    /// Its predicate as one reads it.
    pub predicate: String,
    /// Members by group.
    pub members: Vec<u64>,
    /// What is compared, by group.
    pub values: Vec<String>,
    /// None if it is fair.
    pub rank: Option<u32>,
    /// The unfairness score.
    pub score: String,
    /// The worse-off groups, by place.
    pub against: Vec<usize>,
    /// Which kind of fair it is; none if it is not.
    pub fair: Option<&'static str>,
    /// Whether it passes; none if that is not known.
    pub passes: Option<bool>,
    /// Its family-wise p-value, if it was tested.
    pub p: Option<String>,
}

/// Which kind of fair, in a word or three.
pub(super) fn fair_words(fair: Fair) -> &'static str {
    match fair {
        Fair::Equal => "equal",
        Fair::OutOfReach => "out of reach",
    }
}

impl Row {
    /// An entry of a ranking, with what the tests say of it at a level.
    pub fn new(
        audit: &Audit,
        predicate: &str,
        ranked: &Ranked,
        tests: Option<&Tests>,
        alpha: f64,
    ) -> Self {
        let found = &ranked.assessment;
        let tested = tests.and_then(|tests| tests.tested.get(ranked.subgroup).copied()?);
        let tested = tested.filter(|_| ranked.rank.is_some());
        Self {
            subgroup: ranked.subgroup,
            predicate: predicate.to_owned(),
            members: audit.subgroups[ranked.subgroup].members.clone(),
            values: (found.values.iter())
                .map(|&compared| value(compared))
                .collect(),
            rank: ranked.rank,
            score: number(found.score),
            against: found.against.to_vec(),
            fair: found.fair().map(fair_words),
            passes: tested.map(|tested| tested.passes(alpha)),
            p: tested.map(|tested| words::p_value(tested.family_wise)),
        }
    }
}
