//! Two audits compared: what moved by more than chance, and for whom.
//!
//! For each subgroup that both audits rank, and for all people together: did the share with a way out
//! move for a group, and did the gap between two groups? The shares are micro (each chooses their own
//! action), within each budget asked for and within the *deciding cost*: the one at which the gap
//! between two groups is widest when the people of both audits are counted together. Chosen like this it
//! favours neither audit; chosen from one of them, the gap would nearly always seem to have shrunk in
//! the other.
//!
//! Two tables are two samples ([`compare`]). Two models on the same people are compared by the people
//! whose answer changed ([`compare_people`]), which finds more. `docs/comparing.md` explains the tests.

mod gap;
mod law;
mod moved;
mod people;
mod series;

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use self::gap::{Direction, GapMoved, Tally};
use self::gap::{between, widest};
pub use self::moved::Moved;
use self::moved::{Counted, holm};
pub use self::people::{Pair, compare_people};
pub use self::series::{Look, Series, series, spent};
use crate::actions::COST_GAP;
use crate::answer::GroupPeople;
use crate::audit::Audit;
use crate::chance::Factorials;
use crate::distribution::{Share, Subgroup, Viewpoint};
use crate::population::{Level, Levels};

/// One of the audits that are compared.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The audit.
    pub audit: &'a Audit,
    /// Its people by group, of its answer; without them only subgroups are compared.
    pub people: Option<&'a [GroupPeople]>,
}

/// Two audits compared: counts, no individuals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The level α: how often, at most, chance alone moves anything that is said to have moved.
    pub alpha: f64,
    /// Whether the same people were compared, by those whose answer changed.
    pub same_people: bool,
    /// The groups, in the order in which all that follows names them.
    pub groups: Vec<String>,
    /// All people together; none if one of the audits does not tell.
    pub people: Option<PeopleCompared>,
    /// The subgroups that both audits rank, in the order of the newer one.
    pub subgroups: Vec<SubgroupCompared>,
    /// Subgroups that only the older, and only the newer audit ranks.
    pub only: (usize, usize),
    /// How many moves of subgroups were tested together.
    pub tests: usize,
}

/// What moved for all people of each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeopleCompared {
    /// Of all people of a group, those who are refused and have no way out.
    pub shut_out: Vec<GroupMoved>,
    /// Of those who are refused, those who have a way out; of the same people, of those whom both models
    /// refuse.
    pub open: Vec<GroupMoved>,
    /// The gaps between those shares.
    pub gaps: Vec<GapMoved>,
}

/// What moved in one subgroup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubgroupCompared {
    /// The predicate as one reads it.
    pub predicate: String,
    /// Its place in the older, and in the newer audit.
    pub places: (usize, usize),
    /// Within the deciding cost first, and then within each budget, in the order asked for.
    pub within: Vec<WithinCost>,
}

/// What moved in one subgroup within one cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WithinCost {
    /// The cost.
    pub cost: f64,
    /// The share of each group that has a way; of the same people, of those whom both models refuse.
    pub groups: Vec<GroupMoved>,
    /// The gap between each two groups.
    pub gaps: Vec<GapMoved>,
}

/// What moved for one group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupMoved {
    /// The share in the older audit.
    pub before: Share,
    /// The share in the newer audit.
    pub now: Share,
    /// How far it moved.
    pub moved: Moved,
}

impl WithinCost {
    /// The gap that was or is widest: what stands for the subgroup.
    pub fn widest(&self) -> Option<&GapMoved> {
        widest(self.gaps.iter())
    }

    /// Of the gaps between a group and each other, the one that was or is widest.
    pub fn widest_of(&self, group: usize) -> Option<&GapMoved> {
        let gaps = self.gaps.iter();
        widest(gaps.filter(|gap| gap.pair.0 == group || gap.pair.1 == group))
    }

    /// The gap between two groups, in either order.
    pub fn between(&self, a: usize, b: usize) -> Option<&GapMoved> {
        between(&self.gaps, a, b)
    }

    /// Whether the gap between two groups narrowed because the better-off lost; see
    /// [`GapMoved::levelled_down`].
    pub fn levelled_down(&self, gap: &GapMoved, alpha: f64) -> bool {
        gap.levelled_down(&self.groups, alpha)
    }
}

impl PeopleCompared {
    /// The gap between two groups, in either order.
    pub fn between(&self, a: usize, b: usize) -> Option<&GapMoved> {
        between(&self.gaps, a, b)
    }

    /// Whether some gap in who has a way narrowed because the better-off lost.
    pub fn levelled_down(&self, alpha: f64) -> bool {
        let mut gaps = self.gaps.iter();
        gaps.any(|gap| gap.levelled_down(&self.open, alpha))
    }
}

impl SubgroupCompared {
    /// What moved within a budget that was asked for, or within the deciding cost.
    pub fn within(&self, budget: Option<f64>) -> Option<&WithinCost> {
        match budget {
            None => self.within.first(),
            Some(budget) => {
                let mut budgets = self.within.iter().skip(1);
                budgets.find(|within| within.cost == budget)
            }
        }
    }
}

impl Comparison {
    /// Whether anything is shown to have moved.
    pub fn anything_moved(&self) -> bool {
        self.least_p() <= self.alpha
    }

    /// The least corrected p-value of all: that of nothing having moved at all.
    pub fn least_p(&self) -> f64 {
        let of_subgroups = self.subgroups.iter().flat_map(SubgroupCompared::moves);
        let of_people = self.people.iter().flat_map(PeopleCompared::moves);
        let all = of_people.chain(of_subgroups);
        all.map(|moved| moved.corrected).fold(1.0, f64::min)
    }

    /// How many subgroups' widest gaps, within the deciding cost, grew, shrank, turned or did none of these.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for within in self.subgroups.iter().filter_map(|s| s.within(None)) {
            let Some(gap) = within.widest() else {
                continue;
            };
            let shown = |wanted: fn(f64) -> bool| {
                let mut groups = within.groups.iter().map(|group| &group.moved);
                groups.any(|moved| moved.is_shown(self.alpha) && wanted(moved.by))
            };
            tally.fell += usize::from(shown(|by| by < 0.0));
            tally.rose += usize::from(shown(|by| by > 0.0));
            let levelled_down = within.levelled_down(gap, self.alpha);
            match gap.direction(self.alpha) {
                Direction::TooClose => tally.too_close += 1,
                _ if levelled_down => tally.levelled_down += 1,
                Direction::Grew => tally.grew += 1,
                Direction::Shrank => tally.shrank += 1,
                Direction::Turned => tally.turned += 1,
            }
        }
        tally
    }

    /// A subgroup, by its predicate.
    pub fn subgroup(&self, predicate: &str) -> Option<&SubgroupCompared> {
        let mut subgroups = self.subgroups.iter();
        subgroups.find(|subgroup| subgroup.predicate == predicate)
    }

    /// Corrects all p-values: half of α is for all people together, half for subgroups.
    fn corrected(mut self) -> Self {
        if let Some(people) = &mut self.people {
            holm(people.moves_mut(), 2.0);
        }
        let part = if self.people.is_some() { 2.0 } else { 1.0 };
        let subgroups = &mut self.subgroups;
        holm(
            subgroups.iter_mut().flat_map(|s| {
                s.within.iter_mut().flat_map(|within| {
                    let groups = within.groups.iter_mut().map(|group| &mut group.moved);
                    groups.chain(within.gaps.iter_mut().map(|gap| &mut gap.moved))
                })
            }),
            part,
        );
        self.tests = self
            .subgroups
            .iter()
            .flat_map(SubgroupCompared::moves)
            .count();
        self
    }
}

impl SubgroupCompared {
    fn moves(&self) -> impl Iterator<Item = &Moved> {
        self.within.iter().flat_map(|within| {
            let groups = within.groups.iter().map(|group| &group.moved);
            groups.chain(within.gaps.iter().map(|gap| &gap.moved))
        })
    }
}

impl PeopleCompared {
    fn moves(&self) -> impl Iterator<Item = &Moved> {
        let groups = self.shut_out.iter().chain(&self.open);
        let groups = groups.map(|group| &group.moved);
        groups.chain(self.gaps.iter().map(|gap| &gap.moved))
    }

    fn moves_mut(&mut self) -> impl Iterator<Item = &mut Moved> {
        let groups = self.shut_out.iter_mut().chain(&mut self.open);
        let groups = groups.map(|group| &mut group.moved);
        groups.chain(self.gaps.iter_mut().map(|gap| &mut gap.moved))
    }
}

/// Compares two audits as two samples, within the deciding cost of each subgroup and within budgets.
/// None if they compare other groups.
///
/// Of the same people, whose answers agree more often than those of strangers, this asks for more than is
/// needed, never less.
pub fn compare(old: Side<'_>, new: Side<'_>, budgets: &[f64], alpha: f64) -> Option<Comparison> {
    let met = Met::new(old.audit, new.audit)?;
    let most = |audit: &Audit| -> u64 { audit.groups.iter().map(|group| group.people).sum() };
    let factorials = Factorials::up_to(most(old.audit) + most(new.audit));
    let subgroups = met.both.par_iter().filter_map(|(predicate, places)| {
        let (was, is) = met.subgroups(*places);
        let within = costs(was, is, budgets)?.into_iter().map(|cost| {
            let share = |subgroup: &Subgroup, g| {
                subgroup.ecd(Viewpoint::Micro, g, subgroup.levels_within(cost))
            };
            let groups = (0..was.groups()).map(|g| {
                let (before, now) = (share(was, g)?, share(is, g)?);
                Some(Counted::samples(&factorials, before, now))
            });
            let groups: Vec<Counted> = groups.collect::<Option<_>>()?;
            Some(WithinCost::new(cost, &groups, alpha))
        });
        Some(SubgroupCompared {
            predicate: predicate.clone(),
            places: *places,
            within: within.collect::<Option<_>>()?,
        })
    });
    let people = old.people.zip(new.people).and_then(|(was, is)| {
        let counted = |share: &dyn Fn(&GroupPeople) -> Option<Share>| {
            let pairs = was.iter().zip(is);
            pairs
                .map(|(was, is)| Some(Counted::samples(&factorials, share(was)?, share(is)?)))
                .collect::<Option<Vec<Counted>>>()
        };
        let shut_out = counted(&GroupPeople::refused_without)?;
        let open = counted(&GroupPeople::open)?;
        Some(PeopleCompared::new(&shut_out, &open, alpha))
    });
    let comparison = Comparison {
        alpha,
        same_people: false,
        groups: names(new.audit),
        people,
        subgroups: subgroups.collect(),
        only: met.only(),
        tests: 0,
    };
    Some(comparison.corrected())
}

impl WithinCost {
    fn new(cost: f64, groups: &[Counted], alpha: f64) -> Self {
        Self {
            cost,
            groups: groups_moved(groups, alpha),
            gaps: gaps_moved(groups, alpha),
        }
    }
}

impl PeopleCompared {
    fn new(shut_out: &[Counted], open: &[Counted], alpha: f64) -> Self {
        Self {
            shut_out: groups_moved(shut_out, alpha),
            open: groups_moved(open, alpha),
            gaps: gaps_moved(open, alpha),
        }
    }
}

fn groups_moved(groups: &[Counted], alpha: f64) -> Vec<GroupMoved> {
    let moved = |group: &Counted| GroupMoved {
        before: group.before,
        now: group.now,
        moved: group.moved(alpha),
    };
    groups.iter().map(moved).collect()
}

fn gaps_moved(groups: &[Counted], alpha: f64) -> Vec<GapMoved> {
    pairs(groups.len())
        .map(|(a, b)| {
            let gap = |share: fn(&Counted) -> Share| {
                share(&groups[b]).ratio() - share(&groups[a]).ratio()
            };
            GapMoved {
                pair: (a, b),
                before: gap(|group| group.before),
                now: gap(|group| group.now),
                moved: groups[b].moved_from(&groups[a], alpha),
            }
        })
        .collect()
}

fn pairs(groups: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..groups).flat_map(move |a| (a + 1..groups).map(move |b| (a, b)))
}

/// The costs within which a subgroup is compared: the deciding one and the budgets. None if a count is
/// suppressed.
fn costs(was: &Subgroup, is: &Subgroup, budgets: &[f64]) -> Option<Vec<f64>> {
    let together = |g: usize, cost: f64| {
        let share =
            |subgroup: &Subgroup| subgroup.ecd(Viewpoint::Micro, g, subgroup.levels_within(cost));
        let (was, is) = (share(was)?, share(is)?);
        Some(Share::new(was.part + is.part, was.whole + is.whole))
    };
    let mut levels = [was.cost_levels.as_slice(), &is.cost_levels].concat();
    levels.sort_by(f64::total_cmp);
    levels.dedup_by(|b, a| *b - *a < COST_GAP);
    let mut widest = (0.0, *levels.first()?);
    for cost in levels {
        let shares = (0..was.groups()).map(|g| together(g, cost));
        let shares: Vec<Share> = shares.collect::<Option<_>>()?;
        for (a, b) in pairs(shares.len()) {
            let gap = shares[a].gap(shares[b]);
            if gap > widest.0 {
                widest = (gap, cost);
            }
        }
    }
    Some(
        std::iter::once(widest.1)
            .chain(budgets.iter().copied())
            .collect(),
    )
}

/// Which subgroups two audits have in common.
struct Met<'a> {
    old: &'a Audit,
    new: &'a Audit,
    /// Predicate, place in the older and in the newer audit, in the order of the newer.
    both: Vec<(String, (usize, usize))>,
}

impl<'a> Met<'a> {
    /// None if the audits compare other groups.
    fn new(old: &'a Audit, new: &'a Audit) -> Option<Self> {
        if names(old) != names(new) {
            return None;
        }
        let texts = |audit: &'a Audit| {
            let subgroups = audit.subgroups.iter();
            let texts = subgroups.map(|subgroup| audit.text(&subgroup.predicate));
            texts.enumerate()
        };
        let was: HashMap<String, usize> = texts(old).map(|(place, text)| (text, place)).collect();
        let moved = moved_bins(old, new);
        let both = texts(new).filter_map(|(is, text)| {
            let items = new.subgroups[is].predicate.items();
            let names_moved = items.iter().any(|i| moved.contains(&(i.feature, i.level)));
            let was = *was.get(&text).filter(|_| !names_moved)?;
            Some((text, (was, is)))
        });
        Some(Self {
            old,
            new,
            both: both.collect(),
        })
    }

    fn subgroups(&self, (was, is): (usize, usize)) -> (&'a Subgroup, &'a Subgroup) {
        (&self.old.subgroups[was], &self.new.subgroups[is])
    }

    fn only(&self) -> (usize, usize) {
        let rest = |audit: &Audit| audit.subgroups.len() - self.both.len();
        (rest(self.old), rest(self.new))
    }
}

/// The levels of the newer audit, by feature and place, that the older one calls by the same name and
/// means other numbers by. Where the first bin begins and the last one ends does not count: there they
/// reach as far as the population does.
fn moved_bins(old: &Audit, new: &Audit) -> HashSet<(u32, u32)> {
    let bins = |levels: &Levels| -> HashMap<String, (Option<f64>, Option<f64>)> {
        let last = levels.ranks().saturating_sub(1);
        let bin = |(place, level): (usize, &Level)| {
            let ends = level.bounds.map_or((None, None), |(low, high)| {
                let (first, last) = (place == 0, place == last);
                ((!first).then_some(low), (!last).then_some(high))
            });
            (level.label.clone(), ends)
        };
        levels.levels.iter().enumerate().map(bin).collect()
    };
    let mut moved = HashSet::new();
    for (feature, is) in (0..).zip(&new.features) {
        let Some(was) = old.features.iter().find(|was| was.name == is.name) else {
            continue;
        };
        let (was, now) = (bins(was), bins(is));
        for (place, level) in (0..).zip(&is.levels) {
            let before = was.get(&level.label);
            if before.is_some_and(|before| Some(before) != now.get(&level.label)) {
                moved.insert((feature, place));
            }
        }
    }
    moved
}

fn names(audit: &Audit) -> Vec<String> {
    audit
        .groups
        .iter()
        .map(|group| group.name.clone())
        .collect()
}
