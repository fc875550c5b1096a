//! From the table's columns to the model's tensors.
//!
//! A model takes one tensor a column, or several columns side by side in one, or both. Which
//! column feeds what is settled when the model is opened; of each batch every distinct value is then cast
//! once, and rows take what it became.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use facts_engine::flips::ModelError;
use ort::value::{DynValue, PrimitiveTensorElementType, Tensor, TensorElementType};

use super::Port;
use super::texts::Texts;
use crate::cells::{Cell, Cells, numbered};
use crate::columns::{find, not_given};
use crate::open::{Input, InputKind, OpenOptions, Spelling};

/// One of the model's inputs and the columns that feed it.
#[derive(Debug)]
pub(super) struct Feed {
    name: String,
    element: TensorElementType,
    /// Whether the tensor has a second dimension.
    wide: bool,
    columns: Vec<String>,
}

/// Finds the columns of each input, or says what to give.
///
/// `named` is what the file itself says about the order of the columns of an input.
pub(super) fn bind(
    ports: &[Port],
    named: &Named,
    options: &OpenOptions,
) -> Result<Vec<Feed>, String> {
    let mut order = options.order.iter();
    let mut feeds = Vec::with_capacity(ports.len());
    for port in ports {
        let name = port.name.as_str();
        let (element, shape) = match (port.holds.tensor_type(), port.holds.tensor_shape()) {
            (Some(element), Some(shape)) => (element, shape),
            _ => {
                return Err(format!(
                    "its input `{name}` is a {}, and only tensors can be fed from a table",
                    port.holds
                ));
            }
        };
        if !is_supported(element) {
            return Err(format!(
                "its input `{name}` takes {element}; inputs of float, double, int32, int64, bool and string can be fed from a table"
            ));
        }
        if shape.len() > 2 {
            return Err(format!(
                "its input `{name}` has {} dimensions; a table feeds one or two",
                shape.len()
            ));
        }
        if let Some(&rows) = shape.first()
            && rows >= 0
        {
            return Err(format!(
                "its input `{name}` takes exactly {rows} rows at a time; export the model with a batch dimension that is left open (None in skl2onnx, dynamic_axes in PyTorch)"
            ));
        }
        let width = match shape.get(1) {
            None => Some(1),
            Some(&width) => usize::try_from(width).ok(),
        };
        let renamed = |input: &str| options.columns.get(input).cloned();
        let columns = match width {
            Some(1) => {
                let own = || named.get(name).and_then(|names| names.first().cloned());
                vec![
                    renamed(name)
                        .or_else(own)
                        .unwrap_or_else(|| name.to_owned()),
                ]
            }
            width if !options.order.is_empty() => {
                let width = width.unwrap_or(order.len());
                let columns: Vec<String> = order.by_ref().take(width).cloned().collect();
                if columns.len() < width || columns.is_empty() {
                    return Err(format!(
                        "its input `{name}` takes {width} columns, and the order given has only {} for it; give the table's columns in the order in which the model was trained on them",
                        columns.len()
                    ));
                }
                columns
            }
            width => {
                let by_position = |at: usize| renamed(&format!("{name}[{at}]"));
                let own = named.get(name);
                let width = width
                    .or(own.map(Vec::len))
                    .unwrap_or_else(|| (0..).take_while(|&at| by_position(at).is_some()).count());
                let own_at = |at: usize| {
                    let own = own?.get(at)?;
                    Some(renamed(own).unwrap_or_else(|| own.clone()))
                };
                let columns: Option<Vec<String>> = (0..width)
                    .map(|at| by_position(at).or_else(|| own_at(at)))
                    .collect();
                columns.filter(|c| !c.is_empty()).ok_or_else(|| {
                    format!(
                        "its input `{name}` takes {} side by side, and the file does not say which; give the table's columns in the order in which the model was trained on them, or add them to the file as the metadata property `feature_names`",
                        match width {
                            0 => "several columns".to_owned(),
                            width => format!("{width} columns"),
                        }
                    )
                })?
            }
        };
        feeds.push(Feed {
            name: name.to_owned(),
            element,
            wide: shape.len() != 1,
            columns,
        });
    }
    let left: Vec<&str> = order.map(String::as_str).collect();
    if !left.is_empty() {
        return Err(format!(
            "the order given has {} columns more than its inputs take: {}",
            left.len(),
            left.join(", ")
        ));
    }
    Ok(feeds)
}

fn is_supported(element: TensorElementType) -> bool {
    use TensorElementType::{Bool, Float32, Float64, Int32, Int64, String};
    matches!(element, Float32 | Float64 | Int32 | Int64 | Bool | String)
}

/// The columns of each input, where the file names them.
pub(super) type Named = BTreeMap<String, Vec<String>>;

/// Reads the metadata property `feature_names`: a JSON object of lists by input, or one list (as
/// JSON, or with commas) for the only input that takes several columns.
pub(super) fn named(property: &str, ports: &[Port]) -> Result<Named, String> {
    if let Ok(named) = serde_json::from_str::<Named>(property) {
        return Ok(named);
    }
    let list: Vec<String> = match serde_json::from_str(property) {
        Ok(list) => list,
        Err(_) if property.trim_start().starts_with(['[', '{']) => {
            return Err("its metadata property `feature_names` is neither a JSON list of names nor an object of such lists by input".to_owned());
        }
        Err(_) => property.split(',').map(|n| n.trim().to_owned()).collect(),
    };
    let several = |port: &&Port| {
        let shape = port.holds.tensor_shape();
        shape.is_some_and(|shape| shape.len() == 2 && shape[1] != 1)
    };
    match ports.iter().filter(several).collect::<Vec<_>>()[..] {
        [] => Ok(Named::new()),
        [only] => Ok(Named::from([(only.name.clone(), list)])),
        _ => Err("its metadata property `feature_names` is one list, but several inputs take several columns; write an object of lists by input".to_owned()),
    }
}

impl Feed {
    /// The input's name in the model.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What the input reads, column by column.
    pub(super) fn reads(&self) -> impl Iterator<Item = Input> {
        let kind = match self.element {
            TensorElementType::String => InputKind::Text(None),
            TensorElementType::Bool => InputKind::Any,
            _ => InputKind::Number,
        };
        self.columns.iter().map(move |column| Input {
            column: column.clone(),
            kind: kind.clone(),
            spelling: Spelling::Exported,
        })
    }

    /// The rows as the tensor that the input takes; one of text is made by `texts`.
    pub(super) fn tensor(
        &self,
        rows: &RecordBatch,
        texts: &mut Texts,
    ) -> Result<DynValue, ModelError> {
        match self.element {
            TensorElementType::Float32 => self.primitive(rows, |cell| cell.float()),
            TensorElementType::Float64 => self.primitive(rows, |cell| cell.double()),
            TensorElementType::Int32 => self.primitive(rows, |cell| {
                let number = cell.integer()?;
                i32::try_from(number).map_err(|_| format!("{number} does not fit 32 bits"))
            }),
            TensorElementType::Int64 => self.primitive(rows, |cell| cell.integer()),
            TensorElementType::Bool => self.primitive(rows, |cell| cell.boolean()),
            // Others were refused when the model was opened.
            _ => {
                let (all, places) = self.texts(rows)?;
                let tensor = texts.tensor(&all, places, self.shape(rows));
                tensor.map_err(|error| self.failed(&error))
            }
        }
    }

    fn primitive<T: PrimitiveTensorElementType + Clone + Default + std::fmt::Debug + 'static>(
        &self,
        rows: &RecordBatch,
        cast: impl Fn(Cell<'_>) -> Result<T, String>,
    ) -> Result<DynValue, ModelError> {
        let data = self.cells(rows, cast)?;
        Tensor::from_array((self.shape(rows), data))
            .map(|tensor| tensor.into_dyn())
            .map_err(|error| self.failed(&error))
    }

    /// All cells, row by row.
    fn cells<T: Clone + Default>(
        &self,
        rows: &RecordBatch,
        cast: impl Fn(Cell<'_>) -> Result<T, String>,
    ) -> Result<Vec<T>, ModelError> {
        let mut data = vec![T::default(); rows.num_rows() * self.columns.len()];
        self.each_column(rows, cast, |values, of_rows, at| {
            let places = data.iter_mut().skip(at).step_by(self.columns.len());
            for (place, value) in places.zip(of_rows) {
                *place = values[value as usize].clone();
            }
        })?;
        Ok(data)
    }

    /// The distinct texts, and for each cell, row by row, where its own stands among them.
    fn texts(&self, rows: &RecordBatch) -> Result<(Vec<String>, Vec<i32>), ModelError> {
        let mut texts = Vec::new();
        let mut data = vec![0; rows.num_rows() * self.columns.len()];
        self.each_column(
            rows,
            |cell| cell.text(),
            |values, of_rows, at| {
                let places = data.iter_mut().skip(at).step_by(self.columns.len());
                for (place, value) in places.zip(of_rows) {
                    *place = texts.len() as i32 + value as i32;
                }
                texts.extend(values);
            },
        )?;
        Ok((texts, data))
    }

    fn failed(&self, error: &ort::Error) -> ModelError {
        ModelError::Failed(format!(
            "input `{}` cannot be filled: {}",
            self.name,
            error.message()
        ))
    }

    fn shape(&self, rows: &RecordBatch) -> Vec<usize> {
        if self.wide {
            vec![rows.num_rows(), self.columns.len()]
        } else {
            vec![rows.num_rows()]
        }
    }

    /// Casts column by column, and hands on what the values became, which of it each row has, and the
    /// place of the column among those of the input.
    fn each_column<T>(
        &self,
        rows: &RecordBatch,
        cast: impl Fn(Cell<'_>) -> Result<T, String>,
        mut hand_on: impl FnMut(Vec<T>, Vec<u32>, usize),
    ) -> Result<(), ModelError> {
        let schema = rows.schema_ref();
        let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        for (at, column) in self.columns.iter().enumerate() {
            let found = find(column, Spelling::Exported, &names);
            let found = found.ok_or_else(|| not_given(column))?;
            let array = numbered(column, rows.column(found))?;
            let cells = Cells::new(column, &array)?;
            let cast = |cell| cast(cell).map_err(|why| ModelError::column(column, why));
            let (values, of_rows) = cells.converted(cast)?.into_parts();
            hand_on(values, of_rows, at);
        }
        Ok(())
    }
}

const NO_NUMBER: &str = "it has a missing value, and the model takes whole numbers, which cannot be missing; drop such rows";

impl Cell<'_> {
    /// Missing is NaN, as for scikit-learn and its imputers.
    fn double(self) -> Result<f64, String> {
        match self {
            Self::Null => Ok(f64::NAN),
            Self::Boolean(value) => Ok(f64::from(u8::from(value))),
            Self::Text(text) => match text.trim().parse() {
                Ok(number) if f64::is_finite(number) => Ok(number),
                _ => Err(format!("`{text}` is not a number")),
            },
            number => Ok(number.number().unwrap_or(f64::NAN)),
        }
    }

    fn float(self) -> Result<f32, String> {
        let number = self.double()?;
        let narrow = number as f32;
        if number.is_finite() && !narrow.is_finite() {
            return Err(format!(
                "{number} is too large for the 32-bit numbers that the model takes"
            ));
        }
        Ok(narrow)
    }

    fn integer(self) -> Result<i64, String> {
        // Beyond 2^53 a float no longer tells whole numbers apart.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self {
            Self::Null => Err(NO_NUMBER.to_owned()),
            Self::Boolean(value) => Ok(i64::from(value)),
            Self::Integer(value) => Ok(value),
            Self::Unsigned(value) => {
                i64::try_from(value).map_err(|_| format!("{value} does not fit 64 bits"))
            }
            Self::Float(value) if value.fract() == 0.0 && value.abs() <= EXACT => Ok(value as i64),
            Self::Float(value) => Err(format!("{value} is not a whole number, as the model takes")),
            Self::Text(text) => text
                .trim()
                .parse()
                .map_err(|_| format!("`{text}` is not a whole number")),
        }
    }

    fn boolean(self) -> Result<bool, String> {
        match self {
            Self::Boolean(value) => Ok(value),
            Self::Integer(0) | Self::Unsigned(0) | Self::Float(0.0) => Ok(false),
            Self::Integer(1) | Self::Unsigned(1) | Self::Float(1.0) => Ok(true),
            Self::Text(text) if text.trim().eq_ignore_ascii_case("true") => Ok(true),
            Self::Text(text) if text.trim().eq_ignore_ascii_case("false") => Ok(false),
            Self::Null => Err("it has a missing value, and the model takes yes or no, which cannot be missing; drop such rows".to_owned()),
            other => Err(format!("`{}` is neither true nor false", other.text()?)),
        }
    }

    /// As Python writes it, since that is where the model learnt its categories. ONNX has no missing
    /// text: it is the empty text, which is what the exported imputers take for missing.
    fn text(self) -> Result<String, String> {
        Ok(match self {
            Self::Null => String::new(),
            Self::Boolean(true) => "True".to_owned(),
            Self::Boolean(false) => "False".to_owned(),
            Self::Integer(value) => value.to_string(),
            Self::Unsigned(value) => value.to_string(),
            Self::Float(value) => format!("{value:?}"),
            Self::Text(text) => text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{
        ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, StringArray,
    };
    use ort::value::{Shape, SymbolicDimensions, ValueType};

    use super::*;
    use crate::cells::told_by_number;

    fn port(name: &str, ty: TensorElementType, shape: &[i64]) -> Port {
        Port {
            name: name.to_owned(),
            holds: ValueType::Tensor {
                ty,
                shape: Shape::new(shape.iter().copied()),
                dimension_symbols: SymbolicDimensions::empty(shape.len()),
            },
        }
    }

    fn columns(feeds: &[Feed]) -> Vec<Vec<&str>> {
        fn names(feed: &Feed) -> Vec<&str> {
            feed.columns.iter().map(String::as_str).collect()
        }
        feeds.iter().map(names).collect()
    }

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn single_columns_are_found_by_name_or_as_the_user_says() {
        let ports = [
            port("age", TensorElementType::Float32, &[-1, 1]),
            port("hours_per_week", TensorElementType::Int64, &[-1]),
        ];
        let mut options = OpenOptions::default();
        let says = ("hours_per_week".to_owned(), "hours-per-week".to_owned());
        options.columns.extend([says]);
        let feeds = bind(&ports, &Named::new(), &options).unwrap();
        assert_eq!(columns(&feeds), [["age"], ["hours-per-week"]]);
        assert!(feeds[0].wide && !feeds[1].wide);
    }

    #[test]
    fn several_columns_side_by_side_need_an_order() {
        let x = [port("X", TensorElementType::Float32, &[-1, 3])];
        let error = bind(&x, &Named::new(), &OpenOptions::default()).unwrap_err();
        assert!(
            error.contains("`X` takes 3 columns side by side"),
            "{error}"
        );

        let mut options = OpenOptions {
            order: texts(&["a", "b", "c"]),
            ..OpenOptions::default()
        };
        let feeds = bind(&x, &Named::new(), &options).unwrap();
        assert_eq!(columns(&feeds), [["a", "b", "c"]]);

        options.order = texts(&["a", "b"]);
        let error = bind(&x, &Named::new(), &options).unwrap_err();
        assert!(error.contains("has only 2 for it"), "{error}");
        options.order = texts(&["a", "b", "c", "d"]);
        let error = bind(&x, &Named::new(), &options).unwrap_err();
        assert!(error.ends_with("more than its inputs take: d"), "{error}");
    }

    #[test]
    fn the_file_may_name_the_order_itself() {
        let ports = [
            port("num", TensorElementType::Float32, &[-1, 2]),
            port("cat", TensorElementType::String, &[-1, -1]),
        ];
        let by_input = named(r#"{"num": ["age", "hours"], "cat": ["job"]}"#, &ports).unwrap();
        let mut options = OpenOptions::default();
        options.columns.insert("age".into(), "AGE".into());
        let feeds = bind(&ports, &by_input, &options).unwrap();
        assert_eq!(columns(&feeds), [vec!["AGE", "hours"], vec!["job"]]);

        let error = named("age, hours", &ports).unwrap_err();
        assert!(error.contains("object of lists by input"), "{error}");
        let one = named("age, hours", &ports[..1]).unwrap();
        assert_eq!(one["num"], ["age", "hours"]);
        assert_eq!(
            named(r#"["a, b", "c"]"#, &ports[..1]).unwrap()["num"],
            ["a, b", "c"]
        );
        assert!(named("[1, 2]", &ports).is_err());
    }

    #[test]
    fn shapes_that_no_table_fits_are_refused() {
        let refuse =
            |port: Port| bind(&[port], &Named::new(), &OpenOptions::default()).unwrap_err();
        let one = refuse(port("X", TensorElementType::Float32, &[1, 4]));
        assert!(one.contains("exactly 1 rows at a time"), "{one}");
        let deep = refuse(port("X", TensorElementType::Float32, &[-1, 4, 4]));
        assert!(deep.contains("3 dimensions"), "{deep}");
        let half = refuse(port("X", TensorElementType::Float16, &[-1, 1]));
        assert!(half.contains("takes f16"), "{half}");
    }

    #[test]
    fn columns_are_cast_or_named() {
        let rows = RecordBatch::try_from_iter([
            (
                "number",
                Arc::new(Float64Array::from(vec![Some(1.5), None])) as ArrayRef,
            ),
            ("whole", Arc::new(Int64Array::from(vec![3, 4]))),
            ("yes", Arc::new(BooleanArray::from(vec![true, false]))),
            ("text", Arc::new(StringArray::from(vec![Some(" a"), None]))),
            (
                "dictionary",
                Arc::new(
                    vec![Some("x"), None]
                        .into_iter()
                        .collect::<DictionaryArray<Int32Type>>(),
                ),
            ),
        ])
        .unwrap();
        let feed = |columns: &[&str]| Feed {
            name: "X".into(),
            element: TensorElementType::Float32,
            wide: true,
            columns: texts(columns),
        };
        for rows in [&rows, &told_by_number(&rows)] {
            let floats = feed(&["number", "whole", "yes"])
                .cells(rows, |cell| cell.float())
                .unwrap();
            assert_eq!(floats[..3], [1.5, 3.0, 1.0]);
            assert!(floats[3].is_nan());
            assert_eq!(floats[4..], [4.0, 0.0]);
            let (texts, places) = feed(&["number", "whole", "yes", "text", "dictionary"])
                .texts(rows)
                .unwrap();
            let at = |place: &i32| texts[*place as usize].as_str();
            assert_eq!(
                places.iter().map(at).collect::<Vec<_>>(),
                ["1.5", "3", "True", " a", "x", "", "4", "False", "", ""]
            );
        }

        let error = |columns: &[&str]| {
            feed(columns)
                .cells(&rows, |cell| cell.integer())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error(&["number"]),
            "the model cannot read column `number`: 1.5 is not a whole number, as the model takes"
        );
        assert_eq!(
            error(&["text"]),
            "the model cannot read column `text`: ` a` is not a whole number"
        );
        assert!(error(&["nothing"]).contains("`nothing`: it is not among the columns"));
        let large = Cell::Float(1e300).float().unwrap_err();
        assert!(large.contains("too large"), "{large}");
    }
}
