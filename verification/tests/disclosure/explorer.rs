//! What `facts serve` answers about a saved audit, question after question, as a program asks it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use facts_report::Record;
use facts_run::{Failure, Listener};
use facts_serve::{Door, Ready, Subject};
use serde_json::{Value, json};

use super::attacker::Attacker;

/// So many rows come at once.
const ROWS: usize = 2000;

struct Until(Arc<AtomicBool>);

impl Listener for Until {
    fn check(&self) -> Result<(), Failure> {
        match self.0.load(Ordering::SeqCst) {
            true => Err(Failure::interrupted()),
            false => Ok(()),
        }
    }
}

/// A server that ends with the value.
struct Server {
    address: SocketAddr,
    token: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn start(record: &Record) -> Self {
        let subject = Subject {
            saved: vec![("audit".to_owned(), record.clone())],
            bench: None,
        };
        let stop = Arc::new(AtomicBool::new(false));
        let until = Until(Arc::clone(&stop));
        let (tell, told) = mpsc::channel::<Ready>();
        let thread = std::thread::spawn(move || {
            let door = Door {
                address: "127.0.0.1:0".parse().unwrap(),
                password: None,
                or_any_port: false,
            };
            let ready = |ready: &Ready| tell.send(ready.clone()).unwrap();
            facts_serve::serve(door, subject, &until, &ready).unwrap();
        });
        let ready = told.recv_timeout(Duration::from_secs(120)).unwrap();
        Self {
            address: ready.address,
            token: ready.token,
            stop,
            thread: Some(thread),
        }
    }

    /// The status of an answer, and its text.
    fn send(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap();
        (status.parse().unwrap(), body.to_owned())
    }

    fn get(&self, path: &str) -> String {
        let (status, body) = self.send("GET", path, "");
        assert_eq!(status, 200, "{path}: {body}");
        body
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn encoded(text: &str) -> String {
    let encoded = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    encoded.collect()
}

/// Asks everything that can be asked of a saved audit, and reads the answers.
pub(crate) fn ask(record: &Record, attacker: &mut Attacker) {
    let server = Server::start(record);
    let mut read = |view: &str, path: &str| {
        attacker.form(&format!("explorer: {view}"));
        let answer: Value = serde_json::from_str(&server.get(path)).unwrap();
        attacker.read_json(&answer);
    };
    read("session", "/api/session");
    read("audit", "/api/audits/0");
    read("stories", "/api/audits/0/stories");
    for definition in &record.definitions {
        let definition = encoded(definition);
        for from in (0..record.audit.subgroups.len()).step_by(ROWS) {
            let path = format!(
                "/api/audits/0/subgroups?definition={definition}&points=1&count={ROWS}&from={from}"
            );
            read("subgroups", &path);
        }
    }
    // Each subgroup under one definition, each definition in turn: what belongs to the definition is known
    // from the lists.
    let audit = &record.audit;
    let ranked = audit.subgroups.iter().map(|one| audit.text(&one.predicate));
    let without = (audit.without_actions.iter()).map(|one| audit.text(&one.predicate));
    let predicates: Vec<String> = [String::new()]
        .into_iter()
        .chain(ranked)
        .chain(without)
        .collect();
    for (predicate, definition) in predicates.iter().zip(record.definitions.iter().cycle()) {
        let path = format!(
            "/api/audits/0/subgroup?definition={}&predicate={}",
            encoded(definition),
            encoded(predicate)
        );
        read("subgroup", &path);
    }
    attacker.form("explorer: sheet");
    for definition in &record.definitions {
        let path = format!(
            "/api/audits/0/subgroups.csv?definition={}",
            encoded(definition)
        );
        attacker.read_sheet(&server.get(&path));
    }
    attacker.form("explorer: hand-over");
    let pins = predicates
        .iter()
        .skip(1)
        .take(record.audit.subgroups.len().min(20));
    let pins: Vec<Value> = pins
        .map(|predicate| json!({ "predicate": predicate, "note": "" }))
        .collect();
    for form in ["markdown", "html"] {
        let asked = json!({ "form": form, "definition": null, "pins": pins }).to_string();
        let (status, page) = server.send("POST", "/api/audits/0/hand-over", &asked);
        assert!(status == 200 || page.contains("suppressed"), "{page}");
        attacker.read_text(&page);
    }
    // Nobody is shown one by one.
    for path in ["people", "person?profile=0"] {
        let (status, said) = server.send("GET", &format!("/api/audits/0/{path}"), "");
        assert!(status >= 400, "{said}");
    }
}
