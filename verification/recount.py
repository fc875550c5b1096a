"""Recounts a saved audit from its profiles, without a line of the tool.

    facts audit … --out result --set report.profiles=profiles.json.gz
    python3 verification/recount.py result/audit.json.gz profiles.json.gz

The profiles say who was audited, what the model says of them, and whom each change helps. The rest is done again from
the definitions: who is affected, subgroups, valid actions and their costs, effectiveness-cost distributions, who has a
way out, stories and drivers, and Fisher's exact p-values. Not recounted are what rests on random draws (shuffles,
resamples, hold-out, variants), corrections and the verdict made of those, and what is sharpest inside a story or why.
Standard library only. Sets of people are integers, a bit a profile.
"""

import gzip
import json
import math
import sys
from collections import Counter, defaultdict
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from itertools import combinations
from pathlib import Path

GAP = 1e-9  # costs and scores closer than this are one


class Tally:
    """Compares what was found again with what was saved."""

    def __init__(self):
        self.agree, self.differ = Counter(), []

    def note(self, what, is_same, saved, again):
        """Counts what agrees, by what it is, and keeps what does not."""
        if is_same:
            self.agree[what] += 1
        else:
            self.differ.append(f"{what}: saved {saved!r}, counted {again!r}")

    def same(self, what, saved, again):
        """What must be equal."""
        self.note(what, saved == again, saved, again)

    def close(self, what, saved, again, tolerance=1e-9):
        """A number that may differ by rounding."""
        self.note(what, math.isclose(saved, again, rel_tol=tolerance, abs_tol=tolerance), saved, again)


class People:
    """Sets of profiles, and how many people they are."""

    def __init__(self, profiles):
        self.planes = []
        for place, profile in enumerate(profiles):
            weight = profile["people"]
            for plane in range(weight.bit_length()):
                if plane == len(self.planes):
                    self.planes.append(0)
                if weight >> plane & 1:
                    self.planes[plane] |= 1 << place

    def count(self, members):
        """How many people a set of profiles is."""
        return sum((members & plane).bit_count() << number for number, plane in enumerate(self.planes))


def load(path):
    """Reads JSON, compressed or not."""
    data = Path(path).read_bytes()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def least(support, whole):
    """The fewest people that are at least a share of so many; the share is a decimal as it was written."""
    return max(1, int((Decimal(support) * whole).to_integral_value(ROUND_CEILING)))


def places(items):
    """Items or assignments by the places of feature and level."""
    return tuple((item["feature"], item["level"]) for item in items)


def itemsets(holders, everybody, is_frequent, longest):
    """All frequent sets of (feature, level), depth first; more items never bring members back."""
    found, waiting = {}, [((), everybody)]
    while waiting:
        items, members = waiting.pop()
        for feature in range(items[-1][0] + 1 if items else 0, len(holders)):
            for level, of_level in holders[feature].items():
                longer = (*items, (feature, level))
                if is_frequent(members & of_level):
                    found[longer] = members & of_level
                    if len(longer) < longest:
                        waiting.append((longer, found[longer]))
    return found


class Rules:
    """What may change, and what it costs, as the audit declares it."""

    def __init__(self, features):
        self.features = features
        self.place = {feature["name"]: place for place, feature in enumerate(features)}

    def allows(self, feature, start, to):
        """Whether a feature may go from one level to another."""
        declared = self.features[feature]
        rules, levels = declared["rules"], declared["levels"]
        label = [level["label"] for level in levels]
        if rules["immutable"] or to == declared["missing"] or label[to] in rules["not_a_target"]:
            return False
        direction, step = rules["direction"], rules["max_step"]
        forbidden = [label[start], label[to]] in rules["forbidden"]
        if forbidden or (direction or step) and start == declared["missing"]:
            return False
        if direction and (to > start) != (direction == "increase"):
            return False
        if step and "levels" in step:
            return abs(to - start) <= step["levels"]
        if step:
            return abs(levels[to]["number"] - levels[start]["number"]) <= step["units"] + GAP
        return True

    def applies(self, predicate, change):
        """Whether a change of a predicate's levels is feasible for its members, who all hold them."""
        held = dict(predicate)
        changed = {feature for feature, _ in change}
        linked = {self.place[name] for feature in changed for name in self.features[feature]["rules"]["linked"]}
        return linked <= changed and all(self.allows(feature, held[feature], to) for feature, to in change)

    def cost(self, predicate, change):
        """The sum over the changed features of weight times distance."""
        held = dict(predicate)
        return sum(self.features[f]["weight"] * self.distance(f, held[f], to) for f, to in change)

    def distance(self, feature, start, to):
        """How far one level lies from another."""
        declared = self.features[feature]
        kind, levels, from_missing = declared["distance"], declared["levels"], start == declared["missing"]
        if kind == "categorical":
            return 1.0
        if kind == "ordinal":
            ranks = len(levels) - (declared["missing"] is not None)
            return float(ranks - 1 if from_missing else abs(to - start))
        if "table" in kind:
            table = {(a, b): cost for a, b, cost in kind["table"]}
            return table[levels[start]["label"], levels[to]["label"]]
        low, high = declared["range"]
        span, normalised = high - low, kind["numeric"]["normalised"]
        difference = span if from_missing else abs(levels[to]["number"] - levels[start]["number"])
        return difference / span if normalised else difference


class Audit:
    """A saved audit beside what is counted again."""

    def __init__(self, record, profiles):
        self.record, self.audit = record, record["audit"]
        self.profiles = profiles["profiles"]
        self.helped = [sum(1 << place for place in places) for places in profiles["helped"]]
        self.names = profiles["groups"]
        self.tally = Tally()
        self.people = People(self.profiles)
        self.rules = Rules(self.audit["features"])
        self.in_group = [0] * len(self.names)
        self.affected = 0
        for place, profile in enumerate(self.profiles):
            self.in_group[profile["group"]] |= 1 << place
            if not profile["favourable"]:
                self.affected |= 1 << place
        self.everybody = (1 << len(self.profiles)) - 1
        compared = [self.names.index(group["name"]) for group in self.audit["groups"]]
        self.groups = [self.in_group[g] & self.affected for g in compared]
        self.compared = sum(self.groups)
        self.levels = self.holders(self.compared)
        self.change_of = [places(change) for change in self.audit["changes"]]

    def holders(self, among):
        """By feature and level: who holds it."""
        holders = [defaultdict(int) for _ in self.audit["features"]]
        for place, profile in enumerate(self.profiles):
            if among >> place & 1:
                for feature, level in enumerate(profile["levels"]):
                    holders[feature][level] |= 1 << place
        return holders

    def by_group(self, members):
        """A set's people, group by group."""
        return [self.people.count(members & group) for group in self.groups]

    def check_groups(self):
        """Who was audited and who is affected."""
        count, same = self.people.count, self.tally.same
        same("people", self.audit["population"]["people"], count(self.everybody))
        same("unaffected", self.audit["unaffected"], count(self.everybody & ~self.affected))
        for told in self.audit["groups"] + self.audit["set_aside"]:
            everybody = self.in_group[self.names.index(told["name"])]
            same("group people", told["people"], count(everybody))
            same("group affected", told["affected"], count(everybody & self.affected))
        same("profiles", self.audit["sizes"]["profiles"], len(self.profiles))
        same("affected profiles", self.audit["sizes"]["affected_profiles"], self.compared.bit_count())

    def check_subgroups(self):
        """Subgroups and actions, mined again and compared one by one."""
        settings, same = self.audit["settings"], self.tally.same
        longest = settings["max_length"] or len(self.audit["features"])
        floors = [max(least(settings["support"], n), settings["min_members"]) for n in self.by_group(self.compared)]

        def is_common(members):
            return all(self.people.count(members & g) >= floor for g, floor in zip(self.groups, floors, strict=True))

        common = itemsets(self.levels, self.compared, is_common, longest)
        unaffected = self.everybody & ~self.affected
        floor = least(settings["support"], self.people.count(unaffected))
        actions = itemsets(self.holders(unaffected), unaffected, lambda s: self.people.count(s) >= floor, longest)
        same("common subgroups", self.audit["sizes"]["common_subgroups"], len(common))
        same("action itemsets", self.audit["sizes"]["action_itemsets"], len(actions))
        by_features = defaultdict(list)
        for itemset in actions:
            by_features[tuple(feature for feature, _ in itemset)].append(itemset)
        ranked = {places(s["predicate"]): s for s in self.audit["subgroups"]}
        without = {places(s["predicate"]): s for s in self.audit["without_actions"]}
        same("predicates", sorted([*ranked, *without]), sorted(common))
        pairs, needed = 0, defaultdict(int)
        for predicate, members in common.items():
            changes = self.changes(predicate, by_features, settings["validity"])
            pairs += len(changes)
            for change in changes:
                needed[change] |= members
            saved = (ranked if changes else without).get(predicate)
            if saved is None:
                self.tally.differ.append(f"{predicate}: {len(changes)} valid actions, but saved otherwise")
                continue
            same("members", saved["members"], self.by_group(members))
            if changes:
                self.check_actions(saved, members, changes)
        same("pairs", self.audit["sizes"]["pairs"], pairs)
        same("changes", self.audit["sizes"]["changes"], len(needed))
        same("decisions", self.audit["sizes"]["decisions"], sum(m.bit_count() for m in needed.values()))

    def changes(self, predicate, by_features, validity):
        """The changes of a predicate's valid actions, with their costs."""
        features = tuple(feature for feature, _ in predicate)
        held = dict(predicate)
        if validity == "joint":
            valid = by_features[features]
        else:
            parts = (part for n in range(1, len(features) + 1) for part in combinations(features, n))
            valid = [a for part in parts for a in by_features[part] if all(held[f] != level for f, level in a)]
        changes = {tuple((f, level) for f, level in a if held[f] != level) for a in valid} - {()}
        return {c: self.rules.cost(predicate, c) for c in changes if self.rules.applies(predicate, c)}

    def check_actions(self, saved, members, changes):
        """Costs, flips and what is reached within each cost, of one subgroup."""
        tally, width = self.tally, len(self.groups)
        found = {self.change_of[action["change"]]: action for action in saved["actions"]}
        tally.same("actions", sorted(found), sorted(changes))
        levels, costs = merged(dict.fromkeys(changes.values(), 0))[0], saved["cost_levels"]
        if sorted(found) != sorted(changes) or len(levels) != len(costs):
            tally.same("cost levels", costs, levels)
            return
        reached = [0] * len(levels)
        for place, action in enumerate(saved["actions"]):
            cost = changes[self.change_of[action["change"]]]
            level = max(number for number, least_ in enumerate(levels) if least_ <= cost)
            flipped = members & self.helped[action["change"]]
            tally.close("costs", action["cost"], cost)
            tally.same("cost level of action", action["cost_level"], level)
            tally.same("flips", saved["flips"][place * width : (place + 1) * width], self.by_group(flipped))
            for number in range(level, len(levels)):
                reached[number] |= flipped
        for number, level in enumerate(levels):
            tally.close("cost levels", costs[number], level)
            told = saved["reached"][number * width : (number + 1) * width]
            tally.same("reached", told, self.by_group(reached[number]))

    def members(self, subgroup):
        """Who belongs to a saved subgroup."""
        members = self.compared
        for feature, level in places(subgroup["predicate"]):
            members &= self.levels[feature][level]
        return members

    def reached(self, subgroup, members, levels):
        """Those of a subgroup whom an action helps within its first cost levels."""
        reached = 0
        for action in subgroup["actions"]:
            if action["cost_level"] < levels:
                reached |= self.helped[action["change"]]
        return reached & members

    def text(self, subgroup):
        """A predicate as one reads it."""
        features = self.audit["features"]
        items = ((features[feature], level) for feature, level in places(subgroup["predicate"]))
        return ", ".join(f"{feature['name']} = {feature['levels'][level]['label']}" for feature, level in items)

    def check_answer(self):
        """Who has a way out, which predicates are about the same people, stories and drivers."""
        answer, same = self.record.get("answer"), self.tally.same
        if answer is None:
            return
        subgroups = self.audit["subgroups"]
        member_sets = [self.members(subgroup) for subgroup in subgroups]
        ways = self.ways(member_sets)
        for told, group in zip(answer["people"], self.groups, strict=True):
            costs = defaultdict(int)
            for place, cost in ways.items():
                if group >> place & 1:
                    costs[cost] += self.profiles[place]["people"]
            same("refused", told["refused"], self.people.count(group))
            same("ways", [w["people"] for w in told["ways"]], merged(costs)[1])
            for saved, again in zip(told["ways"], merged(costs)[0], strict=False):
                self.tally.close("way costs", saved["cost"], again)
        alike = defaultdict(list)
        for place, members in enumerate(member_sets):
            alike[members].append(place)
        short = [len(subgroup["predicate"]) for subgroup in subgroups]
        texts = [self.text(subgroup) for subgroup in subgroups]
        first = {m: min(same_, key=lambda s: (short[s], texts[s])) for m, same_ in alike.items()}
        same("same people", answer["same_as"], [first[members] for members in member_sets])
        self.check_stories(answer, member_sets, texts)
        if answer["drivers"] is not None:
            self.check_drivers(answer["drivers"], sum(1 << place for place in ways))

    def ways(self, member_sets):
        """By profile with a way out: what the cheapest costs."""
        cheapest = {}
        for subgroup, members in zip(self.audit["subgroups"], member_sets, strict=True):
            for action in reversed(subgroup["actions"]):
                helped = self.helped[action["change"]] & members
                while helped:
                    place = helped.bit_length() - 1
                    helped ^= 1 << place
                    cheapest[place] = min(action["cost"], cheapest.get(place, math.inf))
        return cheapest

    def widest(self, place, members, pairs):
        """Who is reached where the gap of a pair is widest, after how many cost levels, and that pair."""
        subgroup, sizes, widest = self.audit["subgroups"][place], self.by_group(members), None
        steps = [self.reached(subgroup, members, n + 1) for n in range(len(subgroup["cost_levels"]))]
        shares = [[Fraction(*of) for of in zip(self.by_group(reached), sizes, strict=True)] for reached in steps]
        for worse, better in pairs:
            gaps = [step[better] - step[worse] for step in shares]
            n = max(range(len(gaps)), key=[abs(gap) for gap in gaps].__getitem__)
            if gaps[n] >= 0 and (widest is None or gaps[n] > widest[0]):
                widest = (gaps[n], steps[n], n + 1, worse, better)
        return widest and widest[1:]

    def shown_pairs(self, tests, alpha, place):
        """Pairs of groups, the worse off first, that are shown to differ; with two groups, both ways."""
        if len(self.groups) == 2:
            return [(0, 1), (1, 0)]
        shown = [p for t in tests for p in t.get("pairs", ()) if p["subgroup"] == place and p["together"] <= alpha]
        return sorted({(worse, sum(p["groups"]) - worse) for p in shown for worse in p["against"]})

    def check_stories(self, answer, member_sets, texts):
        """Stories told again: each has the greatest lower bound of people at a loss among those not told of."""
        evidence = self.record.get("evidence") or {}
        tests, alpha = evidence.get("tests") or [], (evidence.get("gathering") or {}).get("alpha", 0.05)
        z, fewest = answer["parameters"]["z"], answer["parameters"]["min_members"]
        candidates = {}
        for place, members in enumerate(member_sets):
            tested = [t["tested"][place] for t in tests]
            if any(t and t["together"] is not None and t["together"] <= alpha for t in tested):
                length = len(self.audit["subgroups"][place]["predicate"])
                best = candidates.get(members)
                candidates[members] = min((length, texts[place], place), best or (math.inf, "", 0))
        gaps = {p: self.widest(p, m, self.shown_pairs(tests, alpha, p)) for m, (_, _, p) in candidates.items()}
        candidates = {members: found for members, found in candidates.items() if gaps[found[2]]}
        told, stories = 0, []
        while True:
            found = []
            for members, (_, text, place) in candidates.items():
                reached, levels, worst, best = gaps[place]
                wholes, parts = self.by_group(members & ~told), self.by_group(reached & ~told)
                if min(wholes) < fewest:
                    continue
                at_least = wholes[worst] * newcombe((parts[best], wholes[best]), (parts[worst], wholes[worst]), z)
                if at_least > 0:
                    found.append((-round(at_least * 1e9), text, place, members, wholes, parts, at_least))
            if not found:
                break
            _, _, place, members, wholes, parts, at_least = min(found)
            stories.append((place, *gaps[place][1:], wholes, parts, at_least))
            told |= members
        self.tally.same("stories", [s["subgroup"] for s in answer["stories"]], [s[0] for s in stories])
        for saved, story in zip(answer["stories"], stories, strict=False):
            place, levels, worst, best, wholes, parts, at_least = story
            groups = [{"part": part, "whole": whole} for part, whole in zip(parts, wholes, strict=True)]
            self.tally.same("told", saved["told"], groups)
            self.tally.same("worse and better off", (saved["worse_off"], saved["better_off"]), (worst, best))
            self.tally.close("story cost", saved["cost"], self.audit["subgroups"][place]["cost_levels"][levels - 1])
            lost = wholes[worst] * (parts[best] / wholes[best] - parts[worst] / wholes[worst])
            self.tally.close("people at a loss", saved["loss"]["people"], lost)
            self.tally.close("at least at a loss", saved["loss"]["at_least"], at_least, 1e-6)

    def check_drivers(self, drivers, with_way):
        """Global Shapley values of the items, over all common predicates."""
        sides = drivers["worse_off"], drivers["better_off"]

        def shares(members):
            parts, wholes = self.by_group(members & with_way), self.by_group(members)
            return [(parts[g], wholes[g]) for g in sides]

        def gap(members):
            (a, b), (c, d) = shares(members)
            return c / d - a / b

        saved = [*self.audit["subgroups"], *self.audit["without_actions"]]
        gaps = {(): gap(self.compared), **{places(s["predicate"]): gap(self.members(s)) for s in saved}}
        self.tally.close("gap of all", drivers["gap"], gaps[()])
        self.tally.same("driver predicates", drivers["predicates"], len(saved))
        features, values = len(self.audit["features"]), defaultdict(float)
        for items in gaps:
            weight = 1 / math.prod(len(self.levels[feature]) for feature, _ in items)
            if items:
                weight /= features * math.comb(features - 1, len(items) - 1)
            for place, item in enumerate(items):
                before = gaps.get(items[:place] + items[place + 1 :])
                if before is not None:
                    values[item] += weight * (gaps[items] - before)
        self.tally.same("driver items", len(drivers["items"]), len(values))
        for driver in drivers["items"]:
            (item,) = places([driver["item"]])
            self.tally.close("driver values", driver["value"], values.get(item, math.nan))
            told = [(driver[side]["part"], driver[side]["whole"]) for side in ("worse", "better")]
            self.tally.same("driver people", told, shares(self.levels[item[0]][item[1]]))

    def check_evidence(self):
        """Exact p-values of two groups: Fisher's test of the count that decides the definition."""
        for tests in (self.record.get("evidence") or {}).get("tests", []):
            if len(self.groups) != 2 or tests["definition"] != "equal-effectiveness:micro":
                continue
            for subgroup, tested in zip(self.audit["subgroups"], tests["tested"], strict=True):
                if tested and tested["source"] == "exact":
                    members = self.members(subgroup)
                    reached = self.by_group(self.reached(subgroup, members, math.inf))
                    self.tally.close("exact p", tested["p"], fisher(reached, self.by_group(members)), 1e-6)


def merged(costs):
    """Costs that differ by rounding are one; the people of each, cheapest first."""
    values, people, previous = [], [], -math.inf
    for cost in sorted(costs):
        if cost - previous >= GAP:
            values.append(cost)
            people.append(0)
        people[-1] += costs[cost]
        previous = cost
    return values, people


def newcombe(better, worse, z):
    """A lower bound of the difference of two shares, from the Wilson intervals of both."""

    def wilson(part, whole):
        share = part / whole
        middle = share + z * z / (2 * whole)
        half = z * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
        return (middle - half) / (1 + z * z / whole), (middle + half) / (1 + z * z / whole)

    p, q = better[0] / better[1], worse[0] / worse[1]
    return p - q - math.sqrt((p - wilson(*better)[0]) ** 2 + (wilson(*worse)[1] - q) ** 2)


def fisher(parts, wholes):
    """Fisher's exact test, two-sided; a gap of 0 has p = 1."""
    if parts[0] * wholes[1] == parts[1] * wholes[0]:
        return 1.0
    total, successes = sum(wholes), sum(parts)

    def chance(first):
        return math.comb(wholes[0], first) * math.comb(wholes[1], successes - first)

    found = chance(parts[0])
    possible = range(max(0, successes - wholes[1]), min(wholes[0], successes) + 1)
    as_unlikely = sum(c for c in map(chance, possible) if c <= found)
    return float(Fraction(as_unlikely, math.comb(total, successes)))


def main(audit, profiles):
    """Recounts an audit; 0 if every number agrees."""
    recounted = Audit(load(audit), load(profiles))
    if recounted.audit["settings"]["ranges"] or recounted.audit["suppression"]:
        sys.exit("audits with range items or suppressed counts are not recounted")
    for of in ("groups", "subgroups", "answer", "evidence"):
        getattr(recounted, f"check_{of}")()
    tally = recounted.tally
    for line in tally.differ[:20]:
        print(line)
    for what, times in sorted(tally.agree.items()):
        print(f"{times:>9,}  {what}")
    print(f"{sum(tally.agree.values()):,} agree, {len(tally.differ):,} differ")
    return 1 if tally.differ else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
