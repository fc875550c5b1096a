#!/usr/bin/env python3
"""Time PyFIM (Borgelt's C miners) on the mining step of an audit: the frequent itemsets of the
affected women, those of the affected men, and the itemsets common to both.

    python pyfim_mining.py FOLDER [--support 0.01] [--repeats 15] [--expect 13272]

FOLDER holds X_test.csv.gz and pred_test.csv.gz. Affected: prediction 0. Items are feature = value over
all columns but sex; the least count is ceil(support * n) exactly, passed as an absolute number.

Made as quick as it reasonably can be for PyFIM:
* Loading, encoding and counting equal transactions are outside the timings, and Python's garbage
  collector rests during them. Items are integers, one digit of a mixed radix per
  feature, so that the sum of an itemset's items names it whatever the order of the items (the two
  runs order items differently); that makes the intersection about three times quicker than sorted
  tuples and four times quicker than frozensets. One value a feature holds by the data itself.
* Every variant of an algorithm and both input forms (list of transactions; dictionary of distinct
  transactions and their multiplicities) get a first, short run; the quickest is then measured.
* Itemsets are reported with their absolute support, which an audit needs.
* A variant whose result differs is left out and named: eclat's bit vectors (variant b) ignore the
  multiplicities of a dictionary (PyFIM 6.28).

Prints one JSON line per algorithm; seconds are the best of the repeats, medians are beside them.
"""

import argparse
import gc
import json
import math
import statistics
import sys
import time
from collections import Counter
from fractions import Fraction
from operator import itemgetter
from pathlib import Path

import fim
import pandas as pd

PROTECTED = "sex"
VARIANTS = {"fpgrowth": "scdt", "eclat": "aeibtsrod"}


def transactions(folder):
    """Transactions of the affected women and men, as tuples of integer items."""
    X = pd.read_csv(folder / "X_test.csv.gz", dtype=str, keep_default_na=False)
    affected = (pd.read_csv(folder / "pred_test.csv.gz")["pred"] == 0).to_numpy()
    columns, radix = [], 1
    for feature in X.columns.drop(PROTECTED):
        codes, levels = pd.factorize(X[feature], sort=True)
        columns.append([(int(c) + 1) * radix for c in codes])
        radix *= len(levels) + 1
    rows = list(zip(*columns))
    sex = X[PROTECTED].str.strip()
    return [[r for r, keep in zip(rows, affected & (sex == g).to_numpy()) if keep] for g in ("Female", "Male")]


def timed(call):
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    gc.enable()
    return seconds, result


def common(women, men):
    """Names (sums of items) of the itemsets that are in both results."""
    first = itemgetter(0)
    return set(map(sum, map(first, women))).intersection(map(sum, map(first, men)))


def named(result):
    return {sum(itemset): support for itemset, support in result}


def main():
    cli = argparse.ArgumentParser(description="PyFIM's time for mining the subgroups of the reference data")
    cli.add_argument("folder", type=Path, help="folder with X_test.csv.gz and pred_test.csv.gz")
    cli.add_argument("--support", default="0.01", help="least support, a decimal (default 0.01)")
    cli.add_argument("--repeats", type=int, default=15)
    cli.add_argument("--trials", type=int, default=4, help="short runs of each variant (default 4)")
    cli.add_argument("--expect", type=int, help="fail unless so many itemsets are common")
    args = cli.parse_args()

    groups = transactions(args.folder)
    least = [math.ceil(Fraction(args.support) * len(g)) for g in groups]
    forms = {"list": groups, "dictionary": [dict(Counter(g)) for g in groups]}
    truth = [named(fim.fpgrowth(g, target="s", supp=-n, report="a")) for g, n in zip(groups, least)]

    for algo, variants in VARIANTS.items():
        mine = getattr(fim, algo)

        def run(variant, form, group):
            return timed(lambda: mine(forms[form][group], target="s", supp=-least[group], report="a", algo=variant))

        trials, wrong = [], []
        for variant in variants:
            for form in forms:
                results = [run(variant, form, group)[1] for group in (0, 1)]
                if [named(r) for r in results] != truth:
                    wrong.append(f"{variant}/{form}")
                    continue
                del results
                spent = sum(min(run(variant, form, g)[0] for _ in range(args.trials)) for g in (0, 1))
                trials.append((spent, variant, form))
        _, variant, form = min(trials)

        times = {"women": [], "men": [], "intersection": []}
        for _ in range(args.repeats):
            seconds, women = run(variant, form, 0)
            times["women"].append(seconds)
            seconds, men = run(variant, form, 1)
            times["men"].append(seconds)
            seconds, both = timed(lambda: common(women, men))
            times["intersection"].append(seconds)
        print(
            json.dumps(
                {
                    "algo": algo,
                    "variant": variant,
                    "input": form,
                    "support": args.support,
                    "rows": [len(g) for g in groups],
                    "least_count": least,
                    "itemsets": [len(women), len(men)],
                    **{f"seconds_{k}": round(min(v), 6) for k, v in times.items()},
                    "median": {k: round(statistics.median(v), 6) for k, v in times.items()},
                    "repeats": args.repeats,
                    "wrong_variants": wrong,
                    "common": len(both),
                }
            )
        )
        if args.expect is not None and len(both) != args.expect:
            sys.exit(f"{len(both)} common itemsets, {args.expect} expected")


if __name__ == "__main__":
    main()
