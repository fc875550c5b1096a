"""AIF360's FACTS against facts.aif360: the same call, in one run, as a ratio.

    python against_aif360.py [--support 0.05] [--record verification/records/aif360.md]

Needs both (verification/peers/requirements.txt and this package). With a scikit-learn logistic
regression and a random forest on Adult, sex protected. AIF360 takes minutes with the first and longer
with the second.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import statistics
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "aif360"))
from data import Counting, adult  # noqa: E402

RUNS = 5


def fit(module: Any, case: Any, support: float) -> tuple[float, int, int, Any]:
    """Seconds, rows asked, calls, and the detector."""
    model = Counting(case.model)
    detector = module.FACTS(model, case.protected, freq_itemset_min_supp=support)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector.fit(case.X, verbose=False)
    return time.perf_counter() - start, model.rows, model.calls, detector


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--support", type=float, default=0.05)
    parser.add_argument("--record", type=Path, help="where to write the table")
    options = parser.parse_args()

    from aif360.sklearn import detectors as theirs
    from facts import aif360 as ours
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_estimators=50, max_depth=12, random_state=0, n_jobs=1)
    rows = []
    for name, last in [("logistic regression", None), ("random forest, 50 trees", forest)]:
        case = adult(last=last)
        runs = [fit(ours, case, options.support) for _ in range(RUNS)]
        seconds = statistics.median(run[0] for run in runs)
        _, asked_here, calls_here, here = runs[0]
        print(f"{name}: ours {seconds:.2f} s", flush=True)
        their_seconds, asked, calls, there = fit(theirs, case, options.support)
        print(f"{name}: AIF360 {their_seconds:.1f} s, {their_seconds / seconds:.0f} times as long", flush=True)
        same = {str(p) for p in here.rules_by_if} == {str(p) for p in there.rules_by_if}
        assert same, "the two found different subgroups"
        rows.append(
            f"| {name} | {their_seconds:.1f} s | {seconds:.2f} s | **{their_seconds / seconds:.0f}** "
            f"| {asked:,} in {calls:,} calls | {asked_here:,} in {calls_here} calls |"
        )
    if options.record is None:
        return
    tools = ", ".join(f"{p} {version(p)}" for p in ("aif360", "mlxtend", "scikit-learn", "pandas", "facts-audit"))
    command = " ".join(["python python/benchmarks/against_aif360.py", f"--support {options.support}"])
    lines = [
        f"# AIF360's FACTS against `facts.aif360`: Adult, sex protected, support {options.support:g}",
        "",
        f"Made by `{command} --record verification/records/aif360.md` on {datetime.date.today()}, "
        f"{platform.machine()}, 2 cores, Python {platform.python_version()}, {tools}.",
        "",
        f'`FACTS(pipeline, "sex", freq_itemset_min_supp={options.support:g}).fit(X)`, the import line apart the same '
        "call: a scikit-learn pipeline of one-hot encoding and a classifier, 13,567 people. AIF360 once, ours the "
        f"median of {RUNS}. Both find the same {len(here.rules_by_if):,} subgroups with the forest.",
        "",
        "| classifier | AIF360 | ours | times as fast | rows asked by AIF360 | rows asked by ours |",
        "| --- | --- | --- | --- | --- | --- |",
        *rows,
        "",
    ]
    options.record.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
