"""What AIF360 allows to change, by the *names* of columns, and what it costs.

These rules are AIF360's: ages, education and the like only rise, sex never changes, nothing becomes
"Unknown", whatever the data are about. They are nowhere else in this project.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

# Columns that never fall.
_RISING = (
    "parents",
    "age",
    "ages",
    "education-num",
    "age_cat",
    "PREDICTOR RAT AGE AT LATEST ARREST",
)
# How far one change may go: places in the order of `age`, units of `education-num`.
_MOST = 2


def feasible(column: str, values: Sequence[Any], frozen: bool) -> Callable[[Any, Any], bool]:
    """Whether a column may go from one of its values to another."""
    if frozen or column == "sex":
        return lambda left, reached: False
    limits: list[Callable[[Any, Any], bool]] = [
        # Asked about changes only, so what stays Unknown is no question.
        lambda left, reached: not (isinstance(reached, str) and reached == "Unknown")
    ]
    if column in _RISING:
        limits.append(lambda left, reached: _place(left) <= _place(reached))
    if column == "age":
        # AIF360 reads the left ends of intervals here and stops at anything else; numbers and
        # text are taken in their own order instead.
        ordered = sorted({_place(value) for value in values if value == value})
        places = {value: place for place, value in enumerate(ordered)}
        limits.append(lambda left, reached: places[_place(reached)] - places[_place(left)] <= _MOST)
    if column == "education-num":
        limits.append(lambda left, reached: reached - left <= _MOST)

    def allowed(left: Any, reached: Any) -> bool:
        # Who has no value is in no subgroup, and nobody can come to have none.
        return left is not None and all(limit(left, reached) for limit in limits)

    return allowed


def _place(value: Any) -> Any:
    return getattr(value, "left", value)


def distances(
    columns: Sequence[str], categorical: Sequence[str], weights: Mapping[str, float]
) -> dict[str, Callable[[Any, Any], float]]:
    """What changing each column costs in the micro viewpoint: a weight, or a weighted difference."""
    known = set(categorical)
    costs = {}
    for column in columns:
        weight = weights.get(column, 1)
        costs[column] = _flat(weight) if column in known else _difference(weight)
    return costs


def _flat(weight: float) -> Callable[[Any, Any], float]:
    return lambda left, reached: (0 if left == reached else 1) * weight


def _difference(weight: float) -> Callable[[Any, Any], float]:
    def cost(left: Any, reached: Any) -> float:
        try:
            return float(abs(reached - left) * weight)
        except TypeError:
            # AIF360 stops here: Booleans and intervals cannot be subtracted.
            return (0 if left == reached else 1) * weight

    return cost
