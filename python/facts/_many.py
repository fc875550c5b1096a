"""Many models on one table."""

from __future__ import annotations

import copy
import json
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facts import _engines, _facts, _frames
from facts._audit import Audit, _asked, _fetched
from facts._options import OPTIONS
from facts._progress import teller
from facts.errors import FactsError, FactsWarning, UsageError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from facts._options import Options


class Audits(Mapping[str, Audit[Any]]):
    """The audits of many models, by name: unfair models first, those with most people at a loss at the top.

    Attributes:
        failures: The models that could not be audited, each with its exception.
    """

    def __init__(self, audits: dict[str, Audit[Any]], failures: dict[str, FactsError], summary: Any, kind: str) -> None:
        self._audits = {name: audits[name] for name in summary.names() if name in audits}
        self.failures = failures
        self._summary = summary
        self._kind = kind

    def __getitem__(self, name: str) -> Audit[Any]:
        if name in self.failures:
            raise self.failures[name]
        return self._audits[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._audits)

    def __len__(self) -> int:
        return len(self._audits)

    def summary(self) -> Any:
        """A row for each model, as a frame like the table: verdict, against whom, p-value, people at a loss, failure."""
        return _frames.result(self._summary.sheet(), self._kind)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves each audit in a folder of its name, and the summary beside them, as ``facts audit --models`` does."""
        for name, audit in self._audits.items():
            audit.save(Path(path) / name)
        self._summary.save(os.fspath(path))

    def __str__(self) -> str:
        text: str = self._summary.text()
        return text

    def __repr__(self) -> str:
        return f"<facts.Audits of {len(self) + len(self.failures)} models>\n{self}"


def audit_models(models: Mapping[str, Any], X: Any, protected: Any = None, **options: Unpack[Options]) -> Audits:
    """Audits many models on the same people.

    The table is read once, and people are taken in once for all models that read the same columns. A model that
    fails does not lose the others: it is in ``failures``.

    Args:
        models: The models by name, each as :func:`facts.audit` takes it: an object with ``predict``, a function,
            or a string such as ``"onnx:model.onnx"``. A mapping says more about one:
            ``{"model": south, "threshold": 0.4, "favourable": "approved"}``.
        X: The people, as for :func:`facts.audit`.
        protected: The protected attribute, as for :func:`facts.audit`.
        options: Everything else that :func:`facts.audit` takes, except ``keep_people``; the same for all models.
            ``alpha`` is the chance, at most, that any finding of any model passes wrongly: with m models, each
            is tested at ``alpha`` / m.

    Returns:
        The audits by name, with a summary of them side by side.

    Raises:
        UsageError: What was asked for cannot be done.
        DataError: The table cannot be audited.

    Example:
        >>> import facts, pandas as pd
        >>> people = pd.DataFrame({
        ...     "job": ["clerk", "clerk", "clerk", "clerk", "manager", "manager"],
        ...     "sex": ["Female", "Female", "Male", "Male", "Female", "Male"],
        ... })
        >>> audits = facts.audit_models(
        ...     {
        ...         "managers": lambda rows: rows.job == "manager",
        ...         "broken": lambda rows: 1 / 0,
        ...     },
        ...     people, protected="sex", favourable=True, support=0.1, min_members=1,
        ... )
        >>> list(audits), list(audits.failures)
        (['managers'], ['broken'])
    """
    if not isinstance(models, Mapping) or not models:
        raise UsageError("models must be a mapping of at least one model by its name: {'north': model, …}")
    unknown = sorted(set(options) - OPTIONS)
    if unknown:
        raise TypeError(f"audit_models() got an unexpected keyword argument '{unknown[0]}'")
    if options.get("keep_people"):
        raise UsageError("audit_models keeps no people; audit the two models that are to be compared with facts.audit")
    among, own = zip(*(_said_of(str(name), model) for name, model in models.items()), strict=True)
    if _engines.is_table(X):
        X = _fetched(among, X, protected, options)
    else:
        X = _frames.native(X)
    asked = {
        str(name): _asked(model, _copied(X), protected, options, among, said)
        for name, model, said in zip(models, among, own, strict=True)
    }
    first = next(iter(asked.values()))
    config = copy.deepcopy(first.made.config)
    # Each model has its own; a threshold is for those that are named by a string.
    config.get("model", {}).pop("spec", None)
    threshold = options.get("threshold")
    if threshold is not None:
        config.setdefault("model", {})["threshold"] = threshold
    tell, close = teller(options.get("progress"))
    try:
        made, summary = _facts.audit_models(
            first.frame.table(),
            json.dumps(config),
            json.dumps(first.made.overrides),
            [(name, one.spec, one.ask, json.dumps(one.own)) for name, one in asked.items()],
            first.made.folder,
            first.costs,
            first.rules,
            tell,
        )
    finally:
        close()
    kind = first.frame.kind
    audits: dict[str, Audit[Any]] = {name: Audit(found, kind) for name, found, _ in made if found is not None}
    failures = {name: error for name, _, error in made if error is not None}
    for warning in dict.fromkeys(note for audit in audits.values() for note in audit._to_know()):
        warnings.warn(warning, FactsWarning, stacklevel=2)
    return Audits(audits, failures, summary, kind)


def _said_of(name: str, model: Any) -> tuple[Any, dict[str, Any]]:
    """A model, and what is said of it alone."""
    if not isinstance(model, Mapping):
        return model, {}
    said = dict(model)
    if "model" not in said or not set(said) <= {"model", "threshold", "favourable"}:
        raise UsageError(f"models[{name!r}] must have a `model`, and may have a `threshold` and a `favourable` class")
    return said.pop("model"), said


def _copied(X: Any) -> Any:
    """A frame of a model's own: each model may be handed other columns."""
    return copy.copy(X) if isinstance(X, _frames.Frame) else X
