//! How much memory reports take, reckoned from the size of an audit before it is made.

/// What the memory of reports depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The groups.
    pub groups: usize,
    /// The definitions that are reported.
    pub definitions: usize,
    /// The subgroups.
    pub subgroups: usize,
    /// The pairs of a subgroup and an action.
    pub pairs: usize,
    /// The letters of all predicates.
    pub predicates: u64,
    /// The letters of predicate and change, of all pairs.
    pub pairs_text: u64,
}

/// Bytes of a place in a column of numbers or counts, as text, and in the batch that Parquet is written from.
const CELL: u64 = 72;
/// Bytes of a text beside its letters, as a cell and in a batch.
const TEXT: u64 = 48;
/// How often letters are there: in the cell, in the text that is written or in the batch, which grow by doubling.
const LETTERS: u64 = 4;
/// Bytes of a subgroup in a ranking.
const RANKED: u64 = 200;
/// Cells of a subgroup under a definition beside those of its groups, evidence among them.
const CELLS: u64 = 16;

impl Size {
    /// Bytes that a report and any one of its forms take, or the saved audit as text: they are written one
    /// after the other.
    pub fn report_bytes(&self) -> u64 {
        let (groups, definitions) = (self.groups as u64, self.definitions as u64);
        let (subgroups, pairs) = (self.subgroups as u64, self.pairs as u64);
        let rankings = subgroups * definitions * RANKED;
        let by_definition = CELLS + groups;
        let of_subgroups = subgroups * (TEXT + (definitions * by_definition + 2 * groups) * CELL)
            + LETTERS * self.predicates;
        let of_actions =
            pairs * (16 + 2 * TEXT + (1 + 3 * groups) * CELL) + LETTERS * self.pairs_text;
        rankings + of_subgroups.max(of_actions)
    }
}
