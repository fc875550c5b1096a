//! Columns, tables and groups that cannot be read or compared.

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{Date32Array, DictionaryArray, RecordBatch};
use facts_engine::population::{
    Bins, Declaration, Edges, Feature, Kind, Missing, Protected, Table, View,
};
use facts_engine::{Error, Options};

use super::{
    declared, favours_bosses, floats, integers, misjudged_with, people, spoiled, table, texts,
    unread,
};

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
    // What is cut before anybody is taken in.
    let mut table = Table::read([spoiled(
        "age",
        floats([20.0, f64::NAN, 30.0, 25.0, 35.0, 45.0]),
    )])
    .unwrap();
    let bins = Bins {
        edges: Edges::At(vec![0.0, 25.0, f64::INFINITY]),
        labels: None,
        view: View::Label,
    };
    assert_eq!(
        table.cut("age", &bins, &[]).unwrap_err().to_string(),
        "column `age`, row 2: NaN is not a finite number; make it null if it is missing"
    );
}

#[test]
fn values_of_the_wrong_kind() {
    assert_eq!(
        unread(declared(Feature::numeric("job")), &table(people())),
        "column `job`, row 2: `boss` is not a number; list it among the missing codes or declare the feature categorical"
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
    let strict = || job().missing(Missing::Error);
    assert_eq!(
        unread(declared(strict()), &spoiled("job", texts(null))),
        message
    );
    let coded = declared(strict().missing_codes(["?"]));
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
        "only `f` of the groups can be compared, and it takes two; set aside: `m` (not among the groups to compare); lower the least group size, merge groups, compare others, or audit more people"
    );
}
