"""Trains models of many kinds, exports them to ONNX, and writes what the libraries themselves
answer: the test beside this folder compares.

    python onnx_train.py FOLDER

FOLDER gets `cases.json`, and for each case `NAME.onnx`, `NAME.csv` (the rows) and
`NAME.expected.csv` (the library's label and its probability of the last class).
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from onnxmltools.convert.lightgbm.operator_converters.LightGbm import convert_lightgbm
from onnxmltools.convert.xgboost.operator_converters.XGBoost import convert_xgboost
from skl2onnx import to_onnx, update_registered_converter
from skl2onnx.common.data_types import (
    BooleanTensorType,
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
    StringTensorType,
)
from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from xgboost import XGBClassifier

warnings.filterwarnings("ignore")

ROWS = 10_000
TEXTS = {"work": 6, "education": 8, "marital status": 5, "occupation": 12, "race": 5, "country": 15}
NUMBERS = ["age", "hours-per-week", "gain", "loss"]
OPSETS = {"": 15, "ai.onnx.ml": 3}

for classifier, alias, convert in [
    (LGBMClassifier, "LightGbmLGBMClassifier", convert_lightgbm),
    (XGBClassifier, "XGBoostXGBClassifier", convert_xgboost),
]:
    update_registered_converter(
        classifier,
        alias,
        calculate_linear_classifier_output_shapes,
        convert,
        options={"nocl": [True, False], "zipmap": [True, False, "columns"]},
    )


def table(rng):
    """Rows, and which of them were accepted."""
    rows = pd.DataFrame({name: rng.choice([f"{name}-{i}" for i in range(n)], ROWS) for name, n in TEXTS.items()})
    rows["age"] = rng.integers(17, 91, ROWS)
    rows["hours-per-week"] = rng.integers(1, 99, ROWS)
    rows["gain"] = np.where(rng.random(ROWS) < 0.7, 0.0, rng.gamma(2, 1500, ROWS).round(2))
    rows["loss"] = np.where(rng.random(ROWS) < 0.9, 0.0, rng.gamma(2, 400, ROWS).round(2))
    score = (
        0.03 * rows["age"]
        + 0.02 * rows["hours-per-week"]
        + 0.0004 * rows["gain"]
        + sum(rng.normal(0, 0.6, n)[pd.factorize(rows[name])[0]] for name, n in TEXTS.items())
        + rng.normal(0, 0.5, ROWS)
    )
    return rows, (score > score.median()).astype(int)


def encoded(numbers="passthrough", texts=None):
    texts = texts or OneHotEncoder(handle_unknown="ignore")
    return ColumnTransformer([("texts", texts, list(TEXTS)), ("numbers", numbers, NUMBERS)])


def separate(rows, number=FloatTensorType):
    """One input a column."""
    kinds = {"O": StringTensorType, "b": BooleanTensorType}
    return [
        (name, kinds.get("O" if rows[name].dtype.kind not in "ifb" else rows[name].dtype.kind, number)([None, 1]))
        for name in rows.columns
    ]


def main(folder):
    rng = np.random.default_rng(7)
    rows, accepted = table(rng)
    small = {"n_estimators": 60, "random_state": 0}
    cases = []

    def case(name, model, *, zipmap=True, rows=rows, labels=accepted, initial=None, flips=0, properties=None, **more):
        model.fit(rows, labels)
        last = model[-1] if isinstance(model, Pipeline) else model
        graph = to_onnx(
            model,
            initial_types=initial or separate(rows),
            options={id(last): {"zipmap": zipmap}},
            target_opset=OPSETS,
        )
        for key, value in (properties or {}).items():
            graph.metadata_props.add(key=key, value=value)
        (folder / f"{name}.onnx").write_bytes(graph.SerializeToString())
        rows.to_csv(folder / f"{name}.csv", index=False)
        expected = {"label": model.predict(rows), "probability": model.predict_proba(rows)[:, -1]}
        pd.DataFrame(expected).to_csv(folder / f"{name}.expected.csv", index=False)
        cases.append({"name": name, "flips": flips, **more})

    logistic = lambda: LogisticRegression(max_iter=2000)
    words = accepted.map({0: "<=50K", 1: ">50K"})
    credit = accepted.map({0: 1, 1: 2})

    # Scaled numbers into a sum: a rounded digit, no flip.
    case("logistic", make_pipeline(encoded(StandardScaler()), logistic()))
    case("logistic_words", make_pipeline(encoded(MinMaxScaler()), logistic()), labels=words)
    case("logistic_words_tensor", make_pipeline(encoded(MinMaxScaler()), logistic()), labels=words, zipmap=False)
    case("logistic_one_two_tensor", make_pipeline(encoded(StandardScaler()), logistic()), labels=credit, zipmap=False)
    case(
        "mlp",
        make_pipeline(encoded(StandardScaler()), MLPClassifier((16, 8), max_iter=60, random_state=0)),
        zipmap=False,
    )

    # Numbers passed through to trees: equal.
    case("forest", make_pipeline(encoded(), RandomForestClassifier(max_depth=12, **small)), zipmap=False)
    case(
        "forest_ordinal", make_pipeline(encoded(texts=OrdinalEncoder()), RandomForestClassifier(max_depth=12, **small))
    )
    case("boosting", make_pipeline(encoded(), GradientBoostingClassifier(**small)))
    dense = lambda: OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    case(
        "histogram_boosting",
        make_pipeline(encoded(texts=dense()), HistGradientBoostingClassifier(max_iter=60, random_state=0)),
        zipmap=False,
    )
    case("lightgbm", make_pipeline(encoded(), LGBMClassifier(verbose=-1, **small)))
    case("lightgbm_tensor", make_pipeline(encoded(), LGBMClassifier(verbose=-1, **small)), zipmap=False)
    case("xgboost", make_pipeline(encoded(texts=dense()), XGBClassifier(**small)))
    case("xgboost_tensor", make_pipeline(encoded(texts=dense()), XGBClassifier(**small)), zipmap=False)

    # XGBoost takes the zeros of a sparse table for missing, and ONNX does not: another model.
    case("xgboost_sparse", make_pipeline(encoded(), XGBClassifier(**small)), flips=ROWS)

    # Scaled numbers into trees: some rows flip by 32-bit rounding. Bounded, not explained away.
    scaled = lambda: encoded(StandardScaler(), dense())
    case(
        "forest_scaled", make_pipeline(scaled(), RandomForestClassifier(max_depth=12, **small)), zipmap=False, flips=200
    )
    case("lightgbm_scaled", make_pipeline(scaled(), LGBMClassifier(verbose=-1, **small)), flips=200)
    case("xgboost_scaled", make_pipeline(scaled(), XGBClassifier(**small)), flips=200)

    # Missing numbers, filled by the graph.
    holes = rows.copy()
    holes[NUMBERS] = holes[NUMBERS].astype(float).mask(rng.random((ROWS, len(NUMBERS))) < 0.1)
    filled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    case("imputed", make_pipeline(encoded(filled), logistic()), rows=holes)
    words_too = holes.copy()
    words_too["work"] = words_too["work"].mask(rng.random(ROWS) < 0.1, "")
    fill = make_pipeline(
        SimpleImputer(missing_values="", strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    case("imputed_text", make_pipeline(encoded(filled, fill), logistic()), rows=words_too)

    # All columns side by side in one tensor; the order given, or named by the file.
    numbers = rows[NUMBERS].astype(float)
    side_by_side = [("X", FloatTensorType([None, len(NUMBERS)]))]
    case("one_tensor", make_pipeline(StandardScaler(), logistic()), rows=numbers, initial=side_by_side, order=NUMBERS)
    case(
        "one_tensor_open",
        RandomForestClassifier(max_depth=8, **small),
        rows=numbers,
        initial=[("X", FloatTensorType([None, None]))],
        order=NUMBERS,
        zipmap=False,
    )
    case(
        "one_tensor_named",
        GradientBoostingClassifier(**small),
        rows=numbers,
        initial=side_by_side,
        properties={"feature_names": json.dumps(NUMBERS)},
        zipmap=False,
    )
    positions = list(range(len(TEXTS)))
    texts = rows[list(TEXTS)]
    case(
        "text_tensor",
        make_pipeline(ColumnTransformer([("texts", OneHotEncoder(), positions)]), logistic()),
        rows=texts,
        initial=[("X", StringTensorType([None, len(TEXTS)]))],
        order=list(TEXTS),
    )

    # Whole numbers, doubles and yes or no as inputs.
    typed = rows[["age", "hours-per-week", "gain"]].assign(member=rng.random(ROWS) < 0.5)
    kinds = [Int64TensorType, Int64TensorType, FloatTensorType, BooleanTensorType]
    initial = [(name, kind([None, 1])) for name, kind in zip(typed.columns, kinds)]
    whole = ColumnTransformer(
        [
            ("whole", OneHotEncoder(handle_unknown="ignore"), ["age", "hours-per-week"]),
            ("number", StandardScaler(), ["gain"]),
            ("yes", "passthrough", ["member"]),
        ]
    )
    case("typed", make_pipeline(whole, logistic()), rows=typed, initial=initial)
    case(
        "doubles",
        make_pipeline(StandardScaler(), logistic()),
        rows=numbers,
        initial=[("X", DoubleTensorType([None, len(NUMBERS)]))],
        order=NUMBERS,
        zipmap=False,
    )

    (folder / "cases.json").write_text(json.dumps(cases))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
