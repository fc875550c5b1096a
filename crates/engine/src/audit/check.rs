//! Whether an audit that was loaded holds together: nothing in it points outside of it.

use super::{Audit, FORMAT};
use crate::subgroups::Predicate;

impl Audit {
    /// Checks an audit that came from elsewhere: a file may be cut, edited, or another version's.
    /// What is wrong, if something is.
    pub fn check(&self) -> Result<(), String> {
        if self.format != FORMAT {
            return Err(format!("format is {}, not {FORMAT}", self.format));
        }
        let groups = self.groups.len();
        if groups < 2 {
            return Err("fewer than two groups are compared".to_owned());
        }
        if let Some(group) = self.groups.iter().find(|g| g.affected > g.people) {
            let name = &group.name;
            return Err(format!("group {name} has more affected than people"));
        }
        for feature in &self.features {
            let within = |level: u32| (level as usize) < feature.levels.len();
            if !feature.missing.is_none_or(within) {
                return Err(format!("feature {} has no level for missing", feature.name));
            }
        }
        for (c, change) in self.changes.iter().enumerate() {
            let assignments = change.assignments();
            if assignments.is_empty() {
                return Err(format!("changes[{c}] changes nothing"));
            }
            if !(assignments.iter()).all(|a| self.has_level(a.feature, a.level)) {
                return Err(format!("changes[{c}] names a level that does not exist"));
            }
        }
        for (s, subgroup) in self.subgroups.iter().enumerate() {
            let refuse = |why: &str| Err(format!("subgroups[{s}] {why}"));
            self.check_predicate(&subgroup.predicate, &subgroup.members)
                .or_else(|why| refuse(&why))?;
            if !subgroup.holds_together(self.changes.len()) {
                return refuse("has counts or actions that do not fit together");
            }
        }
        for (s, subgroup) in self.without_actions.iter().enumerate() {
            self.check_predicate(&subgroup.predicate, &subgroup.members)
                .map_err(|why| format!("without_actions[{s}] {why}"))?;
        }
        Ok(())
    }

    pub(crate) fn has_level(&self, feature: u32, level: u32) -> bool {
        let feature = self.features.get(feature as usize);
        feature.is_some_and(|feature| (level as usize) < feature.levels.len())
    }

    fn check_predicate(&self, predicate: &Predicate, members: &[u64]) -> Result<(), String> {
        let items = predicate.items();
        if items.is_empty() || !items.is_sorted() {
            return Err("has an empty or unsorted predicate".to_owned());
        }
        if !(items.iter()).all(|item| self.has_level(item.feature, item.level)) {
            return Err("names a level that does not exist".to_owned());
        }
        if members.len() != self.groups.len() {
            return Err("does not have one count of members for each group".to_owned());
        }
        let affected = self.groups.iter().map(|group| group.affected);
        if members
            .iter()
            .zip(affected)
            .any(|(&members, affected)| members > affected)
        {
            return Err("has more members than its groups".to_owned());
        }
        Ok(())
    }
}
