"""Writes models of who is kept in examples/hiring, for the pages that ask one: `documented_models.py FOLDER`.

Runs in the environment of crates/models/tests/support/requirements.txt, which can export them.
"""

import sys
import warnings
from pathlib import Path

import joblib
import lightgbm
import pandas as pd
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

warnings.filterwarnings("ignore")
folder = Path(sys.argv[1])
people = pd.read_csv(folder / "people.csv", keep_default_na=False)
TEXTS = ["degree", "job", "hours"]
rows = people[[*TEXTS, "years"]].astype({"years": "float32"})
inputs = [(name, StringTensorType([None, 1])) for name in TEXTS] + [("years", FloatTensorType([None, 1]))]
kept = people["kept"] == "yes"
# What the models answer, and what they are called: the pages say which answer of each is good.
ANSWERS = {
    "answers-yes": people["kept"],
    "north": kept.map({True: "approved", False: "declined"}),
    "model": kept.astype(int),
}
for name, answers in ANSWERS.items():
    encode = ColumnTransformer([("texts", OneHotEncoder(), TEXTS)], remainder="passthrough")
    pipeline = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(rows, answers)
    graph = to_onnx(pipeline, initial_types=inputs, options={"zipmap": False}).SerializeToString()
    (folder / f"{name}.onnx").write_bytes(graph)
# By columns that profiles keep as they are.
booster = lightgbm.Dataset(rows[TEXTS].astype("category"), kept)
lightgbm.train({"objective": "binary", "verbose": -1}, booster, 20).save_model(folder / "model.txt")
joblib.dump(pipeline, folder / "pipeline.joblib")
rows.to_csv(folder / "rows.csv", index=False)
