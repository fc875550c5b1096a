//! What is typed about how the audit is made.

use clap::Args;
use facts_engine::actions::Validity;
use facts_run::Config;
use facts_run::config::Text;

use super::{named, replace};

/// How much memory may be taken.
#[derive(Debug, Default, Args)]
pub(super) struct MemoryArgs {
    /// Fail before more memory than this is needed [default: 4096]
    #[arg(long, value_name = "MIB")]
    max_memory: Option<u64>,
}

impl MemoryArgs {
    pub(super) fn apply(self, config: &mut Config) {
        replace(&mut config.audit.max_memory_mib, self.max_memory);
    }
}

/// How the audit is made.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "The audit")]
pub(super) struct EngineArgs {
    /// The least share of each group that a subgroup must have [default: 0.01, or the least that gives
    /// no more than 50,000 subgroups]
    #[arg(long, short, value_name = "SHARE")]
    support: Option<String>,
    /// Which actions are valid [default: joint]
    #[arg(long, value_parser = named([
        ("joint", Validity::Joint, "What changes and what stays must together be common among those who succeed"),
        ("subset", Validity::Subset, "Only what changes must be"),
    ]))]
    validity: Option<Validity>,
    /// Let predicates use <= and >= on ordered features
    #[arg(long)]
    ranges: bool,
    /// Look for predicates of no more items than this
    #[arg(long, value_name = "N")]
    max_length: Option<usize>,
    /// The fewest people of a subgroup in each group compared [default: 20]
    #[arg(long, value_name = "N")]
    min_members: Option<u64>,
    /// Fail if there are more subgroups or action itemsets than this [default: 1000000]
    #[arg(long, value_name = "N")]
    max_subgroups: Option<usize>,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Set groups with fewer affected people aside [default: 1]
    #[arg(long, value_name = "N")]
    min_group_size: Option<u64>,
    /// Compare only these groups; repeat for each
    #[arg(long, value_name = "GROUP")]
    compare: Vec<String>,
    /// Stop if there are more groups to compare than this [default: 10]
    #[arg(long, value_name = "N")]
    max_groups: Option<usize>,
    /// How many threads to work with; results do not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Let people who are alike share rows, at least K of a group, so that nothing that is written tells of fewer
    #[arg(long, value_name = "K")]
    suppress_below: Option<u64>,
    /// The share of the people that may be dropped for missing values [default: 0.05]
    #[arg(long, value_name = "SHARE")]
    allow_dropped: Option<f64>,
}

impl EngineArgs {
    pub(super) fn apply(self, config: &mut Config) {
        self.memory.apply(config);
        let audit = &mut config.audit;
        replace(&mut audit.support, self.support.map(Text));
        replace(&mut audit.validity, self.validity);
        if self.ranges {
            audit.ranges = Some(true);
        }
        replace(&mut audit.max_length, self.max_length);
        replace(&mut audit.min_members, self.min_members);
        replace(&mut audit.max_subgroups, self.max_subgroups);
        replace(&mut audit.min_group_size, self.min_group_size);
        if !self.compare.is_empty() {
            audit.compare = Some(self.compare);
        }
        replace(&mut audit.max_groups, self.max_groups);
        replace(&mut audit.threads, self.threads);
        replace(&mut audit.suppress_below, self.suppress_below);
        replace(&mut audit.allow_dropped, self.allow_dropped);
    }
}
