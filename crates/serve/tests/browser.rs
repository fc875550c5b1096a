//! The page in a real browser, used as a person uses it; what it shows is compared with the engine.
//!
//! `FACTS_NODE` names a `node`, `FACTS_CHROMIUM` a Chromium and `FACTS_FIREFOX` a Firefox, which takes the
//! main path alone; run `npm ci` in `verification/browser` first. Without these variables a browser is left
//! out, and the test says so; on CI that is a failure. Pictures are left in `target/explorer`.
#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use facts_engine::definitions::{self, Fair};
use facts_engine::ranking::Filters;
use facts_report::evidence::words;
use facts_report::text::{count, number, value};
use facts_report::views::{self, Places, sides, verdict};
use facts_report::{Csc, Diff, Record, Report, overview};
use facts_serve::Subject;
use serde_json::{Value, json};
use support::{Server, bench, record};

fn named(variable: &str) -> Option<String> {
    let found = std::env::var(variable).ok().filter(|path| !path.is_empty());
    if found.is_none() {
        let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!is_ci, "{variable} must be set on CI");
        eprintln!("LEFT OUT: set {variable} to open the explorer in a browser");
    }
    found
}

/// What a table of all subgroups by a definition must say.
fn ranked(record: &Record, id: &str) -> Value {
    let definition = definitions::parse(id).unwrap();
    let audit = &record.audit;
    let ranking = audit.rank(definition.as_ref());
    let people = ranking.for_people(definition.as_ref(), &audit.subgroups);
    let first = people.ranked.iter().take(5).map(|one| {
        let values = one.assessment.values.iter().map(|&one| value(one));
        json!({
            "predicate": audit.text(&audit.subgroups[one.subgroup].predicate),
            "people": count(audit.subgroups[one.subgroup].people()),
            "values": values.collect::<Vec<_>>(),
            "score": number(one.assessment.score),
        })
    });
    json!({
        "id": id,
        "title": ranking.title,
        "ranked": count(ranking.ranked.len() as u64),
        "unfair": count(ranking.unfair().len() as u64),
        "first": first.collect::<Vec<_>>(),
    })
}

/// How many findings pass at another level than that of the audit.
fn at_level(record: &Record, id: &str, alpha: f64) -> String {
    let ranking = (record.audit).rank(definitions::parse(id).unwrap().as_ref());
    let tests = record.tests_of(id).unwrap();
    let passes = |subgroup: usize| tests.tested[subgroup].is_some_and(|one| one.passes(alpha));
    let unfair = ranking.unfair().iter();
    let passing = unfair.filter(|ranked| passes(ranked.subgroup)).count();
    format!("{} of them pass at α = {alpha}.", count(passing as u64))
}

fn expected(old: &Record, new: &Record) -> Value {
    let report = Report::new(old).unwrap();
    let answered = report.answered().unwrap();
    let stories = answered.stories();
    let diff = Diff::new(old, new, &old.definitions).unwrap();
    let people = diff.people.as_ref().unwrap();
    let matrix = stories.iter().map(|story| {
        let subgroup = &old.audit.subgroups[story.subgroup];
        let scores = report.columns.iter().map(|column| {
            let found = column.definition.assess(subgroup).unwrap();
            match found.fair() {
                Some(Fair::Equal) => "=".to_owned(),
                Some(Fair::OutOfReach) => "∅".to_owned(),
                None => number(found.score),
            }
        });
        scores.collect::<Vec<_>>()
    });
    let document = serde_json::to_value(answered.document()).unwrap();
    let told = stories.first().unwrap();
    let effectiveness = (report.columns.iter())
        .find(|column| column.ranking.definition == "equal-effectiveness:micro")
        .unwrap();
    let shown = old.audit.show(
        &effectiveness.ranking,
        effectiveness.definition.as_ref(),
        &Filters::default(),
    );
    let shown = (shown.iter())
        .find(|shown| shown.ranked.subgroup == told.subgroup)
        .unwrap();
    let mut csc = Csc::new(&old.audit, report.evidence(), effectiveness, shown);
    csc.gap = report.gap(told.subgroup).cloned();
    json!({
        "verdict": document["verdict_words"],
        "headline": document["headline"],
        "drivers": document["drivers"],
        "drill": {
            "sides": sides(&csc),
            "verdict": verdict(&csc, shown.ranked.assessment.fair()),
            "support": words::lines(&csc),
            "definitions": overview::all_definitions(&report, told.subgroup),
            "actions": overview::all_actions(&report, told.subgroup),
        },
        "stories": stories.iter().map(|story| &story.sentence).collect::<Vec<_>>(),
        "predicates": stories.iter().map(|story| &story.predicate).collect::<Vec<_>>(),
        "matrix": matrix.collect::<Vec<_>>(),
        "rankings": [
            ranked(old, "equal-effectiveness:micro"),
            ranked(old, "equal-cost-of-effectiveness:macro:0.3"),
        ],
        "told": views::stories(&report, &Places::new(&old.audit), &|_| None),
        "atLevel": at_level(old, "equal-effectiveness:micro", 0.109),
        "slid": ranked(old, "equal-cost-of-effectiveness:macro:0.31"),
        "trend": people.trend.words(),
        "sentence": people.sentence(),
    })
}

/// What must be told of the refused clerks without a degree, and of the first of them.
fn expected_person(bench: &facts_serve::Workbench) -> Value {
    let who = "degree = none, job = clerk";
    let made = facts_run::run_keeping_people(&bench.config, &bench.table, &facts_run::Silent);
    let (record, behind) = made.unwrap();
    let report = Report::new(&record).unwrap();
    let persons = behind.persons(&record.audit).unwrap();
    let (group, wanted) = record.people_wanted(Some("Female"), who).unwrap();
    let matching = persons.matching(group, &wanted);
    let with_ways = matching
        .iter()
        .copied()
        .filter(|&one| persons.way(one).is_finite());
    let profile = with_ways.max_by(|&a, &b| persons.way(a).total_cmp(&persons.way(b)));
    let page = facts_report::person::page(&report, &behind.population, &persons, profile.unwrap());
    json!({ "where": who, "profiles": matching, "page": page.unwrap() })
}

#[test]
fn every_view_works_in_a_browser() {
    let (Some(node), Some(chromium)) = (named("FACTS_NODE"), named("FACTS_CHROMIUM")) else {
        return;
    };
    let (old, new) = (record(&[]), record(&["features.job.immutable=true"]));
    let what_if = record(&["evidence.shuffles=99", "features.job.immutable=true"]);
    let what_if = Report::new(&what_if).unwrap();
    let mut told = expected(&old, &new);
    told["whatIf"] = json!(facts_report::answer::words::headline(
        &what_if.answered().unwrap()
    ));
    let again = record(&[
        "evidence.shuffles=99",
        "features.job.immutable=true",
        "features.degree.immutable=false",
        "features.degree.only=any",
        "features.degree.weight=2",
        "features.degree.max-step=1",
        "features.years.quantiles=3",
        "audit.support=0.06",
    ]);
    let again = Report::new(&again).unwrap();
    told["again"] = json!(facts_report::answer::words::headline(
        &again.answered().unwrap()
    ));
    let saved = vec![("before".to_owned(), old), ("after".to_owned(), new)];
    let saved = Server::start(Subject { saved, bench: None });
    let bench = bench();
    told["person"] = expected_person(&bench);
    let bench = Server::start(Subject {
        saved: Vec::new(),
        bench: Some(bench),
    });
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder: PathBuf = root.join("target/explorer");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("expected.json"), told.to_string()).unwrap();
    let opened = |script: &str, browser: &str| {
        let status = Command::new(&node)
            .arg(root.join("verification/browser").join(script))
            .args([folder.as_os_str(), browser.as_ref()])
            .args([&saved.url, &bench.url])
            .status();
        assert!(status.unwrap().success(), "{script}");
    };
    opened("explorer.mjs", &chromium);
    if let Some(firefox) = named("FACTS_FIREFOX") {
        opened("firefox.mjs", &firefox);
    }
}

#[test]
fn links_lead_in_whoever_was_let_in() {
    let (Some(node), Some(chromium)) = (named("FACTS_NODE"), named("FACTS_CHROMIUM")) else {
        return;
    };
    let server = Server::start(Subject {
        saved: vec![("hiring".to_owned(), record(&[]))],
        bench: None,
    });
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let status = Command::new(&node)
        .arg(root.join("verification/browser/links.mjs"))
        .args([&chromium, &server.url, &server.url_for_one])
        .status();
    assert!(status.unwrap().success());
}
