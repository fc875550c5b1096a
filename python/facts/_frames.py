"""Tables of pandas, polars and pyarrow: to the engine, and back in the type that came in.

The engine speaks of *levels*, the model of rows. Each adapter hands its table to the engine once,
and turns the engine's rows back into a frame of the same type, with the same columns in the same
order and of the same dtypes, for the model to answer.
"""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from facts import _engines
from facts._facts import Batch, Labels, Table
from facts.errors import DataError, UsageError

#: The key of the metadata by which a table of profiles is known.
PROFILES = "facts.profiles"

# The name of a table that comes from memory, in records and reports.
_NAME = "a {} in memory"


class Frame(ABC):
    """A table of one library."""

    #: The library, and what `Audit.load` calls it.
    kind: str
    #: The names of the columns.
    names: list[str]
    #: The columns that the model sees, in its order.
    seen: list[str]
    #: The table as it was read, if its distinct rows came from elsewhere.
    read: Table | None = None
    #: Whether rows of the engine may have text by number, as dictionary arrays.
    takes_codes: bool = False

    @abstractmethod
    def table(self) -> Table:
        """The table for the engine."""

    @abstractmethod
    def rows(self, batch: Batch) -> Any:
        """Rows of the engine as a frame of the type that came in."""

    @abstractmethod
    def orders(self) -> dict[str, list[str]]:
        """The order of levels, lowest first, of the columns whose dtype has one."""

    @abstractmethod
    def values(self, column: str) -> Mapping[str, Any] | None:
        """The values of a column by label; None for plain numbers and text."""

    @abstractmethod
    def has_missing(self, column: str) -> bool:
        """Whether somebody has no value."""

    @abstractmethod
    def is_float(self, column: str) -> bool:
        """Whether a column holds numbers that are not whole by type."""


def frame(X: Any) -> Frame:
    """The adapter for a table."""
    if isinstance(X, Frame):
        return X
    X = native(X)
    return next(adapter(X) for name, adapter in _ADAPTERS.items() if _is_of(X, name))


def header(X: Any) -> Frame:
    """The names of the columns of a table that lies in an engine, as a frame without rows."""
    import pyarrow as pa

    return ArrowFrame(pa.table([pa.array([], pa.string()) for _ in _engines.names(X)], names=_engines.names(X)))


class TableInEngine:
    """A table that lies in an engine, as :meth:`Table.grouped` asks for it. The columns that are ``left`` are empty
    here: nobody reads them."""

    def __init__(self, X: Any, left: Collection[str] = ()) -> None:
        self.X = X
        self.left = left
        #: The rows that were given last.
        self.frame: ArrowFrame | None = None

    def rows(self, cuts: Sequence[_engines.Cut], most: int) -> tuple[Any, str, str | None]:
        """The distinct rows with their counts, numbers cut, the column of counts, and what to say if they are too many."""
        import pyarrow as pa

        rows, count, too_many = _engines.grouped(_engines.coarse(self.X, cuts), self.left, most)
        names = _engines.names(self.X)
        columns = [pa.nulls(rows.num_rows, pa.string()) if n in self.left else rows.column(n) for n in names]
        found = (CountedFrame if _has_pandas() else ArrowFrame)(pa.table(columns, names=names))
        self.frame = found
        called = _engines.free("count", names)
        counts = pa.array(rows.column(count).to_numpy().astype(np.uint64))
        return found.X.append_column(called, counts), called, too_many

    def numbers(self, column: str) -> Iterator[tuple[Any, Any]]:
        """The distinct numbers of a column, ascending, with how many rows hold each, in parts."""
        return _engines.numbers(self.X, column)


def _has_pandas() -> bool:
    from importlib.util import find_spec

    return "pandas" in sys.modules or find_spec("pandas") is not None


def native(X: Any) -> Any:
    """A table as a frame of pandas, polars or pyarrow."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.LazyFrame):
        return X.collect()
    if any(_is_of(X, name) for name in _ADAPTERS):
        return X
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        import pyarrow as pa

        try:
            return pa.table(X) if hasattr(X, "__arrow_c_stream__") else pa.record_batch(X)
        except (pa.ArrowException, TypeError, ValueError):
            pass  # a column rather than a table
    raise TypeError(
        "X must be a table with named columns: a pandas or polars DataFrame, a pyarrow Table, or "
        f"anything that speaks the Arrow PyCapsule interface; this is a {type(X).__name__}"
    )


def is_column(values: Any) -> bool:
    """Whether this holds a value a row: a Series, a numpy or Arrow array; a list holds names."""
    is_array = isinstance(values, np.ndarray) or hasattr(values, "__arrow_c_array__")
    is_series = hasattr(values, "__arrow_c_stream__") or type(values).__name__ == "Series"
    return (is_array or is_series) and not hasattr(values, "columns")


def with_column(X: Any, values: Any) -> tuple[Any, str, bool]:
    """A table of :func:`native` with a column of these values, its name, and whether it is new."""
    name = str(getattr(values, "name", None) or "protected")
    if len(values) != len(X) or getattr(values, "ndim", 1) != 1:
        raise UsageError(f"protected has {len(values):,} values, and X has {len(X):,} rows: give one a row")
    is_pandas = _is_of(X, "pandas")
    if is_pandas and hasattr(values, "iloc") and not values.index.equals(X.index):
        raise UsageError(
            "protected has another index than X, so it may stand in another order; if it stands in "
            "the order of X, give protected.to_numpy()"
        )
    names = [str(column) for column in (X.schema.names if _is_of(X, "pyarrow") else X.columns)]
    if name in names:
        own = X.iloc[:, names.index(name)] if is_pandas else X[name]
        if _listed(own) != _listed(values):
            raise UsageError(f"X has a column `{name}` with other values than protected; rename one")
        return X, name, False
    if is_pandas:
        return X.assign(**{name: getattr(values, "array", values)}), name, True
    if _is_of(X, "polars"):
        import polars as pl

        return X.with_columns(pl.Series(name, values)), name, True
    import pyarrow as pa

    return X.append_column(name, pa.array(_listed(values))), name, True


def _listed(values: Any) -> list[Any]:
    """Values as Python has them; what is missing is None."""
    how = next(way for way in ("to_pylist", "to_list", "tolist") if hasattr(values, way))
    return [None if value != value else value for value in getattr(values, how)()]


def result(batch: Batch, kind: str) -> Any:
    """A table of the engine as a frame of a library."""
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(batch)
    if kind == "pyarrow":
        import pyarrow as pa

        return pa.table(batch)
    if kind != "pandas":
        raise UsageError(f"there are frames of pandas, polars and pyarrow; `{kind}` is none of them")
    import pandas as pd

    columns: dict[str, Any] = {}
    for place, name in enumerate(batch.names):
        if batch.is_text(place):
            columns[name] = batch.texts(place)
            continue
        values, missing = batch.numpy(place)
        if missing is not None and values.dtype.kind == "f":
            values[missing] = np.nan
        elif missing is not None:
            values = pd.array(values, dtype="boolean" if values.dtype.kind == "b" else "UInt64")
            values[missing] = pd.NA
        elif values.dtype.kind == "u":
            values = values.astype(np.int64)
        columns[name] = values
    return pd.DataFrame(columns)


def stacked(frames: Sequence[Any], kind: str) -> Any:
    """Frames of a library, one after the other."""
    if len(frames) == 1:
        return frames[0]
    if kind == "polars":
        import polars as pl

        return pl.concat(frames)
    if kind == "pyarrow":
        import pyarrow as pa

        return pa.concat_tables(frames)
    import pandas as pd

    return pd.concat(frames, ignore_index=True)


def default_kind() -> str:
    """The library for results when no table came in: the first that is there."""
    from importlib.util import find_spec

    for kind in ("pandas", "polars", "pyarrow"):
        if kind in sys.modules or find_spec(kind) is not None:
            return kind
    raise UsageError("tables need a library: install pandas, polars or pyarrow")


def _is_of(X: Any, name: str) -> bool:
    """Whether this is a table of a library."""
    library = sys.modules.get(name)
    if library is None:
        return False
    return isinstance(X, (library.Table, library.RecordBatch) if name == "pyarrow" else library.DataFrame)


def _table(X: Any, what: str) -> Table:
    try:
        return Table.from_arrow(X, _NAME.format(what))
    except (TypeError, ValueError) as error:
        raise DataError(f"the table cannot be read: {error}") from error


def _labels(values: Sequence[Any], column: str) -> list[str]:
    """Labels of distinct values; where two read alike, they say more about themselves."""
    labels = [str(value) for value in values]
    if len(set(labels)) == len(labels):
        return labels
    counted: dict[str, int] = {}
    for label in labels:
        counted[label] = counted.get(label, 0) + 1
    labels = [
        f"{label} ({type(value).__name__})" if counted[label] > 1 else label
        for label, value in zip(labels, values, strict=True)
    ]
    if len(set(labels)) < len(labels):
        raise DataError(f"column `{column}` has different values that read alike; turn it into text first")
    return labels


def _check_names(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f"two columns are called `{name}`; rename one of them")
        seen.add(name)


# What a Boolean column's labels stand for.
_TRUTHS = {"false": False, "true": True}


@contextmanager
def _reading(column: str, dtype: object) -> Iterator[None]:
    """Whatever a library cannot do with a column is told by its name."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        raise DataError(
            f"column `{column}` ({dtype}) cannot be read: {error}; turn it into text or numbers first"
        ) from error


class _Coded:
    """A column that the engine gets as labels, with the way back."""

    def __init__(self, codes: Any, labels: list[str], back: Callable[[Any], Any]) -> None:
        self.codes = codes
        self.labels = labels
        self.places = Labels(labels)
        self.back = back
        self.order: list[str] | None = None
        self.values: dict[str, Any] | None = None


class _Plain:
    """A column of numbers or Booleans, with the way back."""

    def __init__(self, values: Any, missing: Any, back: Callable[[Any, Any], Any]) -> None:
        self.values = values
        self.missing = missing
        self.back = back


class PandasFrame(Frame):
    """A pandas DataFrame."""

    kind = "pandas"
    takes_codes = True

    def __init__(self, X: Any) -> None:
        self.names = [str(name) for name in X.columns]
        _check_names(self.names)
        self.seen = self.names
        self.header = X.columns
        self.length = len(X)
        self.columns: list[_Coded | _Plain] = []
        for place, name in enumerate(self.names):
            series = X.iloc[:, place]
            with _reading(name, series.dtype):
                self.columns.append(self._column(name, series))

    def _column(self, name: str, series: Any) -> _Coded | _Plain:
        import pandas as pd

        dtype = series.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            return self._categorical(name, series)
        if isinstance(dtype, pd.IntervalDtype):
            # In order of the numbers, as if it had been cut into ordered categories.
            coded = self._categorical(name, series.astype("category").cat.as_ordered())
            inner = coded.back
            coded.back = lambda codes: pd.arrays.IntervalArray(inner(codes), dtype=dtype)
            return coded
        is_number = pd.api.types.is_bool_dtype(dtype) or (
            pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype)
        )
        if isinstance(dtype, pd.SparseDtype):
            return self._column(name, series.sparse.to_dense())
        if is_number and isinstance(dtype, np.dtype):
            values = series.to_numpy()
            # What does not fit into 64 bits with a sign has labels instead.
            if dtype.kind != "u" or not len(values) or values.max() < 2**63:
                return self._numpy(values.astype(dtype.newbyteorder("="), copy=False))
        elif is_number and "decimal" not in str(dtype):
            return self._nullable(series)
        return self._other(name, series)

    @staticmethod
    def _categorical(name: str, series: Any) -> _Coded:
        import pandas as pd

        dtype = series.dtype
        values = list(dtype.categories)
        labels = _labels(values, name)
        codes = series.cat.codes.to_numpy().astype(np.int32)
        coded = _Coded(codes, labels, lambda codes: pd.Categorical.from_codes(codes, dtype=dtype))
        coded.order = labels if dtype.ordered else None
        coded.values = dict(zip(labels, values, strict=True))
        return coded

    @staticmethod
    def _numpy(values: Any) -> _Plain:
        dtype = values.dtype
        if dtype.kind == "f":
            wide = values if dtype in (np.float32, np.float64) else values.astype(np.float64)
            missing = np.isnan(wide)

            def back(numbers: Any, gaps: Any) -> Any:
                if gaps is not None:
                    numbers[gaps] = np.nan
                return numbers.astype(dtype, copy=False)

            return _Plain(wide, missing if missing.any() else None, back)
        return _Plain(values, None, lambda numbers, _: numbers.astype(dtype, copy=False))

    @staticmethod
    def _nullable(series: Any) -> _Plain:
        import pandas as pd

        dtype = series.dtype
        missing = series.isna().to_numpy(dtype=bool)
        if pd.api.types.is_bool_dtype(dtype):
            plain: Any = np.bool_
        elif pd.api.types.is_float_dtype(dtype):
            plain = np.float64
        elif pd.api.types.is_unsigned_integer_dtype(dtype):
            plain = np.uint64
        else:
            plain = np.int64
        values = series.to_numpy(dtype=plain, na_value=plain(0))

        def back(numbers: Any, gaps: Any) -> Any:
            column = pd.array(numbers, dtype=dtype)
            if gaps is not None:
                column[gaps] = pd.NA
            return column

        return _Plain(values, missing if missing.any() else None, back)

    @staticmethod
    def _other(name: str, series: Any) -> _Coded:
        import pandas as pd

        codes, uniques = pd.factorize(series)
        values = list(uniques)
        # None and NaN are both missing, and a model may know only one of them.
        gaps = series[series.isna()]
        is_numpy = isinstance(series.dtype, np.dtype) and series.dtype.kind not in "mM"
        taken = np.asarray(uniques, dtype=series.dtype) if is_numpy else uniques.array

        def back(places: Any) -> Any:
            if not is_numpy:
                return pd.api.extensions.take(taken, places, allow_fill=True)
            if len(taken) == 0:
                cells = np.full(len(places), gaps.iloc[0], dtype=series.dtype)
            else:
                cells = taken[places]
            if len(gaps):
                cells[places < 0] = gaps.iloc[0]
            # As a series, or pandas would guess what kind of objects these are.
            return pd.Series(cells, dtype=series.dtype, copy=False)

        coded = _Coded(codes.astype(np.int32), _labels(values, name), back)
        if not all(isinstance(value, str) for value in values):
            coded.values = dict(zip(coded.labels, values, strict=True))
        return coded

    def table(self) -> Table:
        columns = [
            (name, column.codes, column.labels, None)
            if isinstance(column, _Coded)
            else (name, column.values, None, column.missing)
            for name, column in zip(self.names, self.columns, strict=True)
        ]
        return Table.from_columns(columns, self.length, _NAME.format("pandas DataFrame"))

    def rows(self, batch: Batch) -> Any:
        import pandas as pd

        own = [self.names.index(name) for name in self.seen]
        cells: dict[int, Any] = {}
        for target, (name, column) in enumerate((self.names[i], self.columns[i]) for i in own):
            place = batch.names.index(name)
            if isinstance(column, _Coded):
                cells[target] = column.back(batch.codes(place, column.places))
            elif batch.is_text(place):
                # The model sees the names of bins in the place of numbers.
                cells[target] = batch.texts(place)
            else:
                cells[target] = column.back(*batch.numpy(place))
        rows = pd.DataFrame(cells, index=pd.RangeIndex(len(batch)), copy=False)
        rows.columns = self.header.take(own)
        return rows

    def orders(self) -> dict[str, list[str]]:
        return {
            name: column.order
            for name, column in zip(self.names, self.columns, strict=True)
            if isinstance(column, _Coded) and column.order is not None
        }

    def values(self, column: str) -> Mapping[str, Any] | None:
        found = self.columns[self.names.index(column)]
        if isinstance(found, _Coded):
            return found.values
        return _TRUTHS if found.values.dtype == bool else None

    def has_missing(self, column: str) -> bool:
        found = self.columns[self.names.index(column)]
        if isinstance(found, _Coded):
            return bool((found.codes < 0).any())
        return found.missing is not None

    def is_float(self, column: str) -> bool:
        found = self.columns[self.names.index(column)]
        return isinstance(found, _Plain) and found.values.dtype.kind == "f"


class PolarsFrame(Frame):
    """A polars DataFrame."""

    kind = "polars"

    def __init__(self, X: Any) -> None:
        import polars as pl

        self.schema = X.schema
        self.names = self.seen = list(X.schema)
        # Dates and the like have no place in the engine: it gets their labels.
        self.others: dict[str, tuple[Any, Labels, dict[str, Any]]] = {}
        for name, dtype in X.schema.items():
            if self._is_plain(X[name]):
                continue
            with _reading(name, dtype):
                values = X[name].drop_nulls().unique(maintain_order=True)
                labels = _labels(values.to_list(), name)
                by_label = dict(zip(labels, values.to_list(), strict=True))
                self.others[name] = (values, Labels(labels), by_label)
                places = {value: place for place, value in enumerate(values.to_list())}
                texts = [None if v is None else labels[places[v]] for v in X[name].to_list()]
                X = X.with_columns(pl.Series(name, texts, dtype=pl.String))
        self.X = X

    @staticmethod
    def _is_plain(column: Any) -> bool:
        """Whether the engine reads a column as it is."""
        import polars as pl

        dtype = column.dtype
        if dtype == pl.UInt64:
            return len(column) == 0 or (column.max() or 0) < 2**63
        wide = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)
        plain = (pl.Float32, pl.Float64, pl.Boolean, pl.String, pl.Categorical, pl.Enum)
        return dtype in (*wide, *plain)

    def table(self) -> Table:
        return _table(self.X, "polars DataFrame")

    def rows(self, batch: Batch) -> Any:
        import polars as pl

        rows = pl.DataFrame(batch)
        for name in self.others.keys() & set(self.seen):
            values, labels, _ = self.others[name]
            codes = pl.Series(batch.codes(batch.names.index(name), labels))
            places = codes.set(codes < 0, None)
            rows = rows.with_columns(values.gather(places).alias(name))
        # A model that sees bins gets their names in the place of numbers.
        numbers = {name for name in self.seen if self.schema[name].is_numeric()}
        named = {name for name in numbers if rows.schema[name] == pl.String}
        return rows.select(self.seen).cast({name: self.schema[name] for name in self.seen if name not in named})

    def orders(self) -> dict[str, list[str]]:
        import polars as pl

        return {name: dtype.categories.to_list() for name, dtype in self.schema.items() if isinstance(dtype, pl.Enum)}

    def values(self, column: str) -> Mapping[str, Any] | None:
        import polars as pl

        if column in self.others:
            return self.others[column][2]
        return _TRUTHS if self.schema[column] == pl.Boolean else None

    def has_missing(self, column: str) -> bool:
        return bool(self.X[column].null_count())

    def is_float(self, column: str) -> bool:
        return bool(self.schema[column].is_float())


class ArrowFrame(Frame):
    """A pyarrow Table or RecordBatch."""

    kind = "pyarrow"

    def __init__(self, X: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        # What facts.profiles made says which column counts, and what was cut: the engine reads it.
        self.profiles = (X.schema.metadata or {}).get(PROFILES.encode())
        self.names = list(X.schema.names)
        if self.profiles is not None:
            self.names.remove(json.loads(self.profiles)["count"])
        self.seen = list(self.names)
        _check_names(self.names)
        self.is_batch = isinstance(X, pa.RecordBatch)
        self.schema = X.schema
        self.others: dict[str, tuple[Any, Labels, dict[str, Any]]] = {}
        if self.is_batch:
            X = pa.Table.from_batches([X])
        for place, field in enumerate(X.schema):
            dtype = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            known = (
                pa.types.is_integer(dtype)
                or pa.types.is_boolean(dtype)
                or dtype in (pa.float32(), pa.float64())
                or dtype in (pa.string(), pa.large_string(), pa.string_view())
            )
            if dtype == pa.uint64() and X.num_rows:
                known = (pc.max(X.column(place)).as_py() or 0) < 2**63
            if known:
                continue
            with _reading(field.name, field.type):
                column = X.column(place).combine_chunks()
                if pa.types.is_dictionary(field.type):
                    column = column.dictionary_decode()
                values = pc.drop_null(pc.unique(column))
                labels = _labels(values.to_pylist(), field.name)
                by_label = dict(zip(labels, values.to_pylist(), strict=True))
                self.others[field.name] = (values, Labels(labels), by_label)
                texts = pa.array(labels, pa.string()).take(pc.index_in(column, values))
                X = X.set_column(place, field.name, texts)
        self.X = X

    def table(self) -> Table:
        return _table(self.X, "pyarrow Table") if self.read is None else self.read

    def rows(self, batch: Batch) -> Any:
        import pyarrow as pa

        rows = pa.table(batch)
        columns, fields = [], []
        for field in (self.schema.field(name) for name in self.seen):
            if field.name in self.others:
                values, labels, _ = self.others[field.name]
                codes = batch.codes(batch.names.index(field.name), labels)
                column = values.take(pa.array(codes, mask=codes < 0))
            else:
                column = rows.column(field.name)
                if _is_number(field.type) and pa.types.is_string(column.type):
                    # The model sees the names of bins in the place of numbers.
                    field = field.with_type(column.type)
            fields.append(field)
            if pa.types.is_dictionary(field.type) and not pa.types.is_dictionary(column.type):
                column = column.cast(field.type.value_type).dictionary_encode()
            columns.append(column.cast(field.type))
        schema = pa.schema(fields, metadata=self.schema.metadata)
        table = pa.table(columns, schema=schema)
        if not self.is_batch:
            return table
        batches = table.combine_chunks().to_batches()
        return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=schema)

    def orders(self) -> dict[str, list[str]]:
        import pyarrow as pa

        orders = {}
        for field in self.schema:
            if pa.types.is_dictionary(field.type) and field.type.ordered:
                chunks = self.X.column(field.name).unify_dictionaries().chunks
                if chunks:
                    orders[field.name] = [str(v) for v in chunks[0].dictionary.to_pylist()]
        return orders

    def values(self, column: str) -> Mapping[str, Any] | None:
        import pyarrow as pa

        if column in self.others:
            return self.others[column][2]
        return _TRUTHS if pa.types.is_boolean(self.schema.field(column).type) else None

    def has_missing(self, column: str) -> bool:
        return bool(self.X.column(column).null_count)

    def is_float(self, column: str) -> bool:
        import pyarrow as pa

        return bool(pa.types.is_floating(self.schema.field(column).type))


class CountedFrame(ArrowFrame):
    """Distinct rows that came from an engine as Arrow. The audit reads them as they are; a model gets pandas frames."""

    kind = "pandas"

    def __init__(self, X: Any) -> None:
        import pyarrow as pa

        for place, field in enumerate(X.schema):
            if pa.types.is_dictionary(field.type):
                X = X.set_column(place, field.name, X.column(place).cast(field.type.value_type))
        super().__init__(X)
        # What pandas makes of a whole column: numbers and truths are other things to it where some are missing.
        some = (pa.nulls(int(column.null_count > 0), column.type) for column in X.columns)
        dtypes = [pa.table([column], names=["_"]).to_pandas().dtypes["_"] for column in some]
        self.dtypes = dict(zip(self.names, dtypes, strict=True))

    def rows(self, batch: Batch) -> Any:
        table = super().rows(batch)
        rows = table.to_pandas()
        own = [name for name in self.seen if table.schema.field(name).type == self.schema.field(name).type]
        other = {name: self.dtypes[name] for name in own if rows[name].dtype != self.dtypes[name]}
        return rows.astype(other) if other else rows


def _is_number(kind: Any) -> bool:
    """Whether a type of Arrow is one of numbers."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


_ADAPTERS: dict[str, Callable[[Any], Frame]] = {
    "pandas": PandasFrame,
    "polars": PolarsFrame,
    "pyarrow": ArrowFrame,
}
