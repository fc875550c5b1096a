//! How much memory an audit may take: one limit that all of its stages draw on.

use crate::error::Error;

/// How much memory an audit may take, and how much of that is spoken for.
///
/// A stage asks before it takes memory, and is given what the stages before it left. What it holds on to is
/// [spoken for](Self::without) when the next one asks. Bytes are estimates from above: they are worked out from
/// counts, and tests with a counting allocator compare them with what is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    limit: u64,
    held: u64,
}

impl Budget {
    /// So many bytes, none of them spoken for.
    pub const fn new(bytes: u64) -> Self {
        Self {
            limit: bytes,
            held: 0,
        }
    }

    /// All that the audit may take, in bytes.
    pub const fn limit(self) -> u64 {
        self.limit
    }

    /// What is not spoken for, in bytes.
    pub const fn left(self) -> u64 {
        self.limit.saturating_sub(self.held)
    }

    /// The same with so many bytes more spoken for.
    #[must_use]
    pub const fn without(self, bytes: u64) -> Self {
        Self {
            limit: self.limit,
            held: self.held.saturating_add(bytes),
        }
    }

    /// The limit as messages tell it.
    pub(crate) const fn limit_mib(self) -> u64 {
        self.limit >> 20
    }

    /// How much an audit needs that takes so many bytes more, as messages tell it.
    pub(crate) const fn needed_mib(self, bytes: u64) -> u64 {
        self.held.saturating_add(bytes).div_ceil(1 << 20)
    }

    /// Refuses a stage that would take more than is left; `remedy` says what would make it take less.
    pub fn check(self, stage: &'static str, bytes: u64, remedy: &'static str) -> Result<(), Error> {
        if bytes <= self.left() {
            return Ok(());
        }
        Err(Error::OverBudget {
            stage,
            needed_mib: self.needed_mib(bytes),
            limit_mib: self.limit_mib(),
            remedy,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spoken_for_is_not_there_for_others() {
        let budget = Budget::new(10 << 20).without(6 << 20);
        assert_eq!((budget.limit(), budget.left()), (10 << 20, 4 << 20));
        assert_eq!(budget.check("the tests", 4 << 20, "make fewer"), Ok(()));
        let error = budget
            .check("the tests", (4 << 20) + 1, "make fewer")
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "the tests would bring the audit to about 11 MiB of memory, and the limit is 10 MiB; raise the memory limit, or make fewer"
        );
        assert_eq!(budget.without(u64::MAX).left(), 0);
    }
}
