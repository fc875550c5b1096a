//! What-ifs are bounded, and can be removed.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use facts_serve::Subject;
use serde_json::{Value, json};
use support::{Server, bench, record};

/// So many audits are held at once.
const MOST: usize = 50;

fn server() -> Server {
    let server = Server::start(Subject {
        saved: Vec::new(),
        bench: Some(bench()),
    });
    wait(&server, 0);
    server
}

/// Waits for a piece of work; how it ended.
fn wait(server: &Server, job: u64) -> Value {
    // The stream of events ends when the work does.
    server.get(&format!("/api/jobs/{job}/events"));
    server.get(&format!("/api/jobs/{job}")).json()
}

/// Asks for a what-if that is made quickly.
fn ask(server: &Server, name: usize) -> support::Answer {
    let settings = ["audit.support=0.4", "evidence.shuffles=0"];
    let body = json!({ "name": format!("what if {name}"), "settings": settings });
    server.post("/api/scenarios", &body.to_string())
}

fn keys(server: &Server) -> Vec<u64> {
    let audits = server.get("/api/session").json()["audits"].clone();
    let audits = audits.as_array().unwrap().iter();
    audits.map(|one| one["key"].as_u64().unwrap()).collect()
}

#[test]
fn there_are_fifty_audits_at_most_until_one_is_removed() {
    let server = server();
    for name in 1..MOST {
        let begun = ask(&server, name);
        assert_eq!(begun.status, 202, "{name}");
        let ended = wait(&server, begun.json()["job"].as_u64().unwrap());
        assert_eq!(ended, json!({ "is": "done", "audit": name }));
    }
    let refused = ask(&server, MOST);
    assert_eq!(refused.status, 409);
    let why = refused.json()["error"].as_str().unwrap().to_owned();
    assert!(why.contains("50 audits") && why.contains("remove"), "{why}");
    assert_eq!(server.delete("/api/audits/7").status, 200);
    assert_eq!(server.get("/api/audits/7").status, 404);
    assert_eq!(server.delete("/api/audits/7").status, 404);
    assert_eq!(server.get("/api/compare?old=0&new=7").status, 404);
    // Others keep their keys, and a new one gets none that was used.
    let begun = ask(&server, MOST);
    assert_eq!(begun.status, 202);
    let job = begun.json()["job"].as_u64().unwrap();
    assert_eq!(wait(&server, job), json!({ "is": "done", "audit": MOST }));
    let expected = (0..=MOST as u64).filter(|&key| key != 7);
    assert!(keys(&server).into_iter().eq(expected));
    // Of work that is long over nothing is kept.
    assert_eq!(server.get("/api/jobs/0").status, 404);
}

#[test]
fn what_the_command_line_named_stays() {
    let server = server();
    let refused = server.delete("/api/audits/0");
    assert_eq!(refused.status, 409);
    assert!(
        refused.json()["error"]
            .as_str()
            .unwrap()
            .contains("what-if")
    );
    let saved = vec![("hiring".to_owned(), record(&["evidence.shuffles=0"]))];
    let saved = Server::start(Subject { saved, bench: None });
    assert_eq!(saved.delete("/api/audits/0").status, 409);
    assert_eq!(keys(&saved), [0]);
}

/// Its numbers are there, its tests are still being made.
#[test]
fn a_what_if_that_is_removed_is_not_worked_out() {
    let server = server();
    let settings = ["evidence.shuffles=200000"];
    let body = json!({ "name": "long", "settings": settings }).to_string();
    let job = server.post("/api/scenarios", &body).json()["job"].as_u64();
    let path = format!("/api/jobs/{}", job.unwrap());
    let working = json!(1);
    while server.get(&path).json()["audit"] != working {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(server.delete("/api/audits/1").status, 200);
    assert_eq!(wait(&server, job.unwrap()), json!({ "is": "cancelled" }));
    assert_eq!(keys(&server), [0]);
}
