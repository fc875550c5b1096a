//! Tensors of text.
//!
//! Such a tensor holds a text of its own for each cell, and a text that is handed over is copied twice on its way
//! there. An audit sends few texts many times over. So the runtime is handed each of them once, with where it stands,
//! and fills the tensor itself: by a graph of one node, `Gather`, which copies a short text in a few nanoseconds.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use ort::editor::{Graph, Model, Node, ONNX_DOMAIN, Opset};
use ort::environment::Environment;
use ort::session::Session;
use ort::session::builder::SessionBuilder;
use ort::value::{
    DynValue, Outlet, Shape, SymbolicDimensions, Tensor, TensorElementType, ValueType,
};

/// The version of ONNX's operators that has this `Gather`.
const OPERATORS: u32 = 13;

/// Makes tensors of text; one at a time.
pub(super) struct Texts {
    environment: Environment,
    /// By the number of dimensions of the tensors that they make; made when the first is.
    gathers: HashMap<usize, Session>,
}

impl Texts {
    pub(super) fn new(environment: &Environment) -> Self {
        Self {
            environment: environment.clone(),
            gathers: HashMap::new(),
        }
    }

    /// The tensor of this shape in which each cell holds the text at its place.
    pub(super) fn tensor(
        &mut self,
        texts: &[String],
        places: Vec<i32>,
        shape: Vec<usize>,
    ) -> ort::Result<DynValue> {
        let gather = match self.gathers.entry(shape.len()) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(place) => {
                place.insert(gather(super::builder(&self.environment)?, shape.len())?)
            }
        };
        let texts = Tensor::from_string_array(([texts.len()], texts))?;
        let places = Tensor::from_array((shape, places))?;
        let mut filled = gather.run(ort::inputs!["texts" => texts, "places" => places])?;
        let cells = filled.remove("cells");
        cells.ok_or_else(|| ort::Error::new("Gather put out nothing"))
    }
}

/// The graph: `cells` are `texts` at `places`, which have so many dimensions.
fn gather(builder: SessionBuilder, dimensions: usize) -> ort::Result<Session> {
    const ANY: i64 = -1;
    let outlet = |name: &str, ty, dimensions| {
        let holds = ValueType::Tensor {
            ty,
            shape: Shape::new(std::iter::repeat_n(ANY, dimensions)),
            dimension_symbols: SymbolicDimensions::empty(dimensions),
        };
        Outlet::new(name, holds)
    };
    let text = TensorElementType::String;
    let mut graph = Graph::new()?;
    graph.set_inputs([
        outlet("texts", text, 1),
        outlet("places", TensorElementType::Int32, dimensions),
    ])?;
    graph.set_outputs([outlet("cells", text, dimensions)])?;
    let (inputs, outputs) = (["texts", "places"], ["cells"]);
    graph.add_node(Node::new(
        "Gather",
        ONNX_DOMAIN,
        "gather",
        inputs,
        outputs,
        [],
    )?)?;
    let mut model = Model::new([Opset::new(ONNX_DOMAIN, OPERATORS)?])?;
    model.set_graph(graph)?;
    model.into_session(&builder)
}
