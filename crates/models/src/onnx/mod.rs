//! ONNX: what skl2onnx, onnxmltools and PyTorch export.
//!
//! The graph is run by ONNX Runtime, whose library is looked for when the first model is opened
//! (see [`runtime`]). Columns are fed by name or in a given order (see [`inputs`]); labels or
//! probabilities come back as classes (see [`outputs`]).
//!
//! A session must not be run by two threads at once, so there is one for each thread that asks,
//! made when it is needed. Each computes on its own thread only: batches are what is shared among
//! the cores, and a sum that is always taken in one order does not depend on how many there are.
//! A batch is run in slices, so that its tensors stay small: a text takes 32 bytes in one, or more.

mod inputs;
mod outputs;
mod parity;
mod runtime;
mod texts;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use facts_engine::flips::{Model, ModelError};
use facts_engine::population::Dictionaries;
use ort::environment::Environment;
use ort::session::builder::SessionBuilder;
use ort::session::{OutputSelector, RunOptions, Session, SessionOutputs};
use ort::value::{DynValue, Outlet, ValueType};

use self::inputs::Feed;
use self::outputs::{Answers, Outputs, failed};
pub use self::parity::Parity;
use self::texts::Texts;
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

/// How many rows are run at a time.
const SLICE_ROWS: usize = 8192;

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
    /// Those that nobody is running.
    idle: Mutex<Vec<Runner>>,
}

/// What runs rows, one slice at a time.
struct Runner {
    graph: Session,
    texts: Texts,
}

impl Runner {
    fn new(environment: &Environment, path: &Path) -> ort::Result<Self> {
        Ok(Self {
            graph: builder(environment)?.commit_from_file(path)?,
            texts: Texts::new(environment),
        })
    }
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
        let runner =
            Runner::new(&environment, path).map_err(|error| invalid(error.message().to_owned()))?;
        let session = &runner.graph;
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
            idle: Mutex::new(vec![runner]),
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
        let mut answers = Answers::default();
        self.run(rows, [name].into_iter(), |outputs, rows| {
            let scores = outputs::output(outputs, name)?;
            answers.add_scores(scores, rows)
        })?;
        answers.probabilities()
    }

    /// Runs the rows through the graph, slice by slice, and reads what it puts out for so many rows.
    fn run<'n>(
        &self,
        rows: &RecordBatch,
        outputs: impl Iterator<Item = &'n str>,
        mut read: impl FnMut(&SessionOutputs<'_>, usize) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        let selected = outputs.fold(OutputSelector::no_default(), OutputSelector::with);
        let options = RunOptions::new().map_err(failed)?.with_outputs(selected);
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut runner = match taken {
            Some(runner) => runner,
            None => Runner::new(&self.environment, &self.path).map_err(failed)?,
        };
        let done = (0..rows.num_rows())
            .step_by(SLICE_ROWS)
            .try_for_each(|start| {
                let slice = rows.slice(start, SLICE_ROWS.min(rows.num_rows() - start));
                let feeds = self.feeds.iter();
                let feeds =
                    feeds.map(|feed| Ok((feed.name(), feed.tensor(&slice, &mut runner.texts)?)));
                let feeds: Vec<(&str, DynValue)> = feeds.collect::<Result<_, ModelError>>()?;
                let outputs = runner.graph.run_with_options(feeds, &options);
                read(&outputs.map_err(failed)?, slice.num_rows())
            });
        idle().push(runner);
        done
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

/// Of sessions that compute on the thread that runs them.
fn builder(environment: &Environment) -> ort::Result<SessionBuilder> {
    Ok(Session::builder(environment)?
        .with_intra_threads(1)?
        .with_inter_threads(1)?)
}

impl Model for OnnxModel {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        if rows.num_rows() == 0 {
            return Ok(Arc::new(BooleanArray::from(Vec::<bool>::new())));
        }
        let mut answers = Answers::default();
        self.run(rows, self.outputs.needed(), |outputs, rows| {
            self.outputs.read(outputs, rows, &mut answers)
        })?;
        self.outputs.answer(answers)
    }

    fn concurrency(&self) -> usize {
        rayon::current_num_threads()
    }

    fn dictionaries(&self) -> Dictionaries {
        Dictionaries::All
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
