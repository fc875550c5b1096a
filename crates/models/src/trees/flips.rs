//! Whom each change flips: only the trees that look at a changed column are asked again.
//!
//! What each tree adds for each person before any change is kept, and only what the touched trees
//! add is found anew. Where the sum comes so close to the point at which the answer turns that the
//! order of additions could matter, all trees are added again, in the order in which a prediction
//! adds them, so both always agree.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use facts_engine::flips::{Assigned, Counterfactuals, ModelError};
use facts_engine::{Error, Words};
use rayon::prelude::*;

use super::model::{ROWS, Space};
use super::output::Turn;
use super::{Rows, TreeModel};

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
    let person_bytes = (model.trees.len() + bound.columns.len() + 1) * size_of::<f64>();
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
    /// By input: the place of its column, and the class of each of that column's values.
    columns: Vec<usize>,
    classes: Vec<Vec<u32>>,
    /// By input: the trees that look at it.
    trees: Vec<Vec<u32>>,
    turn: Turn,
}

impl<'a> Bound<'a> {
    fn new(model: &'a TreeModel, ask: &'a Counterfactuals<'a>) -> Result<Self, ModelError> {
        let names: Vec<&str> = ask.columns().iter().map(|column| column.name()).collect();
        let columns = model.inputs.find(&names)?;
        let classes = columns.iter().enumerate();
        let classes = classes.map(|(input, &c)| model.classes(input, &ask.columns()[c]));
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
            classes: classes.collect::<Result<_, _>>()?,
            columns,
            trees,
            turn,
        })
    }

    /// For each input that a change moves: how.
    fn moved(&self, change: usize) -> Vec<Option<Assigned<'a>>> {
        let mut moved = vec![None; self.columns.len()];
        for assigned in self.ask.assigned(change) {
            for (moved, &column) in moved.iter_mut().zip(&self.columns) {
                if column == assigned.column {
                    *moved = Some(assigned);
                }
            }
        }
        moved
    }
}

/// What the trees add for some of the people before any change.
struct Block<'a> {
    bound: &'a Bound<'a>,
    positions: Range<usize>,
    /// By input, then by position.
    classes: Vec<u32>,
    /// By tree, then by position.
    leaves: Vec<f64>,
    /// By position: the base and all leaves, added in 64 bits.
    sums: Vec<f64>,
}

impl<'a> Block<'a> {
    fn new(bound: &'a Bound<'a>, positions: Range<usize>) -> Self {
        let people = positions.len();
        // Positions that are nobody's keep the first class: nobody asks for them.
        let mut classes = vec![0; people * bound.columns.len()];
        for position in bound.ask.positions().filter(|p| positions.contains(p)) {
            let codes = bound.ask.row(position);
            for (input, &column) in bound.columns.iter().enumerate() {
                let class = bound.classes[input][codes[column] as usize];
                classes[input * people + position - positions.start] = class;
            }
        }
        let mut leaves = vec![0.0; bound.model.trees.len() * people];
        if people > 0 {
            let by_tree = leaves.par_chunks_mut(people).enumerate();
            by_tree.for_each_init(Vec::new, |sets, (tree, leaves)| {
                for (few, leaves) in leaves.chunks_mut(ROWS).enumerate() {
                    let rows = Rows {
                        classes: &classes[few * ROWS..],
                        apart: people,
                    };
                    bound.model.trees.leaves(tree, rows, sets, leaves);
                }
            });
        }
        let mut sums = vec![bound.model.output.base; people];
        for leaves in leaves.chunks(people.max(1)) {
            for (sum, leaf) in sums.iter_mut().zip(leaves) {
                *sum += leaf;
            }
        }
        Self {
            bound,
            positions,
            classes,
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
            .zip(&self.bound.trees)
            .filter(|(moved, _)| moved.is_some())
            .flat_map(|(_, trees)| trees.iter().copied())
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
            self.add_trees(&trees, &mut few);
            for (row, &position) in few.positions.iter().enumerate() {
                let answer = self.bound.turn.answer(few.sums[row]);
                let yes = answer.unwrap_or_else(|| self.answer_again(&few, row));
                if ask.is_favourable(yes) {
                    flips[position / 64] |= 1 << (position % 64);
                }
            }
        }
    }

    /// The rows of a few people after a change.
    fn move_rows(&self, moved: &[Option<Assigned<'_>>], few: &mut Few) {
        let start = self.positions.start;
        let people = few.positions.iter();
        few.classes.clear();
        for (input, moved) in moved.iter().enumerate() {
            match moved {
                None => {
                    let before = &self.classes[input * self.positions.len()..];
                    few.classes
                        .extend(people.clone().map(|position| before[position - start]));
                }
                Some(assigned) => {
                    let classes = &self.bound.classes[input];
                    few.classes.extend(people.clone().map(|&position| {
                        let code = self.bound.ask.row(position)[assigned.column];
                        classes[assigned.value(code) as usize]
                    }));
                }
            }
        }
    }

    /// Hot: once for each distinct pair of profile and change. Bounded by the ways through the trees
    /// that the change touches, and by the loads of what trees added before: of the touched ones to
    /// take it back, or of the others to add it up, whichever are fewer.
    fn add_trees(&self, touched: &[u32], few: &mut Few) {
        let trees = &self.bound.model.trees;
        let people = self.positions.len();
        let before = |tree: usize| &self.leaves[tree * people..][..people];
        let places = few.positions.iter().map(|p| p - self.positions.start);
        let take_back = touched.len() * 2 <= trees.len();
        few.sums.clear();
        if take_back {
            few.sums
                .extend(places.clone().map(|place| self.sums[place]));
        } else {
            let base = self.bound.model.output.base;
            few.sums.resize(few.positions.len(), base);
            let mut left = touched.iter().copied().peekable();
            for tree in 0..trees.len() {
                if left.next_if_eq(&(tree as u32)).is_none() {
                    let before = before(tree);
                    for (sum, place) in few.sums.iter_mut().zip(places.clone()) {
                        *sum += before[place];
                    }
                }
            }
        }
        let Space { sets, leaves } = &mut few.space;
        leaves.resize(few.positions.len(), 0.0);
        let rows = Rows {
            classes: &few.classes,
            apart: few.positions.len(),
        };
        for &tree in touched {
            trees.leaves(tree as usize, rows, sets, leaves);
            for (sum, leaf) in few.sums.iter_mut().zip(&*leaves) {
                *sum += leaf;
            }
            if take_back {
                let before = before(tree as usize);
                for (sum, place) in few.sums.iter_mut().zip(places.clone()) {
                    *sum -= before[place];
                }
            }
        }
    }

    /// The answer for one of a few people, added as a prediction adds it.
    #[cold]
    fn answer_again(&self, few: &Few, row: usize) -> bool {
        let model = self.bound.model;
        let rows = Rows {
            classes: &few.classes[row..],
            apart: few.positions.len(),
        };
        let mut sum = model.output.base;
        model.add_all(rows, &mut Space::default(), std::slice::from_mut(&mut sum));
        model.output.is_yes(sum)
    }
}

/// A few people under a change.
#[derive(Default)]
struct Few {
    positions: Vec<usize>,
    /// By input, then by person.
    classes: Vec<u32>,
    sums: Vec<f64>,
    space: Space,
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
