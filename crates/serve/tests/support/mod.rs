//! A server on a thread, asked over a plain socket.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub, missing_docs)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use facts_report::Record;
use facts_run::{Config, Failure, Listener, Reading, Silent, Table};
use facts_serve::{Door, Ready, Subject, Workbench};
use serde_json::Value;

/// The configuration of an example with 600 people and a linear model.
pub fn hiring() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hiring/facts.toml")
}

fn read(config: &Config) -> Table {
    let paths = config.data.path.as_ref().unwrap();
    Table::read_all(&paths.0, &config.data, Reading::needed(config)).unwrap()
}

/// A workbench over the example, with few shuffles.
pub fn bench() -> Workbench {
    let settings = vec![
        "evidence.shuffles=99".to_owned(),
        "evidence.resamples=0".to_owned(),
        "evidence.alpha=0.2".to_owned(),
    ];
    let config = Config::load(Some(&hiring()), &settings).unwrap();
    let table = read(&config);
    Workbench {
        file: Some(hiring()),
        arguments: vec!["--config".to_owned(), hiring().display().to_string()],
        settings,
        config,
        table,
    }
}

/// The audit of the example under more settings.
pub fn record(settings: &[&str]) -> Record {
    // At this level the few people of the example tell one story.
    let few = [
        "evidence.shuffles=400",
        "evidence.resamples=0",
        "evidence.alpha=0.2",
    ];
    let all: Vec<String> = few
        .iter()
        .chain(settings)
        .map(|&one| one.to_owned())
        .collect();
    let config = Config::load(Some(&hiring()), &all).unwrap();
    let table = read(&config);
    facts_run::run(&config, &table, &Silent).unwrap()
}

struct Until(Arc<AtomicBool>);

impl Listener for Until {
    fn check(&self) -> Result<(), Failure> {
        match self.0.load(Ordering::SeqCst) {
            true => Err(Failure::interrupted()),
            false => Ok(()),
        }
    }
}

/// A server that ends with the test.
pub struct Server {
    pub address: SocketAddr,
    pub token: String,
    pub url: String,
    /// The address that lets one browser in, once.
    pub url_for_one: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// An answer: its status, its head and its body.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value)
    }
}

impl Server {
    pub fn start(subject: Subject) -> Self {
        Self::start_with(subject, None)
    }

    pub fn start_with(subject: Subject, password: Option<&str>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, told) = mpsc::channel::<Ready>();
        let until = Until(Arc::clone(&stop));
        let password = password.map(str::to_owned);
        let thread = std::thread::spawn(move || {
            let address = "127.0.0.1:0".parse().unwrap();
            let door = Door {
                address,
                or_any_port: false,
                password,
            };
            let ready = |ready: &Ready| tell.send(ready.clone()).unwrap();
            facts_serve::serve(door, subject, &until, &ready).unwrap();
        });
        let Ready {
            address,
            url,
            url_for_one,
            token,
            ..
        } = told.recv_timeout(Duration::from_secs(120)).unwrap();
        Self {
            address,
            token,
            url,
            url_for_one,
            stop,
            thread: Some(thread),
        }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    /// Sends bytes and reads until the server closes.
    pub fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        let end = all
            .windows(4)
            .position(|w| w == b"\r\n\r\n")
            .expect("an answer");
        let head = String::from_utf8(all[..end].to_vec()).unwrap();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            body: all[end + 4..].to_vec(),
            head,
        }
    }

    /// A request with these headers, and the right host unless one is given.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let host = self.address.to_string();
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request += &format!("Host: {host}\r\n");
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        request += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.raw(request.as_bytes())
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// What a program asks.
    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[("Authorization", &self.bearer())], "")
    }

    pub fn post(&self, path: &str, body: &str) -> Answer {
        self.send("POST", path, &[("Authorization", &self.bearer())], body)
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[("Authorization", &self.bearer())], "")
    }

    /// The cookie that a browser gets for the token.
    pub fn cookie(&self) -> String {
        let path = self
            .url
            .split_once(&self.address.to_string())
            .unwrap()
            .1
            .to_owned();
        let answer = self.send("GET", &path, &[], "");
        assert_eq!(answer.status, 303);
        let cookie = answer.header("Set-Cookie").unwrap().to_owned();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Ends it, and waits until it has ended.
    pub fn end(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

/// A text as it stands in a query.
pub fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}
