"""Models that live in Python, as functions over the engine's batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from facts._facts import Batch
from facts._frames import Frame
from facts.errors import ModelError, UsageError


def asker(model: Any, frame: Frame, threshold: float | None = None, favourable: Any = None) -> Callable[[Batch], Any]:
    """A function that answers the engine's batches by asking ``model``.

    The model is called with a frame like the one that is audited; rows come in large batches, and
    no row comes twice. With a threshold it is asked for the favourable class's probability.
    """
    predict = model.predict if hasattr(model, "predict") else model
    if not callable(predict):
        raise TypeError(
            "the model must have a `predict` method, be callable, or be a string such as "
            f"'onnx:model.onnx'; this is a {type(model).__name__}"
        )
    if threshold is None:
        return lambda batch: classes(predict(frame.rows(batch)))
    least = _number(threshold)
    if hasattr(model, "predict_proba"):
        place = _place(model, favourable)
        return lambda batch: _from(least, _cells(model.predict_proba(frame.rows(batch)))[:, place], favourable)
    if hasattr(model, "classes_"):
        raise UsageError(
            f"{type(model).__name__} gives no probabilities (it has no predict_proba), so threshold="
            f"{threshold} would change nothing; leave it out, or calibrate the model, such as with "
            "sklearn.calibration.CalibratedClassifierCV"
        )
    return lambda batch: _from(least, _probabilities(predict(frame.rows(batch)), threshold), favourable)


def columns(model: Any, frame: Frame, said: Sequence[Any] | None, hidden: frozenset[str]) -> list[str]:
    """The columns that a model is handed, in its order.

    They are those that are named, those that it was fitted on, or all that it may see.
    """
    wanted = known(model, said)
    if wanted is None:
        return [name for name in frame.names if name not in hidden]
    lacking = [name for name in wanted if name not in frame.names]
    if lacking:
        raise ModelError(
            f"the model reads columns that the table lacks: {', '.join(lacking)}; the table has: "
            f"{', '.join(frame.names)}"
        )
    kept = [name for name in wanted if name in hidden]
    if kept:
        raise ModelError(
            f"the model reads {', '.join(kept)}, which is named as weight, label, protected by values, or "
            "ignored, and so is not for the model"
        )
    return wanted


def known(model: Any, said: Sequence[Any] | None) -> list[str] | None:
    """The columns that are named, or that a model was fitted on; None if nothing tells which it reads."""
    names = said if said is not None else _fitted_on(model)
    return None if names is None else [str(name) for name in names]


def _fitted_on(model: Any) -> Any:
    """The names of the columns that a model, or the first step of a pipeline, was fitted on."""
    names = getattr(model, "feature_names_in_", None)
    steps = getattr(model, "steps", None)
    if names is None and isinstance(steps, list) and steps:
        names = getattr(steps[0][1], "feature_names_in_", None)
    return names


def _place(model: Any, favourable: Any) -> int:
    """Where predict_proba has the favourable class."""
    wanted = 1 if favourable is None else favourable
    known = [0, 1] if getattr(model, "classes_", None) is None else list(model.classes_)
    # 1, 1.0 and True are one class, and "1" is it where classes are text.
    for place, known_class in enumerate(known):
        if known_class == wanted or _text(known_class) == _text(wanted):
            return place
    named = ", ".join(map(str, known))
    if favourable is None:
        raise UsageError(f"the model's classes are {named}; say with favourable= which is the yes")
    raise UsageError(f"favourable={favourable!r} is none of the model's classes: {named}")


def _from(least: float, probabilities: Any, favourable: Any) -> Any:
    """Probabilities of the favourable class as classes: favourable above the threshold."""
    numbers = probabilities.astype(np.float64)
    if np.isnan(numbers).any():
        row = int(np.flatnonzero(np.isnan(numbers))[0]) + 1
        raise ValueError(f"the model answered no number for row {row} of a batch; every row needs one")
    yes = np.ascontiguousarray(numbers > least)
    if favourable in (None, 1, "1"):
        return yes
    if favourable in (0, "0"):
        return ~yes
    return [str(favourable) if one else f"not {favourable}" for one in yes]


def _number(threshold: Any) -> float:
    try:
        return float(threshold)
    except (TypeError, ValueError):
        raise UsageError(f"the threshold must be a number, not {threshold!r}") from None


def describe(model: Any, threshold: float | None = None) -> str:
    """What a model is, in a few words."""
    if threshold is not None:
        return f"{describe(model)}, yes above probability {threshold}"
    if hasattr(model, "predict"):
        cls = type(model)
        library = cls.__module__.partition(".")[0]
        steps = getattr(model, "steps", None)
        last = f" ending in {type(steps[-1][1]).__name__}" if isinstance(steps, list) and steps else ""
        return f"{library} {cls.__name__}{last}"
    name = getattr(model, "__qualname__", type(model).__qualname__)
    return f"Python function {name}"


def _cells(answer: Any) -> Any:
    """A model's answer as an array."""
    if answer is None:
        raise ValueError("the model answered nothing (None); it must give one class a row")
    if hasattr(answer, "detach"):  # a tensor that may want its gradient
        answer = answer.detach().cpu()
    return np.asarray(answer)


def _one_a_row(answer: Any) -> Any:
    cells = _cells(answer)
    if cells.ndim == 2 and cells.shape[1] == 1:
        cells = cells[:, 0]
    if cells.ndim != 1:
        raise ValueError(
            f"the model answered with an array of shape {cells.shape}, and must give one class a row; "
            "if these are probabilities, pass a function that gives the favourable one's, and threshold=0.5"
        )
    return cells


def _probabilities(answer: Any, threshold: float) -> Any:
    cells = _one_a_row(answer)
    if cells.dtype.kind != "f":
        raise ValueError(
            f"threshold={threshold} was given, but the model answers with classes ({cells.dtype}), which "
            "it would not change; leave it out, or let the model answer with probabilities"
        )
    return cells


def classes(answer: Any) -> Any:
    """A model's answer as the engine reads it: Booleans, numbers, or a list of text."""
    cells = _one_a_row(answer)
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
