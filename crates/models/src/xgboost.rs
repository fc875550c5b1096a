//! XGBoost's JSON and UBJSON models: what `Booster.save_model` writes.
//!
//! Read are the boosters gbtree and dart with the objectives `binary:logistic`, `reg:logistic`,
//! `binary:logitraw` and `binary:hinge`. A classifier that was stopped early uses its trees up to
//! the best iteration, as XGBoost's own does. With `binary:logitraw` the answer is yes above a
//! probability of one half, which is above log-odds of 0. (The classifier of XGBoost's Python
//! package compares the log-odds to one half.)
//!
//! Since 3.1, XGBoost keeps the names of categories in the model; text is looked up among them, and
//! other text is refused, as XGBoost does. Models without names take the numbers of categories.
//! Missing values are nulls and NaN; a `missing=` of the Python classes is not part of a model.

mod ubjson;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::OpenError;
use crate::open::{self, Format, OpenOptions, Spelling};
use crate::trees::{
    Categories, Category, Ensemble, FeatureKind, Input, Inputs, Link, Output, Place, Precision,
    Refused, Test, TreeModel, Unknown,
};

const NAME: &str = "XGBoost";

pub(crate) const FORMAT: Format = Format {
    prefix: "xgboost",
    usage: "model.json",
    about: "an XGBoost model with a binary objective, as JSON or UBJSON",
    recognises: Some(|_, start| is_ubjson(start) || is_json(start)),
    open: |rest, options| {
        let path = Path::new(rest);
        Ok(TreeModel::open_xgboost(path, options)?.opened(path))
    },
};

impl TreeModel {
    /// Reads a model that XGBoost saved as JSON or UBJSON.
    pub fn open_xgboost(path: &Path, options: &OpenOptions) -> Result<Self, OpenError> {
        Self::open(path, options, NAME, read)
    }
}

/// A UBJSON object whose first key has its length in one of the integer types, and is `learner` or
/// `version`: XGBoost sorts its keys, others may not.
fn is_ubjson(start: &[u8]) -> bool {
    let [b'{', length, rest @ ..] = start else {
        return false;
    };
    let width = match length {
        b'i' | b'U' => 1,
        b'I' => 2,
        b'l' => 4,
        b'L' => 8,
        _ => return false,
    };
    rest.get(width..)
        .is_some_and(|key| key.starts_with(b"learner") || key.starts_with(b"version"))
}

/// A JSON object with a `learner`.
fn is_json(start: &[u8]) -> bool {
    open::top_names(start).iter().any(|name| name == "learner")
}

fn read(bytes: &[u8]) -> Result<TreeModel, Refused> {
    let file: File = if is_ubjson(bytes) {
        ubjson::read(bytes).map_err(|error| error.to_string())?
    } else if bytes.starts_with(b"binf") || bytes.starts_with(b"bs64") {
        return Err(Refused::Unsupported(
            "it is in XGBoost's old binary format; load it and save it again as `.json` or `.ubj`"
                .to_owned(),
        ));
    } else {
        serde_json::from_slice(&as_json(bytes)).map_err(|error| error.to_string())?
    };
    file.learner.model()
}

/// XGBoost writes `NaN` and `Infinity` where JSON knows only `null`: 2.x as the thresholds of splits
/// on categories, which have none.
fn as_json(bytes: &[u8]) -> Cow<'_, [u8]> {
    const NO_NUMBERS: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
    let mut json: Vec<u8> = Vec::new();
    let (mut copied, mut at, mut in_text) = (0, 0, false);
    while at < bytes.len() {
        let rest = &bytes[at..];
        match rest[0] {
            b'"' => in_text = !in_text,
            b'\\' if in_text => at += 1,
            b'N' | b'I' | b'-' if !in_text => {
                if let Some(word) = NO_NUMBERS.iter().find(|word| rest.starts_with(word)) {
                    json.extend(&bytes[copied..at]);
                    json.extend(b"null");
                    copied = at + word.len();
                    at = copied - 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    if copied == 0 {
        return Cow::Borrowed(bytes);
    }
    json.extend(&bytes[copied..]);
    Cow::Owned(json)
}

#[derive(Deserialize)]
struct File {
    learner: Learner,
}

#[derive(Deserialize)]
struct Learner {
    #[serde(default)]
    attributes: HashMap<String, String>,
    #[serde(default)]
    feature_names: Vec<String>,
    #[serde(default)]
    feature_types: Vec<String>,
    gradient_booster: Booster,
    learner_model_param: LearnerParameters,
    objective: Objective,
}

#[derive(Deserialize)]
struct LearnerParameters {
    base_score: String,
    #[serde(default)]
    num_class: String,
    num_feature: String,
    #[serde(default)]
    num_target: String,
}

#[derive(Deserialize)]
struct Objective {
    name: String,
}

#[derive(Deserialize)]
struct Booster {
    name: String,
    /// Of gbtree.
    model: Option<Forest>,
    /// Of dart.
    gbtree: Option<Inner>,
    #[serde(default)]
    weight_drop: Vec<f32>,
}

#[derive(Deserialize)]
struct Inner {
    model: Forest,
}

#[derive(Deserialize)]
struct Forest {
    #[serde(default)]
    gbtree_model_param: ForestParameters,
    #[serde(default)]
    iteration_indptr: Vec<usize>,
    #[serde(default)]
    tree_info: Vec<i64>,
    #[serde(default)]
    trees: Vec<Tree>,
    #[serde(default)]
    cats: CategoryNames,
}

#[derive(Default, Deserialize)]
struct ForestParameters {
    #[serde(default)]
    num_parallel_tree: String,
    #[serde(default)]
    num_trees: String,
}

#[derive(Default, Deserialize)]
struct CategoryNames {
    #[serde(default)]
    enc: Vec<Encoding>,
}

/// The names of a feature's categories: numbers, or the bytes of all names after each other with
/// the places where they begin and end.
#[derive(Deserialize)]
struct Encoding {
    offsets: Option<Vec<usize>>,
    #[serde(default)]
    values: Vec<f64>,
}

#[derive(Deserialize)]
struct Tree {
    left_children: Vec<i64>,
    right_children: Vec<i64>,
    split_indices: Vec<i64>,
    /// Thresholds of splits, values of leaves.
    split_conditions: Vec<Option<f32>>,
    default_left: Vec<Flag>,
    #[serde(default)]
    split_type: Vec<u8>,
    #[serde(default)]
    categories: Vec<i64>,
    #[serde(default)]
    categories_nodes: Vec<usize>,
    #[serde(default)]
    categories_segments: Vec<usize>,
    #[serde(default)]
    categories_sizes: Vec<usize>,
    #[serde(default)]
    tree_param: TreeParameters,
}

#[derive(Default, Deserialize)]
struct TreeParameters {
    #[serde(default)]
    size_leaf_vector: String,
}

/// A boolean, or the number that XGBoost writes for one since 1.6.
#[derive(Clone, Copy)]
struct Flag(bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Flag;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a boolean, 0 or 1")
            }
            fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Flag, E> {
                Ok(Flag(flag))
            }
            fn visit_u64<E: de::Error>(self, flag: u64) -> Result<Flag, E> {
                Ok(Flag(flag != 0))
            }
            fn visit_i64<E: de::Error>(self, flag: i64) -> Result<Flag, E> {
                Ok(Flag(flag != 0))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl Learner {
    fn model(self) -> Result<TreeModel, Refused> {
        let (link, base) = self.link_and_base()?;
        let features = number("num_feature", &self.learner_model_param.num_feature, 0)?;
        if !self.feature_names.is_empty() && self.feature_names.len() != features {
            return Err(format!(
                "`feature_names` has {} names, and `num_feature` is {features}",
                self.feature_names.len()
            )
            .into());
        }
        crate::columns::refuse_repeated("feature_names", &self.feature_names)?;
        let (forest, weights) = match self.gradient_booster {
            Booster {
                name,
                model: Some(model),
                ..
            } if name == "gbtree" => (model, None),
            Booster {
                name,
                gbtree: Some(inner),
                weight_drop,
                ..
            } if name == "dart" => (inner.model, Some(weight_drop)),
            Booster { name, .. } if name == "gbtree" || name == "dart" => {
                return Err(format!("`gradient_booster` is `{name}` and has no `model`").into());
            }
            Booster { name, .. } => {
                return Err(Refused::Unsupported(format!(
                    "its booster is `{name}`; `gbtree` and `dart` can be"
                )));
            }
        };
        if weights
            .as_ref()
            .is_some_and(|w| w.len() != forest.trees.len())
        {
            return Err("`weight_drop` has not one weight a tree".to_owned().into());
        }
        forest.check()?;

        let mut trees = Ensemble::default();
        let used = forest.trees_of(&self.attributes)?;
        for (number, tree) in forest.trees[..used].iter().enumerate() {
            let weight = weights.as_ref().map_or(1.0, |weights| weights[number]);
            tree.add(&mut trees, weight, features)
                .map_err(|refused| refused.in_tree(number))?;
        }
        let inputs = trees.finish().into_iter().map(|feature| {
            let categorical = self.feature_types.get(feature).is_some_and(|t| t == "c");
            let names = forest.cats.enc.get(feature).filter(|_| categorical);
            let names = names.map_or(Ok(Vec::new()), |encoding| {
                encoding
                    .names()
                    .map_err(|why| format!("the categories of feature {feature}: {why}"))
            })?;
            let name = self.feature_names.get(feature);
            Ok(Input {
                column: name.cloned().unwrap_or_else(|| format!("f{feature}")),
                unnamed: name.is_none().then_some(feature),
                kind: match (categorical, names.is_empty()) {
                    (false, _) => FeatureKind::Number,
                    (true, true) => FeatureKind::Codes,
                    (true, false) => {
                        FeatureKind::Categories(Categories::new(names, Unknown::Refused))
                    }
                },
            })
        });
        let inputs = Inputs {
            inputs: inputs.collect::<Result<_, String>>()?,
            precision: Precision::Single,
            spelling: Spelling::Exact,
        };
        let output = Output {
            precision: Precision::Single,
            base: f64::from(base),
            divisor: 1.0,
            link,
            threshold: None,
        };
        Ok(TreeModel::new(NAME, inputs, trees, output))
    }

    /// What the sum of leaves means, and with what it begins.
    fn link_and_base(&self) -> Result<(Link, f32), Refused> {
        let parameters = &self.learner_model_param;
        let link = match self.objective.name.as_str() {
            "binary:logistic" | "reg:logistic" | "binary:logitraw" => Link::Logistic { scale: 1.0 },
            "binary:hinge" => Link::Sign,
            other => {
                return Err(Refused::Unsupported(format!(
                    "its objective is `{other}`; models of two classes can be: `binary:logistic`, `binary:logitraw`, `binary:hinge` or `reg:logistic`"
                )));
            }
        };
        let classes = number("num_class", &parameters.num_class, 0)?;
        let targets = number("num_target", &parameters.num_target, 1)?;
        if classes > 1 || targets > 1 {
            return Err(Refused::Unsupported(format!(
                "it has {classes} classes and {targets} targets; models of two classes have 0 and 1"
            )));
        }
        // Since 3.1 in brackets, as a list of one.
        let text = parameters.base_score.trim();
        let one = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        let base: f32 = one
            .unwrap_or(text)
            .trim()
            .parse()
            .ok()
            .filter(|base: &f32| base.is_finite())
            .ok_or_else(|| format!("`base_score` is `{text}`, which is not a number"))?;
        // A probability, which only the objectives that answer with one turn into log-odds.
        if link == Link::Sign || self.objective.name == "binary:logitraw" {
            return Ok((link, base));
        }
        if base > 0.0 && base < 1.0 {
            Ok((link, -(1.0 / base - 1.0).ln()))
        } else {
            Err(format!("`base_score` is {text}, which is not between 0 and 1").into())
        }
    }
}

/// A number that XGBoost writes as text.
fn number(key: &str, text: &str, default: usize) -> Result<usize, String> {
    match text.trim() {
        "" => Ok(default),
        text => text
            .parse()
            .map_err(|_| format!("`{key}` is `{text}`, which is not a number")),
    }
}

impl Forest {
    fn check(&self) -> Result<(), Refused> {
        let told = number(
            "num_trees",
            &self.gbtree_model_param.num_trees,
            self.trees.len(),
        )?;
        if told != self.trees.len() {
            let trees = self.trees.len();
            return Err(format!("it has {trees} trees, and `num_trees` is {told}").into());
        }
        if self.tree_info.iter().any(|&class| class != 0) {
            return Err(Refused::Unsupported(
                "its trees are for several classes; models of two classes can be".to_owned(),
            ));
        }
        Ok(())
    }

    /// How many trees a prediction uses: all, or those up to the best iteration if a classifier of
    /// the Python package was stopped early.
    fn trees_of(&self, attributes: &HashMap<String, String>) -> Result<usize, String> {
        let all = self.trees.len();
        let (Some(best), true) = (
            attributes.get("best_iteration"),
            attributes.contains_key("scikit_learn"),
        ) else {
            return Ok(all);
        };
        let iterations = number("best_iteration", best, 0)?.saturating_add(1);
        let end = match self.iteration_indptr.get(iterations) {
            Some(&end) => end,
            None => {
                let parallel = &self.gbtree_model_param.num_parallel_tree;
                iterations.saturating_mul(number("num_parallel_tree", parallel, 1)?)
            }
        };
        Ok(end.min(all))
    }
}

impl Encoding {
    fn names(&self) -> Result<Vec<Category>, String> {
        let Some(offsets) = &self.offsets else {
            let numbers = self.values.iter().map(|&number| Category::Number(number));
            return Ok(numbers.collect());
        };
        // Written as signed bytes.
        let bytes: Vec<u8> = self.values.iter().map(|&byte| byte as i64 as u8).collect();
        let names = offsets.windows(2).map(|ends| {
            let name = bytes.get(ends[0]..ends[1]);
            let name = name.ok_or("`offsets` leave the names")?;
            let name = std::str::from_utf8(name).map_err(|_| {
                "a name is cut off inside a letter; XGBoost does so to names that are not plain ASCII when it is trained from pandas: rename them and train again"
            })?;
            Ok(Category::Text(name.to_owned()))
        });
        names.collect::<Result<_, &str>>().map_err(str::to_owned)
    }
}

/// The categories beyond which a 32-bit float cannot count.
const MOST_CATEGORIES: i64 = 1 << 24;

impl Tree {
    fn add(&self, trees: &mut Ensemble, weight: f32, features: usize) -> Result<(), Refused> {
        let nodes = self.left_children.len();
        let lengths = [
            ("right_children", self.right_children.len()),
            ("split_indices", self.split_indices.len()),
            ("split_conditions", self.split_conditions.len()),
            ("default_left", self.default_left.len()),
        ];
        if let Some((key, length)) = lengths.iter().find(|(_, length)| *length != nodes) {
            return Err(
                format!("`{key}` has {length} entries, and `left_children` {nodes}").into(),
            );
        }
        if number("size_leaf_vector", &self.tree_param.size_leaf_vector, 1)? > 1 {
            return Err(Refused::Unsupported(
                "its leaves hold several numbers; models of one output can be".to_owned(),
            ));
        }
        let sets: HashMap<usize, usize> = self.categories_nodes.iter().copied().zip(0..).collect();
        let child = |at: usize, child: i64| {
            usize::try_from(child).map_err(|_| format!("node {at} has one child only"))
        };
        let place = |at: usize| {
            let (left, right) = (self.left_children[at], self.right_children[at]);
            let condition = self.split_conditions[at].unwrap_or(f32::NAN);
            if left == -1 && right == -1 {
                return Ok(Place::Leaf(f64::from(weight * condition)));
            }
            let feature = usize::try_from(self.split_indices[at]).ok();
            let feature = feature.filter(|&f| f < features).ok_or_else(|| {
                let feature = self.split_indices[at];
                format!("node {at} looks at feature {feature}, of {features}")
            })?;
            let missing_left = self.default_left[at].0;
            let test = match self.split_type.get(at) {
                None | Some(0) => Test::AtMost {
                    threshold: just_below(condition)
                        .ok_or_else(|| format!("node {at} has no threshold"))?,
                    missing_left,
                    zero_is_missing: false,
                },
                Some(1) => Test::Listed {
                    set: sets
                        .get(&at)
                        .ok_or_else(|| format!("node {at} has no categories"))
                        .and_then(|&set| self.set(set))?,
                    listed_left: false,
                    missing_left,
                },
                Some(other) => return Err(format!("node {at} has a split of type {other}")),
            };
            Ok(Place::Split {
                feature,
                test,
                left: child(at, left)?,
                right: child(at, right)?,
            })
        };
        Ok(trees.add(nodes, place)?)
    }

    /// The categories of a split, bit by bit.
    fn set(&self, set: usize) -> Result<Vec<u32>, String> {
        let start = self.categories_segments.get(set).copied();
        let size = self.categories_sizes.get(set).copied();
        let listed = start
            .zip(size)
            .and_then(|(start, size)| self.categories.get(start..start.checked_add(size)?));
        let mut words = Vec::new();
        for &category in listed.ok_or("its `categories_segments` leave `categories`")? {
            if !(0..=MOST_CATEGORIES).contains(&category) {
                return Err(format!("{category} is no category"));
            }
            let word = (category / 32) as usize;
            if words.len() <= word {
                words.resize(word + 1, 0);
            }
            words[word] |= 1 << (category % 32);
        }
        Ok(words)
    }
}

/// XGBoost goes left *below* a threshold. Among 32-bit floats that is to be at most the float
/// before it; below the least of all there is nothing, and nothing is at most NaN.
fn just_below(threshold: f32) -> Option<f64> {
    match threshold {
        t if t.is_nan() => None,
        f32::NEG_INFINITY => Some(f64::NAN),
        t => Some(f64::from(t.next_down())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trees::assert_survives;

    const JSON: &[u8] = include_bytes!("../tests/support/trees_fixture/xgboost.json");
    const UBJSON: &[u8] = include_bytes!("../tests/support/trees_fixture/xgboost.ubj");

    #[test]
    fn no_damage_is_fatal() {
        assert_survives(JSON, read);
        assert_survives(UBJSON, read);
    }

    #[test]
    fn what_is_no_number_becomes_null() {
        let json = |text: &'static str| as_json(text.as_bytes());
        assert_eq!(&*json(r#"[NaN,1,-Infinity]"#), br#"[null,1,null]"#);
        assert_eq!(&*json(r#"{"a":Infinity}"#), br#"{"a":null}"#);
        let text = r#"["NaN","\"NaN","\\",-1,"-Infinity"]"#;
        assert!(matches!(json(text), Cow::Borrowed(_)));
    }

    /// 2.x writes no thresholds for splits on categories.
    #[test]
    fn splits_on_categories_need_no_threshold() {
        let text = std::str::from_utf8(JSON).unwrap();
        let without = text.replace(",1E-45", ",NaN");
        assert_ne!(text, without);
        let (ours, theirs) = (read(without.as_bytes()), read(JSON));
        assert_eq!(
            format!("{:?}", ours.unwrap()),
            format!("{:?}", theirs.unwrap())
        );
    }

    #[test]
    fn below_is_at_most_the_float_before() {
        for threshold in [0.0, -0.0, 1.5, -7.25, f32::MIN, f32::MAX, f32::INFINITY] {
            let at_most = just_below(threshold).unwrap();
            for x in [
                threshold,
                threshold.next_down(),
                threshold.next_up(),
                0.0,
                -0.0,
            ] {
                assert_eq!(f64::from(x) <= at_most, x < threshold, "{x} {threshold}");
            }
        }
        let never = just_below(f32::NEG_INFINITY).unwrap();
        assert!(never.is_nan());
        assert_eq!(just_below(f32::NAN), None);
    }

    #[test]
    fn models_are_told_by_their_first_bytes() {
        for start in [JSON, UBJSON, b" {\n \"learner\": {", b"{i\x07learner"] {
            assert!(FORMAT.fits(Path::new("model"), start));
        }
        let others: [&[u8]; 5] = [b"", b"{", b"{L", b"tree\nversion=v4", b"{\"intercept\": 1}"];
        for start in others {
            assert!(!FORMAT.fits(Path::new("model.json"), start));
        }
    }
}
