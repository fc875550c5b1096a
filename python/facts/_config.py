"""Keyword arguments as a configuration: the same keys as in ``facts.toml``, with underscores."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from facts import _facts
from facts._frames import Frame
from facts.errors import UsageError

#: A configuration's evidence when none is wanted.
NO_EVIDENCE = {"shuffles": 0, "resamples": 0, "stability": False}


@dataclass
class Configured:
    """A configuration, and what of it is code."""

    config: dict[str, Any]
    #: What is said of single features, without making a list of them.
    overrides: dict[str, Any] = field(default_factory=dict)
    folder: str | None = None
    costs: dict[str, Callable[[Any, Any], Any]] = field(default_factory=dict)
    allowed: dict[str, Callable[[Any, Any], Any]] = field(default_factory=dict)


def configure(
    frame: Frame,
    *,
    protected: Any,
    features: Any,
    config: str | os.PathLike[str] | Mapping[str, Any] | None,
    sections: Mapping[str, Mapping[str, Any]],
    spec: str | None = None,
    read: Collection[str] | None = None,
) -> Configured:
    """Puts together what is said by a file, by keyword arguments and by the dtypes of a frame.

    ``read`` are the columns that the model reads, if that is known.
    """
    made = Configured({})
    made.config = _start(config, frame, made)
    if isinstance(config, (str, os.PathLike)):
        made.folder = os.path.dirname(os.path.abspath(config))
    if protected is not None:
        made.config["protected"] = {
            name: _section(options, f"protected[{name!r}]") for name, options in _by_name(protected).items()
        }
    if isinstance(features, Mapping):
        for name, options in _by_name(features).items():
            made.overrides[name] = _feature(name, options, made)
    for section, options in sections.items():
        said = {_key(key): _plain(value) for key, value in options.items() if value is not None}
        if said:
            made.config.setdefault(section, {}).update(said)
    if features is not None and not isinstance(features, Mapping):
        _restrict(made, list(_by_name(features)), frame, spec, read)
    # What is in memory is what it is: " A" and "A" are two values unless somebody says otherwise.
    made.config.setdefault("data", {}).setdefault("trim", False)
    _take_orders(made, frame)
    if not made.config.get("protected"):
        raise UsageError(
            "no protected attribute is named; whose recourse is to be compared? give "
            f"protected=COLUMN; the table has: {', '.join(frame.names)}"
        )
    return made


def hidden(config: Mapping[str, Any]) -> frozenset[str]:
    """Columns that are not for the model: weights, the outcome, what is ignored."""
    data = config.get("data", {})
    named = {data.get("weight"), config.get("label", {}).get("column"), *data.get("ignore", [])}
    return frozenset(name for name in named if name is not None)


def _restrict(made: Configured, names: list[str], frame: Frame, spec: str | None, read: Collection[str] | None) -> None:
    """Makes these columns the features. What a file says of them stays, and the rest is guessed."""
    if not names:
        raise UsageError("features is an empty list; name the columns that people differ in")
    config = made.config
    said = config.pop("features", {})
    config["features"] = {name: said[name] for name in names if name in said}
    for name in names:
        if name not in said:
            made.overrides.setdefault(name, {})
    data = config.setdefault("data", {})
    taken = {*names, *config.get("protected", {}), *data.get("context", []), *hidden(config)}
    taken.add(config.get("model", {}).get("check"))
    others = [name for name in frame.names if name not in taken]
    # A model that is fitted here is fitted on the features; any other sees what it reads, or the whole table.
    if (spec or config.get("model", {}).get("spec")) == "train":
        read = []
    for key, is_read in (("context", True), ("ignore", False)):
        data[key] = [*data.get(key, []), *(name for name in others if (read is None or name in read) == is_read)]


def _start(config: str | os.PathLike[str] | Mapping[str, Any] | None, frame: Frame, made: Configured) -> dict[str, Any]:
    if config is None:
        return {}
    if isinstance(config, Mapping):
        started = {name: _whole(name, options, made) for name, options in config.items()}
    else:
        started = json.loads(_facts.read_config(os.fspath(config)))
    # The table and where results go are given in Python.
    started.get("data", {}).pop("path", None)
    started.get("report", {}).pop("out", None)
    # A table for a model seldom holds the outcome, which only base rates would need.
    if started.get("label", {}).get("column", "") not in frame.names:
        started.pop("label", None)
    return dict(started)


def _whole(name: str, options: Any, made: Configured) -> dict[str, Any]:
    """One table of a configuration; those of features and protected attributes hold tables."""
    options = _mapping(options, f"config[{name!r}]")
    if name == "features":
        return {str(f): _feature(f, said, made) for f, said in options.items()}
    if name == "protected":
        return {str(p): _section(said, f"config['protected'][{p!r}]") for p, said in options.items()}
    return _section(options, f"config[{name!r}]")


def _by_name(names: Any) -> dict[str, Any]:
    """Options by the name of a column, as text: pandas has columns that are called 0, 1, 2."""
    if isinstance(names, Mapping):
        return {str(name): options for name, options in names.items()}
    if isinstance(names, str) or not isinstance(names, Iterable):
        names = [names]
    return {str(name): {} for name in names}


def _feature(name: str, options: Mapping[str, Any], made: Configured) -> dict[str, Any]:
    said = dict(_mapping(options, f"features[{name!r}]"))
    if callable(said.get("cost")):
        made.costs[name] = said.pop("cost")
    if "allowed" in said:
        rule = said.pop("allowed")
        if not callable(rule):
            raise UsageError(f"features[{name!r}]: `allowed` must be a function of two levels")
        made.allowed[name] = rule
    return _section(said, f"features[{name!r}]")


def _take_orders(made: Configured, frame: Frame) -> None:
    """Columns whose dtype has an order are ordinal, unless something else is said."""
    config = made.config
    data, listed = config.get("data", {}), config.get("features", {})
    taken = {*config.get("protected", {}), *data.get("context", []), *data.get("ignore", [])}
    taken |= {data.get("weight"), config.get("label", {}).get("column")}
    for name, order in frame.orders().items():
        if name in taken or (listed and name not in {*listed, *made.overrides}):
            continue
        said = {**listed.get(name, {}), **made.overrides.get(name, {})}
        if not {"kind", "order", "quantiles", "equal-width", "edges"} & said.keys():
            made.overrides.setdefault(name, {})["order"] = order


def _mapping(options: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(options, Mapping):
        raise UsageError(f"{where} must be a mapping of options, not {type(options).__name__}")
    return options


def _section(options: Mapping[str, Any], where: str) -> dict[str, Any]:
    options = _mapping(options, where)
    return {str(_key(key)): _plain(value) for key, value in options.items()}


def _key(key: str) -> str:
    return key.replace("_", "-") if isinstance(key, str) and key.isidentifier() else key


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return str(value).replace("T", " ")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        if np.isnan(value):
            raise UsageError("NaN is no value that a configuration could hold")
        return "inf" if value > 0 else "-inf"
    if isinstance(value, (str, bool, int, float)) or value is None:
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray)) or hasattr(value, "__iter__"):
        return [_plain(inner) for inner in value]
    return str(value)
