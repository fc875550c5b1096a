//! The same model gives the same audit, in whatever form it is opened: Adult, sex protected, 5 %.
//!
//! The forms need `FACTS_PYTHON`, `FACTS_PYTHON_MLFLOW` and `FACTS_PYTHON_OIP` (`scripts/test` sets
//! them up). What is not there is left out, and says so; under `CI=true` that is a failure.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "../formats/mod.rs"]
mod formats;
#[path = "../../crates/models/tests/support/mod.rs"]
mod support;

use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{ArrayRef, RecordBatch};
use facts_engine::Audit;
use facts_engine::flips::{Model, ModelError};
use facts_models::{ModelSpec, Parity, Remembering};
use facts_verification::adult_audit;

use formats::{Form, Forms};
use support::findings;

fn run(model: &dyn Model) -> Audit {
    adult_audit(model, "0.05").unwrap()
}

/// A model beside another form of it: the first answers, and where the second differs is counted.
struct Beside<'a> {
    model: &'a dyn Model,
    other: &'a dyn Model,
    differing: AtomicUsize,
}

impl Model for Beside<'_> {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        let answer = self.model.predict(rows)?;
        let parity = Parity::check(self.other, rows, &answer)?;
        self.differing
            .fetch_add(parity.differing.len(), Ordering::Relaxed);
        Ok(answer)
    }
}

/// Subgroups, actions, flips, costs, and everything else that an audit holds, save how many rows
/// the model was asked for.
///
/// Graphs compute in 32-bit floats, so a score may come out on the other side of 0 if it is within
/// about a millionth of it. None of the rows of this audit is: not one is answered otherwise.
fn assert_one_audit(forms: &Forms) -> Audit {
    let [first, others @ ..] = &forms.forms[..] else {
        panic!("there is no model");
    };
    let reference = first.open();
    let expected = run(&*reference.model);
    assert_eq!(
        expected.sizes.counterfactual_rows_asked, 0,
        "{}",
        first.name
    );
    for form in others {
        let opened = form.open();
        let beside = Beside {
            model: &*opened.model,
            other: &*reference.model,
            differing: AtomicUsize::new(0),
        };
        let found = run(&beside);
        let sizes = found.sizes;
        println!(
            "{}: {} rows of people and {} counterfactual rows asked",
            form.usage, sizes.rows_asked, sizes.counterfactual_rows_asked
        );
        assert_eq!(beside.differing.into_inner(), 0, "{}", form.name);
        assert!(
            findings(&found) == findings(&expected),
            "{} finds something else than {}",
            form.name,
            first.name
        );
        // Every row of a black box is asked for once, whatever its form.
        assert_eq!(sizes.rows_asked, sizes.profiles as u64);
        assert!(sizes.counterfactual_rows_asked > 100_000);
    }
    expected
}

#[test]
fn a_logistic_regression_gives_one_audit_in_all_forms() {
    let audit = assert_one_audit(&formats::logistic());
    // The counts of the reference results: this is the audit that `adult_sex.rs` verifies.
    assert!(audit.subgroups.len() > 500, "{}", audit.subgroups.len());
}

#[test]
fn a_lightgbm_model_gives_one_audit_in_all_forms() {
    let Some(forms) = formats::lightgbm() else {
        return;
    };
    let audit = assert_one_audit(&forms);
    assert!(audit.sizes.pairs > 1000, "{:?}", audit.sizes);
}

/// A slow form with its answers kept: the same audit, and the second time without the model.
#[test]
fn answers_that_are_kept_give_the_same_audit() {
    let Some(forms) = formats::lightgbm() else {
        return;
    };
    let find = |name: &str| -> &Form { forms.forms.iter().find(|f| f.name == name).unwrap() };
    let expected = run(&*find("lightgbm").open().model);
    let program = find("exec");
    let folder = tempfile::tempdir().unwrap();
    let spec: ModelSpec = program.spec.parse().unwrap();
    let fingerprint = spec.fingerprint(&Default::default()).unwrap();
    let mut all = 0;
    for turn in 0..2 {
        let path = folder.path().join("answers");
        let kept = Remembering::open(program.open().model, path, &fingerprint).unwrap();
        let found = run(&kept);
        assert!(findings(&found) == findings(&expected), "other findings");
        let sizes = found.sizes;
        all = sizes.rows_asked + sizes.counterfactual_rows_asked;
        let split = (kept.remembered(), kept.asked());
        assert_eq!(split, [(0, all), (all, 0)][turn]);
    }
    println!("{all} answers kept");
}
