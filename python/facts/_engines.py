"""Tables that lie in an engine: grouped there, so that only distinct rows and their counts come here.

An Ibis table (DuckDB, DataFusion, Postgres, …) or a PySpark DataFrame is never collected. One query
counts how often each distinct row comes; what it gives is all that an audit needs.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from facts.errors import DataError, UsageError

#: More distinct rows than this are not fetched: an id or a continuous number is among the columns.
MOST = 20_000_000


def is_table(X: Any) -> bool:
    """Whether this is a table that lies in an engine."""
    return _is_ibis(X) or _is_spark(X)


def name(X: Any) -> str:
    """What such a table is called in records. Where it lies is nobody's business."""
    return f"an Ibis table in {X.get_backend().name}" if _is_ibis(X) else "a Spark DataFrame"


def names(X: Any) -> list[str]:
    """The names of its columns."""
    return [str(column) for column in X.columns]


def grouped(X: Any, left: Collection[str] = (), most: int | None = None) -> tuple[Any, str, str | None]:
    """The distinct rows as a pyarrow Table, the name of its last column, which counts them, and what to say if
    they are too many to be fetched.

    The columns that are ``left`` stay where they are, and keep no rows apart. Whoever could not use more than ``most``
    rows gets one more than that, at most.
    """
    columns = [name for name in names(X) if name not in left]
    if not columns:
        raise UsageError("the table has no columns")
    count = free("count", columns)
    # To an engine -0.0 and 0.0 are one number, and to a model they need not be: what tells them apart is a key, too.
    keys: dict[str, str] = {}
    for name in columns:
        if _is_float(X, name):
            keys[name] = free("is_below_zero", [*columns, count, *keys.values()])
    limit = MOST if most is None else min(most, MOST)
    if _is_ibis(X):
        import ibis

        wanted = X.select(*columns, **{key: _is_minus_zero(X, name) for name, key in keys.items()})
        query = wanted.group_by([*columns, *keys.values()]).aggregate(**{count: ibis._.count()})
        found = query.limit(limit + 1).to_pyarrow()
    else:
        from pyspark.sql import functions as F

        wanted = [_spark_column(name) for name in columns]
        wanted += [_is_minus_zero(X, name).alias(key) for name, key in keys.items()]
        query = X.groupBy(*wanted).agg(F.count(F.lit(1)).alias(count))
        found = query.limit(limit + 1).toArrow()
    too_many = None
    if found.num_rows > MOST:
        too_many = (
            f"the table has more than {MOST:,} distinct rows, so grouping saves nothing; select() the "
            "columns that the model reads, and cut continuous numbers into bins: by features=, for a model that does "
            "not read them or sees bins, or by bins= of facts.profiles"
        )
    for name, key in keys.items():
        place = found.column_names.index(name)
        found = found.set_column(place, name, _signed(found.column(name), found.column(key)))
    return found.select([*columns, count]).combine_chunks(), count, too_many


def how_many(X: Any, columns: Sequence[str]) -> dict[str, int]:
    """How many rows hold a number, column by column. What holds anything but finite numbers is refused."""
    for name in columns:
        if not _is_number(X, name):
            raise DataError(f"column `{name}` holds no numbers, so it cannot be cut")
    if not columns:
        return {}
    if _is_ibis(X):
        asked = [(_number(X, name), name) for name in columns]
        wanted = [(n.count(), n.isnan().ifelse(1, 0).sum(), n.isinf().ifelse(1, 0).sum()) for n, _ in asked]
        flat = [one.name(f"n{place}") for place, one in enumerate(one for three in wanted for one in three)]
        found = X.aggregate(flat).to_pyarrow()
    else:
        from pyspark.sql import functions as F

        flat = []
        for name in columns:
            number = _number(X, name)
            is_infinite = F.abs(number) == F.lit(float("inf"))
            flat += [F.count(number), F.count(F.when(F.isnan(number), 1)), F.count(F.when(is_infinite, 1))]
        found = X.agg(*(one.alias(f"n{place}") for place, one in enumerate(flat))).toArrow()
    [counts] = found.to_pylist()
    rows: dict[str, int] = {}
    for place, name in enumerate(columns):
        known, nan, infinite = (int(counts[f"n{3 * place + part}"] or 0) for part in range(3))
        if nan or infinite:
            what = "NaN" if nan else "an infinity"
            raise DataError(f"column `{name}`: {what} is not a finite number; make it null if it is missing")
        rows[name] = known
    return rows


def at_ranks(X: Any, column: str, ranks: Sequence[int]) -> tuple[list[float], list[int]]:
    """The numbers that the rows at some ranks hold (from 0, ascending; what is missing has none).

    Each comes with how many rows lie above the one before and up to it. The engine adds up how many
    rows hold each distinct number; only the numbers asked for come here.
    """
    found: dict[int, float] = {}
    for start in range(0, len(ranks), _RANKS):
        for number, minus, up_to in _at_ranks(X, column, ranks[start : start + _RANKS]):
            found[up_to] = -0.0 if minus else number + 0.0
    ends = sorted(found)
    return [found[end] for end in ends], [end - before for before, end in zip([0, *ends], ends, strict=False)]


#: So many ranks are asked for at a time: a condition each.
_RANKS = 64


def _at_ranks(X: Any, column: str, ranks: Sequence[int]) -> list[tuple[float, bool, int]]:
    held = _held(X, column)
    if _is_ibis(X):
        import ibis

        so_far = ibis.cumulative_window(order_by=[held.number, held.minus.desc()])
        summed = held.mutate(up_to=held.held.sum().over(so_far).cast("int64"))
        found = summed.filter(_any([_holds(summed.up_to, summed.held, rank) for rank in ranks]))
        table = found.select("number", "minus", "up_to").to_pyarrow()
    else:
        table = _at_ranks_in_spark(held, ranks)
    return [(row["number"], row["minus"], row["up_to"]) for row in table.to_pylist()]


def _at_ranks_in_spark(held: Any, ranks: Sequence[int]) -> Any:
    """The same on Spark: each part of the numbers is sorted by a task of its own, and begins where the one below ends."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    held = held.persist()
    try:
        held_in_parts = held.withColumn("part", _part(_bounds(held, _PARTS)))
        below = F.lit(0)
        for part, rows in held_in_parts.groupBy("part").agg(F.sum("held")).collect():
            below += F.when(F.col("part") > part, F.lit(rows)).otherwise(0)
        so_far = Window.partitionBy("part").orderBy("number", F.col("minus").desc())
        so_far = so_far.rowsBetween(Window.unboundedPreceding, Window.currentRow)
        summed = held_in_parts.withColumn("up_to", F.sum("held").over(so_far) + below)
        found = summed.where(_any([_holds(F.col("up_to"), F.col("held"), rank) for rank in ranks]))
        return found.select("number", "minus", "up_to").toArrow()
    finally:
        held.unpersist()


#: Into so many parts the numbers of a column are divided, to be sorted by as many tasks of Spark.
_PARTS = 32


def _bounds(held: Any, parts: int) -> list[float]:
    """About where numbers are divided into parts of one size. Any numbers would do."""
    shares = [part / parts for part in range(1, parts)]
    return sorted(set(held.approxQuantile("number", shares, 0.01))) if shares else []


def _part(bounds: Sequence[float]) -> Any:
    """The part that a number is in, from 0."""
    from pyspark.sql import functions as F

    part = F.lit(0)
    for bound in bounds:
        part += F.when(F.col("number") > bound, 1).otherwise(0)
    return part


def numbers(X: Any, column: str) -> Iterator[tuple[Any, Any]]:
    """The distinct numbers of a column, ascending, and how many rows hold each: numpy arrays, part by part."""
    held = _held(X, column)
    if _is_ibis(X):
        yield from map(_ascending, _pages(held))
        return
    from pyspark.sql import functions as F

    held = held.persist()
    try:
        bounds = _bounds(held, 1 + held.count() // _AT_A_TIME)
        for part in range(len(bounds) + 1):
            yield _ascending(held.where(_part(bounds) == F.lit(part)).toArrow())
    finally:
        held.unpersist()


#: About so many numbers are fetched at a time.
_AT_A_TIME = 4_000_000


def _pages(held: Any) -> Iterator[Any]:
    """The numbers of an Ibis table, ascending, in parts: what an engine gives is fetched whole."""
    import pyarrow.compute as pc

    while True:
        page = held.order_by("number").limit(_AT_A_TIME).to_pyarrow()
        if page.num_rows < _AT_A_TIME:
            yield page
            return
        last = page.column("number")[-1]
        # There are two zeros, of which the other may be yet to come.
        yield page.filter(pc.not_equal(page.column("number"), last))
        held = held.filter(held.number >= last.as_py())


def _ascending(held: Any) -> tuple[Any, Any]:
    number, minus, rows = (held.column(name).to_numpy(zero_copy_only=False) for name in ("number", "minus", "held"))
    number = np.where(minus, -0.0, number + 0.0)
    order = np.lexsort((~minus.astype(bool), number))
    return number[order], rows[order].astype(np.uint64)


def _held(X: Any, column: str) -> Any:
    """The distinct numbers of a column with how many rows hold each, as a table of the engine."""
    if _is_ibis(X):
        import ibis

        numbers = X.select(number=_number(X, column), minus=_is_minus_zero(X, column))
        numbers = numbers.filter(numbers.number.notnull())
        return numbers.group_by(["number", "minus"]).aggregate(held=ibis._.count())
    from pyspark.sql import functions as F

    numbers = X.select(_number(X, column).alias("number"), _is_minus_zero(X, column).alias("minus"))
    return numbers.where("number IS NOT NULL").groupBy("number", "minus").agg(F.count(F.lit(1)).alias("held"))


def _holds(up_to: Any, held: Any, rank: int) -> Any:
    """Whether the rows that hold a number, the last of so many, are at a rank."""
    return (up_to > rank) & (up_to - held <= rank)


def _any(conditions: Sequence[Any]) -> Any:
    """Whether one of them holds; nested as little as can be, for engines that mind."""
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return _any(conditions[:half]) | _any(conditions[half:])


def cut(X: Any, bins: Mapping[str, tuple[Sequence[float], Sequence[str]]]) -> Any:
    """The table with the labels of bins in the place of numbers: each bin ends at a cut and holds it.

    :func:`how_many` has seen that they are finite.
    """
    for column, (cuts, labels) in bins.items():
        # To DataFusion 0.0 is above a cut at -0.0, as nowhere else.
        pairs = [(float(end) + 0.0, label) for end, label in zip(cuts, labels, strict=False)]
        number = _number(X, column)
        if _is_ibis(X):
            import ibis

            cases = [(number <= end, label) for end, label in pairs]
            known = ibis.cases(*cases, else_=labels[-1]) if cases else ibis.literal(labels[-1])
            X = X.mutate(**{column: number.isnull().ifelse(ibis.null("string"), known)})
        else:
            from pyspark.sql import functions as F

            value = F.when(number.isNull(), F.lit(None).cast("string"))
            for end, label in pairs:
                value = value.when(number <= F.lit(end), F.lit(label))
            X = X.withColumn(column, value.otherwise(F.lit(labels[-1])))
    return X


#: What lies beyond this stays as it is, whatever bin it falls into: infinities, to be refused when people are taken in.
_GREAT = 1.7e308

#: Where a column is cut: its name, numbers that stay, the least number of all bins, and for each bin its end and the
#: number that stands for it.
Cut = tuple[str, Sequence[float], float, Sequence[tuple[float, float]]]


def coarse(X: Any, cuts: Sequence[Cut]) -> Any:
    """The table with one number for each bin in the place of numbers, as crates/sql has it for databases."""
    for column, stay, least, bins in cuts:
        number = _number(X, column)
        # What is not above the least number stays: it is that number, or in no bin. To DataFusion 0.0 is above -0.0.
        steps = [(number <= max(least, -_GREAT) + 0.0, number)]
        steps += [(number <= min(end, _GREAT) + 0.0, stands) for end, stands in bins if np.isfinite(stands)]
        if stay:
            steps.insert(0, (number.isin(list(stay)), number))
        if _is_ibis(X):
            import ibis

            X = X.mutate(**{column: ibis.cases(*steps, else_=number).cast("float64")})
        else:
            from pyspark.sql import functions as F

            value = F.when(F.lit(False), number)
            for condition, stands in steps:
                value = value.when(condition, stands)
            X = X.withColumn(column, value.otherwise(number))
    return X


def free(name: str, names: Sequence[str]) -> str:
    """A name that none of these is."""
    while name in names:
        name += "_"
    return name


def _is_ibis(X: Any) -> bool:
    ibis = sys.modules.get("ibis")
    return ibis is not None and isinstance(X, ibis.expr.types.Table)


def _is_spark(X: Any) -> bool:
    sql = sys.modules.get("pyspark.sql")
    return sql is not None and isinstance(X, sql.DataFrame)


def _spark_column(column: str) -> Any:
    from pyspark.sql import functions as F

    return F.col("`" + column.replace("`", "``") + "`")


def _number(X: Any, column: str) -> Any:
    """A column as the numbers that bins are cut from."""
    return X[column].cast("float64") if _is_ibis(X) else _spark_column(column).cast("double")


def _is_number(X: Any, column: str) -> bool:
    if _is_ibis(X):
        kind = X[column].type()
        return bool(kind.is_integer() or kind.is_floating() or kind.is_decimal())
    from pyspark.sql.types import NumericType

    return isinstance(X.schema[column].dataType, NumericType)


def is_whole(X: Any, column: str) -> bool:
    """Whether a column holds integers by type."""
    if _is_ibis(X):
        return bool(X[column].type().is_integer())
    from pyspark.sql.types import IntegralType

    return isinstance(X.schema[column].dataType, IntegralType)


def _is_float(X: Any, column: str) -> bool:
    if _is_ibis(X):
        return bool(X[column].type().is_floating())
    from pyspark.sql.types import DecimalType, FractionalType

    kind = X.schema[column].dataType
    return isinstance(kind, FractionalType) and not isinstance(kind, DecimalType)


def _is_minus_zero(X: Any, column: str) -> Any:
    """Whether a number is -0.0, by how it is written: no engine tells it from 0.0 otherwise."""
    if not _is_float(X, column):
        if _is_ibis(X):
            import ibis

            return ibis.literal(False)
        from pyspark.sql import functions as F

        return F.lit(False)
    if _is_ibis(X):
        import ibis

        number = X[column]
        # Without its sign: to DataFusion -0.0 is less than 0.0.
        return ibis.cases((number.abs() == 0, number.cast("string").startswith("-")), else_=False)
    from pyspark.sql import functions as F

    number = _spark_column(column)
    return F.when(number == 0, number.cast("string").startswith("-")).otherwise(False)


def _signed(numbers: Any, is_minus_zero: Any) -> Any:
    """Numbers in which 0.0 stands for both zeros, with the sign that each had."""
    import pyarrow as pa
    import pyarrow.compute as pc

    zero = pa.scalar(0.0, numbers.type)
    return pc.if_else(is_minus_zero, pa.scalar(-0.0, numbers.type), pc.if_else(pc.equal(numbers, zero), zero, numbers))
