"""A LightGBM model as a program: exec:python predict_lightgbm.py lightgbm.txt

The library itself answers, over the protocol of `docs/models-exec.md`.
"""

import sys

import lightgbm as lgb
import pandas as pd
import pyarrow as pa


def main() -> None:
    booster = lgb.Booster(model_file=sys.argv[1])
    # The names of the categories, column after column, as they were when the model was trained.
    categories = iter(booster.pandas_categorical)
    known = None
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    schema = pa.schema([("class", pa.bool_())])
    with pa.ipc.open_stream(sys.stdin.buffer) as batches, pa.ipc.new_stream(answers, schema) as out:
        for batch in batches:
            rows = batch.to_pandas()[booster.feature_name()]
            if known is None:
                texts = [name for name in rows if not pd.api.types.is_numeric_dtype(rows[name])]
                known = {name: next(categories) for name in texts}
            for name, values in known.items():
                # A value that the model never saw is missing.
                rows[name] = pd.Categorical(rows[name].where(rows[name].isin(values)), values)
            probability = booster.predict(rows, num_threads=1)
            out.write_batch(pa.record_batch([pa.array(probability > 0.5)], schema))
            answers.flush()


if __name__ == "__main__":
    main()
