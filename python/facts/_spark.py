"""A model that answers on Spark's workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from facts.errors import ModelError

#: What Spark calls the answers of a model, by numpy's kind of type.
_TYPES = {"b": "boolean", "i": "bigint", "u": "bigint", "f": "double", "O": "string", "U": "string"}


class OnSpark:
    """A model whose answers are given by Spark's workers; see :func:`on_spark`."""

    def __init__(self, model: Any, spark: Any, partitions: int | None) -> None:
        self._predict: Callable[[Any], Any] = getattr(model, "predict", model)
        self._spark = spark
        self._partitions = partitions or spark.sparkContext.defaultParallelism
        # What an audit asks a model about itself.
        for known in ("feature_names_in_", "classes_"):
            if hasattr(model, known):
                setattr(self, known, getattr(model, known))

    def predict(self, rows: Any) -> Any:
        """One answer a row, in the order of the rows."""
        import pyarrow as pa

        if len(rows) == 0:
            return self._predict(rows)
        is_pandas = not isinstance(rows, (pa.Table, pa.RecordBatch))
        table = pa.Table.from_pandas(rows, preserve_index=False) if is_pandas else rows
        names = table.column_names
        # By number: a model's columns may be called what Spark's columns may not.
        table = table.rename_columns([f"c{place}" for place in range(len(names))])
        table = table.append_column("place", pa.array(np.arange(len(rows), dtype=np.int64)))
        kind = np.asarray(self._predict(rows[:1])).dtype.kind
        if kind not in _TYPES:
            raise ModelError(f"the model's answers are of a type that Spark cannot carry ({kind})")
        score = _scorer(self._predict, names, rows.dtypes if is_pandas else None, kind)
        frame = self._spark.createDataFrame(table).repartition(self._partitions, "place")
        answers = frame.mapInArrow(score, f"place bigint, answer {_TYPES[kind]}").toArrow()
        if answers.num_rows != len(rows):
            raise ModelError(f"Spark gave {answers.num_rows:,} answers to {len(rows):,} rows")
        return answers.sort_by("place").column("answer").to_numpy()


def _scorer(
    predict: Callable[[Any], Any], names: list[str], dtypes: Any, kind: str
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What runs on a worker; it must not need this package there."""

    def score(batches: Iterator[Any]) -> Iterator[Any]:
        import numpy as np
        import pyarrow as pa

        for batch in batches:
            places = batch.column("place")
            rows = pa.Table.from_batches([batch]).drop_columns(["place"]).rename_columns(names)
            if dtypes is not None:
                rows = rows.to_pandas().astype(dict(dtypes))
            answers: Any = np.asarray(predict(rows))
            if kind in "OU":
                answers = [None if answer is None else str(answer) for answer in answers]
            elif kind in "iu":
                answers = answers.astype(np.int64)
            yield pa.record_batch([places, pa.array(answers)], names=["place", "answer"])

    return score


def on_spark(model: Any, spark: Any, partitions: int | None = None) -> OnSpark:
    """A model whose answers are given by the workers of a Spark session, each row by one of them.

    An audit asks for each distinct row once; these rows are spread over the workers, which call the
    model there. A task that fails, or whose worker dies, is done again by Spark. Ask for large batches:
    each is a job of its own.

    Args:
        model: Anything with ``predict``, or a function; it must be possible to pickle it, and what it
            needs must be installed on the workers.
        spark: The Spark session.
        partitions: Into how many tasks a batch is split. Default as many as Spark runs at once.

    Example:
        ``facts.audit(facts.on_spark(pipeline, spark), people, protected="sex", batch_rows=5_000_000)``
    """
    return OnSpark(model, spark, partitions)
