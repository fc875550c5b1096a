//! How an audit is to be made.

use crate::actions::Validity;
use crate::budget::Budget;
use crate::decimal::Support;
use crate::error::Error;
use crate::flips::Favourable;

/// How an audit is to be made. [`Options::new`] holds the defaults; each setter says what they are.
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) support: Support,
    pub(crate) choose_support: Option<usize>,
    pub(crate) validity: Validity,
    pub(crate) ranges: bool,
    pub(crate) max_length: Option<usize>,
    pub(crate) max_subgroups: usize,
    pub(crate) budget: Budget,
    pub(crate) min_members: u64,
    pub(crate) min_group_size: u64,
    pub(crate) compare: Option<Vec<String>>,
    pub(crate) favourable: Favourable,
    pub(crate) batch_rows: usize,
    pub(crate) threads: Option<usize>,
}

/// How much memory an audit may take unless it is said, in bytes.
const MAX_MEMORY: Budget = Budget::new(4 << 30);

impl Default for Options {
    fn default() -> Self {
        Self {
            support: Support::ONE_PERCENT,
            choose_support: None,
            validity: Validity::default(),
            ranges: false,
            max_length: None,
            max_subgroups: 1_000_000,
            budget: MAX_MEMORY,
            min_members: 1,
            min_group_size: 1,
            compare: None,
            favourable: Favourable::default(),
            batch_rows: 1 << 16,
            threads: None,
        }
    }
}

impl Options {
    /// All defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The least share of each group's affected, and of the unaffected, that makes an itemset
    /// frequent. Default 0.01.
    pub fn support(mut self, support: Support) -> Self {
        self.support = support;
        self.choose_support = None;
        self
    }

    /// Choose the support: the one given before, or the least of a fixed ladder above it at which no
    /// more than so many subgroups are found and everything fits. Where none is, and no greatest length
    /// is given, predicates are kept short too. [`Settings`](super::Settings) says what was chosen.
    pub fn choose_support(mut self, subgroups: usize) -> Self {
        self.choose_support = Some(subgroups);
        self
    }

    /// Which actions are valid for a subgroup. Default joint.
    pub fn validity(mut self, validity: Validity) -> Self {
        self.validity = validity;
        self
    }

    /// Whether predicates may use `<=` and `>=` on ordered features. Default no.
    pub fn ranges(mut self, ranges: bool) -> Self {
        self.ranges = ranges;
        self
    }

    /// Look for predicates and actions of no more items than this, which is at least 1. Default no
    /// limit.
    pub fn max_length(mut self, items: usize) -> Self {
        self.max_length = Some(items.max(1));
        self
    }

    /// Fail if there are more subgroups, or more action itemsets, than this. Default a million.
    pub fn max_subgroups(mut self, subgroups: usize) -> Self {
        self.max_subgroups = subgroups;
        self
    }

    /// Fail before the audit needs more than about so many bytes. Default 4 GiB.
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.budget = Budget::new(bytes);
        self
    }

    /// Take no more memory than this leaves: a limit of which something is spoken for before the audit
    /// starts, such as for the table that its people are read from.
    pub fn drawing_on(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// How much memory the audit may take, in bytes.
    pub fn memory(&self) -> u64 {
        self.budget.limit()
    }

    /// Look only for subgroups with at least so many people in each group compared. Default 1.
    pub fn min_members(mut self, people: u64) -> Self {
        self.min_members = people;
        self
    }

    /// Set groups with fewer affected people aside, and name them. Default 1: only groups in which
    /// nobody is affected.
    pub fn min_group_size(mut self, people: u64) -> Self {
        self.min_group_size = people;
        self
    }

    /// Compare these groups only. Default all.
    pub fn compare<G: Into<String>>(mut self, groups: impl IntoIterator<Item = G>) -> Self {
        self.compare = Some(groups.into_iter().map(Into::into).collect());
        self
    }

    /// Which class is favourable. Default `true` or 1.
    pub fn favourable(mut self, favourable: Favourable) -> Self {
        self.favourable = favourable;
        self
    }

    /// How many rows a model is sent at a time. Default 65,536.
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows;
        self
    }

    /// How many threads to work with. Default as many as the current rayon pool has. The results
    /// are the same whatever the number.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Does some work on as many threads as asked for.
    pub fn work<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
        let Some(threads) = self.threads else {
            return Ok(work());
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Error::Threads {
            threads,
            why: error.to_string(),
        })?;
        Ok(pool.install(work))
    }
}
