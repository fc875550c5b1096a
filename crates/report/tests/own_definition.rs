//! A definition that no registry knows is reported in every form, with its own words.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../examples/own_definition.rs"]
mod example;

use facts_report::{Diff, FORMS, Report, Showing};

#[test]
fn every_form_reports_it_in_its_own_words() {
    let kind = &example::LEFT_BEHIND;
    let (text, page) = example::reports().unwrap();
    for words in [kind.title, kind.question, "Bias against 'F'"] {
        assert!(text.contains(words), "{words} is missing from {text}");
    }
    for words in [
        kind.title,
        kind.question,
        kind.compares,
        kind.worse_off,
        kind.beware,
    ] {
        assert!(page.contains(words), "{words} is missing from the page");
    }
    assert!(page.contains("Effectiveness within a cost, micro"));
    let record = example::record().unwrap();
    let report = Report::by(&record, vec![Box::new(example::LeftBehind)]);
    let same = Report::by(&record, vec![Box::new(example::LeftBehind)]);
    let diff = Diff::of(&report, &same);
    assert_eq!(
        (diff.titles, diff.changed),
        (vec![kind.title.to_owned()], vec![])
    );
    assert!(diff.unchanged > 0);
    let without_definitions = ["actions", "people", "stories", "drivers", "impact-"];
    for form in FORMS.iter().filter(|form| {
        !without_definitions
            .iter()
            .any(|part| form.name.starts_with(part))
    }) {
        let written = (form.write)(&report, &Showing::top(3)).unwrap();
        let named = String::from_utf8_lossy(&written);
        let is_named = named.contains(kind.title) || named.contains(kind.name);
        assert!(is_named, "{} does not name it", form.name);
    }
}
