//! `facts check` beside a baseline: what survives a new audit, and what cannot be compared.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Made-up people. To those without a job a way out is less open if they are of group F: so many
/// percentage points fewer of them have luck.
#[derive(Clone, Copy)]
struct People<'a> {
    number: u64,
    gap: u64,
    columns: [&'a str; 6],
    groups: [&'a str; 2],
    edges: &'a str,
}

const PEOPLE: People<'static> = People {
    number: 3000,
    gap: 30,
    columns: ["group", "area", "job", "training", "age", "luck"],
    groups: ["F", "M"],
    edges: "[0, 40, 100]",
};

const MODEL: &str = r#"{
  "intercept": -2.5,
  "levels": {
    "job": { "none": 0, "clerk": 1, "expert": 1.4 },
    "training": { "low": 0, "high": 1 }
  },
  "numbers": { "luck": 1 }
}"#;

impl People<'_> {
    fn table(self) -> String {
        let mut seed = 7_u64;
        let mut draw = |below: u64| {
            seed = (seed.wrapping_mul(6_364_136_223_846_793_005)).wrapping_add(1);
            (seed >> 33) % below
        };
        let mut text = self.columns.join(",") + "\n";
        for _ in 0..self.number {
            let group = draw(2) as usize;
            let job = ["none", "clerk", "expert"][draw(3) as usize];
            let less = if group == 0 && job == "none" {
                self.gap
            } else {
                0
            };
            let area = ["north", "south"][draw(2) as usize];
            let training = ["low", "high"][draw(2) as usize];
            let (age, lucky) = (20 + draw(60), draw(100) < 60 - less);
            let values = self.columns.map(|column| match column {
                "group" => self.groups[group].to_owned(),
                "area" => area.to_owned(),
                "job" => job.to_owned(),
                "training" => training.to_owned(),
                "age" => age.to_string(),
                _ => u64::from(lucky).to_string(),
            });
            text += &(values.join(",") + "\n");
        }
        text
    }

    fn config(self, file: &str) -> String {
        format!(
            r#"
[data]
path = "{file}"
context = ["luck"]
[model]
spec = "linear:model.json"
favourable = 1
[protected.group]
[features.area]
immutable = true
[features.age]
edges = {}
labels = ["young", "old"]
immutable = true
[features.job]
order = ["none", "clerk", "expert"]
[features.training]
order = ["low", "high"]
[audit]
support = 0.05
[evidence]
shuffles = 199
resamples = 0
[report]
definitions = ["equal-effectiveness:micro"]
[[check.rule]]
name = "stories"
[[check.rule]]
name = "findings"
definition = "equal-effectiveness:micro"
"#,
            self.edges
        )
    }

    /// Checks these people in a folder, with a file of that name.
    fn check(self, folder: &Path, file: &str, arguments: &[&str]) -> (i32, Value) {
        std::fs::write(folder.join("model.json"), MODEL).unwrap();
        std::fs::write(folder.join(file), self.table()).unwrap();
        std::fs::write(folder.join("facts.toml"), self.config(file)).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_facts"))
            .current_dir(folder)
            .env_remove("GITHUB_ACTIONS")
            .env_remove("GITHUB_STEP_SUMMARY")
            .args(["check", "--quiet", "--format", "json"])
            .args(arguments)
            .output()
            .unwrap();
        let told = serde_json::from_slice(&output.stdout);
        let told = told.unwrap_or_else(|_| panic!("{output:?}"));
        (output.status.code().unwrap(), told)
    }
}

/// How many findings of all rules are in a state.
fn count(gate: &Value, state: &str) -> usize {
    let rules = gate["rules"].as_array().unwrap().iter();
    let findings = rules.flat_map(|rule| rule["findings"].as_array().unwrap());
    findings.filter(|finding| finding["state"] == state).count()
}

fn ids(gate: &Value) -> Vec<&str> {
    let rules = gate["rules"].as_array().unwrap().iter();
    let findings = rules.flat_map(|rule| rule["findings"].as_array().unwrap());
    findings
        .map(|finding| finding["id"].as_str().unwrap())
        .collect()
}

/// A folder with a baseline that accepts what is found among [`PEOPLE`].
fn accepted() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (code, before) = PEOPLE.check(folder.path(), "people.csv", &["--no-baseline"]);
    assert_eq!(code, 1, "{before}");
    assert!(ids(&before).len() > 3, "{before}");
    let (code, _) = PEOPLE.check(folder.path(), "people.csv", &["--update-baseline"]);
    assert_eq!(code, 0);
    folder
}

#[test]
fn ids_survive_other_files_other_orders_and_more_rows() {
    let folder = accepted();
    let (code, before) = PEOPLE.check(folder.path(), "people.csv", &[]);
    let all = ids(&before).len();
    assert_eq!((code, count(&before, "known")), (0, all), "{before}");
    let reordered = People {
        columns: ["luck", "age", "training", "job", "group", "area"],
        ..PEOPLE
    };
    let (code, gate) = reordered.check(folder.path(), "renamed.csv", &[]);
    assert_eq!((code, ids(&gate)), (0, ids(&before)), "{gate}");
    assert_eq!(count(&gate, "known"), all, "{gate}");
    let more = People {
        number: 3300,
        ..PEOPLE
    };
    let (code, gate) = more.check(folder.path(), "people.csv", &[]);
    assert_eq!((code, count(&gate, "new")), (0, 0), "{gate}");
    let stayed = ids(&before)
        .iter()
        .filter(|id| ids(&gate).contains(id))
        .count();
    assert!(2 * stayed > all, "{gate}");
}

#[test]
fn a_gap_that_grows_counts_and_one_that_shrinks_does_not() {
    let folder = accepted();
    let wider = People { gap: 55, ..PEOPLE };
    let (code, gate) = wider.check(folder.path(), "people.csv", &[]);
    assert_eq!(code, 1, "{gate}");
    assert!(count(&gate, "grown") > 0, "{gate}");
    let narrower = People { gap: 22, ..PEOPLE };
    let (code, gate) = narrower.check(folder.path(), "people.csv", &[]);
    assert_eq!(
        (code, count(&gate, "new"), count(&gate, "grown")),
        (0, 0, 0),
        "{gate}"
    );
}

#[test]
fn what_is_gone_is_pruned_and_counts_when_it_returns() {
    let folder = accepted();
    let none = People { gap: 0, ..PEOPLE };
    let (code, gate) = none.check(folder.path(), "people.csv", &[]);
    let gone = gate["baseline"]["gone"].as_object().unwrap().len();
    assert_eq!((code, ids(&gate).len()), (0, 0), "{gate}");
    assert!(gone > 3, "{gate}");
    assert_eq!(none.check(folder.path(), "people.csv", &["--prune"]).0, 0);
    let path = folder.path().join("facts.baseline.json");
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(kept["findings"].as_object().unwrap().len(), 0);
    assert_eq!(kept["counts-as-new"].as_array().unwrap().len(), gone);
    let (code, gate) = PEOPLE.check(folder.path(), "people.csv", &[]);
    assert_eq!((code, count(&gate, "new")), (1, gone), "{gate}");
}

fn warned(gate: &Value, what: &str) -> bool {
    let warnings = gate["baseline"]["warnings"].as_array().unwrap();
    warnings
        .iter()
        .any(|warning| warning.as_str().unwrap().contains(what))
}

#[test]
fn what_cannot_be_compared_counts_as_new_and_is_said() {
    let folder = accepted();
    let others = People {
        groups: ["G", "M"],
        ..PEOPLE
    };
    let (code, gate) = others.check(folder.path(), "people.csv", &[]);
    assert_eq!(code, 1);
    assert_eq!(count(&gate, "new"), ids(&gate).len(), "{gate}");
    assert!(warned(&gate, "nothing in the baseline can be compared"));
    // Bins that are called the same and lie elsewhere: what names them is not the same any more.
    let moved = People {
        edges: "[0, 60, 100]",
        ..PEOPLE
    };
    let (_, gate) = moved.check(folder.path(), "people.csv", &[]);
    assert!(warned(&gate, "the bins of age are called the same"));
    let rules = gate["rules"].as_array().unwrap().iter();
    let findings = rules.flat_map(|rule| rule["findings"].as_array().unwrap());
    let (mut of_age, mut of_others) = (0, 0);
    for finding in findings {
        let names_age = finding["predicate"].as_str().unwrap().contains("age");
        *if names_age {
            &mut of_age
        } else {
            &mut of_others
        } += 1;
        assert_eq!(finding["state"] == "new", names_age, "{finding}");
    }
    assert!(of_age > 0 && of_others > 0, "{gate}");
    // An audit that can be read, of another table altogether.
    let renamed = MODEL.replace("\"job\"", "\"post\"");
    let file = folder.path();
    std::fs::write(file.join("model.json"), renamed).unwrap();
    let table = PEOPLE.table().replacen("job", "post", 1);
    std::fs::write(file.join("people.csv"), table).unwrap();
    let config = PEOPLE
        .config("people.csv")
        .replace("features.job", "features.post");
    std::fs::write(file.join("facts.toml"), config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_facts"));
    let output = command
        .args(["check", "--quiet", "--format", "json"])
        .current_dir(file)
        .output()
        .unwrap();
    let gate: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(warned(&gate, "feature post is new") && warned(&gate, "feature job is gone"));
}
