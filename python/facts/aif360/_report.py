"""AIF360's printed report, to the letter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from facts.aif360._metrics import Costs, Rules, Sides, Thens
from facts.aif360._predicate import Predicate

_BRIGHT, _RESET = "\x1b[1m", "\x1b[0m"
_RED, _GREEN, _BLUE, _MAGENTA, _CYAN, _PLAIN = (f"\x1b[{n}m" for n in (31, 32, 34, 35, 36, 39))


def print_recourse_report(
    rules: Rules,
    population_sizes: Mapping[Any, int] | None = None,
    missing_subgroup_val: Any = "N/A",
    subgroup_costs: Costs | None = None,
    show_subgroup_costs: bool = False,
    show_then_costs: bool = False,
    show_cumulative_plots: bool = False,
    show_bias: Any = None,
    correctness_metric: bool = False,
    metric_name: str | None = None,
) -> None:
    """Prints subgroups with their actions, and against whom each is biased, as AIF360 does.

    Args:
        rules: What to print: subgroups, with coverage and (action, effectiveness, cost) by group.
        population_sizes: How many are affected in each group, to be printed too.
        missing_subgroup_val: A group that is not printed.
        subgroup_costs: The metric of each group of each subgroup.
        show_subgroup_costs: Whether to print it.
        show_then_costs: Whether to print what each action costs.
        show_cumulative_plots: Whether to draw effectiveness by cost with matplotlib.
        show_bias: Print only subgroups whose metric is greatest for this group.
        correctness_metric: Whether a low metric, not a high one, is bad.
        metric_name: What the metric is called.
    """
    _print_nothing_found(rules)
    for predicate, sides in rules.items():
        costs = None if subgroup_costs is None else subgroup_costs[predicate]
        if costs is not None and show_bias is not None and _extreme(max, costs) != show_bias:
            continue
        shown = costs if show_subgroup_costs else None
        _print_sides(predicate, sides, population_sizes, missing_subgroup_val, show_then_costs, shown)
        if costs is not None:
            _print_bias(costs, correctness_metric, metric_name)
        if show_cumulative_plots:
            _plot({group: thens for group, (_, thens) in sides.items()})


def print_trade_off_report(
    rules: Rules,
    population_sizes: Mapping[Any, int] | None = None,
    missing_subgroup_val: Any = "N/A",
    unfairness: Mapping[Predicate, float] | None = None,
    show_then_costs: bool = False,
    show_cumulative_plots: bool = False,
) -> None:
    """Prints subgroups with their actions and trade-off, as AIF360 does for "fair-tradeoff"."""
    _print_nothing_found(rules)
    for predicate, sides in rules.items():
        _print_sides(predicate, sides, population_sizes, missing_subgroup_val, show_then_costs)
        if unfairness is not None:
            print(
                f'\t{_MAGENTA} Unfairness based on "Fair Effectiveness-Cost Trade-Off" metric = '
                f"{round(unfairness[predicate], 2)}.{_PLAIN}"
            )
        if show_cumulative_plots:
            _plot({group: thens for group, (_, thens) in sides.items()})


def _print_sides(
    predicate: Predicate,
    sides: Sides,
    sizes: Mapping[Any, int] | None,
    unknown: Any,
    show_costs: bool,
    costs: Mapping[Any, float] | None = None,
) -> None:
    """Prints a subgroup: its coverage and actions group by group, and what these cost in all."""
    print(f"If {_BRIGHT}{predicate}{_RESET}:")
    for group, (coverage, thens) in sides.items():
        if group == unknown:
            continue
        _print_group(group, coverage, sizes)
        _print_actions(predicate, thens, show_costs)
        if costs is not None:
            cost = 0 if f"{costs[group]:.2f}" == "-0.00" else costs[group]
            print(f"\t\t{_BRIGHT}Aggregate cost{_RESET} of the above recourses = {_MAGENTA}{cost:.2f}{_PLAIN}")


def _print_nothing_found(rules: Rules) -> None:
    if not rules:
        print(f"{_BRIGHT}With the given parameters, no recourses showing unfairness have been found!{_RESET}")


def _print_group(group: Any, coverage: float, sizes: Mapping[Any, int] | None) -> None:
    size = ""
    if sizes is not None and group in sizes:
        size = f" out of {sizes[group]}"
    elif sizes is not None:
        size = " (protected subgroup population size not given)"
    print(f"\tProtected Subgroup '{_BRIGHT}{group}{_RESET}', {_BLUE}{coverage:.2%}{_PLAIN} covered{size}")


def _print_actions(predicate: Predicate, thens: Thens, show_costs: bool) -> None:
    if not thens:
        print(f"\t\t{_RED}No recourses for this subgroup!{_PLAIN}")
    for then, effectiveness, cost in thens:
        pairs = zip(predicate.features, predicate.values, then.values, strict=True)
        changed = ", ".join(f"{_RED}{f} = {to}{_PLAIN}" for f, own, to in pairs if own != to)
        price = f" and counterfactual cost = {round(cost, 2)}" if show_costs else ""
        print(
            f"\t\tMake {_BRIGHT}{changed}{_RESET} with effectiveness {_GREEN}{abs(effectiveness):.2%}{_PLAIN}{price}."
        )


def _print_bias(costs: Mapping[Any, float], correctness: bool, metric: str | None) -> None:
    with np.errstate(invalid="ignore"):
        apart = max(costs.values()) - min(costs.values())
    if apart > 0:
        against = _extreme(min if correctness else max, costs)
        name = "" if metric is None else f" with respect to {metric}"
        print(f"\t{_MAGENTA}Bias against {against}{name}. Unfairness score = {round(apart, 3)}.{_PLAIN}")
    else:
        print(f"\t{_MAGENTA}No bias!{_PLAIN}")


def _extreme(which: Any, costs: Mapping[Any, float]) -> Any:
    return which(costs.items(), key=lambda item: item[1])[0]


def _plot(sides: Mapping[Any, Thens]) -> None:
    import matplotlib.pyplot as plt

    print(f"\t{_CYAN}Cumulative effectiveness plot for the above recourses:{_PLAIN}")
    _, ax = plt.subplots()
    for sides_of_marker, (group, thens) in enumerate(sides.items(), start=3):
        ax.step(
            [cost for _, _, cost in thens],
            [effectiveness for _, effectiveness, _ in thens],
            where="post",
            marker=(sides_of_marker, 0, 0),
            label=group,
            alpha=0.7,
        )
    ax.set_xlabel("Cost of change")
    ax.set_ylabel("Correctness percentage")
    ax.legend()
    plt.show()
