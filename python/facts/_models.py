"""Models that live in Python, as functions over the engine's batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from facts._facts import Batch
from facts._frames import Frame
from facts.errors import UsageError


def asker(model: Any, frame: Frame, threshold: float | None) -> Callable[[Batch], Any]:
    """A function that answers the engine's batches by asking ``model``.

    The model is called with a frame like the one that is audited; rows come in large batches, and
    no row comes twice.
    """
    predict = model.predict if hasattr(model, "predict") else model
    if not callable(predict):
        raise TypeError(
            "the model must have a `predict` method, be callable, or be a string such as "
            f"'onnx:model.onnx'; this is a {type(model).__name__}"
        )
    if threshold is not None:
        threshold = _number(threshold)
    return lambda batch: classes(predict(frame.rows(batch)), threshold)


def _number(threshold: Any) -> float:
    try:
        return float(threshold)
    except (TypeError, ValueError):
        raise UsageError(f"the threshold must be a number, not {threshold!r}") from None


def describe(model: Any) -> str:
    """What a model is, in a few words."""
    if hasattr(model, "predict"):
        cls = type(model)
        library = cls.__module__.partition(".")[0]
        steps = getattr(model, "steps", None)
        last = f" ending in {type(steps[-1][1]).__name__}" if isinstance(steps, list) and steps else ""
        return f"{library} {cls.__name__}{last}"
    name = getattr(model, "__qualname__", type(model).__qualname__)
    return f"Python function {name}"


def classes(answer: Any, threshold: float | None) -> Any:
    """A model's answer as the engine reads it: Booleans, numbers, or a list of text."""
    if answer is None:
        raise ValueError("the model answered nothing (None); it must give one class a row")
    if hasattr(answer, "detach"):  # a tensor that may want its gradient
        answer = answer.detach().cpu()
    cells = np.asarray(answer)
    if cells.ndim == 2 and cells.shape[1] == 1:
        cells = cells[:, 0]
    if cells.ndim != 1:
        raise ValueError(
            f"the model answered with an array of shape {cells.shape}, and must give one class a row; "
            "if these are probabilities, pass a function that gives the favourable one's, and threshold=0.5"
        )
    if threshold is not None:
        numbers = cells.astype(np.float64)
        if np.isnan(numbers).any():
            row = int(np.flatnonzero(np.isnan(numbers))[0]) + 1
            raise ValueError(f"the model answered no number for row {row} of a batch; every row needs one")
        return np.ascontiguousarray(numbers > threshold)
    if cells.dtype.kind == "b":
        return np.ascontiguousarray(cells)
    if cells.dtype.kind in "iu":
        return np.ascontiguousarray(cells, dtype=np.int64)
    if cells.dtype.kind == "f":
        return np.ascontiguousarray(cells, dtype=np.float64)
    return [_text(cell) for cell in cells.tolist()]


def _text(cell: Any) -> str | None:
    if cell is None or cell != cell:
        return None
    if isinstance(cell, (bool, np.bool_)):
        return "true" if cell else "false"
    return str(cell)
