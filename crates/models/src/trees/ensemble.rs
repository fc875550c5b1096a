//! All trees of a model in flat arrays, and the fast way through them.
//!
//! Nodes of one tree lie together, a parent before its children. A file's own numbering of nodes is
//! gone after loading, and with it every way in which it could be wrong: a tree that was added has
//! no cycle and no child that does not exist.
//!
//! A tree is not walked, as a rule. Numbers that no split of the model tells apart are one *class*.
//! For each tree, each feature and each class there is the set of leaves that a row of this class
//! can still reach; what remains in the sets of all features is the row's one leaf. That takes a
//! load and an `and` a feature, where a walk has a branch a level that cannot be predicted. Trees
//! whose sets would be too large are walked.

use std::ops::Range;

/// Trees over numbered features.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ensemble {
    nodes: Vec<Node>,
    trees: Vec<Tree>,
    /// By feature.
    classes: Vec<Classes>,
    /// The leaves that remain: all trees, features and classes after each other.
    remaining: Vec<u64>,
}

/// One tree.
#[derive(Clone, Debug)]
struct Tree {
    /// Its splits, the root first, and its leaves, from left to right. A tree may be all leaf.
    splits: Range<usize>,
    leaves: Range<usize>,
    /// The features it looks at, ascending.
    features: Vec<u32>,
    /// For each of those where its remaining leaves begin, unless the tree is walked.
    remaining: Option<Vec<usize>>,
    /// The greatest distance of a leaf from 0.
    largest: f64,
}

impl Tree {
    /// How many words a set of its leaves takes: 1, 2, 4 and so on.
    fn words(&self) -> usize {
        self.leaves.len().div_ceil(64).next_power_of_two()
    }
}

/// A split or a leaf.
#[derive(Clone, Debug)]
struct Node {
    /// The value of a leaf.
    value: f64,
    /// What a split asks, and of which feature.
    test: Option<Test>,
    feature: u32,
    /// Where it leads: left and right.
    children: [u32; 2],
}

/// A place in a tree as a file describes it.
#[derive(Debug)]
pub(crate) enum Place {
    /// What is added to the sum.
    Leaf(f64),
    /// A question, and the places that its answers lead to.
    Split {
        feature: usize,
        test: Test,
        left: usize,
        right: usize,
    },
}

/// The question that a split asks of a number.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// Is it at most the threshold? Then left.
    AtMost {
        threshold: f64,
        /// Where a missing number goes.
        missing_left: bool,
        /// Whether 0 counts as missing.
        zero_is_missing: bool,
    },
    /// Is it one of the categories?
    Listed {
        /// Bit by bit.
        set: Vec<u32>,
        /// Where a listed category goes; the others go the other way.
        listed_left: bool,
        /// Where a missing number goes.
        missing_left: bool,
    },
}

/// What LightGBM takes for zero: a 32-bit 1e-35.
const ZERO: f64 = 1e-35_f32 as f64;

/// The classes of a feature's numbers: those up to the first bound, from there to the second, and so
/// on; those above all bounds; and the missing.
#[derive(Clone, Debug, Default)]
struct Classes {
    /// Ascending, each the last number of its class.
    bounds: Vec<f64>,
}

impl Classes {
    fn len(&self) -> usize {
        self.bounds.len() + 2
    }

    fn class(&self, x: f64) -> u32 {
        let class = if x.is_nan() {
            self.bounds.len() + 1
        } else {
            self.bounds.partition_point(|bound| *bound < x)
        };
        // There are fewer bounds than nodes and listed categories, which are fewer than 2^32.
        class as u32
    }

    /// A number of a class.
    fn number(&self, class: usize) -> f64 {
        match self.bounds.get(class) {
            Some(bound) => *bound,
            None if class == self.bounds.len() => f64::INFINITY,
            None => f64::NAN,
        }
    }
}

/// Some rows as classes, feature by feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    /// The class of row `r` in feature `f` is at `f * apart + r`.
    pub(crate) classes: &'a [u32],
    pub(crate) apart: usize,
}

impl<'a> Rows<'a> {
    fn feature(self, feature: u32, rows: usize) -> &'a [u32] {
        &self.classes[feature as usize * self.apart..][..rows]
    }
}

/// Trees with more leaves than fit into so many words are walked.
const MOST_WORDS: usize = 8;

/// Bytes of remaining leaves; trees that would need more are walked.
const REMAINING_BYTES: usize = 64 << 20;

fn is_listed(set: &[u32], x: f64) -> bool {
    // Towards zero, as in C; whatever is too large is in no set.
    let category = x as i64;
    category >= 0
        && set
            .get((category / 32) as usize)
            .is_some_and(|word| word >> (category % 32) & 1 == 1)
}

fn listed(set: &[u32]) -> impl Iterator<Item = usize> {
    let words = set.iter().enumerate().filter(|(_, word)| **word != 0);
    words.flat_map(|(at, word)| {
        let bits = (0..32).filter(move |bit| word >> bit & 1 == 1);
        bits.map(move |bit| at * 32 + bit)
    })
}

impl Ensemble {
    /// Adds a tree of so many places; the first is its root.
    ///
    /// Places that are not reached from the root are left out: pruning leaves such behind.
    pub(crate) fn add(
        &mut self,
        places: usize,
        mut place: impl FnMut(usize) -> Result<Place, String>,
    ) -> Result<(), String> {
        let start = self.nodes.len();
        let mut reached = vec![false; places];
        let mut leaves = Vec::new();
        // Places to visit, with the split, and the side of it, that leads there.
        let mut open: Vec<(usize, Option<(usize, usize)>)> = vec![(0, None)];
        while let Some((at, parent)) = open.pop() {
            let reached = reached
                .get_mut(at)
                .ok_or_else(|| format!("a split leads to node {at}, of {places}"))?;
            if std::mem::replace(reached, true) {
                return Err(format!("two splits lead to node {at}"));
            }
            match place(at)? {
                Place::Leaf(value) if value.is_finite() => leaves.push((value, parent)),
                Place::Leaf(value) => {
                    return Err(format!("the leaf at node {at} has the value {value}"));
                }
                Place::Split {
                    feature,
                    test,
                    left,
                    right,
                } => {
                    let node = self.nodes.len();
                    self.nodes.push(Node {
                        value: 0.0,
                        test: Some(test),
                        feature: index(feature)?,
                        children: [0; 2],
                    });
                    if let Some((parent, side)) = parent {
                        self.nodes[parent].children[side] = index(node)?;
                    }
                    open.push((right, Some((node, 1))));
                    open.push((left, Some((node, 0))));
                }
            }
        }
        let first_leaf = self.nodes.len();
        for &(value, parent) in &leaves {
            let node = index(self.nodes.len())?;
            self.nodes.push(Node {
                value,
                test: None,
                feature: 0,
                children: [0; 2],
            });
            if let Some((parent, side)) = parent {
                self.nodes[parent].children[side] = node;
            }
        }
        let splits = &self.nodes[start..first_leaf];
        let mut features: Vec<u32> = splits.iter().map(|node| node.feature).collect();
        features.sort_unstable();
        features.dedup();
        self.trees.push(Tree {
            splits: start..first_leaf,
            leaves: first_leaf..self.nodes.len(),
            features,
            remaining: None,
            largest: leaves
                .iter()
                .fold(0.0, |most: f64, (value, _)| most.max(value.abs())),
        });
        Ok(())
    }

    /// To be called once all trees are there: numbers the features anew, so that only those some
    /// tree looks at remain, and prepares the fast way. Gives back which features remain.
    pub(crate) fn finish(&mut self) -> Vec<usize> {
        self.finish_within(REMAINING_BYTES)
    }

    fn finish_within(&mut self, remaining_bytes: usize) -> Vec<usize> {
        let used = self.keep_used_features();
        self.classes = self.find_classes(used.len());
        for tree in 0..self.trees.len() {
            let tree_bytes = self.trees[tree].words()
                * size_of::<u64>()
                * self.trees[tree]
                    .features
                    .iter()
                    .map(|&feature| self.classes[feature as usize].len())
                    .sum::<usize>();
            let bytes = self.remaining.len() * size_of::<u64>() + tree_bytes;
            if self.trees[tree].words() <= MOST_WORDS && bytes <= remaining_bytes {
                self.find_remaining(tree);
            }
        }
        used
    }

    fn keep_used_features(&mut self) -> Vec<usize> {
        let mut used: Vec<u32> = self
            .trees
            .iter()
            .flat_map(|tree| tree.features.iter().copied())
            .collect();
        used.sort_unstable();
        used.dedup();
        // Every feature of a split is in the list; that of a leaf has no meaning.
        let anew = |feature: &mut u32| *feature = used.partition_point(|u| u < feature) as u32;
        self.nodes.iter_mut().for_each(|n| anew(&mut n.feature));
        let features = self.trees.iter_mut().flat_map(|tree| &mut tree.features);
        features.for_each(anew);
        used.into_iter().map(|feature| feature as usize).collect()
    }

    /// Between two bounds, no rule of any split changes its mind.
    fn find_classes(&self, features: usize) -> Vec<Classes> {
        let mut classes = vec![Classes::default(); features];
        let splits = self.trees.iter().flat_map(|tree| tree.splits.clone());
        for node in splits.map(|split| &self.nodes[split]) {
            let bounds = &mut classes[node.feature as usize].bounds;
            match &node.test {
                None => {}
                Some(Test::AtMost {
                    threshold,
                    zero_is_missing,
                    ..
                }) => {
                    // Nothing is at most NaN.
                    bounds.extend(Some(threshold).filter(|number| !number.is_nan()));
                    if *zero_is_missing {
                        bounds.extend([(-ZERO).next_down(), ZERO]);
                    }
                }
                Some(Test::Listed { set, .. }) => {
                    for category in listed(set) {
                        // Cutting off towards 0 makes category 0 out of all above -1.
                        let before = match category {
                            0 => -1.0,
                            category => (category as f64).next_down(),
                        };
                        bounds.extend([before, (category as f64 + 1.0).next_down()]);
                    }
                }
            }
        }
        for Classes { bounds } in &mut classes {
            bounds.sort_unstable_by(f64::total_cmp);
            // 0 and -0 are the same bound, too.
            bounds.dedup();
        }
        classes
    }

    /// For each feature of a tree and each of its classes: the leaves that no split on this feature
    /// leads away from.
    fn find_remaining(&mut self, tree: usize) {
        let tree = &mut self.trees[tree];
        let below = leaves_below(&self.nodes, tree);
        let words = tree.words();
        let mut starts = Vec::with_capacity(tree.features.len());
        for &feature in &tree.features {
            let classes = &self.classes[feature as usize];
            let start = self.remaining.len();
            starts.push(start);
            self.remaining
                .resize(start + classes.len() * words, u64::MAX);
            for split in tree.splits.clone() {
                let node = &self.nodes[split];
                let Some(test) = node.test.as_ref().filter(|_| node.feature == feature) else {
                    continue;
                };
                for class in 0..classes.len() {
                    let left = test.goes_left(classes.number(class));
                    let not_taken = node.children[usize::from(left)] as usize;
                    let set = &mut self.remaining[start + class * words..][..words];
                    remove(set, below[not_taken - tree.splits.start].clone());
                }
            }
        }
        tree.remaining = Some(starts);
    }

    /// How many trees there are.
    pub(crate) fn len(&self) -> usize {
        self.trees.len()
    }

    /// The features that a tree looks at, ascending.
    pub(crate) fn features(&self, tree: usize) -> &[u32] {
        &self.trees[tree].features
    }

    /// How far from 0 the sum of all trees can be.
    pub(crate) fn largest(&self) -> f64 {
        self.trees.iter().map(|tree| tree.largest).sum()
    }

    /// The class of a feature's number.
    pub(crate) fn class(&self, feature: usize, number: f64) -> u32 {
        self.classes[feature].class(number)
    }

    /// What a tree adds for each of some rows. `sets` is space to work in.
    pub(crate) fn leaves(
        &self,
        tree: usize,
        rows: Rows<'_>,
        sets: &mut Vec<u64>,
        leaves: &mut [f64],
    ) {
        let tree = &self.trees[tree];
        match (&tree.remaining, tree.words()) {
            (Some(starts), 1) => self.remaining::<1>(tree, starts, rows, sets, leaves),
            (Some(starts), 2) => self.remaining::<2>(tree, starts, rows, sets, leaves),
            (Some(starts), 4) => self.remaining::<4>(tree, starts, rows, sets, leaves),
            (Some(starts), MOST_WORDS) => {
                self.remaining::<MOST_WORDS>(tree, starts, rows, sets, leaves);
            }
            _ => {
                for (row, leaf) in leaves.iter_mut().enumerate() {
                    *leaf = self.walk(tree, |feature| {
                        let class = rows.classes[feature * rows.apart + row];
                        self.classes[feature].number(class as usize)
                    });
                }
            }
        }
    }

    /// Hot: the leaves that remain, for trees whose sets take so many words. Bounded by one load a
    /// feature and word, from sets that stay in the fastest cache while all rows pass.
    fn remaining<const WORDS: usize>(
        &self,
        tree: &Tree,
        starts: &[usize],
        rows: Rows<'_>,
        sets: &mut Vec<u64>,
        leaves: &mut [f64],
    ) {
        sets.clear();
        sets.resize(leaves.len() * WORDS, u64::MAX);
        let (sets, _) = sets.as_chunks_mut::<WORDS>();
        for (&feature, &start) in tree.features.iter().zip(starts) {
            let (remaining, _) = self.remaining[start..].as_chunks::<WORDS>();
            let remaining = &remaining[..self.classes[feature as usize].len()];
            for (set, &class) in sets.iter_mut().zip(rows.feature(feature, leaves.len())) {
                for (word, remaining) in set.iter_mut().zip(&remaining[class as usize]) {
                    *word &= remaining;
                }
            }
        }
        let values = &self.nodes[tree.leaves.clone()];
        for (leaf, set) in leaves.iter_mut().zip(sets) {
            // The last word that is looked at and not empty is the first: no branch is needed.
            let words = set.iter().enumerate().rev();
            let at = words.fold(0, |at, (word, set)| match set {
                0 => at,
                set => word * 64 + set.trailing_zeros() as usize,
            });
            *leaf = values[at].value;
        }
    }

    /// The plain way: from the root, split by split.
    fn walk(&self, tree: &Tree, number: impl Fn(usize) -> f64) -> f64 {
        let mut node = &self.nodes[tree.splits.start];
        while let Some(test) = &node.test {
            let left = test.goes_left(number(node.feature as usize));
            node = &self.nodes[node.children[usize::from(!left)] as usize];
        }
        node.value
    }
}

/// The leaves below each node of a tree, by their place among its leaves.
fn leaves_below(nodes: &[Node], tree: &Tree) -> Vec<Range<usize>> {
    let first = tree.splits.start;
    let leaves = 0..tree.leaves.len();
    let mut below: Vec<Range<usize>> = tree.splits.clone().map(|_| 0..0).collect();
    below.extend(leaves.map(|leaf| leaf..leaf + 1));
    // Children come after their parents.
    for split in tree.splits.clone().rev() {
        let [left, right] = nodes[split].children.map(|child| child as usize - first);
        below[split - first] = below[left].start..below[right].end;
    }
    below
}

fn remove(set: &mut [u64], leaves: Range<usize>) {
    for (word, set) in set.iter_mut().enumerate() {
        let first = leaves.start.clamp(word * 64, word * 64 + 64) - word * 64;
        let end = leaves.end.clamp(word * 64, word * 64 + 64) - word * 64;
        let below = |bit: usize| u64::MAX.checked_shr(64 - bit as u32).unwrap_or(0);
        *set &= !(below(end) & !below(first));
    }
}

impl Test {
    fn goes_left(&self, x: f64) -> bool {
        match *self {
            Self::AtMost {
                threshold,
                missing_left,
                zero_is_missing,
            } => {
                if x.is_nan() || (zero_is_missing && x.abs() <= ZERO) {
                    missing_left
                } else {
                    x <= threshold
                }
            }
            Self::Listed { missing_left, .. } if x.is_nan() => missing_left,
            Self::Listed {
                ref set,
                listed_left,
                ..
            } => is_listed(set, x) == listed_left,
        }
    }
}

fn index(of: usize) -> Result<u32, String> {
    u32::try_from(of).map_err(|_| "it has more than 2^32 nodes".to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl Ensemble {
        fn leaf(&self, tree: usize, row: &[f64]) -> f64 {
            let number = |feature: usize| row[feature];
            let walked = self.walk(&self.trees[tree], number);
            let classes: Vec<u32> = (0..self.classes.len())
                .map(|feature| self.class(feature, row[feature]))
                .collect();
            let rows = Rows {
                classes: &classes,
                apart: 1,
            };
            let mut leaf = [0.0];
            self.leaves(tree, rows, &mut Vec::new(), &mut leaf);
            assert_eq!(leaf, [walked]);
            walked
        }
    }

    fn split(feature: usize, threshold: f64, left: usize, right: usize) -> Place {
        let test = Test::AtMost {
            threshold,
            missing_left: true,
            zero_is_missing: false,
        };
        Place::Split {
            feature,
            test,
            left,
            right,
        }
    }

    fn walk(test: Test, x: f64) -> &'static str {
        let mut trees = Ensemble::default();
        trees
            .add(3, |place| {
                Ok(match place {
                    0 => Place::Split {
                        feature: 0,
                        test: test.clone(),
                        left: 1,
                        right: 2,
                    },
                    leaf => Place::Leaf(leaf as f64),
                })
            })
            .unwrap();
        trees.finish();
        if trees.leaf(0, &[x]) == 1.0 {
            "left"
        } else {
            "right"
        }
    }

    #[test]
    fn numbers_are_compared_and_missing_ones_directed() {
        let at_most = |missing_left, zero_is_missing| Test::AtMost {
            threshold: -1.0,
            missing_left,
            zero_is_missing,
        };
        assert_eq!(walk(at_most(false, false), -1.0), "left");
        assert_eq!(walk(at_most(true, false), -0.5), "right");
        assert_eq!(walk(at_most(true, false), f64::NAN), "left");
        assert_eq!(walk(at_most(false, false), f64::NAN), "right");
        assert_eq!(walk(at_most(true, false), 0.0), "right");
        assert_eq!(walk(at_most(true, true), 0.0), "left");
        assert_eq!(walk(at_most(true, true), -1e-36), "left");
        assert_eq!(walk(at_most(true, true), 1e-34), "right");
    }

    #[test]
    fn categories_are_looked_up() {
        let listed = |listed_left| Test::Listed {
            set: vec![0b101, 1 << 3],
            listed_left,
            missing_left: false,
        };
        for (x, is_listed) in [
            (0.0, true),
            (1.0, false),
            (2.9, true),
            (35.0, true),
            (64.0, false),
            (-1.0, false),
            (-0.5, true),
            (1e300, false),
            (f64::INFINITY, false),
            (f64::NEG_INFINITY, false),
        ] {
            assert_eq!(walk(listed(true), x) == "left", is_listed, "{x}");
            assert_eq!(walk(listed(false), x) == "right", is_listed, "{x}");
        }
        assert_eq!(walk(listed(true), f64::NAN), "right");
        assert_eq!(walk(listed(false), f64::NAN), "right");
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        let add = |places: usize, left: usize, right: usize| {
            Ensemble::default().add(places, |place| {
                Ok(if place == 0 {
                    split(0, 0.0, left, right)
                } else {
                    Place::Leaf(if place == 9 { f64::NAN } else { 0.0 })
                })
            })
        };
        assert_eq!(add(3, 1, 2), Ok(()));
        assert_eq!(add(3, 0, 2).unwrap_err(), "two splits lead to node 0");
        assert_eq!(add(3, 2, 2).unwrap_err(), "two splits lead to node 2");
        assert_eq!(add(3, 1, 3).unwrap_err(), "a split leads to node 3, of 3");
        assert_eq!(
            add(10, 9, 1).unwrap_err(),
            "the leaf at node 9 has the value NaN"
        );
        assert_eq!(add(0, 0, 0).unwrap_err(), "a split leads to node 0, of 0");
    }

    #[test]
    fn only_used_features_remain() {
        let mut trees = Ensemble::default();
        for (first, second) in [(7, 3), (3, 3)] {
            trees
                .add(5, |place| {
                    Ok(match place {
                        0 => split(first, 0.0, 1, 2),
                        1 => split(second, 5.0, 3, 4),
                        leaf => Place::Leaf(leaf as f64),
                    })
                })
                .unwrap();
        }
        assert_eq!(trees.finish(), [3, 7]);
        assert_eq!(trees.features(0), [0, 1]);
        assert_eq!(trees.features(1), [0]);
        assert_eq!(trees.leaf(0, &[6.0, -1.0]), 4.0);
        assert_eq!(trees.leaf(0, &[6.0, 1.0]), 2.0);
        assert_eq!(trees.largest(), 8.0);
    }

    /// A random tree: each place but the last few splits, and takes the next two that are free.
    fn grow(trees: &mut Ensemble, splits: &[(usize, f64, u8, u64)]) {
        let places = 2 * splits.len() + 1;
        trees
            .add(places, |place| {
                let Some(&(feature, threshold, kind, bits)) = splits.get(place) else {
                    return Ok(Place::Leaf(place as f64));
                };
                let missing_left = kind & 1 == 1;
                let test = if kind & 6 == 6 {
                    Test::Listed {
                        set: vec![bits as u32, (bits >> 32) as u32],
                        listed_left: kind & 8 == 8,
                        missing_left,
                    }
                } else {
                    Test::AtMost {
                        threshold,
                        missing_left,
                        zero_is_missing: kind & 2 == 2,
                    }
                };
                Ok(Place::Split {
                    feature,
                    test,
                    left: 2 * place + 1,
                    right: 2 * place + 2,
                })
            })
            .unwrap();
    }

    /// Numbers around those at which something may change.
    fn numbers() -> impl Strategy<Value = f64> {
        let odd = [
            0.0,
            -0.0,
            1e-36,
            -1e-34,
            f64::NAN,
            f64::INFINITY,
            -f64::INFINITY,
            1e300,
        ];
        prop_oneof![
            (-4..70_i32).prop_map(f64::from),
            (-40..700_i32).prop_map(|tenths| f64::from(tenths) / 10.0),
            (-4..70_i32).prop_map(|n| f64::from(n).next_down()),
            prop::sample::select(odd.to_vec()),
        ]
    }

    proptest! {
        /// The fast way arrives where a walk does: trees of one word, of several, and those for
        /// whose sets there is no space.
        #[test]
        fn sets_of_leaves_agree_with_walks(
            first in prop::collection::vec((0..4_usize, numbers(), 0..16_u8, any::<u64>()), 0..40),
            second in prop::collection::vec((0..4_usize, numbers(), 0..16_u8, any::<u64>()), 60..300),
            rows in prop::collection::vec([numbers(), numbers(), numbers(), numbers()], 20),
            bytes in prop::sample::select(vec![0, 5000, REMAINING_BYTES]),
        ) {
            let mut trees = Ensemble::default();
            grow(&mut trees, &first);
            grow(&mut trees, &second);
            let used = trees.finish_within(bytes);
            for row in &rows {
                let row: Vec<f64> = used.iter().map(|&feature| row[feature]).collect();
                trees.leaf(0, &row);
                trees.leaf(1, &row);
            }
        }
    }
}
