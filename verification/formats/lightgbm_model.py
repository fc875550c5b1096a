"""Trains one LightGBM model on Adult and writes it in every form in which it can be audited.

    python lightgbm_model.py DATA FOLDER

DATA is `verification/data/adult-sex`. FOLDER gets `lightgbm.txt`, what the library itself saves,
and `lightgbm.onnx`, what onnxmltools makes of the same booster behind encoders of the text columns.
`predict_lightgbm.py` runs the first of the two.

The model is trained as one does with pandas: text columns are categories, and the library splits on
sets of them. It knows categories by their place in sorted order, so that is what the graph's
encoders look up. The numbers of Adult are whole and the splits lie between them: 32-bit floats hold
both without rounding, and only sums of leaves are rounded.
"""

import sys
from pathlib import Path

import lightgbm as lgb
import onnx
import onnxmltools
import pandas as pd
from onnx import TensorProto, compose, helper
from onnxmltools.convert.common.data_types import FloatTensorType

OPSETS = {"": 15, "ai.onnx.ml": 3}


def train(data: Path) -> tuple[lgb.Booster, pd.DataFrame]:
    """A booster, and the rows that it was trained on with text as categories."""
    rows = pd.read_csv(data / "X_train.csv.gz")
    outcome = pd.read_csv(data / "y_train.csv.gz").iloc[:, 0]
    for name in rows.columns:
        if not pd.api.types.is_numeric_dtype(rows[name]):
            rows[name] = pd.Categorical(rows[name], sorted(rows[name].unique()))
    parameters = {
        "objective": "binary",
        "num_leaves": 31,
        "learning_rate": 0.1,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "seed": 0,
        "verbose": -1,
    }
    return lgb.train(parameters, lgb.Dataset(rows, outcome), 100), rows


def encoders(rows: pd.DataFrame) -> onnx.ModelProto:
    """A graph from one input a column, by name, to the numbers that the booster takes."""
    nodes, inputs, numbers = [], [], []
    for place, name in enumerate(rows.columns):
        number = f"number_{place}"
        numbers.append(number)
        if isinstance(rows[name].dtype, pd.CategoricalDtype):
            categories = list(rows[name].cat.categories)
            inputs.append(helper.make_tensor_value_info(name, TensorProto.STRING, [None, 1]))
            nodes.append(
                helper.make_node(
                    "LabelEncoder",
                    [name],
                    [number],
                    domain="ai.onnx.ml",
                    keys_strings=categories,
                    values_floats=[float(code) for code in range(len(categories))],
                    default_float=float("nan"),
                )
            )
        else:
            inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 1]))
            nodes.append(helper.make_node("Identity", [name], [number]))
    nodes.append(helper.make_node("Concat", numbers, ["encoded"], axis=1))
    encoded = helper.make_tensor_value_info("encoded", TensorProto.FLOAT, [None, len(rows.columns)])
    graph = helper.make_graph(nodes, "encoders", inputs, [encoded])
    opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
    return helper.make_model(graph, opset_imports=opsets)


def export(booster: lgb.Booster, rows: pd.DataFrame) -> onnx.ModelProto:
    """The booster behind its encoders, as one graph."""
    trees = onnxmltools.convert_lightgbm(
        booster,
        initial_types=[("trees", FloatTensorType([None, len(rows.columns)]))],
        target_opset=OPSETS[""],
        zipmap=False,
    )
    before = encoders(rows)
    trees.ir_version = before.ir_version
    del trees.opset_import[:]
    trees.opset_import.extend(before.opset_import)
    # The converter says that there is one label; there is one a row.
    trees.graph.output[0].type.tensor_type.shape.dim[0].Clear()
    return compose.merge_models(before, trees, io_map=[("encoded", "trees")])


def main(data: Path, folder: Path) -> None:
    booster, rows = train(data)
    booster.save_model(folder / "lightgbm.txt")
    graph = export(booster, rows)
    # ONNX Runtime 1.23 reads graphs up to this version.
    graph.ir_version = 10
    (folder / "lightgbm.onnx").write_bytes(graph.SerializeToString())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
