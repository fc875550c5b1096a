//! A model behind HTTP: MLflow's scoring protocol, or the Open Inference Protocol.
//!
//! Which one is told by the address: `http://host:5000/invocations` is MLflow's,
//! `http://host:8080/v2/models/NAME` the other. Rows go as JSON, in requests of limited size, a few
//! at the same time. What may pass (a 5xx status, 429, a time-out, a connection that breaks) is
//! tried again after a pause that doubles; what will not (any other 4xx) is an error at once, with
//! the server's own words. See `docs/models-http.md`.

mod json;
mod mlflow;
mod oip;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch};
use facts_engine::flips::{Model, ModelError};
use facts_engine::population::Dictionaries;
use facts_guard::secret;
use serde_json::Value;
use ureq::http::{HeaderMap, Response, StatusCode, Uri};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use crate::asking::{self, Asking};
use crate::cells;
use crate::error::OpenError;
use crate::open::{Format, OpenOptions, Opened};

pub(crate) const FORMAT: Format = Format {
    prefix: "http",
    usage: "//host:port/invocations",
    about: "an MLflow server (/invocations) or an Open Inference server (/v2/models/NAME)",
    recognises: None,
    open: |rest, options| open(&format!("http:{rest}"), options),
};

pub(crate) const HTTPS_FORMAT: Format = Format {
    prefix: "https",
    usage: "//host/v2/models/NAME",
    about: "the same as http, encrypted",
    recognises: None,
    open: |rest, options| open(&format!("https:{rest}"), options),
};

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How many rows a request has at most, unless said otherwise: well below a megabyte for most
/// tables, which is what servers and proxies commonly allow.
const BATCH_ROWS: usize = 4096;
/// How many requests are out at the same time, unless said otherwise.
const WORKERS: usize = 4;
/// How often a request is sent at most.
const ATTEMPTS: u32 = 4;
/// The first pause; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(250);
/// The longest pause, also if the server asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The largest response that is read.
const LARGEST_RESPONSE: u64 = 256 << 20;

/// Headers of a request. Their values are secrets: they are never printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// Adds a header, such as `Authorization` and `Bearer …`.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.push((name.into(), value.into()));
        self
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|(name, _)| (name, "…"));
        f.debug_map().entries(names).finish()
    }
}

/// What the server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    MLflow,
    OpenInference,
}

/// A model that a server answers for.
pub struct HttpModel {
    /// What is asked, secrets included.
    url: String,
    /// The address as it may be shown.
    shown: String,
    protocol: Protocol,
    agent: Agent,
    headers: Headers,
    output: Option<String>,
    /// There are no more requests at the same time than workers.
    asking: Asking,
}

/// A request that was not answered.
enum Failure {
    /// It may be answered if it is sent again, after the pause that the server asked for.
    Passing(String, Option<Duration>),
    /// It will not be.
    Lasting(String),
}

impl HttpModel {
    /// A model behind an address.
    ///
    /// The server is looked for at once, so that a wrong address is told before an audit begins. Of
    /// the options `threshold`, `columns`, `timeout`, `workers`, `batch_rows`, `output`, `headers`
    /// and `ca` are heeded.
    pub fn connect(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        let (url, protocol, host) = address(url).map_err(|why| {
            let url = secret::hidden_in_urls(url);
            OpenError::Unavailable(format!("`{url}` is no address of a model: {why}"))
        })?;
        let asking = Asking::new(options, WORKERS, BATCH_ROWS);
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // A POST that is sent elsewhere loses its rows: the user is told the new address.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(asking.timeout))
            .timeout_connect(Some(asking.timeout.min(CONNECT_TIMEOUT)))
            .max_idle_connections_per_host(asking.workers)
            .user_agent(concat!("facts/", env!("CARGO_PKG_VERSION")));
        if is_this_machine(&host) {
            config = config.proxy(None);
        }
        if let Some(path) = &options.ca {
            let trusted = RootCerts::new_with_certs(&certificates(path)?);
            config = config.tls_config(TlsConfig::builder().root_certs(trusted).build());
        }
        let model = Self {
            shown: secret::hidden_in_urls(&url),
            url,
            protocol,
            agent: config.build().into(),
            headers: options.headers.clone(),
            output: options.output.clone(),
            asking,
        };
        model.look_for_server()?;
        Ok(model)
    }

    /// Any answer will do, whatever its status: there is a server.
    fn look_for_server(&self) -> Result<(), OpenError> {
        let mut request = self.agent.get(&self.url);
        for (name, value) in &self.headers.0 {
            request = request.header(name, value);
        }
        match request.call() {
            Ok(_) => Ok(()),
            // rustls speaks through whatever reads and writes.
            Err(error) if error.to_string().contains("certificate") => {
                Err(OpenError::Unavailable(format!(
                    "the server at {} is not trusted: {error}; if it is yours, give its authority's PEM file (the option `ca`)",
                    self.shown
                )))
            }
            Err(error) => Err(OpenError::Unavailable(format!(
                "there is no server at {}: {}; start it, or correct the address",
                self.shown,
                self.without_secrets(&error.to_string())
            ))),
        }
    }

    /// What was said about a request: it may repeat what was sent.
    fn without_secrets(&self, said: &str) -> String {
        let headers = self.headers.0.iter().map(|(_, value)| value.as_str());
        // `Bearer x` may be repeated as `x`.
        let parts = headers.clone().flat_map(str::split_whitespace);
        let hidden = secret::secrets(&self.url);
        let parameters = hidden.iter().flat_map(|hidden| hidden.split(['&', '=']));
        let hidden = hidden.iter().copied().chain(parameters);
        asking::without(said, headers.chain(parts).chain(hidden))
    }

    /// Has one request's worth of rows answered.
    fn ask(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        let output = self.output.as_deref();
        let body = match self.protocol {
            Protocol::MLflow => mlflow::request(rows)?,
            Protocol::OpenInference => oip::request(rows, output)?,
        };
        let response = self.asking.slots.with(|| self.send_patiently(&body))?;
        let asked = rows.num_rows();
        let answer = match self.protocol {
            Protocol::MLflow => mlflow::answers(&response),
            Protocol::OpenInference => oip::answers(&response, output, asked),
        };
        let answer = answer.map_err(|error| match error {
            ModelError::Failed(why) => {
                let why = self.without_secrets(&why);
                ModelError::Failed(format!("{}: {why}", self.shown))
            }
            other => other,
        })?;
        ModelError::check_rows(asked, answer.len())?;
        Ok(answer)
    }

    /// Sends a request, again and again if need be.
    fn send_patiently(&self, body: &[u8]) -> Result<Value, ModelError> {
        let mut pause = PAUSE;
        let mut attempt = 1;
        loop {
            match self.send(body) {
                Ok(response) => return Ok(response),
                Err(Failure::Lasting(why)) => {
                    let why = self.without_secrets(&why);
                    return Err(ModelError::Failed(format!("{} {why}", self.shown)));
                }
                Err(Failure::Passing(why, _)) if attempt == ATTEMPTS => {
                    return Err(ModelError::Failed(format!(
                        "{} gave no answer in {ATTEMPTS} attempts; the last time it {}",
                        self.shown,
                        self.without_secrets(&why)
                    )));
                }
                Err(Failure::Passing(_, wish)) => {
                    std::thread::sleep(wish.unwrap_or(pause).min(LONGEST_PAUSE));
                    pause *= 2;
                    attempt += 1;
                }
            }
        }
    }

    /// Sends a request once.
    fn send(&self, body: &[u8]) -> Result<Value, Failure> {
        let mut request = self
            .agent
            .post(&self.url)
            .header("Content-Type", "application/json");
        for (name, value) in &self.headers.0 {
            request = request.header(name, value);
        }
        let mut response = request.send(body).map_err(|error| self.failure(&error))?;
        let text = read(&mut response).map_err(|error| self.failure(&error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(refusal(status, response.headers(), &text));
        }
        serde_json::from_str(&text).map_err(|error| {
            Failure::Lasting(format!(
                "did not answer with JSON ({error}): {}; is this the right address?",
                json::excerpt(text.trim())
            ))
        })
    }

    fn failure(&self, error: &ureq::Error) -> Failure {
        match error {
            ureq::Error::Timeout(_) => Failure::Passing(
                format!(
                    "took longer than {} s; allow it more time, or send fewer rows at a time",
                    self.asking.timeout.as_secs_f64()
                ),
                None,
            ),
            ureq::Error::Io(_)
            | ureq::Error::ConnectionFailed
            | ureq::Error::HostNotFound
            | ureq::Error::Protocol(_) => Failure::Passing(
                format!("could not be reached ({error}); is the server still running?"),
                None,
            ),
            other => Failure::Lasting(format!("cannot be asked: {other}")),
        }
    }
}

/// The certificates of a PEM file.
fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>, OpenError> {
    let pem = facts_guard::read_file(path, facts_guard::LARGEST_TEXT).map_err(|error| {
        OpenError::Unavailable(format!(
            "cannot read the file of certificates {}: {error}",
            path.display()
        ))
    })?;
    let certificates = parse_pem(&pem).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    });
    let invalid = |why: String| {
        OpenError::Unavailable(format!(
            "{} holds no certificates to trust: {why}; give a PEM file, with -----BEGIN CERTIFICATE-----",
            path.display()
        ))
    };
    let certificates: Vec<_> = certificates
        .collect::<Result<_, _>>()
        .map_err(|error| invalid(error.to_string()))?;
    if certificates.is_empty() {
        return Err(invalid("there is none in it".to_owned()));
    }
    Ok(certificates)
}

/// How many protocols find the answer to so many rows in a response.
pub(crate) fn readable(text: &str, asked: usize) -> usize {
    let Ok(response) = serde_json::from_str(text) else {
        return usize::from(words(text).is_empty());
    };
    let answers = [
        mlflow::answers(&response),
        oip::answers(&response, None, asked),
    ];
    let read = |answer: &Result<ArrayRef, _>| answer.as_ref().is_ok_and(|a| a.len() == asked);
    answers.iter().filter(|answer| read(answer)).count()
}

fn read(response: &mut Response<Body>) -> Result<String, ureq::Error> {
    let body = response.body_mut().with_config();
    body.limit(LARGEST_RESPONSE)
        .lossy_utf8(true)
        .read_to_string()
}

/// A status other than success.
fn refusal(status: StatusCode, headers: &HeaderMap, body: &str) -> Failure {
    let header = |name: &str| headers.get(name)?.to_str().ok();
    let said = format!("{status}: {}", words(body));
    let is_passing = status.is_server_error()
        || matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT
        );
    if is_passing {
        let wish = header("Retry-After").and_then(|seconds| seconds.trim().parse().ok());
        return Failure::Passing(
            format!("answered with status {said}"),
            wish.map(Duration::from_secs),
        );
    }
    if status.is_redirection() {
        let place = header("Location").unwrap_or("another address");
        return Failure::Lasting(format!("has moved to {place} ({status}); use that address"));
    }
    let remedy = match status.as_u16() {
        401 | 403 => "give the headers that the server wants, such as Authorization",
        404 | 405 => "correct the address or the name of the model",
        413 => "send fewer rows at a time",
        _ => "give the model the columns that it was made for, under their names",
    };
    Failure::Lasting(format!("refused the rows with status {said}; {remedy}"))
}

/// What a server says about a failure, without the parts that are for machines.
fn words(body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let field = |name: &str| {
        let field = parsed.as_ref()?.get(name)?;
        Some(
            field
                .as_str()
                .map_or_else(|| field.to_string(), str::to_owned),
        )
    };
    let message = ["message", "error", "detail"].into_iter().find_map(field);
    let trace = field("stack_trace").map(|trace| last_line(&trace).to_owned());
    let text = match (message, trace) {
        (Some(message), Some(trace)) => format!("{message} {trace}"),
        (Some(message), None) => message,
        _ if body.starts_with("Traceback") => last_line(body).to_owned(),
        _ => body.to_owned(),
    };
    match text.trim() {
        "" => "(without a word)".to_owned(),
        text => ends(text),
    }
}

/// The first and the last line of a long text. MLflow puts the rows themselves between the two,
/// which are neither what went wrong nor for everybody's eyes.
fn ends(text: &str) -> String {
    const LONGEST: usize = 500;
    const LONGEST_LINE: usize = 300;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let last = last_line(text);
    let start = text.lines().next().unwrap_or("");
    let end = last
        .char_indices()
        .nth_back(LONGEST_LINE - 1)
        .map_or(last, |(at, _)| &last[at..]);
    let start: String = start.chars().take(LONGEST_LINE).collect();
    format!("{start} … {end}")
}

/// The line of a Python traceback that says what happened.
fn last_line(trace: &str) -> &str {
    trace.trim_end().lines().next_back().unwrap_or("")
}

/// The address to send rows to, what is spoken there, and the host.
fn address(url: &str) -> Result<(String, Protocol, String), String> {
    const USAGE: &str =
        "write it like http://host:5000/invocations or http://host:8080/v2/models/NAME";
    let uri: Uri = url.parse().map_err(|error| format!("{error}; {USAGE}"))?;
    let authority = uri.authority().ok_or(USAGE)?;
    if authority.as_str().contains('@') {
        return Err("it holds a user name or a password, which would end up in reports; give an Authorization header instead".to_owned());
    }
    let path = uri.path().trim_end_matches('/');
    let parts: Vec<&str> = path.split('/').collect();
    let base = url.split(['?', '#']).next().unwrap_or(url);
    let base = base.trim_end_matches('/');
    let query = uri
        .query()
        .map_or(String::new(), |query| format!("?{query}"));
    let place = parts.windows(2).position(|pair| pair == ["v2", "models"]);
    let (url, protocol) = match place.map(|place| &parts[place + 2..]) {
        Some([name] | [name, "versions", _]) if !name.is_empty() => {
            (format!("{base}/infer{query}"), Protocol::OpenInference)
        }
        Some([name, "infer"] | [name, "versions", _, "infer"]) if !name.is_empty() => {
            (format!("{base}{query}"), Protocol::OpenInference)
        }
        None if path.ends_with("/invocations") => (format!("{base}{query}"), Protocol::MLflow),
        _ => return Err(format!("its path tells no protocol; {USAGE}")),
    };
    Ok((url, protocol, authority.host().to_owned()))
}

/// Whether a host is this machine, which no proxy can reach.
fn is_this_machine(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

impl Model for HttpModel {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        let ask = |part: &RecordBatch| self.ask(part);
        self.asking
            .predict(rows, cells::numbered, ask, |answer| answer)
    }

    fn concurrency(&self) -> usize {
        self.asking.workers
    }

    fn dictionaries(&self) -> Dictionaries {
        Dictionaries::All
    }
}

fn open(url: &str, options: &OpenOptions) -> Result<Opened, OpenError> {
    let model = HttpModel::connect(url, options)?;
    let protocol = match model.protocol {
        Protocol::MLflow => "MLflow server",
        Protocol::OpenInference => "Open Inference server",
    };
    Ok(Opened {
        inputs: None,
        description: format!("{protocol} at {}", model.shown),
        file: None,
        model: Box::new(model),
    })
}

/// Three rows with every kind of value, and with gaps.
#[cfg(test)]
fn test_rows() -> RecordBatch {
    use arrow_array::{BooleanArray, Float64Array, Int64Array, StringArray};
    use std::sync::Arc;
    let job = StringArray::from(vec![Some("cl\"erk"), None, Some("é")]);
    let owner = BooleanArray::from(vec![Some(true), Some(false), None]);
    RecordBatch::try_from_iter([
        ("job", Arc::new(job) as ArrayRef),
        (
            "hours",
            Arc::new(Int64Array::from(vec![Some(40), None, Some(-1)])),
        ),
        (
            "debt",
            Arc::new(Float64Array::from(vec![1.0, 0.1, f64::NAN])),
        ),
        ("owner", Arc::new(owner)),
    ])
    .unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_tells_the_protocol() {
        let read = |url: &str| address(url).map(|(url, protocol, _)| (url, protocol));
        let mlflow = |url: &str| Ok((url.to_owned(), Protocol::MLflow));
        let oip = |url: &str| Ok((url.to_owned(), Protocol::OpenInference));
        assert_eq!(
            read("http://h:1/invocations"),
            mlflow("http://h:1/invocations")
        );
        assert_eq!(
            read("http://h/invocations/"),
            mlflow("http://h/invocations")
        );
        assert_eq!(
            read("https://h/serving-endpoints/x/invocations?a=b"),
            mlflow("https://h/serving-endpoints/x/invocations?a=b")
        );
        assert_eq!(
            read("http://h/v2/models/m"),
            oip("http://h/v2/models/m/infer")
        );
        assert_eq!(
            read("http://h/v2/models/m/infer"),
            oip("http://h/v2/models/m/infer")
        );
        assert_eq!(
            read("http://h/a/v2/models/m/versions/3/"),
            oip("http://h/a/v2/models/m/versions/3/infer")
        );
        for wrong in [
            "http://h",
            "http://h/",
            "http://h/v2/models/",
            "http://h/v2/models/m/x",
        ] {
            assert!(
                read(wrong).unwrap_err().contains("tells no protocol"),
                "{wrong}"
            );
        }
        assert!(
            read("http://u:p@h/invocations")
                .unwrap_err()
                .contains("password")
        );
        assert!(read("http:///invocations").is_err());
    }

    #[test]
    fn the_servers_words_are_found() {
        assert_eq!(
            words(r#"{"error": "Model x not found"}"#),
            "Model x not found"
        );
        assert_eq!(
            words(r#"{"message": "no", "stack_trace": "Traceback\n  File\nValueError: x\n"}"#),
            "no ValueError: x"
        );
        assert_eq!(
            words("Traceback (most …):\n  File\nKeyError: 'job'\n"),
            "KeyError: 'job'"
        );
        assert_eq!(words(" plain \n"), "plain");
        assert_eq!(words(""), "(without a word)");
        let long = format!("no '  job\n{}19 clerk'. Error: x", "1 clerk\n".repeat(200));
        assert_eq!(words(&long), "no '  job … 19 clerk'. Error: x");
        assert_eq!(words(&"é".repeat(600)).chars().count(), 603);
        assert_eq!(
            words(r#"{"detail": [{"msg": "bad"}]}"#),
            r#"[{"msg":"bad"}]"#
        );
    }

    #[test]
    fn secrets_are_not_printed() {
        let headers = Headers::default().with("Authorization", "Bearer abc");
        assert_eq!(format!("{headers:?}"), r#"{"Authorization": "…"}"#);
    }
}
