//! All trees of a model in flat arrays.
//!
//! Nodes of one tree lie together, a parent before its children, so that a walk stays in a few
//! cache lines. A file's own numbering of nodes is gone after loading, and with it every way in
//! which it could be wrong: a tree that was added has no cycle and no child that does not exist.

use std::ops::Range;

/// Trees over numbered features.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ensemble {
    nodes: Vec<Node>,
    /// Bits of listed categories, all splits after each other, and where those of each begin and
    /// end.
    words: Vec<u32>,
    sets: Vec<Range<usize>>,
    trees: Vec<Tree>,
}

/// One tree: its nodes, of which the first is the root, and the features it looks at, ascending.
#[derive(Clone, Debug)]
struct Tree {
    start: u32,
    /// Where its splits end and its leaves begin.
    leaves: u32,
    features: Vec<u32>,
    /// The greatest distance of a leaf from 0.
    largest: f64,
}

/// A split, or a leaf: a leaf leads to itself, so that rows which are done can wait for others.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The threshold of a split, the value of a leaf.
    number: f64,
    /// Left and right.
    children: [u32; 2],
    feature: u32,
    rule: Rule,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    AtMost {
        missing_left: bool,
        zero_is_missing: bool,
    },
    Listed {
        set: u32,
        listed_left: bool,
        missing_left: bool,
    },
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
#[derive(Debug)]
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

/// Rows that walk through a tree in step. While one waits for memory, the others go on.
const IN_STEP: usize = 8;

fn is_listed(set: &[u32], x: f64) -> bool {
    // Towards zero, as in C; whatever is too large is in no set.
    let category = x as i64;
    category >= 0
        && set
            .get((category / 32) as usize)
            .is_some_and(|word| word >> (category % 32) & 1 == 1)
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
                    let (number, rule) = self.rule(test)?;
                    self.nodes.push(Node {
                        number,
                        children: [0; 2],
                        feature: index(feature)?,
                        rule,
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
                number: value,
                children: [node; 2],
                feature: 0,
                rule: Rule::AtMost {
                    missing_left: false,
                    zero_is_missing: false,
                },
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
            start: index(start)?,
            leaves: index(first_leaf)?,
            features,
            largest: leaves
                .iter()
                .fold(0.0, |most: f64, (value, _)| most.max(value.abs())),
        });
        Ok(())
    }

    fn rule(&mut self, test: Test) -> Result<(f64, Rule), String> {
        Ok(match test {
            Test::AtMost {
                threshold,
                missing_left,
                zero_is_missing,
            } => {
                let rule = Rule::AtMost {
                    missing_left,
                    zero_is_missing,
                };
                (threshold, rule)
            }
            Test::Listed {
                set,
                listed_left,
                missing_left,
            } => {
                let start = self.words.len();
                self.words.extend(&set);
                self.sets.push(start..self.words.len());
                let rule = Rule::Listed {
                    set: index(self.sets.len() - 1)?,
                    listed_left,
                    missing_left,
                };
                (f64::NAN, rule)
            }
        })
    }

    /// Numbers the features anew, so that only those some tree looks at remain; gives back which.
    pub(crate) fn keep_used_features(&mut self) -> Vec<usize> {
        let mut used: Vec<u32> = self
            .trees
            .iter()
            .flat_map(|tree| tree.features.iter().copied())
            .collect();
        used.sort_unstable();
        used.dedup();
        // Every feature of a node or a tree is in the list.
        let anew = |feature: &mut u32| *feature = used.partition_point(|u| u < feature) as u32;
        self.nodes.iter_mut().for_each(|n| anew(&mut n.feature));
        let features = self.trees.iter_mut().flat_map(|tree| &mut tree.features);
        features.for_each(anew);
        used.into_iter().map(|feature| feature as usize).collect()
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

    /// What a tree adds for each of some rows, given as `width` numbers each.
    pub(crate) fn leaves(&self, tree: usize, rows: &[f64], width: usize, leaves: &mut [f64]) {
        for (chunk, leaves) in leaves.chunks_mut(IN_STEP).enumerate() {
            let rows = &rows[chunk * IN_STEP * width..][..leaves.len() * width];
            let values = self.walk(&self.trees[tree], rows, width, leaves.len());
            leaves.copy_from_slice(&values[..leaves.len()]);
        }
    }

    /// Hot: walks a few rows to their leaves. Without a branch on what a row holds, which could not
    /// be predicted; bounded by the loads of nodes and numbers, of which several are under way.
    fn walk(&self, tree: &Tree, rows: &[f64], width: usize, count: usize) -> [f64; IN_STEP] {
        let mut at = [tree.start; IN_STEP];
        // Fewer rows than places: the last places repeat the last row.
        let starts: [usize; IN_STEP] = std::array::from_fn(|place| place.min(count - 1) * width);
        while at.iter().any(|&at| at < tree.leaves) {
            for (at, start) in at.iter_mut().zip(starts) {
                let node = &self.nodes[*at as usize];
                *at = self.next(node, rows[start + node.feature as usize]);
            }
        }
        at.map(|at| self.nodes[at as usize].number)
    }

    #[inline(always)]
    fn next(&self, node: &Node, x: f64) -> u32 {
        let left = match node.rule {
            Rule::AtMost {
                missing_left,
                zero_is_missing,
            } => {
                let missing = x.is_nan() | (zero_is_missing & (x.abs() <= ZERO));
                ((x <= node.number) & !missing) | (missing_left & missing)
            }
            Rule::Listed {
                set,
                listed_left,
                missing_left,
            } => {
                let words = &self.words[self.sets[set as usize].clone()];
                if x.is_nan() {
                    missing_left
                } else {
                    is_listed(words, x) == listed_left
                }
            }
        };
        node.children[usize::from(!left)]
    }
}

fn index(of: usize) -> Result<u32, String> {
    u32::try_from(of).map_err(|_| "it has more than 2^32 nodes".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Ensemble {
        fn leaf(&self, tree: usize, row: &[f64]) -> f64 {
            let mut leaf = [0.0];
            self.leaves(tree, row, row.len(), &mut leaf);
            leaf[0]
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
        let mut test = Some(test);
        trees
            .add(3, |place| {
                Ok(match place {
                    0 => Place::Split {
                        feature: 0,
                        test: test.take().unwrap(),
                        left: 1,
                        right: 2,
                    },
                    leaf => Place::Leaf(leaf as f64),
                })
            })
            .unwrap();
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
        assert_eq!(trees.keep_used_features(), [3, 7]);
        assert_eq!(trees.features(0), [0, 1]);
        assert_eq!(trees.features(1), [0]);
        assert_eq!(trees.leaf(0, &[6.0, -1.0]), 4.0);
        assert_eq!(trees.leaf(0, &[6.0, 1.0]), 2.0);
        assert_eq!(trees.largest(), 8.0);
    }
}
