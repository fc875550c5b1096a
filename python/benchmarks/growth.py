"""Measures how the cost of an audit grows with rows, profiles, columns, groups and subgroups.

    cargo build --release -p facts-audit
    python3 -m venv target/python/duckdb && target/python/duckdb/bin/pip install duckdb==2.0.0
    target/python/duckdb/bin/python python/benchmarks/growth.py target/release/facts \\
        --plot docs/growth.svg > verification/records/growth.md

Each audit fits its own model (`--model train`) by counts and gathers no evidence; predicates have up to two items. The
tables are made here, as Parquet in parts of at most a million rows: a profile is a number, and every column is a hash of
that number, so that rows and profiles grow apart. From the sixth part on, parts are the first five under further names. One
size grows at a time, the others stay at their base. Beside each audit, DuckDB groups the same files (`GROUP BY ALL`). Processor
time and peak memory are those of the process, as the operating system tells them; the time that Python and DuckDB take to
start is taken off DuckDB's. Everything is run three times, and the median is told. The most profiles come with ten times the
rows, so that they still repeat.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from against_duckdb import GROUP, PART, PARTS, measured, python

MAKE = """
import duckdb, sys
part, size, profiles, columns, groups, path = sys.argv[1:]
features = ", ".join(f"'l' || (hash(p, {c}) % 5) AS f{c}" for c in range(int(columns)))
duckdb.execute(f'''COPY (
    SELECT {features}, 'g' || (p % {groups}) AS grp,
           if((hash(p, 0) % 5) + (hash(p, 1) % 5) + (p % {groups}) % 2 + hash(i, 7) % 4 > 5, 'yes', 'no') AS outcome
    FROM (SELECT i, (hash(i) % {profiles})::BIGINT AS p FROM range({part} * {size}, ({part} + 1) * {size}) AS r(i))
) TO '{path}' (COMPRESSION zstd)''')
"""

COUNT = """
import duckdb, sys
print(duckdb.execute(f"SELECT count(*) FROM '{sys.argv[1]}'").fetchone()[0])
"""

# In a process of its own: a process starts with the peak of the one that it was forked from.
FOUND = """
import gzip, json, sys
print(len(json.loads(gzip.open(sys.argv[1]).read())["audit"]["subgroups"]))
"""


@dataclass(frozen=True)
class Size:
    """How large a table is, and how closely it is looked at."""

    rows: int = 1_000_000
    profiles: int = 10_000
    columns: int = 8
    groups: int = 2
    support: float = 0.01


GROWTH = {
    "rows": [Size(rows=rows) for rows in (1_000_000, 10_000_000, 100_000_000)],
    "profiles": [
        *(Size(profiles=profiles) for profiles in (1_000, 10_000, 100_000)),
        Size(profiles=1_000_000, rows=10_000_000),
    ],
    "columns": [Size(columns=columns) for columns in (4, 8, 16, 32)],
    "groups": [Size(groups=groups) for groups in (2, 4, 8)],
    "subgroups": [Size(support=support, columns=16) for support in (0.2, 0.04, 0.01)],
}


@dataclass(frozen=True)
class Cost:
    """What an audit took, beside DuckDB's grouping of the same files."""

    size: Size
    distinct: int
    subgroups: int
    cpu: float
    peak: float
    duck: float

    def grown(self, what: str) -> float:
        """The size that grows."""
        return {"profiles": self.distinct, "subgroups": self.subgroups}.get(what) or getattr(self.size, what)


def make(folder: Path, size: Size) -> None:
    """Writes the parts of a table; from the sixth on they are those before."""
    rows = min(PART, size.rows)
    for part in range(size.rows // rows):
        path = folder / f"part-{part:05}.parquet"
        if part >= PARTS:
            os.link(folder / f"part-{part % PARTS:05}.parquet", path)
        else:
            command = python(MAKE, part, rows, size.profiles, size.columns, size.groups, path)
            # DuckDB draws a bar where it takes long.
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def cost(facts: str, size: Size, start: float) -> Cost:
    """Makes a table, audits it and has DuckDB group it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts, out, grouped = folder / "parts", folder / "out", folder / "grouped.parquet"
        parts.mkdir()
        make(parts, size)
        command = [facts, "audit", str(parts), "--model", "train", "--label", "outcome", "--label-favourable", "yes"]
        command += ["--protected", "grp", "--set", "train.split=counts", "--no-evidence", "--max-length", "2"]
        command += ["--support", str(size.support), "-q", "--out", str(out)]
        cpu, _, peak = measured(command)
        duck, _, _ = measured(python(GROUP, parts, grouped))
        distinct = subprocess.run(python(COUNT, grouped), check=True, capture_output=True, text=True).stdout
        found = subprocess.run(python(FOUND, out / "audit.json.gz"), check=True, capture_output=True, text=True).stdout
        return Cost(size, int(distinct), int(found), cpu, peak, duck - start)


def table(costs: list[Cost]) -> str:
    """The costs as a Markdown table."""
    head = [
        "rows",
        "distinct rows",
        "columns",
        "groups",
        "subgroups",
        "audit: CPU",
        "peak",
        "DuckDB: CPU",
        "CPU, audit ÷ DuckDB",
    ]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---:"] * len(head)) + " |"]
    for cost in costs:
        size = cost.size
        counts = [size.rows, cost.distinct, size.columns, size.groups, cost.subgroups]
        cells = [f"{count:,}" for count in counts]
        cells += [f"{cost.cpu:.2f}", f"{cost.peak:.0f}"]
        # Below that, most of it is how much one start differs from another.
        told = cost.duck >= 0.1
        cells += [f"{cost.duck:.2f}", f"{cost.cpu / cost.duck:.1f}"] if told else ["under 0.1", "–"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


STYLE = """
text { font: 12px system-ui, sans-serif; fill: #222 }
.axis { stroke: #777; fill: none } .grid { stroke: #ddd }
.cpu { stroke: #0969da; fill: #0969da } .peak { stroke: #bc4c00; fill: #bc4c00 } .line { fill: none; stroke-width: 2 }
text.cpu, text.peak { stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .grid { stroke: #444 } .cpu { stroke: #58a6ff; fill: #58a6ff } .peak { stroke: #f0883e; fill: #f0883e }
}
"""
WIDE, HIGH, LEFT, TOP = 230, 200, 50, 40
DECADES = (-2, 4)


def short(power: int) -> str:
    """A power of ten in few characters."""
    return {-2: "0.01", -1: "0.1", 0: "1", 1: "10", 2: "100"}.get(power, f"10^{power}")


def panel(what: str, costs: list[Cost], left: int) -> list[str]:
    """One log–log plot: CPU seconds and peak megabytes as one size grows."""
    grown = [cost.grown(what) for cost in costs]
    low, high = math.floor(math.log10(min(grown))), math.ceil(math.log10(max(grown)))
    high = max(high, low + 1)
    across = lambda value: left + LEFT + (math.log10(value) - low) / (high - low) * WIDE
    up = lambda value: TOP + HIGH - (math.log10(value) - DECADES[0]) / (DECADES[1] - DECADES[0]) * HIGH
    parts = [f'<text x="{left + LEFT}" y="{TOP - 12}">{what}</text>']
    for power in range(DECADES[0], DECADES[1] + 1):
        y = up(10.0**power)
        parts.append(f'<path class="grid" d="M{left + LEFT} {y:.1f}h{WIDE}"/>')
        parts.append(f'<text x="{left + LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{short(power)}</text>')
    for power in range(low, high + 1):
        x = across(10.0**power)
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}v{HIGH}"/>')
        parts.append(f'<text x="{x:.1f}" y="{TOP + HIGH + 18}" text-anchor="middle">{short(power)}</text>')
    parts.append(f'<path class="axis" d="M{left + LEFT} {TOP}v{HIGH}h{WIDE}"/>')
    for kind in ("cpu", "peak"):
        points = [(across(at), up(getattr(cost, kind))) for at, cost in zip(grown, costs)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline class="{kind} line" points="{line}"/>')
        parts += [f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points]
    return parts


def plot(growth: dict[str, list[Cost]]) -> str:
    """All plots side by side, for light and dark pages."""
    step = LEFT + WIDE + 20
    width, height = step * len(growth) + 10, TOP + HIGH + 50
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">']
    parts += ["<title>Processor time and peak memory of an audit as its size grows</title>", f"<style>{STYLE}</style>"]
    for place, (what, costs) in enumerate(growth.items()):
        parts += panel(what, costs, place * step)
    parts.append(f'<text class="cpu" x="{LEFT}" y="{height - 8}">seconds of processor time</text>')
    parts.append(f'<text class="peak" x="{LEFT + 180}" y="{height - 8}">peak memory in MB</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("facts")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--most-rows", type=int, default=100_000_000)
    arguments = parser.parse_args()
    start, _, _ = measured(python("import duckdb"))
    print("# How the cost of an audit grows\n")
    print("Made by [growth.py](../../python/benchmarks/growth.py) on ", end="")
    print(
        f"{os.cpu_count()} cores. CPU is seconds of processor time, peak is resident memory in MB; medians of three runs."
    )
    growth: dict[str, list[Cost]] = {}
    known: dict[Size, Cost] = {}
    for what, sizes in GROWTH.items():
        for size in (size for size in sizes if size.rows <= arguments.most_rows):
            if size not in known:
                known[size] = cost(arguments.facts, size, start)
                print(f"{what}: {known[size]}", file=sys.stderr, flush=True)
            growth.setdefault(what, []).append(known[size])
        print(f"\n## {what.capitalize()}\n\n{table(growth[what])}", flush=True)
    if arguments.plot:
        arguments.plot.write_text(plot(growth))


if __name__ == "__main__":
    main()
