//! One path from table to record: what fitting, auditing and roles say of a row is the same.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use facts_report::{Origin, Record};
use facts_run::{Config, Silent, Table, run};

fn hiring(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hiring");
    folder.join(file).display().to_string()
}

/// The table of the example with its model, and nothing said about its columns.
fn hiring_audit(settings: &str) -> Result<Record, String> {
    let text = format!(
        "[model]\nspec = \"linear:{}\"\nfavourable = 1\n[protected.sex]\n[evidence]\nshuffles = 0\nresamples = 0\n{settings}",
        hiring("model.json")
    );
    let config = Config::parse("the test", &text, &[]).map_err(|error| error.to_string())?;
    let table = Table::read(Path::new(&hiring("people.csv")), &config.data).unwrap();
    run(&config, &table, &Silent).map_err(|error| error.to_string())
}

#[test]
fn what_the_model_does_not_read_never_changes() {
    let record = hiring_audit("").unwrap();
    let audit = &record.audit;
    let features: Vec<&str> = audit.features.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(features, ["degree", "hours", "job", "region", "years"]);
    // The outcome is no feature, and the unread region describes subgroups without changing.
    for change in &audit.changes {
        let text = change.text(&audit.features);
        assert!(!text.contains("kept") && !text.contains("region"), "{text}");
    }
    let region = audit.features.iter().find(|f| f.name == "region").unwrap();
    assert!(region.rules.immutable);
    let with_region = |text: String| text.contains("region");
    let mut predicates = audit.subgroups.iter().map(|s| audit.text(&s.predicate));
    assert!(predicates.any(with_region));
    // Nobody leaves because a column that nobody asks about is empty.
    assert_eq!(
        (audit.population.dropped, audit.population.excluded),
        (0, 0)
    );
    let notes: Vec<&str> = record.all_notes().map(String::as_str).collect();
    let notes = notes.join("\n");
    assert!(notes.contains("kept looks like the outcome"), "{notes}");
    assert!(
        notes.contains("may not: region (the model does not read it)"),
        "{notes}"
    );
}

#[test]
fn two_claims_on_one_column_are_named_with_the_remedy() {
    let error =
        hiring_audit("[label]\ncolumn = \"kept\"\n[data]\nweight = \"kept\"\n").unwrap_err();
    assert_eq!(
        error,
        "two keys claim the column `kept`: `label.column` and `data.weight`; a column has one role, so take it out of one of them"
    );
    let error = hiring_audit("[data]\nignore = [\"job\"]\n[features.job]\n").unwrap_err();
    assert!(error.contains("`data.ignore` and `features`"), "{error}");
    let error = hiring_audit("[label]\ncolumn = \"job\"\nfavourable = \"clerk\"\n").unwrap_err();
    assert!(
        error.starts_with(
            "the model reads `job`, and `label.column` says that `job` is the outcome"
        ),
        "{error}"
    );
    let error = hiring_audit("[report]\ndefinitions = [\"equal-chance\"]\n").unwrap_err();
    assert!(
        error.starts_with("`equal-chance` is no definition of fairness; write one of: equal-eff"),
        "{error}"
    );
}

/// 600 people: whoever has no known experience (written −1) got a yes, and nobody else.
fn experience(as_float: bool) -> RecordBatch {
    let years: Vec<i64> = (0..600)
        .map(|i| if i % 6 == 0 { -1 } else { i % 17 })
        .collect();
    let outcome = years
        .iter()
        .map(|years| Some(if *years == -1 { "yes" } else { "no" }));
    let outcome: StringArray = outcome.collect();
    let sex: StringArray = (0..600).map(|i| Some(["f", "m"][i / 7 % 2])).collect();
    let years: ArrayRef = if as_float {
        Arc::new(Float64Array::from_iter_values(
            years.iter().map(|y| *y as f64),
        ))
    } else {
        Arc::new(Int64Array::from(years))
    };
    RecordBatch::try_from_iter([
        ("sex", Arc::new(sex) as ArrayRef),
        ("years", years),
        ("outcome", Arc::new(outcome)),
    ])
    .unwrap()
}

fn trained(batch: RecordBatch, years: &str) -> Record {
    let text = format!(
        "[model]\nspec = \"train\"\n[label]\ncolumn = \"outcome\"\nfavourable = \"yes\"\n[protected.sex]\n[features.years]\nmissing-codes = [\"-1\"]\n{years}\n[audit]\nsupport = 0.05\nallow-dropped = 0.2\n[evidence]\nshuffles = 0\nresamples = 0\n"
    );
    let config = Config::parse("the test", &text, &[]).unwrap();
    let origin = Origin {
        name: "experience".to_owned(),
        sha256: None,
        files: Vec::new(),
    };
    run(&config, &Table::of(&[batch], origin).unwrap(), &Silent).unwrap()
}

/// A model is asked about the rows that it was fitted to: a missing number is missing in both.
#[test]
fn a_model_is_audited_on_what_it_was_fitted_to() {
    let years = "quantiles = 4\nmodel-sees = \"label\"\nmissing = \"level\"";
    for as_float in [false, true] {
        let record = trained(experience(as_float), years);
        let training = record.model.training.unwrap();
        assert_eq!(training.accuracy, 1.0, "as floats: {as_float}");
        let rates = record.base_rates.unwrap();
        let favourable: u64 = rates.groups.iter().map(|group| group.favourable).sum();
        assert!(favourable > 0);
        assert_eq!(record.audit.unaffected, favourable);
    }
}

/// One rule says what is missing, whatever the type of the column.
#[test]
fn a_missing_code_is_missing_as_an_integer_and_as_a_float() {
    let rows = |as_float: bool| {
        let mut batch = experience(as_float);
        // The outcome must not hang on the missing ones, which are dropped here.
        let outcome: StringArray = (0..600)
            .map(|i| Some(["no", "yes"][usize::from(i % 17 > 8)]))
            .collect();
        let mut columns = batch.columns().to_vec();
        columns[2] = Arc::new(outcome);
        batch = RecordBatch::try_new(batch.schema(), columns).unwrap();
        let record = trained(batch, "quantiles = 4\nmissing = \"drop\"");
        let training = record.model.training.unwrap();
        (training.train_rows, training.test_rows, record.notes)
    };
    let (train, test, notes) = rows(false);
    assert_eq!(train + test, 500);
    assert_eq!(rows(true), (train, test, notes));
}
