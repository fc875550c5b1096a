//! Models that answer nonsense, and more rows than there is room for.

use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, BooleanArray, Date32Array, NullArray, RecordBatch};
use facts_engine::flips::{Favourable, FnModel, Model, ModelError};
use facts_engine::population::{Edges, Feature};
use facts_engine::{Audit, Error, Options, Watch, audit};

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

/// A thousand people who all have another number, and the model's answer hangs on the job.
fn numbered() -> RecordBatch {
    let rows = 1000;
    table(vec![
        ("number", integers(0..rows)),
        (
            "job",
            texts((0..rows).map(|i| if i % 4 == 0 { "boss" } else { "clerk" })),
        ),
        (
            "sex",
            texts((0..rows).map(|i| if i % 3 == 0 { "f" } else { "m" })),
        ),
    ])
}

/// People who differ in something that no change assigns never come to the same row: they are looked at a few
/// at a time, in as little memory as there is.
#[test]
fn rows_of_people_who_stay_apart_are_not_kept() {
    let population = declared(Feature::categorical("job"))
        .context("number")
        .read([numbered()])
        .unwrap();
    let with = |options: Options| audit(&population, &favours_bosses(), &options, Watch::nobody());
    let options = Options::new().batch_rows(100);
    let whole = with(options.clone()).unwrap();
    assert_eq!(whole.sizes.counterfactual_rows_asked, 750);
    for threads in [1, 2] {
        // With more and more memory: first the subgroups do not fit, then all does.
        let little = in_little_memory(|limit| {
            let options = options.clone().threads(threads);
            with(options.max_memory(limit))
        });
        let little = little.last().unwrap().as_ref().unwrap();
        assert_eq!(little.sizes.counterfactual_rows_asked, 750);
        assert_eq!(
            serde_json::to_string(&little.subgroups).unwrap(),
            serde_json::to_string(&whole.subgroups).unwrap()
        );
    }
}

/// What comes of an audit with more and more memory, up to the first time that all fits.
fn in_little_memory(audit: impl Fn(u64) -> Result<Audit, Error>) -> Vec<Result<Audit, Error>> {
    let mut all = Vec::new();
    for limit in 1..1000 {
        all.push(audit(limit << 12));
        if all.last().is_some_and(Result::is_ok) {
            break;
        }
    }
    all
}

/// Where actions move the number too, everybody of a group may come to the row of everybody else.
#[test]
fn too_many_counterfactual_rows() {
    let population = declared(Feature::categorical("job"))
        .feature(Feature::binned("number", Edges::EqualWidth(2)))
        .read([numbered()])
        .unwrap();
    let with = |options: Options| audit(&population, &favours_bosses(), &options, Watch::nobody());
    for threads in [1, 2] {
        let options = Options::new().threads(threads).batch_rows(100);
        // First the subgroups do not fit, then the rows do not, then all does.
        let all = in_little_memory(|limit| with(options.clone().max_memory(limit)));
        assert!(all.last().unwrap().is_ok());
        let too_many = all.iter().find_map(|found| match found {
            Err(error @ Error::TooManyRows { .. }) => Some(error.to_string()),
            _ => None,
        });
        let text = too_many.unwrap();
        assert!(
            text.contains("distinct counterfactual rows fill the 0 MiB allowed, and "),
            "{text}"
        );
    }
}
