//! Many tests at once: p-values corrected for a whole family of them.

/// p-values that differ by less than this, relatively, are equal.
const SAME: f64 = 1e-9;

/// One test of a family.
#[derive(Clone)]
pub(super) struct Member {
    /// Its p-value, alone.
    pub(super) p: f64,
    /// By what it is compared with the others: about how likely what was found is.
    pub(super) scale: f64,
    /// The same in those permutations in which it is at most the family's `kept`: which permutation,
    /// and what.
    pub(super) permuted: Vec<(u32, f64)>,
    /// Whether any outcome could have passed at α.
    pub(super) could_pass: bool,
}

/// The p-values after Westfall and Young's step-down, in the order of the members.
///
/// The smallest p-value is compared with the smallest of all tests in each permutation, the next with
/// the smallest of the tests that are left, and so on. Permutations are joint, so tests that say the
/// same count once.
pub(super) fn step_down(members: &[&Member], permutations: usize, kept: f64) -> Vec<f64> {
    let order = ascending(members, |member| member.scale);
    let mut least = vec![f64::INFINITY; permutations];
    let mut adjusted = vec![1.0; members.len()];
    for &i in order.iter().rev() {
        let member = members[i];
        for &(permutation, p) in &member.permuted {
            let least = &mut least[permutation as usize];
            *least = least.min(p);
        }
        if member.scale <= kept {
            let limit = member.scale * (1.0 + SAME);
            let as_small = least.iter().filter(|&&p| p <= limit).count();
            // What was found counts as one of the permutations.
            adjusted[i] = (as_small + 1) as f64 / (permutations + 1) as f64;
        }
    }
    // Whoever comes later is not surer than whoever came before.
    let mut surest: f64 = 0.0;
    for i in order {
        surest = surest.max(adjusted[i]).max(members[i].p);
        adjusted[i] = surest.min(1.0);
    }
    adjusted
}

/// The greatest p-value that passes family-wise at α were it the smallest of all, if any does; at
/// most `kept`, up to which p-values of permutations are known.
pub(super) fn cut_off(
    members: &[&Member],
    permutations: usize,
    alpha: f64,
    kept: f64,
) -> Option<f64> {
    let mut least = vec![1.0; permutations];
    for &(permutation, p) in members.iter().flat_map(|member| &member.permuted) {
        let least: &mut f64 = &mut least[permutation as usize];
        *least = least.min(p);
    }
    least.sort_by(f64::total_cmp);
    // As many permutations may be as small as leave the adjusted p-value at most α.
    let may = (alpha * (permutations + 1) as f64 * (1.0 + SAME)).floor() as usize;
    let may = may.checked_sub(1)?;
    let first_too_many = least.get(may).copied().unwrap_or(1.0);
    // Just below it passes.
    Some(kept.min(first_too_many * (1.0 - 2.0 * SAME)))
}

/// The p-values after Benjamini and Hochberg's correction, in the order of the members.
///
/// Tests that no outcome could have passed are not counted (Gilbert 2005): that they could not is
/// known without looking at who belongs to which group.
pub(super) fn false_discovery(members: &[&Member]) -> Vec<f64> {
    let mut order = ascending(members, |member| member.p);
    order.retain(|&i| members[i].could_pass);
    let mut adjusted = vec![1.0; members.len()];
    let mut least: f64 = 1.0;
    for (place, &i) in order.iter().enumerate().rev() {
        least = least.min(members[i].p * order.len() as f64 / (place + 1) as f64);
        adjusted[i] = least;
    }
    adjusted
}

/// Members from the least likely on; ties in their own order.
fn ascending(members: &[&Member], by: impl Fn(&Member) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by(|&a, &b| by(members[a]).total_cmp(&by(members[b])));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(p: &[f64], permuted: &[&[f64]]) -> Vec<Member> {
        let numbered = |values: &&[f64]| (0..).zip(values.iter().copied()).collect();
        let permuted = permuted.iter().map(numbered);
        let pairs = p.iter().zip(permuted);
        let member = |(&p, permuted)| Member {
            p,
            scale: p,
            permuted,
            could_pass: true,
        };
        pairs.map(member).collect()
    }

    fn refer(members: &[Member]) -> Vec<&Member> {
        members.iter().collect()
    }

    /// `scipy.stats.false_discovery_control`, SciPy 1.14.
    #[test]
    fn false_discovery_is_scipys() {
        let p = [0.01, 0.02, 0.022, 0.3, 0.5, 0.0001];
        let none: [&[f64]; 6] = [&[]; 6];
        let adjusted = false_discovery(&refer(&members(&p, &none)));
        let expected = [0.03, 0.033, 0.033, 0.36, 0.5, 0.0006];
        for (ours, theirs) in adjusted.iter().zip(expected) {
            assert!((ours - theirs).abs() < 1e-12, "{ours} {theirs}");
        }
    }

    #[test]
    fn tests_that_could_not_pass_are_not_counted() {
        let none: [&[f64]; 3] = [&[]; 3];
        let mut found = members(&[0.02, 0.03, 1.0], &none);
        found[2].could_pass = false;
        assert_eq!(false_discovery(&refer(&found)), [0.03, 0.03, 1.0]);
    }

    #[test]
    fn tests_that_say_the_same_count_once() {
        // Twice the same test, nine permutations, of which one is as small as what was found.
        let permutations = [0.02, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5];
        let same = members(&[0.1, 0.1], &[&permutations, &permutations]);
        assert_eq!(step_down(&refer(&same), 9, 1.0), [0.2, 0.2]);
        // Two tests that are small in different permutations.
        let other = [0.5, 0.02, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5];
        let two = members(&[0.1, 0.1], &[&permutations, &other]);
        assert_eq!(step_down(&refer(&two), 9, 1.0), [0.3, 0.3]);
    }

    #[test]
    fn the_next_is_compared_with_what_is_left() {
        let first = [0.001, 0.5, 0.5, 0.5];
        let second = [0.5, 0.05, 0.5, 0.5];
        let found = members(&[0.002, 0.06], &[&first, &second]);
        // The second is not compared with the first's permutations any more.
        assert_eq!(step_down(&refer(&found), 4, 1.0), [0.4, 0.4]);
        let cut = |alpha, kept| cut_off(&refer(&members(&[0.2], &[&first])), 4, alpha, kept);
        let found = cut(0.4, 1.0).unwrap();
        assert!(found < 0.5 && found > 0.49, "{found}");
        assert_eq!(cut(0.4, 0.3), Some(0.3));
        assert_eq!(cut(0.1, 1.0), None);
    }

    #[test]
    fn what_was_not_kept_does_not_pass() {
        let found = members(&[0.3], &[&[0.1, 0.1]]);
        assert_eq!(step_down(&refer(&found), 2, 0.2), [1.0]);
    }
}
