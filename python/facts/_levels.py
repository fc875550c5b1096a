"""Levels as Python values: what cost functions and rules are called with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

# A level as the engine tells it: label, number, ends of a bin.
RawLevel = tuple[str, "float | None", "tuple[float, float] | None"]


class Bin(NamedTuple):
    """A bin of a number, closed on the right; open ends stand at the observed least and greatest."""

    low: float
    high: float
    label: str

    @property
    def mid(self) -> float:
        """The midpoint."""
        return (self.low + self.high) / 2

    def __str__(self) -> str:
        return self.label


# The level of people without a value.
_MISSING = "missing"


def of_levels(
    function: Callable[[Any, Any], Any], values: Mapping[str, Any] | None, missing: bool
) -> Callable[[RawLevel, RawLevel], Any]:
    """A function of two levels as the engine tells them, from one of two Python values.

    ``values`` has the column's values by label, where they are neither plain numbers nor text;
    ``missing`` says whether some have none, which is None to the function.
    """

    def value(level: RawLevel) -> Any:
        label, number, bounds = level
        if values is not None and label in values:
            return values[label]
        if missing and label == _MISSING and number is None and bounds is None:
            return None
        if bounds is not None:
            return Bin(*bounds, label)
        return label if number is None else number

    return lambda left, reached: function(value(left), value(reached))
