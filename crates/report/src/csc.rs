//! Comparative subgroup counterfactuals, as data.

use facts_engine::Audit;
use facts_engine::distribution::Count;
use facts_engine::ranking::{Ranking, Shown};

/// One subgroup under one definition: who they are, what each group can do, and whom it favours.
#[derive(Clone, Debug, PartialEq)]
pub struct Csc {
    /// The predicate as one reads it.
    pub predicate: String,
    /// The groups under comparison.
    pub groups: Vec<CscGroup>,
    /// The definition as one reads it.
    pub definition: String,
    /// The subgroup's rank under it; none if it is fair.
    pub rank: Option<u32>,
    /// The unfairness score.
    pub score: f64,
    /// The worse-off groups.
    pub against: Vec<String>,
}

/// One group of a subgroup.
#[derive(Clone, Debug, PartialEq)]
pub struct CscGroup {
    /// The group's name.
    pub name: String,
    /// Its affected members in the subgroup.
    pub members: u64,
    /// All its affected.
    pub affected: u64,
    /// What the definition lists for it, cheapest first.
    pub recourses: Vec<Recourse>,
}

/// One action and how well it works for a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Recourse {
    /// What changes, as one reads it.
    pub change: String,
    /// What it costs.
    pub cost: f64,
    /// Members it flips.
    pub flips: Count,
}

impl Csc {
    /// Puts together what is shown of one entry of a ranking.
    pub fn new(audit: &Audit, ranking: &Ranking, shown: &Shown<'_>) -> Self {
        let subgroup = &audit.subgroups[shown.ranked.subgroup];
        let recourse = |g: usize, action: usize| Recourse {
            change: subgroup
                .change(action, &audit.changes)
                .text(&audit.features),
            cost: subgroup.actions[action].cost,
            flips: subgroup.flips(action, g),
        };
        let group = |(g, actions): (usize, &Vec<usize>)| CscGroup {
            name: audit.groups[g].name.clone(),
            members: subgroup.members[g],
            affected: audit.groups[g].affected,
            recourses: actions.iter().map(|&action| recourse(g, action)).collect(),
        };
        let assessment = &shown.ranked.assessment;
        Self {
            predicate: audit.text(&subgroup.predicate),
            groups: shown.actions.iter().enumerate().map(group).collect(),
            definition: ranking.title.clone(),
            rank: shown.ranked.rank,
            score: assessment.score,
            against: assessment
                .against
                .iter()
                .map(|&g| audit.groups[g].name.clone())
                .collect(),
        }
    }
}
