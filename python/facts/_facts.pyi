"""The engine behind the package; everything here is called by the rest of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "Audit",
    "Batch",
    "HEADLINES",
    "KEYWORDS",
    "Labels",
    "Summary",
    "Table",
    "__version__",
    "audit",
    "audit_models",
    "bin_names",
    "bins_of",
    "explain_config",
    "load",
    "quantile_cuts",
    "read_config",
    "series",
    "unpack",
    "write",
]

__version__: str
HEADLINES: list[str]
KEYWORDS: list[tuple[str, str]]

@final
class Labels:
    """Labels and their places."""

    def __new__(cls, labels: Sequence[str]) -> Labels: ...

@final
class Batch:
    """Rows of a table. Any library that speaks the Arrow PyCapsule interface can take it over."""

    names: list[str]
    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def codes(self, place: int, labels: Labels) -> npt.NDArray[np.int32]: ...
    def numpy(self, place: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]: ...
    def texts(self, place: int) -> list[str | None]: ...
    def is_text(self, place: int) -> bool: ...

@final
class Table:
    """A table, ready to be audited."""

    @staticmethod
    def from_arrow(table: Any, name: str, count: str | None = None) -> Table: ...
    @staticmethod
    def grouped(
        engine: Any,
        name: str,
        config: str,
        overrides: str,
        folder: str | None = None,
        spec: str | None = None,
        reads: Sequence[str] | None = None,
        is_one_model: bool = True,
    ) -> Table: ...
    def profiles(
        self,
        columns: Sequence[tuple[str, str, tuple[Sequence[float], Sequence[str]] | None]],
        suppress_below: int | None = None,
    ) -> tuple[Batch, str, str]: ...
    @staticmethod
    def from_columns(
        columns: Sequence[tuple[str, npt.NDArray[Any], Sequence[str] | None, npt.NDArray[np.bool_] | None]],
        rows: int,
        name: str,
    ) -> Table: ...
    def __len__(self) -> int: ...

@final
class Audit:
    """What an audit found."""

    def about(self) -> str: ...
    def answer(self) -> str | None: ...
    def first_screen(self, colour: bool) -> str: ...
    def answer_sheet(self, part: str) -> Batch: ...
    def definitions(self) -> list[tuple[str, str]]: ...
    def expand(self, definition: str) -> list[str]: ...
    def budgets(self) -> list[float]: ...
    def subgroups(self, definitions: Sequence[str]) -> Batch: ...
    def actions(self) -> Batch: ...
    def by_definition(self, definitions: Sequence[str] | None, shows: str) -> Batch: ...
    def distributions(self, subgroup: int) -> Batch: ...
    def ranking_analysis(self, definitions: Sequence[str] | None) -> Batch: ...
    def aggregated_rankings(self, definitions: Sequence[str] | None) -> Batch: ...
    def evidence(self, definitions: Sequence[str] | None, part: str) -> Batch: ...
    def find(self, subgroup: str) -> int: ...
    def text(self, subgroup: int) -> str: ...
    def overview(self, colour: bool) -> str: ...
    def findings(self, definitions: Sequence[str] | None, chosen: Mapping[str, Any], colour: bool) -> str: ...
    def subgroup(self, subgroup: int) -> str: ...
    def form(self, name: str, definitions: Sequence[str] | None, chosen: Mapping[str, Any]) -> bytes: ...
    def save(self, path: str, whole: bool) -> None: ...
    def check(
        self,
        config: str,
        folder: str | None,
        baseline: str | None,
        update: bool,
        called: tuple[str, str],
    ) -> tuple[str, str]: ...
    def pack(self) -> bytes: ...
    def compare(
        self,
        older: Audit,
        same_people: bool = False,
        alpha: float | None = None,
        top: int = 10,
        colour: bool = False,
    ) -> tuple[str, str]: ...
    def counts(
        self,
    ) -> list[
        tuple[
            list[tuple[str, str]],
            list[int],
            list[tuple[list[tuple[str, str]], list[int | None]]],
        ]
    ]: ...
    def reached_in_order(self, subgroup: int, group: int, order: Sequence[int]) -> list[int]: ...

@final
class Summary:
    def text(self) -> str: ...
    def sheet(self) -> Batch: ...
    def names(self) -> list[str]: ...
    def save(self, folder: str) -> None: ...

def audit_models(
    table: Table,
    config: str,
    overrides: str,
    models: Sequence[tuple[str, str | None, tuple[Callable[[Batch], Any], str, list[str], bool] | None, str]],
    folder: str | None = None,
    costs: Mapping[str, Callable[[Any, Any], Any]] = ...,
    allowed: Mapping[str, Callable[[Any, Any], Any]] = ...,
    progress: Callable[[str, int, int], object] | None = None,
) -> tuple[list[tuple[str, Audit | None, Any]], Summary]: ...
def audit(
    table: Table,
    config: str,
    overrides: str,
    folder: str | None = None,
    spec: str | None = None,
    ask: tuple[Callable[[Batch], Any], str, list[str], bool] | None = None,
    costs: Mapping[str, Callable[[Any, Any], Any]] = ...,
    allowed: Mapping[str, Callable[[Any, Any], Any]] = ...,
    progress: Callable[[str, int, int], object] | None = None,
    keep_individuals: bool = False,
) -> Audit: ...
def series(
    audits: Sequence[Audit],
    names: Sequence[str],
    alpha: float | None = None,
    top: int = 10,
    colour: bool = False,
) -> tuple[str, str]: ...
def load(path: str) -> Audit: ...
def read_config(path: str) -> str: ...
def explain_config() -> str: ...
def unpack(bytes: bytes) -> Audit: ...
def write(path: str, page: bytes) -> None: ...
def bins_of(path: str) -> dict[str, tuple[list[float], list[str]]]: ...
def bin_names(cuts: Sequence[float]) -> list[str]: ...
def quantile_cuts(
    column: str,
    numbers: Sequence[float] | npt.NDArray[np.float64],
    people: Sequence[int] | npt.NDArray[np.uint64],
    bins: int,
    shared_by: int | None = None,
    whole: bool = False,
) -> list[float]: ...
