"""The data sets of AIF360's demonstrations, prepared as it prepares them.

What is dropped, replaced and cut is what ``aif360.sklearn.detectors.facts.clean`` drops, replaces and
cuts, so that its notebooks find what they found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["clean_dataset"]


def clean_dataset(X: Any, dataset: str) -> Any:
    """Prepares one of three well-known data sets for :class:`facts.aif360.FACTS`.

    Args:
        X: The data, a pandas DataFrame; it is not changed.
        dataset: ``"adult"`` (Adult with its ``income``), ``"compas"`` (ProPublica's, as AIF360 fetches
            it) or ``"SSL"`` (Chicago's Strategic Subject List). AIF360 gives any other back as it is.

    Returns:
        A new frame. The label is 1 where the outcome is good.
    """
    return _CLEANERS.get(dataset, lambda table: table)(X)


def _adult(X: Any) -> Any:
    import pandas as pd

    X = X.drop(columns=["fnlwgt", "education"], errors="ignore").reset_index(drop=True)
    X = X[~X.isin([" ?"]).any(axis=1) & X.notna().all(axis=1)]
    texts = {name: column for name, column in X.items() if not pd.api.types.is_numeric_dtype(column)}
    X = X.assign(**{name: _mapped(column, lambda cell: cell.strip()) for name, column in texts.items()})
    couples = {"Husband": "Married", "Wife": "Married"}
    hours = ["PartTime", "MidTime", "FullTime", "OverTime", "BrainDrain"]
    return X.assign(
        **{
            "relationship": _mapped(X["relationship"], lambda cell: couples.get(cell, cell)),
            "hours-per-week": pd.cut(X["hours-per-week"], [0.9, 25, 39, 40, 55, 100], labels=hours),
            "age": pd.qcut(X["age"], 5),
            "income": (X["income"] != "<=50K").astype(int),
        }
    )


def _compas(X: Any) -> Any:
    import pandas as pd

    X = X.drop(columns=["age", "c_charge_desc"]).reset_index(drop=True)
    outcomes = {"Recidivated": 0, "Survived": 1}
    return X.assign(
        priors_count=pd.cut(X["priors_count"], [-0.1, 1, 5, 10, 15, 38]),
        target=X["target"].astype(object).replace(outcomes).infer_objects(),
        age_cat=_mapped(X["age_cat"], lambda cell: "10-25" if cell == "Less than 25" else cell),
    )


def _ssl(X: Any) -> Any:
    import pandas as pd

    trend, arrest = "PREDICTOR RAT TREND IN CRIMINAL ACTIVITY", "PREDICTOR RAT AGE AT LATEST ARREST"
    race = {"WBH": "BLK", "WWH": "WHI"}
    X = X.assign(**{"SSL SCORE": (X["SSL SCORE"] < 345).astype(int)}).replace(race)
    known = ~X.isin(["U", "X"]).any(axis=1) & X.notna().all(axis=1)
    X = X[known & ~X["RACE CODE CD"].isin(["I", "API"])]
    return X.assign(
        **{
            trend: pd.qcut(X[trend], 6),
            arrest: X[arrest].replace("less than 20", "10-20"),
        }
    )


def _mapped(column: Any, of: Callable[[str], str]) -> Any:
    """A column with other texts; what is no text stays, and categories stay categories."""
    import pandas as pd

    mapped = column.astype(object).map(lambda cell: of(cell) if isinstance(cell, str) else cell)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return mapped.astype("category")
    # Numbers among texts, as where a file has " ?" in place of some, are numbers again.
    return mapped.infer_objects()


_CLEANERS: dict[str, Callable[[Any], Any]] = {"adult": _adult, "compas": _compas, "SSL": _ssl}
