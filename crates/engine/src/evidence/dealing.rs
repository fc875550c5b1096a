//! The members of one subgroup, dealt out to the groups by lot.
//!
//! Each group gets as many people as it has. The draw of a person in a shuffle is the same in every
//! subgroup, so that subgroups which share people stay as dependent as they are: who is dealt to the
//! first group in one is likely to be dealt to it in the others.
//!
//! A profile of weight w is w people, each of whom is dealt out.
//!
//! Many shuffles are dealt side by side: one person after another, and for each person a lane a
//! shuffle, which the processor takes several at a time.

use super::drawing::hypergeometric;
use super::lot::Lot;
use crate::Individuals;
use crate::bits::{self, Words};
use crate::distribution::Subgroup;

/// Shuffles dealt side by side.
pub(super) const LANES: usize = 128;

/// From this weight on, people of one profile are dealt out together rather than one by one.
const MANY: u64 = 256;

/// One number for each shuffle dealt at the same time.
type Lanes = [u32; LANES];

/// The members of a subgroup, and whom its actions help.
pub(super) struct Dealing {
    /// Where each member lies in the layout, and how many people it is.
    members: Vec<(u32, u64)>,
    /// By action: the members it flips.
    flipped: Vec<Words>,
    /// By cost level: the members reached there and not before.
    newly_reached: Vec<Words>,
    /// People flipped by each action, then reached at each cost level, of all groups.
    totals: Vec<u64>,
    /// People by group.
    sizes: Vec<u64>,
    /// People of each member dealt to each group but the last: by group, then by member.
    dealt: Vec<Lanes>,
    /// Places left in each group but the last.
    left: Vec<Lanes>,
    /// People in each set: by group but the last, then by action and cost level.
    counted: Vec<Lanes>,
}

impl Dealing {
    pub(super) fn new(individuals: &Individuals, subgroup: &Subgroup) -> Self {
        let layout = &individuals.layout;
        let member_set = individuals.members(subgroup);
        let members: Vec<(u32, u64)> = bits::iter(&member_set)
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
        let dealt_to = subgroup.groups() - 1;
        Self {
            dealt: vec![[0; LANES]; dealt_to * members.len()],
            left: vec![[0; LANES]; dealt_to],
            counted: vec![[0; LANES]; dealt_to * totals.len()],
            members,
            flipped,
            newly_reached,
            totals,
            sizes: subgroup.members.clone(),
        }
    }

    /// People flipped by each action, then reached at each cost level, of all groups.
    pub(super) fn totals(&self) -> &[u64] {
        &self.totals
    }

    /// Deals everybody out in `LANES` shuffles, from the `first` on.
    pub(super) fn deal(&mut self, lot: Lot, first: u64) {
        let lots: [Lot; LANES] = std::array::from_fn(|lane| lot.of(first + lane as u64));
        let keys: Lanes = lots.map(|lot| lot.draw(0) as u32);
        for (left, &size) in self.left.iter_mut().zip(&self.sizes) {
            left.fill(size as u32);
        }
        self.dealt.fill([0; LANES]);
        let mut people: u64 = self.sizes.iter().sum();
        for member in 0..self.members.len() {
            let (position, weight) = self.members[member];
            if weight < MANY {
                for person in 0..weight {
                    let key = position.wrapping_add((person as u32).wrapping_mul(0x9e37_79b1));
                    let (left, dealt) = (&mut self.left, &mut self.dealt);
                    deal_one(key, &keys, people as u32, left, dealt, member);
                    people -= 1;
                }
            } else {
                for (lane, lot) in lots.iter().enumerate() {
                    self.deal_together(member, lane, lot.of(u64::from(position)), people);
                }
                people -= weight;
            }
        }
        self.count();
    }

    /// Deals out the people of one profile in one shuffle.
    fn deal_together(&mut self, member: usize, lane: usize, lot: Lot, mut people: u64) {
        let mut undealt = self.members[member].1;
        for group in 0..self.left.len() {
            let left = u64::from(self.left[group][lane]);
            let dealt = hypergeometric(left, undealt, people, lot.of(group as u64));
            people -= left;
            undealt -= dealt;
            self.left[group][lane] -= dealt as u32;
            self.dealt[group * self.members.len() + member][lane] = dealt as u32;
        }
    }

    fn count(&mut self) {
        let sets = self.flipped.iter().chain(&self.newly_reached);
        let by_group = self.dealt.chunks_exact(self.members.len());
        for (dealt, counted) in by_group.zip(self.counted.chunks_exact_mut(self.totals.len())) {
            for (set, counted) in sets.clone().zip(counted.iter_mut()) {
                add_up(set, dealt, counted);
            }
            // Whoever is reached at a cost is reached at every higher one.
            let levels = &mut counted[self.flipped.len()..];
            for level in 1..levels.len() {
                let (before, after) = levels.split_at_mut(level);
                for (after, before) in after[0].iter_mut().zip(&before[level - 1]) {
                    *after += before;
                }
            }
        }
    }

    /// The people of each group in each set in one of the shuffles: by set, then by group.
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

    /// The people of the first group in one set in one of the shuffles.
    pub(super) fn count_of_first(&self, set: usize, lane: usize) -> u64 {
        u64::from(self.counted[set][lane])
    }
}

/// Deals out one person in every lane: to a group with the chance of its share of the places left.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512dq",
    "x86_64+avx2+bmi1+bmi2",
    "aarch64+neon"
))]
fn deal_one(
    key: u32,
    keys: &Lanes,
    people: u32,
    left: &mut [Lanes],
    dealt: &mut [Lanes],
    member: usize,
) {
    let mut draws = [0; LANES];
    for (draw, key_of_lane) in draws.iter_mut().zip(keys) {
        let draw_of_lane = u64::from(mix(key ^ key_of_lane)) * u64::from(people);
        *draw = (draw_of_lane >> 32) as u32;
    }
    // All bits, while nobody has taken the person.
    let mut open = [u32::MAX; LANES];
    let members = dealt.len() / left.len();
    for (group, left) in left.iter_mut().enumerate() {
        let dealt = &mut dealt[group * members + member];
        for lane in 0..LANES {
            let mine = u32::from(draws[lane] < left[lane]) & open[lane];
            draws[lane] = draws[lane].wrapping_sub(left[lane]);
            left[lane] -= mine;
            dealt[lane] += mine;
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
fn add_up(set: &[u64], dealt: &[Lanes], sum: &mut Lanes) {
    sum.fill(0);
    for (index, &word) in set.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            let member = index * 64 + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            for (sum, dealt) in sum.iter_mut().zip(&dealt[member]) {
                *sum += dealt;
            }
        }
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
