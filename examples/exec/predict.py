"""A model as a program, over Arrow: exec:python examples/exec/predict.py examples/exec/model.json

Reads one Arrow IPC stream from standard input; for each record batch in it writes one record batch
with one column, one answer a row, to standard output. Needs pyarrow. To use a model of your own,
replace `load` and `predict`; a scikit-learn pipeline would be `joblib.load(path)` and
`model.predict(rows.to_pandas())`.
"""

import json
import sys

import pyarrow as pa


def load(path: str) -> dict:
    """The model: an intercept, a coefficient for each level of a column and for each number."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def predict(model: dict, rows: pa.RecordBatch) -> list[bool]:
    """Whether the score of each row is above 0."""
    scores = [model["intercept"]] * rows.num_rows
    for name, levels in model["levels"].items():
        for row, value in enumerate(rows.column(name).to_pylist()):
            scores[row] += levels.get(value, 0.0)
    for name, coefficient in model["numbers"].items():
        for row, value in enumerate(rows.column(name).to_pylist()):
            scores[row] += coefficient * value
    return [score > 0 for score in scores]


def main() -> None:
    model = load(sys.argv[1])
    # Standard output is for answers: whatever a library prints must not end up in them.
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    schema = pa.schema([("class", pa.bool_())])
    with pa.ipc.open_stream(sys.stdin.buffer) as batches, pa.ipc.new_stream(answers, schema) as out:
        for rows in batches:
            out.write_batch(pa.record_batch([pa.array(predict(model, rows), pa.bool_())], schema))
            answers.flush()


if __name__ == "__main__":
    main()
