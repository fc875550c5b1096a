"""The keyword arguments of `facts.audit`, for type checkers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from facts._progress import Tell

#: The name of a column: text, or the number that pandas calls it by.
Name = str | int


class Options(TypedDict, total=False):
    """What `facts.audit` takes by name; its documentation explains each."""

    favourable: Any
    features: Sequence[Name] | Mapping[Any, Any] | Name | None
    context: Sequence[Name] | Name | None
    missing_codes: Sequence[str] | str | None
    weight: Name | None
    label: Name | None
    label_favourable: Any
    threshold: float | None
    model_columns: Sequence[Name] | None
    batch_rows: int | None
    support: float | str | None
    validity: str | None
    ranges: bool | None
    max_length: int | None
    min_members: int | None
    max_subgroups: int | None
    min_group_size: int | None
    compare: Sequence[Any] | None
    suppress_below: int | None
    allow_dropped: float | None
    definitions: Sequence[str] | str | None
    phi: Sequence[float] | float | None
    budgets: Sequence[float] | float | None
    evidence: bool
    alpha: float | None
    shuffles: int | None
    resamples: int | None
    seed: int | None
    stability: bool | None
    hold_out: float | bool | None
    config: str | os.PathLike[str] | Mapping[str, Any] | None
    max_memory_mib: int | None
    threads: int | None
    progress: bool | Tell | None
    keep_people: bool


#: Their names.
OPTIONS = frozenset(Options.__annotations__)
