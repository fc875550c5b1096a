"""Data sets and models on which AIF360 and this package are run side by side."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[3]


@dataclass
class Case:
    """A table to audit, the model, and the protected attribute."""

    X: pd.DataFrame
    model: Any
    protected: str
    categorical: list[str]


class Counting:
    """A model that counts what it is asked."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.rows = self.calls = 0

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        self.calls += 1
        self.rows += len(X)
        return self.model.predict(X)


class Scorecard:
    """A logistic regression as points by value: the same answers as its pipeline, sooner.

    AIF360 asks a model tens of thousands of times for a few rows; scikit-learn's encoders would take
    most of the test's time.
    """

    def __init__(self, pipeline: Any, X: pd.DataFrame, categorical: list[str]) -> None:
        encoder = pipeline[0].named_transformers_["onehotencoder"]
        coefficients = list(pipeline[-1].coef_[0])
        self.intercept = float(pipeline[-1].intercept_[0])
        self.points: dict[str, dict[Any, float]] = {}
        for column, values in zip(categorical, encoder.categories_, strict=True):
            self.points[column] = {value: coefficients.pop(0) for value in values}
        self.numbers = {c: coefficients.pop(0) for c in X.columns if c not in categorical}

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        score = np.full(len(X), self.intercept)
        for column, points in self.points.items():
            codes, values = pd.factorize(X[column])
            score += np.array([points.get(value, 0.0) for value in values])[codes]
        for column, coefficient in self.numbers.items():
            score += X[column].to_numpy(dtype=float) * coefficient
        return (score > 0).astype(int)


def pipeline(categorical: list[str], last: Any = None) -> Any:
    """One-hot encoding, then a classifier: what users of both tools have."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    encoder = OneHotEncoder(handle_unknown="ignore")
    transformer = make_column_transformer((encoder, categorical), remainder="passthrough")
    # A forest that is not fitted has no length, and so no truth.
    return make_pipeline(transformer, LogisticRegression(max_iter=200) if last is None else last)


def intervals(texts: pd.Series) -> pd.Categorical:
    """Printed intervals as ordered categories."""
    pattern = re.compile(r"\(([-0-9.]+), ([-0-9.]+)\]")
    parsed = {}
    for text in texts.unique():
        low, high = pattern.fullmatch(text).groups()  # type: ignore[union-attr]
        parsed[text] = pd.Interval(float(low), float(high))
    return pd.Categorical(texts.map(parsed), categories=sorted(parsed.values()), ordered=True)


def adult(quick: bool = False, last: Any = None) -> Case:
    """The reference split of Adult, protected: sex."""
    folder = ROOT / "verification" / "data" / "adult-sex"
    test, train = (pd.read_csv(folder / f"X_{part}.csv.gz") for part in ("test", "train"))
    y = pd.read_csv(folder / "y_train.csv.gz").iloc[:, 0]
    for part in (test, train):
        part["age"] = intervals(part["age"])
    categorical = [c for c in test if not pd.api.types.is_numeric_dtype(test[c])]
    fitted: Any = pipeline(categorical, last).fit(train, y)
    if quick:
        fitted = Scorecard(fitted, test, categorical)
    return Case(test, fitted, "sex", categorical)


def compas() -> Case:
    """ProPublica's COMPAS, protected: race; age in intervals, since AIF360 needs them."""
    raw = pd.read_csv(ROOT / "data" / "compas" / "compas-scores-two-years.csv.gz")
    keep = raw["days_b_screening_arrest"].abs().le(30) & raw["is_recid"].ne(-1)
    keep &= raw["c_charge_degree"].ne("O") & raw["race"].isin(["African-American", "Caucasian"])
    columns = ["sex", "age", "race", "juv_fel_count", "juv_misd_count", "priors_count", "c_charge_degree"]
    X = raw.loc[keep, columns].reset_index(drop=True)
    X["age"] = pd.qcut(X["age"], 4)
    X["priors_count"] = pd.cut(X["priors_count"], [-0.1, 1, 5, 10, 15, 38]).astype(str)
    y = 1 - raw.loc[keep, "two_year_recid"].to_numpy()
    categorical = ["sex", "age", "race", "priors_count", "c_charge_degree"]
    model = Scorecard(pipeline(categorical).fit(X, y), X, categorical)
    return Case(X, model, "race", categorical)


def german() -> Case:
    """Statlog German credit, protected: sex; age in intervals, since AIF360 needs them."""
    raw = pd.read_csv(ROOT / "data" / "german" / "german.data.gz", sep=" ", header=None)
    X = pd.DataFrame(
        {
            "account": raw[0],
            "duration": pd.cut(raw[1], [0, 12, 24, 36, 80]).astype(str),
            "history": raw[2],
            "savings": raw[5],
            "employment": raw[6],
            "gender": np.where(raw[8].isin(["A92", "A95"]), "female", "male"),
            "housing": raw[14],
            "age": pd.qcut(raw[12], 4),
        }
    )
    categorical = list(X.columns)
    model = Scorecard(pipeline(categorical).fit(X, (raw[20] == 1).astype(int)), X, categorical)
    return Case(X, model, "gender", categorical)
