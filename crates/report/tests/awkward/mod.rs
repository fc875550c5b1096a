//! A small audit with everything that a page could trip over: several groups, one of them set
//! aside, names that are markup, that run from right to left, that hold quotes and pictures.
#![allow(dead_code)]

pub(crate) mod evidence;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use facts_engine::answer::{DELTA, answer};
use facts_engine::definitions;
use facts_engine::evidence::{Evidence, Gathering};
use facts_engine::flips::FnModel;
use facts_engine::population::{Declaration, Feature, Protected};
use facts_engine::{Audit, Individuals, Options, Watch, audit_with_individuals};
use facts_report::{BaseRate, BaseRates, ModelOrigin, Origin, Record, TrainingNote, VERSION};

/// Would run, if it were not escaped.
pub(crate) const SCRIPT: &str = "<script>window.broken = 1</script>";
/// Would end the script it stands in, and run.
pub(crate) const IMAGE: &str = "</script><img src=x onerror=\"window.broken = 2\">";

const GROUPS: [&str; 4] = [SCRIPT, "A & B", "\"Zoë\" 🙂 'x'", "עברית"];
const JOBS: [&str; 4] = [IMAGE, "clerk", "manager & co", "דרום"];
const CITIES: [&str; 3] = ["A<B>", "B", "C, D"];
/// The name of a feature.
pub(crate) const JOB: &str = "job <b>\"now\"</b>";

/// A hundred people of each group and some of one that is too small to compare.
fn table() -> RecordBatch {
    let places: Vec<usize> = (0..400).collect();
    let tiny = 7;
    let column = |of: &dyn Fn(usize) -> &'static str| {
        let values = places.iter().map(|&i| of(i));
        let rest = (0..tiny).map(|i| of(i * 13));
        values.chain(rest).collect::<Vec<_>>()
    };
    let mut groups = column(&|i| GROUPS[i % 4]);
    groups[400..].fill("tiny <i>");
    let text = |values: Vec<&'static str>| Arc::new(StringArray::from(values)) as ArrayRef;
    let columns = [
        (JOB, text(column(&|i| JOBS[i / 4 % 4]))),
        ("city", text(column(&|i| CITIES[i / 16 % 3]))),
        ("of & group", text(groups)),
    ];
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

/// The audit: managers get a yes, but not everywhere in every group.
pub(crate) fn awkward_audit() -> Audit {
    awkward_individuals().0
}

/// The audit and the people behind it.
fn awkward_individuals() -> (Audit, Individuals) {
    let population = Declaration::new()
        .feature(Feature::categorical(JOB).weight(2.5))
        .feature(Feature::categorical("city").not_a_target(["B"]))
        .protected(Protected::attribute("of & group"))
        .read([table()])
        .expect("a table as declared");
    let model = FnModel::new(|rows: &RecordBatch| {
        let [job, city, group] = [0, 1, 2].map(|column| rows.column(column).as_string::<i32>());
        let yes = |i: usize| {
            let place = GROUPS.iter().position(|&name| name == group.value(i));
            let cities = &CITIES[..3 - place.unwrap_or(0).min(2)];
            job.value(i) == JOBS[2] && cities.contains(&city.value(i))
                || job.value(i) == JOBS[3] && place == Some(1)
        };
        (0..rows.num_rows()).map(yes).collect()
    });
    let options = Options::new()
        .support("0.02".parse().expect("a share"))
        .min_group_size(10);
    audit_with_individuals(&population, &model, &options, Watch::nobody()).expect("an audit")
}

/// The record with real tests and the answer they give.
pub(crate) fn answered_record() -> Record {
    let (audit, people) = awkward_individuals();
    let mut record = awkward_record(audit);
    let definitions = record.definitions.iter().map(|id| definitions::parse(id));
    let definitions: Vec<_> = definitions.collect::<Result<_, _>>().expect("definitions");
    let gathering = Gathering {
        shuffles: 2_000,
        ..Gathering::default()
    };
    let audit = &record.audit;
    let tests =
        facts_engine::evidence::test(audit, &people, &definitions, &gathering, Watch::nobody());
    let evidence = Evidence {
        gathering,
        tests: tests.expect("tests"),
        intervals: Vec::new(),
        stability: None,
        hold_out: None,
    };
    record.answer = Some(answer(audit, &people, &definitions, Some(&evidence), DELTA));
    record.evidence = Some(evidence);
    record.assumptions = vec![format!("Assumed: {SCRIPT}.")];
    record
}

/// The audit with where it would come from.
pub(crate) fn awkward_record(audit: Audit) -> Record {
    let groups = audit.groups.iter().map(|group| BaseRate {
        name: group.name.clone(),
        people: group.people,
        favourable: group.people / 3,
    });
    let base_rates = BaseRates {
        label: "label <u>".to_owned(),
        favourable: "yes & no".to_owned(),
        groups: groups.collect(),
    };
    Record {
        version: VERSION,
        tool: "facts <0.0>".to_owned(),
        made: "2026-01-31T12:00:00Z".to_owned(),
        data: Origin {
            name: format!("{SCRIPT}.csv"),
            sha256: None,
            files: Vec::new(),
        },
        model: ModelOrigin {
            spec: format!("exec:{IMAGE}"),
            description: "a program \"of\" <b>yours</b>".to_owned(),
            sha256: None,
            reads_protected: None,
            training: Some(TrainingNote {
                label: "label <u>".to_owned(),
                favourable: "yes & no".to_owned(),
                left_out: 3,
                train_rows: 12_000,
                test_rows: 407,
                seed: 7,
                by_counts: true,
                accuracy: 0.8125,
            }),
        },
        protected: vec!["of & group".to_owned()],
        base_rates: Some(base_rates),
        definitions: [
            "equal-effectiveness:micro",
            "equal-effectiveness:macro",
            "equal-choice:0.3",
            "equal-effectiveness-within-budget:micro:3",
            "equal-cost-of-effectiveness:macro:0.3",
            "fair-trade-off:micro",
            "equal-mean-recourse",
        ]
        .map(str::to_owned)
        .to_vec(),
        assumptions: Vec::new(),
        notes: vec![format!("A note with {SCRIPT} in it.")],
        audit,
        evidence: None,
        answer: None,
    }
}
