//! Real servers of models, started for a test and ended with it.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

/// How long a real server may take to start.
const START: Duration = Duration::from_secs(120);

/// A real server, with the folder it serves from; ended when dropped.
pub(crate) struct Server {
    process: Child,
    /// Where the model is that it serves.
    pub(crate) folder: TempDir,
    /// What to open.
    pub(crate) url: String,
}

impl Server {
    /// `mlflow models serve`. What `write_model` leaves in its folder as `model` is served.
    pub(crate) fn mlflow(python: &Path, write_model: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        write_model(folder.path());
        let mut serve = Command::new(python);
        serve.args(["-m", "mlflow", "models", "serve", "--model-uri", "model"]);
        serve.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        serve.args(["--env-manager", "local"]);
        Self::start(serve, python, folder, port, "/invocations", "/ping")
    }

    /// MLServer. What `write_model` leaves in its folder as `model.joblib` is served by
    /// scikit-learn's part of it, under the name `loans`.
    pub(crate) fn mlserver(python: &Path, write_model: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        write_model(folder.path());
        let settings = json!({
            "host": "127.0.0.1",
            "http_port": port,
            "grpc_port": free_port(),
            "metrics_port": free_port(),
            "parallel_workers": 0,
        });
        let model_settings = json!({
            "name": "loans",
            "implementation": "mlserver_sklearn.SKLearnModel",
            "parameters": {"uri": "model.joblib"},
        });
        for (name, settings) in [
            ("settings.json", settings),
            ("model-settings.json", model_settings),
        ] {
            std::fs::write(folder.path().join(name), settings.to_string()).unwrap();
        }
        let mut serve = Command::new(python.with_file_name("mlserver"));
        serve.args(["start", "."]);
        let path = "/v2/models/loans";
        Self::start(serve, python, folder, port, path, "/v2/models/loans/ready")
    }

    fn start(
        mut serve: Command,
        python: &Path,
        folder: TempDir,
        port: u16,
        path: &str,
        ready: &str,
    ) -> Self {
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        // `mlflow` starts `uvicorn`, which stands beside the interpreter.
        let programs = python.parent().unwrap().display();
        let paths = std::env::var("PATH").unwrap_or_default();
        serve
            .current_dir(folder.path())
            .env("PATH", format!("{programs}:{paths}"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut serve, 0);
        let process = serve
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {serve:?}: {error}"));
        let url = format!("http://127.0.0.1:{port}{path}");
        let mut server = Self {
            process,
            folder,
            url,
        };
        server.wait_until_it_answers(port, ready);
        server
    }

    fn wait_until_it_answers(&mut self, port: u16, ready: &str) {
        let begin = Instant::now();
        while !is_ready(port, ready) {
            let ended = self.process.try_wait().unwrap();
            if ended.is_some() || begin.elapsed() > START {
                let log = std::fs::read_to_string(self.folder.path().join("log"));
                panic!("the server did not start ({ended:?}):\n{}", log.unwrap());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Ends the server.
    pub(crate) fn stop(&mut self) {
        // The server's own processes are in its group.
        let _ = Command::new("kill")
            .args(["-9", "--", &format!("-{}", self.process.id())])
            .stderr(Stdio::null())
            .status();
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Whether a server answers a path with status 200.
fn is_ready(port: u16, path: &str) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        )?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        Ok(line)
    };
    ask().is_ok_and(|line| line.contains(" 200 "))
}
