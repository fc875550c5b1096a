"""AIF360's demonstration of FACTS, call by call, with another import and without AIF360."""

from __future__ import annotations

import itertools
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pandas as pd
from facts.aif360 import FACTS, clean_dataset
from sklearn.model_selection import train_test_split

from data import ROOT, intervals

NOTEBOOK = """
import sys

sys.modules["aif360"] = None  # not installed, even if it is

import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from facts.aif360 import FACTS, FACTS_bias_scan
from facts.aif360.clean import clean_dataset

data = clean_dataset(pd.read_csv({path!r}), "adult")
y, X = data["income"], data.drop("income", axis=1)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=0.7, random_state=131313, stratify=y)
texts = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
encoder = ColumnTransformer([("one-hot-encoder", OneHotEncoder(handle_unknown="ignore"), texts)], remainder="passthrough")
model = Pipeline([("one-hot-encoder", encoder), ("clf", LogisticRegression(max_iter=1500))])
model = model.fit(X_train, y_train)
print(f"Accuracy = {{(y_test.values == model.predict(X_test)).mean():.1%}}")

weights = {{f: 1 for f in X.columns}}
detector = FACTS(clf=model, prot_attr="sex", feature_weights=weights, feats_not_allowed_to_change=[])
detector = detector.fit(X_test)
for phi in (0.1, 0.7):
    detector.bias_scan(metric="equal-choice-for-recourse", phi=phi, top_count=3)
    detector.print_recourse_report(
        show_action_costs=False, show_subgroup_costs=True, show_unbiased_subgroups=False
    )
print(
    FACTS_bias_scan(
        X=X_test, clf=model, prot_attr="sex", feature_weights=weights, feats_not_allowed_to_change=[],
        metric="equal-choice-for-recourse", phi=0.1, top_count=3, verbose=False,
        print_recourse_report=True, show_action_costs=True, show_subgroup_costs=True,
    )
)
"""


def test_the_notebook_runs_without_aif360() -> None:
    path = ROOT / "data" / "adult" / "adult.csv.gz"
    run = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(NOTEBOOK.format(path=str(path)))]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] in ("Accuracy = 84.7%", "Accuracy = 84.8%", "Accuracy = 84.9%")
    assert lines[1] == "Computing candidate subgroups."
    assert lines[2].startswith("Number of subgroups: ")
    assert lines[3:6] == [
        "Computing candidate recourses for all subgroups.",
        "Computing percentages of individuals flipped by each action independently.",
        "Computing percentages of individuals flipped by any action with cost up to c, for every c",
    ]
    # What the notebook shows: a first subgroup that is worst off by three actions, and none at φ = 0.7.
    text = done.stdout
    assert "age = (26.0, 34.0], hours-per-week = FullTime" in lines[6]
    assert "Bias against Female with respect to equal-choice-for-recourse. Unfairness score = 3." in text
    assert text.count("no recourses showing unfairness have been found!") == 1
    assert text.count("Computing candidate subgroups.") == 1  # verbose=False says nothing
    first = "({'age': Interval(26.0, 34.0, closed='right'), 'hours-per-week': 'FullTime'}, 3"
    assert first in lines[-1] and lines[-1].count("Interval") == 3


def test_adult_is_cleaned_as_the_authors_cleaned_it() -> None:
    raw = pd.read_csv(ROOT / "data" / "adult" / "adult.csv.gz")
    before = raw.copy()
    data = clean_dataset(raw, "adult")
    pd.testing.assert_frame_equal(raw, before)
    X_train, X_test, y_train, _ = train_test_split(
        data.drop(columns="income"), data["income"], train_size=0.7, random_state=131313,
        stratify=data["income"],
    )  # fmt: skip
    folder = ROOT / "verification" / "data" / "adult-sex"
    for name, part in (("X_test", X_test), ("X_train", X_train), ("y_train", y_train.to_frame())):
        theirs = pd.read_csv(folder / f"{name}.csv.gz")
        # The older code that made these left the blanks.
        theirs = theirs.astype(str).apply(lambda column: column.str.strip())
        assert part.astype(str).to_numpy().tolist() == theirs.to_numpy().tolist(), name
    assert list(X_test["age"].cat.categories) == list(intervals(X_test["age"].astype(str)).categories)


def test_small_tables_are_cleaned_as_aif360_documents_it() -> None:
    rows = [
        (" ?", 15, 30, " <=50K"),
        (" waifu", 15, " ?", " <=50K"),
        (" Husband", 30, 10, " <=50K"),
        (" Husband", 45, 20, " >50K"),
        (" Wife", 39.5, 30, " <=50K"),
        (" Own-child", 80, 40, " >50K"),
    ]
    adult = pd.DataFrame(rows, columns=["relationship", "hours-per-week", "age", "income"])
    clean = clean_dataset(adult.assign(fnlwgt=" ?", education="x"), "adult")
    assert list(clean["relationship"]) == ["Married", "Married", "Married", "Own-child"]
    assert list(clean["hours-per-week"]) == ["MidTime", "OverTime", "FullTime", "BrainDrain"]
    assert [age.right for age in clean["age"]] == [16.0, 22.0, 34.0, 40.0]
    assert list(clean["income"]) == [0, 1, 0, 1] and list(clean.index) == [2, 3, 4, 5]
    categories = clean_dataset(adult.astype({"relationship": "category", "income": "category"}), "adult")
    assert list(categories["relationship"]) == list(clean["relationship"])
    assert categories["relationship"].dtype == "category"

    compas = pd.DataFrame(
        {
            "age": [20, 30, 40],
            "c_charge_desc": "x",
            "priors_count": [0, 6, 38],
            "age_cat": ["Less than 25", "25 - 45", "25 - 45"],
            "target": pd.Categorical(["Recidivated", "Survived", "Survived"]),
        }
    )
    clean = clean_dataset(compas, "compas")
    assert list(clean.columns) == ["priors_count", "age_cat", "target"]
    assert list(clean["target"]) == [0, 1, 1] and clean["target"].dtype.kind == "i"
    assert list(clean["age_cat"]) == ["10-25", "25 - 45", "25 - 45"]
    assert [str(bin) for bin in clean["priors_count"]] == ["(-0.1, 1.0]", "(5.0, 10.0]", "(15.0, 38.0]"]

    trend, arrest = "PREDICTOR RAT TREND IN CRIMINAL ACTIVITY", "PREDICTOR RAT AGE AT LATEST ARREST"
    people = [("WBH", 200), ("WWH", 345), ("API", 1), ("U", 1), ("X", 1), ("I", 1), ("BLK", 344), ("WHI", 1)]
    ssl = pd.DataFrame(people, columns=["RACE CODE CD", "SSL SCORE"])
    ssl = ssl.assign(**{trend: np.arange(8.0), arrest: ["less than 20"] * 7 + ["20-30"]})
    clean = clean_dataset(ssl, "SSL")
    assert list(clean["RACE CODE CD"]) == ["BLK", "WHI", "BLK", "WHI"]
    assert list(clean["SSL SCORE"]) == [1, 0, 1, 1]
    assert list(clean[arrest]) == ["10-20", "10-20", "10-20", "20-30"]
    assert clean[trend].is_monotonic_increasing and isinstance(clean[trend].iloc[0], pd.Interval)
    assert clean_dataset(ssl, "german") is ssl


def test_the_number_of_subgroups_is_that_of_all_groups_together(capsys: Any) -> None:
    random = np.random.default_rng(5)
    table = pd.DataFrame({name: random.choice(["a", "b", "c"], 200) for name in "xyz"})
    table["sex"] = random.choice(["f", "m"], 200)

    class Model:
        def predict(self, X: pd.DataFrame) -> np.ndarray:
            return (X["x"] == "a").to_numpy().astype(int)

    FACTS(Model(), "sex", freq_itemset_min_supp=0.12).fit(table)
    refused = table[table["x"] != "a"]
    common = 0
    for width in (1, 2, 3):
        for names in itertools.combinations("xyz", width):
            for values in itertools.product("abc", repeat=width):
                has = (refused[list(names)] == list(values)).all(axis=1)
                shares = has.groupby(refused["sex"]).mean()
                common += bool((shares >= 0.12).all())
    assert f"Number of subgroups: {common}\n" in capsys.readouterr().out
