//! One model in all its forms: the reference logistic regression, and a LightGBM model trained on
//! the same table. The test says that all forms give one audit; the benchmark, how fast each is.

use std::path::{Path, PathBuf};

use facts_models::{OpenOptions, Opened, open};
use facts_verification::adult_model;
use tempfile::TempDir;

use crate::support::server::Server;
use crate::support::{in_repository, interpreter, run};

/// Where the scripts beside this file are.
const SCRIPTS: &str = "verification/formats";
const DATA: &str = "verification/data/adult-sex";

/// One way to open a model.
pub(crate) struct Form {
    /// What one writes before the colon, for tables: `exec`.
    pub(crate) name: &'static str,
    /// What the whole string looks like, for tables.
    pub(crate) usage: &'static str,
    /// The whole string.
    pub(crate) spec: String,
}

impl Form {
    pub(crate) fn open(&self) -> Opened {
        open(&self.spec, &OpenOptions::default())
            .unwrap_or_else(|error| panic!("{}: {error}", self.spec))
    }
}

/// The forms of one model, the first of which needs nothing but this program; with the files and
/// servers behind them.
pub(crate) struct Forms {
    pub(crate) forms: Vec<Form>,
    _folder: TempDir,
    _servers: Vec<Server>,
}

/// The reference logistic regression. What needs an interpreter that is not there is left out.
pub(crate) fn logistic() -> Forms {
    let folder = tempfile::tempdir().unwrap();
    let linear = folder.path().join("linear.json");
    let model = serde_json::to_string(&adult_model().unwrap()).unwrap();
    std::fs::write(&linear, model).unwrap();
    let mut servers = Vec::new();
    let mut forms = vec![
        Form {
            name: "linear",
            usage: "linear:model.json",
            spec: format!("linear:{}", linear.display()),
        },
        Form {
            name: "onnx",
            usage: "onnx:model.onnx",
            spec: format!("onnx:{}", in_repository(DATA).join("model.onnx").display()),
        },
    ];
    if let Some(python) = interpreter("FACTS_PYTHON") {
        for (name, usage, script) in [
            ("exec", "exec:python predict.py", "predict.py"),
            ("exec-csv", "exec-csv:python predict.py", "predict_csv.py"),
        ] {
            let script = in_repository("examples/exec").join(script);
            let spec = command(name, &python, &script, &linear);
            forms.push(Form { name, usage, spec });
        }
    } else {
        // The library that runs graphs is looked for in that interpreter's packages.
        forms.retain(|form| form.name != "onnx");
    }
    let write = |python: &Path, server: &str, folder: &Path| {
        let script = in_repository(SCRIPTS).join("serve_logistic.py");
        let rows = in_repository(DATA).join("X_test.csv.gz");
        run(python, &script, [Path::new(server), &linear, &rows, folder]);
    };
    if let Some(python) = interpreter("FACTS_PYTHON_MLFLOW") {
        servers.push(Server::mlflow(&python, |f| write(&python, "mlflow", f)));
        forms.push(Form {
            name: "http (MLflow)",
            usage: "http://host:5000/invocations",
            spec: servers[servers.len() - 1].url.clone(),
        });
    }
    if let Some(python) = interpreter("FACTS_PYTHON_OIP") {
        servers.push(Server::mlserver(&python, |f| write(&python, "mlserver", f)));
        forms.push(Form {
            name: "http (Open Inference)",
            usage: "http://host:8080/v2/models/NAME",
            spec: servers[servers.len() - 1].url.clone(),
        });
    }
    Forms {
        forms,
        _folder: folder,
        _servers: servers,
    }
}

/// A LightGBM model, trained by the library itself on the train part of the reference data.
pub(crate) fn lightgbm() -> Option<Forms> {
    let python = interpreter("FACTS_PYTHON")?;
    let folder = tempfile::tempdir().unwrap();
    let scripts = in_repository(SCRIPTS);
    let data: PathBuf = in_repository(DATA);
    run(
        &python,
        &scripts.join("lightgbm_model.py"),
        [&data, folder.path()],
    );
    let (text, graph) = (
        folder.path().join("lightgbm.txt"),
        folder.path().join("lightgbm.onnx"),
    );
    let script = scripts.join("predict_lightgbm.py");
    let forms = vec![
        Form {
            name: "lightgbm",
            usage: "lightgbm:model.txt",
            spec: format!("lightgbm:{}", text.display()),
        },
        Form {
            name: "onnx",
            usage: "onnx:model.onnx",
            spec: format!("onnx:{}", graph.display()),
        },
        Form {
            name: "exec",
            usage: "exec:python predict.py",
            spec: command("exec", &python, &script, &text),
        },
    ];
    Some(Forms {
        forms,
        _folder: folder,
        _servers: Vec::new(),
    })
}

fn command(prefix: &str, python: &Path, script: &Path, model: &Path) -> String {
    format!(
        "{prefix}:'{}' '{}' '{}'",
        python.display(),
        script.display(),
        model.display()
    )
}
