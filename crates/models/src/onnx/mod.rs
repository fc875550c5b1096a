//! ONNX: what skl2onnx, onnxmltools and PyTorch export.
//!
//! The graph is run by ONNX Runtime, whose library is looked for when the first model is opened
//! (see [`runtime`]). Columns are fed by name or in a given order (see [`inputs`]); labels or
//! probabilities come back as classes (see [`outputs`]).
//!
//! A session must not be run by two threads at once, so there is one for each thread that asks,
//! made when it is needed. Each computes on its own thread only: batches are what is shared among
//! the cores, and a sum that is always taken in one order does not depend on how many there are.

mod inputs;
mod outputs;
mod parity;
mod runtime;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use facts_engine::flips::{Model, ModelError};
use ort::environment::Environment;
use ort::session::{OutputSelector, RunOptions, Session, SessionOutputs};
use ort::value::{DynValue, Outlet, ValueType};

use self::inputs::Feed;
use self::outputs::{Outputs, failed};
pub use self::parity::Parity;
use crate::error::OpenError;
use crate::open::{Format, Input, OpenOptions, Opened};

pub(crate) const FORMAT: Format = Format {
    prefix: "onnx",
    usage: "model.onnx",
    about: "a graph that skl2onnx, onnxmltools or PyTorch exported",
    recognises: Some(|path, _| {
        path.extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("onnx"))
    }),
    open: |rest, options| {
        let path = Path::new(rest);
        let model = OnnxModel::open(path, options)?;
        Ok(Opened {
            inputs: Some(model.inputs()),
            description: model.description.clone(),
            file: Some(path.to_owned()),
            model: Box::new(model),
        })
    },
};

/// A model in an ONNX file.
///
/// The rows are cast to what each input takes: missing numbers become NaN, missing text the empty
/// text, and a value that does not fit is an error that names its column.
pub struct OnnxModel {
    path: PathBuf,
    description: String,
    feeds: Vec<Feed>,
    outputs: Outputs,
    environment: Environment,
    /// Sessions that nobody is running.
    idle: Mutex<Vec<Session>>,
}

impl OnnxModel {
    /// Opens a file.
    ///
    /// Of the options, `threshold` is compared with the probability of the last class; `columns`
    /// says which column feeds an input that is called otherwise; `order` names the columns of
    /// inputs that take several side by side; `output` names the output to read.
    pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self, OpenError> {
        let path = path.as_ref();
        // Before anything else: a mistyped name should not ask for a library first.
        std::fs::File::open(path).map_err(|error| OpenError::file(path, error))?;
        let invalid = |why: String| OpenError::invalid(path, "ONNX", why);
        let environment = runtime::environment()?;
        let session =
            session(&environment, path).map_err(|error| invalid(error.message().to_owned()))?;
        let (inputs, outputs) = (ports(session.inputs()), ports(session.outputs()));
        let (named, producer) = match session.metadata() {
            Ok(metadata) => {
                let names = metadata.custom("feature_names");
                let named = names.map(|names| inputs::named(&names, &inputs));
                (
                    named.transpose().map_err(invalid)?.unwrap_or_default(),
                    metadata.producer().filter(|producer| !producer.is_empty()),
                )
            }
            Err(_) => Default::default(),
        };
        let feeds = inputs::bind(&inputs, &named, options).map_err(invalid)?;
        let outputs = Outputs::choose(&outputs, options).map_err(invalid)?;
        let mut description = format!(
            "ONNX, {} columns",
            feeds.iter().map(|feed| feed.reads().count()).sum::<usize>()
        );
        if let Some(producer) = producer {
            description.push_str(&format!(", made by {producer}"));
        }
        Ok(Self {
            path: path.to_owned(),
            description,
            feeds,
            outputs,
            environment,
            idle: Mutex::new(vec![session]),
        })
    }

    /// The columns that the model reads.
    pub fn inputs(&self) -> Vec<Input> {
        self.feeds.iter().flat_map(Feed::reads).collect()
    }

    /// The probability of the last class, row by row, for models that put one out.
    pub fn probabilities(&self, rows: &RecordBatch) -> Result<Vec<f64>, ModelError> {
        let Some(name) = self.outputs.scores() else {
            return Err(ModelError::Failed(
                "it puts out labels only, and no probabilities".to_owned(),
            ));
        };
        if rows.num_rows() == 0 {
            return Ok(Vec::new());
        }
        self.run(rows, [name].into_iter(), |outputs| {
            Outputs::probabilities(outputs, name, rows.num_rows())
        })
    }

    /// Runs the rows through the graph and reads what it puts out.
    fn run<'n, T>(
        &self,
        rows: &RecordBatch,
        outputs: impl Iterator<Item = &'n str>,
        read: impl FnOnce(&SessionOutputs<'_>) -> Result<T, ModelError>,
    ) -> Result<T, ModelError> {
        let feeds: Vec<(&str, DynValue)> = self
            .feeds
            .iter()
            .map(|feed| Ok((feed.name(), feed.tensor(rows)?)))
            .collect::<Result<_, ModelError>>()?;
        let selected = outputs.fold(OutputSelector::no_default(), OutputSelector::with);
        let options = RunOptions::new().map_err(failed)?.with_outputs(selected);
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut session = match taken {
            Some(session) => session,
            None => session(&self.environment, &self.path).map_err(failed)?,
        };
        let answer = session
            .run_with_options(feeds, &options)
            .map_err(failed)
            .and_then(|outputs| read(&outputs));
        idle().push(session);
        answer
    }
}

/// An input or output of the graph.
#[derive(Clone, Debug)]
struct Port {
    name: String,
    holds: ValueType,
}

fn ports(outlets: &[Outlet]) -> Vec<Port> {
    let port = |outlet: &Outlet| Port {
        name: outlet.name().to_owned(),
        holds: outlet.dtype().clone(),
    };
    outlets.iter().map(port).collect()
}

fn session(environment: &Environment, path: &Path) -> ort::Result<Session> {
    Session::builder(environment)?
        .with_intra_threads(1)?
        .with_inter_threads(1)?
        .commit_from_file(path)
}

impl Model for OnnxModel {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        if rows.num_rows() == 0 {
            return Ok(Arc::new(BooleanArray::from(Vec::<bool>::new())));
        }
        self.run(rows, self.outputs.needed(), |outputs| {
            self.outputs.answer(outputs, rows.num_rows())
        })
    }

    fn concurrency(&self) -> usize {
        rayon::current_num_threads()
    }
}

impl fmt::Debug for OnnxModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnnxModel")
            .field("path", &self.path)
            .field("feeds", &self.feeds)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}
