"""Who has a way out, and effectiveness–cost distributions, as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from facts.errors import UsageError

if TYPE_CHECKING:
    from facts._facts import Batch

# One look for each group; they differ in line as well as in colour.
_LINES = ("-", "--", "-.", ":")


def _axes(ax: Any, height: float) -> Any:
    """Axes of matplotlib: those given, or new ones."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise UsageError("plots need matplotlib: pip install matplotlib") from error
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, height), layout="constrained")
    return ax


def plot_people(people: Sequence[Mapping[str, Any]], ax: Any) -> Any:
    """Draws the share of each group's refused people who have a way out, with its interval."""
    told = [row for row in people if row["with_a_way"] is not None]
    ax = _axes(ax, 1.0 + 0.5 * len(told))
    shares = [row["with_a_way"] / max(row["refused"], 1) for row in told]
    ends = [row["open_interval"] for row in told]
    errors = [
        [share - end["low"] for share, end in zip(shares, ends)],
        [end["high"] - share for share, end in zip(shares, ends)],
    ]
    ax.barh([row["group"] for row in told], shares, xerr=errors, capsize=3)
    ax.set_xlim(0, 1)
    ax.set_xlabel("of the refused, those who have a way out")
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.invert_yaxis()
    return ax


def plot_ecd(batch: Batch, viewpoint: str, title: str, ax: Any) -> Any:
    """Draws the distributions of a subgroup, one step line a group, on axes of matplotlib."""
    if viewpoint not in ("micro", "macro"):
        raise UsageError(f"the viewpoint is micro or macro, not `{viewpoint}`")
    ax = _axes(ax, 3.8)
    costs = batch.numpy(0)[0]
    end = float(costs[-1]) * 1.25 if len(costs) else 1.0
    places = [p for p, name in enumerate(batch.names) if name.startswith(f"{viewpoint} ")]
    for line, place in enumerate(places):
        values, _ = batch.numpy(place)
        # Nothing is reached for nothing, and what the dearest action reaches stays reached.
        x = [0.0, *costs, end]
        y = [0.0, *values, values[-1]]
        name = batch.names[place].removeprefix(f"{viewpoint} ")
        ax.step(x, y, where="post", label=name, linestyle=_LINES[line % len(_LINES)], linewidth=1.8)
    ax.set_xlim(0, end)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("cost")
    ax.set_ylabel(f"effectiveness ({viewpoint})")
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.set_title(title, fontsize="medium", loc="left")
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    return ax
