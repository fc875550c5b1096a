//! From the model's outputs to classes.
//!
//! Classifiers answer with labels, with a probability for each class (side by side in a tensor, or
//! row by row in maps, which is what `ZipMap` makes), or with both. Without a threshold the labels
//! are taken as they are. With one, the probability of the *last* class decides, and the answer is
//! still one of the model's own labels, so that what the audit calls favourable keeps its meaning.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, BooleanArray, Int64Array, StringArray};
use facts_engine::flips::ModelError;
use ort::session::SessionOutputs;
use ort::value::{DynMapValueType, DynSequenceValueType, DynValue, TensorElementType, ValueType};

use super::Port;
use crate::open::OpenOptions;

/// Which outputs are read, and how.
#[derive(Debug)]
pub(super) struct Outputs {
    label: Option<String>,
    scores: Option<String>,
    threshold: Option<f64>,
    /// What the model calls its two classes, as far as it was seen to name them.
    classes: Mutex<[Option<Class>; 2]>,
}

/// One of the model's labels.
#[derive(Clone, Debug, PartialEq)]
enum Class {
    Integer(i64),
    Text(String),
    Boolean(bool),
}

/// What the graph put out for rows, as far as it is read: slice by slice.
#[derive(Default)]
pub(super) struct Answers {
    labels: Option<Vec<Class>>,
    scores: Option<Scores>,
}

/// A number for each row and class.
#[derive(Default)]
struct Scores {
    /// Row by row.
    values: Vec<f64>,
    width: usize,
    /// The classes in order, where the output names them.
    classes: Option<Vec<Class>>,
}

impl Outputs {
    /// Chooses the outputs to read, or says why there are none.
    pub(super) fn choose(ports: &[Port], options: &OpenOptions) -> Result<Self, String> {
        let threshold = options.threshold;
        let all = ports;
        let ports: Vec<&Port> = match &options.output {
            Some(name) => ports.iter().filter(|o| o.name == *name).collect(),
            None => ports.iter().collect(),
        };
        if let (Some(name), []) = (&options.output, &ports[..]) {
            return Err(format!(
                "it has no output `{name}`; it has {}",
                described(all)
            ));
        }
        let label = ports.iter().find(|port| is_label(&port.holds));
        let scores = ports.iter().filter(|port| is_scores(&port.holds));
        let mut scores: Vec<&Port> = scores.copied().collect();
        // A graph may put out more numbers than its probabilities; those are called so.
        scores.sort_by_key(|port| !port.name.to_lowercase().contains("prob"));
        let name = |port: &Port| port.name.clone();
        let chosen = Self {
            label: label.map(|port| name(port)),
            scores: scores.first().map(|port| name(port)),
            threshold,
            classes: Mutex::new([None, None]),
        };
        match (&chosen.label, &chosen.scores, threshold) {
            (None, None, _) => Err(format!(
                "none of its outputs holds labels or probabilities; it has {}",
                described(all)
            )),
            (_, None, Some(threshold)) => Err(format!(
                "the threshold {threshold} needs a probability, and none of its outputs holds one; it has {}",
                described(all)
            )),
            _ => Ok(chosen),
        }
    }

    /// The outputs that [`read`](Self::read) reads.
    pub(super) fn needed(&self) -> impl Iterator<Item = &str> {
        let scores = match (&self.label, self.threshold) {
            (Some(_), None) => None,
            _ => self.scores.as_deref(),
        };
        self.label.as_deref().into_iter().chain(scores)
    }

    /// The output with the probabilities.
    pub(super) fn scores(&self) -> Option<&str> {
        self.scores.as_deref()
    }

    /// Adds what was put out for the next rows to what was before.
    pub(super) fn read(
        &self,
        outputs: &SessionOutputs<'_>,
        rows: usize,
        answers: &mut Answers,
    ) -> Result<(), ModelError> {
        for name in self.needed() {
            let value = output(outputs, name)?;
            if self.label.as_deref() == Some(name) {
                let known = answers.labels.get_or_insert_default();
                known.extend(labels(value, rows)?);
            } else {
                answers.add_scores(value, rows)?;
            }
        }
        Ok(())
    }

    /// One class a row.
    pub(super) fn answer(&self, answers: Answers) -> Result<ArrayRef, ModelError> {
        match (answers.labels, self.threshold) {
            (Some(labels), None) => Ok(array(labels)),
            (labels, threshold) => {
                // Chosen so that one of the two is there.
                let scores = answers.scores.unwrap_or_default().checked()?;
                match (labels, threshold) {
                    (Some(labels), Some(threshold)) => self.named(&labels, &scores, threshold),
                    (_, Some(threshold)) => scores.above(threshold),
                    (_, None) => scores.decide(),
                }
            }
        }
    }

    /// By the threshold, in the model's own labels.
    fn named(
        &self,
        labels: &[Class],
        scores: &Scores,
        threshold: f64,
    ) -> Result<ArrayRef, ModelError> {
        if scores.classes.is_some() {
            return scores.above(threshold);
        }
        let positive: Vec<bool> = scores.last()?.map(|score| score >= threshold).collect();
        let classes = {
            let mut classes = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
            learn(&mut classes, labels, scores);
            classes.clone()
        };
        let answers = positive.iter().map(|&yes| {
            classes[usize::from(yes)].clone().ok_or_else(|| {
                ModelError::Failed(format!(
                    "the threshold {threshold} calls for the model's {} class, and it never named that class on these rows; export it with ZipMap, which names all classes, or leave the threshold out",
                    if yes { "last" } else { "first" }
                ))
            })
        });
        Ok(array(answers.collect::<Result<_, _>>()?))
    }
}

/// Notes which label goes with which class: where one class leads, the label is that class.
fn learn(classes: &mut [Option<Class>; 2], labels: &[Class], scores: &Scores) {
    for (label, row) in labels.iter().zip(scores.values.chunks(scores.width)) {
        if classes.iter().all(Option::is_some) {
            return;
        }
        let (first, last) = match row {
            [first, last] => (*first, *last),
            row => (1.0 - row[0], row[0]),
        };
        if first != last {
            classes[usize::from(last > first)].get_or_insert_with(|| label.clone());
        }
    }
}

impl Answers {
    /// Adds scores for the next rows.
    pub(super) fn add_scores(&mut self, value: &DynValue, rows: usize) -> Result<(), ModelError> {
        let more = Scores::read(value, rows)?;
        match &mut self.scores {
            None => self.scores = Some(more),
            Some(scores) if scores.width != more.width => {
                return Err(ModelError::Failed(format!(
                    "it put out {} numbers for some rows and {} for others",
                    scores.width, more.width
                )));
            }
            Some(scores) => scores.values.extend(more.values),
        }
        Ok(())
    }

    /// The probability of the last class.
    pub(super) fn probabilities(self) -> Result<Vec<f64>, ModelError> {
        let scores = self.scores.unwrap_or_default().checked()?;
        Ok(scores.last()?.collect())
    }
}

impl Scores {
    fn read(value: &DynValue, rows: usize) -> Result<Self, ModelError> {
        let scores = match value.dtype() {
            ValueType::Tensor {
                ty: TensorElementType::Float32,
                ..
            } => {
                let (_, values) = value.try_extract_tensor::<f32>().map_err(failed)?;
                let values = values.iter().map(|&v| f64::from(v)).collect();
                Self::tensor(values, rows)
            }
            ValueType::Tensor { .. } => {
                let (_, values) = value.try_extract_tensor::<f64>().map_err(failed)?;
                Self::tensor(values.to_vec(), rows)
            }
            _ => Self::maps(value)?,
        };
        if scores.values.len() != rows * scores.width || scores.width == 0 {
            return Err(ModelError::WrongNumberOfRows {
                asked: rows,
                answered: scores.values.len() / scores.width.max(1),
            });
        }
        Ok(scores)
    }

    fn checked(self) -> Result<Self, ModelError> {
        match self.values.iter().position(|value| value.is_nan()) {
            Some(at) => Err(ModelError::NotAClass {
                row: at / self.width + 1,
                value: "NaN".to_owned(),
                remedy: "the model cannot decide about this row; look for missing values in it",
            }),
            None => Ok(self),
        }
    }

    fn tensor(values: Vec<f64>, rows: usize) -> Self {
        Self {
            width: values.len().checked_div(rows).unwrap_or(1),
            values,
            classes: None,
        }
    }

    /// What `ZipMap` makes: for each row a map from class to probability, in order of class.
    fn maps(value: &DynValue) -> Result<Self, ModelError> {
        let view = value.view();
        let maps = view
            .downcast::<DynSequenceValueType>()
            .and_then(|sequence| sequence.try_extract_sequence::<DynMapValueType>())
            .map_err(failed)?;
        let mut scores = Self {
            values: Vec::with_capacity(maps.len() * 2),
            width: 0,
            classes: None,
        };
        for map in maps {
            let is_text = matches!(
                map.dtype(),
                ValueType::Map {
                    key: TensorElementType::String,
                    ..
                }
            );
            let entries: Vec<(Class, f32)> = if is_text {
                let entries = map.try_extract_key_values::<String, f32>();
                let entries = entries.map_err(failed)?.into_iter();
                entries.map(|(k, v)| (Class::Text(k), v)).collect()
            } else {
                let entries = map.try_extract_key_values::<i64, f32>();
                let entries = entries.map_err(failed)?.into_iter();
                entries.map(|(k, v)| (Class::Integer(k), v)).collect()
            };
            let values = entries.iter().map(|(_, v)| f64::from(*v));
            scores.values.extend(values);
            scores.width = entries.len();
            if scores.classes.is_none() {
                scores.classes = Some(entries.into_iter().map(|(class, _)| class).collect());
            }
        }
        Ok(scores)
    }

    /// The scores of the last class.
    fn last(&self) -> Result<impl Iterator<Item = f64> + '_, ModelError> {
        if self.width > 2 {
            return Err(ModelError::Failed(format!(
                "a threshold decides between two classes, and the model has {}; leave it out, and say which class is favourable",
                self.width
            )));
        }
        let last = self.width - 1;
        Ok(self.values.chunks(self.width).map(move |row| row[last]))
    }

    /// Yes from the threshold on, by the names of the classes where those are known.
    fn above(&self, threshold: f64) -> Result<ArrayRef, ModelError> {
        let positive = self.last()?.map(|score| score >= threshold);
        Ok(match self.classes.as_deref() {
            Some([no, yes]) => array(positive.map(|p| if p { yes } else { no }.clone()).collect()),
            _ => Arc::new(BooleanArray::from(positive.collect::<Vec<bool>>())),
        })
    }

    /// Without labels and without a threshold: the class that leads; of one number, from 0.5 on.
    fn decide(&self) -> Result<ArrayRef, ModelError> {
        if self.width == 1 {
            if let Some(row) = self.values.iter().position(|p| !(0.0..=1.0).contains(p)) {
                return Err(ModelError::NotAClass {
                    row: row + 1,
                    value: self.values[row].to_string(),
                    remedy: "it is no probability either; if the model answers with a score, give the threshold from which on it means yes (0 for log-odds)",
                });
            }
            return self.above(0.5);
        }
        // The first of those that lead, as numpy's argmax.
        let leading = self.values.chunks(self.width).map(|row| {
            let lead = |best: usize, at: usize| if row[at] > row[best] { at } else { best };
            (1..self.width).fold(0, lead)
        });
        Ok(match &self.classes {
            Some(classes) => array(leading.map(|at| classes[at].clone()).collect()),
            None if self.width == 2 => {
                let positive: Vec<bool> = leading.map(|at| at == 1).collect();
                Arc::new(BooleanArray::from(positive))
            }
            None => Arc::new(leading.map(|at| at as i64).collect::<Int64Array>()),
        })
    }
}

fn labels(value: &DynValue, rows: usize) -> Result<Vec<Class>, ModelError> {
    let element = value.dtype().tensor_type();
    let labels: Vec<Class> = match element {
        Some(TensorElementType::String) => {
            let (_, texts) = value.try_extract_strings().map_err(failed)?;
            texts.into_iter().map(Class::Text).collect()
        }
        Some(TensorElementType::Bool) => {
            let (_, values) = value.try_extract_tensor::<bool>().map_err(failed)?;
            values.iter().map(|&v| Class::Boolean(v)).collect()
        }
        Some(TensorElementType::Int32) => {
            let (_, values) = value.try_extract_tensor::<i32>().map_err(failed)?;
            values.iter().map(|&v| Class::Integer(v.into())).collect()
        }
        _ => {
            let (_, values) = value.try_extract_tensor::<i64>().map_err(failed)?;
            values.iter().map(|&v| Class::Integer(v)).collect()
        }
    };
    ModelError::check_rows(rows, labels.len())?;
    Ok(labels)
}

/// All of one type, since they come from one output.
fn array(classes: Vec<Class>) -> ArrayRef {
    macro_rules! array {
        ($kind:ident, $array:ty) => {{
            let values = classes.iter().map(|class| match class {
                Class::$kind(value) => Some(value.clone()),
                _ => None,
            });
            Arc::new(values.collect::<$array>())
        }};
    }
    match classes.first() {
        Some(Class::Text(_)) => array!(Text, StringArray),
        Some(Class::Boolean(_)) => array!(Boolean, BooleanArray),
        _ => array!(Integer, Int64Array),
    }
}

fn is_label(dtype: &ValueType) -> bool {
    use TensorElementType::{Bool, Int32, Int64, String};
    matches!(dtype.tensor_type(), Some(Int64 | Int32 | String | Bool))
}

fn is_scores(dtype: &ValueType) -> bool {
    match dtype {
        ValueType::Tensor { ty, .. } => {
            matches!(ty, TensorElementType::Float32 | TensorElementType::Float64)
        }
        ValueType::Sequence(of) => matches!(
            **of,
            ValueType::Map {
                key: TensorElementType::Int64 | TensorElementType::String,
                value: TensorElementType::Float32,
            }
        ),
        _ => false,
    }
}

fn described(ports: &[Port]) -> String {
    let each = ports
        .iter()
        .map(|port| format!("`{}` ({})", port.name, port.holds));
    each.collect::<Vec<_>>().join(", ")
}

pub(super) fn output<'a>(
    outputs: &'a SessionOutputs<'_>,
    name: &str,
) -> Result<&'a DynValue, ModelError> {
    outputs
        .get(name)
        .ok_or_else(|| ModelError::Failed(format!("there is no output `{name}`")))
}

pub(super) fn failed(error: ort::Error) -> ModelError {
    ModelError::Failed(error.message().to_owned())
}

#[cfg(test)]
mod tests {
    use ort::value::{Shape, SymbolicDimensions};

    use super::*;

    fn tensor(name: &str, ty: TensorElementType) -> Port {
        let shape = Shape::new([-1, 2]);
        let dimension_symbols = SymbolicDimensions::empty(2);
        Port {
            name: name.to_owned(),
            holds: ValueType::Tensor {
                ty,
                shape,
                dimension_symbols,
            },
        }
    }

    fn with(threshold: Option<f64>) -> OpenOptions {
        OpenOptions {
            threshold,
            ..OpenOptions::default()
        }
    }

    fn scores(width: usize, values: &[f64]) -> Scores {
        Scores {
            values: values.to_vec(),
            width,
            classes: None,
        }
    }

    fn shown(array: Result<ArrayRef, ModelError>) -> String {
        match array {
            Ok(array) => format!("{array:?}").replace(['\n', ' '], ""),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn labels_are_preferred_and_a_threshold_needs_probabilities() {
        let all = [
            tensor("hidden", TensorElementType::Float32),
            tensor("label", TensorElementType::Int64),
            tensor("probabilities", TensorElementType::Float32),
        ];
        let needed = |outputs: &Outputs| outputs.needed().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            needed(&Outputs::choose(&all, &with(None)).unwrap()),
            ["label"]
        );
        let both = Outputs::choose(&all, &with(Some(0.3))).unwrap();
        assert_eq!(needed(&both), ["label", "probabilities"]);
        assert_eq!(
            needed(&Outputs::choose(&all[..1], &with(None)).unwrap()),
            ["hidden"]
        );
        let error = Outputs::choose(&all[1..2], &with(Some(0.3))).unwrap_err();
        assert!(
            error.starts_with("the threshold 0.3 needs a probability"),
            "{error}"
        );
        let options = OpenOptions {
            output: Some("hidden".into()),
            ..OpenOptions::default()
        };
        assert_eq!(
            needed(&Outputs::choose(&all, &options).unwrap()),
            ["hidden"]
        );
        let error = Outputs::choose(&all[1..], &options).unwrap_err();
        assert!(
            error.starts_with("it has no output `hidden`; it has `label`"),
            "{error}"
        );
        let half = tensor("half", TensorElementType::Float16);
        let error = Outputs::choose(&[half], &with(None)).unwrap_err();
        assert!(error.contains("it has `half`"), "{error}");
    }

    #[test]
    fn a_threshold_answers_in_the_models_own_labels() {
        let outputs = Outputs::choose(
            &[
                tensor("label", TensorElementType::Int64),
                tensor("p", TensorElementType::Float32),
            ],
            &with(Some(0.9)),
        )
        .unwrap();
        // Class 1 is good, class 2 is bad, as in German credit.
        let labels = [Class::Integer(1), Class::Integer(2), Class::Integer(2)];
        let p = scores(2, &[0.8, 0.2, 0.3, 0.7, 0.05, 0.95]);
        assert_eq!(
            shown(outputs.named(&labels, &p, 0.9)),
            "PrimitiveArray<Int64>[1,1,2,]"
        );
        // What it learnt of its classes serves later batches.
        let labels = [Class::Integer(2)];
        let p = scores(2, &[0.3, 0.7]);
        assert_eq!(
            shown(outputs.named(&labels, &p, 0.9)),
            "PrimitiveArray<Int64>[1,]"
        );
    }

    #[test]
    fn a_class_that_was_never_named_is_an_error() {
        let ports = [
            tensor("label", TensorElementType::Int64),
            tensor("p", TensorElementType::Float32),
        ];
        let outputs = Outputs::choose(&ports, &with(Some(0.9))).unwrap();
        let answer = outputs.named(&[Class::Integer(2)], &scores(2, &[0.3, 0.7]), 0.9);
        assert!(shown(answer).contains("the model's first class, and it never named that class"));
    }

    #[test]
    fn numbers_alone_are_decided_by_who_leads() {
        assert_eq!(
            shown(scores(2, &[0.5, 0.5, 0.1, 0.9]).decide()),
            "BooleanArray[false,true,]"
        );
        assert_eq!(
            shown(scores(3, &[0.1, 0.2, 0.7, 0.5, 0.3, 0.2]).decide()),
            "PrimitiveArray<Int64>[2,0,]"
        );
        assert_eq!(
            shown(scores(1, &[0.5, 0.49]).decide()),
            "BooleanArray[true,false,]"
        );
        let log_odds = shown(scores(1, &[0.3, -2.0]).decide());
        assert!(log_odds.contains("answered -2 for row 2"), "{log_odds}");
        assert!(log_odds.contains("0 for log-odds"), "{log_odds}");
        assert_eq!(
            shown(scores(1, &[0.3, -2.0]).above(0.0)),
            "BooleanArray[true,false,]"
        );
        let named = Scores {
            classes: Some(vec![Class::Text("bad".into()), Class::Text("good".into())]),
            ..scores(2, &[0.8, 0.2, 0.4, 0.6])
        };
        assert_eq!(shown(named.above(0.1)), r#"StringArray["good","good",]"#);
        assert_eq!(shown(named.decide()), r#"StringArray["bad","good",]"#);
        let three = shown(scores(3, &[0.1, 0.2, 0.7]).above(0.5));
        assert!(three.contains("the model has 3"), "{three}");
    }
}
