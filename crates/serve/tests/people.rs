//! One person: what is told of them is what the model says, asked anew, and what the table holds.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::collections::BTreeMap;

use facts_serve::Subject;
use serde_json::Value;
use support::{Server, bench, encoded, hiring, record};

type Row = BTreeMap<String, String>;

/// The scorecard of the example, worked out by hand.
struct Scorecard(Value);

impl Scorecard {
    fn read() -> Self {
        let text = std::fs::read_to_string(hiring().with_file_name("model.json")).unwrap();
        Self(serde_json::from_str(&text).unwrap())
    }

    fn keeps(&self, row: &Row) -> bool {
        let levels = ["degree", "job", "hours"].map(|name| &self.0["levels"][name][&row[name]]);
        let levels = levels.iter().map(|points| points.as_f64().unwrap());
        let years: f64 = row["years"].parse().unwrap();
        let intercept = self.0["intercept"].as_f64().unwrap();
        let a_year = self.0["numbers"]["years"].as_f64().unwrap();
        intercept + a_year * years + levels.sum::<f64>() > 0.0
    }
}

fn table() -> Vec<Row> {
    let text = std::fs::read_to_string(hiring().with_file_name("people.csv")).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let cells = names.iter().zip(line.split(','));
        cells
            .map(|(name, cell)| ((*name).to_owned(), cell.to_owned()))
            .collect()
    };
    lines.map(row).collect()
}

/// What the page knows of somebody, as a row of the table.
fn row_of(person: &Value) -> Row {
    let values = person["values"].as_array().unwrap().iter();
    values
        .map(|value| {
            let own = value["value"].as_str().or(value["level"].as_str()).unwrap();
            (
                value["feature"].as_str().unwrap().to_owned(),
                own.to_owned(),
            )
        })
        .collect()
}

/// The bin of the example that a number of years lies in.
fn bin(years: &str) -> usize {
    let years: f64 = years.parse().unwrap();
    [3.0, 6.0, 9.0, 12.0]
        .iter()
        .filter(|&&edge| years > edge)
        .count()
}

/// Alike as the audit sees people: the table's missing code is a level.
fn alike(a: &Row, b: &Row) -> bool {
    let region = |row: &Row| match row["region"].as_str() {
        "?" | "" => "missing".to_owned(),
        region => region.to_owned(),
    };
    ["degree", "job", "hours"]
        .iter()
        .all(|&name| a[name] == b[name])
        && bin(&a["years"]) == bin(&b["years"])
        && region(a) == region(b)
}

fn bench_server() -> Server {
    Server::start(Subject {
        saved: Vec::new(),
        bench: Some(bench()),
    })
}

#[test]
fn what_turns_the_answer_turns_it_when_the_model_is_asked_anew() {
    let (server, scorecard) = (bench_server(), Scorecard::read());
    let all = server.get("/api/audits/0/people?count=200").json();
    let rows = all["rows"].as_array().unwrap().clone();
    assert!(rows.len() > 50, "{}", rows.len());
    let mut turned = 0;
    for listed in rows.iter().step_by(3) {
        let path = format!("/api/audits/0/person?profile={}", listed["profile"]);
        let person = server.get(&path).json();
        let row = row_of(&person);
        assert!(!scorecard.keeps(&row), "{row:?} is refused");
        let turning = person["turning"].as_array().unwrap();
        let way = turning
            .first()
            .map_or("–", |one| one["cost_text"].as_str().unwrap());
        assert_eq!(listed["way"], way);
        let costs: Vec<f64> = turning
            .iter()
            .map(|one| one["cost"].as_f64().unwrap())
            .collect();
        assert!(costs.is_sorted());
        for one in turning {
            let change = one["change"].as_str().unwrap();
            // A move into a bin keeps the person's place in it: checked by the engine's own tests.
            if change.contains("years") {
                continue;
            }
            let mut changed = row.clone();
            for assignment in change.split(", ") {
                let (name, level) = assignment.split_once(" = ").unwrap();
                changed.insert(name.to_owned(), level.to_owned());
            }
            assert!(scorecard.keeps(&changed), "{row:?}: {change}");
            turned += 1;
        }
    }
    assert!(turned > 30, "{turned}");
}

#[test]
fn people_like_them_are_those_of_the_table() {
    let (server, scorecard, table) = (bench_server(), Scorecard::read(), table());
    let rows = server.get("/api/audits/0/people?count=40").json();
    for listed in rows["rows"].as_array().unwrap() {
        let path = format!("/api/audits/0/person?profile={}", listed["profile"]);
        let person = server.get(&path).json();
        let row = row_of(&person);
        for cells in person["alike"]["table"]["rows"].as_array().unwrap() {
            let like = |other: &&Row| other["sex"] == cells[0] && alike(other, &row);
            let people: Vec<&Row> = table.iter().filter(like).collect();
            let refused = people.iter().filter(|one| !scorecard.keeps(one)).count();
            assert_eq!(cells[1], people.len().to_string(), "{row:?}");
            assert_eq!(cells[2], refused.to_string(), "{row:?}");
        }
        let closest = &person["closest"];
        let predicate = closest["predicate"].as_str().unwrap();
        assert!(!predicate.is_empty());
        let path = format!(
            "/api/audits/0/subgroup?definition=equal-effectiveness:micro&predicate={}",
            encoded(predicate)
        );
        let members = server.get(&path).json()["found"]["row"]["members"].clone();
        for (cells, members) in
            (closest["table"]["rows"].as_array().unwrap().iter()).zip(members.as_array().unwrap())
        {
            assert_eq!(cells[2], members.to_string());
        }
    }
}

#[test]
fn people_are_found_by_conditions() {
    let server = bench_server();
    let ask = |query: &str| server.get(&format!("/api/audits/0/people?{query}"));
    // A window at a time, since no more are listed at once.
    let mut all: Vec<Value> = Vec::new();
    loop {
        let some = ask(&format!("count=200&from={}", all.len())).json();
        all.extend(some["rows"].as_array().unwrap().iter().cloned());
        if some["matching"] == all.len() {
            break;
        }
    }
    let where_ = encoded("job = clerk, degree != none");
    let clerks = ask(&format!("group=Female&count=200&where={where_}")).json();
    let is_one = |row: &&Value| {
        let known = row_of(row);
        row["group"] == "Female" && known["job"] == "clerk" && known["degree"] != "none"
    };
    let expected = all.iter().filter(is_one);
    let expected: Vec<&Value> = expected.map(|row| &row["profile"]).collect();
    let found: Vec<&Value> = (clerks["rows"].as_array().unwrap().iter())
        .map(|row| &row["profile"])
        .collect();
    assert_eq!(found, expected);
    assert!(!found.is_empty());
    let command = clerks["command"].as_str().unwrap();
    assert!(
        command.ends_with("--person 'job = clerk, degree != none' --group Female"),
        "{command}"
    );
    // Numbers in bins are compared with the person's own.
    for (text, holds) in [
        ("years = 7", (|years| years == 7.0) as fn(f64) -> bool),
        ("years >= 7.5, degree = none", |years| years >= 7.5),
        ("years <= 2", |years| years <= 2.0),
        ("years != 7", |years| years != 7.0),
    ] {
        let found = ask(&format!("count=200&where={}", encoded(text))).json();
        let fits = |row: &&Value| {
            let known = row_of(row);
            let degree = !text.contains("degree") || known["degree"] == "none";
            holds(known["years"].parse().unwrap()) && degree
        };
        assert_eq!(found["matching"], all.iter().filter(fits).count(), "{text}");
        assert_ne!(found["matching"], 0, "{text}");
    }
    let why = |query: &str| {
        let answer = ask(query);
        assert_eq!(answer.status, 400);
        answer.json()["error"].as_str().unwrap().to_owned()
    };
    assert!(why("where=jobs%3Dclerk").contains("did you mean `job`"));
    let wrong = why("where=years%20%3E%3D%20many");
    assert!(
        wrong.contains("`many` is no number and no level of `years`"),
        "{wrong}"
    );
    assert!(why("where=job").contains("says nothing of a person"));
    assert!(why("group=Nobody").contains("Nobody"));
    assert!(why("from=x").contains("not a whole number"));
    assert_eq!(server.get("/api/audits/0/person").status, 400);
    assert_eq!(server.get("/api/audits/0/person?profile=99999").status, 404);
}

#[test]
fn nobody_is_shown_of_a_saved_audit_or_where_small_counts_are_suppressed() {
    let saved = vec![("hiring".to_owned(), record(&["evidence.shuffles=0"]))];
    let saved = Server::start(Subject { saved, bench: None });
    let mut suppressing = bench();
    suppressing
        .settings
        .push("audit.suppress-below=5".to_owned());
    suppressing.config.audit.suppress_below = Some(5);
    let suppressing = Server::start(Subject {
        saved: Vec::new(),
        bench: Some(suppressing),
    });
    for (server, why) in [
        (&saved, "holds counts and no people"),
        (&suppressing, "suppress-below"),
    ] {
        assert_eq!(
            server.get("/api/session").json()["audits"][0]["people"],
            false
        );
        for path in ["people", "person?profile=0"] {
            let answer = server.get(&format!("/api/audits/0/{path}"));
            assert_eq!(answer.status, 409);
            assert!(answer.json()["error"].as_str().unwrap().contains(why));
        }
    }
    // A what-if cannot uncover them, since what hides them is no what-if's to change.
    let body = r#"{"name": "x", "settings": ["audit.suppress-below=1"]}"#;
    let answer = suppressing.post("/api/scenarios", body);
    assert_eq!(
        answer.status,
        400,
        "{}",
        String::from_utf8_lossy(&answer.body)
    );
}
