"""Fits a small scikit-learn pipeline and writes it down for the server under test.

    python http_model.py mlflow FOLDER
    python http_model.py mlserver FOLDER

The model is FOLDER/model or FOLDER/model.joblib. Both write FOLDER/linear.json, the same coefficients as an additive model, against which the
answers of the server are compared.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

JOBS = ["clerk", "manager", "né à l'étranger", "self, employed"]


def people(rows: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    """A table with text, whole numbers and fractions, and a class that depends on all three."""
    draw = np.random.default_rng(7)
    table = pd.DataFrame(
        {
            "job": draw.choice(JOBS, rows),
            "hours": draw.integers(10, 61, rows),
            "debt": np.round(draw.normal(0.0, 1.0, rows), 3),
        }
    )
    score = (
        (table["hours"] - 35) / 10
        - table["debt"]
        + table["job"].map(dict(zip(JOBS, [-1.0, 1.0, 0.0, 0.5])))
        + draw.normal(0.0, 0.3, rows)
    )
    return table, (score > 0).to_numpy().astype(int)


def fit(table: pd.DataFrame, classes: np.ndarray) -> Pipeline:
    """One-hot encoding, then a logistic regression."""
    columns = ColumnTransformer(
        [
            ("text", OneHotEncoder(handle_unknown="ignore"), ["job"]),
            ("number", "passthrough", ["hours", "debt"]),
        ]
    )
    pipeline = Pipeline([("columns", columns), ("model", LogisticRegression(max_iter=1000))])
    return pipeline.fit(table, classes)


def as_additive(pipeline: Pipeline) -> dict:
    """The fitted coefficients as an additive model."""
    [*levels, hours, debt] = pipeline["model"].coef_[0].tolist()
    jobs = pipeline["columns"].named_transformers_["text"].categories_[0].tolist()
    return {
        "intercept": float(pipeline["model"].intercept_[0]),
        "levels": {"job": dict(zip(jobs, levels))},
        "numbers": {"hours": hours, "debt": debt},
        "unseen": "zero",
    }


def main() -> None:
    server, folder = sys.argv[1], Path(sys.argv[2])
    table, classes = people()
    pipeline = fit(table, classes)
    (folder / "linear.json").write_text(json.dumps(as_additive(pipeline)))
    if server == "mlflow":
        import mlflow.sklearn
        from mlflow.models import infer_signature

        signature = infer_signature(table, pipeline.predict(table))
        mlflow.sklearn.save_model(
            pipeline,
            folder / "model",
            signature=signature,
            serialization_format="cloudpickle",
            pip_requirements=[],
        )
    else:
        import joblib

        joblib.dump(pipeline, folder / "model.joblib")


if __name__ == "__main__":
    main()
