#!/usr/bin/env python3
"""Fits the Ad Campaign stand-in to the published figures and writes parameters/ad_campaign.json.

Usage: ad_campaign.py DATA RULES

DATA   folder with marginals.json and itemset_supports_paper_run.csv
RULES  ad-campaign_rules.json.gz: the authors' stored effectiveness lists

Itemsets that the hold-out rule (common.held_out) names are not read while fitting, nor are the
effectivenesses of subgroups with such an itemset.
"""

import argparse
import csv
import gzip
import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from common import Grid, held_out, micro, minimise, write

GENDERS = ["M", "F", "Unknown"]
FEATURES = {
    "religion": ["Unknown", "Christianity", "Other"],
    "politics": ["Unknown", "known"],
    "college_educated": ["0", "1"],
    "parents": ["0", "1"],
    "homeowner": ["0", "1"],
    "age": ["18-24", "25-34", "45-54", "55-64", "Unknown"],
    "income": ["<100K", ">100K", "Unknown"],
    "area": ["Rural", "Urban", "Unknown"],
}
# The authors' class weights: a conversion counts 530 times a non-conversion.
ODDS = 265 / 0.5
AFFECTED = np.array([76_769, 160_992])


def items(text):
    pairs = [tuple(item.split("=", 1)) for item in text.split(" & ")]
    return [("age" if f == "ages" else f, level) for f, level in pairs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("rules", type=pathlib.Path)
    arguments = parser.parse_args()

    published = json.loads((arguments.data / "marginals.json").read_text())
    counts, people = published["exact_counts"], published["rows"]
    rows = list(csv.DictReader((arguments.data / "itemset_supports_paper_run.csv").open()))
    rules = json.loads(gzip.open(arguments.rules).read())["subgroups"]

    grid = Grid(FEATURES)
    inside = np.array([grid.members(items(r["itemset"])) for r in rows], float)
    supports = np.array([[float(r["support_Male"]), float(r["support_Female"])] for r in rows]).T
    out = np.array([held_out(r["itemset"]) for r in rows])
    print(f"{len(rows)} itemsets, {out.sum()} held out")

    # Effectivenesses by distinct change: rows of `inside`, and what was published for them.
    number = {frozenset(items(r["itemset"])): i for i, r in enumerate(rows)}
    changes, targets = {}, {}
    for rule in rules:
        condition = [("age" if f == "ages" else f, v) for f, v in rule["if"].items()]
        subgroup = number[frozenset(condition)]
        for levels, effectiveness, _ in rule["thens"]:
            then = [(f, v) for (f, _), v in zip(condition, levels)]
            change = frozenset(set(then) - set(condition))
            both = [effectiveness["Male"], effectiveness["Female"]]
            changes.setdefault(change, []).append((subgroup, both))
            targets[frozenset(then)] = 1
    flips = [
        (grid.moved(change), np.array([s for s, _ in subgroups]), np.array([e for _, e in subgroups]).T)
        for change, subgroups in changes.items()
    ]
    common = np.array([grid.members(t) for t in targets], float)
    print(f"{sum(len(s) for _, s, _ in flips)} actions with {len(flips)} changes, {len(common)} targets")

    orders = [grid.terms(order) for order in (1, 2)]
    sizes = [size for _, size in orders]
    ones = orders[0]
    gender_share = np.array([counts["gender"][g] for g in GENDERS]) / people
    margins = [
        (grid.members([(f, level)]).astype(float), counts[f][level] / people)
        for f in ("age", "college_educated", "homeowner")
        for level in FEATURES[f]
    ]
    other = grid.members([("politics", "Unknown"), ("religion", "Other")]).astype(float)
    third = sum(
        grid.members([("homeowner", "0"), ("income", i), ("area", a)])
        for i in (">100K", "Unknown")
        for a in ("Unknown", "Urban")
    ).astype(float)
    joint = [
        (other, counts["politics=Unknown & religion=Other"]),
        (third, counts["area in {Unknown,Urban} & homeowner=0 & income in {>100K,Unknown}"]),
    ]
    homeowner = [grid.members([("homeowner", level)]).astype(float) for level in "01"]
    true1 = counts["homeowner_x_true1"]
    conversions = counts["true_conversion"]["1"]
    fitted = ~out

    def add(terms, values):
        return sum(values[index] for _, index in terms)

    def unpack(x):
        cut = np.cumsum(sizes + [len(GENDERS) * sizes[0], sizes[0], 2])
        parts = jnp.split(x, cut)
        shared, (own, weights, by_gender, intercept) = parts[: len(sizes)], parts[len(sizes) :]
        base = sum(add(terms, values) for (terms, _), values in zip(orders, shared))
        own = own.reshape(len(GENDERS), -1)
        eta = jnp.stack([base + add(ones[0], own[g]) for g in range(3)])
        p = jax.nn.softmax(eta, axis=1)
        by_gender = jnp.concatenate([by_gender, jnp.zeros(1)])
        f = intercept + add(ones[0], weights)[None, :] + by_gender[:, None]
        return shared, own, weights, p, f

    def parts(x, sharpness):
        shared, own, weights, p, f = unpack(x)
        unaffected = jax.nn.sigmoid(sharpness * f)
        q = p * (1 - unaffected)
        total = q.sum(1)
        affected = q[:2] @ inside.T
        return shared, own, weights, p, f, unaffected, q, total, affected

    share = AFFECTED / (0.3 * people * gender_share[:2])

    def loss(x, sharpness, weight_flips):
        shared, own, weights, p, f, unaffected, q, total, affected = parts(x, sharpness)
        result = 0.0
        cover = affected / total[:2, None]
        result += (((cover - supports) / (5e-4 + 5e-3 * supports)) ** 2 * fitted).sum()
        result += (((total[:2] - share) / 5e-4) ** 2).sum() * 10
        pooled = gender_share @ p
        for members, target in margins:
            result += ((pooled @ members - target) / (2e-5 + 1e-3 * target)) ** 2
        rate = gender_share @ (p * jnp.exp(f)) / ODDS * people
        result += ((rate.sum() - conversions) / 4) ** 2
        for members, level in zip(homeowner, "01"):
            result += ((rate @ members - true1[level]) / 10) ** 2
        for members, known in joint:
            result += ((pooled @ members - known["rows"] / people) / 3e-4) ** 2
            result += ((rate @ members - known["true"]) / 15) ** 2
        for moved, subgroups, effectiveness in flips:
            reached = (q * unaffected[:, moved])[:2] @ inside[subgroups].T
            error = reached / (affected[:, subgroups] + 1e-9) - effectiveness
            result += weight_flips * ((error / 0.03) ** 2 * fitted[subgroups]).sum()
        free = (gender_share[:2, None] * (p * unaffected)[:2]).sum(0)
        frequent = common @ free / free.sum()
        result += (jnp.maximum(0, jnp.log(0.0105) - jnp.log(frequent + 1e-9)) ** 2).sum() * 100
        # Ridge: small for the population (a term that nothing speaks of stays 0), none on main effects.
        result += 0.3 * (own**2).sum() + 1e-3 * (shared[0] ** 2).sum()
        result += 0.05 * (shared[1] ** 2).sum()
        return result + 0.1 * (weights**2).sum()

    rng = np.random.default_rng(1)
    x = np.concatenate([0.01 * rng.normal(size=sum(sizes) + 3 * sizes[0]), np.zeros(sizes[0] + 3)])
    # Main effects start at the logarithms of the pooled supports.
    start = 0
    for (f,), _ in ones[0]:
        for level, name in enumerate(grid.levels[f]):
            members = {(grid.names[f], name)}
            known = [supports[1][i] for k, i in number.items() if k == members]
            x[start + level] = np.log(known[0] if known else 0.01)
        start += grid.sizes[f]
    at = sum(sizes) + 3 * sizes[0]
    offsets = dict(zip(grid.names, np.cumsum([0] + grid.sizes)))
    x[at + offsets["homeowner"]] = 0.5
    x[at + offsets["income"]] = 0.2
    x[-3:] = [0.05, 0.0, -0.2]
    for sharpness, weight, steps in ((8, 0.02, 300), (20, 0.1, 400), (50, 0.2, 500), (100, 0.3, 300), (200, 0.3, 300)):
        x = minimise(lambda v: loss(v, sharpness, weight), x, steps)

    shared, own, weights, p, f = unpack(jnp.asarray(x))
    mains = np.array(shared[0])[None, :] + np.array(own)
    pairs, weights, f = np.array(shared[1]), np.array(weights), np.array(f)

    # Rake the main effects to the exact margins: the terms of higher order stay as fitted.
    places = [(f_, index) for (f_,), index in ones[0] if grid.names[f_] in ("age", "college_educated", "homeowner")]

    def population():
        eta = np.stack([add(ones[0], mains[g]) + add(orders[1][0], pairs) for g in range(3)])
        e = np.exp(eta - eta.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    for _ in range(200):
        for feature, index in places:
            now = np.bincount(index, gender_share @ population(), sizes[0])
            for level, name in enumerate(grid.levels[feature]):
                at = offsets[grid.names[feature]] + level
                mains[:, at] += np.log(counts[grid.names[feature]][name] / people / now[at])
    p = population()
    report(grid, p, f, inside, supports, out, flips, share, gender_share, people, margins, homeowner, joint, common)

    def by_level(values):
        return {n: dict(zip(FEATURES[n], micro(values[offsets[n] :][: len(FEATURES[n])]))) for n in grid.names}

    terms, place = [], 0
    for features, _ in orders[1][0]:
        size = int(np.prod([grid.sizes[f_] for f_ in features]))
        terms.append({"of": [grid.names[f_] for f_ in features], "effects": micro(pairs[place : place + size])})
        place += size
    write(
        pathlib.Path(__file__).parent.parent / "parameters" / "ad_campaign.json",
        {
            "about": "Stand-in for IBM's Bias in Advertising (Ad Campaign). Not the data: parameters of a "
            "generator, fitted by fit/ad_campaign.py to published figures. Logarithms are in millionths.",
            "sources": [
                "rows, people, conversions: saved outputs of AIF360's examples/tutorial_bias_advertising.ipynb (data: IBM DAX, CDLA-Permissive-2.0)",
                "effects, score: fitted to four fifths of the 1,432 itemset supports and of the effectivenesses that the authors of FACTS stored (AutoFairAthenaRC/FACTS, examples/results-cache)",
                "politics: the values that published copies show; how common each is, nobody published, so they are equally common here",
            ],
            "rows": people,
            "people": {n: counts[n] for n in ("gender", "age", "college_educated", "homeowner")},
            "conversions": conversions,
            "class_odds": int(ODDS),
            "politics": [v for v in published["politics_values"] if v != "Unknown"],
            "features": FEATURES,
            "effects": {g: by_level(mains[k]) for k, g in enumerate(GENDERS)},
            "pairs": terms,
            "score": {
                "intercept": micro(x[-1:])[0],
                "gender": dict(zip(GENDERS, micro([x[-3], x[-2], 0.0]))),
                "levels": by_level(weights),
            },
        },
    )


def report(grid, p, f, inside, supports, out, flips, share, gender_share, people, margins, homeowner, joint, common):
    """What an audit would see, threshold and all: errors on fitted and held-out figures."""
    hard = (f > 0).astype(float)
    q = p * (1 - hard)
    error = 100 * np.abs((q[:2] @ inside.T) / q[:2].sum(1)[:, None] - supports)
    effects = {True: [], False: []}
    for moved, subgroups, effectiveness in flips:
        reached = (q * hard[:, moved])[:2] @ inside[subgroups].T / (q[:2] @ inside[subgroups].T)
        for s, e in zip(subgroups, 100 * np.abs(reached - effectiveness).T):
            effects[bool(out[s])].extend(e)
    for name, part in (("fitted", ~out), ("held out", out)):
        flipped = effects[name == "held out"]
        print(
            f"{name}: support off by {error[:, part].mean():.4f} points (most {error[:, part].max():.3f}),",
            f"effectiveness by {np.mean(flipped):.3f} (most {np.max(flipped):.2f})",
        )
    print("affected shares", q[:2].sum(1), "published", share)
    pooled = gender_share @ p
    print("margins off by (people)", [round(float(people * (pooled @ m - t)), 2) for m, t in margins])
    rate = gender_share @ (p * np.exp(f)) / ODDS * people
    print("conversions", rate.sum(), "by homeowner", [float(rate @ m) for m in homeowner])
    for members, known in joint:
        print("joint count", float(people * (pooled @ members)), float(rate @ members), "published", known)
    near = [float((gender_share[:, None] * p)[np.abs(f) < d].sum()) for d in (0.005, 0.01, 0.02)]
    print("share of people whose score is within 0.005, 0.01, 0.02 of the boundary", near)
    free = (gender_share[:2, None] * (p * hard)[:2]).sum(0)
    print("published targets that are frequent", float(((common @ free / free.sum()) >= 0.01).mean()))


if __name__ == "__main__":
    main()
