"""Audits compared: what changed by more than chance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from facts import _facts
from facts.errors import UsageError

if TYPE_CHECKING:
    from facts._audit import Audit


@dataclass(frozen=True)
class Comparison:
    """Two audits compared. All that is said to have changed has been tested; ``str()`` says it in words."""

    #: The level α of all that is said to have changed.
    alpha: float
    #: Whether the same people were compared, by those whose answer changed; else two samples were.
    same_people: bool
    #: ``"better"``, ``"worse"``, ``"mixed"`` or ``"too-close"`` for people; None if it cannot be told.
    trend: str | None
    #: Whether the gap narrowed because those who were better off lost.
    levelled_down: bool
    #: Findings that are not as they were, each with its ``change``: ``"appeared"``, ``"grew"``,
    #: ``"turned"``, ``"shrank"``, ``"vanished"``, ``"levelled-down"``, ``"mixed"``, ``"only-now"``,
    #: ``"only-before"``, ``"not-tested"`` or ``"too-close"``.
    changed: list[dict[str, Any]]
    #: What keeps the two from being compared like with like.
    warnings: list[str]
    #: All of it, as ``facts diff --format json`` writes it.
    data: Mapping[str, Any] = field(repr=False)
    _words: str = field(repr=False)

    def __str__(self) -> str:
        return self._words

    @classmethod
    def _of(cls, data: Mapping[str, Any], words: str) -> Comparison:
        people = data["people"]
        return cls(
            alpha=data["alpha"],
            same_people=data["same_people"],
            trend=None if people is None else people["trend"],
            levelled_down=people is not None and people["levelled_down"],
            changed=data["changed"],
            warnings=data["warnings"],
            data=data,
            _words=words,
        )


@dataclass(frozen=True)
class Series:
    """Audits over time, each compared with the first; ``str()`` says it in words.

    Chance alone shows a change at any look, however many follow, with probability ``alpha`` at most.
    """

    #: The level α of all looks together.
    alpha: float
    #: The number of the first look that shows a change, from 1; None if none does.
    first_change: int | None
    #: The looks: number, name, how much of α each may spend, the least p-value, whether it shows a change,
    #: and the comparison with the first audit.
    looks: list[dict[str, Any]]
    _words: str = field(repr=False)

    def __str__(self) -> str:
        return self._words


def compare(newer: _facts.Audit, older: _facts.Audit, same_people: bool, alpha: float | None, n: int) -> Comparison:
    data, words = newer.compare(older, same_people, alpha, n, False)
    return Comparison._of(json.loads(data), words)


def series(
    audits: Sequence[Audit[Any]],
    names: Sequence[str] | None = None,
    *,
    alpha: float | None = None,
    n: int = 10,
) -> Series:
    """Has anything changed since the first of several audits, whenever one looks?

    Args:
        audits: The audits, the oldest first.
        names: What they are called. Default their numbers, from 0.
        alpha: How often, at most, chance alone may show a change at any of the looks, however many
            follow. Default that of the newest audit.
        n: How many findings of each sort the words list.
    """
    names = [str(number) for number in range(len(audits))] if names is None else list(names)
    if len(names) != len(audits):
        raise UsageError(f"there are {len(audits)} audits and {len(names)} names")
    data, words = _facts.series([one._found for one in audits], names, alpha, n, False)
    found = json.loads(data)
    return Series(found["alpha"], found["first_change"], found["looks"], words)
