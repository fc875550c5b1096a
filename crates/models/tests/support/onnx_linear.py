"""Fits linear pipelines, exports them with export_linear.py, checks the scores, and writes what
scikit-learn answers: the test beside this folder compares the classes.

    python onnx_linear.py EXPORTER FOLDER
"""

import importlib.util
import json
import subprocess
import sys
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

warnings.filterwarnings("ignore")

ROWS = 5_000
TEXTS, NUMBERS = ["work", "city", "code"], ["age", "debt", "hours"]


def table(rng):
    rows = pd.DataFrame(
        {
            "work": rng.choice(["clerk", "baker", "miner", "?"], ROWS, p=[0.5, 0.3, 0.15, 0.05]),
            "city": rng.choice([f"city {i}" for i in range(30)], ROWS),
            "code": rng.integers(1, 6, ROWS),
            "age": rng.integers(17, 91, ROWS),
            "debt": rng.gamma(2, 1000, ROWS).round(2),
            "hours": rng.normal(40, 12, ROWS),
        }
    )
    score = 0.04 * rows["age"] - 0.0005 * rows["debt"] + (rows["work"] == "clerk") + rng.normal(0, 1, ROWS)
    return rows, (score > score.median()).astype(int)


def columns(texts, numbers, **more):
    return ColumnTransformer([("texts", texts, TEXTS), ("numbers", numbers, NUMBERS)], **more)


def main(exporter, folder):
    spec = importlib.util.spec_from_file_location("export_linear", exporter)
    export_linear = importlib.util.module_from_spec(spec)
    sys.modules["export_linear"] = export_linear
    spec.loader.exec_module(export_linear)

    rng = np.random.default_rng(3)
    rows, accepted = table(rng)
    ignore = lambda **more: OneHotEncoder(handle_unknown="ignore", **more)
    one_hot = lambda **more: OneHotEncoder(**more)
    logistic = lambda: LogisticRegression(max_iter=3000)
    chosen = [["?", "baker", "clerk", "miner"], [f"city {i}" for i in range(40)], [1, 2, 3, 4, 5, 6]]
    pipelines = {
        "logistic": make_pipeline(columns(ignore(), StandardScaler()), logistic()),
        "sgd": make_pipeline(columns(one_hot(drop="first"), MinMaxScaler()), SGDClassifier(random_state=0)),
        "svc": make_pipeline(columns(one_hot(drop="if_binary"), RobustScaler()), LinearSVC(random_state=0)),
        "ridge": make_pipeline(columns(one_hot(categories=chosen), MaxAbsScaler()), RidgeClassifier()),
        "perceptron": make_pipeline(columns(ignore(max_categories=9), StandardScaler()), Perceptron()),
        "ordinal": make_pipeline(columns(OrdinalEncoder(), "passthrough"), StandardScaler(), logistic()),
        "scaled_levels": make_pipeline(
            columns(ignore(sparse_output=False), "passthrough"), StandardScaler(), logistic()
        ),
        "passthrough": make_pipeline(columns(ignore(), "passthrough"), RidgeClassifier()),
        "imputed": make_pipeline(
            ColumnTransformer(
                [
                    (
                        "work",
                        make_pipeline(SimpleImputer(missing_values="?", strategy="most_frequent"), ignore()),
                        ["work"],
                    ),
                    ("city", make_pipeline(SimpleImputer(strategy="most_frequent"), ignore()), ["city"]),
                    ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), NUMBERS),
                ]
            ),
            logistic(),
        ),
        "remainder": make_pipeline(
            ColumnTransformer([("texts", ignore(), [0, 1]), ("gone", "drop", ["code"])], remainder=StandardScaler()),
            logistic(),
        ),
        "slice": make_pipeline(
            ColumnTransformer(
                [("texts", ignore(), slice("work", "code")), ("debt", StandardScaler(), [False] * 4 + [True, False])]
            ),
            logistic(),
        ),
        "selected": make_pipeline(columns(ignore(), StandardScaler()), SelectKBest(k=8), logistic()),
    }
    for name, pipeline in pipelines.items():
        pipeline.fit(rows, accepted)
        model = export_linear.export(pipeline)
        ours, theirs = export_linear.scores(model, rows), pipeline.decision_function(rows)
        difference = np.max(np.abs(ours - theirs) / np.maximum(1, np.abs(theirs)))
        assert difference < 1e-9, f"{name}: scores differ by {difference}"
        (folder / f"{name}.json").write_text(json.dumps(model))
        pd.DataFrame({"label": pipeline.predict(rows)}).to_csv(folder / f"{name}.expected.csv", index=False)
    rows.to_csv(folder / "rows.csv", index=False)
    (folder / "names.json").write_text(json.dumps(list(pipelines)))

    refused = {
        "PolynomialFeatures": make_pipeline(columns(ignore(), PolynomialFeatures()), logistic()),
        "PCA": make_pipeline(columns(ignore(sparse_output=False), "passthrough"), PCA(3), logistic()),
        "RandomForestClassifier": make_pipeline(columns(ignore(), "passthrough"), RandomForestClassifier(3)),
        "clip": make_pipeline(columns(ignore(), MinMaxScaler(clip=True)), logistic()),
        "unknown values count as infrequent": make_pipeline(
            columns(OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=5), "passthrough"), logistic()
        ),
    }
    for words, pipeline in refused.items():
        pipeline.fit(rows, accepted)
        try:
            export_linear.export(pipeline)
        except export_linear.NotLinear as error:
            assert words in str(error), f"{words}: {error}"
        else:
            raise AssertionError(f"{words} was not refused")
    try:
        export_linear.export(logistic().fit(rows[NUMBERS].to_numpy(), accepted))
    except export_linear.NotLinear as error:
        assert "--columns" in str(error), error
    else:
        raise AssertionError("columns without names were not refused")

    # From the command line.
    joblib.dump(pipelines["logistic"], folder / "pipeline.joblib")
    command = [
        sys.executable,
        exporter,
        folder / "pipeline.joblib",
        folder / "command.json",
        "--check",
        folder / "rows.csv",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "0 of 5000 rows are classed otherwise" in done.stderr, done.stderr
    assert json.loads((folder / "command.json").read_text()) == json.loads((folder / "logistic.json").read_text())


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
