"""A stranger's table and model: the audit is right by default, or says what it must know."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings
from typing import Any

import facts
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import OPTIONS, Asked, keeps
from facts import _options
from test_audit import findings

#: Settings for small tables.
QUICK: dict[str, Any] = {"support": 0.05, "min_members": 1, "evidence": False, "progress": False}


def applicants(n: int = 400) -> pd.DataFrame:
    """People of two groups, with an age, a job and something that the model reads as numbers."""
    random = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "sex": random.choice(["f", "m"], n),
            "age": random.choice([25, 35, 45, 55], n),
            "job": random.choice(["clerk", "boss", "cook"], n),
            "points": random.choice([1.0, 2.0, 3.0, 4.0], n),
        }
    )


class Fitted:
    """A classifier as scikit-learn makes them: it knows its columns and its classes."""

    def __init__(self, names: list[str], classes: Any = (0, 1)) -> None:
        self.feature_names_in_ = np.array(names, dtype=object)
        self.classes_ = np.array(classes)
        self.asked: list[Any] = []

    def predict_proba(self, rows: Any) -> np.ndarray:
        self.asked.append(rows)
        assert list(rows.columns) == list(self.feature_names_in_)
        yes = np.asarray(rows["points"], dtype=float) / 5
        return np.column_stack([1 - yes, yes])

    def predict(self, rows: Any) -> np.ndarray:
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]


def affected(audit: facts.Audit[Any]) -> int:
    return sum(group["affected"] for group in audit.about["groups"])


# Thresholds


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7])
def test_a_threshold_is_one_of_the_favourable_class_s_probability(threshold: float) -> None:
    people = applicants()
    model = Fitted(["age", "points"])
    audit = facts.audit(model, people, "sex", favourable=1, threshold=threshold, **QUICK)
    assert affected(audit) == (people["points"] / 5 <= threshold).sum()
    assert str(threshold) in audit.about["model"]["description"]
    other = facts.audit(model, people, "sex", favourable=0, threshold=threshold, **QUICK)
    assert affected(other) == (1 - people["points"] / 5 <= threshold).sum()
    named = Fitted(["points"], ["no", "yes"])
    by_name = facts.audit(named, people, "sex", favourable="yes", threshold=threshold, **QUICK)
    assert affected(by_name) == affected(audit)
    with pytest.raises(facts.UsageError, match="none of the model's classes: no, yes"):
        facts.audit(named, people, "sex", favourable="maybe", threshold=threshold, **QUICK)
    with pytest.raises(facts.UsageError, match="no, yes; say with favourable="):
        facts.audit(named, people, "sex", threshold=threshold, **QUICK)


def test_scikit_learn_s_threshold_matters_and_half_is_predict() -> None:
    from sklearn.linear_model import LogisticRegression

    people = applicants()
    y = people["points"] + np.random.default_rng(1).normal(0, 2, len(people)) > 2.5
    model = LogisticRegression().fit(people[["points", "age"]], y)
    probability = model.predict_proba(people[["points", "age"]])[:, 1]
    audits = [facts.audit(model, people, "sex", favourable=True, threshold=t, **QUICK) for t in (0.3, 0.5)]
    assert [affected(audit) for audit in audits] == [(probability <= t).sum() for t in (0.3, 0.5)]
    assert affected(audits[0]) != affected(audits[1])
    assert findings(audits[1]) == findings(facts.audit(model, people, "sex", favourable=True, **QUICK))


def test_a_threshold_that_would_change_nothing_is_refused() -> None:
    from sklearn.svm import LinearSVC

    people = applicants()
    model = LinearSVC().fit(people[["points"]], people["points"] > 2)
    with pytest.raises(facts.UsageError, match="no predict_proba"):
        facts.audit(model, people, "sex", favourable=True, threshold=0.3, **QUICK)
    with pytest.raises(facts.ModelError, match="answers with classes"):
        facts.audit(lambda rows: rows["points"] > 2, people, "sex", favourable=1, threshold=0.3, **QUICK)
    # Probabilities by name: a function gives that of the favourable class.
    shares = facts.audit(lambda rows: rows["points"] / 5, people, "sex", favourable="good", threshold=0.3, **QUICK)
    assert affected(shares) == (people["points"] < 2).sum()


# Features by name


def test_a_list_of_features_keeps_what_is_guessed() -> None:
    people = applicants().assign(city=["A", "B"] * 200, code=[f"x{i}" for i in range(400)])
    model = lambda rows: rows["points"] + (rows["age"] < 40) > 3  # noqa: E731
    every = facts.audit(model, people, "sex", favourable=1, **QUICK)
    some = facts.audit(model, people, "sex", features=["age", "points"], favourable=1, **QUICK)
    for audit in (every, some):
        assert any("may not: age (only time changes it)" in note for note in audit.notes)
        assert len(audit.actions) and not audit.actions["change"].str.contains("age = ").any()
    features = some.table()["subgroup"].str.findall(r"(\w+) = ").explode()
    assert set(features) == {"age", "points"}
    # What is named is a feature, whatever it looks like.
    named = facts.audit(model, people, "sex", features=["age", "code"], favourable=1, **QUICK)
    assert "no feature: code" not in " ".join(named.notes)
    assert "no feature: code" in " ".join(every.notes)
    # What a configuration says of a column holds, and what it does not say is guessed.
    config = {"features": {"points": {"only": "increase"}, "job": {}}}
    both = facts.audit(model, people, "sex", features=["age", "points"], config=config, favourable=1, **QUICK)
    assert any("may not: age (only time changes it)" in note for note in both.notes)
    assert set(both.table()["subgroup"].str.findall(r"(\w+) = ").explode()) == {"age", "points"}


def test_a_model_fitted_here_is_fitted_on_the_features_that_are_named() -> None:
    people = applicants().assign(y=lambda p: np.where(p["points"] > 2, "yes", "no"))
    audit = facts.audit("train", people, "sex", features=["age", "points"], label="y", favourable="yes", **QUICK)
    assert "3 columns" in audit.about["model"]["description"]  # these two, and sex
    assert audit.favourable == "y = yes"
    people.loc[:9, "points"] = np.nan
    with pytest.warns(facts.FactsWarning, match="10 of 400 rows miss a value and were left out before"):
        holed = facts.audit(
            "train", people, "sex", features={"points": {"missing": "drop"}}, label="y", favourable="yes", **QUICK
        )
    assert holed.left_out == [note for note in holed.notes if "10 of 400" in note] != []


# Columns that the model knows


@pytest.mark.parametrize("turn", [lambda p: p, pl.from_pandas], ids=["pandas", "polars"])
def test_a_model_gets_the_columns_it_was_fitted_on_in_its_order(turn: Any) -> None:
    model = Fitted(["points", "age"])
    audit = facts.audit(model, turn(applicants()), "sex", favourable=1, **QUICK)
    # Counterfactual rows that somebody has are not asked again.
    assert len(model.asked) == 1 and len(audit)


def test_arrow_tables_too_and_columns_may_be_said() -> None:
    asked = []

    def model(rows: pa.Table) -> np.ndarray:
        asked.append(rows.schema.names)
        return rows["points"].to_numpy() > 2

    table = pa.Table.from_pandas(applicants(), preserve_index=False)
    facts.audit(model, table, "sex", model_columns=["points", "age"], favourable=1, **QUICK)
    assert set(map(tuple, asked)) == {("points", "age")}
    with pytest.raises(facts.UsageError, match="model_columns is for models in Python"):
        facts.audit("linear:x.json", table, "sex", model_columns=["points"], **QUICK)


def test_a_pipeline_that_does_not_read_the_protected_column_is_audited() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    people = applicants()
    X, y = people[["points", "age"]], people["points"] > 2
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*feature names.*")
        audit = facts.audit(model, people, "sex", favourable=True, features=["points", "age"], **QUICK)
    assert affected(audit) == (~model.predict(X)).sum()
    with pytest.raises(facts.ModelError, match="columns that the table lacks: points; the table has: sex, "):
        facts.audit(model, people.drop(columns="points"), "sex", favourable=True, **QUICK)
    with pytest.raises(facts.ModelError, match="reads points, which is named as weight"):
        facts.audit(model, people, "sex", favourable=True, weight="points", **QUICK)


def test_columns_that_the_model_does_not_read_describe_and_never_change() -> None:
    audit = facts.audit(Fitted(["points"]), applicants(), "sex", favourable=1, **QUICK)
    assert audit.table()["subgroup"].str.contains("job = ").any()
    changed = set(audit.actions["change"].str.findall(r"(\w+) = ").explode())
    assert changed == {"points"}
    assert any("job (the model does not read it)" in note for note in audit.notes)


# What must not go unseen


def holes() -> pd.DataFrame:
    people = applicants()
    people.loc[:19, "points"] = np.nan
    people.loc[30:34, "sex"] = None
    return people


def test_who_is_left_out_and_what_a_yes_means_is_told_everywhere() -> None:
    model = lambda rows: np.where(rows["points"] > 2, "accept", "reject")  # noqa: E731
    people = holes()
    with pytest.warns(facts.FactsWarning) as told:
        audit = facts.audit(
            model, people, "sex", favourable="accept", missing_codes=[],
            features={"points": {"missing": "drop"}}, allow_dropped=0.1, **QUICK,
        )  # fmt: skip
    assert audit.favourable == "the model answers accept"
    left_out = [
        "20 of 400 rows (5.0%) are left out: a value is missing in points (20)",
        "5 of 400 rows (1.2%) are left out: the protected value is missing",
    ]
    assert audit.left_out == left_out
    assert audit.notes[:3] == ["Yes means: the model answers accept", *left_out]
    page, text = audit._repr_html_(), audit.summary()
    assert "Yes means: <b>the model answers accept</b>" in page and all(one in page for one in left_out)
    assert "Yes means  the model answers accept" in text
    assert "20 dropped" in text and "5 without a protected value" in text
    messages = [str(one.message) for one in told if one.category is facts.FactsWarning]
    assert messages[:2] == left_out
    assert any("may not: age (only time changes it)" in one for one in messages)
    assert not any("nobody said" in one for one in messages)
    assert all(one.filename == __file__ for one in told)


def test_an_outcome_that_nobody_named_is_asked_for() -> None:
    people = applicants()
    said: dict[str, Any] = {"features": ["points"], **QUICK}
    both = "(?s)which answer of the model is the yes.*favourable=.*if `false`.*refused.*if `true`.*refused"
    with pytest.raises(facts.UsageError, match=both):
        facts.audit(lambda rows: rows["points"] > 2, people, "sex", **said)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for yes in (1, True, 1.0, np.int64(1), np.True_):
            audit = facts.audit(lambda rows: rows["points"] > 2, people, "sex", favourable=yes, **said)
            assert affected(audit) == (people["points"] <= 2).sum()
        no = facts.audit(lambda rows: rows["points"] > 2, people, "sex", favourable=False, **said)
    assert affected(no) == (people["points"] > 2).sum()


@pytest.mark.parametrize("kind", [int, float, bool])
def test_one_favourable_is_meant_for_model_and_label(kind: type) -> None:
    people = applicants()
    people["y"] = (people["points"] > 1).astype(kind)
    for yes in (0, 1):
        audit = facts.audit(lambda r: r["points"] > 2, people, "sex", label="y", favourable=yes, **QUICK)
        good = sum(group["favourable"] for group in audit.about["base_rates"]["groups"])
        assert good == (people["y"] == yes).sum()


# Settings


def test_memory_is_limited() -> None:
    options = {**QUICK, "support": 0.001}
    model = lambda rows: rows["points"] > 2  # noqa: E731
    people = applicants(3000).assign(**{f"x{i}": np.arange(3000) % (i + 3) for i in range(6)})
    with pytest.raises(facts.FactsError, match="(?i)memory|MiB"):
        facts.audit(model, people, "sex", favourable=1, max_memory_mib=1, **options)


def test_no_missing_codes_are_none() -> None:
    model = lambda rows: rows["points"] > 2  # noqa: E731
    people = applicants().replace({"job": {"cook": "?"}})
    guessed = facts.audit(model, people, "sex", favourable=1, **QUICK)
    assert any("taken for missing: ? in job" in note for note in guessed.notes)
    none = facts.audit(model, people, "sex", favourable=1, missing_codes=[], **QUICK)
    assert not any("taken for missing" in note for note in none.notes)
    assert "job = ?" in set(none.table()["subgroup"]) and not none.left_out


# Protected values that are not in the table


@pytest.mark.parametrize(
    ("turn", "values"),
    [
        (lambda p: p, lambda p: p["sex"]),
        (lambda p: p, lambda p: p["sex"].to_numpy()),
        (lambda p: p, lambda p: pl.Series("sex", p["sex"].tolist())),
        (pl.from_pandas, lambda p: pl.Series("sex", p["sex"].tolist())),
        (pl.from_pandas, lambda p: p["sex"].to_numpy()),
        (lambda p: pa.Table.from_pandas(p, preserve_index=False), lambda p: pa.array(p["sex"].tolist())),
        (lambda p: pa.Table.from_pandas(p, preserve_index=False), lambda p: p["sex"]),
    ],
)
def test_protected_values_may_be_given_apart(turn: Any, values: Any) -> None:
    people = applicants()
    table = turn(people.drop(columns="sex"))
    asked = Asked(lambda rows: np.asarray(rows["points"]) > 2)
    audit = facts.audit(asked, table, values(people), favourable=1, **QUICK)
    within = facts.audit(asked, turn(people), "sex", favourable=1, **QUICK)
    assert findings(audit) == findings(within)
    assert audit.about["protected"][0] in ("sex", "protected")
    first = asked.frames[0]
    names = first.schema.names if isinstance(first, pa.Table) else list(first.columns)
    assert names == ["age", "job", "points"]


def test_protected_values_must_fit_the_table() -> None:
    people = applicants()
    model = lambda rows: rows["points"] > 2  # noqa: E731
    X = people.drop(columns="sex")
    with pytest.raises(facts.UsageError, match="protected has 10 values, and X has 400 rows"):
        facts.audit(model, X, people["sex"][:10], **QUICK)
    with pytest.raises(facts.UsageError, match="another index"):
        facts.audit(model, X, people["sex"].sort_values(), **QUICK)
    with pytest.raises(facts.UsageError, match="column `sex` with other values"):
        facts.audit(model, people, people["sex"].str.upper(), **QUICK)
    # Fairlearn's habit: the same column, given again.
    same = facts.audit(model, people, people["sex"], favourable=1, **QUICK)
    assert findings(same) == findings(facts.audit(model, people, "sex", favourable=1, **QUICK))


def test_columns_may_be_called_by_numbers() -> None:
    people = applicants().assign(n=2, y=1.0)
    people.loc[::2, "y"] = 0.0
    numbered = people.set_axis(range(people.shape[1]), axis=1)
    asked = Asked(lambda rows: rows[3] > 2)
    options = {"favourable": 1, **QUICK}
    audit = facts.audit(
        asked, numbered, 0, features={1: {"only": "increase"}, 3: {}}, context=[2], weight=4, label=5,
        **options,
    )  # fmt: skip
    assert list(asked.frames[0].columns) == [0, 1, 2, 3]
    assert audit.about["base_rates"]["label"] == "5"
    chosen = facts.audit(asked, numbered, [0], features=[1, 3], weight=4, label=5, **options)
    assert set(chosen.table()["subgroup"].str.findall(r"(\w+) = ").explode()) == {"1", "3"}
    facts.audit(asked, numbered, 0, features=1, model_columns=[3, 1], weight=4, label=5, **options)
    assert list(asked.frames[-1].columns) == [3, 1]


def test_lazy_frames_are_collected(people: pd.DataFrame) -> None:
    frame = pl.from_pandas(people)
    model = lambda rows: keeps(rows.to_pandas())  # noqa: E731
    lazy = facts.audit(model, frame.lazy(), **OPTIONS)
    assert findings(lazy) == findings(facts.audit(model, frame, **OPTIONS))
    assert isinstance(lazy.rank(), pl.DataFrame)


# Rankings


@pytest.mark.parametrize("turn", [lambda p: p, pl.from_pandas, pa.Table.from_pandas])
def test_rankings_have_a_default_and_never_mix_viewpoints(people: pd.DataFrame, turn: Any) -> None:
    model = lambda rows: keeps(rows if isinstance(rows, pd.DataFrame) else rows.to_pandas())  # noqa: E731
    audit = facts.audit(model, turn(people), **OPTIONS)

    def column(frame: Any, name: str) -> list[Any]:
        return frame[name].to_pylist() if isinstance(frame, pa.Table) else list(frame[name])

    assert set(column(audit.rank(), "definition")) == {"equal-effectiveness:micro"}
    both = audit.rank("equal-effectiveness", 3, drop_fair=True)
    assert type(both) is type(audit.subgroups)
    assert column(both, "definition") == ["equal-effectiveness:micro"] * 3 + ["equal-effectiveness:macro"] * 3
    for viewpoint in ("micro", "macro"):
        one = audit.rank(f"equal-effectiveness:{viewpoint}", 3)
        place = 0 if viewpoint == "micro" else 3
        assert column(both, "subgroup")[place : place + 3] == column(one, "subgroup")
    named = facts.audit(model, turn(people), **OPTIONS, definitions="equal-choice:0.5")
    assert set(column(named.rank(), "definition")) == {"equal-choice:0.5"}


# What is read of it


def test_help_teaches_in_groups() -> None:
    text, signature = facts.audit.__doc__ or "", inspect.signature(facts.audit)
    heads = [
        "The essentials", "What people can change", "Other columns", "How the model is asked",
        "Which subgroups are looked at", "What is reported", "What tells findings from chance", "How it runs",
    ]  # fmt: skip
    places = [text.index(f"**{head}**") for head in heads]
    assert places == sorted(places)
    # Each is explained once, in the order of the signature.
    explained = [text.index(f"        {name}: ") for name in signature.parameters]
    assert explained == sorted(explained)
    assert list(_options.Options.__annotations__) == list(signature.parameters)[3:]


def test_frames_are_typed_by_what_came_in(tmp_path: Any) -> None:
    script = tmp_path / "typed.py"
    script.write_text(
        "import facts, polars as pl\n"
        "def of(frame: pl.DataFrame, lazy: pl.LazyFrame) -> None:\n"
        "    reveal_type(facts.audit('train', frame, 'sex', support=0.1).rank())\n"
        "    reveal_type(facts.audit('train', lazy, 'sex', favourable=1).actions)\n"
        "    reveal_type(facts.load('a', 'polars').table())\n"
        "    facts.audit('train', frame, 'sex', suport=0.1)\n"
    )
    run = [sys.executable, "-m", "mypy", "--strict", str(script)]
    checked = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert checked.stdout.count('Revealed type is "polars.dataframe.frame.DataFrame"') == 3, checked.stdout
    assert 'Unexpected keyword argument "suport"' in checked.stdout
