use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use facts_engine::evidence::HeldOut;
use facts_engine::flips::FnModel;
use facts_report::{ModelOrigin, Origin, Record};

use super::*;
use crate::columns::Columns;
use crate::listener::Silent;
use crate::{FailureKind, FromCode, Table, run, run_with};

/// The demo's audit at 10 % with a few definitions, and with these settings.
fn adult(settings: &[&str]) -> Record {
    let usual = [
        "audit.support=0.1",
        "report.definitions=[\"equal-effectiveness:micro\", \"equal-choice:0.3\", \"equal-mean-recourse\"]",
        "evidence.shuffles=50",
        "evidence.resamples=60",
        "evidence.detailed=2",
    ];
    let settings: Vec<String> = usual
        .iter()
        .chain(settings)
        .map(|s| (*s).to_owned())
        .collect();
    // Read, not included: the data are not in the package of this crate.
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reproduce/data/adult");
    let text = std::fs::read_to_string(data.join("facts.toml")).unwrap();
    let rows = std::fs::read(data.join("adult.csv.gz")).unwrap().leak();
    let config = Config::parse("the test", &text, &settings).unwrap();
    let table = Table::embedded("adult.csv.gz", rows, &config.data).unwrap();
    run(&config, &table, &Silent).unwrap()
}

/// People of 20 to 79 in three jobs and two cities. The pay that goes with age and job decides, and
/// women need more of it.
fn people() -> Table {
    let mut rows = Vec::new();
    for age in 20..80 {
        for (place, job) in ["boss", "clerk", "smith"].into_iter().enumerate() {
            for sex in ["f", "m"] {
                let city = if (age + place as i64) % 3 == 0 {
                    "B"
                } else {
                    "A"
                };
                rows.push((sex, job, city, age));
            }
        }
    }
    let column = |texts: Vec<&str>| Arc::new(StringArray::from(texts)) as ArrayRef;
    let ages: Int64Array = rows.iter().map(|row| row.3).collect();
    let batch = RecordBatch::try_from_iter([
        ("sex", column(rows.iter().map(|row| row.0).collect())),
        ("job", column(rows.iter().map(|row| row.1).collect())),
        ("city", column(rows.iter().map(|row| row.2).collect())),
        ("age", Arc::new(ages) as ArrayRef),
    ]);
    let origin = Origin {
        name: "people".to_owned(),
        sha256: None,
        files: Vec::new(),
    };
    Table::of(&[batch.unwrap()], origin).unwrap()
}

const PEOPLE: &str = "
[model]
favourable = 1
[protected.sex]
[features.age]
quantiles = 4
[features.job]
[features.city]
weight = 2
[audit]
support = 0.04
min-members = 1
[report]
definitions = [\"equal-effectiveness:micro\", \"equal-choice:0.3\"]
[evidence]
shuffles = 40
resamples = 50
detailed = 2
";

fn config(text: &str, settings: &[&str]) -> Config {
    let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    Config::parse("the test", text, &settings).unwrap()
}

fn pays_enough(rows: &RecordBatch) -> Vec<bool> {
    let text = |name| rows.column_by_name(name).unwrap().as_string::<i32>();
    let (sexes, jobs, cities) = (text("sex"), text("job"), text("city"));
    let ages = rows.column_by_name("age").unwrap();
    let ages = ages.as_primitive::<Int64Type>();
    let yes = |row: usize| {
        let for_job = match jobs.value(row) {
            "boss" => 30,
            "smith" => 10,
            _ => 0,
        };
        let for_city = if cities.value(row) == "A" { 5 } else { 0 };
        let least = if sexes.value(row) == "f" { 75 } else { 65 };
        ages.value(row) + for_job + for_city >= least
    };
    (0..rows.num_rows()).map(yes).collect()
}

fn origin() -> ModelOrigin {
    ModelOrigin {
        spec: "given".to_owned(),
        description: "a function".to_owned(),
        sha256: None,
        reads_protected: None,
        training: None,
    }
}

fn given() -> FromCode {
    FromCode {
        model: Some((Box::new(FnModel::new(pays_enough)), origin())),
        ..FromCode::default()
    }
}

fn made(settings: &[&str]) -> Record {
    let config = config(PEOPLE, settings);
    run_with(&config, &people(), given(), &Silent).unwrap().0
}

#[test]
fn what_passes_is_looked_at_closely_however_far_down() {
    // With all that the paper lets change, chance stands before what passes.
    let record = adult(&[
        "audit.support=0.05",
        "evidence.detailed=1",
        "features.age.immutable=false",
        "features.capital-gain.immutable=false",
        "features.capital-loss.immutable=false",
        "features.marital-status.immutable=false",
        "features.relationship.immutable=false",
    ]);
    let evidence = record.evidence.as_ref().unwrap();
    let mut beyond_the_first = 0;
    for tests in &evidence.tests {
        let definition = facts_engine::definitions::parse(&tests.definition).unwrap();
        let ranking = record.audit.rank(definition.as_ref());
        let passes = |place: usize| tests.tested[place].unwrap().family_wise <= 0.05;
        let unfair = ranking.unfair().iter().enumerate();
        let passing = unfair.filter(|(_, ranked)| passes(ranked.subgroup));
        for (place, ranked) in passing.take(1) {
            let mut there = evidence.intervals.iter();
            let there = there.any(|intervals| {
                intervals.definition == tests.definition && intervals.subgroup == ranked.subgroup
            });
            assert!(there, "{}: {}", tests.definition, ranked.subgroup);
            beyond_the_first += usize::from(place >= 1);
        }
    }
    assert!(beyond_the_first > 0);
}

#[test]
fn so_few_shuffles_that_nothing_could_pass_are_refused() {
    let refused = |settings: &[&str]| {
        let config = config(PEOPLE, settings);
        let made = run_with(&config, &people(), given(), &Silent);
        made.err().map(|failure| failure.to_string())
    };
    let few = refused(&["evidence.shuffles=38"]).unwrap();
    assert!(few.contains("fewer than 39"), "{few}");
    assert_eq!(refused(&["evidence.shuffles=39"]), None);
    let strict = refused(&["evidence.shuffles=1998", "evidence.alpha=0.001"]).unwrap();
    assert!(strict.contains("fewer than 1999"), "{strict}");
    let never = refused(&["evidence.alpha=0.0000001"]).unwrap();
    assert!(never.contains("tell nothing below 0.000001"), "{never}");
    let untested = refused(&["evidence.shuffles=0", "evidence.hold-out=0.5"]).unwrap();
    assert!(
        untested.contains("but `evidence.shuffles` is 0"),
        "{untested}"
    );
    let many = refused(&["evidence.shuffles=99999999999"]).unwrap();
    assert!(many.contains("at most 1000000"), "{many}");
}

#[test]
fn adult_with_all_there_is() {
    let record = adult(&[
        "evidence.stability=true",
        "evidence.hold-out=0.5",
        "audit.threads=2",
    ]);
    let evidence = record.evidence.as_ref().unwrap();
    assert_eq!(evidence.tests.len(), 3);
    let definitions: HashSet<&str> = evidence
        .tests
        .iter()
        .map(|t| t.definition.as_str())
        .collect();
    for interval in &evidence.intervals {
        assert!(definitions.contains(interval.definition.as_str()));
        let parsed = facts_engine::definitions::parse(&interval.definition).unwrap();
        let found = parsed
            .assess(&record.audit.subgroups[interval.subgroup])
            .unwrap();
        assert_eq!(interval.values.len(), 2);
        let score = interval.score.percentile;
        assert!(score.low <= found.score && found.score <= score.high || found.score.is_infinite());
    }
    let stability = evidence.stability.as_ref().unwrap();
    assert_eq!(stability.variants.len(), 20);
    assert_eq!(stability.variants[..2], ["support 0.05", "support 0.2"]);
    let weights = stability.variants[2..10].iter();
    assert!(
        weights
            .clone()
            .all(|name| name.starts_with("cost weights ×")),
        "{weights:?}"
    );
    // All bins have edges of their own: nothing to vary, so ten samples.
    assert_eq!(stability.variants[19], "people drawn again (10)");
    assert_eq!(stability.findings.len(), evidence.intervals.len());
    assert!(
        stability
            .findings
            .iter()
            .all(|finding| finding.outcomes.len() == 20)
    );
    // Where people can get out at all does not depend on what it costs.
    let at_any_cost = &stability.findings[0];
    assert_eq!(at_any_cost.definition, "equal-effectiveness:micro");
    assert!(
        at_any_cost.outcomes[2..10]
            .iter()
            .flatten()
            .all(|outcome| outcome.rank == Some(1))
    );

    let hold_out = evidence.hold_out.as_ref().unwrap();
    for (g, group) in record.audit.groups.iter().enumerate() {
        let both = hold_out.found_among[g] + hold_out.tested_among[g];
        assert_eq!(both, group.affected);
        assert!(hold_out.found_among[g].abs_diff(both / 2) < both / 10);
    }
    assert!(!hold_out.findings.is_empty());
    assert!(
        hold_out
            .findings
            .iter()
            .any(|finding| finding.tested.is_some())
    );

    let one = adult(&[
        "evidence.stability=true",
        "evidence.hold-out=0.5",
        "audit.threads=1",
    ]);
    assert_eq!(one.evidence, record.evidence, "threads change nothing");
}

#[test]
fn nothing_is_gathered_that_is_not_asked_for() {
    let none = made(&["evidence.shuffles=0", "evidence.resamples=0"]);
    assert_eq!(none.evidence, None);
    let tests = made(&["evidence.resamples=0"]).evidence.unwrap();
    assert_eq!((tests.tests.len(), tests.intervals.len()), (2, 0));
    assert_eq!((tests.stability, tests.hold_out), (None, None));
    let intervals = made(&["evidence.shuffles=0"]).evidence.unwrap();
    assert_eq!(intervals.tests.len(), 0);
    assert!(!intervals.intervals.is_empty());
}

#[test]
fn a_wrong_value_is_named() {
    let refused = |setting: &str| {
        let failure = run_with(&config(PEOPLE, &[setting]), &people(), given(), &Silent);
        let failure = failure.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Usage);
        failure.to_string()
    };
    assert_eq!(
        refused("evidence.alpha=5"),
        "`evidence.alpha` is 5, but must be above 0 and below 1; write five percent as 0.05"
    );
    assert!(refused("evidence.alpha=0").starts_with("`evidence.alpha` is 0"));
    assert!(refused("evidence.alpha=nan").starts_with("`evidence.alpha` is NaN"));
    assert!(refused("evidence.hold-out=1").starts_with("`evidence.hold-out` is 1"));
    assert!(refused("evidence.hold-out=-0.5").starts_with("`evidence.hold-out` is -0.5"));
}

/// The names of the variants of people, with these settings.
fn names(settings: &[&str], notes: &mut Vec<String>) -> Vec<String> {
    let config = config(PEOPLE, settings);
    let table = people();
    let columns = Columns::decide(&config, &table.cells, None).unwrap();
    let audit = made(&[]).audit;
    let variants = variants(columns.declaration.declared_features(), &audit, 1, notes);
    variants.into_iter().map(|variant| variant.name).collect()
}

#[test]
fn there_are_always_twenty_different_variants() {
    let mut notes = Vec::new();
    let all = names(&[], &mut notes);
    assert_eq!(all.len(), 20);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 20);
    assert_eq!(all[..2], ["support 0.02", "support 0.08"]);
    // Three weights can be drawn in three pairs.
    let weights: Vec<&String> = all.iter().filter(|name| name.contains("weights")).collect();
    assert_eq!(weights.len(), 6);
    assert!(all.contains(&"cost weights ×0.5: age; ×1.5: the rest".to_owned()));
    assert!(all.contains(&"cost weights ×1.5: age; ×0.5: the rest".to_owned()));
    let bins: Vec<&String> = all
        .iter()
        .filter(|name| name.contains("quantiles"))
        .collect();
    assert_eq!(
        bins,
        [
            "age in 3 quantiles",
            "age in 5 quantiles",
            "age in 2 quantiles",
            "age in 6 quantiles"
        ]
    );
    assert_eq!(all[19], "people drawn again (8)");
    assert!(notes.is_empty());

    // What is immutable costs nothing; three bins become two once.
    let fewer = names(
        &["features.city.immutable=true", "features.age.quantiles=3"],
        &mut notes,
    );
    assert_eq!(fewer.len(), 20);
    assert_eq!(
        fewer.iter().filter(|name| name.contains("weights")).count(),
        2
    );
    assert_eq!(
        fewer
            .iter()
            .filter(|name| name.contains("quantiles"))
            .count(),
        3
    );
    assert!(notes.is_empty());
}

#[test]
fn bins_that_the_model_sees_are_kept() {
    let mut notes = Vec::new();
    let all = names(&["features.age.model-sees=label"], &mut notes);
    assert!(!all.iter().any(|name| name.contains("quantiles")));
    assert_eq!(all[19], "people drawn again (12)");
    assert_eq!(
        notes,
        ["every variant keeps the bins of age: the model sees them, or they have names"]
    );
    let named = ["features.age.labels=[\"a\", \"b\", \"c\", \"d\"]"];
    assert!(
        !names(&named, &mut notes)
            .iter()
            .any(|name| name.contains("quantiles"))
    );
}

#[test]
fn a_variant_that_cannot_be_made_says_why() {
    let record = made(&["evidence.stability=true", "evidence.detailed=3"]);
    let subgroups = record
        .audit
        .sizes
        .common_subgroups
        .max(record.audit.sizes.action_itemsets);
    let limit = format!("audit.max-subgroups={subgroups}");
    let stability = made(&["evidence.stability=true", &limit])
        .evidence
        .unwrap()
        .stability
        .unwrap();
    assert_eq!(stability.variants[0], "support 0.02 (too many subgroups)");
    assert!(
        stability
            .findings
            .iter()
            .all(|finding| finding.outcomes[0].is_none())
    );
    // Others are made all the same.
    assert!(
        stability
            .findings
            .iter()
            .all(|finding| finding.outcomes[2].is_some())
    );
}

#[test]
fn costs_from_code_are_weighed_in_variants() {
    let mut given = given();
    // Only leaving the city is dear.
    let cost = |name: &str, cost: f64| {
        let function: facts_engine::population::CostFunction = Arc::new(move |_, _| cost);
        (name.to_owned(), function)
    };
    given.costs = [cost("city", 20.0), cost("job", 2.0), cost("age", 1.0)].into();
    let settings = [
        "evidence.stability=true",
        "report.definitions=[\"equal-mean-recourse\"]",
    ];
    let config = config(PEOPLE, &settings);
    let (record, _) = run_with(&config, &people(), given, &Silent).unwrap();
    let stability = record.evidence.unwrap().stability.unwrap();
    let finding = &stability.findings[0];
    let score = |name: &str| {
        let place = stability
            .variants
            .iter()
            .position(|variant| variant == name)
            .unwrap();
        finding.outcomes[place].as_ref().unwrap().score
    };
    let (dear, cheap) = (
        score("cost weights ×0.5: age; ×1.5: the rest"),
        score("cost weights ×1.5: age; ×0.5: the rest"),
    );
    assert!((dear - cheap).abs() > 1e-6, "{dear}, {cheap}");
}

#[test]
fn what_was_asked_is_not_asked_again() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&seen);
    let model = FnModel::new(move |rows: &RecordBatch| {
        let mut asked = asked.lock().unwrap();
        for row in 0..rows.num_rows() {
            asked.push(format!("{:?}", rows.slice(row, 1)));
        }
        pays_enough(rows)
    });
    let given = FromCode {
        model: Some((Box::new(model), origin())),
        ..FromCode::default()
    };
    let config = config(
        PEOPLE,
        &["evidence.stability=true", "evidence.hold-out=0.5"],
    );
    run_with(&config, &people(), given, &Silent).unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen.len() > 360);
    assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len());
}

#[test]
fn nothing_is_told_of_what_is_suppressed() {
    let settings = [
        "evidence.stability=true",
        "evidence.hold-out=0.5",
        "evidence.detailed=50",
        "audit.suppress-below=8",
    ];
    let record = made(&settings);
    let evidence = record.evidence.unwrap();
    assert!(!evidence.intervals.is_empty());
    for subgroup in evidence.intervals.iter().map(|interval| interval.subgroup) {
        assert!(
            record.audit.subgroups[subgroup]
                .members
                .iter()
                .all(|&n| n >= 8)
        );
    }
    let hold_out = evidence.hold_out.unwrap();
    for finding in &hold_out.findings {
        let tested = finding.tested.as_ref().unwrap();
        assert!(
            finding
                .found_members
                .iter()
                .chain(&tested.members)
                .all(|&n| n >= 8)
        );
    }
    assert!(!hold_out.findings.is_empty());
    // Nor by subtraction: where one of two findings is about some of the people of the other.
    let (mut compared, findings) = (0, &hold_out.findings);
    for (one, other) in findings
        .iter()
        .flat_map(|one| findings.iter().map(move |other| (one, other)))
    {
        let conditions: Vec<&str> = one.predicate.split(", ").collect();
        if !conditions
            .iter()
            .all(|&condition| other.predicate.split(", ").any(|c| c == condition))
        {
            continue;
        }
        compared += usize::from(one.predicate != other.predicate);
        let of = |held: &HeldOut| {
            [
                held.found_members.clone(),
                held.tested.as_ref().unwrap().members.clone(),
            ]
        };
        for (wholes, parts) in of(one).iter().zip(of(other)) {
            let rest = wholes.iter().zip(parts).map(|(whole, part)| whole - part);
            assert!(rest.into_iter().all(|rest| rest == 0 || rest >= 8));
        }
    }
    assert!(compared > 0);
}

#[test]
fn a_hold_out_that_cannot_be_made_is_noted() {
    let record = made(&["evidence.hold-out=0.5", "audit.suppress-below=40"]);
    assert_eq!(record.evidence.unwrap().hold_out, None);
    let about = |note: &String| note.starts_with("no hold-out was made: ");
    assert!(record.notes.iter().any(about), "{:?}", record.notes);
}

/// Stops as soon as variants are made.
struct Impatient;

impl Listener for Impatient {
    fn progress(&self, progress: Progress) -> ControlFlow<()> {
        if progress.phase == Phase::Evidence && progress.total == 20 && progress.done == 3 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn variants_can_be_interrupted() {
    let settings = [
        "evidence.stability=true",
        "evidence.shuffles=0",
        "evidence.resamples=0",
    ];
    let failure = run_with(&config(PEOPLE, &settings), &people(), given(), &Impatient);
    assert_eq!(failure.unwrap_err().kind, FailureKind::Interrupted);
}
