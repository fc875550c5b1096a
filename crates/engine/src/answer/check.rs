//! Whether an answer that was loaded belongs to its audit: nothing in it points outside.

use super::{Answer, Drivers, GroupPeople, Story, Verdict};
use crate::audit::{Audit, Group};
use crate::distribution::Share;

impl Answer {
    /// Checks an answer that came from elsewhere against the audit beside it. What is wrong, if
    /// something is.
    pub fn check(&self, audit: &Audit) -> Result<(), String> {
        let refuse = |why: String| Err(format!("answer: {why}"));
        if self.people.len() != audit.groups.len() {
            return refuse("not one entry in people for each group".to_owned());
        }
        for (g, (people, group)) in self.people.iter().zip(&audit.groups).enumerate() {
            if !people.fits(group) {
                return refuse(format!("people[{g}] does not fit the audit's group"));
            }
        }
        let subgroups = audit.subgroups.len();
        let exists = |&same: &u32| {
            let stands_for_itself = |own: &u32| *own == same;
            (self.same_as.get(same as usize)).is_some_and(stands_for_itself)
        };
        if self.same_as.len() != subgroups
            || self.told_by.len() != subgroups
            || !self.same_as.iter().all(exists)
        {
            return refuse("same_as and told_by do not fit the subgroups".to_owned());
        }
        let mut told_by = self.told_by.iter().flatten();
        if told_by.any(|&story| story as usize >= self.stories.len()) {
            return refuse("told_by names a story that does not exist".to_owned());
        }
        for (s, story) in self.stories.iter().enumerate() {
            if !story.fits(audit) {
                return refuse(format!("stories[{s}] does not fit the audit"));
            }
        }
        if !self
            .verdict
            .as_ref()
            .is_none_or(|verdict| verdict.fits(audit))
        {
            return refuse("the verdict names a group that does not exist".to_owned());
        }
        if !self
            .drivers
            .as_ref()
            .is_none_or(|drivers| drivers.fit(audit))
        {
            return refuse("the drivers do not fit the audit".to_owned());
        }
        Ok(())
    }
}

/// Whether a share is one.
fn holds(share: &Share) -> bool {
    share.part <= share.whole
}

impl GroupPeople {
    fn fits(&self, group: &Group) -> bool {
        let mut ways = self.ways.iter().flatten();
        let with_a_way = ways.try_fold(0_u64, |so_far, ways| so_far.checked_add(ways.people));
        (self.people, self.refused) == (group.people, group.affected)
            && with_a_way.is_some_and(|people| people <= self.refused)
    }
}

impl Story {
    fn fits(&self, audit: &Audit) -> bool {
        let Some(subgroup) = audit.subgroups.get(self.subgroup) else {
            return false;
        };
        let groups = audit.groups.len();
        let mut told = self.told.iter().zip(&subgroup.members);
        let why_fits = self.why.as_ref().is_none_or(|why| {
            let mut strata = why.strata.iter();
            strata.all(|&feature| (feature as usize) < audit.features.len())
                && holds(&why.swapped)
                && holds(&why.compared)
        });
        self.worse_off < groups
            && self.better_off < groups
            && self.told.len() == groups
            && told.all(|(share, &members)| holds(share) && share.whole <= members)
            && (self.sharper.iter()).all(|inside| inside.subgroup < audit.subgroups.len())
            && why_fits
    }
}

impl Verdict {
    fn fits(&self, audit: &Audit) -> bool {
        let groups = audit.groups.len();
        match self {
            Self::Unfair { against, .. } => against.iter().all(|&g| g < groups),
            Self::CannotTell { too_small, .. } => {
                (too_small.iter()).all(|small| small.group < groups && holds(&small.covered))
            }
            Self::FairWithin { .. } | Self::NotShown { .. } => true,
        }
    }
}

impl Drivers {
    fn fit(&self, audit: &Audit) -> bool {
        let groups = audit.groups.len();
        let mut items = self.items.iter();
        self.worse_off < groups
            && self.better_off < groups
            && items.all(|driver| {
                audit.has_level(driver.item.feature, driver.item.level)
                    && holds(&driver.worse)
                    && holds(&driver.better)
            })
    }
}
