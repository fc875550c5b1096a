//! Models that answer nonsense, and more rows than there is room for.

use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, BooleanArray, Date32Array, NullArray, RecordBatch};
use facts_engine::flips::{Favourable, FnModel, Model, ModelError};
use facts_engine::population::Feature;
use facts_engine::{Options, Watch, audit};

use super::{
    declared, favours_bosses, floats, integers, misjudged, misjudged_with, spoiled, table, texts,
};

#[test]
fn models_that_say_the_same_to_everybody() {
    let always = |answer| FnModel::new(move |batch: &RecordBatch| vec![answer; batch.num_rows()]);
    assert_eq!(
        misjudged(&always(true)),
        "the model gives all 6 people the favourable outcome: nobody is affected, so there is no recourse to audit; check which class is favourable"
    );
    assert_eq!(
        misjudged(&always(false)),
        "the model gives all 6 people the unfavourable outcome: there is nobody to learn actions from; check which class is favourable"
    );
    let options = Options::new().favourable(Favourable::Class("yes".into()));
    assert_eq!(
        misjudged_with(&always(true), &options),
        "the model gives all 6 people the unfavourable outcome: there is nobody to learn actions from; check which class is favourable"
    );
}

/// A model that answers the population's rows as it should and then something else.
struct Answers<F>(F);

impl<F: Fn(usize) -> Result<ArrayRef, ModelError> + Sync> Model for Answers<F> {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        (self.0)(rows.num_rows())
    }
}

#[test]
fn models_that_answer_nonsense() {
    let answers = |answer: fn(usize) -> ArrayRef| misjudged(&Answers(move |n| Ok(answer(n))));
    // The six people are four distinct rows.
    assert_eq!(
        answers(|n| Arc::new(BooleanArray::from(vec![true; n + 1]))),
        "the model was asked for 4 rows and answered 5; it must give one class a row, in order"
    );
    assert_eq!(
        answers(|_| Arc::new(BooleanArray::from(Vec::<bool>::new()))),
        "the model was asked for 4 rows and answered 0; it must give one class a row, in order"
    );
    assert_eq!(
        answers(|n| floats(vec![0.25; n])),
        "the model answered 0.25 for row 1 of a batch, which is not a class; if it is a probability, turn it into a class with a threshold"
    );
    assert_eq!(
        answers(|n| floats((0..n).map(|i| if i == 2 { f64::NAN } else { 1.0 }))),
        "the model answered NaN for row 3 of a batch, which is not a class; if it is a probability, turn it into a class with a threshold"
    );
    assert_eq!(
        answers(|n| integers((0..n).map(|i| i as i64))),
        "the model answered 2 for row 3 of a batch, which is not a class; answers must be 1 or 0, unless you say which class is favourable"
    );
    assert_eq!(
        answers(|n| texts(vec!["yes"; n])),
        "the model answered yes for row 1 of a batch, which is not a class; answers must be 1 or 0, unless you say which class is favourable"
    );
    assert_eq!(
        answers(|n| integers((0..n).map(|i| (i != 1).then_some(1)))),
        "the model answered nothing (null) for row 2 of a batch, which is not a class; every row needs an answer"
    );
    assert_eq!(
        answers(|n| Arc::new(NullArray::new(n))),
        "the model answered nothing (null) for row 1 of a batch, which is not a class; every row needs an answer"
    );
    assert_eq!(
        answers(|n| Arc::new(Date32Array::from(vec![1; n]))),
        "the model answered with values of type Date32; classes are booleans, numbers or text"
    );
    let failing = Answers(|_| Err(ModelError::Failed("out of paper".into())));
    assert_eq!(misjudged(&failing), "the model failed: out of paper");
}

/// The same checks stand when the model is asked about counterfactual rows.
#[test]
fn models_that_answer_nonsense_later() {
    // Nobody of `f` is a boss, so that a clerk of `f` as a boss is a new row.
    let table = spoiled(
        "job",
        texts(["clerk", "clerk", "clerk", "clerk", "boss", "clerk"]),
    );
    let population = declared(Feature::categorical("job")).read([table]).unwrap();
    let calls = Mutex::new(0);
    let model = Answers(|n| {
        let mut calls = calls.lock().unwrap();
        *calls += 1;
        // Profiles come in the order of their values: the boss first.
        let first: Vec<bool> = vec![true, false, false];
        Ok(match *calls {
            1 => Arc::new(BooleanArray::from(first)) as ArrayRef,
            _ => Arc::new(BooleanArray::from(vec![true; n + 3])),
        })
    });
    let error = audit(&population, &model, &Options::new(), Watch::nobody()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model was asked for 1 rows and answered 4; it must give one class a row, in order"
    );
}

/// Few pairs, but a thousand people who differ in something that the audit does not speak of.
#[test]
fn too_many_counterfactual_rows() {
    let rows = 1000;
    let table = table(vec![
        ("number", integers(0..rows)),
        (
            "job",
            texts((0..rows).map(|i| if i % 4 == 0 { "boss" } else { "clerk" })),
        ),
        (
            "sex",
            texts((0..rows).map(|i| if i % 3 == 0 { "f" } else { "m" })),
        ),
    ]);
    let population = declared(Feature::categorical("job"))
        .context("number")
        .read([table])
        .unwrap();
    let with = |options: Options| audit(&population, &favours_bosses(), &options, Watch::nobody());
    let options = Options::new().threads(1).batch_rows(100);
    assert_eq!(
        with(options.clone())
            .unwrap()
            .sizes
            .counterfactual_rows_asked,
        750
    );
    // A row takes 28 bytes, and the people themselves are a thousand rows.
    let error = with(options.max_memory(32_000)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "1200 distinct counterfactual rows fill the 0 MiB allowed, and 1 of 1 changes are still to be decided; raise the memory limit or the support"
    );
}
