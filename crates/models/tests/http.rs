//! Models behind HTTP: real servers, and a server that fails on purpose.
//!
//! `FACTS_PYTHON_MLFLOW` and `FACTS_PYTHON_OIP` name Python interpreters with what is in
//! `support/requirements-http-mlflow.txt` and `support/requirements-http-oip.txt`. With these set
//! the tests start `mlflow models serve` and MLServer on this machine, and fail if they cannot.
//! Without them they are left out, and say so; on CI that is a failure.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use facts_models::{Headers, OpenOptions, Opened, open};

use support::server::{Server, free_port};
use support::{in_repository, interpreter, run, yes};

/// Rows of the table that `support/http_model.py` makes its model from, and some that it never saw.
fn people(rows: usize) -> RecordBatch {
    let jobs = [
        "clerk",
        "manager",
        "né à l'étranger",
        "self, employed",
        "\"juggler\"",
    ];
    support::people(&jobs, rows)
}

fn options(change: impl FnOnce(&mut OpenOptions)) -> OpenOptions {
    let mut options = OpenOptions::default();
    options.timeout = Some(Duration::from_secs(20));
    change(&mut options);
    options
}

/// Writes the model that a server is to serve.
fn write_model(python: &Path, server: &str, folder: &Path) {
    let script = in_repository("crates/models/tests/support/http_model.py");
    run(python, &script, [Path::new(server), folder]);
}

fn mlflow(python: &Path) -> Server {
    Server::mlflow(python, |folder| write_model(python, "mlflow", folder))
}

fn mlserver(python: &Path) -> Server {
    Server::mlserver(python, |folder| write_model(python, "mlserver", folder))
}

/// The model that a server serves, in this process.
fn linear(server: &Server) -> Opened {
    let path = server.folder.path().join("linear.json");
    open(
        &format!("linear:{}", path.display()),
        &OpenOptions::default(),
    )
    .unwrap()
}

/// What must hold of any server of the model.
fn agrees_with_linear(server: &Server) {
    let rows = people(1000);
    let linear = linear(server);
    let expected = yes(&linear.model.predict(&rows).unwrap());
    assert!(expected.contains(&true) && expected.contains(&false));
    for batch_rows in [1000, 64] {
        let served = open(&server.url, &options(|o| o.batch_rows = Some(batch_rows))).unwrap();
        let answer = served.model.predict(&rows).unwrap();
        assert_eq!(yes(&answer), expected);
    }
    // More columns than the model wants, and another name for one of them.
    let renamed = ["beruf", "hours", "debt"]
        .into_iter()
        .zip(rows.columns().iter().cloned());
    let flags = Arc::new(arrow_array::BooleanArray::from(vec![true; 1000])) as ArrayRef;
    let more = RecordBatch::try_from_iter(renamed.chain([("flag", flags)])).unwrap();
    let served = open(
        &server.url,
        &options(|o| o.columns = [("job".to_owned(), "beruf".to_owned())].into()),
    );
    assert_eq!(
        yes(&served.unwrap().model.predict(&more).unwrap()),
        expected
    );

    // A category that is missing adds nothing, as one that was never seen.
    let job = StringArray::from_iter((0..10).map(|i| (i % 2 == 0).then_some("clerk")));
    let [_, hours, debt] = [0, 1, 2].map(|column| Arc::clone(people(10).column(column)));
    let gaps = [
        ("job", Arc::new(job) as ArrayRef),
        ("hours", hours),
        ("debt", debt),
    ];
    let gaps = RecordBatch::try_from_iter(gaps).unwrap();
    let served = open(&server.url, &options(|_| {})).unwrap();
    let expected = linear.model.predict(&gaps).unwrap();
    assert_eq!(yes(&served.model.predict(&gaps).unwrap()), yes(&expected));
}

/// An error while the server is there, and after it has gone.
fn without_debt_then_without_server(mut server: Server, words: &[&str]) {
    let rows = people(20);
    let served = open(&server.url, &options(|_| {})).unwrap();
    let less = rows.project(&[0, 1]).unwrap();
    let error = served.model.predict(&less).unwrap_err().to_string();
    println!("{error}\n");
    for word in words {
        assert!(error.contains(word), "{word}: {error}");
    }
    served.model.predict(&rows).unwrap();
    server.stop();
    let error = served.model.predict(&rows).unwrap_err().to_string();
    println!("{error}\n");
    assert!(error.contains("gave no answer in 4 attempts"), "{error}");
    assert!(error.contains("is the server still running?"), "{error}");
}

#[test]
fn a_real_mlflow_server_answers_as_the_linear_model_does() {
    let Some(python) = interpreter("FACTS_PYTHON_MLFLOW") else {
        return;
    };
    let server = mlflow(&python);
    agrees_with_linear(&server);
    without_debt_then_without_server(
        server,
        &[
            "refused the rows with status 400",
            "Model is missing inputs ['debt']",
        ],
    );
}

#[test]
fn a_real_mlserver_answers_as_the_linear_model_does() {
    let Some(python) = interpreter("FACTS_PYTHON_OIP") else {
        return;
    };
    let server = mlserver(&python);
    agrees_with_linear(&server);

    // Probabilities of both classes, in another output of the same model.
    let rows = people(500);
    let of = |output: Option<&str>, threshold: Option<f64>| {
        let options = options(|o| {
            o.output = output.map(str::to_owned);
            o.threshold = threshold;
        });
        let served = open(&server.url, &options).unwrap();
        yes(&served.model.predict(&rows).unwrap())
    };
    let classes = of(None, None);
    assert_eq!(of(Some("predict_proba"), None), classes);
    let fewer = of(Some("predict_proba"), Some(0.95));
    assert_ne!(fewer, classes);
    assert!(fewer.iter().zip(&classes).all(|(few, all)| all | !few));

    let unknown = server.url.replace("loans", "nobody");
    let served = open(&unknown, &options(|_| {})).unwrap();
    let error = served.model.predict(&rows).unwrap_err().to_string();
    assert!(error.contains("404"), "{error}");
    assert!(error.contains("Model nobody not found"), "{error}");
    assert!(
        error.contains("correct the address or the name of the model"),
        "{error}"
    );

    without_debt_then_without_server(server, &["status 500", "columns are missing: {'debt'}"]);
}

/// An authority that nobody knows, and a server with a certificate of it.
#[test]
fn a_server_behind_tls_is_trusted_by_its_authority() {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    let Some(python) = interpreter("FACTS_PYTHON") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let authority = |name: &str| {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        (file(name, certificate.pem()), Issuer::new(params, key))
    };
    let (ca, issuer) = authority("ca.pem");
    let (other, _) = authority("other.pem");
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    let chain = file("server.pem", certificate.pem());
    let key = file("key.pem", key.serialize_pem());

    let script = in_repository("crates/models/tests/support/https_server.py");
    let mut server = Command::new(python)
        .args([&script, &chain, &key])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    output.read_line(&mut port).unwrap();
    let url = format!("https://127.0.0.1:{}/invocations", port.trim());
    let opened = |ca: Option<&Path>| {
        let options = options(|o| o.ca = ca.map(Path::to_owned));
        open(&url, &options).map_err(|error| error.to_string())
    };

    let served = opened(Some(&ca)).map(|served| {
        assert_eq!(served.description, format!("MLflow server at {url}"));
        served.model.predict(&people(1000))
    });
    let refused = [None, Some(other.as_path())].map(|ca| opened(ca).map(|_| ()));
    let nothing = [&script, &folder.path().join("none")].map(|ca| opened(Some(ca)).map(|_| ()));
    server.kill().unwrap();
    server.wait().unwrap();

    let expected: Vec<bool> = (0..1000).map(|i| i * 7 % 61 > 40).collect();
    assert_eq!(yes(&served.unwrap().unwrap()), expected);
    for error in refused {
        let error = error.unwrap_err();
        assert!(error.contains("certificate"), "{error}");
        assert!(error.contains("give its authority's PEM file"), "{error}");
    }
    let [none_in_it, no_file] = nothing.map(Result::unwrap_err);
    assert!(none_in_it.contains("holds no certificates"), "{none_in_it}");
    assert!(
        no_file.contains("cannot read the file of certificates"),
        "{no_file}"
    );
}

/// A server that answers its requests with what it is told, one after the other, and keeps what it
/// was sent. It exists to fail: what real servers answer is tested with real servers.
struct Faulty {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
    /// How many requests are being answered, and how many were at most.
    at_once: Arc<[AtomicUsize; 2]>,
}

#[derive(Clone)]
enum Reply {
    /// A status line, more header lines, and a body.
    Says(&'static str, &'static str, &'static str),
    /// Closes the connection.
    HangsUp,
    /// Takes its time, and then hangs up.
    Sleeps(Duration),
    /// Takes a moment, and then answers for one row.
    OneRow,
}

const FINE: Reply = Reply::Says("200 OK", "", r#"{"predictions": [1, 0]}"#);

impl Faulty {
    /// The last reply is given for ever.
    fn new(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        let at_once = Arc::new([const { AtomicUsize::new(0) }; 2]);
        let counts = Arc::clone(&at_once);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (kept, counts) = (Arc::clone(&kept), Arc::clone(&counts));
                let replies = replies.clone();
                std::thread::spawn(move || {
                    let now = counts[0].fetch_add(1, Ordering::SeqCst) + 1;
                    counts[1].fetch_max(now, Ordering::SeqCst);
                    reply(stream.unwrap(), &replies, &kept, &counts[0]);
                });
            }
        });
        let url = format!("http://127.0.0.1:{port}/invocations");
        Self {
            url,
            requests,
            at_once,
        }
    }

    fn requests(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

/// One connection, one request.
fn reply(stream: TcpStream, replies: &[Reply], kept: &Mutex<Vec<String>>, now: &AtomicUsize) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut stream = reader.into_inner();
    let mut say = |status: &str, headers: &str, body: &str| {
        // Before the answer is out, so that the next request cannot come earlier.
        now.fetch_sub(1, Ordering::SeqCst);
        let _ = write!(
            stream,
            "HTTP/1.1 {status}\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
    };
    if head.starts_with("GET") {
        return say("200 OK", "", "");
    }
    let turn = {
        let mut kept = kept.lock().unwrap();
        kept.push(head + &String::from_utf8(body).unwrap());
        kept.len() - 1
    };
    match &replies[turn.min(replies.len() - 1)] {
        Reply::Says(status, headers, body) => say(status, headers, body),
        Reply::HangsUp => {}
        Reply::Sleeps(time) => std::thread::sleep(*time),
        Reply::OneRow => {
            std::thread::sleep(Duration::from_millis(20));
            say("200 OK", "", r#"{"predictions": [1]}"#);
        }
    }
}

fn ask(faulty: &Faulty, change: impl FnOnce(&mut OpenOptions)) -> Result<Vec<bool>, String> {
    let served = open(&faulty.url, &options(change)).map_err(|error| error.to_string())?;
    let answer = served.model.predict(&people(2));
    answer
        .map(|answer| yes(&answer))
        .map_err(|error| error.to_string())
}

#[test]
fn what_may_pass_is_tried_again() {
    let busy = Reply::Says("503 Service Unavailable", "", "busy");
    for trouble in [
        vec![busy.clone(), busy.clone(), busy],
        vec![Reply::Says("500 Internal Server Error", "", "")],
        vec![Reply::Says(
            "429 Too Many Requests",
            "Retry-After: 0\r\n",
            "",
        )],
        vec![Reply::HangsUp, Reply::HangsUp],
        vec![Reply::Sleeps(Duration::from_secs(3))],
    ] {
        let attempts = trouble.len() + 1;
        let faulty = Faulty::new(trouble.into_iter().chain([FINE]).collect());
        let answer = ask(&faulty, |o| o.timeout = Some(Duration::from_millis(500)));
        assert_eq!(answer, Ok(vec![true, false]));
        assert_eq!(faulty.requests(), attempts);
    }
}

#[test]
fn pauses_grow_and_a_wish_is_heeded() {
    let busy = Reply::Says("503 Service Unavailable", "", "");
    let begin = Instant::now();
    ask(&Faulty::new(vec![busy.clone(), busy, FINE]), |_| {}).unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(750));
    let wishes = Reply::Says("503 Service Unavailable", "Retry-After: 1\r\n", "");
    let begin = Instant::now();
    ask(&Faulty::new(vec![wishes, FINE]), |_| {}).unwrap();
    assert!(begin.elapsed() >= Duration::from_secs(1));
}

#[test]
fn patience_ends() {
    let busy = Reply::Says(
        "503 Service Unavailable",
        "",
        r#"{"error": "too many audits"}"#,
    );
    let faulty = Faulty::new(vec![busy]);
    let error = ask(&faulty, |_| {}).unwrap_err();
    assert!(error.contains("gave no answer in 4 attempts"), "{error}");
    assert!(
        error.contains("503 Service Unavailable: too many audits"),
        "{error}"
    );
    assert_eq!(faulty.requests(), 4);

    let slow = Faulty::new(vec![Reply::Sleeps(Duration::from_secs(3))]);
    let error = ask(&slow, |o| o.timeout = Some(Duration::from_millis(200))).unwrap_err();
    assert!(
        error.contains("took longer than 0.2 s; allow it more time"),
        "{error}"
    );
}

#[test]
fn what_will_not_pass_is_told_at_once() {
    for (status, headers, body, parts) in [
        (
            "400 Bad Request",
            "",
            r#"{"message": "no column job"}"#,
            &["no column job", "columns"][..],
        ),
        ("401 Unauthorized", "", "", &["401", "Authorization"]),
        ("413 Payload Too Large", "", "", &["fewer rows"]),
        (
            "404 Not Found",
            "",
            "nothing here",
            &["nothing here", "correct the address"],
        ),
        (
            "307 Temporary Redirect",
            "Location: http://elsewhere/x\r\n",
            "",
            &["moved to http://elsewhere/x"],
        ),
        (
            "200 OK",
            "",
            "<html>hello</html>",
            &["did not answer with JSON", "<html>"],
        ),
        (
            "200 OK",
            "",
            r#"{"predictions": [1]}"#,
            &["asked for 2 rows and answered 1"],
        ),
        (
            "200 OK",
            "",
            r#"{"predictions": [1.5, 0]}"#,
            &["answered 1.5 for row 1"],
        ),
        (
            "200 OK",
            "",
            r#"{"predictions": [[1, 0, 0], [0, 1, 0]]}"#,
            &["a list of 3"],
        ),
    ] {
        let faulty = Faulty::new(vec![Reply::Says(status, headers, body)]);
        let error = ask(&faulty, |_| {}).unwrap_err();
        for part in parts {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert_eq!(faulty.requests(), 1, "{status}");
    }
}

#[test]
fn headers_are_sent_and_a_missing_server_is_told_when_opened() {
    let faulty = Faulty::new(vec![FINE]);
    ask(&faulty, |o| {
        o.headers = Headers::default().with("Authorization", "Bearer abc")
    })
    .unwrap();
    let request = faulty.requests.lock().unwrap()[0].to_lowercase();
    assert!(request.contains("authorization: bearer abc"), "{request}");
    assert!(
        request.contains("content-type: application/json"),
        "{request}"
    );

    let url = format!("http://127.0.0.1:{}/invocations", free_port());
    let Err(error) = open(&url, &OpenOptions::default()) else {
        panic!("{url} was opened");
    };
    assert!(
        error.to_string().contains("there is no server at"),
        "{error}"
    );
}

#[test]
fn no_more_requests_at_the_same_time_than_workers() {
    let faulty = Faulty::new(vec![Reply::OneRow]);
    let few = options(|o| {
        o.batch_rows = Some(1);
        o.workers = Some(3);
    });
    let served = open(&faulty.url, &few).unwrap();
    assert_eq!(served.model.concurrency(), 3);
    // As the engine does: several batches at the same time, each of several requests.
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_eq!(served.model.predict(&people(20)).unwrap().len(), 20));
        }
    });
    assert_eq!(faulty.requests(), 60);
    assert_eq!(faulty.at_once[1].load(Ordering::SeqCst), 3);
}

/// `cargo test -p facts-models --release --test http -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn rows_a_second() {
    let rows = people(1 << 16);
    let servers = [
        interpreter("FACTS_PYTHON_MLFLOW").map(|python| mlflow(&python)),
        interpreter("FACTS_PYTHON_OIP").map(|python| mlserver(&python)),
    ];
    for server in servers.iter().flatten() {
        for (batch_rows, workers) in [(512, 1), (4096, 1), (512, 4), (4096, 4), (32768, 4)] {
            let served = open(
                &server.url,
                &options(|o| {
                    o.batch_rows = Some(batch_rows);
                    o.workers = Some(workers);
                }),
            );
            let served = served.unwrap();
            let begin = Instant::now();
            served.model.predict(&rows).unwrap();
            let a_second = rows.num_rows() as f64 / begin.elapsed().as_secs_f64();
            println!(
                "{a_second:>9.0} rows/s  {batch_rows:>6} rows a request, {workers} at once  {}",
                server.url
            );
        }
    }
}
