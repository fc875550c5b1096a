//! Input that cannot be audited: each kind gives an error of its own, in words that say what is
//! wrong, where, and what to do. Nothing here may panic.

// A test's helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float32Array, Float64Array,
    Int64Array, NullArray, RecordBatch, StringArray, UInt8Array,
};
use arrow_schema::{Field, Schema};
use facts_engine::actions::Validity;
use facts_engine::definitions;
use facts_engine::flips::{Favourable, FnModel, Model, ModelError};
use facts_engine::population::{
    Bins, Declaration, Direction, Distance, Edges, Feature, Kind, Missing, Move, Protected, Rules,
    Step, View,
};
use facts_engine::{Audit, Decimal, Error, Options, Phase, Progress, Support, Watch, audit};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

fn texts<'t, T: Into<Option<&'t str>>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    let values = values.into_iter().map(Into::into);
    Arc::new(values.collect::<StringArray>())
}

fn integers<T: Into<Option<i64>>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    let values = values.into_iter().map(Into::into);
    Arc::new(values.collect::<Int64Array>())
}

fn floats<T: Into<Option<f64>>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    let values = values.into_iter().map(Into::into);
    Arc::new(values.collect::<Float64Array>())
}

/// Six people, sound in every way; the tests spoil a column of it.
fn people() -> Vec<(&'static str, ArrayRef)> {
    vec![
        ("age", floats([20.0, 30.0, 40.0, 25.0, 35.0, 45.0])),
        (
            "job",
            texts(["clerk", "boss", "clerk", "clerk", "boss", "clerk"]),
        ),
        ("rank", texts(["low", "mid", "high", "low", "mid", "high"])),
        ("sex", texts(["f", "f", "f", "m", "m", "m"])),
        ("people", integers([1, 1, 1, 1, 1, 1])),
    ]
}

fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The six people with one column replaced.
fn spoiled(name: &str, column: ArrayRef) -> RecordBatch {
    let mut columns = people();
    let place = columns.iter_mut().find(|(one, _)| *one == name).unwrap();
    place.1 = column;
    table(columns)
}

fn declared(feature: Feature) -> Declaration {
    Declaration::new()
        .feature(feature)
        .protected(Protected::attribute("sex"))
}

/// Bosses are favoured.
fn favours_bosses() -> impl Model {
    FnModel::new(|batch: &RecordBatch| {
        let jobs = batch.column_by_name("job").unwrap().as_string::<i32>();
        jobs.iter().map(|job| job == Some("boss")).collect()
    })
}

/// The error of reading a table.
fn unread(declaration: Declaration, table: &RecordBatch) -> String {
    declaration.read([table]).unwrap_err().to_string()
}

/// What an audit with a model that favours bosses says.
fn audited(declaration: Declaration, table: &RecordBatch) -> Result<Audit, Error> {
    let population = declaration.read([table])?;
    audit(
        &population,
        &favours_bosses(),
        &Options::new(),
        Watch::nobody(),
    )
}

/// The error of an audit of the six people.
fn unaudited(declaration: Declaration) -> String {
    audited(declaration, &table(people()))
        .unwrap_err()
        .to_string()
}

/// The error of an audit of the six people with another model.
fn misjudged(model: &impl Model) -> String {
    misjudged_with(model, &Options::new())
}

fn misjudged_with(model: &impl Model, options: &Options) -> String {
    let population = declared(Feature::categorical("job"))
        .read([table(people())])
        .unwrap();
    audit(&population, model, options, Watch::nobody())
        .unwrap_err()
        .to_string()
}

#[test]
fn the_six_people_are_sound() {
    let found = audited(declared(Feature::categorical("job")), &table(people())).unwrap();
    assert_eq!(found.sizes.pairs, 1);
}

// Declarations.

#[test]
fn unknown_columns() {
    let sound = table(people());
    assert_eq!(
        unread(declared(Feature::categorical("Jobs")), &sound),
        "there is no column `Jobs` (did you mean `job`?); the table has: age, job, rank, sex, people"
    );
    let other = Declaration::new()
        .feature(Feature::categorical("job"))
        .protected(Protected::attribute("ethnicity"));
    assert_eq!(
        unread(other, &sound),
        "there is no column `ethnicity`; the table has: age, job, rank, sex, people"
    );
    assert_eq!(
        unread(
            declared(Feature::categorical("job")).weight("peopel"),
            &sound
        ),
        "there is no column `peopel` (did you mean `people`?); the table has: age, job, rank, sex, people"
    );
    assert_eq!(
        unread(
            declared(Feature::categorical("job")).context("rang"),
            &sound
        ),
        "there is no column `rang` (did you mean `rank`?); the table has: age, job, rank, sex, people"
    );
}

#[test]
fn columns_declared_twice_or_not_at_all() {
    let sound = table(people());
    let twice = "column `job` is declared twice; a column is one feature, or protected, or the weight, or context";
    let job = || declared(Feature::categorical("job"));
    assert_eq!(
        unread(job().feature(Feature::categorical("job")), &sound),
        twice
    );
    assert_eq!(
        unread(job().protected(Protected::attribute("job")), &sound),
        twice
    );
    assert_eq!(unread(job().context("job"), &sound), twice);
    assert_eq!(unread(job().weight("job"), &sound), twice);
    assert_eq!(
        unread(
            Declaration::new().protected(Protected::attribute("sex")),
            &sound
        ),
        "no feature is declared; declare the columns that people can differ in"
    );
    assert_eq!(
        unread(
            Declaration::new().feature(Feature::categorical("job")),
            &sound
        ),
        "no protected attribute is declared; name the column whose groups are compared"
    );
}

#[test]
fn rules_that_contradict() {
    let sound = table(people());
    let linked = declared(Feature::categorical("job").linked_to("rank"))
        .feature(Feature::categorical("rank").immutable());
    assert_eq!(
        unread(linked, &sound),
        "feature `rank` is immutable, but changing `job` requires changing it; drop the link or let `rank` change"
    );
    assert_eq!(
        unread(
            declared(Feature::categorical("job").linked_to("age")),
            &sound
        ),
        "feature `job` is linked to `age`, which is not a declared feature; declared are: job"
    );
}

#[test]
fn rules_that_need_an_order_or_numbers() {
    let sound = table(people());
    let unread = |feature| unread(declared(feature), &sound);
    assert_eq!(
        unread(Feature::categorical("job").only(Direction::Increase)),
        "feature `job`: a direction of change needs an order of the levels; declare the feature ordinal or numeric"
    );
    assert_eq!(
        unread(Feature::categorical("job").max_step(Step::Levels(1))),
        "feature `job`: a greatest step in levels needs an order of the levels; declare the feature ordinal or numeric"
    );
    let order = ["low", "mid", "high"];
    assert_eq!(
        unread(Feature::ordinal("rank", order).max_step(Step::Units(1.0))),
        "feature `rank`: a greatest step in units needs numbers, and level `low` has none; declare the feature numeric"
    );
    for (step, shown) in [(f64::NAN, "NaN"), (-1.0, "-1"), (f64::INFINITY, "inf")] {
        assert_eq!(
            unread(Feature::numeric("age").max_step(Step::Units(step))),
            format!(
                "feature `age` has a greatest step of {shown}; give a finite number of at least 0"
            )
        );
    }
    for (weight, shown) in [(f64::NAN, "NaN"), (-0.5, "-0.5"), (f64::INFINITY, "inf")] {
        assert_eq!(
            unread(Feature::numeric("age").weight(weight)),
            format!("feature `age` has cost weight {shown}; give a finite number of at least 0")
        );
    }
}

#[test]
fn costs_that_cannot_be() {
    let job = |distance| declared(Feature::categorical("job").distance(distance));
    let entry = |from: &str, to: &str, cost| (from.to_owned(), to.to_owned(), cost);
    assert_eq!(
        unaudited(job(Distance::Ordinal)),
        "feature `job`: a cost by ranks needs an order of the levels; declare the feature ordinal or numeric"
    );
    assert_eq!(
        unaudited(job(Distance::Numeric { normalised: true })),
        "feature `job`: a cost by numbers needs numbers, and level `boss` has none; declare the feature numeric"
    );
    assert_eq!(
        unaudited(job(Distance::Table(vec![entry("clerk", "boss", -1.0)]))),
        "feature `job`: going from `clerk` to `boss` costs -1; a cost must be a finite number of at least 0"
    );
    assert_eq!(
        unaudited(job(Distance::Table(vec![entry("clerk", "boss", f64::NAN)]))),
        "feature `job`: going from `clerk` to `boss` costs NaN; a cost must be a finite number of at least 0"
    );
    assert_eq!(
        unaudited(job(Distance::Table(vec![entry("boss", "clerk", 1.0)]))),
        "feature `job`: the cost table has no entry from `clerk` to `boss`; add it, or forbid that transition"
    );
    for (cost, shown) in [(f64::NAN, "NaN"), (-2.0, "-2"), (f64::INFINITY, "inf")] {
        assert_eq!(
            unaudited(job(Distance::Function(Arc::new(move |_, _| cost)))),
            format!(
                "feature `job`: going from `clerk` to `boss` costs {shown}; a cost must be a finite number of at least 0"
            )
        );
    }
    // Finite numbers may be infinitely far apart, and finite costs may add up to no number.
    let far = spoiled(
        "age",
        floats([f64::MIN, f64::MAX, 0.0, 0.0, f64::MAX, f64::MIN]),
    );
    let error = audited(
        declared(Feature::numeric("age")).feature(Feature::categorical("job")),
        &far,
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "feature `age`: going from `-1.7976931348623157e308` to `1.7976931348623157e308` costs inf; a cost must be a finite number of at least 0"
    );
    let dear = || Distance::Table(vec![entry("clerk", "boss", 1e308)]);
    assert_eq!(
        unaudited(declared(
            Feature::categorical("job").distance(dear()).weight(100.0)
        )),
        "feature `job`: going from `clerk` to `boss` costs inf; a cost must be a finite number of at least 0"
    );
    // A transition that is forbidden needs no entry.
    let forbidden = Feature::categorical("job")
        .distance(Distance::Table(Vec::new()))
        .forbid("clerk", "boss");
    let found = audited(declared(forbidden), &table(people())).unwrap();
    assert_eq!(found.without_actions.len(), 1);
}

#[test]
fn bins_that_cannot_be() {
    let sound = table(people());
    let unread = |feature| unread(declared(feature), &sound);
    let at = |edges: &[f64]| Feature::binned("age", Edges::At(edges.to_vec()));
    assert_eq!(
        unread(at(&[0.0, 30.0, 40.0])),
        "column `age`, row 6: 45 lies outside the bins, which go from 0 to 40; widen the outermost edges (-inf and inf are allowed)"
    );
    assert_eq!(
        unread(at(&[21.0, 30.0, f64::INFINITY])),
        "column `age`, row 1: 20 lies outside the bins, which go from 21 to inf; widen the outermost edges (-inf and inf are allowed)"
    );
    assert_eq!(
        unread(at(&[0.0, 50.0, 50.0])),
        "feature `age`: the edges [0.0, 50.0, 50.0] do not ascend; sort them and drop repeats"
    );
    assert_eq!(
        unread(at(&[0.0, f64::NAN, 50.0])),
        "feature `age`: the edges [0.0, NaN, 50.0] do not ascend; sort them and drop repeats"
    );
    assert_eq!(
        unread(at(&[50.0])),
        "feature `age`: bins need at least two edges, and there is 1; give more edges, or declare the feature numeric"
    );
    assert_eq!(
        unread(at(&[])),
        "feature `age`: bins need at least two edges, and there is 0; give more edges, or declare the feature numeric"
    );
    for edges in [Edges::Quantiles(0), Edges::EqualWidth(0)] {
        assert_eq!(
            unread(Feature::binned("age", edges)),
            "feature `age`: 0 bins were asked for; ask for at least 1"
        );
    }
    assert_eq!(
        unread(at(&[0.0, 30.0, 50.0]).labels(["young"])),
        "feature `age`: 1 labels were given for 2 bins; give one a bin"
    );
    assert_eq!(
        unread(at(&[0.0, 30.0, 50.0]).labels(["same", "same"])),
        "feature `age`: two levels are called `same`; name each level once"
    );
    assert_eq!(
        unread(Feature::binned("age", Edges::Quantiles(2)).labels(["young"])),
        "feature `age`: 1 labels were given for 2 bins; give one a bin (quantiles that fall together make one bin fewer)"
    );
    let nothing = spoiled("age", floats([None::<f64>; 6]));
    let missing = Feature::binned("age", Edges::Quantiles(2)).missing(Missing::Level);
    assert_eq!(
        self::unread(declared(missing), &nothing),
        "feature `age`: there is no number to cut into bins; every value is missing"
    );
}

// The table.

#[test]
fn numbers_that_are_not_finite() {
    for (bad, shown) in [
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        let table = spoiled("age", floats([20.0, 30.0, bad, 25.0, 35.0, 45.0]));
        let message = format!(
            "column `age`, row 3: {shown} is not a finite number; make it null if it is missing"
        );
        assert_eq!(unread(declared(Feature::numeric("age")), &table), message);
        // Neither a policy nor a code makes it a missing value.
        let coded = Feature::numeric("age")
            .missing(Missing::Level)
            .missing_codes(["NaN", "inf"]);
        assert_eq!(unread(declared(coded), &table), message);
        let protected = Declaration::new()
            .feature(Feature::categorical("job"))
            .protected(Protected::attribute("age").kind(Kind::Numeric));
        assert_eq!(unread(protected, &table), message);
    }
}

#[test]
fn values_of_the_wrong_kind() {
    assert_eq!(
        unread(declared(Feature::numeric("job")), &table(people())),
        "column `job`, row 1: `clerk` is not a number; list it among the missing codes or declare the feature categorical"
    );
    // Text may be read as numbers, but `nan` is none.
    let digits = spoiled("job", texts(["1", "2", "nan", "1", "2", "3"]));
    assert_eq!(
        unread(declared(Feature::numeric("job")), &digits),
        "column `job`, row 3: `nan` is not a number; list it among the missing codes or declare the feature categorical"
    );
    let digits = spoiled("job", texts(["1", "2", "3", "1", "2", "3"]));
    assert_eq!(
        unread(
            declared(Feature::binned("job", Edges::Quantiles(2))),
            &digits
        ),
        "column `job` holds text, so its numbers cannot be moved between bins; read the column as a number, or let the model see the bin's label"
    );
    assert_eq!(
        unread(
            declared(Feature::ordinal("rank", ["low", "mid"])),
            &table(people())
        ),
        "column `rank`, row 3: `high` is not in the declared order (low < mid); add it to the order or list it among the missing codes"
    );
    assert_eq!(
        unread(
            declared(Feature::ordinal("rank", ["low", "mid", "high", "low"])),
            &table(people())
        ),
        "feature `rank`: two levels are called `low`; name each level once"
    );
    let dates = spoiled("age", Arc::new(Date32Array::from(vec![1; 6])));
    assert_eq!(
        unread(declared(Feature::categorical("age")), &dates),
        "column `age` has type Date32, which an audit cannot read; cast it to text, a boolean, an integer or a float"
    );
}

#[test]
fn missing_values_under_the_policy_error() {
    let some = ["clerk", "boss", "clerk", "?", "boss", "clerk"].map(Some);
    let null = some.map(|job| job.filter(|job| *job != "?"));
    let message = "column `job`, row 4: the value is missing; say what to do with missing values of this feature: drop the row, or treat them as a level";
    let job = || Feature::categorical("job");
    assert_eq!(
        unread(declared(job()), &spoiled("job", texts(null))),
        message
    );
    let coded = declared(job().missing_codes(["?"]));
    assert_eq!(unread(coded, &spoiled("job", texts(some))), message);
    let taken = ["clerk", "boss", "missing"]
        .map(Some)
        .into_iter()
        .chain([None; 3]);
    assert_eq!(
        unread(
            declared(job().missing(Missing::Level)),
            &spoiled("job", texts(taken))
        ),
        "feature `job` has a category named `missing` and missing values too; list `missing` among the missing codes, or drop the rows with missing values"
    );
}

#[test]
fn weights_that_count_nobody() {
    let unread = |weights| {
        let declaration = declared(Feature::categorical("job")).weight("people");
        unread(declaration, &spoiled("people", weights))
    };
    let whole = "is not a whole number of people; weights are 0, 1, 2, …";
    assert_eq!(
        unread(integers([1, 1, -2, 1, 1, 1])),
        format!("weight column `people`, row 3: -2 {whole}")
    );
    assert_eq!(
        unread(floats([1.0, 1.5, 1.0, 1.0, 1.0, 1.0])),
        format!("weight column `people`, row 2: 1.5 {whole}")
    );
    assert_eq!(
        unread(floats([1.0, 1.0, 1.0, f64::NAN, 1.0, 1.0])),
        format!("weight column `people`, row 4: NaN {whole}")
    );
    assert_eq!(
        unread(integers([
            Some(1),
            Some(1),
            Some(1),
            Some(1),
            None,
            Some(1)
        ])),
        format!("weight column `people`, row 5: a missing weight {whole}")
    );
    assert_eq!(
        unread(texts(["1", "1", "1", "1", "1", "one"])),
        format!("weight column `people`, row 1: 1 {whole}")
    );
    assert_eq!(
        unread(integers([0, 0, 0, 0, 0, 0])),
        "no row is left to audit: 6 read, 0 dropped for missing values, 0 without a protected value, 6 of weight 0"
    );
}

#[test]
fn nothing_to_read() {
    let declaration = || declared(Feature::categorical("job").missing(Missing::Drop));
    let nothing = "no row is left to audit: 0 read, 0 dropped for missing values, 0 without a protected value, 0 of weight 0";
    let none: [RecordBatch; 0] = [];
    assert_eq!(declaration().read(none).unwrap_err().to_string(), nothing);
    let empty = table(people()).slice(0, 0);
    assert_eq!(unread(declaration(), &empty), nothing);
    let batches = [empty.clone(), empty.clone()];
    assert_eq!(
        declaration().read(batches).unwrap_err().to_string(),
        nothing
    );
    // An empty batch among others changes nothing.
    let batches = [empty.clone(), table(people()), empty];
    assert_eq!(declaration().read(batches).unwrap().summary().rows, 6);

    let mut columns = people();
    columns[1].1 = texts([None, None, Some("boss"), None, None, None]);
    columns[3].1 = texts([Some("f"), None, None, Some("m"), None, Some("m")]);
    assert_eq!(
        unread(declaration(), &table(columns)),
        "no row is left to audit: 6 read, 3 dropped for missing values, 3 without a protected value, 0 of weight 0"
    );
}

#[test]
fn dictionaries_without_values() {
    let nulls: DictionaryArray<Int8Type> = [None::<&str>; 6].into_iter().collect();
    let table = spoiled("job", Arc::new(nulls));
    let job = |missing| declared(Feature::categorical("job").missing(missing));
    assert_eq!(job(Missing::Level).read([&table]).unwrap().profiles(), 2);
    assert_eq!(
        unread(job(Missing::Drop), &table),
        "no row is left to audit: 6 read, 6 dropped for missing values, 0 without a protected value, 0 of weight 0"
    );
    let empty = table.slice(0, 0);
    assert!(matches!(
        job(Missing::Drop).read([empty]),
        Err(Error::NoRows { .. })
    ));
}

#[test]
fn batches_that_do_not_go_together() {
    let first = table(people());
    let mut columns = people();
    columns[0].1 = integers([20, 30, 40, 25, 35, 45]);
    let declaration = || declared(Feature::categorical("job"));
    let error = declaration().read([&first, &table(columns)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "batch 2 has other columns or types than the first: `age` (Int64) where there was `age` (Float64)"
    );
    let fewer = table(people()[..4].to_vec());
    let error = declaration().read([&first, &fewer]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "batch 2 has other columns or types than the first: 4 columns, not 5"
    );
}

// Groups.

#[test]
fn groups_that_cannot_be_compared() {
    let table = spoiled("sex", texts(["f"; 6]));
    assert_eq!(
        unread(declared(Feature::categorical("job")), &table),
        "protected attribute `sex` has only the value `f`; a comparison needs two groups"
    );
    let crossed = declared(Feature::categorical("job")).protected(Protected::attribute("people"));
    assert_eq!(
        unread(crossed, &table),
        "protected attribute `sex & people` has only the value `f & 1`; a comparison needs two groups"
    );
    let twice = Declaration::new()
        .feature(Feature::categorical("job"))
        .protected(
            Protected::attribute("sex")
                .merge("x", ["f"])
                .merge("y", ["m", "f"]),
        );
    assert_eq!(
        unread(twice, &self::table(people())),
        "protected attribute `sex`: value `f` is mapped to two groups; map each value once"
    );
    assert_eq!(
        misjudged_with(&favours_bosses(), &Options::new().compare(["f", "n"])),
        "there is no group `n` (did you mean `f`?); the groups are: f, m"
    );
    assert_eq!(
        misjudged_with(&favours_bosses(), &Options::new().compare(["f"])),
        r#"fewer than two groups can be compared: kept ["f"], set aside ["m (not among the groups to compare)"]; lower the least group size, merge groups, or compare others"#
    );
}

// The model.

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
        let first: Vec<bool> = vec![false, false, true];
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

// Numbers that a user gives.

#[test]
fn shares_and_parameters_out_of_range() {
    for text in ["0", "1.01", "-0.1", "abc", "", "nan"] {
        let error = text.parse::<Support>().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "the support is {text}, but must be above 0 and at most 1; write one percent as 0.01"
            )
        );
    }
    for (number, shown) in [
        (0.0, "0"),
        (1.5, "1.5"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
    ] {
        let error = Support::try_from(number).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "the support is {shown}, but must be above 0 and at most 1; write one percent as 0.01"
            )
        );
    }
    assert_eq!(
        "1e-30".parse::<Decimal>().unwrap_err().to_string(),
        "`1e-30` is not a decimal number of at most 18 digits after the point; write it like 0.05"
    );
    let definition = |id: &str| definitions::parse(id).unwrap_err().to_string();
    assert_eq!(
        definition("equal-cost-of-effectiveness:micro:1.2"),
        "the effectiveness φ is 1.2, but must be above 0 and at most 1; write one percent as 0.01"
    );
    assert_eq!(
        definition("fair-trade-off:micro:1"),
        "the significance level α is 1, but must be above 0 and below 1"
    );
    assert_eq!(
        definition("fair-trade-off:micro:0"),
        "the significance level α is 0, but must be above 0 and below 1"
    );
    assert_eq!(
        definition("equal-effectiveness-within-budget:micro:-1"),
        "`-1` is not a decimal number of at most 18 digits after the point; write it like 0.05"
    );
    let error = definitions::paper_columns(&[f64::NAN]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the budget is NaN, but must be a finite number of at least 0"
    );
    let error = definitions::EqualMeanRecourse::over_all(f64::INFINITY).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the cost of having no recourse is inf, but must be a finite number of at least 0"
    );
}

#[test]
fn budgets_that_cannot_be_chosen() {
    let found = audited(
        declared(Feature::categorical("job").immutable()),
        &table(people()),
    );
    assert_eq!(
        found.unwrap().automatic_budgets().unwrap_err().to_string(),
        "no subgroup reaches effectiveness 0.5 at any cost, so budgets cannot be chosen automatically; give the budgets yourself"
    );
}

// Size.

/// A table without much order: `rows` people in two groups, four features of three levels.
fn crowd(rows: usize, seed: u64) -> RecordBatch {
    let mut state = seed;
    let mut draw = |levels: u64| {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % levels
    };
    // Of two draws the lower: lower levels are held more often.
    let mut column = |levels| -> ArrayRef {
        let level = |_| ["a", "b", "c"][draw(levels).min(draw(levels)) as usize];
        texts((0..rows).map(level).collect::<Vec<_>>())
    };
    let names = ["p", "q", "r", "s"].map(|name| (name, column(3)));
    table([names.to_vec(), vec![("group", column(2))]].concat())
}

/// Audits a crowd with a model that looks at all features.
fn audit_crowd(table: &RecordBatch, options: &Options, watch: Watch<'_>) -> Result<Audit, Error> {
    let population = Declaration::new()
        .features(["p", "q", "r", "s"].map(Feature::categorical))
        .protected(Protected::attribute("group"))
        .read([table])?;
    let model = FnModel::new(|batch: &RecordBatch| {
        let points = |row: usize| -> usize {
            let features = &batch.columns()[..4];
            let texts = features
                .iter()
                .map(|column| column.as_string::<i32>().value(row));
            let points = texts
                .enumerate()
                .map(|(i, text)| (i + 1) * usize::from(text != "a"));
            points.sum()
        };
        (0..batch.num_rows()).map(|row| points(row) > 4).collect()
    });
    audit(&population, &model, options, watch)
}

/// So many cases, always the same ones, unless the environment asks for others.
fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let asked = |name| std::env::var_os(name).is_some();
    ProptestConfig {
        cases: match asked("PROPTEST_CASES") {
            true => default.cases,
            false => cases,
        },
        rng_seed: match asked("PROPTEST_RNG_SEED") {
            true => default.rng_seed,
            false => RngSeed::Fixed(17),
        },
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(config(150))]

    /// With the support that the error advises, the audit goes through.
    #[test]
    fn the_support_that_is_advised_for_subgroups_fits(
        rows in 40..160_usize,
        seed in any::<u64>(),
        limit in 1..200_usize,
        subset in any::<bool>(),
    ) {
        let table = crowd(rows, seed);
        let validity = if subset { Validity::Subset } else { Validity::Joint };
        let options = Options::new().validity(validity).max_subgroups(limit);
        match audit_crowd(&table, &options, Watch::nobody()) {
            Ok(found) => {
                prop_assert!(found.sizes.common_subgroups.max(found.sizes.action_itemsets) <= limit);
            }
            Err(Error::TooFewGroups { .. }) => {}
            Err(error) => {
                let Error::TooManyItemsets { what, found, limit: told, fits, .. } = error.clone() else {
                    return Err(TestCaseError::fail(error.to_string()));
                };
                prop_assert!(found > limit && told == limit);
                let advice = match &fits {
                    Some(support) => format!("a support of {support} would fit"),
                    None => "raise the limit, or use fewer features or wider bins".to_owned(),
                };
                prop_assert_eq!(
                    error.to_string(),
                    format!("support 0.01 gives too many {what}: {found} were found before stopping, the limit is {limit}; {advice}")
                );
                if let Some(support) = fits {
                    let again = options.support(support.parse().unwrap());
                    let again = audit_crowd(&table, &again, Watch::nobody());
                    prop_assert!(again.is_ok(), "{:?} after {}", again, error);
                }
            }
        }
    }

    /// The same for memory.
    #[test]
    fn the_support_that_is_advised_for_memory_fits(
        rows in 40..160_usize,
        seed in any::<u64>(),
        limit in 1_000..400_000_u64,
        subset in any::<bool>(),
    ) {
        let table = crowd(rows, seed);
        let validity = if subset { Validity::Subset } else { Validity::Joint };
        let options = Options::new().validity(validity).max_memory(limit);
        match audit_crowd(&table, &options, Watch::nobody()) {
            // A crowd may happen to have nobody affected in a group.
            Ok(_) | Err(Error::TooManyRows { .. } | Error::TooFewGroups { .. }) => {}
            Err(error) => {
                let Error::TooMuchMemory { pairs, subgroups, itemsets, needed_mib, fits, .. } = error.clone() else {
                    return Err(TestCaseError::fail(error.to_string()));
                };
                let advice = match &fits {
                    Some(support) => format!("a support of {support} would fit"),
                    None => "raise the limit, or use fewer features or wider bins".to_owned(),
                };
                prop_assert_eq!(
                    error.to_string(),
                    format!("support 0.01 gives {subgroups} subgroups, {itemsets} action itemsets and {pairs} pairs of the two, which need about {needed_mib} MiB; the limit is {} MiB; {advice}", limit >> 20)
                );
                if let Some(support) = fits {
                    let again = options.support(support.parse().unwrap());
                    let again = audit_crowd(&table, &again, Watch::nobody());
                    prop_assert!(
                        !matches!(again, Err(Error::TooMuchMemory { .. })),
                        "{:?} after {}", again, error
                    );
                }
            }
        }
    }

    /// The same for the length of predicates.
    #[test]
    fn the_support_that_is_advised_for_lengths_fits(
        rows in 40..160_usize,
        seed in any::<u64>(),
        length in 0..4_usize,
    ) {
        let table = crowd(rows, seed);
        let options = Options::new().max_length(length);
        if let Err(Error::TooLong { fits: Some(support), .. }) =
            audit_crowd(&table, &options, Watch::nobody())
        {
            let again = options.support(support.parse().unwrap());
            prop_assert!(audit_crowd(&table, &again, Watch::nobody()).is_ok());
        }
    }
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

// The watch.

#[test]
fn an_audit_stops_in_any_phase() {
    let table = crowd(80, 5);
    let phases = [
        (Phase::Predictions, "cancelled during predictions"),
        (Phase::Subgroups, "cancelled during subgroups"),
        (Phase::Actions, "cancelled during actions"),
        (Phase::Validity, "cancelled during validity"),
        (Phase::Flips, "cancelled during flips"),
        (Phase::Effectiveness, "cancelled during effectiveness"),
    ];
    for (phase, message) in phases {
        for at_once in [true, false] {
            let told = Mutex::new(BTreeSet::new());
            let callback = |progress: Progress| {
                told.lock().unwrap().insert(progress.phase);
                assert!(progress.done <= progress.total);
                let started = at_once || progress.done > 0;
                match progress.phase == phase && started {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            let options = Options::new().batch_rows(5);
            let error = audit_crowd(&table, &options, Watch::new(&callback)).unwrap_err();
            assert_eq!(error, Error::Cancelled { phase });
            assert_eq!(error.to_string(), message);
            let told = told.into_inner().unwrap();
            assert!(
                told.into_iter().all(|one| one <= phase),
                "{phase} was not the last"
            );
        }
    }
}

// Anything else.

/// Columns of every readable type, mostly sound, some full of surprises.
fn columns(rows: usize) -> impl Strategy<Value = ArrayRef> {
    use prop::collection::vec;
    let words = vec(select(vec!["a", "b", "a ", "1", "0", "7"]), rows);
    let odd_words = vec(
        select(vec![Some("a"), Some("missing"), Some(""), None]),
        rows,
    );
    let digits = vec(select(vec!["1", "2.5", " 3 ", "0", "7"]), rows);
    let odd_digits = vec(select(vec![Some("1"), Some("nan"), Some("x"), None]), rows);
    let numbers = vec(
        select(vec![Some(0.0), Some(-0.0), Some(1.0), Some(2.5), None]),
        rows,
    );
    let extremes = vec(
        select(vec![1e300, -1e300, 5e-324, f64::MAX, f64::MIN, 0.1]),
        rows,
    );
    let not_finite = vec(select(vec![0.5, f64::NAN, f64::INFINITY]), rows);
    let whole = vec(
        select(vec![Some(0), Some(1), Some(7), Some(-3), None]),
        rows,
    );
    let large = vec(select(vec![i64::MAX, i64::MIN, 1 << 53, 0]), rows);
    let bytes = || vec(0..5_u8, rows);
    prop_oneof![
        8 => words.clone().prop_map(texts),
        2 => odd_words.clone().prop_map(texts),
        4 => digits.prop_map(texts),
        2 => odd_digits.prop_map(texts),
        2 => odd_words.prop_map(|words| {
            Arc::new(words.into_iter().collect::<DictionaryArray<Int8Type>>()) as ArrayRef
        }),
        8 => numbers.prop_map(floats),
        2 => extremes.prop_map(floats),
        1 => not_finite.prop_map(floats),
        8 => whole.prop_map(integers),
        2 => large.prop_map(integers),
        4 => bytes().prop_map(|bytes| {
            let booleans = bytes.into_iter().map(|byte| (byte > 0).then_some(byte % 2 == 0));
            Arc::new(booleans.collect::<BooleanArray>()) as ArrayRef
        }),
        4 => bytes().prop_map(|bytes| {
            Arc::new(UInt8Array::from(bytes)) as ArrayRef
        }),
        4 => bytes().prop_map(|bytes| {
            let halves = bytes.into_iter().map(|byte| f32::from(byte) / 2.0);
            Arc::new(Float32Array::from_iter_values(halves)) as ArrayRef
        }),
        1 => Just(Arc::new(NullArray::new(rows)) as ArrayRef),
        1 => Just(Arc::new(Date32Array::from(vec![0; rows])) as ArrayRef),
    ]
}

fn kinds() -> impl Strategy<Value = Kind> {
    let edge = select(vec![
        f64::NEG_INFINITY,
        -3.0,
        0.0,
        0.5,
        1.0,
        2.5,
        100.0,
        1e300,
        f64::INFINITY,
        f64::NAN,
    ]);
    let sorted = |mut edges: Vec<f64>| {
        edges.sort_by(f64::total_cmp);
        edges.dedup();
        edges
    };
    let edges = prop_oneof![
        3 => (0..5_usize).prop_map(Edges::Quantiles),
        3 => (0..5_usize).prop_map(Edges::EqualWidth),
        1 => prop::collection::vec(edge.clone(), 0..5).prop_map(Edges::At),
        3 => prop::collection::vec(edge, 2..8).prop_map(move |edges| Edges::At(sorted(edges))),
    ];
    let view = select(vec![
        View::Label,
        View::Raw(Move::Linear),
        View::Raw(Move::Median),
        View::Raw(Move::Nearest),
    ]);
    let labels = prop_oneof![
        9 => Just(None),
        1 => prop::collection::vec(select(vec!["a", "b", "missing"]), 0..4).prop_map(Some),
    ];
    let binned = (edges, view, labels).prop_map(|(edges, view, labels)| {
        let labels = labels.map(|labels| labels.into_iter().map(str::to_owned).collect());
        Kind::Binned(Bins {
            edges,
            labels,
            view,
        })
    });
    let words = [
        "a", "b", "a ", "1", "0", "7", "-3", "2", "3", "4", "true", "false",
    ];
    let order = prop_oneof![
        3 => Just(words.to_vec()).prop_shuffle(),
        1 => prop::collection::vec(select(words.to_vec()), 0..7),
    ];
    prop_oneof![
        2 => Just(Kind::Categorical),
        2 => Just(Kind::Numeric),
        1 => order.prop_map(|order| Kind::Ordinal(order.into_iter().map(str::to_owned).collect())),
        3 => binned,
    ]
}

fn features(name: &'static str) -> impl Strategy<Value = Feature> {
    let distance = prop_oneof![
        4 => Just(None),
        1 => Just(Some(Distance::Categorical)),
        1 => Just(Some(Distance::Ordinal)),
        1 => any::<bool>().prop_map(|normalised| Some(Distance::Numeric { normalised })),
        1 => Just(Some(Distance::Table(vec![("a".into(), "b".into(), 1.0)]))),
    ];
    let direction = select(vec![
        None,
        None,
        Some(Direction::Increase),
        Some(Direction::Decrease),
    ]);
    let step = select(vec![
        None,
        None,
        None,
        Some(Step::Levels(1)),
        Some(Step::Units(2.0)),
    ]);
    let missing = prop_oneof![
        8 => Just(Missing::Level),
        2 => Just(Missing::Drop),
        1 => Just(Missing::Error),
    ];
    let codes = select(vec![
        None,
        None,
        None,
        Some("a"),
        Some("1"),
        Some("missing"),
        Some("0"),
    ]);
    (
        kinds(),
        distance,
        direction,
        step,
        missing,
        codes,
        any::<bool>(),
    )
        .prop_map(
            move |(kind, distance, direction, max_step, missing, codes, linked)| {
                let feature = Feature::new(name, kind)
                    .missing(missing)
                    .missing_codes(codes)
                    .rules(Rules {
                        direction,
                        max_step,
                        not_a_target: vec!["b".into()],
                        linked: if linked { vec!["x".into()] } else { Vec::new() },
                        ..Rules::default()
                    });
                match distance {
                    None => feature,
                    Some(distance) => feature.distance(distance),
                }
            },
        )
}

proptest! {
    #![proptest_config(config(4000))]

    /// Whatever is declared about whatever table, there is an audit or an error.
    #[test]
    fn nothing_panics(
        (x, y, sex) in (0..40_usize).prop_flat_map(|rows| (columns(rows), columns(rows), columns(rows))),
        (of_x, of_y) in (features("x"), features("y")),
        protected in prop_oneof![3 => Just(Kind::Categorical), 1 => kinds()],
        (trim, ranges, subset) in any::<(bool, bool, bool)>(),
        seed in any::<u64>(),
    ) {
        let fields = [("x", &x), ("y", &y), ("sex", &sex)]
            .map(|(name, column)| Field::new(name, column.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.to_vec()));
        let table = RecordBatch::try_new(schema, vec![x, y, sex]).unwrap();
        let declaration = Declaration::new()
            .features([of_x, of_y])
            .protected(Protected::attribute("sex").kind(protected))
            .trim(trim);
        let Ok(population) = declaration.read([table]) else { return Ok(()) };
        // Any function of the rows will do.
        let model = FnModel::new(|batch: &RecordBatch| {
            (0..batch.num_rows())
                .map(|row| {
                    let row = format!("{seed} {:?}", batch.slice(row, 1).columns());
                    let sum: usize = row.bytes().enumerate().map(|(i, b)| (i + 7) * usize::from(b)).sum();
                    sum.is_multiple_of(3)
                })
                .collect()
        });
        let validity = if subset { Validity::Subset } else { Validity::Joint };
        let options = Options::new().ranges(ranges).validity(validity);
        let Ok(found) = audit(&population, &model, &options, Watch::nobody()) else { return Ok(()) };
        let saved = serde_json::to_string(&found).unwrap();
        let loaded: Audit = serde_json::from_str(&saved).unwrap();
        prop_assert_eq!(serde_json::to_string(&loaded).unwrap(), saved);
        for definition in loaded.paper_columns().unwrap_or_default() {
            loaded.rank(definition.as_ref());
        }
    }
}
