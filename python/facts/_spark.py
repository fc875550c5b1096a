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
        self._kind: str | None = None
        # What an audit asks a model about itself.
        for known in ("feature_names_in_", "classes_"):
            if hasattr(model, known):
                setattr(self, known, getattr(model, known))
        # Whoever asks for probabilities looks first whether there are any.
        if hasattr(model, "predict_proba"):
            self._predict_proba: Callable[[Any], Any] = model.predict_proba
            self.predict_proba = self._probabilities

    def predict(self, rows: Any) -> Any:
        """One answer a row, in the order of the rows."""
        if len(rows) == 0:
            return self._predict(rows)
        if self._kind is None:
            # Spark wants to know the type of the answers before there are any. It is asked for once.
            kind = np.asarray(self._predict(rows[:1])).dtype.kind
            if kind not in _TYPES:
                raise ModelError(f"the model's answers are of a type that Spark cannot carry ({kind})")
            self._kind = kind
        return self._asked(self._predict, rows, _TYPES[self._kind], _as_classes(self._kind)).to_numpy()

    def _probabilities(self, rows: Any) -> Any:
        """The probabilities of the classes, a row for each row, in their order."""
        if len(rows) == 0:
            return self._predict_proba(rows)
        answers = self._asked(self._predict_proba, rows, "array<double>", _as_probabilities()).combine_chunks()
        return answers.flatten().to_numpy(zero_copy_only=False).reshape(len(rows), -1)

    def _asked(self, ask: Callable[[Any], Any], rows: Any, answer: str, as_arrow: Callable[[Any], Any]) -> Any:
        """What the workers answer, in the order of the rows, as Arrow's column of a type of Spark."""
        import pyarrow as pa

        is_pandas = not isinstance(rows, (pa.Table, pa.RecordBatch))
        table = pa.Table.from_pandas(rows, preserve_index=False) if is_pandas else rows
        names = table.column_names
        # By number: a model's columns may be called what Spark's columns may not.
        table = table.rename_columns([f"c{place}" for place in range(len(names))])
        table = table.append_column("place", pa.array(np.arange(len(rows), dtype=np.int64)))
        score = _scorer(ask, names, rows.dtypes if is_pandas else None, as_arrow)
        frame = self._spark.createDataFrame(table).repartition(self._partitions, "place")
        answers = frame.mapInArrow(score, f"place bigint, answer {answer}").toArrow()
        if answers.num_rows != len(rows):
            raise ModelError(f"Spark gave {answers.num_rows:,} answers to {len(rows):,} rows")
        return answers.sort_by("place").column("answer")


def _scorer(
    ask: Callable[[Any], Any], names: list[str], dtypes: Any, as_arrow: Callable[[Any], Any]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What runs on a worker."""

    def score(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            places = batch.column("place")
            rows = pa.Table.from_batches([batch]).drop_columns(["place"]).rename_columns(names)
            if dtypes is not None:
                rows = rows.to_pandas().astype(dict(dtypes))
            yield pa.record_batch([places, as_arrow(ask(rows))], names=["place", "answer"])

    return score


# What follows runs on workers, which need not have this package: functions within functions are sent whole.
def _as_classes(kind: str) -> Callable[[Any], Any]:
    """Makes Arrow of classes, all of one kind: what would be changed by that is refused."""

    def as_arrow(answers: Any) -> Any:
        import numpy as np
        import pyarrow as pa

        answers = np.asarray(answers)
        if answers.ndim == 2 and answers.shape[1] == 1:
            answers = answers[:, 0]
        if kind in "OU":
            return pa.array([None if answer is None else str(answer) for answer in answers], pa.string())
        others = {"b": "b", "i": "biu", "u": "biu", "f": "biuf"}[kind]
        if answers.dtype.kind not in others:
            first = {"b": "truths", "f": "numbers"}.get(kind, "whole numbers")
            raise TypeError(
                f"the model answers some rows with {first} and others with values of type {answers.dtype}; "
                "let it answer all rows with one type"
            )
        return pa.array(answers.astype({"b": np.bool_, "f": np.float64}.get(kind, np.int64)))

    return as_arrow


def _as_probabilities() -> Callable[[Any], Any]:
    """Makes Arrow of the probabilities of each row."""

    def as_arrow(answers: Any) -> Any:
        import numpy as np
        import pyarrow as pa

        answers = np.asarray(answers, dtype=np.float64)
        flat = pa.array(np.ascontiguousarray(answers).ravel())
        starts = np.arange(len(answers) + 1, dtype=np.int32) * answers.shape[1]
        return pa.ListArray.from_arrays(pa.array(starts), flat)

    return as_arrow


def on_spark(model: Any, spark: Any, partitions: int | None = None) -> OnSpark:
    """A model whose answers are given by the workers of a Spark session, each row by one of them.

    An audit asks for each distinct row once; these rows are spread over the workers, which call the
    model there. A task that fails, or whose worker dies, is done again by Spark. Ask for large batches:
    each is a job of its own.

    Args:
        model: Anything with ``predict``, or a function; it must be possible to pickle it, and what it
            needs must be installed on the workers. If it has ``predict_proba``, an audit with ``threshold=``
            asks for that. All rows must be answered with values of one type.
        spark: The Spark session.
        partitions: Into how many tasks a batch is split. Default as many as Spark runs at once.

    Example:
        ``facts.audit(facts.on_spark(pipeline, spark), people, protected="sex", batch_rows=5_000_000)``
    """
    return OnSpark(model, spark, partitions)
