//! A model of which nothing is known but its answers: asked for no row twice, and for no more rows
//! than there are distinct counterfactuals.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Mutex;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, RecordBatch};
use facts_engine::flips::{Model, ModelError};
use facts_engine::{Audit, Options, Sizes, Watch, audit};
use facts_models::AdditiveModel;
use facts_verification::{adult_audit, adult_model, adult_population};

/// The reference model behind a face that only answers, and remembers what it was asked.
struct BlackBox {
    model: AdditiveModel,
    asked: Mutex<HashSet<String>>,
}

impl BlackBox {
    fn new() -> Self {
        Self {
            model: adult_model().unwrap(),
            asked: Mutex::default(),
        }
    }
}

impl Model for BlackBox {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        let mut asked = self.asked.lock().unwrap();
        for row in 0..rows.num_rows() {
            let mut text = String::new();
            for column in rows.columns() {
                match column.as_string_opt::<i32>() {
                    Some(texts) => write!(text, "{}|", texts.value(row)).unwrap(),
                    None => {
                        let numbers = column.as_primitive::<Int64Type>();
                        write!(text, "{}|", numbers.value(row)).unwrap();
                    }
                }
            }
            assert!(asked.insert(text.clone()), "asked twice: {text}");
        }
        self.model.predict(rows)
    }
}

fn run(model: &dyn Model, support: &str) -> Audit {
    adult_audit(model, support).unwrap()
}

/// What an audit found, apart from how the model was asked.
fn findings(mut audit: Audit) -> Vec<u8> {
    audit.sizes = Sizes {
        rows_asked: 0,
        counterfactual_rows_asked: 0,
        ..audit.sizes
    };
    serde_json::to_vec(&audit).unwrap()
}

#[test]
fn no_row_is_asked_twice_and_the_findings_are_the_same() {
    // The distinct counterfactual rows of each support; those that are rows of the population
    // themselves are known already.
    for (support, distinct) in [("0.1", 51_673), ("0.05", 157_684), ("0.01", 965_915)] {
        let black_box = BlackBox::new();
        let asked = run(&black_box, support);
        assert_eq!(asked.sizes.rows_asked, asked.sizes.profiles as u64);
        let counterfactual = asked.sizes.counterfactual_rows_asked;
        assert!(
            counterfactual <= distinct,
            "{counterfactual} rows at {support}"
        );
        let all = black_box.asked.into_inner().unwrap().len() as u64;
        assert_eq!(all, asked.sizes.rows_asked + counterfactual);
        println!("{support}: {counterfactual} of at most {distinct} counterfactual rows asked");

        let additive = run(&adult_model().unwrap(), support);
        assert_eq!(additive.sizes.counterfactual_rows_asked, 0);
        assert!(
            findings(asked) == findings(additive),
            "other findings at {support}"
        );
    }
}

#[test]
fn one_thread_and_two_give_the_same_bytes() {
    let population = adult_population().unwrap();
    let model = adult_model().unwrap();
    let bytes = |threads| {
        let options = Options::new()
            .support("0.02".parse().unwrap())
            .threads(threads);
        let audit = audit(&population, &model, &options, Watch::nobody()).unwrap();
        let rankings = audit.rank_all(&audit.paper_columns().unwrap());
        (
            serde_json::to_vec(&audit).unwrap(),
            serde_json::to_vec(&rankings).unwrap(),
        )
    };
    let one = bytes(1);
    assert!(one == bytes(2), "the number of threads shows");
    assert!(one == bytes(3), "the number of threads shows");
}

#[test]
fn a_saved_audit_answers_like_the_one_that_was_saved() {
    let audit = run(&adult_model().unwrap(), "0.05");
    let saved = serde_json::to_vec(&audit).unwrap();
    let loaded: Audit = serde_json::from_slice(&saved).unwrap();
    assert!(
        serde_json::to_vec(&loaded).unwrap() == saved,
        "saving changes the audit"
    );
    let columns = audit.paper_columns().unwrap();
    assert_eq!(loaded.rank_all(&columns), audit.rank_all(&columns));
}
