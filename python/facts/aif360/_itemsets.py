"""Supports of itemsets, counted on whole numbers as sets: for AIF360's order of subgroups.

AIF360 lists subgroups in the order of the group with the fewest frequent itemsets, and actions in
the order of their support among the unaffected. The engine needs neither.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


class Sets:
    """Who has which value: one set of rows, as the bits of a number, for each value of a column."""

    def __init__(self, codes: dict[str, Any], chosen: Any) -> None:
        self.rows = int(np.count_nonzero(chosen))
        self.sets: dict[tuple[str, int], int] = {}
        for column, places in codes.items():
            places = places[chosen]
            for place in np.unique(places):
                if place >= 0:
                    bits = np.packbits(places == place, bitorder="little")
                    self.sets[column, int(place)] = int.from_bytes(bits.tobytes(), "little")

    def count(self, items: Sequence[tuple[str, int]]) -> int:
        """How many rows have all of these values."""
        common = -1
        for item in items:
            common &= self.sets.get(item, 0)
        return common.bit_count()


def frequent(sets: Sequence[Sets], least: Sequence[int]) -> int:
    """How many itemsets at least so many rows of each of these have."""

    def enough(rows: Sequence[int]) -> bool:
        return all(own.bit_count() >= n for own, n in zip(rows, least, strict=True))

    def grow(found: list[tuple[str, list[int]]]) -> int:
        # What follows an item can be added to it, if it speaks of another column.
        total = len(found)
        for place, (column, rows) in enumerate(found):
            rest = [
                (c, [own & more for own, more in zip(rows, others, strict=True)])
                for c, others in found[place + 1 :]
                if c != column
            ]
            total += grow([(c, both) for c, both in rest if enough(both)])
        return total

    items = [(item[0], [one.sets.get(item, 0) for one in sets]) for item in sets[0].sets]
    return grow([(column, rows) for column, rows in items if enough(rows)])


def least_count(support: float, rows: int) -> int:
    """How many rows make an itemset frequent: in binary floating point, 7 of 100 is not 0.07."""
    return math.ceil(support * rows)
