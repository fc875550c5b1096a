//! Sets of profiles as bits, and the loops that count people in them.
//!
//! The affected profiles lie in a fixed order (see [`Layout`]): group after group, each group
//! starting at a fresh 64-bit word, heavy profiles first. A set of profiles is then a plain run of
//! words, a group is a range of those words, and "how many people of group g are in a and b" is an
//! AND and a popcount over that range. Weights above 1 only occur at the head of each group; there
//! the binary digits of the weights are kept as bit planes, and the count is the sum of
//! `2^k · popcount(a & b & plane k)`.

use std::ops::Range;

/// One entry for each group under comparison.
pub type PerGroup<T> = smallvec::SmallVec<[T; 2]>;

/// One set of profiles.
pub type Words = Box<[u64]>;

/// Bits in a word.
const WORD: usize = 64;

/// Where the groups lie in a set of profiles, and how many people each profile stands for.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    words: usize,
    /// `Some(profile)` for each position, `None` for padding at a group's end.
    profiles: Vec<Option<u32>>,
    groups: Vec<GroupBits>,
}

/// The words of one group.
#[derive(Debug, Clone)]
struct GroupBits {
    words: Range<usize>,
    /// Words at the head in which some profile stands for more than one person.
    heavy: usize,
    /// Binary digits of the weights, lowest first; plane k covers only the words that have a
    /// weight of at least 2^k.
    planes: Vec<Words>,
    people: u64,
}

impl Layout {
    /// Lays out profiles given as (profile, weight), one list a group.
    pub(crate) fn new(groups: &[Vec<(u32, u64)>]) -> Self {
        let mut layout = Self {
            words: 0,
            profiles: Vec::new(),
            groups: Vec::new(),
        };
        for members in groups {
            layout.push_group(members);
        }
        layout
    }

    fn push_group(&mut self, members: &[(u32, u64)]) {
        let mut members = members.to_vec();
        members.sort_by_key(|&(profile, weight)| (std::cmp::Reverse(weight), profile));
        let start = self.words;
        let length = members.len().div_ceil(WORD);
        self.words += length;
        self.profiles
            .extend(members.iter().map(|&(profile, _)| Some(profile)));
        self.profiles.resize(self.words * WORD, None);

        let heavy = members.partition_point(|&(_, w)| w > 1).div_ceil(WORD);
        let heaviest = members.first().map_or(0, |&(_, w)| w);
        let digits = (u64::BITS - heaviest.leading_zeros()) as usize;
        let planes = (0..if heavy == 0 { 0 } else { digits })
            .map(|k| {
                // Weights fall, so no weight beyond this prefix has a digit k; the lowest plane
                // also covers the light profiles that share the last heavy word.
                let prefix = members.partition_point(|&(_, w)| w >= 1 << k);
                let mut plane = vec![0; prefix.div_ceil(WORD).min(heavy)].into_boxed_slice();
                for (position, &(_, weight)) in members.iter().take(plane.len() * WORD).enumerate()
                {
                    if weight >> k & 1 == 1 {
                        plane[position / WORD] |= 1 << (position % WORD);
                    }
                }
                plane
            })
            .collect();
        self.groups.push(GroupBits {
            words: start..start + length,
            heavy,
            planes,
            people: members.iter().map(|&(_, w)| w).sum(),
        });
    }

    /// An empty set.
    pub(crate) fn none(&self) -> Words {
        vec![0; self.words].into_boxed_slice()
    }

    /// The set of all profiles.
    pub(crate) fn all(&self) -> Words {
        let mut set = self.none();
        for (position, profile) in self.profiles.iter().enumerate() {
            if profile.is_some() {
                insert(&mut set, position);
            }
        }
        set
    }

    /// The set of the profiles for which `keep` holds.
    #[cfg(test)]
    fn set(&self, mut keep: impl FnMut(usize) -> bool) -> Words {
        let mut set = self.none();
        for (position, profile) in self.positions() {
            if keep(profile) {
                insert(&mut set, position);
            }
        }
        set
    }

    /// Each position with the profile that lies there.
    pub(crate) fn positions(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.profiles
            .iter()
            .enumerate()
            .filter_map(|(position, profile)| profile.map(|p| (position, p as usize)))
    }

    /// The profile at a position that holds one.
    pub(crate) fn profile(&self, position: usize) -> usize {
        // Sets only ever hold positions of profiles, never padding.
        self.profiles[position].expect("a set holds no padding") as usize
    }

    /// The group in which a position lies.
    pub(crate) fn group(&self, position: usize) -> usize {
        let word = position / WORD;
        self.groups.partition_point(|group| group.words.end <= word)
    }

    /// How many people the profile at a position stands for.
    pub(crate) fn weight(&self, position: usize) -> u64 {
        let word = position / WORD;
        let group = &self.groups[self.group(position)];
        let word = word - group.words.start;
        if word >= group.heavy {
            return 1;
        }
        let digit = |(k, plane): (usize, &Words)| {
            let digits = plane.get(word).copied().unwrap_or(0);
            (digits >> (position % WORD) & 1) << k
        };
        group.planes.iter().enumerate().map(digit).sum()
    }

    /// How many words a set has.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// How many positions there are, padding included.
    pub(crate) fn len(&self) -> usize {
        self.profiles.len()
    }

    /// How many groups there are.
    pub(crate) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// How many people group `g` has.
    pub(crate) fn people(&self, g: usize) -> u64 {
        self.groups[g].people
    }

    /// How many people of group `g` are in both sets.
    pub(crate) fn count(&self, g: usize, a: &[u64], b: &[u64]) -> u64 {
        let group = &self.groups[g];
        let (a, b) = (&a[group.words.clone()], &b[group.words.clone()]);
        let mut people = count_and(&a[group.heavy..], &b[group.heavy..]);
        for (k, plane) in group.planes.iter().enumerate() {
            people += count_and_plane(a, b, plane) << k;
        }
        people
    }
}

/// An empty set of positions up to `length`.
pub(crate) fn none(length: usize) -> Words {
    vec![0; length.div_ceil(WORD)].into_boxed_slice()
}

/// Adds one position to a set.
pub(crate) fn insert(set: &mut [u64], position: usize) {
    set[position / WORD] |= 1 << (position % WORD);
}

/// Whether a set holds a position.
pub(crate) fn contains(set: &[u64], position: usize) -> bool {
    set[position / WORD] >> (position % WORD) & 1 == 1
}

/// Takes one position out of a set.
pub(crate) fn remove(set: &mut [u64], position: usize) {
    set[position / WORD] &= !(1 << (position % WORD));
}

/// The positions in a set, in order.
pub(crate) fn iter(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(index, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                index * WORD + bit
            })
        })
    })
}

/// How many positions a set holds.
pub(crate) fn len(set: &[u64]) -> usize {
    set.iter().map(|word| word.count_ones() as usize).sum()
}

/// `into ∩= with`.
pub(crate) fn intersect(into: &mut [u64], with: &[u64]) {
    for (a, b) in into.iter_mut().zip(with) {
        *a &= b;
    }
}

/// `into ∪= with`.
pub(crate) fn unite(into: &mut [u64], with: &[u64]) {
    for (a, b) in into.iter_mut().zip(with) {
        *a |= b;
    }
}

/// `from ∖= with`.
pub(crate) fn subtract(from: &mut [u64], with: &[u64]) {
    for (a, b) in from.iter_mut().zip(with) {
        *a &= !b;
    }
}

/// `a ∩ b`.
pub(crate) fn intersection(a: &[u64], b: &[u64]) -> Words {
    a.iter().zip(b).map(|(a, b)| a & b).collect()
}

/// The innermost loop of mining and of effectiveness: bounded by the popcount units, so it is
/// compiled for the wider instruction sets as well and the best one is picked at run time.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt",
    "x86_64+sse4.2+popcnt",
    "aarch64+neon"
))]
fn count_and(a: &[u64], b: &[u64]) -> u64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| u64::from((a & b).count_ones()))
        .sum()
}

/// [`count_and`] under a plane of weight digits; the plane may be shorter than the sets.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt",
    "x86_64+sse4.2+popcnt",
    "aarch64+neon"
))]
fn count_and_plane(a: &[u64], b: &[u64], plane: &[u64]) -> u64 {
    a.iter()
        .zip(b)
        .zip(plane)
        .map(|((a, b), p)| u64::from((a & b & p).count_ones()))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn weighted_counts_equal_a_plain_sum(
            groups in prop::collection::vec(
                prop::collection::vec((prop_oneof![Just(1u64), 1u64..9, 1u64..100_000], any::<bool>(), any::<bool>()), 0..200),
                1..4,
            )
        ) {
            let mut next = 0;
            let members: Vec<Vec<(u32, u64)>> = groups
                .iter()
                .map(|g| g.iter().map(|&(w, _, _)| { next += 1; (next - 1, w) }).collect())
                .collect();
            let flags: Vec<_> = groups.iter().flatten().collect();
            let layout = Layout::new(&members);
            let a = layout.set(|profile| flags[profile].1);
            let b = layout.set(|profile| flags[profile].2);
            for (g, group) in groups.iter().enumerate() {
                let expected: u64 = group.iter().filter(|m| m.1 && m.2).map(|m| m.0).sum();
                prop_assert_eq!(layout.count(g, &a, &b), expected);
                let everyone: u64 = group.iter().map(|m| m.0).sum();
                prop_assert_eq!(layout.people(g), everyone);
                prop_assert_eq!(layout.count(g, &layout.all(), &layout.all()), everyone);
            }
            for (position, profile) in layout.positions() {
                prop_assert_eq!(layout.weight(position), flags[profile].0);
            }
            let seen: Vec<_> = iter(&a).map(|position| layout.profile(position)).collect();
            prop_assert_eq!(seen.len(), flags.iter().filter(|f| f.1).count());
            prop_assert!(seen.iter().all(|&profile| flags[profile].1));
            for (position, profile) in layout.positions() {
                let g = layout.group(position);
                let first: usize = groups[..g].iter().map(Vec::len).sum();
                prop_assert!((first..first + groups[g].len()).contains(&profile));
            }
        }
    }
}
