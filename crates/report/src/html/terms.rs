//! The words of a definition's title, explained where they stand.

use facts_engine::definitions::Definition;
use facts_engine::distribution::Viewpoint;

use crate::text::number;

/// What micro or macro, φ and c stand for in a definition; nothing if it has none of them.
pub(super) fn terms(definition: &dyn Definition) -> String {
    let viewpoint = definition.viewpoint().map(|viewpoint| match viewpoint {
        Viewpoint::Micro => "Micro: each member chooses the action that suits them.".to_owned(),
        Viewpoint::Macro => "Macro: one action is chosen for all members.".to_owned(),
    });
    let phi = definition.phi().map(|phi| {
        let phi = phi.get().to_f64();
        format!(
            "φ = {}: what works for fewer than {}% of the members does not count.",
            number(phi),
            number(phi * 100.0)
        )
    });
    let budget = definition.budget();
    let budget = budget.map(|c| {
        format!(
            "c = {0}: what costs more than {0} does not count.",
            number(c)
        )
    });
    let terms: Vec<String> = [viewpoint, phi, budget].into_iter().flatten().collect();
    terms.join(" ")
}
