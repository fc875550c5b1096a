//! The answer in words: one screen that says what the engine counted, and two audits compared.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use facts_engine::answer::{self, Reasons, Verdict};
use facts_engine::definitions;
use facts_engine::evidence::{self, Evidence, Gathering};
use facts_engine::flips::FnModel;
use facts_engine::population::{Declaration, Edges, Feature, Protected};
use facts_engine::{Options, Watch, audit_with_individuals};
use facts_report::answer::{first_screen, stories, story, words};
use facts_report::diff::{Change, Changed, Standing, Trend};
use facts_report::text::Palette;
use facts_report::{Diff, ModelOrigin, Origin, Record, Report, Showing, VERSION, markdown};

const DEFINITIONS: [&str; 3] = [
    "equal-effectiveness:micro",
    "equal-cost-of-effectiveness:macro:0.3",
    "fair-trade-off:micro",
];

/// Eight hundred people. Managers with a few years get a yes; `open` says to whom.
fn record(open: fn(sex: &str, years: i64) -> bool, tested: bool) -> Record {
    let people = 0..800_usize;
    let column = |of: &dyn Fn(usize) -> &'static str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(people.clone().map(of)))
    };
    let years = people.clone().map(|i| (i / 8 % 20) as i64);
    let table = RecordBatch::try_from_iter([
        (
            "job",
            column(&|i| ["clerk", "manager", "driver", "clerk"][i / 2 % 4]),
        ),
        (
            "years",
            Arc::new(Int64Array::from_iter_values(years)) as ArrayRef,
        ),
        ("sex", column(&|i| ["F", "M"][i % 2])),
    ]);
    let population = Declaration::new()
        .feature(Feature::categorical("job").weight(2.0))
        .feature(Feature::binned("years", Edges::EqualWidth(4)).immutable())
        .protected(Protected::attribute("sex"))
        .read([table.unwrap()])
        .unwrap();
    let model = FnModel::new(move |rows: &RecordBatch| {
        let (job, sex) = (
            rows.column(0).as_string::<i32>(),
            rows.column(2).as_string::<i32>(),
        );
        let years = rows.column(1).as_primitive::<Int64Type>();
        let yes = |i| job.value(i) == "manager" && open(sex.value(i), years.value(i));
        (0..rows.num_rows()).map(yes).collect()
    });
    let options = Options::new()
        .support("0.05".parse().unwrap())
        .min_members(10);
    let (audit, people) =
        audit_with_individuals(&population, &model, &options, Watch::nobody()).unwrap();
    let columns: Vec<_> = DEFINITIONS
        .iter()
        .map(|id| definitions::parse(id).unwrap())
        .collect();
    let gathering = Gathering::default();
    let tests = if tested {
        evidence::test(&audit, &people, &columns, &gathering, Watch::nobody()).unwrap()
    } else {
        Vec::new()
    };
    let evidence = tested.then_some(Evidence {
        gathering,
        tests,
        intervals: Vec::new(),
        stability: None,
        hold_out: None,
    });
    let mut found = answer::answer(&audit, &people, &columns, evidence.as_ref(), answer::DELTA);
    let reasons = Reasons {
        population: &population,
        model: &model,
        audit: &audit,
        individuals: &people,
        reads: None,
        options: &options,
    };
    reasons.explain(&mut found, 10, Watch::nobody()).unwrap();
    Record {
        version: VERSION,
        tool: "a test".to_owned(),
        made: "2026-01-31T12:00:00Z".to_owned(),
        data: Origin {
            name: "people.csv".to_owned(),
            sha256: None,
            files: Vec::new(),
        },
        model: ModelOrigin {
            spec: "a function".to_owned(),
            description: "managers".to_owned(),
            sha256: None,
            reads_protected: Some(vec!["sex".to_owned()]),
            training: None,
        },
        protected: vec!["sex".to_owned()],
        base_rates: None,
        definitions: DEFINITIONS.map(str::to_owned).to_vec(),
        assumptions: vec!["May change: job; may not: years.".to_owned()],
        notes: Vec::new(),
        audit,
        evidence,
        answer: Some(found),
    }
}

/// Women need many years, men few.
fn harder_for_women(sex: &str, years: i64) -> bool {
    years >= if sex == "F" { 15 } else { 2 }
}

fn screen(record: &Record) -> String {
    first_screen(
        &Report::new(record).unwrap(),
        &["Next: this".to_owned()],
        &Palette::PLAIN,
    )
}

#[test]
fn one_screen_says_who_loses_and_how_many() {
    let record = record(harder_for_women, true);
    let page = screen(&record);
    let lines: Vec<&str> = page.lines().collect();
    assert!(
        lines.len() <= 30 && lines.iter().all(|line| line.chars().count() <= 100),
        "{page}"
    );
    let answer = record.answer.as_ref().unwrap();
    assert!(matches!(&answer.verdict, Some(Verdict::Unfair { against, .. }) if *against == [0]));
    for group in &answer.people {
        let open = words::of_100(group.open().unwrap());
        assert!(page.replace('\n', " ").contains(&open), "{open}: {page}");
    }
    let lost: f64 = answer.stories.iter().map(|story| story.loss.people).sum();
    for said in [
        "people.csv: 800 people by sex. Yes means: the model answers 1 or true.".to_owned(),
        "UNFAIR, AGAINST F".to_owned(),
        format!("{} F are at a loss.", lost.round()),
        "May change: job; may not: years.".to_owned(),
        "Costs add up: job 2.".to_owned(),
        "Next: this".to_owned(),
    ] {
        assert!(page.replace('\n', " ").contains(&said), "{said}: {page}");
    }
    // The stories in full, one by one and all together, and in Markdown.
    let report = Report::new(&record).unwrap();
    let all = stories(&report, &Palette::PLAIN);
    let whole = markdown::markdown(&report, &Showing::top(1)).replace('\\', "");
    for row in report.answered().unwrap().stories() {
        let one = story(&report, row.number, &Palette::PLAIN).unwrap();
        assert!(
            one.contains("All definitions") && one.contains(&row.predicate),
            "{one}"
        );
        assert!(all.contains(&row.predicate), "{all}");
        assert!(whole.contains(&row.sentence), "{whole}");
    }
    assert!(story(&report, 99, &Palette::PLAIN).is_none());
}

#[test]
fn what_was_not_tested_is_not_judged() {
    let record = record(harder_for_women, false);
    let page = screen(&record);
    assert!(page.contains("NOT TESTED\n"), "{page}");
    assert!(
        page.contains("nothing here tells findings from chance"),
        "{page}"
    );
}

#[test]
fn an_audit_without_an_answer_says_so() {
    let mut record = record(harder_for_women, false);
    record.answer = None;
    assert!(screen(&record).starts_with("This audit was saved before"));
    let report = Report::new(&record).unwrap();
    assert!(stories(&report, &Palette::PLAIN).starts_with("This audit was saved before"));
}

#[test]
fn two_audits_are_compared_by_people() {
    let trend = |old: fn(&str, i64) -> bool, new: fn(&str, i64) -> bool| {
        let (old, new) = (record(old, false), record(new, false));
        let diff = Diff::new(&old, &new, &old.definitions).unwrap();
        (diff.people.clone().unwrap(), diff)
    };
    let (people, diff) = trend(harder_for_women, |_, years| years >= 2);
    assert_eq!(people.trend, Trend::Better);
    assert!(!people.levelled_down);
    assert!(diff.text(1, &Palette::PLAIN).starts_with("BETTER\n"));
    let (people, _) = trend(|_, years| years >= 2, harder_for_women);
    assert_eq!(people.trend, Trend::Worse);
    // Men lose what women never had: equal now, and better for nobody.
    let (people, diff) = trend(harder_for_women, |_, years| years >= 15);
    assert_eq!((people.trend, people.levelled_down), (Trend::Worse, true));
    let down = diff
        .changed
        .iter()
        .filter(|c| c.change == Change::LevelledDown);
    assert!(down.count() > 0);
    let improved = |c: &Changed| c.change == Change::Vanished && c.new == Standing::Fair;
    assert!(!diff.changed.iter().any(improved));
    let page = diff.html(3);
    assert!(
        page.contains("levelling down") && !page.contains("<script"),
        "{page}"
    );
    let (people, _) = trend(harder_for_women, harder_for_women);
    assert_eq!(people.trend, Trend::TooClose);
}

#[test]
fn numbers_are_said_so_that_they_are_true() {
    use facts_engine::distribution::Share;
    for (part, whole, said) in [
        (44, 100, "44 of 100"),
        (1, 1000, "fewer than 1 of 100"),
        (999, 1000, "more than 99 of 100"),
        (0, 1000, "0 of 100"),
        (1000, 1000, "100 of 100"),
        (3, 7, "3 of 7"),
    ] {
        assert_eq!(words::of_100(Share::new(part, whole)), said);
    }
    assert_eq!(words::points(0.3), "30 points");
    assert_eq!(words::points(-0.001), "0 points");
    assert_eq!(words::points(0.01), "1 point");
    let record = record(harder_for_women, false);
    let years = record
        .audit
        .features
        .iter()
        .find(|f| f.name == "years")
        .unwrap();
    let said: Vec<String> = (0..4).map(|level| words::level(years, level)).collect();
    assert_eq!(
        said,
        [
            "4.75 or less",
            "over 4.75 up to 9.5",
            "over 9.5 up to 14.25",
            "over 14.25"
        ]
    );
}

#[test]
fn groups_called_by_numbers_are_told_with_their_attribute() {
    let mut record = record(|sex, years| sex == "M" || years > 10, true);
    record.protected = vec!["SEX".to_owned()];
    for (group, name) in record.audit.groups.iter_mut().zip(["2", "1"]) {
        name.clone_into(&mut group.name);
    }
    let report = Report::new(&record).unwrap();
    let answered = report.answered().unwrap();
    assert_eq!(words::verdict(&answered), "Unfair, against SEX = 2");
    let headline = words::headline(&answered);
    assert!(headline.contains("of 100 with SEX = 2 "), "{headline}");
    assert!(headline.contains("of 100 with SEX = 1"), "{headline}");
    let story = &answered.stories()[0];
    assert!(
        story.sentence.contains(" with SEX = 2 at a loss"),
        "{}",
        story.sentence
    );
    // Data keep the value itself.
    assert_eq!(story.against, "2");
}
