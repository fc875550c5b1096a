"""Models of the libraries that people use, as they use them."""

from __future__ import annotations

from typing import Any

import facts
import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import HIRING, OPTIONS, Asked
from test_audit import findings


@pytest.fixture(scope="module")
def hiring() -> tuple[pd.DataFrame, pd.Series]:
    table = pd.read_csv(HIRING / "people.csv")
    return table.drop(columns="kept"), (table["kept"] == "yes").astype(int)


TEXTS = ["sex", "degree", "job", "hours", "region"]


def pipeline(last: Any) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((encoder, TEXTS), remainder="passthrough"), last)


def check(model: Any, X: Any, **options: Any) -> facts.Audit:
    """Audits a model, and counts some flips again, one by one."""
    asked = Asked(model.predict if hasattr(model, "predict") else model)
    audit = facts.audit(asked, X, **{**OPTIONS, **options})
    assert len(audit) > 0
    answers = np.asarray(model.predict(X)).ravel()
    favourable = options.get("favourable", 1)
    affected = X[answers != favourable]
    actions = audit.actions
    # Changes of plain levels can be applied here as well.
    plain = actions[~actions["change"].str.contains("years") & ~actions["subgroup"].str.contains("years")]
    for _, row in plain.sample(8, random_state=1).iterrows():
        who = affected
        for item in row["subgroup"].split(", "):
            feature, level = item.split(" = ")
            who = who[who[feature] == level]
        for group in audit.groups:
            members = who[who["sex"] == group]
            assert len(members) == row[f"members {group}"]
            moved = members.copy()
            for item in row["change"].split(", "):
                feature, level = item.split(" = ")
                if isinstance(moved[feature].dtype, pd.CategoricalDtype):
                    moved[feature] = pd.Categorical([level] * len(moved), dtype=moved[feature].dtype)
                else:
                    moved[feature] = level
            flips = (np.asarray(model.predict(moved)).ravel() == favourable).sum()
            assert flips == row[f"flips {group}"], row
    return audit


def test_scikit_learn(hiring: Any) -> None:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    X, y = hiring
    logistic = pipeline(LogisticRegression(max_iter=1000)).fit(X, y)
    audit = check(logistic, X)
    assert audit.about["model"]["description"] == "conftest Asked"
    named = facts.audit(logistic, X, **OPTIONS)
    assert named.about["model"]["description"] == "sklearn Pipeline ending in LogisticRegression"
    check(pipeline(RandomForestClassifier(25, random_state=0)).fit(X, y), X)
    by_name = pipeline(LogisticRegression(max_iter=1000)).fit(X, np.where(y, "yes", "no"))
    assert findings(check(by_name, X, favourable="yes")) == findings(audit)
    # A pipeline that takes polars frames gives the same audit of one.
    other = facts.audit(logistic.set_params(columntransformer__remainder="passthrough"), X, **OPTIONS)
    assert findings(other) == findings(audit)
    frame = pl.DataFrame(X.to_dict("list"))
    polars = pipeline(LogisticRegression(max_iter=1000)).fit(frame, y)
    assert findings(facts.audit(polars, frame, **OPTIONS)) == findings(audit)


def categories(X: pd.DataFrame) -> pd.DataFrame:
    return X.astype(dict.fromkeys(TEXTS, "category"))


def test_lightgbm(hiring: Any) -> None:
    from lightgbm import Booster, LGBMClassifier

    X, y = categories(hiring[0]), hiring[1]
    model = LGBMClassifier(n_estimators=15, verbose=-1, num_threads=1).fit(X, y)
    audit = check(model, X)
    booster: Booster = model.booster_
    raw = facts.audit(booster, X, **OPTIONS, threshold=0.5)
    assert findings(raw) == findings(audit)


def test_xgboost(hiring: Any) -> None:
    from xgboost import DMatrix, XGBClassifier

    X, y = categories(hiring[0]), hiring[1]
    model = XGBClassifier(n_estimators=15, enable_categorical=True, n_jobs=1).fit(X, y)
    audit = check(model, X)
    booster = model.get_booster()
    raw = facts.audit(lambda rows: booster.predict(DMatrix(rows, enable_categorical=True)), X, **OPTIONS, threshold=0.5)
    assert findings(raw) == findings(audit)


def test_catboost(hiring: Any) -> None:
    from catboost import CatBoostClassifier

    X, y = hiring
    options = {"iterations": 15, "verbose": False, "thread_count": 1, "allow_writing_files": False}
    check(CatBoostClassifier(cat_features=TEXTS, **options).fit(X, y), X)
    named = CatBoostClassifier(cat_features=TEXTS, **options).fit(X, np.where(y, "yes", "no"))
    check(named, X, favourable="yes")


class Tensor:
    """What PyTorch and Keras models answer with, as far as the contract goes."""

    def __init__(self, cells: np.ndarray) -> None:
        self.cells = cells

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.cells


def test_a_network_is_a_function_that_gives_probabilities(hiring: Any, scorecard: Any) -> None:
    X, _ = hiring
    network = lambda rows: Tensor(np.where(scorecard(rows), 0.9, 0.2).reshape(-1, 1))  # noqa: E731
    audit = facts.audit(network, X, **OPTIONS, threshold=0.5)
    assert findings(audit) == findings(facts.audit(scorecard, X, **OPTIONS))


def test_a_model_can_be_fitted_on_the_spot(hiring: Any) -> None:
    table = pd.read_csv(HIRING / "people.csv")
    audit = facts.audit("train", table, **OPTIONS, label="kept", label_favourable="yes")
    assert audit.about["model"]["training"]["label"] == "kept"
    assert audit.about["base_rates"]["favourable"] == "yes"
