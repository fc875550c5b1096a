"""Fits scikit-learn's logistic regression on the reference data and prints its coefficients.

    python train_reference.py FOLDER [--balanced]

FOLDER holds X_train.csv.gz and y_train.csv.gz. Text columns are one-hot encoded, numbers pass as
they are: C = 1, lbfgs, run to convergence (the default tolerance stops far away from it).
"""

import json
import sys
from pathlib import Path

import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

folder = Path(sys.argv[1])
weights = "balanced" if "--balanced" in sys.argv else None
X = pd.read_csv(folder / "X_train.csv.gz", dtype=None, keep_default_na=False)
y = pd.read_csv(folder / "y_train.csv.gz").iloc[:, 0]
numbers = [c for c in X if pd.api.types.is_numeric_dtype(X[c])]
texts = [c for c in X if c not in numbers]
encoder = ColumnTransformer([("texts", OneHotEncoder(), texts), ("numbers", "passthrough", numbers)])
encoded = encoder.fit_transform(X)
# Dollars as they are make lbfgs take thousands of steps: another of scikit-learn's solvers leads it
# to the minimum, where it confirms that it would go no further.
model = LogisticRegression(
    C=1.0, solver="newton-cholesky", tol=1e-10, max_iter=1000, class_weight=weights, warm_start=True
)
model.fit(encoded, y)
model.set_params(solver="lbfgs", max_iter=100_000)
model.fit(encoded, y)
coefficients = list(model.coef_[0])
levels, place = {}, 0
for column, values in zip(texts, encoder.named_transformers_["texts"].categories_):
    levels[column] = dict(zip(map(str, values), coefficients[place : place + len(values)]))
    place += len(values)
json.dump(
    {
        "intercept": float(model.intercept_[0]),
        "levels": levels,
        "numbers": dict(zip(numbers, coefficients[place:])),
        "iterations": int(model.n_iter_[0]),
    },
    sys.stdout,
)
