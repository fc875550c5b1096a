#!/usr/bin/env python3
"""Fits the SSL stand-in to the published figures and writes parameters/ssl.json.

Usage: strategic_subjects.py DATA

DATA   folder with marginals.json, treemap_ssl_groups.csv, ssl_itemset_coverage.csv and
       ssl_history_coverage.csv

Itemsets that the hold-out rule (common.held_out) names are not read while fitting.
"""

import argparse
import csv
import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from common import Grid, held_out, micro, minimise, write

AGE, SEX, TREND, GANG = (
    "PREDICTOR RAT AGE AT LATEST ARREST",
    "SEX CODE CD",
    "PREDICTOR RAT TREND IN CRIMINAL ACTIVITY",
    "PREDICTOR RAT GANG AFFILIATION",
)
SHOOTING, BATTERY, VIOLENT, NARCOTIC, WEAPON = (
    "PREDICTOR RAT VICTIM SHOOTING INCIDENTS",
    "PREDICTOR RAT VICTIM BATTERY OR ASSAULT",
    "PREDICTOR RAT ARRESTS VIOLENT OFFENSES",
    "PREDICTOR RAT NARCOTIC ARRESTS",
    "PREDICTOR RAT UUW ARRESTS",
)
# Column: its name in describe(), in unique_values, and from which number on values share a level.
COUNTS = {
    SHOOTING: ("VICTIM SHOOTING", "SHOOTING", 2),
    BATTERY: ("VICTIM BATTERY OR ASSAULT", "BATTERY", 3),
    VIOLENT: ("ARRESTS VIOLENT", "VIOLENT", 3),
    NARCOTIC: ("NARCOTIC", "NARCOTIC", 5),
    WEAPON: ("UUW", "UUW", 2),
}
TRENDS = ["(-8.200999999999999, -0.3]", "(-0.3, -0.2]", "(-0.2, -0.1]", "(-0.1, 0.1]", "(0.1, 0.3]", "(0.3, 7.3]"]
# Shares of the values of the trend, in tenths. The published quartiles and the edges of the six
# quantile bins bound each cumulated share; these lie inside the bounds. The two tails are geometric
# and carry what the middle leaves; their slopes meet the published mean and deviation.
TREND_MIDDLE = {-3: 0.160, -2: 0.140, -1: 0.130, 0: 0.080, 1: 0.080, 2: 0.080, 3: 0.060}
TREND_BELOW, TREND_ABOVE = 0.130, 0.140
AGES = ["10-20", "20-30", "30-40", "40-50", "50+"]
CURRENT = {"<20": 0, "20-30": 1, "30-40": 2, "40-50": 3, "50-60": 4, "60-70": 4, "70-80": 4}
FEATURES = {
    AGE: AGES,
    SHOOTING: ["0", "1", "2+"],
    BATTERY: ["0", "1", "2", "3+"],
    VIOLENT: ["0", "1", "2", "3+"],
    GANG: ["0", "1"],
    NARCOTIC: ["0", "1", "2", "3", "4", "5+"],
    TREND: TRENDS,
    WEAPON: ["0", "1", "2+"],
    SEX: ["M", "F"],
}
RACES = ["BLK", "WHI"]
# What the paper's run predicted in its test part, and the people of that part.
AFFECTED, LABELLED, TESTED = np.array([7972, 2193]), np.array([8072, 3271]), np.array([62924, 54597])
PRECISION = 0.77
UNFAVOURABLE = 345


def items(text):
    return [tuple(item.split("=", 1)) for item in text.split(" & ")]


def coverages(folder):
    """Itemset → coverage among affected Black and White, from every notebook of the paper's run.

    A notebook is of that run if it shares itemsets with the experiment's own notebook and agrees
    on all of them.
    """
    notebooks = {}
    for row in csv.DictReader((folder / "ssl_itemset_coverage.csv").open()):
        if row["cover_pct_BLK"] and row["cover_pct_WHI"]:
            pair = (float(row["cover_pct_BLK"]), float(row["cover_pct_WHI"]))
            notebooks.setdefault(row["notebook"], {})[row["itemset"]] = pair
    halves = {}
    for row in csv.DictReader((folder / "ssl_history_coverage.csv").open()):
        key = (row["notebook_blob"], row["itemset"])
        halves.setdefault(key, {})[row["protected_value"]] = float(row["coverage_pct_of_affected"])
    for (notebook, itemset), half in halves.items():
        if set(half) >= set(RACES):
            notebooks.setdefault(notebook, {})[itemset] = tuple(half[r] for r in RACES)
    paper = notebooks["examples_SSL_SSL-Experiments.ipynb"]
    found = {}
    for known in notebooks.values():
        common = set(known) & set(paper)
        if common and all(known[i] == paper[i] for i in common):
            found.update(known)
    return dict(sorted(found.items()))


def geometric(mean, deviation, values):
    """Shares of counts with a geometric tail: two published moments determine it."""
    ratio = (deviation**2 + mean**2) / mean
    r = (ratio - 1) / (ratio + 1)
    shares = {k: mean * (1 - r) ** 2 * r ** (k - 1) for k in values if k > 0}
    return {0: 1 - sum(shares.values()), **shares}


def trend(mean, deviation, lowest, highest):
    """Shares of the trend's values in tenths, the tails' slopes found by bisection."""

    def tails(below, above):
        low = {-4 - k: below**k for k in range(-4 - lowest + 1)}
        high = {4 + k: above**k for k in range(highest - 4 + 1)}
        low = {k: TREND_BELOW * v / sum(low.values()) for k, v in low.items()}
        high = {k: TREND_ABOVE * v / sum(high.values()) for k, v in high.items()}
        return {**dict(sorted(low.items())), **TREND_MIDDLE, **high}

    best = None
    for below in np.linspace(0.3, 0.95, 131):
        for above in np.linspace(0.3, 0.95, 131):
            shares = tails(below, above)
            k, s = np.array(list(shares)) / 10, np.array(list(shares.values()))
            m = (k * s).sum()
            miss = abs(m - mean) + abs(np.sqrt((k * k * s).sum() - m * m) - deviation)
            if best is None or miss < best[0]:
                best = (miss, shares)
    print(f"trend: mean and deviation missed by {best[0]:.5f} in all")
    assert abs(sum(best[1].values()) - 1) < 1e-9
    return best[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    folder = parser.parse_args().data
    published = json.loads((folder / "marginals.json").read_text())
    describe = published["describe"]
    grid = Grid(FEATURES)

    known = coverages(folder)
    out = np.array([held_out(i) for i in known])
    inside = np.array([grid.members(items(i)) for i in known]).astype(np.float32)
    cover = np.array(list(known.values())).T / 100
    print(f"{len(known)} itemsets, {out.sum()} held out; {len(grid.cells)} cells")

    # Shares of race × sex × current age group, and of the unfavourable label among them.
    joint = list(csv.DictReader((folder / "treemap_ssl_groups.csv").open()))
    people, unfavourable = np.zeros((2, 2, 5)), np.zeros((2, 2, 5))
    for row in joint:
        race = {"Black": 0, "White": 1, "Hispanic": 1}.get(row["race"])
        sex = {"Men": 0, "Women": 1}.get(row["sex"])
        if race is not None and sex is not None:
            at = (race, sex, CURRENT[row["age"]])
            people[at] += int(row["count"])
            unfavourable[at] += int(row["count"]) * (int(row["ssl_score"]) >= UNFAVOURABLE)
    shares = people / people.sum((1, 2), keepdims=True)
    rates = unfavourable / people
    race_share = people.sum((1, 2)) / people.sum()

    values = {
        c: geometric(describe[d]["mean"], describe[d]["std"], published["unique_values"][u])
        for c, (d, u, _) in COUNTS.items()
    }
    trends = trend(describe["TREND"]["mean"], describe["TREND"]["std"], -82, 73)
    edges = [-82, -3, -2, -1, 1, 3, 73]
    margins = []
    for column, (_, _, top) in COUNTS.items():
        for level in range(top + 1):
            target = sum(s for k, s in values[column].items() if min(k, top) == level)
            margins.append(((grid.cells[:, grid.names.index(column)] == level).astype(float), target))
    for bin_ in range(6):
        target = sum(s for k, s in trends.items() if (edges[bin_] < k or bin_ == 0) and k <= edges[bin_ + 1])
        margins.append(((grid.cells[:, grid.names.index(TREND)] == bin_).astype(float), target))
    margins.append((grid.members([(GANG, "1")]).astype(float), describe["GANG"]["mean"]))
    members = np.array([m for m, _ in margins])
    targets = np.array([t for _, t in margins])

    ones, main_size = grid.terms(1)
    twos, pair_size = grid.terms(2)
    age, sex = grid.cells[:, grid.names.index(AGE)], grid.cells[:, grid.names.index(SEX)]
    age_sex = sex * 5 + age
    # How a number enters the score: the mean of the values that share its top level.
    numbers = {}
    for column, (_, _, top) in COUNTS.items():
        tail = {k: s for k, s in values[column].items() if k >= top}
        mean = sum(k * s for k, s in tail.items()) / sum(tail.values())
        numbers[column] = np.array([*range(top), mean])[grid.cells[:, grid.names.index(column)]]
    slopes = np.stack([*numbers.values(), grid.cells[:, grid.names.index(GANG)].astype(float)])
    bins = grid.cells[:, grid.names.index(TREND)]
    fitted = ~out
    sizes = [pair_size, 2 * main_size, 2 * pair_size, 4, 5, 6, 2, len(slopes), 2]

    def add(terms, v):
        return sum(v[index] for _, index in terms)

    def unpack(x):
        pairs, own, own_pairs, younger, by_age, by_trend, by_sex, by_number, by_race = jnp.split(
            x, np.cumsum(sizes)[:-1]
        )
        own, own_pairs = own.reshape(2, -1), own_pairs.reshape(2, -1)
        base = add(twos, pairs)
        eta = jnp.stack([base + add(ones, own[r]) + add(twos, own_pairs[r]) for r in range(2)])
        p = jax.nn.softmax(eta, axis=1)
        f = by_age[age] + by_trend[bins] + by_sex[sex] + by_number @ slopes
        f = f[None, :] + by_race[:, None]
        return pairs, own, own_pairs, younger, p, f

    def loss(x, sharpness, margin):
        pairs, own, own_pairs, younger, p, f = unpack(x)
        label = jax.nn.sigmoid(f)
        result = 0.0
        # The coverages must hold wherever within the margin the boundary of a fitted model falls:
        # no cell that many people share may lie on it.
        for shift in (-margin, margin) if margin else (0.0,):
            affected = jax.nn.sigmoid(sharpness * (f + shift))
            q = p * affected
            total = q.sum(1)
            part = 0.5 if margin else 1.0
            covered = (q.astype(jnp.float32) @ inside.T) / total[:, None]
            result += part * (((covered - cover) / (1e-3 + 0.02 * cover)) ** 2 * fitted).sum()
            result += part * (((total - AFFECTED / TESTED) / (0.004 * AFFECTED / TESTED)) ** 2).sum()
        # Age at the latest arrest is the current group or the one below.
        step = jax.nn.sigmoid(younger)
        down = jnp.concatenate([jnp.zeros(1), step])
        up = jnp.concatenate([step, jnp.zeros(1)])
        shifted = jnp.concatenate([shares[:, :, 1:], jnp.zeros((2, 2, 1))], 2)
        wanted = shares * (1 - down) + shifted * up
        cells = jnp.stack([jax.ops.segment_sum(p[r], age_sex, 10) for r in range(2)]).reshape(2, 2, 5)
        result += (((cells - wanted) / (5e-4 + 0.005 * wanted)) ** 2).sum()
        high = jnp.stack([jax.ops.segment_sum(p[r] * label[r], age_sex, 10) for r in range(2)]).reshape(2, 2, 5)
        rate = high / cells
        older = jnp.concatenate([jnp.zeros((2, 2, 1)), rate[:, :, :-1]], 2)
        rate = rate * (1 - down) + older * down
        result += (((rate - rates) / (0.001 + 0.02 * rates)) ** 2 * shares).sum() * 100
        pooled = race_share @ p
        result += (((members @ pooled - targets) / (2e-4 + 0.005 * targets)) ** 2).sum()
        correct = race_share @ (q * label).sum(1) / (race_share @ total)
        result += ((correct - PRECISION) / 0.01) ** 2
        result += 0.05 * (pairs**2).sum() + 0.02 * (own**2).sum() + 0.3 * (own_pairs**2).sum()
        result += ((younger + 1.4) ** 2).sum() / 0.18
        return result + 0.01 * (x[-sum(sizes[4:]) :] ** 2).sum()

    x = np.zeros(sum(sizes))
    start = sizes[0]
    for race in range(2):
        at = start + race * main_size
        for (feature,), _ in ones:
            name = grid.names[feature]
            for level in range(grid.sizes[feature]):
                if name in COUNTS or name in (TREND, GANG):
                    member = [t for m, t in margins if np.array_equal(m, grid.cells[:, feature] == level)]
                    share = member[0] if member else 1 - describe["GANG"]["mean"]
                elif name == AGE:
                    share = shares[race].sum(0)[level]
                else:
                    share = shares[race].sum(1)[level]
                x[at] = np.log(share)
                at += 1
    x[start + 2 * main_size + 2 * pair_size :][:4] = -1.4
    weights = -sum(sizes[4:])
    x[weights:] = np.concatenate([[2, 0.5, -2, -4, -6], [0, 0, 0, 0, 0.5, 1], [0.2, 0], [3, 2, 2, 0.5, 1, 1], [-3, -3]])
    for sharpness, margin, steps in ((2, 0.0, 150), (5, 0.0, 200), (12, 0.1, 250), (25, 0.1, 200), (40, 0.1, 150)):
        x = minimise(lambda v: loss(v, sharpness, margin), x, steps)

    pairs, own, own_pairs, younger, p, f = unpack(jnp.asarray(x))
    p, f = np.array(p), np.array(f)
    q = p * (f > 0)
    error = 100 * np.abs((q @ inside.T) / q.sum(1)[:, None] - cover)
    for name, part in (("fitted", fitted), ("held out", out)):
        print(
            f"{name}: coverage off by {error[:, part].mean():.3f} points (most {error[:, part].max():.2f}),",
            f"relative {(error[:, part] / cover[:, part] / 100).mean():.3f}",
        )
    label = 1 / (1 + np.exp(-f))
    right = race_share @ (q * label).sum(1)
    print("affected shares", q.sum(1), "published", AFFECTED / TESTED)
    print("labelled shares", (p * label).sum(1), "published", LABELLED / TESTED)
    print("precision", right / (race_share @ q.sum(1)), "recall", right / (race_share @ (p * label).sum(1)))
    print(
        "margins (here, published)", [(round(float(m @ (race_share @ p)), 5), round(float(t), 5)) for m, t in margins]
    )

    offsets = dict(zip(grid.names, np.cumsum([0] + grid.sizes)))
    by_age, by_trend, by_sex, by_number, by_race = np.split(x[weights:], np.cumsum(sizes[4:])[:-1])
    terms = []
    for race in range(2):
        effects, place = np.array(pairs + own_pairs[race]), 0
        for features, _ in twos:
            size = int(np.prod([grid.sizes[k] for k in features]))
            terms.append(
                {
                    "race": RACES[race],
                    "of": [grid.names[k] for k in features],
                    "effects": micro(effects[place : place + size]),
                }
            )
            place += size
    down = 1 / (1 + np.exp(-np.array(younger)))
    ages = {a: sum(int(r["count"]) for r in joint if r["age"] == a) for a in CURRENT}
    fifties = sum(ages[a] for a in ("50-60", "60-70", "70-80")) / ages["50-60"]
    younger = dict(zip(ages, [0.0, *down[:3], down[3] * fifties, down[3], down[3]]))
    strata = {}
    for row in joint:
        strata.setdefault((row["race"], row["sex"], row["age"]), {})[int(row["ssl_score"])] = int(row["count"])
    after = published["after_clean"]
    seen = {
        race: sum(sum(v.values()) for (r, s, _), v in strata.items() if r == race and s != "Other")
        for race in ("Black", "White", "Hispanic")
    }
    listed = sum(sum(v.values()) for v in strata.values())
    write(
        pathlib.Path(__file__).parent.parent / "parameters" / "ssl.json",
        {
            "about": "Stand-in for Chicago's Strategic Subject List (SSL). Not the data: parameters of a "
            "generator, fitted by fit/strategic_subjects.py to published figures. Logarithms are "
            "in millionths, shares in millionths.",
            "sources": [
                "rows, strata: counts by score, race, sex and age group in pjsier/strategic-subject-list (MIT; data: City of Chicago)",
                "values: mean, deviation and greatest value of each column in that repository's 'SSL Data Overview.ipynb'; a geometric tail has the same two moments",
                "black_hispanic, without_age_group: what is left between those counts and the counts after cleaning in the notebooks of FACTS (AutoFairAthenaRC/FACTS)",
                "effects, score, younger: fitted to four fifths of the itemset coverages among the affected in those notebooks",
            ],
            "rows": published["raw_rows"],
            "unfavourable_from": UNFAVOURABLE,
            "black_hispanic": after["BLK"] - seen["Black"],
            "without_age_group": after["rows"] - sum(seen.values()),
            "unknown_race": published["raw_rows"] - listed - (after["rows"] - sum(seen.values())),
            "features": FEATURES,
            "values": {
                **{c: {str(k): round(1e6 * s) for k, s in values[c].items()} for c in COUNTS},
                TREND: {str(k): round(1e6 * s) for k, s in trends.items()},
            },
            "younger": {a: round(1e6 * float(s)) for a, s in younger.items()},
            "effects": {
                race: {
                    n: dict(zip(FEATURES[n], micro(own[r][offsets[n] : offsets[n] + len(FEATURES[n])])))
                    for n in grid.names
                }
                for r, race in enumerate(RACES)
            },
            "pairs": terms,
            "score": {
                "levels": {
                    AGE: dict(zip(AGES, micro(by_age))),
                    TREND: dict(zip(TRENDS, micro(by_trend))),
                    SEX: dict(zip(FEATURES[SEX], micro(by_sex))),
                },
                "numbers": dict(zip([*COUNTS, GANG], micro(by_number))),
                "race": dict(zip(RACES, micro(by_race))),
            },
            "strata": [
                {"race": race, "sex": sex, "age": age, "scores": [[s, c] for s, c in sorted(scores.items())]}
                for (race, sex, age), scores in strata.items()
            ],
        },
    )


if __name__ == "__main__":
    main()
