//! `facts serve` as it is typed: it says where it is, answers, and ends when it is told to.
#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn facts() -> Command {
    Command::new(env!("CARGO_BIN_EXE_facts"))
}

fn hiring() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hiring/facts.toml")
}

/// A program that is ended with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts it and reads the address that it prints.
fn start(command: &mut Command) -> (Serving, String) {
    let child = command
        .arg("--no-browser")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut serving = Serving(child);
    let mut line = String::new();
    let mut said = BufReader::new(serving.0.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    let url = line
        .trim()
        .strip_prefix("Open ")
        .expect("an address")
        .to_owned();
    (serving, url)
}

fn session(url: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let (host, token) = address.split_once("/?token=").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!(
        "GET /api/session HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Sends what Ctrl-C sends, and waits for the end.
fn interrupt(mut serving: Serving) {
    let pid = serving.0.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert!(serving.0.wait().unwrap().success());
}

#[test]
fn a_saved_audit_is_served_until_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("result");
    let mut audit = facts();
    audit
        .args(["audit", "--no-evidence", "--quiet", "--config"])
        .arg(hiring());
    assert!(
        audit
            .arg("--out")
            .arg(&out)
            .stdout(Stdio::null())
            .status()
            .unwrap()
            .success()
    );
    let (serving, url) = start(facts().arg("serve").arg(&out));
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let answer = session(&url);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.contains("\"bench\":false"), "{answer}");
    interrupt(serving);
}

/// The tests of the audit are still being made when it ends.
#[test]
fn ctrl_c_ends_an_audit_that_is_being_made() {
    let settings = ["--set", "evidence.shuffles=200000"];
    let (serving, url) = start(
        facts()
            .args(["serve", "--config"])
            .arg(hiring())
            .args(settings),
    );
    let answer = session(&url);
    assert!(
        answer.contains("\"bench\":true") && answer.contains("\"job\":0"),
        "{answer}"
    );
    interrupt(serving);
}

#[test]
fn other_machines_are_let_in_only_with_a_password() {
    let listen = |password: &str| {
        let mut command = facts();
        command
            .args(["serve", "--listen", "0.0.0.0", "--config"])
            .arg(hiring());
        let done = command.env("FACTS_PASSWORD", password).output().unwrap();
        assert_eq!(done.status.code(), Some(2));
        String::from_utf8(done.stderr).unwrap()
    };
    assert!(listen("").contains("FACTS_PASSWORD"));
    assert!(listen("short").contains("at least 12 characters"));
}
