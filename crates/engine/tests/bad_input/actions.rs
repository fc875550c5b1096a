//! Rules and costs of actions that contradict each other or the data.

use std::sync::Arc;

use facts_engine::population::{Direction, Distance, Feature, Step};

use super::{audited, declared, floats, people, spoiled, table, unaudited};

#[test]
fn rules_that_contradict() {
    let linked = declared(Feature::categorical("job").linked_to("rank"))
        .feature(Feature::categorical("rank").immutable());
    assert_eq!(
        unaudited(linked),
        "feature `rank` is immutable, but changing `job` requires changing it; drop the link or let `rank` change"
    );
    assert_eq!(
        unaudited(declared(Feature::categorical("job").linked_to("age"))),
        "feature `job` is linked to `age`, which is not a declared feature; declared are: job"
    );
}

#[test]
fn rules_that_need_an_order_or_numbers() {
    let unaudited = |feature| unaudited(declared(feature));
    assert_eq!(
        unaudited(Feature::categorical("job").only(Direction::Increase)),
        "feature `job`: a direction of change needs an order of the levels; declare the feature ordinal or numeric"
    );
    assert_eq!(
        unaudited(Feature::categorical("job").max_step(Step::Levels(1))),
        "feature `job`: a greatest step in levels needs an order of the levels; declare the feature ordinal or numeric"
    );
    let order = ["low", "mid", "high"];
    assert_eq!(
        unaudited(Feature::ordinal("rank", order).max_step(Step::Units(1.0))),
        "feature `rank`: a greatest step in units needs numbers, and level `low` has none; declare the feature numeric"
    );
    for (step, shown) in [(f64::NAN, "NaN"), (-1.0, "-1"), (f64::INFINITY, "inf")] {
        assert_eq!(
            unaudited(Feature::numeric("age").max_step(Step::Units(step))),
            format!(
                "feature `age` has a greatest step of {shown}; give a finite number of at least 0"
            )
        );
    }
    for (weight, shown) in [(f64::NAN, "NaN"), (-0.5, "-0.5"), (f64::INFINITY, "inf")] {
        assert_eq!(
            unaudited(Feature::numeric("age").weight(weight)),
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
