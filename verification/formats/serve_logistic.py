"""Writes a linear model as the scikit-learn pipeline that a server is to serve.

    python serve_logistic.py mlflow LINEAR.json ROWS.csv.gz FOLDER
    python serve_logistic.py mlserver LINEAR.json ROWS.csv.gz FOLDER

LINEAR.json is an additive model (`docs/models-linear.md`), ROWS a table of the kind that it reads.
The pipeline is fitted on the table, to get its shape, and then given the model's coefficients.
FOLDER gets `model` (MLflow) or `model.joblib` (MLServer).
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


def pipeline_of(linear: dict, rows: pd.DataFrame) -> Pipeline:
    """One-hot encoding and a logistic regression with the given coefficients."""
    texts, numbers = list(linear["levels"]), list(linear["numbers"])
    categories = [sorted(linear["levels"][name]) for name in texts]
    columns = ColumnTransformer(
        [
            ("texts", OneHotEncoder(categories=categories, handle_unknown="ignore"), texts),
            ("numbers", "passthrough", numbers),
        ]
    )
    pipeline = Pipeline([("columns", columns), ("model", LogisticRegression(max_iter=1))])
    pipeline.fit(rows, np.arange(len(rows)) % 2)
    by_level = [linear["levels"][name][value] for name, values in zip(texts, categories) for value in values]
    by_number = [linear["numbers"][name] for name in numbers]
    pipeline["model"].coef_ = np.array([by_level + by_number])
    pipeline["model"].intercept_ = np.array([linear["intercept"]])
    return pipeline


def main(server: str, linear: Path, rows: Path, folder: Path) -> None:
    table = pd.read_csv(rows)
    pipeline = pipeline_of(json.loads(linear.read_text()), table)
    if server == "mlflow":
        import mlflow.sklearn
        from mlflow.models import infer_signature

        mlflow.sklearn.save_model(
            pipeline,
            folder / "model",
            signature=infer_signature(table, pipeline.predict(table)),
            serialization_format="cloudpickle",
            pip_requirements=[],
        )
    else:
        import joblib

        joblib.dump(pipeline, folder / "model.joblib")


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
