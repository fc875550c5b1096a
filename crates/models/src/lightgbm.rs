//! LightGBM's text models: what `Booster.save_model` writes.
//!
//! Read are the boosters gbdt, dart and rf with the objectives `binary` and `cross_entropy`,
//! splits on categories, and the three ways in which LightGBM treats missing values. Categories of
//! a pandas table come from the file's last line; a value that is none of them is missing, as in
//! LightGBM. Names of inputs are the file's, in which LightGBM has replaced each blank by `_`; a
//! column whose name has the blanks is found all the same.

use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;

use serde_json::Value as Json;

use crate::error::OpenError;
use crate::open::{Format, OpenOptions, Spelling};
use crate::trees::{
    Categories, Category, Ensemble, FeatureKind, Input, Inputs, Link, Output, Place, Precision,
    Refused, Test, TreeModel, Unknown,
};

const NAME: &str = "LightGBM";

pub(crate) const FORMAT: Format = Format {
    prefix: "lightgbm",
    usage: "model.txt",
    about: "a LightGBM text model with a binary objective",
    recognises: Some(|_, start| {
        start.starts_with(b"tree\nversion=") || start.starts_with(b"tree\r\nversion=")
    }),
    open: |rest, options| {
        let path = Path::new(rest);
        Ok(TreeModel::open_lightgbm(path, options)?.opened(path))
    },
};

impl TreeModel {
    /// Reads a text model that LightGBM saved.
    pub fn open_lightgbm(path: &Path, options: &OpenOptions) -> Result<Self, OpenError> {
        Self::open(path, options, NAME, read)
    }
}

fn read(bytes: &[u8]) -> Result<TreeModel, Refused> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("it is not text: {error}"))?;
    let file = File::split(text)?;
    let link = link(&file.header)?;
    let features = Features::read(&file)?;

    let mut trees = Ensemble::default();
    for (number, block) in file.trees.iter().enumerate() {
        add(&mut trees, block, features.names.len())
            .map_err(|refused| refused.in_tree(format_args!("{number} (line {})", block.line)))?;
    }
    let output = Output {
        precision: Precision::Double,
        base: 0.0,
        divisor: if file.averages {
            trees.len().max(1) as f64
        } else {
            1.0
        },
        link,
        threshold: None,
    };
    let used = trees.finish();
    let inputs = used.into_iter().map(|feature| Input {
        column: features.names[feature].to_owned(),
        // What LightGBM calls the columns of an array without names.
        unnamed: (features.names[feature] == format!("Column_{feature}")).then_some(feature),
        kind: features.kind(feature),
    });
    let inputs = Inputs {
        inputs: inputs.collect(),
        precision: Precision::Double,
        spelling: Spelling::Blanks,
    };
    Ok(TreeModel::new(NAME, inputs, trees, output))
}

/// Lines `key=value`, and where they start.
#[derive(Debug, Default)]
struct Section<'a> {
    line: usize,
    entries: HashMap<&'a str, (usize, &'a str)>,
}

impl<'a> Section<'a> {
    fn entry(&self, key: &str) -> Result<(usize, &'a str), String> {
        let entry = self.entries.get(key).copied();
        entry.ok_or_else(|| format!("there is no `{key}=`"))
    }

    fn text(&self, key: &str) -> Result<&'a str, String> {
        Ok(self.entry(key)?.1)
    }

    /// A number; `default` if the key is not there.
    fn number<T: FromStr>(&self, key: &str, default: Option<T>) -> Result<T, String> {
        match (self.entry(key), default) {
            (Err(_), Some(default)) => Ok(default),
            (entry, _) => {
                let (line, text) = entry?;
                let number = text.trim().parse();
                number.map_err(|_| format!("line {line}: `{key}={text}` is not a number"))
            }
        }
    }

    /// So many numbers.
    fn numbers<T: FromStr>(&self, key: &str, count: usize) -> Result<Vec<T>, String> {
        let (line, text) = self.entry(key)?;
        let numbers = text
            .split_ascii_whitespace()
            .map(|text| {
                text.parse().map_err(|_| {
                    format!("line {line}: `{text}` in `{key}=` is not a number that fits there")
                })
            })
            .collect::<Result<Vec<T>, String>>()?;
        if numbers.len() == count {
            Ok(numbers)
        } else {
            Err(format!(
                "line {line}: `{key}=` has {} numbers and should have {count}",
                numbers.len()
            ))
        }
    }
}

/// A file in its parts.
struct File<'a> {
    header: Section<'a>,
    averages: bool,
    trees: Vec<Section<'a>>,
    /// `categorical_feature` among the parameters of training.
    categorical: Option<&'a str>,
    pandas_categorical: Option<(usize, &'a str)>,
}

impl<'a> File<'a> {
    fn split(text: &'a str) -> Result<Self, String> {
        let mut file = File {
            header: Section::default(),
            averages: false,
            trees: Vec::new(),
            categorical: None,
            pandas_categorical: None,
        };
        let mut lines = text.lines().enumerate().map(|(n, line)| (n + 1, line));
        if lines.next().is_none_or(|(_, line)| line.trim() != "tree") {
            return Err("line 1: it does not begin with `tree`".to_owned());
        }
        let ended = lines.by_ref().try_fold(false, |_, (number, line)| {
            if line.trim() == "end of trees" {
                return Err(());
            }
            match line.split_once('=') {
                Some(("Tree", _)) => file.trees.push(Section {
                    line: number,
                    entries: HashMap::new(),
                }),
                Some((key, value)) => {
                    let section = file.trees.last_mut().unwrap_or(&mut file.header);
                    section.entries.insert(key.trim(), (number, value));
                }
                None => file.averages |= line.trim() == "average_output",
            }
            Ok(false)
        });
        if ended.is_ok() {
            return Err("it ends before the line `end of trees`: it is cut off".to_owned());
        }
        for (number, line) in lines {
            let line = line.trim();
            if let Some(list) = line.strip_prefix("pandas_categorical:") {
                file.pandas_categorical = Some((number, list));
            } else if let Some(list) = line.strip_prefix("[categorical_feature:") {
                file.categorical = Some(list.trim_end_matches(']'));
            }
        }
        if let Ok(sizes) = file.header.text("tree_sizes") {
            let told = sizes.split_ascii_whitespace().count();
            if told != file.trees.len() {
                return Err(format!(
                    "it has {} trees, and `tree_sizes=` tells of {told}",
                    file.trees.len()
                ));
            }
        }
        Ok(file)
    }
}

/// What the sum of leaves means.
fn link(header: &Section<'_>) -> Result<Link, Refused> {
    let version = header.text("version")?;
    if !["v2", "v3", "v4"].contains(&version.trim()) {
        return Err(Refused::Unsupported(format!(
            "its format is `{version}`, and v2 to v4 are known"
        )));
    }
    let Ok(objective) = header.text("objective") else {
        return Err(Refused::Unsupported(
            "it names no objective, so what its numbers mean is not known; train it with `binary` or `cross_entropy`".to_owned(),
        ));
    };
    let mut words = objective.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    let classes: usize = header.number("num_class", Some(1))?;
    let per_iteration: usize = header.number("num_tree_per_iteration", Some(1))?;
    let scale: f64 = match name {
        "binary" => {
            let sigmoid = words.find_map(|word| word.strip_prefix("sigmoid:"));
            let scale = sigmoid.map_or(Ok(1.0), str::parse);
            scale.map_err(|_| format!("`objective={objective}` has no number after `sigmoid:`"))?
        }
        "cross_entropy" | "xentropy" => 1.0,
        other => {
            return Err(Refused::Unsupported(format!(
                "its objective is `{other}`; models of two classes can be: `binary` or `cross_entropy`"
            )));
        }
    };
    if classes != 1 || per_iteration != 1 {
        return Err(Refused::Unsupported(format!(
            "it has {classes} classes and {per_iteration} trees an iteration; models of two classes have 1 of each"
        )));
    }
    if scale.is_finite() && scale > 0.0 {
        Ok(Link::Logistic { scale })
    } else {
        Err(format!("`sigmoid:{scale}` is not above 0").into())
    }
}

/// The features of a model, used or not.
struct Features<'a> {
    names: Vec<&'a str>,
    categorical: Vec<bool>,
    /// By feature: the categories of the pandas column it was.
    named: Vec<Option<Vec<Category>>>,
}

impl<'a> Features<'a> {
    fn read(file: &File<'a>) -> Result<Self, Refused> {
        let header = &file.header;
        let last: usize = header.number("max_feature_idx", None)?;
        let names: Vec<&str> = header
            .text("feature_names")?
            .split_ascii_whitespace()
            .collect();
        if names.len() != last.saturating_add(1) {
            return Err(format!(
                "`feature_names=` has {} names, and `max_feature_idx=` tells of {}",
                names.len(),
                last.saturating_add(1)
            )
            .into());
        }
        crate::columns::refuse_repeated("feature_names=", &names)?;
        let infos = header.text("feature_infos").unwrap_or_default();
        let mut infos: Vec<Info> = infos.split_ascii_whitespace().map(Info::read).collect();
        infos.resize_with(names.len(), || Info::Nothing);
        let of_training: Option<Vec<usize>> = file.categorical.and_then(|list| {
            let indices = list.split(',').map(|index| index.trim().parse().ok());
            indices.collect()
        });
        let is_categorical = |feature: usize| match &of_training {
            Some(indices) => indices.contains(&feature),
            None => matches!(infos[feature], Info::Categories { .. }),
        };
        let categorical: Vec<bool> = (0..names.len()).map(is_categorical).collect();
        let lists = match file.pandas_categorical {
            Some((line, text)) => pandas_categories(text)
                .map_err(|why| format!("line {line}: `pandas_categorical`: {why}"))?,
            None => Vec::new(),
        };
        let owners = owners(&lists, &categorical, &infos)?;
        let mut named = vec![None; names.len()];
        for (list, feature) in lists.into_iter().zip(owners) {
            named[feature] = Some(list);
        }
        Ok(Self {
            names,
            categorical,
            named,
        })
    }

    fn kind(&self, feature: usize) -> FeatureKind {
        match &self.named[feature] {
            Some(list) => FeatureKind::Categories(Categories::new(list.clone(), Unknown::Missing)),
            None if self.categorical[feature] => FeatureKind::Codes,
            None => FeatureKind::Number,
        }
    }
}

/// What the file tells of a feature's values in training.
#[derive(Debug)]
enum Info {
    /// `none`: it was constant.
    Nothing,
    /// `[0:15]`.
    Range { least: f64, most: f64 },
    /// `-1:0:1:2`.
    Categories { most: f64 },
}

impl Info {
    fn read(text: &str) -> Self {
        let range = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        if let Some((least, most)) = range.and_then(|range| range.split_once(':'))
            && let (Ok(least), Ok(most)) = (least.parse(), most.parse())
        {
            return Self::Range { least, most };
        }
        let codes: Result<Vec<f64>, _> = text.split(':').map(str::parse).collect();
        match codes {
            Ok(codes) if range.is_none() => Self::Categories {
                most: codes.into_iter().fold(-1.0, f64::max),
            },
            _ => Self::Nothing,
        }
    }

    /// Whether the feature can have been a column of so many categories.
    fn fits(&self, categories: usize) -> bool {
        match self {
            Self::Nothing => true,
            Self::Range { least, most } => {
                *least >= 0.0 && *most < categories as f64 && most.fract() == 0.0
            }
            Self::Categories { most } => *most < categories as f64,
        }
    }
}

/// The categories of each categorical column of the pandas table, in order.
fn pandas_categories(text: &str) -> Result<Vec<Vec<Category>>, String> {
    let lists: Option<Vec<Vec<Json>>> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    let category = |json: Json| match json {
        Json::String(text) => Ok(Category::Text(text)),
        Json::Bool(boolean) => Ok(Category::Boolean(boolean)),
        Json::Number(number) => Ok(Category::Number(number.as_f64().unwrap_or(f64::NAN))),
        other => Err(format!("`{other}` is no category")),
    };
    lists
        .unwrap_or_default()
        .into_iter()
        .map(|list| list.into_iter().map(category).collect())
        .collect()
}

/// The feature that each list of categories belongs to.
///
/// The file does not say. Usually the lists are those of the categorical features, in order. If
/// some of these were plain numbers, or an ordered pandas column was used as a number, the lists go
/// to the features whose values they can explain, if there is only one way to do so in order.
fn owners(
    lists: &[Vec<Category>],
    categorical: &[bool],
    infos: &[Info],
) -> Result<Vec<usize>, Refused> {
    let marked: Vec<usize> = (0..categorical.len()).filter(|&f| categorical[f]).collect();
    let fits = |list: &Vec<Category>, feature: usize| infos[feature].fits(list.len());
    let all_fit = || lists.iter().zip(&marked).all(|(list, &f)| fits(list, f));
    if marked.len() == lists.len() && all_fit() {
        return Ok(marked);
    }
    // As early as possible, and as late as possible: if these agree, there is no other way.
    let features = 0..categorical.len();
    let mut left = features.clone();
    let early: Option<Vec<usize>> = lists
        .iter()
        .map(|list| left.find(|&feature| fits(list, feature)))
        .collect();
    let mut right = features.rev();
    let late: Option<Vec<usize>> = lists
        .iter()
        .rev()
        .map(|list| right.find(|&feature| fits(list, feature)))
        .collect();
    match (early, late) {
        (Some(early), Some(late)) if early.iter().eq(late.iter().rev()) => Ok(early),
        _ => Err(Refused::Unsupported(format!(
            "its last line lists the categories of {} pandas columns, and {} features are categorical, so which list is whose cannot be told; make all columns with categories unordered, or pass numbers for all of them, and train again",
            lists.len(),
            marked.len()
        ))),
    }
}

/// Bits of a `decision_type`.
const CATEGORICAL: u8 = 1;
const DEFAULT_LEFT: u8 = 2;

/// Adds a tree.
fn add(trees: &mut Ensemble, block: &Section<'_>, features: usize) -> Result<(), Refused> {
    let leaves: usize = block.number("num_leaves", None)?;
    if block.number("is_linear", Some(0))? != 0 {
        return Err(Refused::Unsupported(
            "its leaves hold linear models; train it without `linear_tree`".to_owned(),
        ));
    }
    // As many as there are, before anything is made of a number in the file.
    let values: Vec<f64> = block.numbers("leaf_value", leaves)?;
    if leaves == 0 {
        return Err("`num_leaves=` is 0".to_owned().into());
    }
    let splits = leaves - 1;
    if splits == 0 {
        return Ok(trees.add(1, |_| Ok(Place::Leaf(values[0])))?);
    }
    let feature: Vec<usize> = block.numbers("split_feature", splits)?;
    let threshold: Vec<f64> = block.numbers("threshold", splits)?;
    let decision: Vec<u8> = block.numbers("decision_type", splits)?;
    let left: Vec<i64> = block.numbers("left_child", splits)?;
    let right: Vec<i64> = block.numbers("right_child", splits)?;
    let sets = Sets::read(block)?;

    // Splits first, then leaves.
    let child = |child: i64| {
        let place = if child < 0 {
            usize::try_from(!child).map(|leaf| leaf.saturating_add(splits))
        } else {
            usize::try_from(child).map(|split| if split < splits { split } else { usize::MAX })
        };
        place
            .ok()
            .filter(|&place| place < splits + leaves)
            .ok_or_else(|| format!("a split leads to {child}, where nothing is"))
    };
    let place = |at: usize| {
        if at >= splits {
            return Ok(Place::Leaf(values[at - splits]));
        }
        if feature[at] >= features {
            return Err(format!(
                "split {at} looks at feature {}, of {features}",
                feature[at]
            ));
        }
        let missing_left = decision[at] & DEFAULT_LEFT != 0;
        let test = if decision[at] & CATEGORICAL != 0 {
            Test::Listed {
                set: sets
                    .get(threshold[at])
                    .ok_or_else(|| format!("split {at} has no set of categories"))?,
                listed_left: true,
                missing_left: false,
            }
        } else {
            let threshold = threshold[at];
            if threshold.is_nan() {
                return Err(format!("split {at} has no threshold"));
            }
            let missing = decision[at] >> 2 & 3;
            if missing == 3 {
                return Err(format!(
                    "split {at} has the decision type {}, which is not known",
                    decision[at]
                ));
            }
            Test::AtMost {
                threshold,
                // No missing values in training: they are taken for 0.
                missing_left: if missing == 0 {
                    0.0 <= threshold
                } else {
                    missing_left
                },
                zero_is_missing: missing == 1,
            }
        };
        Ok(Place::Split {
            feature: feature[at],
            test,
            left: child(left[at])?,
            right: child(right[at])?,
        })
    };
    Ok(trees.add(splits + leaves, place)?)
}

/// The sets of categories of a tree.
struct Sets {
    bounds: Vec<usize>,
    words: Vec<u32>,
}

impl Sets {
    fn read(block: &Section<'_>) -> Result<Self, String> {
        let sets: usize = block.number("num_cat", Some(0))?;
        if sets == 0 {
            return Ok(Self {
                bounds: Vec::new(),
                words: Vec::new(),
            });
        }
        let bounds: Vec<usize> = block.numbers("cat_boundaries", sets.saturating_add(1))?;
        let words = block.numbers("cat_threshold", bounds[sets])?;
        Ok(Self { bounds, words })
    }

    fn get(&self, set: f64) -> Option<Vec<u32>> {
        let set = Some(set as usize).filter(|_| set >= 0.0)?;
        let (start, end) = (*self.bounds.get(set)?, *self.bounds.get(set + 1)?);
        self.words.get(start..end).map(<[u32]>::to_vec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trees::{Rows, assert_survives};

    const TEXT: &[u8] = include_bytes!("../tests/support/trees_fixture/lightgbm.txt");

    #[test]
    fn no_damage_is_fatal() {
        assert_survives(TEXT, read);
    }

    #[test]
    fn windows_line_ends_are_read() {
        let text = std::str::from_utf8(TEXT).unwrap().replace('\n', "\r\n");
        let (ours, theirs) = (read(text.as_bytes()), read(TEXT));
        assert_eq!(ours.unwrap().inputs(), theirs.unwrap().inputs());
        assert!(FORMAT.fits(Path::new("model"), text.as_bytes()));
    }

    fn list(categories: usize) -> Vec<Category> {
        vec![Category::Boolean(true); categories]
    }

    #[test]
    fn lists_of_categories_go_to_the_features_they_explain() {
        let infos: Vec<Info> = ["[0:99.5]", "-1:0:1:2", "[0:3]", "none", "[-1:4]"]
            .into_iter()
            .map(Info::read)
            .collect();
        let categorical = [false, true, false, false, false];
        let whose = |lists: &[Vec<Category>]| owners(lists, &categorical, &infos).ok();
        assert_eq!(whose(&[]), Some(vec![]));
        assert_eq!(whose(&[list(3)]), Some(vec![1]));
        // An ordered column beside it, before a constant one that may have been anything.
        assert_eq!(whose(&[list(3), list(4), list(1)]), Some(vec![1, 2, 3]));
        assert_eq!(whose(&[list(3), list(4)]), None);
        assert_eq!(whose(&[list(2), list(2)]), None);
    }

    #[test]
    fn categories_of_pandas_are_of_many_types() {
        let lists = pandas_categories(r#"[["a", "b"], [1, 2.5], [false]]"#).unwrap();
        assert_eq!(lists[0][1], Category::Text("b".into()));
        assert_eq!(lists[1], [Category::Number(1.0), Category::Number(2.5)]);
        assert_eq!(lists[2], [Category::Boolean(false)]);
        assert!(pandas_categories("null").unwrap().is_empty());
        assert_eq!(
            pandas_categories("[[[1]]]").unwrap_err(),
            "`[1]` is no category"
        );
    }

    /// One split on one feature: to the left 1, to the right 2.
    fn stump(decision_type: u8, threshold: f64) -> Ensemble {
        let text = format!(
            "num_leaves=2\nsplit_feature=0\nthreshold={threshold}\ndecision_type={decision_type}\n\
             left_child=-1\nright_child=-2\nleaf_value=1 2"
        );
        let entries = text.lines().zip(2..).map(|(line, number)| {
            let (key, value) = line.split_once('=').unwrap();
            (key, (number, value))
        });
        let block = Section {
            line: 1,
            entries: entries.collect(),
        };
        let mut trees = Ensemble::default();
        add(&mut trees, &block, 1).unwrap();
        trees.finish();
        trees
    }

    #[test]
    fn decision_types_direct_missing_values() {
        const NAN: f64 = f64::NAN;
        for (decision_type, threshold, x, leaf) in [
            // No missing values in training: as 0.
            (0, 0.5, NAN, 1.0),
            (2, -0.5, NAN, 2.0),
            // Zeros are missing, and the missing are zeros.
            (4, 0.5, 0.0, 2.0),
            (6, -0.5, 0.0, 1.0),
            (6, -0.5, NAN, 1.0),
            // NaN is missing, 0 is not.
            (8, 0.5, NAN, 2.0),
            (10, -0.5, NAN, 1.0),
            (10, -0.5, 0.0, 2.0),
        ] {
            let mut answer = [0.0];
            let stump = stump(decision_type, threshold);
            let rows = Rows {
                classes: &[stump.class(0, x)],
                apart: 1,
            };
            stump.leaves(0, rows, &mut Vec::new(), &mut answer);
            assert_eq!(answer, [leaf], "{decision_type} {threshold} {x}");
        }
    }
}
