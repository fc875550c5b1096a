//! Random permutations of the group labels of one subgroup's members.
//!
//! Each group keeps its size. The random number of a person in a permutation is the same in every
//! subgroup, so that subgroups which share people stay about as dependent as they are: whoever gets
//! the first label in one is likely to get it in the others. It is a coupling of permutations inside
//! each subgroup, not one relabelling of all people.
//!
//! Many permutations are made side by side: one person after another, and for each person a lane a
//! permutation, which the processor takes several at a time.

use crate::audit::Individuals;
use crate::bits::{self, Words};
use crate::chance::{Stream, draw_hypergeometric};
use crate::distribution::Subgroup;

/// Permutations made side by side.
pub(super) const LANES: usize = 128;

/// From this weight on, people of one profile get their labels together rather than one by one.
pub(super) const MANY: u64 = 256;

/// One number for each permutation made at the same time.
type Lanes = [u32; LANES];

/// The same for numbers below [`MANY`]: most of the time goes by with moving them.
type FewLanes = [u8; LANES];

/// The members of a subgroup, and whom its actions help.
pub(super) struct Permutations {
    /// Where each member lies in the layout, and how many people it is.
    members: Vec<(u32, u64)>,
    /// By action: the members it flips.
    flipped: Vec<Words>,
    /// By cost level: the members reached there and not before.
    newly_reached: Vec<Words>,
    /// People flipped by each action, then reached at each cost level, of all groups.
    pub(super) totals: Vec<u64>,
    /// People by group.
    sizes: Vec<u64>,
    /// People of each member with the label of each group but the last: by group, then by member. Of
    /// members of many people, they are in `labelled_of_many`.
    labelled: Vec<FewLanes>,
    /// The members of many people.
    many: Vec<usize>,
    labelled_of_many: Vec<Lanes>,
    /// Places left in each group but the last.
    left: Vec<Lanes>,
    /// People in each set: by group but the last, then by action and cost level.
    counted: Vec<Lanes>,
}

impl Permutations {
    /// Of a subgroup; of one with two groups of the audit alone if `pair` says which.
    pub(super) fn new(
        individuals: &Individuals,
        subgroup: &Subgroup,
        pair: Option<[usize; 2]>,
    ) -> Self {
        let layout = &individuals.layout;
        let member_set = individuals.members(subgroup);
        let takes_part =
            |position: &usize| pair.is_none_or(|pair| pair.contains(&layout.group(*position)));
        let members: Vec<(u32, u64)> = bits::iter(&member_set)
            .filter(takes_part)
            .map(|position| (position as u32, layout.weight(position)))
            .collect();
        let none = || bits::none(members.len());
        let flipped: Vec<Words> = subgroup
            .actions
            .iter()
            .map(|action| {
                let flips = &individuals.flips[action.change as usize];
                let mut set = none();
                for (member, &(position, _)) in members.iter().enumerate() {
                    if bits::contains(flips, position as usize) {
                        bits::insert(&mut set, member);
                    }
                }
                set
            })
            .collect();
        let people = |set: &[u64]| bits::iter(set).map(|member| members[member].1).sum::<u64>();
        let mut totals: Vec<u64> = flipped.iter().map(|set| people(set)).collect();
        let mut newly_reached = vec![none(); subgroup.cost_levels.len()];
        for (action, set) in subgroup.actions.iter().zip(&flipped) {
            bits::unite(&mut newly_reached[action.cost_level as usize], set);
        }
        let mut reached = none();
        for level in &mut newly_reached {
            bits::subtract(level, &reached);
            bits::unite(&mut reached, level);
            totals.push(people(&reached));
        }
        let labels = subgroup.groups() - 1;
        let many = (0..members.len()).filter(|&member| members[member].1 >= MANY);
        let many: Vec<usize> = many.collect();
        Self {
            labelled: vec![[0; LANES]; labels * members.len()],
            labelled_of_many: vec![[0; LANES]; labels * many.len()],
            many,
            left: vec![[0; LANES]; labels],
            counted: vec![[0; LANES]; labels * totals.len()],
            members,
            flipped,
            newly_reached,
            totals,
            sizes: subgroup.members.clone(),
        }
    }

    /// Makes `LANES` permutations, from the `first` on.
    pub(super) fn permute(&mut self, stream: Stream, first: u64) {
        let streams: [Stream; LANES] =
            std::array::from_fn(|lane| stream.substream(first + lane as u64));
        let keys: Lanes = streams.map(|stream| stream.draw(0) as u32);
        for (left, &size) in self.left.iter_mut().zip(&self.sizes) {
            left.fill(size as u32);
        }
        let mut people: u64 = self.sizes.iter().sum();
        let mut many = 0;
        for member in 0..self.members.len() {
            let (position, weight) = self.members[member];
            if weight < MANY {
                for person in 0..weight as u32 {
                    let key = position.wrapping_add(person.wrapping_mul(0x9e37_79b1));
                    let (left, labelled) = (&mut self.left, &mut self.labelled);
                    label_one((key, person), &keys, people as u32, left, labelled, member);
                    people -= 1;
                }
            } else {
                for (lane, stream) in streams.iter().enumerate() {
                    let stream = stream.substream(u64::from(position));
                    self.label_together(many, lane, stream, people);
                }
                people -= weight;
                many += 1;
            }
        }
        self.count();
    }

    /// Labels the people of one profile of many people in one permutation.
    fn label_together(&mut self, many: usize, lane: usize, stream: Stream, mut people: u64) {
        let mut unlabelled = self.members[self.many[many]].1;
        for group in 0..self.left.len() {
            let left = u64::from(self.left[group][lane]);
            let of_group = stream.substream(group as u64);
            let labelled = draw_hypergeometric(left, unlabelled, people, of_group);
            people -= left;
            unlabelled -= labelled;
            self.left[group][lane] -= labelled as u32;
            self.labelled_of_many[group * self.many.len() + many][lane] = labelled as u32;
        }
    }

    fn count(&mut self) {
        let sets = self.flipped.iter().chain(&self.newly_reached);
        let by_group = self.labelled.chunks_exact(self.members.len());
        let by_group = by_group.zip(self.counted.chunks_exact_mut(self.totals.len()));
        for (group, (labelled, counted)) in by_group.enumerate() {
            let of_many = &self.labelled_of_many[group * self.many.len()..];
            for (set, counted) in sets.clone().zip(counted.iter_mut()) {
                add_up(set, labelled, counted);
                for (&member, labelled) in self.many.iter().zip(of_many) {
                    if bits::contains(set, member) {
                        add(counted, labelled);
                    }
                }
            }
            // Whoever is reached at a cost is reached at every higher one.
            let levels = &mut counted[self.flipped.len()..];
            for level in 1..levels.len() {
                let (before, after) = levels.split_at_mut(level);
                add(&mut after[0], &before[level - 1]);
            }
        }
    }

    /// The people of each group in each set in one of the permutations: by set, then by group.
    pub(super) fn counts(&self, lane: usize, counts: &mut [u64]) {
        let (sets, groups) = (self.totals.len(), self.sizes.len());
        for (set, row) in counts.chunks_exact_mut(groups).enumerate() {
            let mut last = self.totals[set];
            for (group, count) in row[..groups - 1].iter_mut().enumerate() {
                *count = u64::from(self.counted[group * sets + set][lane]);
                last -= *count;
            }
            row[groups - 1] = last;
        }
    }

    /// The people of the first group in one set in one of the permutations.
    pub(super) fn count_of_first(&self, set: usize, lane: usize) -> u64 {
        u64::from(self.counted[set][lane])
    }
}

/// Labels one person, told by a key and a number among the member's people, in every lane: each group with the
/// chance of its share of the places left.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512dq",
    "x86_64+avx2+bmi1+bmi2",
    "aarch64+neon"
))]
fn label_one(
    (key, person): (u32, u32),
    keys: &Lanes,
    people: u32,
    left: &mut [Lanes],
    labelled: &mut [FewLanes],
    member: usize,
) {
    // What is there is of the permutations before, until the first person is labelled.
    let keep = if person == 0 { 0 } else { u8::MAX };
    let mut draws = [0; LANES];
    for (draw, key_of_lane) in draws.iter_mut().zip(keys) {
        let draw_of_lane = u64::from(mix(key ^ key_of_lane)) * u64::from(people);
        *draw = (draw_of_lane >> 32) as u32;
    }
    // All bits, while nobody has taken the person.
    let mut open = [u32::MAX; LANES];
    let members = labelled.len() / left.len();
    for (group, left) in left.iter_mut().enumerate() {
        let labelled = &mut labelled[group * members + member];
        for lane in 0..LANES {
            let mine = u32::from(draws[lane] < left[lane]) & open[lane];
            draws[lane] = draws[lane].wrapping_sub(left[lane]);
            left[lane] -= mine;
            labelled[lane] = (labelled[lane] & keep) + mine as u8;
            open[lane] &= mine.wrapping_sub(1);
        }
    }
}

/// Adds up, in every lane, the people of the members in a set.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl",
    "x86_64+avx2+bmi1+bmi2",
    "aarch64+neon"
))]
fn add_up(set: &[u64], labelled: &[FewLanes], sum: &mut Lanes) {
    // So many numbers of 8 bits add up to one of 16 bits, of which a processor takes twice as many at a time.
    const FIT: u32 = 257;
    sum.fill(0);
    let (mut part, mut in_part) = ([0_u16; LANES], 0);
    for (index, &word) in set.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            let member = index * 64 + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            for (part, &labelled) in part.iter_mut().zip(&labelled[member]) {
                *part += u16::from(labelled);
            }
            in_part += 1;
            if in_part == FIT {
                for (sum, part) in sum.iter_mut().zip(&mut part) {
                    *sum += u32::from(std::mem::take(part));
                }
                in_part = 0;
            }
        }
    }
    for (sum, &part) in sum.iter_mut().zip(&part) {
        *sum += u32::from(part);
    }
}

/// Adds in every lane.
fn add(to: &mut Lanes, more: &Lanes) {
    for (to, more) in to.iter_mut().zip(more) {
        *to += more;
    }
}

/// Every bit of the input moves every bit of the output; with 32 bits, so that lanes are narrow.
/// The constants are those of Chris Wellons' search for the least biased ("lowbias32").
#[inline(always)]
fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}
