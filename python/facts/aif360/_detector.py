"""The detector: AIF360's face on the engine."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from facts import _facts
from facts._config import NO_EVIDENCE
from facts._frames import PandasFrame, _Coded
from facts._levels import of_levels
from facts._models import asker, describe
from facts._progress import teller
from facts.aif360 import _metrics, _report, _rules
from facts.aif360._itemsets import Sets, frequent, least_count
from facts.aif360._metrics import Costs, Rules, Thens
from facts.aif360._predicate import Predicate

try:
    from sklearn.base import BaseEstimator
except ImportError:  # parameters can still be read and set as attributes
    BaseEstimator = object

# A protected value that AIF360 takes for "unknown".
_UNKNOWN_GROUP = "N/A"

_Items = dict[str, int]


def FACTS_bias_scan(
    X: Any,
    clf: Any,
    prot_attr: str,
    metric: str,
    categorical_features: list[str] | None = None,
    freq_itemset_min_supp: float = 0.1,
    feature_weights: Mapping[str, float] = defaultdict(lambda: 1),  # noqa: B006
    feats_allowed_to_change: list[str] | None = None,
    feats_not_allowed_to_change: list[str] | None = None,
    viewpoint: str = "macro",
    sort_strategy: str = "max-cost-diff-decr",
    top_count: int = 1,
    phi: float = 0.5,
    c: float = 0.5,
    verbose: bool = True,
    print_recourse_report: bool = False,
    show_subgroup_costs: bool = False,
    show_action_costs: bool = False,
    is_correctness_metric: bool = False,
) -> list[tuple[dict[str, Any], float]]:
    """Finds the most biased subgroups in one call: :class:`FACTS`, fitted and scanned.

    Args:
        X: The people, one a row.
        clf: A fitted classifier whose ``predict`` gives 0 or 1.
        prot_attr: The column that holds the protected attribute.
        metric: As in :meth:`FACTS.bias_scan`.
        categorical_features: Columns whose changes cost their weight. Default those of text and
            categories.
        freq_itemset_min_supp: The least support.
        feature_weights: What changes cost, by column. Default 1.
        feats_allowed_to_change: Only these columns may change.
        feats_not_allowed_to_change: These columns may not change.
        viewpoint: ``"macro"`` or ``"micro"``.
        sort_strategy: As in :meth:`FACTS.bias_scan`.
        top_count: How many subgroups to keep.
        phi: As in :meth:`FACTS.bias_scan`.
        c: As in :meth:`FACTS.bias_scan`.
        verbose: Whether to show progress.
        print_recourse_report: Whether to print them.
        show_subgroup_costs: Whether to print the metric of each group.
        show_action_costs: Whether to print what actions cost.
        is_correctness_metric: Whether a low metric is bad.

    Returns:
        The subgroups kept, as (values by feature, unfairness).
    """
    detector = FACTS(
        clf=clf,
        prot_attr=prot_attr,
        categorical_features=categorical_features,
        freq_itemset_min_supp=freq_itemset_min_supp,
        feature_weights=feature_weights,
        feats_allowed_to_change=feats_allowed_to_change,
        feats_not_allowed_to_change=feats_not_allowed_to_change,
    ).fit(X, verbose=verbose)
    detector.bias_scan(
        metric=metric,
        viewpoint=viewpoint,
        sort_strategy=sort_strategy,
        top_count=top_count,
        phi=phi,
        c=c,
    )
    if print_recourse_report:
        detector.print_recourse_report(
            show_subgroup_costs=show_subgroup_costs,
            show_action_costs=show_action_costs,
            correctness_metric=is_correctness_metric,
        )
    if detector.subgroup_costs is None:
        scores = detector.unfairness or {}
    else:
        scores = {p: _metrics.gap(costs) for p, costs in detector.subgroup_costs.items()}
    return [(p.to_dict(), score) for p, score in scores.items() if p in detector.top_rules]


class FACTS(BaseEstimator):  # type: ignore[misc]
    """Fairness aware counterfactuals for subgroups, with AIF360's signatures and numbers.

    Attributes:
        rules_by_if: For each subgroup and group its coverage and (action, effectiveness, cost), cost
            being the number of changed features (see ``macro_costs``).
        rules_with_cumulative: The same with weighted costs, cheapest first, and the share of members
            flipped by any action so far.
        top_rules: The subgroups that the last :meth:`bias_scan` kept.
        subgroup_costs: The metric of each group of each subgroup; None after "fair-tradeoff".
        unfairness: The trade-off of each subgroup; None after other metrics.
        dataset: The table that was fitted.
        macro_costs: What actions cost in ``rules_by_if``. AIF360 0.6.1 counts changed features,
            ``"changes"``; its later source, not on PyPI, takes the weights there too, and its tests
            expect that: ``FACTS.macro_costs = "weighted"`` follows it.
    """

    macro_costs: str = "changes"

    rules_by_if: Rules
    rules_with_cumulative: Rules
    top_rules: Rules
    subgroup_costs: Costs | None
    unfairness: dict[Predicate, float] | None
    dataset: Any

    def __init__(
        self,
        clf: Any,
        prot_attr: str,
        categorical_features: list[str] | None = None,
        freq_itemset_min_supp: float = 0.1,
        feature_weights: Mapping[str, float] = defaultdict(lambda: 1),  # noqa: B006
        feats_allowed_to_change: list[str] | None = None,
        feats_not_allowed_to_change: list[str] | None = None,
    ) -> None:
        """Says what is to be audited.

        Args:
            clf: A fitted classifier whose ``predict`` gives 0 or 1.
            prot_attr: The column that holds the protected attribute.
            categorical_features: Columns whose changes cost their weight; changes of the others cost
                the weighted difference. Default those of text and categories.
            freq_itemset_min_supp: The least support of subgroups and actions.
            feature_weights: What changes cost, by column. Default 1.
            feats_allowed_to_change: Only these columns may change. Not together with the next.
            feats_not_allowed_to_change: These columns may not change.
        """
        self.clf = clf
        self.prot_attr = prot_attr
        self.categorical_features = categorical_features
        self.freq_itemset_min_supp = freq_itemset_min_supp
        self.feature_weights = feature_weights
        self.feats_allowed_to_change = feats_allowed_to_change
        self.feats_not_allowed_to_change = feats_not_allowed_to_change

    def fit(self, X: Any, verbose: bool = True) -> FACTS:
        """Finds subgroups, actions, and whom they help.

        Args:
            X: The people, one a row.
            verbose: Whether to print AIF360's lines about progress, and show bars where somebody can
                see them.
        """

        def tell(line: str) -> None:
            if verbose:
                print(line, flush=True)

        if self.categorical_features is None:
            self.categorical_features = _texts_and_categories(X)
        tell("Computing candidate subgroups.")
        known = X[(X[self.prot_attr] != _UNKNOWN_GROUP) & X[self.prot_attr].notna()]
        mined = _mine(self.clf, known, self.prot_attr, str(self.freq_itemset_min_supp), self._frozen(X), verbose)
        listing = _Listing(mined, float(self.freq_itemset_min_supp))
        if verbose:
            tell(f"Number of subgroups: {listing.common()}")
        # The engine has done these two in one go; the lines are there for whoever looks for them.
        tell("Computing candidate recourses for all subgroups.")
        tell("Computing percentages of individuals flipped by each action independently.")
        tell("Computing percentages of individuals flipped by any action with cost up to c, for every c")
        columns = [str(column) for column in X.columns if column != self.prot_attr]
        distances = _rules.distances(columns, list(map(str, self.categorical_features)), self.feature_weights)
        self._affected = mined.affected
        self.rules_by_if, self.rules_with_cumulative = {}, {}
        for subgroup in listing.subgroups():
            by_if, cumulative = listing.lists(subgroup, distances, self.macro_costs == "weighted")
            self.rules_by_if[subgroup.predicate] = by_if
            self.rules_with_cumulative[subgroup.predicate] = cumulative
        self.dataset = X.copy(deep=True)
        return self

    def bias_scan(
        self,
        metric: str = "equal-effectiveness",
        viewpoint: str = "macro",
        sort_strategy: str = "max-cost-diff-decr",
        top_count: int = 10,
        filter_sequence: Sequence[str] = (),
        phi: float = 0.5,
        c: float = 0.5,
    ) -> None:
        """Keeps the most unfair subgroups in ``top_rules``.

        Args:
            metric: "equal-effectiveness", "equal-choice-for-recourse",
                "equal-effectiveness-within-budget", "equal-cost-of-effectiveness",
                "equal-mean-recourse" or "fair-tradeoff".
            viewpoint: ``"macro"`` (one action for all) or ``"micro"`` (each their own).
            sort_strategy: "max-cost-diff-decr", or the same with
                "-ignore-forall-subgroups-empty" (subgroups where no group has a way out come last) or
                "-ignore-exists-subgroup-empty" (where some group has none).
            top_count: How many subgroups to keep, before the filters.
            filter_sequence: Some of "remove-contained", "remove-below-thr-corr",
                "remove-above-thr-cost", "keep-rules-until-thr-corr-reached", "remove-fair-rules" and
                "keep-only-min-change". Not for "fair-tradeoff".
            phi: The effectiveness that counts as recourse.
            c: The budget.
        """
        self._metric = metric
        if viewpoint == "macro":
            rules = self.rules_by_if
        elif viewpoint == "micro":
            rules = self.rules_with_cumulative
        else:
            raise ValueError("viewpoint parameter can be either 'macro' or 'micro'")
        if metric == "fair-tradeoff":
            unfairness = _metrics.trade_off(rules, self._affected)
            ranked = sorted(rules.items(), key=lambda item: unfairness[item[0]], reverse=True)
            self.top_rules, self.unfairness = dict(ranked[:top_count]), unfairness
            self.subgroup_costs = None
            return
        scores = _metrics.costs(rules, _metrics.metric(metric, phi, c))
        ranked = _metrics.ordered(rules, scores, sort_strategy)
        top = dict(ranked[:top_count])
        self.top_rules = _metrics.filtered(top, filter_sequence, scores, phi, c)
        self.subgroup_costs, self.unfairness = scores, None

    def print_recourse_report(
        self,
        population_sizes: Mapping[Any, int] | None = None,
        missing_subgroup_val: Any = "N/A",
        show_subgroup_costs: bool = False,
        show_action_costs: bool = False,
        show_cumulative_plots: bool = False,
        show_bias: Any = None,
        show_unbiased_subgroups: bool = True,
        correctness_metric: bool = False,
    ) -> None:
        """Prints what the last :meth:`bias_scan` kept.

        Args:
            population_sizes: How many are affected in each group, to be printed too.
            missing_subgroup_val: A group that is not printed.
            show_subgroup_costs: Whether to print the metric of each group.
            show_action_costs: Whether to print what actions cost.
            show_cumulative_plots: Whether to draw effectiveness by cost with matplotlib.
            show_bias: Print only subgroups that are biased against this group.
            show_unbiased_subgroups: Whether to print fair subgroups too.
            correctness_metric: Whether a low metric is bad.
        """
        scores = getattr(self, "subgroup_costs", None)
        unfairness = getattr(self, "unfairness", None)
        if scores is None and unfairness is None:
            raise RuntimeError("There is nothing to print yet; call `bias_scan` first.")
        rules = self.top_rules
        if unfairness is not None:
            if not show_unbiased_subgroups:
                # One group beside an implied 0 would always be apart from it; AIF360 compares the
                # trade-off with itself, so nothing is left.
                rules = _metrics.without_fair(rules, {p: {"": s} for p, s in unfairness.items()})
            _report.print_trade_off_report(
                rules,
                population_sizes=population_sizes,
                missing_subgroup_val=missing_subgroup_val,
                unfairness=unfairness,
                show_then_costs=show_action_costs,
                show_cumulative_plots=show_cumulative_plots,
            )
            return
        assert scores is not None
        if not show_unbiased_subgroups:
            rules = _metrics.without_fair(rules, scores)
        _report.print_recourse_report(
            rules,
            population_sizes=population_sizes,
            missing_subgroup_val=missing_subgroup_val,
            subgroup_costs=scores,
            show_subgroup_costs=show_subgroup_costs,
            show_then_costs=show_action_costs,
            show_cumulative_plots=show_cumulative_plots,
            show_bias=show_bias,
            correctness_metric=correctness_metric,
            metric_name=self._metric,
        )

    def _frozen(self, X: Any) -> set[str]:
        if self.feats_allowed_to_change is not None:
            if self.feats_not_allowed_to_change is not None:
                raise ValueError(
                    "Please specify only feats_allowed_to_change or feats_not_allowed_to_change, not both."
                )
            return set(X.columns) - set(self.feats_allowed_to_change)
        return set(self.feats_not_allowed_to_change or ())


def _texts_and_categories(X: Any) -> list[str]:
    import pandas as pd

    def is_one(dtype: Any) -> bool:
        return bool(dtype == object or isinstance(dtype, (pd.CategoricalDtype, pd.StringDtype)))

    return [column for column, dtype in X.dtypes.items() if is_one(dtype)]


class _Values(PandasFrame):
    """A frame of which the engine sees values one by one, numbers too, as AIF360 does."""

    def _column(self, name: str, series: Any) -> _Coded:
        import pandas as pd

        if isinstance(series.dtype, (pd.CategoricalDtype, pd.IntervalDtype)):
            column = super()._column(name, series)
            assert isinstance(column, _Coded)
        else:
            column = self._other(name, series)
        column.order = None
        column.values = dict(zip(column.labels, self._own(series, column), strict=True))
        return column

    @staticmethod
    def _own(series: Any, column: _Coded) -> list[Any]:
        """The values behind the labels, as Python has them."""
        import pandas as pd

        if isinstance(series.dtype, pd.CategoricalDtype):
            return list(series.dtype.categories)
        if isinstance(series.dtype, pd.IntervalDtype):
            return list(series.astype("category").dtype.categories)
        return list(pd.factorize(series)[1])


@dataclass
class _Mined:
    """What the engine found, with the table behind it."""

    found: _facts.Audit
    frame: _Values
    columns: list[str]
    groups: list[Any]
    affected: dict[Any, int]
    #: Which rows have the favourable prediction, and which group each is in, by place in `groups`.
    favourable: Any
    group_of: Any


def _mine(clf: Any, X: Any, prot_attr: str, support: str, frozen: set[str], verbose: bool) -> _Mined:
    frame = _Values(X)
    columns = [str(column) for column in X.columns if column != prot_attr]
    values = {name: frame.values(name) or {} for name in columns}
    rules = {
        name: of_levels(
            _rules.feasible(name, list(values[name].values()), name in frozen),
            values[name],
            frame.has_missing(name),
        )
        for name in columns
    }
    config = {
        "data": {"trim": False},
        "model": {"favourable": 1},
        "protected": {prot_attr: {}},
        "features": {name: {"kind": "categorical", "missing": "level"} for name in columns},
        "audit": {"support": support, "min-members": 1, "max-groups": frame.length},
        # AIF360 tests nothing.
        "evidence": NO_EVIDENCE,
    }
    tell, close = teller(None if verbose else False)
    try:
        found = _facts.audit(
            frame.table(),
            json.dumps(config),
            "{}",
            None,
            None,
            (asker(clf, frame, None), describe(clf), frame.names, False),
            {},
            rules,
            tell,
            True,
        )
    finally:
        close()
    protected = frame.columns[frame.names.index(prot_attr)]
    assert isinstance(protected, _Coded)
    names = {g["name"]: g["affected"] for g in json.loads(found.about())["groups"]}
    own = frame.values(prot_attr) or {}
    codes = [protected.labels.index(name) for name in names]
    place = np.full(len(protected.labels) + 1, -1)
    place[codes] = np.arange(len(codes))
    groups = [own[name] for name in names]
    return _Mined(
        found=found,
        frame=frame,
        columns=columns,
        groups=groups,
        affected=dict(zip(groups, names.values(), strict=True)),
        favourable=np.asarray(clf.predict(X)).ravel().astype(np.int64) == 1,
        group_of=place[protected.codes],
    )


@dataclass
class _Subgroup:
    """One subgroup with its actions, in AIF360's order."""

    place: int
    predicate: Predicate
    members: list[int]
    #: (place in the engine's subgroup, the action, how many features it changes, flips by group)
    actions: list[tuple[int, Predicate, int, list[int]]]


class _Listing:
    """Subgroups and actions in AIF360's order, and its lists of them."""

    def __init__(self, mined: _Mined, support: float) -> None:
        self.mined = mined
        coded = {
            name: column
            for name, column in zip(mined.frame.names, mined.frame.columns, strict=True)
            if isinstance(column, _Coded) and name in set(mined.columns)
        }
        self.places = {
            name: {label: place for place, label in enumerate(column.labels)} for name, column in coded.items()
        }
        self.values = {name: column.values or {} for name, column in coded.items()}
        codes = {name: column.codes for name, column in coded.items()}
        self.unaffected = Sets(codes, mined.favourable)
        self.least = [least_count(support, n) for n in mined.affected.values()]
        self.least_action = least_count(support, self.unaffected.rows)
        self.affected = [Sets(codes, (mined.group_of == g) & ~mined.favourable) for g in range(len(mined.groups))]
        counts = [frequent([own], [n]) for own, n in zip(self.affected, self.least, strict=True)]
        first = min(zip(counts, mined.groups, range(len(counts)), strict=True))[2]
        self.order = [first, *(g for g in range(len(mined.groups)) if g != first)]

    def common(self) -> int:
        """How many subgroups are frequent in every group, with an action or without."""
        return frequent(self.affected, self.least)

    def subgroups(self) -> list[_Subgroup]:
        """Subgroups with an action: the largest in the leading group first, then by text."""
        found = []
        for place, (items, members, actions) in enumerate(self.mined.found.counts()):
            if any(n < least for n, least in zip(members, self.least, strict=True)):
                continue
            if any(label not in self.values[feature] for feature, label in items):
                continue  # to AIF360 no missing value equals another, so they make no subgroup
            kept = list(self._actions(items, actions))
            if kept:
                own = Predicate.from_dict(self._own(items))
                found.append(_Subgroup(place, own, members, kept))
        leading = self.order[0]
        return sorted(found, key=lambda s: (-s.members[leading], str(s.predicate)))

    def _actions(
        self,
        items: list[tuple[str, str]],
        actions: list[tuple[list[tuple[str, str]], list[int | None]]],
    ) -> Iterator[tuple[int, Predicate, int, list[int]]]:
        listed = []
        for place, (change, flips) in enumerate(actions):
            if len(change) == len(self.mined.columns):
                continue  # AIF360 leaves out what changes every column there is
            then = dict(items) | dict(change)
            support = self.unaffected.count([(f, self.places[f].get(v, -1)) for f, v in then.items()])
            if support < self.least_action:
                continue
            predicate = Predicate.from_dict(self._own(then.items()))
            known = [n or 0 for n in flips]
            listed.append((-support, str(predicate), (place, predicate, len(change), known)))
        listed.sort(key=lambda one: one[:2])
        return (action for _, _, action in listed)

    def _own(self, items: Any) -> dict[str, Any]:
        return {feature: self.values[feature][label] for feature, label in items}

    def lists(
        self, subgroup: _Subgroup, distances: Mapping[str, Any], weighted: bool
    ) -> tuple[_metrics.Sides, _metrics.Sides]:
        """A subgroup's actions one by one, and cumulated, by group."""
        own = subgroup.predicate
        costs = []
        for _, then, _, _ in subgroup.actions:
            total: float = 0
            for feature, left, reached in zip(own.features, own.values, then.values, strict=True):
                total += distances[feature](left, reached)
            costs.append(total)
        by_if: _metrics.Sides = {}
        cumulated: _metrics.Sides = {}
        for g in self.order:
            group, members = self.mined.groups[g], subgroup.members[g]
            affected = self.mined.affected[group]
            coverage = members / affected
            # As AIF360 computes it, rounding and all.
            thens: Thens = [
                (
                    then,
                    1 - (members - flips[g]) / (coverage * affected),
                    float(cost if weighted else changed),
                )
                for (_, then, changed, flips), cost in zip(subgroup.actions, costs, strict=True)
            ]
            by_if[group] = (coverage, thens)
            order = sorted(range(len(thens)), key=lambda i: (costs[i], thens[i][1]))
            places = [subgroup.actions[i][0] for i in order]
            reached = self.mined.found.reached_in_order(subgroup.place, g, places)
            cumulated[group] = (
                coverage,
                [(thens[i][0], n / members, float(costs[i])) for i, n in zip(order, reached, strict=True)],
            )
        return by_if, cumulated
