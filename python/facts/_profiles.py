"""Profiles: a table as its distinct rows and how many rows each stands for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from facts import _engines, _facts
from facts.errors import DataError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa


def profiles(
    X: Any,
    protected: str | Sequence[str],
    *,
    label: str | None = None,
    weight: str | None = None,
    bins: Mapping[str, int | Sequence[float]] | None = None,
    bins_from: str | os.PathLike[str] | None = None,
    suppress_below: int | None = None,
) -> pa.Table:
    """Counts the distinct rows of a table where it lies.

    What comes back is a table in the format of ``facts profiles`` (docs/profiles.md): written with
    ``pyarrow.parquet.write_table`` it can be merged and audited by the command, and
    :func:`facts.audit` takes it as it is.

    Args:
        X: An Ibis table or a PySpark DataFrame, of which ``select()`` has left the columns that
            matter; or a table in memory (pandas, pyarrow), which DuckDB groups through Ibis.
        protected: The column, or the columns, whose values are the groups that are compared.
        label: The column that holds what really happened.
        weight: The column that says how many people a row stands for.
        bins: Columns of numbers to cut: into so many bins by quantiles, or at these numbers. Each
            bin ends at a cut and holds it. The model then sees the names of bins.
        bins_from: A file of profiles: columns that were cut for it are cut where they were, so that the two can be
            merged.
        suppress_below: Leave out profiles of fewer rows than this. Bins by quantiles then end at numbers
            that at least so many rows share, or at rounded ones.

    Raises:
        UsageError: What was asked for cannot be done.
        DataError: The table cannot be counted.
    """
    import pyarrow as pa

    if not _engines.is_table(X):
        X = _in_memory(X)
    names = [str(column) for column in X.columns]
    groups = [protected] if isinstance(protected, str) else list(protected)
    roles: dict[str, str] = dict.fromkeys(groups, "protected")
    for column, role in ((label, "label"), (weight, "weight")):
        if column is not None:
            roles[column] = role
    for name in (*roles, *(bins or {})):
        if name not in names:
            raise UsageError(f"there is no column `{name}`; the table has: {', '.join(names)}")
    cut = _bins(X, bins, bins_from, suppress_below)
    X = _engines.cut(X, cut)
    rows, count, too_many = _engines.grouped(X)
    if too_many is not None:
        raise DataError(too_many)
    table = _facts.Table.from_arrow(rows, _engines.name(X), count)
    kept = [(name, roles.get(name, "feature"), cut.get(name)) for name in names]
    made, key, manifest = table.profiles(kept, suppress_below)
    return pa.table(made).replace_schema_metadata({key: manifest})


def _in_memory(X: Any) -> Any:
    """A table in memory as DuckDB sees it through Ibis."""
    try:
        import ibis
    except ImportError as error:
        raise UsageError(
            "profiles of a table in memory need ibis-framework[duckdb]; install it, or use the command"
        ) from error
    return ibis.memtable(X)


#: The bins of each column that is cut: the cuts between them, and their names.
_Bins = dict[str, tuple[Sequence[float], Sequence[str]]]


def _bins(
    X: Any,
    bins: Mapping[str, int | Sequence[float]] | None,
    bins_from: str | os.PathLike[str] | None,
    suppress_below: int | None,
) -> _Bins:
    """The bins that were asked for, placed over the table's numbers or taken from other profiles."""
    if bins_from is not None:
        if bins is not None:
            raise UsageError("bins and bins_from both say where to cut; give one of them")
        known = _facts.bins_of(os.fspath(bins_from))
        taken: _Bins = {name: known[name] for name in _engines.names(X) if name in known}
        # What holds anything but finite numbers is refused.
        _engines.how_many(X, list(taken))
        return taken
    said = {column: _said(column, how) for column, how in (bins or {}).items()}
    held = _engines.how_many(X, list(said))
    cuts = {column: _cuts(X, column, how, held[column], suppress_below) for column, how in said.items()}
    return {column: (at, _facts.bin_names(at)) for column, at in cuts.items()}


def _said(column: str, how: int | Sequence[float]) -> int | list[float]:
    """How a column is to be cut, checked as far as that goes without the table."""
    if isinstance(how, int):
        if how < 1:
            raise UsageError(f"{how} bins of `{column}` were asked for; ask for at least 1")
        return how
    cuts = [float(cut) for cut in how]
    if not cuts or any(not a < b for a, b in zip(cuts, cuts[1:], strict=False)):
        raise UsageError(f"bins of `{column}` are cut at {cuts}; give numbers that ascend")
    return cuts


def _cuts(X: Any, column: str, how: int | list[float], rows: int, suppress_below: int | None) -> list[float]:
    if not isinstance(how, int):
        return how
    if suppress_below is not None and rows:
        # A quantile is a number that somebody holds: it is taken among numbers that so many share.
        held, rows_of = (np.concatenate(parts) for parts in zip(*_engines.numbers(X, column), strict=True))
        return _facts.quantile_cuts(column, held, rows_of, how, suppress_below, _engines.is_whole(X, column))
    # A quantile lies at a row, or between it and the next.
    ranks: set[int] = set()
    for edge in range(how + 1 if rows else 0):
        rank, rest = divmod(edge * (rows - 1), how)
        ranks |= {rank, rank + 1} if rest else {rank}
    numbers, people = _engines.at_ranks(X, column, sorted(ranks))
    return _facts.quantile_cuts(column, numbers, people, how)
