"""Audits: made, loaded, asked."""

from __future__ import annotations

import json
import operator
import os
import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, overload

import numpy as np

from facts import _compare, _engines, _facts, _frames, _gate, _html, _models, _plot
from facts._answer import Story, Verdict
from facts._compare import Comparison
from facts._config import NO_EVIDENCE, Configured, configure, hidden
from facts._gate import Gate
from facts._levels import of_levels
from facts._options import OPTIONS
from facts._progress import Tell, teller
from facts.errors import FactsWarning, UsageError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from typing_extensions import Unpack

    from facts._options import Name, Options

#: The frames of a library: those that an audit was given, and gives back.
F = TypeVar("F")
F_co = TypeVar("F_co", covariant=True)


class _Lazy(Protocol[F_co]):
    """A frame that is yet to be collected."""

    def collect(self) -> F_co: ...


@overload
def audit(model: Any, X: _Lazy[F], protected: Any = None, **options: Unpack[Options]) -> Audit[F]: ...
@overload
def audit(model: Any, X: F, protected: Any = None, **options: Unpack[Options]) -> Audit[F]: ...
def audit(
    model: Any,
    X: Any,
    protected: Any = None,
    *,
    favourable: Any = None,
    # What people can change
    features: Sequence[Name] | Mapping[Any, Any] | Name | None = None,
    context: Sequence[Name] | Name | None = None,
    missing_codes: Sequence[str] | str | None = None,
    # Other columns
    weight: Name | None = None,
    label: Name | None = None,
    label_favourable: Any = None,
    # How the model is asked
    threshold: float | None = None,
    model_columns: Sequence[Name] | None = None,
    batch_rows: int | None = None,
    # Which subgroups are looked at
    support: float | str | None = None,
    validity: str | None = None,
    ranges: bool | None = None,
    max_length: int | None = None,
    min_members: int | None = None,
    max_subgroups: int | None = None,
    min_group_size: int | None = None,
    compare: Sequence[Any] | None = None,
    suppress_below: int | None = None,
    allow_dropped: float | None = None,
    # What is reported
    definitions: Sequence[str] | str | None = None,
    phi: Sequence[float] | float | None = None,
    budgets: Sequence[float] | float | None = None,
    # What tells findings from chance
    evidence: bool = True,
    alpha: float | None = None,
    shuffles: int | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    stability: bool | None = None,
    hold_out: float | bool | None = None,
    # How it runs
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    max_memory_mib: int | None = None,
    threads: int | None = None,
    progress: bool | Tell | None = None,
    keep_people: bool = False,
) -> Any:
    """Audits whether the way out of a model's refusal is as open to one group as to another.

    Four arguments make an audit; the others are there when you need them, in groups below. Columns
    are named by text, or by the numbers that pandas may call them.

    **The essentials**

    Args:
        model: What is audited. Anything with a ``predict`` method (scikit-learn, LightGBM, XGBoost,
            CatBoost, …); any function that takes a frame like ``X`` and gives one class a row; or a
            string as on the command line, such as ``"onnx:model.onnx"``, ``"lightgbm:model.txt"``
            or ``"train"``, which fits a logistic regression to ``label``; None takes the one that
            ``config`` names. A model in Python is called with frames of the type and dtypes of
            ``X``, in large batches, with each distinct row once.
        X: The people, one a row: a pandas or polars DataFrame, a polars LazyFrame (which is
            collected), a pyarrow Table, or anything that speaks the Arrow PyCapsule interface. An Ibis
            table or a PySpark DataFrame is grouped where it lies: only its distinct rows and their
            counts come here. ``select()`` the columns that matter first, unless ``features`` is a list
            and the model tells which columns it reads.
        protected: The column whose values are the groups that are compared; several columns are
            crossed. A Series or an array holds the values themselves, one a row, for a table without
            them; the model does not see them. A mapping gives options, such as
            ``{"race": {"merge": {"Non-White": ["Black", "*"]}}}``.
        favourable: Which outcome is good: the class that is a yes, in the model's answers and in
            ``label``. Every output says what a yes means. If it is not given, 1 or True is taken for
            it, with a :class:`facts.FactsWarning`.

    **What people can change**

    Args:
        features: Which columns people differ in and may change. A list chooses them, and keeps what
            is guessed about each; a mapping says more about some, with the keys of ``facts.toml``:
            ``{"age": {"quantiles": 5, "only": "increase", "weight": 10}}``. ``cost`` may be a
            function of the level left and the level reached, ``allowed`` a function that says whether
            that transition is possible; they get the column's own values, numbers, or a
            :class:`facts.Bin`. What is not said is guessed and noted.
        context: Columns that the model sees and the audit does not speak of.
        missing_codes: Values that stand for "missing", such as ``"?"``, beside those that are guessed.
            An empty list says that there are none, and nothing is guessed.

    **Other columns**

    Args:
        weight: The column that says how many people a row stands for.
        label: The column that holds what really happened: for ``"train"``, and for base rates.
        label_favourable: Its favourable value, where that is not called like the model's class.

    **How the model is asked**

    Args:
        threshold: The answer is favourable above this probability. A classifier is asked by
            ``predict_proba`` for the probability of ``favourable``; a function, or a ``predict`` that
            answers with numbers, must give that probability. A model that gives classes only is refused.
        model_columns: The columns that the model gets, in its order. Default those that it was fitted
            on, if it has ``feature_names_in_``; else all but those named as weight or label.
        batch_rows: How many rows a model is sent at a time. Default 65,536.

    **Which subgroups are looked at**

    Args:
        support: The least share of each group, and of those who succeed, that makes a combination
            frequent. Default 0.01, or the least at which no more than 50,000 subgroups are found;
            ``notes`` say so.
        validity: ``"joint"`` (default) or ``"subset"``: whether what stays must be common too among
            those who succeed.
        ranges: Whether subgroups may be ranges (``age >= 30``) of ordered features.
        max_length: The most conditions of a subgroup. Default no limit, unless there are too many
            subgroups at every support; ``notes`` say so.
        min_members: The fewest people of a subgroup in each group compared. Default 20.
        max_subgroups: Fail if there are more subgroups than this. Default a million.
        min_group_size: Set groups with fewer affected people aside, and name them.
        compare: Compare these groups only.
        suppress_below: Let people who are alike share rows, at least so many of a group, so that
            nothing that is reported tells of fewer.
        allow_dropped: The share of the people that may be dropped for missing values; if there are more,
            the audit stops. Default 0.05.

    **What is reported**

    Args:
        definitions: What is reported, such as ``["equal-choice:0.7"]``. Default the paper's twelve.
        phi: Effectivenesses for definitions that leave φ open. Default 0.3 and 0.7.
        budgets: Costs for definitions within a budget. Default chosen from the data.

    **What tells findings from chance**

    Args:
        evidence: Whether to gather it: tests and intervals. False gathers none, which is quicker.
        alpha: How often, at most, chance alone may pass for a finding. Default 0.05.
        shuffles: How many permutations each subgroup is tested with; 0 tests nothing. Default
            1,000.
        resamples: How often members are drawn again for intervals; 0 gives none. Default 1,000.
        seed: The seed of all random draws: the same seed gives the same evidence.
            Default 1.
        stability: Whether to audit again under 20 other settings and samples, and tell where the first
            findings still hold. The model is asked again. Default no.
        hold_out: The share of the people among whom subgroups are found, to be tested among the others;
            True takes half. Default not done.

    **How it runs**

    Args:
        config: A ``facts.toml``, or a mapping with its keys; arguments win over it.
        max_memory_mib: Fail, with advice, before the audit takes more memory than this (in MiB).
        threads: How many threads to work with. The results are the same whatever the number.
        progress: None shows tqdm's bars where somebody can see them, True always, False never; a
            function is called with (phase, done, total).
        keep_people: Whether to keep the people in memory, to compare the audit with another of the same
            people (:meth:`Audit.compare`). They are never saved.

    Returns:
        What was found: counts and no rows, unless ``keep_people``. A count, the name of a level or an extreme
        number can still be about one person, unless ``suppress_below`` says otherwise.

    Raises:
        UsageError: What was asked for cannot be done.
        DataError: The table cannot be audited.
        ModelError: The model failed, and what it raised is the cause; or it reads columns that the
            table lacks.

    Warns:
        FactsWarning: People were left out, or something was assumed that nobody said.

    Example:
        >>> import facts, pandas as pd
        >>> people = pd.DataFrame({
        ...     "job": ["clerk", "clerk", "clerk", "clerk", "manager", "manager"],
        ...     "city": ["A", "B", "A", "B", "A", "B"],
        ...     "sex": ["Female", "Female", "Male", "Male", "Female", "Male"],
        ... })
        >>> def model(rows):  # managers get a yes, but women only in city A
        ...     return (rows.job == "manager") & ((rows.city == "A") | (rows.sex == "Male"))
        >>> audit = facts.audit(model, people, protected="sex", favourable=True, support=0.1, min_members=1)
        >>> print(audit.rank().subgroup[0])
        job = clerk
    """
    said = dict(locals())
    asked = _asked(model, X, protected, {name: value for name, value in said.items() if name in OPTIONS})
    tell, close = teller(progress)
    try:
        found = _facts.audit(
            asked.frame.table(),
            json.dumps(asked.made.config),
            json.dumps(asked.made.overrides),
            asked.made.folder,
            asked.spec,
            asked.ask,
            asked.costs,
            asked.rules,
            tell,
            keep_people,
        )
    finally:
        close()
    made_audit: Audit[Any] = Audit(found, asked.frame.kind)
    for warning in made_audit._to_know():
        warnings.warn(warning, FactsWarning, stacklevel=2)
    return made_audit


@dataclass(frozen=True)
class Asked:
    """An audit as the engine takes it."""

    frame: _frames.Frame
    made: Configured
    #: The model's string, or the function over batches with its name, the columns that it reads, and whether it
    #: takes text by number.
    spec: str | None
    ask: tuple[Any, str, list[str], bool] | None
    #: What is said of this model alone, among several.
    own: dict[str, Any]
    costs: dict[str, Any]
    rules: dict[str, Any]


def _asked(
    model: Any,
    X: Any,
    protected: Any,
    options: Mapping[str, Any],
    among: Sequence[Any] | None = None,
    own: Mapping[str, Any] = MappingProxyType({}),
) -> Asked:
    """What ``options`` say of the audit of a model, and of those that are audited with it. ``own`` is said of it alone."""
    said, among = _said(options), [model] if among is None else among
    if said.model_columns is not None and all(one is None or isinstance(one, str) for one in among):
        raise UsageError("model_columns is for models in Python; config={'model': {'order': …}} is for files")
    added = set[str]()
    if isinstance(X, _frames.Frame) or _engines.is_table(X):
        if _frames.is_column(protected):
            raise UsageError("X lies in an engine: protected must name one of its columns")
        frame = X if isinstance(X, _frames.Frame) else _fetched(among, X, protected, options)
    else:
        X = _frames.native(X)
        if _frames.is_column(protected):
            X, protected, is_new = _frames.with_column(X, protected)
            added = {protected} if is_new else added
        frame = _frames.frame(X)
    is_string = isinstance(model, str) or model is None
    made = _configured(model, frame, protected, said, _read(among, said))
    of_one = {name: _class(value) for name, value in own.items()}
    of_model = {**made.config.get("model", {}), **of_one}
    ask = None
    if not is_string:
        frame.seen = _models.columns(model, frame, said.model_columns, hidden(made.config) | added)
        # The engine gets the classes that it makes of probabilities.
        threshold = of_one.pop("threshold", said.threshold)
        threshold = of_model.get("threshold") if threshold is None else threshold
        ask = (
            _models.asker(model, frame, threshold, of_model.get("favourable")),
            _models.describe(model, threshold),
            frame.seen,
            frame.takes_codes,
        )
    costs, rules = (
        {name: of_levels(f, _known(frame, name), _has_missing(frame, name)) for name, f in given.items()}
        for given in (made.costs, made.allowed)
    )
    return Asked(frame, made, model if is_string else None, ask, of_one, costs, rules)


def _said(options: Mapping[str, Any]) -> SimpleNamespace:
    """Every option: what was not given is as if it were not there."""
    return SimpleNamespace(**{**dict.fromkeys(OPTIONS), "evidence": True, **options})


def _read(models: Sequence[Any], said: SimpleNamespace) -> set[str] | None:
    """The columns that some of the models read; None if one of them could read anything."""
    read = [_reads(model, said) for model in models]
    return None if None in read else set().union(*(known for known in read if known is not None))


def _reads(model: Any, said: SimpleNamespace) -> list[str] | None:
    # What a file reads is known when it is opened.
    return None if isinstance(model, str) or model is None else _models.known(model, said.model_columns)


def _configured(
    model: Any, frame: _frames.Frame, protected: Any, said: SimpleNamespace, read: Collection[str] | None
) -> Configured:
    """The configuration of the audit of a model, of those that read these columns."""
    is_string = isinstance(model, str) or model is None
    favourable, label_favourable = _class(said.favourable), _class(said.label_favourable)
    made = configure(
        frame,
        protected=protected,
        features=said.features,
        config=said.config,
        spec=model if isinstance(model, str) else None,
        read=read,
        sections={
            "data": {
                "context": _names(said.context),
                "weight": _name(said.weight),
                "missing_codes": _many(said.missing_codes),
            },
            "model": {
                "favourable": favourable,
                "threshold": said.threshold if is_string else None,
                "batch_rows": said.batch_rows,
            },
            "label": {
                "column": _name(said.label),
                "favourable": _of_label(frame, _name(said.label), label_favourable, favourable),
            },
            "audit": {
                "support": _decimal(said.support),
                "validity": said.validity,
                "ranges": said.ranges,
                "max_length": said.max_length,
                "min_members": said.min_members,
                "max_subgroups": said.max_subgroups,
                "max_memory_mib": said.max_memory_mib,
                "min_group_size": said.min_group_size,
                "compare": None if said.compare is None else [_group(one) for one in _many(said.compare) or []],
                "suppress_below": said.suppress_below,
                "allow_dropped": said.allow_dropped,
                "threads": said.threads,
            },
            "report": {
                "definitions": _many(said.definitions),
                "phi": None if said.phi is None else [_decimal(one) for one in _many(said.phi) or []],
                "budgets": _many(said.budgets),
            },
            "evidence": _evidence(
                said.evidence,
                alpha=said.alpha,
                shuffles=said.shuffles,
                resamples=said.resamples,
                seed=said.seed,
                stability=said.stability,
                hold_out=said.hold_out,
            ),
        },
    )
    if not said.evidence:
        # Whatever a file says.
        made.config["evidence"].pop("hold-out", None)
    if model is None and "spec" not in made.config.get("model", {}):
        raise UsageError("no model is given, and the configuration names none")
    return made


def _fetched(models: Sequence[Any], X: Any, protected: Any, options: Mapping[str, Any]) -> _frames.Frame:
    """The distinct rows of a table in an engine, as the audits of these models need them."""
    frame, said, model = _frames.header(X), _said(options), models[0]
    made = _configured(model, frame, protected, said, _read(models, said))
    table = _frames.TableInEngine(X, _left(models, X, protected, options))
    read = _facts.Table.grouped(
        table,
        _engines.name(X),
        json.dumps(made.config),
        json.dumps(made.overrides),
        made.folder,
        model if isinstance(model, str) else None,
        _reads(model, said),
        len(models) == 1,
    )
    assert table.frame is not None, "rows were asked for"
    table.frame.read = read
    return table.frame


def _left(models: Sequence[Any], X: Any, protected: Any, options: Mapping[str, Any]) -> set[str]:
    """The columns of a table in an engine that none of the models reads and the audit does not speak of."""
    frame, said = _frames.header(X), _said(options)
    read = _read(models, said)
    made = ((_reads(model, said), _configured(model, frame, protected, said, read)) for model in models)
    return set.intersection(*(_left_by(own, configured, frame.names) for own, configured in made))


def _left_by(read: Collection[str] | None, made: Configured, names: Sequence[str]) -> set[str]:
    """The same of one model."""
    config, data = made.config, made.config.get("data", {})
    of_model, label = config.get("model", {}), config.get("label", {}).get("column")
    left = set(data.get("ignore", []))
    if read is not None and label is not None and config.get("features"):
        # Features are listed, and others are none. Without a label the audit would look for one among them.
        taken = {*config["features"], *made.overrides, *config["protected"], *data.get("context", []), *read, label}
        left |= set(names) - taken - {data.get("weight"), of_model.get("check")}
    # By these columns rows are left out.
    left -= {name for key in ("keep", "cut", "replace") for name in data.get(key, {})}
    return left.intersection(names)


@overload
def load(path: str | os.PathLike[str], frames: Literal["pandas"]) -> Audit[pd.DataFrame]: ...
@overload
def load(path: str | os.PathLike[str], frames: Literal["polars"]) -> Audit[pl.DataFrame]: ...
@overload
def load(path: str | os.PathLike[str], frames: Literal["pyarrow"]) -> Audit[pa.Table]: ...
@overload
def load(path: str | os.PathLike[str], frames: str | None = None) -> Audit[Any]: ...
def load(path: str | os.PathLike[str], frames: str | None = None) -> Any:
    """Reads a saved audit: the file, or the folder that ``facts audit --out`` or `Audit.save` wrote.

    Args:
        path: ``audit.json.gz``, or the folder it lies in.
        frames: Which library's frames it gives: ``"pandas"``, ``"polars"`` or ``"pyarrow"``. Default
            the first of them that is installed.
    """
    kind = frames or _frames.default_kind()
    if kind not in ("pandas", "polars", "pyarrow"):
        raise UsageError(f"there are frames of pandas, polars and pyarrow; `{kind}` is none of them")
    return Audit(_facts.load(os.fspath(path)), kind)


def _known(frame: _frames.Frame, name: str) -> Mapping[str, Any] | None:
    # Of a column that is not there, the engine says so.
    return frame.values(name) if name in frame.names else None


def _has_missing(frame: _frames.Frame, name: str) -> bool:
    return name in frame.names and frame.has_missing(name)


def _class(favourable: Any) -> Any:
    """A class as both Booleans and numbers name it: True, 1 and 1.0 are one."""
    if isinstance(favourable, np.generic):
        favourable = favourable.item()
    is_whole = isinstance(favourable, float) and favourable.is_integer()
    return int(favourable) if is_whole or isinstance(favourable, bool) else favourable


def _name(column: Any) -> str | None:
    return None if column is None else str(column)


def _names(columns: Any) -> list[str] | None:
    return None if columns is None else [str(column) for column in _many(columns) or []]


def _group(name: Any) -> str:
    return str(name).lower() if isinstance(name, bool) else str(name)


def _of_label(frame: _frames.Frame, label: str | None, own: Any, favourable: Any) -> Any:
    """A label's favourable value as its column writes it: 1 is 1.0 among floats, and true among truths."""
    if own is None and label is not None:
        own = favourable
    if not isinstance(own, int) or label is None or label not in frame.names:
        return own
    if frame.is_float(label):
        return str(float(own))
    is_truth = bool in map(type, (frame.values(label) or {}).values())
    return ("false", "true")[own] if is_truth and own in (0, 1) else own


def _evidence(wanted: bool, **said: Any) -> dict[str, Any]:
    """What is said about evidence, as a configuration has it."""
    if not wanted:
        given = [name for name, value in said.items() if value is not None]
        if given:
            raise UsageError(f"evidence=False gathers none, so {', '.join(given)} would say nothing")
        return dict(NO_EVIDENCE)
    hold_out = said.pop("hold_out")
    if isinstance(hold_out, bool):
        hold_out = 0.5 if hold_out else None
    return {**said, "hold_out": hold_out}


def _many(value: Any) -> list[Any] | None:
    """One of something as a list of one."""
    if value is None:
        return None
    is_one = isinstance(value, str) or not hasattr(value, "__iter__")
    return [value] if is_one else list(value)


def _decimal(number: float | str | None) -> str | None:
    """Supports and φ are decimals as they were written."""
    return None if number is None else str(number)


class Audit(Generic[F]):
    """What an audit found: subgroups, actions, and how they compare under each definition.

    Made by :func:`facts.audit` or :func:`facts.load`. Every table is a frame of the type that was
    audited. A *definition* is written as on the command line: ``"equal-effectiveness:micro"``,
    ``"equal-cost-of-effectiveness:macro:0.3"``; where one leaves φ, a budget or the viewpoint open,
    all that fit are meant. ``"paper"`` stands for the paper's twelve columns.

    A *subgroup* is named by its place in :attr:`table`, by its predicate
    (``"city = B, job = clerk"``, in any order) or by the id of one of its findings.
    """

    def __init__(self, found: _facts.Audit, frames: str) -> None:
        self._found = found
        self._frames = frames

    # What it is about

    @cached_property
    def about(self) -> dict[str, Any]:
        """Groups, sizes, settings, notes, model and data: everything but the findings."""
        about: dict[str, Any] = json.loads(self._found.about())
        return about

    @property
    def groups(self) -> list[str]:
        """The groups that are compared."""
        return [group["name"] for group in self.about["groups"]]

    @property
    def favourable(self) -> str:
        """What a yes means: which answer of the model is the good outcome."""
        about = self.about
        if training := about["model"].get("training"):
            return f"{training['label']} = {training['favourable'].strip()}"
        said = about["settings"]["favourable"]
        return f"the model answers {'1 (or true)' if said == 'positive' else said['class']}"

    @property
    def left_out(self) -> list[str]:
        """Whom the audit leaves out, and why, in words; empty if nobody."""
        of = self.about["population"]
        features = ", ".join(f"{name} ({rows:,})" for name, rows in of["dropped_for"])
        reasons = {
            f"a value is missing in {features}": of["dropped"],
            "the protected value is missing": of["excluded"],
            "the weight is 0": of["weightless"],
        }
        rows = of["rows"]
        return [
            *(note for note in self.about["notes"] if "were left out before" in note),
            *(f"{n:,} of {rows:,} rows ({n / rows:.1%}) are left out: {why}" for why, n in reasons.items() if n),
        ]

    @property
    def notes(self) -> list[str]:
        """What the auditor should know about how it was made: what a yes means, who is left out, guesses."""
        notes = [f"Yes means: {self.favourable}", *self.left_out, *self.about["notes"]]
        return list(dict.fromkeys(notes))

    @property
    def definitions(self) -> dict[str, str]:
        """The definitions that it is reported by, with their titles."""
        return dict(self._found.definitions())

    @property
    def budgets(self) -> list[float]:
        """Budgets chosen from the data: what it costs until half of a group achieves recourse."""
        return self._found.budgets()

    # The answer

    @cached_property
    def _answer(self) -> dict[str, Any]:
        told = self._found.answer()
        if told is None:
            raise UsageError("this audit was saved before there was an answer; make it again to have one")
        answer: dict[str, Any] = json.loads(told)
        return answer

    @property
    def verdict(self) -> Verdict:
        """Whether it is fair, to whom not, and what that rests on."""
        return Verdict.of(self._answer)

    @property
    def people(self) -> F:
        """Who is refused and who has a way out, by group: counts, share with its interval, costs."""
        return self._frame(self._found.answer_sheet("people"))

    @property
    def stories(self) -> list[Story]:
        """Few findings about different people, that stand for all that pass; most people at a loss first."""
        return [Story.of(row) for row in self._answer["stories"]]

    @property
    def drivers(self) -> F:
        """Which characteristics go with the gap: global Shapley values of items, the widest first."""
        return self._frame(self._found.answer_sheet("drivers"))

    @property
    def gaps(self) -> F:
        """How the groups of each subgroup compare: difference and ratio of the shares with a way, with their
        intervals; how wide the gap is at most; and what is shown: unfair, fair within δ, or nothing."""
        return self._frame(self._found.answer_sheet("gaps"))

    @property
    def pairs(self) -> F:
        """Which groups differ, where there are three or more: the pairs of groups of every finding that passes
        for all definitions together, each with its test. Without rows where there are two groups."""
        return self._frame(self._found.answer_sheet("pairs"))

    def plot_people(self, ax: Any = None) -> Any:
        """Draws, by group, the share of the refused who have a way out, with its interval."""
        return _plot.plot_people(self._answer["people"], ax)

    def plot_story(self, number: int, ax: Any = None) -> Any:
        """Draws the effectiveness–cost distributions of a story's subgroup.

        Args:
            number: The story's number, from 1.
            ax: Axes to draw on. Default new ones.

        Returns:
            The axes.
        """
        stories = self.stories
        if not 1 <= number <= len(stories):
            raise UsageError(f"there is no story {number}: this audit has {len(stories)}")
        return self.plot_ecd(stories[number - 1].subgroup, ax=ax)

    # Tables

    @property
    def subgroups(self) -> F:
        """All subgroups by all definitions: value of each group, score, rank, against whom."""
        return self._frame(self._found.subgroups(list(self.definitions)))

    @property
    def actions(self) -> F:
        """All pairs of a subgroup and a valid action: cost, members flipped, effectiveness."""
        return self._frame(self._found.actions())

    def rank(
        self,
        definition: str | None = None,
        n: int | None = None,
        *,
        drop_fair: bool = False,
        passing: bool = False,
    ) -> F:
        """The subgroups by a definition, most unfair first, with the p-values of those tested.

        Args:
            definition: Which; see :class:`Audit`. Default the first that :meth:`show` shows: Equal
                Effectiveness (micro), unless others were named when the audit was made. One that leaves
                φ, a budget or the viewpoint open gives one ranking after the other, told apart by the
                column ``definition``.
            n: How many of each ranking. Default all.
            drop_fair: Leave out those with score 0.
            passing: Leave out those that do not pass: that chance alone could show.
        """
        _check_number(n)
        if passing:
            self._gathered("tests")
        ids = self._found.expand(self._headlines()[0] if definition is None else definition)
        rankings: list[Any] = []
        for id in ids:
            ranked: Any = self._frame(self._found.subgroups([id]))
            if drop_fair:
                ranked = _where_ranked(ranked, self._frames)
            if passing:
                ranked = _where_passing(ranked, self._frames)
            rankings.append(ranked if n is None else ranked[:n])
        stacked: F = _frames.stacked(rankings, self._frames)
        return stacked

    def table(self, shows: str = "score", definitions: Sequence[str] | str | None = None) -> F:
        """A row for each subgroup, a column for each of the twelve definitions.

        Args:
            shows: ``"score"``, ``"rank"`` (missing where fair), ``"against"``, or a p-value: ``"p"``
                (alone), ``"family_wise"`` (among all subgroups of the definition),
                ``"false_discovery"``; missing where nothing was tested.
            definitions: Which columns. Default those that the audit is reported by.
        """
        return self._frame(self._found.by_definition(self._ids(definitions), shows))

    def ranking_analysis(self, definitions: Sequence[str] | str | None = None) -> F:
        """How many subgroups share rank 1, and against whom the findings are, by definition."""
        return self._frame(self._found.ranking_analysis(self._ids(definitions)))

    def aggregated_rankings(self, definitions: Sequence[str] | str | None = None) -> F:
        """Where the first of each definition (rows) stand under the others (columns), from 0 to 1."""
        return self._frame(self._found.aggregated_rankings(self._ids(definitions)))

    def ecd(self, subgroup: int | str) -> F:
        """The effectiveness–cost distributions of a subgroup, micro and macro, group by group."""
        return self._frame(self._found.distributions(self._place(subgroup)))

    def plot_ecd(self, subgroup: int | str, viewpoint: str = "micro", ax: Any = None) -> Any:
        """Draws the effectiveness–cost distributions of a subgroup with matplotlib.

        Args:
            subgroup: Which; see :class:`Audit`.
            viewpoint: ``"micro"`` (each chooses their own action) or ``"macro"`` (one for all).
            ax: Axes to draw on. Default new ones.

        Returns:
            The axes.
        """
        place = self._place(subgroup)
        title = f"If {self._found.text(place)}"
        return _plot.plot_ecd(self._found.distributions(place), viewpoint, title, ax)

    # Evidence

    @property
    def evidence(self) -> dict[str, Any] | None:
        """How evidence was gathered (seed, α, shuffles, …); None if none was."""
        about: dict[str, Any] | None = self.about["evidence"]
        return about

    def tests(self, definitions: Sequence[str] | str | None = None) -> F:
        """How many findings of each definition stand: family-wise (they pass), and by false discovery rate.

        ``powerless`` counts subgroups in which no score could pass, because members are too few or too
        alike in what helps them: "no finding" must not be read as "fair". The p-values are in :meth:`rank`.
        """
        self._gathered("tests")
        return self._frame(self._found.evidence(self._ids(definitions), "tests"))

    def intervals(self, definitions: Sequence[str] | str | None = None) -> F:
        """Bootstrap intervals of the first findings: of score, gap and each group's value."""
        self._gathered("intervals")
        return self._frame(self._found.evidence(self._ids(definitions), "intervals"))

    def stability(self, definitions: Sequence[str] | str | None = None) -> F:
        """How the first findings fare under other settings and samples: a row a finding and variant."""
        self._gathered("stability")
        return self._frame(self._found.evidence(self._ids(definitions), "stability"))

    def hold_out(self, definitions: Sequence[str] | str | None = None) -> F:
        """Findings of one part of the people, tested among the others: what is left of each score."""
        self._gathered("hold_out")
        return self._frame(self._found.evidence(self._ids(definitions), "hold_out"))

    # Words

    def show(
        self,
        n: int = 3,
        definitions: Sequence[str] | str | None = None,
        **choice: Any,
    ) -> None:
        """Prints the worst subgroups as comparative subgroup counterfactuals.

        Args:
            n: How many of each definition.
            definitions: Which. Default three that ask who gets out at all, what it costs, and how much
                choice there is; or those that were named when the audit was made.
            choice: What to leave out, as on the command line: ``drop_fair`` (True),
                ``drop_contained``, ``against="Female"``, ``all_actions``, ``at_least=0.3``
                (effectiveness), ``at_most=10`` (cost), ``least_cost``,
                ``where="occupation = Sales and age"``, ``passing`` (only findings that pass), ``order="score"``
                (the paper's; default most people at a loss first, when chance is given its due).
        """
        chosen = _choice(n, choice)
        ids = self._ids(self._headlines() if definitions is None else definitions)
        text = self._found.findings(ids, chosen, sys.stdout.isatty())
        print(text, end="")

    def explain(self, subgroup: int | str) -> str:
        """One subgroup under all definitions, in words: value of each group, score, rank, against."""
        return self._found.subgroup(self._place(subgroup))

    def summary(self) -> str:
        """The answer, then groups, sizes and how each definition ranks, in words."""
        answer = self._found.first_screen(False)
        return f"{answer}\n{self._found.overview(False)}"

    def diff(self, older: Audit[Any], n: int = 10, *, same_people: bool = False) -> str:
        """Which findings appeared, vanished, grew or shrank since an older audit by more than chance, in words."""
        return str(self.compare(older, same_people=same_people, n=n))

    def compare(
        self,
        older: Audit[Any],
        *,
        same_people: bool = False,
        alpha: float | None = None,
        n: int = 10,
    ) -> Comparison:
        """What changed since an older audit by more than chance.

        Args:
            older: The older audit.
            same_people: Whether to compare two models on the same people, by those whose answer changed:
                that shows smaller changes. Both audits must be made with ``keep_people=True``, of the same
                table. Without it the audits are compared as two samples.
            alpha: How often, at most, chance alone may be said to have changed anything. Default that of
                this audit.
            n: How many findings of each sort the words list.
        """
        return _compare.compare(self._found, older._found, same_people, alpha, n)

    def check(
        self,
        config: str | os.PathLike[str] | None = None,
        *,
        rules: Sequence[Mapping[str, Any]] | None = None,
        baseline: str | os.PathLike[str] | Literal[False] | None = None,
        update_baseline: bool = False,
    ) -> Gate:
        """Whether the audit meets the rules of a release, as ``facts check`` tells it.

        Args:
            config: The ``facts.toml`` with rules, waivers and the place of the baseline; the one in this
                folder if there is one.
            rules: Rules in place of those, such as ``[{"min_ratio": 0.8}]``; ``docs/check.md`` has all keys.
                Without any there is one: no story against anybody.
            baseline: What was accepted before: only what is new or has grown since counts. The one of the
                configuration unless said; ``False`` for none.
            update_baseline: Write a baseline that accepts what is found.

        Returns:
            A :class:`facts.Gate`, which is true if it passed, and says why as text.
        """
        return _gate.check(self, config, rules=rules, baseline=baseline, update_baseline=update_baseline)

    # Files

    @overload
    def to_html(self, path: None = None) -> str: ...
    @overload
    def to_html(self, path: str | os.PathLike[str]) -> None: ...
    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Writes everything as one page for a browser; without a path, gives it back."""
        return self._write("html", path)

    @overload
    def to_json(self, path: None = None, n: int = 10) -> str: ...
    @overload
    def to_json(self, path: str | os.PathLike[str], n: int = 10) -> None: ...
    def to_json(self, path: str | os.PathLike[str] | None = None, n: int = 10) -> str | None:
        """Writes the summary and the top findings as JSON; without a path, gives it back."""
        return self._write("json", path, n)

    @overload
    def to_markdown(self, path: None = None, n: int = 10) -> str: ...
    @overload
    def to_markdown(self, path: str | os.PathLike[str], n: int = 10) -> None: ...
    def to_markdown(self, path: str | os.PathLike[str] | None = None, n: int = 10) -> str | None:
        """Writes the summary and the top findings as Markdown; without a path, gives it back."""
        return self._write("markdown", path, n)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the audit, for :func:`facts.load` and ``facts show``.

        A path that ends in ``.json.gz`` becomes one file. Any other is a folder, which gets the audit
        and every form of report, as ``facts audit --out`` writes them.
        """
        if not str(path):
            raise UsageError("save needs a path: a file that ends in .json.gz, or a folder")
        self._found.save(os.fspath(path), not str(path).endswith(".json.gz"))

    @staticmethod
    def load(path: str | os.PathLike[str], frames: str | None = None) -> Audit[Any]:
        """Reads a saved audit; see :func:`facts.load`."""
        return load(path, frames)

    # Notebooks and consoles

    def _repr_html_(self) -> str:
        return _html.summary(self)

    def __repr__(self) -> str:
        about = self.about
        groups = " against ".join(self.groups) if len(self.groups) == 2 else ", ".join(self.groups)
        return (
            f"<facts.Audit of {about['model']['description']}: {groups}, "
            f"{about['subgroups']:,} subgroups, {about['sizes']['pairs']:,} pairs>"
        )

    def __reduce__(self) -> tuple[Any, tuple[bytes, str]]:
        return _unpacked, (self._found.pack(), self._frames)

    def __len__(self) -> int:
        return int(self.about["subgroups"])

    # Inside

    def _gathered(self, part: str) -> None:
        """Says how to get evidence that is not there."""
        found = self.evidence or {}
        key = {"stability": "variants"}.get(part, part)
        if not found.get(key):
            how = {"stability": "stability=True", "hold_out": "hold_out=True"}.get(part, "evidence=True")
            name = part.replace("_", "-")
            raise UsageError(f"no {name} in this audit; facts.audit(..., {how}) gathers it")

    def _frame(self, batch: _facts.Batch) -> F:
        frame: F = _frames.result(batch, self._frames)
        return frame

    def _headlines(self) -> list[str]:
        """The definitions that are shown first."""
        own = list(self.definitions)
        return list(_facts.HEADLINES) if own == self._found.expand("paper") else own

    def _to_know(self) -> list[str]:
        """What must not go unseen: who is left out, and what nobody said."""
        told = self.left_out
        if guesses := [note for note in self.about["notes"] if "taken" in note or "Assumed" in note]:
            told.append(f"guessed, and for you to check (features= says otherwise): {'; '.join(guesses)}")
        return told

    def _ids(self, definitions: Sequence[str] | str | None) -> list[str] | None:
        if definitions is None:
            return None
        wanted = [definitions] if isinstance(definitions, str) else definitions
        ids = [id for one in wanted for id in self._found.expand(one)]
        return list(dict.fromkeys(ids))

    def _place(self, subgroup: int | str) -> int:
        if isinstance(subgroup, str):
            return self._found.find(subgroup)
        try:
            place = operator.index(subgroup)
        except TypeError:
            raise UsageError(f"a subgroup is named by text or by its place, not {subgroup!r}") from None
        if place < 0:
            raise IndexError(f"subgroups are numbered from 0; {place} is none")
        return place

    def _worst(self, definition: str, n: int) -> list[dict[str, Any]]:
        batch = self._found.subgroups([definition])
        names = batch.names
        scores = batch.numpy(names.index("score"))[0]
        texts = batch.texts(names.index("subgroup"))
        against = batch.texts(names.index("against"))
        found: list[dict[str, Any]] = []
        for i in range(min(n, len(batch))):
            if scores[i] > 0:
                one = {"subgroup": texts[i], "score": float(scores[i]), "against": against[i]}
                found.append({**one, **_tested(batch, i)})
        return found

    def _write(self, form: str, path: str | os.PathLike[str] | None, n: int = 10) -> str | None:
        page = self._found.form(form, None, _choice(n, {}))
        if path is None:
            return page.decode()
        _facts.write(os.fspath(path), page)
        return None


def _unpacked(packed: bytes, frames: str) -> Audit[Any]:
    """An audit that was pickled."""
    return Audit(_facts.unpack(packed), frames)


def _check_number(n: int | None) -> None:
    if n is not None and (not isinstance(n, (int, np.integer)) or n < 0):
        raise UsageError(f"how many? give a whole number from 0 up, not {n!r}")


_CHOICE: dict[str, Any] = {
    "drop_fair": True,
    "drop_contained": False,
    "against": None,
    "all_actions": False,
    "at_least": None,
    "at_most": None,
    "least_cost": False,
    "where": None,
    "passing": False,
    "order": "people",
}


def _choice(n: int, choice: Mapping[str, Any]) -> dict[str, Any]:
    _check_number(n)
    for name in choice:
        if name not in _CHOICE:
            raise UsageError(f"`{name}` is no way to choose findings; there are: {', '.join(_CHOICE)}")
    chosen = {"top": n, **_CHOICE, **choice}
    chosen["at_least"] = _decimal(chosen["at_least"])
    chosen["against"] = None if chosen["against"] is None else _group(chosen["against"])
    return chosen


def _tested(batch: _facts.Batch, row: int) -> dict[str, Any]:
    """What the test of a row says; nothing where it was not tested."""
    names = batch.names
    if "passes" not in names:
        return {}
    values, missing = batch.numpy(names.index("family_wise"))
    if missing is not None and missing[row]:
        return {}
    passes, _ = batch.numpy(names.index("passes"))
    return {"family_wise": float(values[row]), "passes": bool(passes[row])}


def _where_passing(frame: Any, kind: str) -> Any:
    if kind == "polars":
        return frame.filter(frame["passes"].fill_null(False))
    if kind == "pyarrow":
        return frame.filter(frame["passes"])
    return frame[frame["passes"].fillna(False).astype(bool)]


def _where_ranked(frame: Any, kind: str) -> Any:
    if kind == "polars":
        return frame.filter(frame["rank"].is_not_null())
    if kind == "pyarrow":
        return frame.filter(frame["rank"].is_valid())
    return frame[frame["rank"].notna()]
