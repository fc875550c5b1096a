#!/usr/bin/env python3
"""Run AIF360's FACTS on the Adult / sex reference data and write what it found as JSON.

    python aif360_facts.py FOLDER OUT.json [--support 0.1] [--plain-columns]

FOLDER holds X_test.csv.gz, pred_test.csv.gz and model_coef.json (the fixture folder of the
engine's tests). The detector is `aif360.sklearn.detectors.FACTS`, run as its users run it;
the model is the reference logistic regression. Nothing is changed in AIF360: a few of its
functions are wrapped in order to time them and to keep what they return on the way.

What AIF360 0.6.1 does, from reading its source and from this run
-----------------------------------------------------------------
Subgroups
* Itemsets come from mlxtend's fpgrowth, per protected group, without the protected column; the
  least count is ceil(support * n) in binary floating point (7 of 100 does not pass 0.07).
  The intersection over the groups is kept. Subgroups without an action vanish from the result;
  they can be seen only inside, so the script keeps the intersection as well.
* Coverage is mlxtend's support: members / affected of that group (never of the population).
* A row is dropped when its protected value is the text "N/A".
Actions
* Frequent itemsets of all the unaffected *with* the protected column among the items; those
  with that column never match a subgroup, so they only cost time. An action has exactly the
  features of its subgroup (SPEC's `joint`) and differs in one at least.
* Feasibility goes by column *name*: `age`, `ages`, `age_cat`, `education-num`, `parents` and
  one column of the SSL data may not decrease; `sex` may not change; only the exact text "Unknown"
  is barred as a target. `age` and `education-num` rise by two at most (bins for age; units, not
  ranks, for education-num). An `age` column of pd.Interval is a must: the step rule reads the
  left end of every value and crashes without. No parameter turns these rules off or
  names other columns (columns can only be frozen).
* An interval feature of the predicate may stay as it is: the rule of later versions of the
  authors' code, that it must change, is not in 0.6.1.
* An action over all non-protected columns that changes each of them is left out.
Effectiveness
* 1 - incorrect / (coverage * n), in floating point: a ratio of counts with noise in the last
  digits. Micro: flips accumulated in the order (cost, macro effectiveness), action by action.
* The protected column is appended again as the last column before the model is asked, so a model
  that goes by column position would read the wrong columns. All members are asked again for each
  action, and once more for the micro figures.
Cost
* Macro rules: calc_costs is called without parameters, so weights, numbers and order are ignored
  and the cost is the number of changed features.
* Micro rules: weights are used, but a column is either categorical or a plain number: ordinal
  columns and normalised numbers cannot be asked for through the FACTS class. Here hours-per-week
  is therefore costed as categorical and capital-gain / capital-loss in dollars.
* The functions below the class can do both, so the script also asks them for the authors' costs
  (`cost_configured`), which should equal ours.
Scores (not compared here): no action in budget gives infinity; trade-off is read action by action,
  multiplied by sqrt(n0*n1/(n0+n1)), and only for two groups; `top_count` cuts before the filters run.
Set-up: mlxtend 0.23.4 did not finish on this data in five minutes; tqdm, colorama
  and mlxtend are extras, and without them the import only logs a warning and FACTS fails later on.
"""

import argparse
import json
import platform
import re
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

PROTECTED = "sex"
NUMERIC = ["education-num", "capital-gain", "capital-loss"]
NORMALISED = ["capital-gain", "capital-loss"]
HOURS = ["PartTime", "MidTime", "FullTime", "OverTime", "BrainDrain"]
WEIGHTS = {
    "native-country": 4,
    "marital-status": 5,
    "relationship": 5,
    "age": 10,
    "occupation": 4,
    "Workclass": 2,
    "hours-per-week": 2,
    "capital-gain": 1,
    "capital-loss": 1,
    "education-num": 3,
    "race": 100,
    PROTECTED: 100,
}
INTERVAL = re.compile(r"\(([-0-9.]+), ([-0-9.]+)\]")


def interval(text):
    """A printed interval as pd.Interval; it must print as the same text again."""
    ends = INTERVAL.fullmatch(text)
    if ends is None:
        sys.exit(f"not an interval: {text!r}")
    parsed = pd.Interval(float(ends[1]), float(ends[2]), closed="right")
    if str(parsed) != text:
        sys.exit(f"{text!r} prints as {str(parsed)!r}")
    return parsed


class Model:
    """The reference logistic regression; counts what it is asked for."""

    def __init__(self, file):
        spec = json.loads(Path(file).read_text())
        self.intercept = spec["intercept"]
        self.numeric = {n["feature"]: n["coef"] for n in spec["numeric"]}
        self.onehot = {}
        for entry in spec["onehot"]:
            self.onehot.setdefault(entry["feature"], {})[entry["value"]] = entry["coef"]
        # AIF360's ages are intervals, the model's are their printed text
        self.onehot["age"] = {interval(text): c for text, c in self.onehot["age"].items()}
        self.tables = {}
        self.calls = self.rows = 0
        self.seconds = 0.0

    def table(self, feature, categories):
        """Coefficients by category code (the last one, for code -1, is 0); made once."""
        known = self.tables.get(feature)
        if known is None or not (known[0] is categories or known[0].equals(categories)):
            coefs = self.onehot[feature]
            known = (categories, np.array([coefs.get(c, 0.0) for c in categories] + [0.0]))
            self.tables[feature] = known
        return known[1]

    def scores(self, X):
        total = np.full(len(X), self.intercept)
        for feature, coefs in self.onehot.items():
            column = X[feature]
            if isinstance(column.dtype, pd.CategoricalDtype):
                total += self.table(feature, column.cat.categories)[column.cat.codes.to_numpy()]
            else:
                codes, values = pd.factorize(column.to_numpy(dtype=object))
                total += np.array([coefs.get(v, 0.0) for v in values] + [0.0])[codes]
        for feature, coef in self.numeric.items():
            total += coef * X[feature].to_numpy(dtype=float)
        return total

    def predict(self, X):
        start = time.perf_counter()
        answer = (self.scores(X) > 0).astype(int)
        self.seconds += time.perf_counter() - start
        self.calls += 1
        self.rows += len(X)
        return answer


def load(folder, plain):
    """The test rows as AIF360 wants them: ages as intervals, hours as ordered categories.

    The other texts become categories too, with which AIF360 runs in about two thirds of the time;
    `plain` leaves them as Python objects, as AIF360's own preparation of Adult does.
    """
    X = pd.read_csv(folder / "X_test.csv.gz", dtype=dict.fromkeys(NUMERIC, np.int64))
    ages = sorted(X["age"].unique(), key=lambda text: interval(text).left)
    codes = X["age"].map({text: code for code, text in enumerate(ages)}).to_numpy()
    # objects, not an IntervalIndex, which pandas would unpack anew for each comparison
    intervals = pd.Index([interval(text) for text in ages], dtype=object)
    for column in X.columns.difference(NUMERIC):
        X[column] = X[column].astype(object)
        if not plain:
            X[column] = pd.Categorical(X[column])
    X["age"] = pd.Categorical.from_codes(codes, categories=intervals, ordered=True)
    X["hours-per-week"] = pd.Categorical(X["hours-per-week"], categories=HOURS, ordered=True)
    if X.isna().any(axis=None):
        sys.exit("a value is missing after preparation")
    return X


def items(pairs):
    return sorted([feature, str(value)] for feature, value in pairs)


def main():
    cli = argparse.ArgumentParser(description="AIF360's FACTS on the reference data, as JSON")
    cli.add_argument("folder", type=Path, help="folder with X_test.csv.gz, pred_test.csv.gz, model_coef.json")
    cli.add_argument("out", type=Path, help="JSON file to write")
    cli.add_argument("--support", default="0.1", help="least support, a decimal (default 0.1)")
    cli.add_argument(
        "--plain-columns", action="store_true", help="text columns as Python objects instead of categories (slower)"
    )
    cli.add_argument("--verbose", action="store_true", help="show AIF360's progress bars")
    args = cli.parse_args()

    import aif360.sklearn.detectors.facts as facts
    from aif360.sklearn.detectors.facts import misc, parameters

    X = load(args.folder, args.plain_columns)
    model = Model(args.folder / "model_coef.json")
    expected = pd.read_csv(args.folder / "pred_test.csv.gz")
    predicted = model.predict(X)
    wrong = int((predicted != expected["pred"].to_numpy()).sum())
    if wrong:
        sys.exit(f"{wrong} predictions differ from pred_test.csv.gz")
    groups = sorted(X[PROTECTED].unique())
    sizes = {g: int(((X[PROTECTED] == g) & (predicted == 0)).sum()) for g in groups}
    model.calls = model.rows = 0
    model.seconds = 0.0

    # wrappers: time and model rows per stage, and the intersection before actions are looked for
    stages, kept = {}, {}

    def watch(module, name, stage):
        original = getattr(module, name)

        def wrapper(*a, **k):
            before = (model.calls, model.rows, model.seconds)
            start = time.perf_counter()
            result = original(*a, **k)
            spent = time.perf_counter() - start
            entry = stages.setdefault(stage, {"seconds": 0.0, "model_calls": 0, "model_rows": 0, "model_seconds": 0.0})
            entry["seconds"] += spent
            entry["model_calls"] += model.calls - before[0]
            entry["model_rows"] += model.rows - before[1]
            entry["model_seconds"] += model.seconds - before[2]
            kept.setdefault(stage, []).append(result)
            return result

        setattr(module, name, wrapper)

    watch(misc, "freqitemsets_with_supports", "mining")
    watch(misc, "aff_intersection_version_2", "intersection")
    watch(misc, "calculate_correctnesses", "effectiveness")
    watch(facts, "valid_ifthens", "all up to effectiveness")
    watch(facts, "cum_corr_costs_all", "cumulative")

    detector = facts.FACTS(
        clf=model,
        prot_attr=PROTECTED,
        categorical_features=[c for c in X.columns if c not in NUMERIC],
        freq_itemset_min_supp=float(args.support),
        feature_weights=WEIGHTS,
    )
    start = time.perf_counter()
    detector.fit(X, verbose=args.verbose)
    fit_seconds = time.perf_counter() - start
    asked = {"calls": model.calls, "rows": model.rows, "seconds": model.seconds}

    start = time.perf_counter()
    detector.bias_scan(metric="equal-cost-of-effectiveness", viewpoint="macro", phi=0.7, top_count=10)
    scan_seconds = time.perf_counter() - start

    # the authors' costs through the functions below the FACTS class
    changes = parameters.feature_change_builder(
        X=X[NUMERIC + ["hours-per-week"]],
        num_cols=NUMERIC,
        cate_cols=[c for c in X.columns if c not in NUMERIC + ["hours-per-week"]],
        ord_cols=["hours-per-week"],
        feature_weights=WEIGHTS,
        num_normalization=True,
        feats_to_normalize=NORMALISED,
    )
    rules_without_costs = misc.rules2rulesbyif(kept["effectiveness"][0])
    configured = misc.calc_costs(rules_without_costs, parameters.ParameterProxy(featureChanges=changes))

    subgroups = []
    for predicate, macro in detector.rules_by_if.items():
        micro = detector.rules_with_cumulative[predicate]
        thens = [then for then, _, _ in macro[groups[0]][1]]
        actions = {}
        for then in thens:
            change = items((f, v) for f, v in then.to_dict().items() if predicate.to_dict()[f] != v)
            actions[then] = {"change": change, "effectiveness": [], "cumulative": []}
        for g in groups:
            if len(macro[g][1]) != len(actions) or len(micro[g][1]) != len(actions):
                sys.exit(f"the groups have different actions for {predicate}")
            for then, effectiveness, cost in macro[g][1]:
                actions[then]["effectiveness"].append(float(effectiveness))
                actions[then].setdefault("cost_macro", []).append(float(cost))
            for place, (then, cumulative, cost) in enumerate(micro[g][1]):
                actions[then]["cumulative"].append([place, float(cumulative)])
                actions[then].setdefault("cost_micro", []).append(float(cost))
            for then, _, cost in configured[predicate][g][1]:
                actions[then].setdefault("cost_configured", []).append(float(cost))
        for action in actions.values():
            for kind in ("cost_macro", "cost_micro", "cost_configured"):
                if len(set(action[kind])) != 1:
                    sys.exit(f"{kind} differs between the groups for {predicate}")
                action[kind] = action[kind][0]
        coverage = [float(macro[g][0]) for g in groups]
        subgroups.append(
            {
                "items": items(predicate.to_dict().items()),
                "coverage": coverage,
                "members": [round(c * sizes[g]) for c, g in zip(coverage, groups)],
                "actions": sorted(actions.values(), key=lambda a: a["change"]),
            }
        )
    common = [
        {"items": items(p.to_dict().items()), "coverage": [float(supports[g]) for g in groups]}
        for p, supports in kept["intersection"][0]
    ]

    result = {
        "tool": "aif360",
        "versions": {
            "python": platform.python_version(),
            **{p: version(p) for p in ("aif360", "mlxtend", "pandas", "numpy", "scikit-learn")},
        },
        "support": args.support,
        "protected": PROTECTED,
        "costs": {
            "weights": WEIGHTS,
            "numeric": NUMERIC,
            "normalised": NORMALISED,
            "ordinal": {"hours-per-week": HOURS},
            "ranges": {c: [int(X[c].min()), int(X[c].max())] for c in NORMALISED},
        },
        "interval_features": {"age": [str(level) for level in X["age"].cat.categories]},
        "features": [c for c in X.columns if c != PROTECTED],
        "groups": groups,
        "members_of_groups": [sizes[g] for g in groups],
        "unaffected": int((predicted == 1).sum()),
        "frequent_itemsets": {
            **{g: len(m[0]) for g, m in zip(groups, kept["mining"])},
            "unaffected": len(kept["mining"][-1][0]),
        },
        "common_subgroups": sorted(common, key=lambda s: s["items"]),
        "subgroups": sorted(subgroups, key=lambda s: s["items"]),
        "timings": {"fit": fit_seconds, "bias_scan": scan_seconds, "stages": stages},
        "model": asked,
    }
    args.out.write_text(json.dumps(result, indent=1) + "\n")
    print(
        json.dumps(
            {
                "common_subgroups": len(common),
                "subgroups": len(subgroups),
                "pairs": sum(len(s["actions"]) for s in subgroups),
                "fit_seconds": round(fit_seconds, 3),
                "stages": {k: round(v["seconds"], 3) for k, v in stages.items()},
                "model": {**asked, "seconds": round(asked["seconds"], 3)},
            }
        )
    )


if __name__ == "__main__":
    main()
