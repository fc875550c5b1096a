//! Names for findings that stay the same from one audit to the next.

use sha2::{Digest, Sha256};

/// The id of a finding: a hash of its predicate, its definition with parameters, and the groups
/// compared. Two audits that speak of the same subgroup by the same definition give it the same id,
/// whatever they found.
pub fn finding_id<'a>(
    predicate: &str,
    definition: &str,
    groups: impl IntoIterator<Item = &'a str>,
) -> String {
    let mut hash = Sha256::new();
    // Lengths before texts: no two different findings write the same bytes.
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    part(predicate);
    part(definition);
    groups.into_iter().for_each(&mut part);
    hash.finalize()[..6]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_counts() {
        let (job, choice, groups) = ("job = clerk", "equal-choice:0.3", ["F", "M"]);
        let id = finding_id(job, choice, groups);
        assert_eq!(id.len(), 12);
        assert_eq!(id, finding_id(job, choice, groups));
        assert_ne!(id, finding_id(job, "equal-choice:0.7", groups));
        assert_ne!(id, finding_id("job = clerks", choice, groups));
        assert_ne!(id, finding_id(job, choice, ["FM"]));
    }
}
