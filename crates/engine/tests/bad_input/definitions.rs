//! Numbers that a user gives.

use facts_engine::population::Feature;
use facts_engine::{Decimal, Support, definitions};

use super::{audited, declared, people, table};

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
