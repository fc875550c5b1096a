//! Every answer is as `docs/schema/api.schema.json` says, and every route stands there and in `docs/api.md`.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::path::{Path, PathBuf};

use facts_serve::Subject;
use serde_json::{Value, json};
use support::{Server, bench, encoded, record};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The schema, which refers to that of reports.
struct Schema {
    schemas: boon::Schemas,
    index: boon::SchemaIndex,
}

impl Schema {
    fn read() -> Self {
        let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
        for file in ["api.schema.json", "report.schema.json"] {
            let text = std::fs::read_to_string(docs().join("schema").join(file)).unwrap();
            let schema = serde_json::from_str(&text).unwrap();
            let address = format!("file:///{file}");
            compiler.add_resource(&address, schema).unwrap();
        }
        let index = compiler.compile("file:///api.schema.json", &mut schemas);
        let index = index.unwrap();
        Self { schemas, index }
    }

    fn objection(&self, asked: &str, answer: &Value) -> Option<String> {
        let document = json!({ asked: answer });
        let refused = self.schemas.validate(&document, self.index).err();
        refused.map(|error| format!("{error:#}"))
    }

    fn check(&self, asked: &str, answer: &Value) {
        let objection = self.objection(asked, answer);
        assert!(objection.is_none(), "{asked}: {}", objection.unwrap());
    }

    /// Asks, and checks the answer.
    fn get(&self, server: &Server, asked: &str, path: &str) -> Value {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}");
        self.check(asked, &answer.json());
        answer.json()
    }

    /// Everything that can be asked of one audit.
    fn of_audit(&self, server: &Server, key: usize) {
        let audit = format!("/api/audits/{key}");
        let overview = self.get(server, "GET /api/audits/KEY", &audit);
        self.get(
            server,
            "GET /api/audits/KEY/stories",
            &format!("{audit}/stories"),
        );
        let definitions = overview["definitions"].as_array().unwrap();
        let ids = definitions.iter().map(|one| one["id"].as_str().unwrap());
        for id in ids.chain(["equal-choice:0.45"]) {
            let path = format!("{audit}/subgroups?definition={id}&points=1&count=400");
            let all = self.get(server, "GET /api/audits/KEY/subgroups", &path);
            let path = format!("{audit}/subgroups.json?definition={id}");
            self.get(server, "GET /api/audits/KEY/subgroups.json", &path);
            let rows = all["rows"].as_array().unwrap().iter().step_by(60);
            let predicates = rows.map(|row| row["predicate"].as_str().unwrap());
            for predicate in
                predicates.chain(["", "degree = university, job = manager, hours = part time"])
            {
                let predicate = encoded(predicate);
                let path = format!("{audit}/subgroup?definition={id}&predicate={predicate}");
                self.get(server, "GET /api/audits/KEY/subgroup", &path);
            }
        }
    }
}

#[test]
fn answers_about_saved_audits_are_as_the_schema_says() {
    let schema = Schema::read();
    let looked_at = ["evidence.resamples=50", "evidence.stability=true"];
    let mut suppressed = record(&[]);
    suppressed.audit = suppressed.audit.clone().suppressed(10);
    (suppressed.evidence, suppressed.answer) = (None, None);
    let saved = [
        record(&looked_at),
        record(&["features.job.immutable=true"]),
        suppressed,
    ];
    let names = ["looked at", "jobs stay", "suppressed"];
    let saved = names.map(str::to_owned).into_iter().zip(saved).collect();
    let server = Server::start(Subject { saved, bench: None });
    schema.get(&server, "GET /api/session", "/api/session");
    for key in 0..3 {
        schema.of_audit(&server, key);
    }
    for (old, new) in [(0, 1), (1, 0)] {
        let path = format!("/api/compare?old={old}&new={new}");
        schema.get(&server, "GET /api/compare", &path);
    }
    for (path, status) in [
        ("/api/audits/0/subgroups", 400),
        ("/api/audits/7", 404),
        ("/api/audits/0/people", 409),
        ("/api/nothing", 404),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, status, "{path}");
        schema.check("any error", &answer.json());
    }
    schema.check(
        "any error",
        &server.send("GET", "/api/session", &[], "").json(),
    );
}

#[test]
fn answers_about_what_ifs_and_people_are_as_the_schema_says() {
    let schema = Schema::read();
    let server = Server::start(Subject {
        saved: Vec::new(),
        bench: Some(bench()),
    });
    schema.get(&server, "GET /api/session", "/api/session");
    // Each event is checked, and the last of them is the end.
    let events = |job: &Value| {
        let told = server.get(&format!("/api/jobs/{job}/events")).body;
        let told = String::from_utf8(told).unwrap();
        for line in told.lines().filter_map(|line| line.strip_prefix("data: ")) {
            let stage = serde_json::from_str(line).unwrap();
            schema.check("GET /api/jobs/ID/events", &stage);
        }
        schema.get(&server, "GET /api/jobs/ID", &format!("/api/jobs/{job}"))
    };
    assert_eq!(events(&json!(0))["is"], "done");
    let begin = |asked: &str, path: &str, body: &Value| {
        schema.check(&format!("body of {asked}"), body);
        let begun = server.post(path, &body.to_string());
        assert_eq!(begun.status, 202);
        schema.check(asked, &begun.json());
        begun.json()["job"].clone()
    };
    let scenarios = "/api/scenarios";
    let what_if = json!({ "name": "jobs stay", "settings": ["features.job.immutable=true"] });
    let job = begin("POST /api/scenarios", scenarios, &what_if);
    assert_eq!(events(&job)["is"], "done");
    let wrong = json!({ "name": "wrong", "settings": ["features.nothing.weight=2"] });
    let job = begin("POST /api/scenarios", scenarios, &wrong);
    assert_eq!(events(&job)["is"], "failed");
    let test = json!({ "definition": "equal-choice:0.5", "alpha": 0.2 });
    let job = begin("POST /api/audits/KEY/tests", "/api/audits/1/tests", &test);
    assert_eq!(events(&job)["is"], "done");
    schema.get(&server, "GET /api/session", "/api/session");
    schema.of_audit(&server, 1);
    let path = "/api/audits/0/people?count=20";
    let people = schema.get(&server, "GET /api/audits/KEY/people", path);
    for row in people["rows"].as_array().unwrap() {
        let path = format!("/api/audits/0/person?profile={}", row["profile"]);
        schema.get(&server, "GET /api/audits/KEY/person", &path);
    }
    let pins = json!([{ "predicate": "job = clerk", "note": "" }]);
    let body = json!({ "form": "markdown", "definition": null, "pins": pins });
    schema.check("body of POST /api/audits/KEY/hand-over", &body);
    let answer = server.post("/api/audits/0/hand-over", &body.to_string());
    assert_eq!(answer.status, 200);
    for (asked, path) in [
        ("DELETE /api/jobs/ID", "/api/jobs/0"),
        ("DELETE /api/audits/KEY", "/api/audits/1"),
    ] {
        let answer = server.delete(path);
        assert_eq!(answer.status, 200);
        schema.check(asked, &answer.json());
    }
}

#[test]
fn the_schema_objects_to_what_is_wrong() {
    let schema = Schema::read();
    for (asked, answer) in [
        ("GET /api/nothing", json!({})),
        ("GET /api/session", json!({})),
        ("DELETE /api/jobs/ID", json!({ "job": 1 })),
        ("GET /api/jobs/ID", json!({ "is": "done", "audit": null })),
        ("any error", json!({ "error": "x", "more": 1 })),
    ] {
        assert!(schema.objection(asked, &answer).is_some(), "{asked}");
    }
}

/// Whatever is answered in JSON stands in the schema, and what stands there is explained.
#[test]
fn the_pages_table_and_the_schema_name_the_same_routes() {
    let text = std::fs::read_to_string(docs().join("schema/api.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let routes = schema["properties"].as_object().unwrap().keys();
    let is_route = |name: &&String| name.contains(" /api/") && !name.starts_with("body");
    let mut known: Vec<String> = routes.filter(is_route).cloned().collect();
    let page = std::fs::read_to_string(docs().join("api.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| "));
    let firsts = rows.filter_map(|row| row.split(" | ").next());
    let named = firsts.flat_map(|cell| cell.split('`'));
    let named = named.filter(|part| part.contains(" /api/"));
    let mut told: Vec<String> = named
        .map(|route| route.split('?').next().unwrap().to_owned())
        .collect();
    // What is no JSON.
    told.retain(|route| {
        !["csv", "config", "hand-over"]
            .iter()
            .any(|end| route.ends_with(end))
    });
    known.sort();
    told.sort();
    assert_eq!(told, known);
}
