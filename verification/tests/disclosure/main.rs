//! What is written when small counts are suppressed tells nothing of fewer than k people, whatever is
//! subtracted from what: an attacker who has all files solves the equations between them.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod attacker;

use std::path::Path;

use facts_report::{FORMS, Record, Report, Showing};
use facts_run::{Config, Silent, Table, run};

use self::attacker::Attacker;

const K: [u64; 3] = [5, 10, 30];

/// A data set, and how it is audited: with as many subgroups as an audit of it may well have.
struct Audited {
    config: Config,
    table: Table,
}

fn audited(name: &str, text: &str, bytes: &'static [u8], settings: &[&str]) -> Audited {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let config = Config::parse("facts.toml", text, &settings).unwrap();
    let table = Table::embedded(name, bytes, &config.data).unwrap();
    Audited { config, table }
}

impl Audited {
    fn hiring() -> Self {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/hiring/model.json");
        let model = format!("model.spec=linear:{}", model.display());
        audited(
            "people.csv",
            include_str!("../../../examples/hiring/facts.toml"),
            include_bytes!("../../../examples/hiring/people.csv"),
            &[&model, "audit.support=0.01", "evidence.shuffles=99"],
        )
    }

    fn adult() -> Self {
        audited(
            "adult.csv.gz",
            include_str!("../../../data/adult/facts.toml"),
            facts_reproduce::tables::ADULT,
            &[
                "audit.support=0.02",
                "audit.max-length=3",
                "evidence.shuffles=0",
                "evidence.resamples=0",
            ],
        )
    }

    fn compas() -> Self {
        let experiment = facts_reproduce::Experiment::named("compas").unwrap();
        audited(
            "compas.csv.gz",
            experiment.config,
            facts_reproduce::tables::COMPAS,
            &[
                "audit.min-members=5",
                "evidence.shuffles=0",
                "evidence.resamples=0",
            ],
        )
    }

    fn record(&self, suppress_below: Option<u64>) -> Record {
        let mut config = self.config.clone();
        config.audit.suppress_below = suppress_below;
        run(&config, &self.table, &Silent).unwrap()
    }
}

/// What an attacker finds in all files of a record together.
fn attack(record: &Record, k: u64, together: usize) -> Attacker {
    let saved = serde_json::to_value(record).unwrap();
    let mut attacker = Attacker::of(&saved, k);
    let report = Report::new(record).unwrap();
    let showing = Showing::default();
    for form in FORMS {
        let bytes = (form.write)(&report, &showing).unwrap();
        match (form.name, String::from_utf8(bytes)) {
            ("actions-csv", Ok(sheet)) => attacker.read_actions(&sheet),
            (_, Ok(text)) => attacker.read_text(&text),
            (_, Err(_)) => {}
        }
    }
    attacker.subtract();
    let features = record.audit.features.len();
    for first in 0..features {
        for second in first + 1..features {
            if together == 2 {
                attacker.solve(&[first, second]);
            }
            for third in (second + 1..features).filter(|_| together == 3) {
                attacker.solve(&[first, second, third]);
            }
        }
    }
    attacker
}

/// Every level, least and greatest number that is named is that of at least k people of the table.
fn nobody_is_named(audited: &Audited, record: &Record, k: u64) {
    for feature in &record.audit.features {
        // A number is told as it is, or as the mean of neighbours.
        let shared = &audited.table.cells.with_shared_numbers(&[&feature.name], k);
        let column = shared.as_ref().unwrap().column(&feature.name).unwrap();
        let counts = column.counts();
        let holders = |of: &dyn Fn(&facts_engine::population::Value) -> bool| -> u64 {
            let values = column.column().values().iter().zip(&counts);
            values
                .filter(|(value, _)| of(value))
                .map(|(_, &rows)| rows as u64)
                .sum()
        };
        for level in feature.levels.iter().filter(|level| level.bounds.is_none()) {
            let Some(number) = level.number else {
                let label = level.label.trim();
                let people = holders(&|value| value.label().trim() == label);
                let missing = feature.missing.map(|m| feature.label(m));
                assert!(
                    people >= k || missing == Some(label),
                    "{}: {label} is {people}",
                    feature.name
                );
                continue;
            };
            let people = holders(&|value| value.number() == Some(number));
            assert!(people >= k, "{}: {number} is {people}", feature.name);
        }
        for end in feature
            .range
            .into_iter()
            .flat_map(|(least, greatest)| [least, greatest])
        {
            let people = holders(&|value| value.number() == Some(end));
            assert!(people >= k, "{}: {end} is {people}", feature.name);
        }
    }
}

fn nothing_is_found(audited: &Audited, together: usize) {
    for k in K {
        let record = audited.record(Some(k));
        assert!(!record.audit.subgroups.is_empty(), "nothing is left at {k}");
        let attacker = attack(&record, k, together);
        let found = attacker.found;
        assert!(
            found.is_empty(),
            "{} at {k}: {:?}",
            found.len(),
            found.first()
        );
        nobody_is_named(audited, &record, k);
        println!("k = {k}: {} subgroups", record.audit.subgroups.len());
    }
}

/// What suppression costs, as `docs/privacy.md` tells it:
/// `cargo test --workspace --test disclosure -- --ignored --nocapture`.
#[test]
#[ignore = "a table for the docs, not a check"]
fn price() {
    let data = [
        ("Adult", Audited::adult()),
        ("COMPAS", Audited::compas()),
        ("hiring", Audited::hiring()),
    ];
    for (name, mut audited) in data {
        audited.config.evidence.shuffles = Some(1000);
        for k in [None, Some(5), Some(10), Some(30)] {
            let mut config = audited.config.clone();
            config.audit.suppress_below = k;
            let record = match run(&config, &audited.table, &Silent) {
                Ok(record) => record,
                Err(failure) => {
                    println!("| {name} | {k:?} | {failure}");
                    continue;
                }
            };
            let audit = &record.audit;
            let evidence = record.evidence.as_ref().unwrap();
            let together = |s: usize| evidence.passing_together(s).count();
            let passing: usize = (0..audit.subgroups.len()).map(together).sum();
            let answer = record.answer.as_ref().unwrap();
            println!(
                "| {name} | {k:?} | {} rows | {} subgroups | {passing} pass | {} stories | {:?} | {:?}",
                audit.sizes.profiles,
                audit.subgroups.len(),
                answer.stories.len(),
                audit
                    .groups
                    .iter()
                    .map(|g| (g.people, g.affected))
                    .collect::<Vec<_>>(),
                record
                    .notes
                    .iter()
                    .find(|note| note.contains("another answer")),
            );
        }
    }
}

#[test]
fn the_attacker_finds_people_where_only_small_counts_are_left_out() {
    let mut record = Audited::hiring().record(None);
    record.audit = record.audit.suppressed(10);
    let found = attack(&record, 10, 2).found;
    let by_solving = found.iter().filter(|what| what.contains("told")).count();
    assert!(
        found.len() > 100 && by_solving > 50,
        "{} and {by_solving}",
        found.len()
    );
}

#[test]
fn nothing_is_found_in_hiring() {
    nothing_is_found(&Audited::hiring(), 3);
}

#[test]
fn nothing_is_found_in_adult() {
    nothing_is_found(&Audited::adult(), 2);
}

#[test]
fn nothing_is_found_in_compas() {
    nothing_is_found(&Audited::compas(), 2);
}
