"""AIF360's metrics, orders and filters, over its lists of (action, effectiveness, cost)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from facts.aif360._predicate import Predicate

Thens = list[tuple[Predicate, float, float]]
Sides = dict[Any, tuple[float, Thens]]
Rules = dict[Predicate, Sides]
Costs = dict[Predicate, dict[Any, float]]


def metric(name: str, phi: float, c: float) -> Callable[[Thens], float]:
    """A metric of one group's list, by AIF360's name."""
    known: dict[str, Callable[[Thens], float]] = {
        "equal-effectiveness": lambda thens: max(eff for _, eff, _ in thens),
        "equal-choice-for-recourse": lambda thens: -sum(eff >= phi for _, eff, _ in thens),
        "equal-effectiveness-within-budget": lambda thens: max(
            (eff for _, eff, cost in thens if cost <= c), default=np.inf
        ),
        "equal-cost-of-effectiveness": lambda thens: min(
            (cost for _, eff, cost in thens if eff >= phi), default=np.inf
        ),
        "equal-mean-recourse": _mean_recourse,
    }
    return known[name]


def _mean_recourse(thens: Thens) -> float:
    gained = np.diff(np.array([eff for _, eff, _ in thens]), prepend=0)
    costs = np.array([cost for _, _, cost in thens])
    total = np.sum(gained)
    return float(np.dot(gained, costs) / total) if total > 0 else np.inf


def costs(rules: Rules, of: Callable[[Thens], float]) -> Costs:
    """A metric of every group of every subgroup."""
    return {predicate: {group: of(thens) for group, (_, thens) in sides.items()} for predicate, sides in rules.items()}


def gap(by_group: Mapping[Any, float]) -> float:
    """How far the groups of one subgroup are apart; NaN where both are infinite."""
    with np.errstate(invalid="ignore"):
        return max(by_group.values()) - min(by_group.values())


def ordered(rules: Rules, scores: Costs, strategy: str) -> list[tuple[Predicate, Sides]]:
    """Subgroups by falling gap; the strategy says what becomes of undefined and infinite gaps."""
    drop_nan, drop_inf = {
        "max-cost-diff-decr": (False, False),
        "max-cost-diff-decr-ignore-forall-subgroups-empty": (True, False),
        "max-cost-diff-decr-ignore-exists-subgroup-empty": (True, True),
    }[strategy]

    def key(item: tuple[Predicate, Sides]) -> tuple[float]:
        apart = gap(scores[item[0]])
        if (drop_nan and np.isnan(apart)) or (drop_inf and np.isinf(apart)):
            return (-np.inf,)
        return (apart,)

    return sorted(rules.items(), key=key, reverse=True)


def trade_off(rules: Rules, affected: Mapping[Any, int]) -> dict[Predicate, float]:
    """The widest gap between two groups' lists, read action by action, times √(n0·n1/(n0+n1))."""

    def of(sides: Sides) -> float:
        if len(sides) != 2:
            raise NotImplementedError("Definition only for two protected subgroups")
        (first, (cov1, thens1)), (second, (cov2, thens2)) = sides.items()
        apart = np.array([eff for _, eff, _ in thens1]) - np.array([eff for _, eff, _ in thens2])
        n1, n2 = cov1 * affected[first], cov2 * affected[second]
        return float(abs(apart).max() * np.sqrt((n1 * n2) / (n1 + n2)))

    return {predicate: of(sides) for predicate, sides in rules.items()}


def filtered(rules: Rules, sequence: Sequence[str], scores: Costs, phi: float, c: float) -> Rules:
    """Subgroups and actions that are left after AIF360's filters, one after another."""
    filters: dict[str, Callable[[Rules], Rules]] = {
        "remove-contained": lambda rules: _without_contained(rules, scores),
        "remove-below-thr-corr": lambda rules: _thens(rules, lambda t: [x for x in t if x[1] >= phi]),
        "remove-above-thr-cost": lambda rules: _thens(rules, lambda t: [x for x in t if x[2] <= c]),
        "keep-rules-until-thr-corr-reached": lambda rules: _thens(rules, lambda t: _until(t, phi)),
        "remove-fair-rules": lambda rules: without_fair(rules, scores),
        "keep-only-min-change": lambda rules: _thens(rules, _cheapest),
    }
    for name in sequence:
        rules = filters[name](rules)
    return rules


def without_fair(rules: Rules, scores: Costs) -> Rules:
    """Subgroups whose groups are apart."""

    def is_fair(predicate: Predicate) -> bool:
        apart = gap(scores[predicate])
        return bool(apart == 0 or np.isnan(apart))

    return {predicate: sides for predicate, sides in rules.items() if not is_fair(predicate)}


def _thens(rules: Rules, keep: Callable[[Thens], Thens]) -> Rules:
    return {
        predicate: {group: (cov, keep(thens)) for group, (cov, thens) in sides.items()}
        for predicate, sides in rules.items()
    }


def _until(thens: Thens, phi: float) -> Thens:
    kept = []
    for then in thens:
        kept.append(then)
        if then[1] >= phi:
            break
    return kept


def _cheapest(thens: Thens) -> Thens:
    least = min((cost for _, _, cost in thens), default=np.inf)
    return [then for then in thens if then[2] <= least]


def _without_contained(rules: Rules, scores: Costs) -> Rules:
    """Of two subgroups where one only adds values that no listed action changes, the more biased."""
    dropped: set[Predicate] = set()
    for longer, sides in rules.items():
        own = longer.to_dict()
        changed = {
            feature
            for _, thens in sides.values()
            for then, _, _ in thens
            for feature, value in then.to_dict().items()
            if value != own[feature]
        }
        for shorter in rules:
            extra = set(longer.features) - set(shorter.features)
            if not extra or extra & changed or not longer.contains(shorter):
                continue
            dropped.add(shorter if gap(scores[longer]) > gap(scores[shorter]) else longer)
    return {predicate: sides for predicate, sides in rules.items() if predicate not in dropped}
