//! Whom each change flips: only the trees that look at a changed column are walked again.
//!
//! What each tree adds for each person before any change is kept. A change then adds the
//! differences of the trees it touches. Where the sum comes so close to the point at which the
//! answer turns that the order of additions could matter, all trees are added again, in the order
//! in which a prediction adds them, so both always agree.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use facts_engine::flips::{Assigned, Counterfactuals, ModelError};
use facts_engine::{Error, Words};
use rayon::prelude::*;

use super::TreeModel;
use super::model::ROWS;
use super::output::Turn;

/// Bytes of kept leaves; more people are taken in blocks.
const KEPT_BYTES: usize = 256 << 20;

/// For each change the positions whose answer turns favourable.
pub(super) fn flips(model: &TreeModel, ask: &Counterfactuals<'_>) -> Result<Vec<Words>, Error> {
    flips_in_blocks(model, ask, KEPT_BYTES)
}

fn flips_in_blocks(
    model: &TreeModel,
    ask: &Counterfactuals<'_>,
    kept_bytes: usize,
) -> Result<Vec<Words>, Error> {
    let bound = Bound::new(model, ask)?;
    let person_bytes = (model.trees.len() + bound.numbers.len() + 1) * size_of::<f64>();
    let people = (kept_bytes / person_bytes).max(64);
    let blocks = ask.end().div_ceil(people).max(1);
    let done = AtomicUsize::new(0);
    let mut flips = vec![ask.nobody(); ask.changes()];
    ask.tell(0)?;
    for block in 0..blocks {
        let range = block * people..((block + 1) * people).min(ask.end());
        let block = Block::new(&bound, range);
        flips
            .par_iter_mut()
            .enumerate()
            .try_for_each(|(change, flips)| {
                block.flips(change, flips);
                ask.tell((done.fetch_add(1, Ordering::Relaxed) + 1) / blocks)
            })?;
    }
    Ok(flips)
}

/// A model bound to the columns of an audit.
struct Bound<'a> {
    model: &'a TreeModel,
    ask: &'a Counterfactuals<'a>,
    /// By input: the place of its column, and the number of each of that column's values.
    columns: Vec<usize>,
    numbers: Vec<Vec<f64>>,
    /// By input: the trees that look at it.
    trees: Vec<Vec<u32>>,
    turn: Turn,
}

impl<'a> Bound<'a> {
    fn new(model: &'a TreeModel, ask: &'a Counterfactuals<'a>) -> Result<Self, ModelError> {
        let names: Vec<&str> = ask.columns().iter().map(|column| column.name()).collect();
        let columns = model.inputs.find(&names)?;
        let numbers = columns.iter().enumerate();
        let numbers = numbers.map(|(input, &c)| model.inputs.numbers(input, &ask.columns()[c]));
        let mut trees = vec![Vec::new(); columns.len()];
        for tree in 0..model.trees.len() {
            for &input in model.trees.features(tree) {
                trees[input as usize].push(tree as u32);
            }
        }
        let turn = model.output.turn(model.trees.len(), model.trees.largest());
        Ok(Self {
            model,
            ask,
            numbers: numbers.collect::<Result<_, _>>()?,
            columns,
            trees,
            turn,
        })
    }

    fn width(&self) -> usize {
        self.columns.len()
    }

    /// What a change does to the inputs.
    fn moved(&self, change: usize) -> Vec<(usize, Assigned<'a>)> {
        let assigned = self.ask.assigned(change);
        let inputs = |column: usize| {
            let all = self.columns.iter().enumerate();
            all.filter(move |(_, c)| **c == column)
                .map(|(input, _)| input)
        };
        assigned
            .flat_map(|assigned| inputs(assigned.column).map(move |input| (input, assigned)))
            .collect()
    }
}

/// What the trees add for some of the people before any change.
struct Block<'a> {
    bound: &'a Bound<'a>,
    positions: Range<usize>,
    /// By position: one number an input.
    rows: Vec<f64>,
    /// By tree, then by position.
    leaves: Vec<f64>,
    /// By position: the base and all leaves, added in 64 bits.
    sums: Vec<f64>,
}

impl<'a> Block<'a> {
    fn new(bound: &'a Bound<'a>, positions: Range<usize>) -> Self {
        let (width, trees) = (bound.width(), bound.model.trees.len());
        // Positions that are nobody's keep zeros: nobody asks for them.
        let mut rows = vec![0.0; positions.len() * width];
        for position in bound.ask.positions().filter(|p| positions.contains(p)) {
            let codes = bound.ask.row(position);
            let row = &mut rows[(position - positions.start) * width..][..width];
            for ((number, numbers), &column) in
                row.iter_mut().zip(&bound.numbers).zip(&bound.columns)
            {
                *number = numbers[codes[column] as usize];
            }
        }
        let mut leaves = vec![0.0; trees * positions.len()];
        if !positions.is_empty() {
            let by_tree = leaves.par_chunks_mut(positions.len()).enumerate();
            by_tree.for_each(|(tree, leaves)| bound.model.trees.leaves(tree, &rows, width, leaves));
        }
        let mut sums = vec![bound.model.output.base; positions.len()];
        for leaves in leaves.chunks(positions.len().max(1)) {
            for (sum, leaf) in sums.iter_mut().zip(leaves) {
                *sum += leaf;
            }
        }
        Self {
            bound,
            positions,
            rows,
            leaves,
            sums,
        }
    }

    /// Adds to `flips` whom a change flips among the people of this block.
    fn flips(&self, change: usize, flips: &mut Words) {
        let ask = self.bound.ask;
        let moved = self.bound.moved(change);
        let mut trees: Vec<u32> = moved
            .iter()
            .flat_map(|&(input, _)| self.bound.trees[input].iter().copied())
            .collect();
        trees.sort_unstable();
        trees.dedup();

        let mut needed = ask
            .needed(change)
            .skip_while(|&position| position < self.positions.start)
            .take_while(|&position| position < self.positions.end);
        let mut few = Few::default();
        loop {
            few.positions.clear();
            few.positions.extend(needed.by_ref().take(ROWS));
            if few.positions.is_empty() {
                return;
            }
            self.move_rows(&moved, &mut few);
            self.add_differences(&trees, &mut few);
            for (row, &position) in few.positions.iter().enumerate() {
                let answer = self.bound.turn.answer(few.sums[row]);
                let yes = answer.unwrap_or_else(|| {
                    let width = self.bound.width();
                    let model = self.bound.model;
                    let row = &few.rows[row * width..][..width];
                    model.output.is_yes(model.sum(row))
                });
                if ask.is_favourable(yes) {
                    flips[position / 64] |= 1 << (position % 64);
                }
            }
        }
    }

    /// The rows of a few people after a change.
    fn move_rows(&self, moved: &[(usize, Assigned<'_>)], few: &mut Few) {
        let width = self.bound.width();
        few.rows.clear();
        few.sums.clear();
        for &position in &few.positions {
            let at = position - self.positions.start;
            few.sums.push(self.sums[at]);
            let start = few.rows.len();
            few.rows
                .extend_from_slice(&self.rows[at * width..][..width]);
            let codes = self.bound.ask.row(position);
            for (input, assigned) in moved {
                let code = assigned.value(codes[assigned.column]);
                few.rows[start + input] = self.bound.numbers[*input][code as usize];
            }
        }
    }

    /// Hot: once for each distinct pair of profile and change. Bounded by the walks through the
    /// trees that the change touches.
    fn add_differences(&self, trees: &[u32], few: &mut Few) {
        few.leaves.resize(few.positions.len(), 0.0);
        for &tree in trees {
            let tree = tree as usize;
            let all = &self.bound.model.trees;
            all.leaves(tree, &few.rows, self.bound.width(), &mut few.leaves);
            let before = &self.leaves[tree * self.positions.len()..][..self.positions.len()];
            let rows = few.positions.iter().zip(&mut few.sums).zip(&few.leaves);
            for ((position, sum), leaf) in rows {
                *sum += leaf - before[position - self.positions.start];
            }
        }
    }
}

/// A few people under a change.
#[derive(Default)]
struct Few {
    positions: Vec<usize>,
    rows: Vec<f64>,
    sums: Vec<f64>,
    leaves: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::path::Path;

    use arrow_array::{ArrayRef, RecordBatch};
    use facts_engine::flips::Model;
    use facts_engine::population::{Declaration, Feature, Protected};
    use facts_engine::{Options, Watch, audit};

    use super::*;
    use crate::open::OpenOptions;

    /// A model that keeps as little as it can.
    struct InSmallBlocks<'a>(&'a TreeModel);

    impl Model for InSmallBlocks<'_> {
        fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
            self.0.predict(rows)
        }

        fn flips(&self, ask: &Counterfactuals<'_>) -> Result<Vec<Words>, Error> {
            flips_in_blocks(self.0, ask, 0)
        }
    }

    #[test]
    fn the_size_of_blocks_does_not_show() {
        let path = Path::new("tests/support/trees_fixture/xgboost.ubj");
        let model = TreeModel::open_xgboost(path, &OpenOptions::default()).unwrap();
        let mut text = String::from("hours per week,age,job,band,group\n");
        for row in 0..2000 {
            let (hours, age) = (row * 37 % 61, 17 + row * 7 % 70);
            let job = ["clerk", "manager", "nurse", "cook"][row / 7 % 4];
            let (band, group) = ([10, 40, 160][row / 5 % 3], ["a", "b"][row / 3 % 2]);
            writeln!(text, "{hours},{age},{job},{band},{group}").unwrap();
        }
        let source = facts_input::Source::reader("rows.csv", std::io::Cursor::new(text));
        let table = facts_input::open(source, &facts_input::Options::default()).unwrap();
        let population = Declaration::new()
            .feature(Feature::categorical("job"))
            .feature(Feature::numeric("band"))
            .context("hours per week")
            .context("age")
            .protected(Protected::attribute("group"))
            .read(table.collect::<Result<Vec<_>, _>>().unwrap())
            .unwrap();
        let audit = |model: &dyn Model| {
            let audit = audit(&population, model, &Options::new(), Watch::nobody()).unwrap();
            assert!(audit.sizes.affected_profiles > 500 && audit.sizes.changes > 10);
            serde_json::to_string(&audit).unwrap()
        };
        assert!(audit(&model) == audit(&InSmallBlocks(&model)));
    }
}
