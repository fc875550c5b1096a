"""`facts.aif360` by itself: small cases worked by hand, and what makes AIF360 stop."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from facts.aif360 import FACTS, FACTS_bias_scan, Predicate, _detector

from data import german


class Model:
    """Says yes to those who earn, and to men with savings."""

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        yes = (X["pay"] > 50) | ((X["savings"] > 5) & (X["sex"] == "Male"))
        return yes.to_numpy().astype(int)


def people(age: Any = None) -> pd.DataFrame:
    young, old = pd.Interval(20, 40), pd.Interval(40, 60)
    rows = [
        # Six who got a yes,
        *[(60, 9, "Female", old)] * 3,
        *[(60, 9, "Male", old)] * 3,
        # and four of each sex who did not.
        *[(30, 1, "Female", young)] * 4,
        *[(30, 1, "Male", young)] * 4,
    ]
    table = pd.DataFrame(rows, columns=["pay", "savings", "sex", "age"])
    return table if age is None else table.assign(age=age(table["age"]))


def fitted(table: pd.DataFrame, **options: Any) -> FACTS:
    return FACTS(Model(), "sex", freq_itemset_min_supp=0.5, **options).fit(table, verbose=False)


def test_rules_by_hand() -> None:
    detector = fitted(people(), categorical_features=["sex", "age"], feature_weights={"pay": 2})
    pay = Predicate.from_dict({"pay": 30})
    saved = Predicate.from_dict({"savings": 1})
    assert set(detector.rules_by_if) >= {pay, saved}
    more = Predicate.from_dict({"pay": 60})
    assert detector.rules_by_if[pay] == {
        "Female": (1.0, [(more, 1.0, 1.0)]),
        "Male": (1.0, [(more, 1.0, 1.0)]),
    }
    assert detector.rules_with_cumulative[pay]["Female"] == (1.0, [(more, 1.0, 60.0)])
    # Savings help men alone; the cost is the difference.
    nine = Predicate.from_dict({"savings": 9})
    assert detector.rules_with_cumulative[saved] == {
        "Female": (1.0, [(nine, 0.0, 8.0)]),
        "Male": (1.0, [(nine, 1.0, 8.0)]),
    }
    detector.bias_scan("equal-effectiveness")
    assert gap(detector, saved) == 1.0 and gap(detector, pay) == 0.0
    assert saved in list(detector.top_rules)[:2]


def test_it_tests_nothing(monkeypatch: Any) -> None:
    audits = []
    made = _detector._facts.audit

    def audit(*given: Any) -> Any:
        audits.append(made(*given))
        return audits[-1]

    monkeypatch.setattr(_detector._facts, "audit", audit)
    fitted(people(), categorical_features=["sex", "age"])
    assert [json.loads(one.about())["evidence"] for one in audits] == [None]


def gap(detector: FACTS, predicate: Predicate) -> float:
    assert detector.subgroup_costs is not None
    costs = detector.subgroup_costs[predicate].values()
    return max(costs) - min(costs)


def test_macro_costs_follow_the_later_source_when_asked(monkeypatch: Any) -> None:
    monkeypatch.setattr(FACTS, "macro_costs", "weighted")
    detector = fitted(people(), categorical_features=["sex", "age"], feature_weights={"pay": 2})
    (_, thens) = detector.rules_by_if[Predicate.from_dict({"pay": 30})]["Male"]
    assert [cost for _, _, cost in thens] == [60.0]
    scanned = FACTS_bias_scan(
        people(),
        Model(),
        "sex",
        "equal-cost-of-effectiveness",
        ["sex", "age"],
        0.5,
        top_count=100,
        verbose=False,
    )
    assert ({"savings": 1}, float("inf")) in scanned
    assert ({"pay": 30}, 0.0) in scanned


@pytest.mark.parametrize(
    "age",
    [
        lambda ages: ages.map(lambda i: i.left),
        lambda ages: ages.astype(str),
        lambda ages: pd.arrays.IntervalArray(ages),
        lambda ages: pd.Categorical(ages.map(lambda i: "old" if i.left else "young")),
    ],
    ids=["numbers", "text", "interval dtype", "categories"],
)
def test_an_age_that_is_no_category_of_intervals_works(age: Any) -> None:
    # AIF360 reads the left end of every age, and cannot subtract what is no number.
    detector = fitted(people(age))
    assert Predicate.from_dict({"pay": 30}) in detector.rules_by_if


def test_no_age_works() -> None:
    detector = fitted(people().drop(columns="age"))
    assert Predicate.from_dict({"savings": 1}) in detector.rules_by_if


def test_ages_rise_by_two_steps_at_most_and_never_fall() -> None:
    ages = [pd.Interval(10 * i, 10 * i + 10) for i in range(2, 7)]
    table = pd.DataFrame(
        {
            "age": pd.Categorical(ages * 40, categories=ages, ordered=True),
            "sex": (["Female"] * 10 + ["Male"] * 10) * 10,
            "pay": ([60] * 5 + [30] * 5) * 20,
            "savings": 0,
        }
    )
    detector = FACTS(Model(), "sex", freq_itemset_min_supp=0.05).fit(table, verbose=False)
    steps = set()
    for predicate, sides in detector.rules_by_if.items():
        if "age" not in predicate.features:
            continue
        for then, _, _ in sides["Male"][1]:
            left, reached = predicate.to_dict()["age"], then.to_dict()["age"]
            steps.add(ages.index(reached) - ages.index(left))
    assert steps == {0, 1, 2}


def test_nothing_becomes_unknown_and_sex_never_changes() -> None:
    table = pd.DataFrame(
        {
            "sex": ["Female", "Male"] * 60,
            "race": ["a", "a", "b", "b"] * 30,
            "job": ["Unknown", "clerk", "boss"] * 40,
            "pay": [60, 30, 30, 60, 30] * 24,
            "savings": 0,
        }
    )
    detector = FACTS(Model(), "race", freq_itemset_min_supp=0.05).fit(table, verbose=False)
    for predicate, sides in detector.rules_by_if.items():
        own = predicate.to_dict()
        for then in (then.to_dict() for then, _, _ in sides["a"][1]):
            assert then.get("sex") == own.get("sex")
            assert then.get("job") != "Unknown" or own["job"] == "Unknown"


def test_missing_values_work() -> None:
    # AIF360 finds nobody whose text equals NaN, and stops; numbers that are NaN make no subgroup.
    table = people()
    table["town"] = [None, "A"] * 7
    table["education-num"] = [np.nan, 9.0] * 7
    detector = fitted(table)
    plain = fitted(people())
    assert set(detector.rules_by_if) >= set(plain.rules_by_if)
    for predicate in detector.rules_by_if:
        assert all(value == value and value is not None for value in predicate.values)


def test_booleans_and_more_than_two_groups_work() -> None:
    table = pd.concat([people(), people().assign(sex="Other")], ignore_index=True)
    table["member"] = [True, False] * 14
    detector = fitted(table)
    detector.bias_scan("equal-effectiveness", "micro")
    assert all(set(sides) == {"Female", "Male", "Other"} for sides in detector.top_rules.values())
    with pytest.raises(NotImplementedError):
        detector.bias_scan("fair-tradeoff", "micro")


def test_a_row_of_an_unknown_group_is_left_out() -> None:
    table = pd.concat([people(), people()[:5].assign(sex="N/A")], ignore_index=True)
    assert fitted(table).rules_by_if == fitted(people()).rules_by_if


def test_mistakes_are_told() -> None:
    table = people()
    with pytest.raises(ValueError, match="only feats_allowed_to_change"):
        fitted(table, feats_allowed_to_change=["pay"], feats_not_allowed_to_change=["age"])
    detector = FACTS(Model(), "sex")
    with pytest.raises(RuntimeError, match="bias_scan"):
        detector.print_recourse_report()
    with pytest.raises(ValueError, match="'macro' or 'micro'"):
        fitted(table).bias_scan(viewpoint="nano")
    with pytest.raises(KeyError):
        fitted(table).bias_scan(metric="equal-luck")


def test_answers_in_a_column_and_numbers_as_names_work() -> None:
    class Column(Model):
        def predict(self, X: pd.DataFrame) -> np.ndarray:
            return super().predict(X).reshape(-1, 1)

    one = FACTS(Column(), "sex", freq_itemset_min_supp=0.5).fit(people(), verbose=False)
    assert one.rules_by_if == fitted(people()).rules_by_if
    assert fitted(people().assign(x=1).rename(columns={"x": 5})).rules_by_if


def test_it_is_an_estimator() -> None:
    pytest.importorskip("sklearn")
    from sklearn.base import clone

    detector = FACTS(german().model, "gender", freq_itemset_min_supp=0.2)
    assert detector.get_params()["freq_itemset_min_supp"] == 0.2
    assert clone(detector, safe=False).prot_attr == "gender"


def test_predicates_are_keys() -> None:
    one = Predicate(["b", "a"], [2, 1])
    assert one == Predicate.from_dict({"a": 1, "b": 2}) and hash(one) == hash(Predicate.from_dict({"a": 1, "b": 2}))
    assert str(one) == "a = 1, b = 2" and one.width() == 2
    assert one.contains(Predicate.from_dict({"a": 1})) and not one.contains(Predicate.from_dict({"a": 2}))
    assert one.satisfies({"a": 1, "b": 2, "c": 3})
    assert list(one.satisfies_v(pd.DataFrame({"a": [1, 2], "b": [2, 2]}))) == [True, False]
    assert sorted([one, Predicate.from_dict({"a": 0})])
