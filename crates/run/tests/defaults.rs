//! What is done where nothing is said: how far the search goes, and how many people may leave.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use facts_report::{Origin, Record};
use facts_run::{Config, Silent, Table, run};

/// Numbers that look drawn by lot, the same each time, from −1 to 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = (self.0)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

fn audit(columns: Vec<(String, ArrayRef)>, settings: &str) -> Result<Record, String> {
    let text = format!(
        "[model]\nspec = \"train\"\n[label]\ncolumn = \"kept\"\nfavourable = 1\n[protected.sex]\n[evidence]\nshuffles = 0\nresamples = 0\n{settings}"
    );
    let config = Config::parse("the test", &text, &[]).map_err(|error| error.to_string())?;
    let origin = Origin {
        name: "made up".to_owned(),
        sha256: None,
        files: Vec::new(),
    };
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let table = Table::of(&[rows], origin).unwrap().prepared(&config.data);
    run(&config, &table.unwrap(), &Silent).map_err(|error| error.to_string())
}

/// 120 numbers of 2,000 people, which six hidden ones hold together.
fn wide() -> Vec<(String, ArrayRef)> {
    let rows = 2000;
    let mut numbers = Numbers(7);
    let hidden: Vec<[f64; 6]> = (0..rows)
        .map(|_| [(); 6].map(|()| numbers.next()))
        .collect();
    let mut columns: Vec<(String, ArrayRef)> = (0..120)
        .map(|c| {
            let values = hidden
                .iter()
                .map(|hidden| hidden[c % 6] + 0.3 * numbers.next());
            let values: Float64Array = values.map(Some).collect();
            (format!("x{c:03}"), Arc::new(values) as ArrayRef)
        })
        .collect();
    let sexes = (0..rows).map(|row| Some(["f", "m"][row % 2]));
    columns.push(("sex".into(), Arc::new(sexes.collect::<StringArray>())));
    let kept = hidden.iter().map(|hidden| {
        let sum: f64 = hidden.iter().sum::<f64>() + numbers.next();
        Some(i64::from(sum > 0.3))
    });
    columns.push(("kept".into(), Arc::new(kept.collect::<Int64Array>())));
    columns
}

#[test]
fn a_wide_table_gets_an_audit_of_short_predicates_and_is_told_so() {
    let record = audit(wide(), "").unwrap();
    let audit = &record.audit;
    let most = audit.settings.max_length.unwrap();
    assert!((1..=3).contains(&most));
    assert!(!audit.subgroups.is_empty());
    assert!(audit.sizes.common_subgroups <= 50_000);
    assert_eq!(audit.settings.min_members, 20);
    for subgroup in &audit.subgroups {
        assert!(subgroup.predicate.items().len() <= most);
        assert!(subgroup.members.iter().all(|&members| members >= 20));
    }
    let support = audit.settings.support;
    let notes = record.notes.join("\n");
    let chosen = format!("chosen, as none was given: support {support} and predicates of");
    assert!(notes.contains(&chosen), "{notes}");
}

/// One in ten has no `hours`, all of them women.
fn incomplete() -> Vec<(String, ArrayRef)> {
    let rows = 600;
    let mut numbers = Numbers(3);
    let years: Vec<f64> = (0..rows)
        .map(|_| (numbers.next() * 10.0).round() + 10.0)
        .collect();
    let hours = (0..rows).map(|row| {
        let hours = (numbers.next() * 4.0).round() * 5.0 + 30.0;
        (row % 20 != 0 && row % 20 != 2).then_some(hours)
    });
    let hours: Float64Array = hours.collect();
    let sexes = (0..rows).map(|row| Some(["f", "m"][row % 2]));
    let kept: Vec<i64> = years
        .iter()
        .map(|&y| i64::from(y + 6.0 * numbers.next() > 11.0))
        .collect();
    vec![
        ("hours".into(), Arc::new(hours)),
        ("years".into(), Arc::new(Float64Array::from(years))),
        ("sex".into(), Arc::new(sexes.collect::<StringArray>())),
        ("kept".into(), Arc::new(Int64Array::from(kept))),
    ]
}

#[test]
fn an_audit_stops_when_many_would_be_dropped() {
    let dropping = "[data]\nmissing = \"drop\"\n";
    let error = audit(incomplete(), dropping).unwrap_err();
    assert_eq!(
        error,
        "60 of 600 people (10.0 %) would be dropped for missing values, and 5.0 % may be\nthey miss: hours (60 rows)\nby group: f 60 of 300, m 0 of 300\nkeep them: missing values as a level of their own, `data.missing` = \"level\"; or leave those columns out with `data.ignore`; or drop them all the same: `audit.allow-dropped` = 0.10"
    );
    let allowed = |share: &str| {
        let settings = format!("{dropping}[audit]\nallow-dropped = {share}\n");
        audit(incomplete(), &settings)
    };
    assert!(allowed("0.1").is_ok());
    assert!(allowed("0.09").unwrap_err().starts_with("60 of 600 people"));
    assert_eq!(
        allowed("10").unwrap_err(),
        "`audit.allow-dropped` is 10; give a share from 0 to 1"
    );
    // As a level of its own a missing value costs nobody their place.
    assert_eq!(audit(incomplete(), "").unwrap().audit.population.dropped, 0);
}
