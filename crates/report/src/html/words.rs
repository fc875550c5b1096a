//! The definitions in plain words, beyond the question and the worse-off side that the engine
//! states.

/// What a reader should know about one kind of definition.
pub(super) struct Words {
    /// What is compared between the groups.
    pub(super) compares: &'static str,
    /// What a score of 0 means.
    pub(super) zero: &'static str,
    /// What a score of ∞ means.
    pub(super) infinity: &'static str,
    /// When to look at it.
    pub(super) choose: &'static str,
    /// When not to rely on it.
    pub(super) beware: &'static str,
}

/// The words for a kind of definition, by the first part of its id.
pub(super) fn about(kind: &str) -> Option<Words> {
    Some(match kind {
        "equal-effectiveness" => Words {
            compares: "The share of each group that can achieve recourse at any cost.",
            zero: "The same share of each group can get out.",
            infinity: "Does not occur: shares differ by at most 1.",
            choose: "Costs are unknown or contested: this definition does not look at them.",
            beware: "Everybody can get out somehow, and the question is how dearly they pay.",
        },
        "equal-choice" => Words {
            compares: "The number of actions that work for at least a share φ of the group.",
            zero: "Each group has equally many such actions, possibly none.",
            infinity: "Does not occur: the number of actions is finite.",
            choose: "People differ in which action suits them, so one way out is not as good as five.",
            beware: "Actions overlap so much that their number says little.",
        },
        "equal-effectiveness-within-budget" => Words {
            compares: "The share of each group that can achieve recourse at a cost of at most c.",
            zero: "The same share of each group gets out within the budget.",
            infinity: "Does not occur: shares differ by at most 1.",
            choose: "There is a limit to what can be asked of people: a year of study, a sum of money.",
            beware: "The costs are only rough: a budget cuts sharply.",
        },
        "equal-cost-of-effectiveness" => Words {
            compares: "The least cost at which a share φ of the group achieves recourse.",
            zero: "Each group pays the same until a share φ is out, or none ever gets there.",
            infinity: "One group gets there and another never does, whatever it pays.",
            choose: "“Most people can” is the goal, and the price is the question.",
            beware: "No φ stands out: the finding can hinge on a single person at the threshold.",
        },
        "fair-trade-off" => Words {
            compares: "The groups’ effectiveness–cost distributions at every cost; the score is the widest gap between them.",
            zero: "The distributions are identical.",
            infinity: "Does not occur: shares differ by at most 1.",
            choose: "No single budget or target can be defended.",
            beware: "The question is how large a difference in price is: this measures shares.",
        },
        "equal-mean-recourse" => Words {
            compares: "The mean cost of each member’s cheapest action that works, over those who have one; where a cost for having none is set, over all members.",
            zero: "The means are equal, or no group has recourse at all.",
            infinity: "Somebody in one group has a way out, and nobody in another has.",
            choose: "The classic question: how much harder is it on average?",
            beware: "It is the only one looked at: the conditional mean looks away from those without a way out, and a single dear case moves it.",
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_explained() {
        for kind in facts_engine::definitions::KINDS {
            assert!(about(kind.name).is_some(), "{} lacks words", kind.name);
        }
    }
}
