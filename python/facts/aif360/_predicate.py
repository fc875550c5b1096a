"""Predicates as AIF360 has them: the keys of its results."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any


@functools.total_ordering
class Predicate:
    """A conjunction of ``feature = value``, with the features in order of name."""

    __slots__ = ("features", "values", "_hash")

    def __init__(self, features: Iterable[str] = (), values: Iterable[Any] = ()) -> None:
        pairs = sorted(zip(features, values, strict=True), key=lambda pair: pair[0])
        self.features: list[str] = [feature for feature, _ in pairs]
        self.values: list[Any] = [value for _, value in pairs]
        self._hash: int | None = None

    @staticmethod
    def from_dict(d: Mapping[str, Any]) -> Predicate:
        """The predicate with these values by feature."""
        return Predicate(d.keys(), d.values())

    def to_dict(self) -> dict[str, Any]:
        """Its values by feature."""
        return dict(zip(self.features, self.values, strict=True))

    def satisfies(self, x: Mapping[str, Any]) -> bool:
        """Whether one individual satisfies it."""
        return all(x[feature] == value for feature, value in self._items())

    def satisfies_v(self, X: Any) -> Any:
        """Which rows of a frame satisfy it."""
        return (X[self.features] == self.values).all(axis=1)

    def width(self) -> int:
        """How many features it has."""
        return len(self.features)

    def contains(self, other: object) -> bool:
        """Whether it says all that another says."""
        if not isinstance(other, Predicate):
            return False
        mine = self.to_dict()
        return all(feature in mine and mine[feature] == value for feature, value in other._items())

    def _items(self) -> Iterable[tuple[str, Any]]:
        return zip(self.features, self.values, strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Predicate):
            return False
        return self.features == other.features and self.values == other.values

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Predicate):
            return NotImplemented
        return repr(self) < repr(other)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(repr(self))
        return self._hash

    def __str__(self) -> str:
        return ", ".join(f"{feature} = {value}" for feature, value in self._items())

    def __repr__(self) -> str:
        return f"Predicate(features={self.features!r}, values={self.values!r})"
