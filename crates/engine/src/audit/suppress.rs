//! Leaving out small counts before an audit is handed over.

use super::{Audit, Suppression};

impl Audit {
    /// The audit without counts from 1 to k − 1.
    ///
    /// Subgroups in which a group has fewer than k members are removed and counted. Elsewhere a
    /// small count becomes "suppressed", and so does every value that cannot be told without it.
    pub fn suppressed(mut self, k: u64) -> Self {
        let all = self.subgroups.len() + self.without_actions.len();
        let large = |members: &[u64]| members.iter().all(|&n| n >= k);
        self.subgroups.retain(|subgroup| large(&subgroup.members));
        self.without_actions
            .retain(|subgroup| large(&subgroup.members));
        for subgroup in &mut self.subgroups {
            subgroup.suppress(k);
        }
        for group in &mut self.set_aside {
            group.people.suppress(k);
            group.affected.suppress(k);
        }
        let removed = all - self.subgroups.len() - self.without_actions.len();
        let before = self.suppression.map_or(0, |earlier| earlier.removed);
        self.suppression = Some(Suppression {
            k: k.max(self.suppression.map_or(0, |earlier| earlier.k)),
            removed: before + removed,
        });
        self
    }
}
