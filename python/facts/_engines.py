"""Tables that lie in an engine: grouped there, so that only distinct rows and their counts come here.

An Ibis table (DuckDB, DataFusion, Postgres, …) or a PySpark DataFrame is never collected. One query
counts how often each distinct row comes; what it gives is all that an audit needs.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from facts.errors import DataError, UsageError

#: More distinct rows than this are not fetched: an id or a continuous number is among the columns.
MOST = 20_000_000


def is_table(X: Any) -> bool:
    """Whether this is a table that lies in an engine."""
    return _is_ibis(X) or _is_spark(X)


def name(X: Any) -> str:
    """What such a table is called in records. Where it lies is nobody's business."""
    return f"an Ibis table in {X.get_backend().name}" if _is_ibis(X) else "a Spark DataFrame"


def grouped(X: Any) -> tuple[Any, str]:
    """The distinct rows as a pyarrow Table, and the name of its last column, which counts them."""
    count = free("count", list(X.columns))
    if not X.columns:
        raise UsageError("the table has no columns")
    if _is_ibis(X):
        import ibis

        query = X.group_by(list(X.columns)).aggregate(**{count: ibis._.count()})
        found = query.limit(MOST + 1).to_pyarrow()
    else:
        from pyspark.sql import functions as F

        columns = [_spark_column(column) for column in X.columns]
        query = X.groupBy(*columns).agg(F.count(F.lit(1)).alias(count))
        found = query.limit(MOST + 1).toArrow()
    if found.num_rows > MOST:
        raise DataError(
            f"the table has more than {MOST:,} distinct rows, so grouping saves nothing; select() the "
            "columns that the model reads, and cut continuous numbers into bins (facts.profiles, bins=)"
        )
    return found.combine_chunks(), count


def counted(X: Any, column: str) -> tuple[list[float], list[int]]:
    """The distinct numbers of a column and how often each comes; what is missing is not counted."""
    found, count = grouped(X.select(column) if _is_ibis(X) else X.select(_spark_column(column)))
    pairs = zip(found.column(column).to_pylist(), found.column(count).to_pylist(), strict=True)
    known = sorted((float(number), times) for number, times in pairs if number is not None)
    return [number for number, _ in known], [times for _, times in known]


def cut(X: Any, bins: Mapping[str, tuple[Sequence[float], Sequence[str]]]) -> Any:
    """The table with the labels of bins in the place of numbers: each bin ends at a cut and holds it."""
    for column, (cuts, labels) in bins.items():
        pairs = list(zip(cuts, labels, strict=False))
        if _is_ibis(X):
            import ibis

            cases = [(X[column] <= end, label) for end, label in pairs]
            known = ibis.cases(*cases, else_=labels[-1]) if cases else ibis.literal(labels[-1])
            missing = ibis.null("string")
            X = X.mutate(**{column: X[column].isnull().ifelse(missing, known)})
        else:
            from pyspark.sql import functions as F

            number = _spark_column(column)
            value = F.when(number.isNull(), F.lit(None).cast("string"))
            for end, label in pairs:
                value = value.when(number <= F.lit(float(end)), F.lit(label))
            X = X.withColumn(column, value.otherwise(F.lit(labels[-1])))
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
