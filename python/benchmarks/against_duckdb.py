"""Measures `facts profiles` and `train` beside DuckDB's `GROUP BY ALL` of the same Parquet files.

    cargo build --release -p facts-audit
    python3 -m venv target/python/duckdb && target/python/duckdb/bin/pip install duckdb==2.0.0
    target/python/duckdb/bin/python python/benchmarks/against_duckdb.py target/release/facts > verification/records/scale.md

Both read the same files one after the other, count the distinct rows of the same columns and write them to a Parquet file.
Afterwards, in a process of its own and outside of the time that is told, DuckDB compares the rows of the two files with their
counts, one way and the other (EXCEPT ALL): a difference ends the benchmark.
`facts audit --model train` then reads the table again, fits a model to all columns by counts and audits
it for subgroups by age, without evidence: a small audit, so that what is measured is reading, splitting and fitting. An audit
also takes the SHA-256 of every file, which its record needs. Processor time and peak memory are those of the process, as the
operating system tells them; the processor time that Python and DuckDB take to start is taken off DuckDB's. Everything is run
three times, and the median is told. The table is Adult without its sampling weight and one of its two columns of education, repeated and
shuffled in parts of a million rows. Five parts are made here; more rows are these five under further names. `--many`
has a table of about a million profiles: a number below 24 is drawn for each row, in a column `draw`.

`--cut` has a table with a wage to the cent, so that nearly every row is one of its own, and measures an audit that cuts it into
five bins by quantiles. Its model is a file that does not read the wage. Where the table takes more than a quarter of
`--max-memory`, it is read in two passes, and the report must say so. Beside it, DuckDB asks for the quantiles and groups
the rows by them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from statistics import median

ADULT = Path(__file__).parents[2] / "data" / "adult" / "adult.csv.gz"
PART = 1_000_000
PARTS = 5

# Everything of DuckDB runs in processes of its own: a process starts with the peak of the one that it was forked from.
MAKE = """
import duckdb, sys
adult, part, size, more, path = sys.argv[1:]
duckdb.execute(f"CREATE TABLE adult AS SELECT * EXCLUDE (fnlwgt, education) FROM read_csv('{adult}')")
duckdb.execute(
    f"COPY (SELECT adult.*{more.format(part=part)} FROM adult, range(21) AS r(again) "
    f"ORDER BY hash(adult.rowid, again, {part}) LIMIT {size}) TO '{path}' (COMPRESSION zstd)"
)
"""
GROUP = """
import duckdb, sys
duckdb.execute("PRAGMA threads=2")
duckdb.execute(f"COPY (SELECT *, count(*) AS count FROM '{sys.argv[1]}/*.parquet' GROUP BY ALL) TO '{sys.argv[2]}'")
"""
CUT_AND_GROUP = """
import duckdb, sys
duckdb.execute("PRAGMA threads=2")
rows = f"'{sys.argv[1]}/*.parquet'"
[edges] = duckdb.execute(f"SELECT quantile_cont(wage, [0.2, 0.4, 0.6, 0.8]) FROM {rows}").fetchone()
bins = " ".join(f"WHEN wage <= {edge} THEN {bin}" for bin, edge in enumerate(edges))
grouped = f"SELECT * REPLACE (CASE {bins} ELSE 4 END AS wage), count(*) AS count FROM {rows} GROUP BY ALL"
duckdb.execute(f"COPY ({grouped}) TO '{sys.argv[2]}'")
"""
COMPARE = """
import duckdb, sys
one, other = (f"'{path}'" for path in sys.argv[1:])
names = [name for name, *_ in duckdb.execute(f"DESCRIBE FROM {one}").fetchall()]
assert {*names} == {name for name, *_ in duckdb.execute(f"DESCRIBE FROM {other}").fetchall()}, names
columns = ", ".join(f'"{name}"' for name in names)
for a, b in ((one, other), (other, one)):
    query = f"SELECT count(*) FROM (SELECT {columns} FROM {a} EXCEPT ALL SELECT {columns} FROM {b})"
    [differ] = duckdb.execute(query).fetchone()
    if differ:
        raise SystemExit(f"{differ} rows of {a} are not in {b}")
[profiles] = duckdb.execute(f"SELECT count(*) FROM {one}").fetchone()
print(profiles)
"""
CONTEXT = ["Workclass", "education-num", "marital-status", "occupation", "relationship", "race", "capital-gain"]
CONTEXT += ["capital-loss", "hours-per-week", "native-country"]

# So many numbers are drawn where there are to be many profiles.
DRAWS = 24

# Further columns, as DuckDB draws them for each row of a part.
DRAW = f", (hash(adult.rowid, again, {{part}}, 'draw') % {DRAWS})::INT AS draw"
WAGE = ", round(1000 + exp(8 + 4 * (hash(adult.rowid, again, {part}, 'wage') / 18446744073709551615.0)), 2) AS wage"

TRAIN = ["--model", "train", "--label-favourable", ">50K", "--set", "train.split=counts", "--no-evidence"]


def python(code: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", code, *map(str, arguments)]


def measured(command: list[str]) -> tuple[float, float, float]:
    """Seconds of processor time, seconds, and MB at most: of each, the median of three runs."""
    cpu, seconds, peak = (median(found) for found in zip(*(once(command) for _ in range(3)), strict=True))
    return cpu, seconds, peak


def once(command: list[str]) -> tuple[float, float, float]:
    """The same of one run."""
    before = os.times().elapsed
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, os.times().elapsed - before, usage.ru_maxrss / 1024


def compared(ours: Path, theirs: Path) -> int:
    """How many profiles both files have; ends the benchmark where they do not hold the same."""
    done = subprocess.run(python(COMPARE, ours, theirs), capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"facts and DuckDB do not agree: {done.stderr}")
    return int(done.stdout)


def make(folder: Path, rows: int, more: str) -> None:
    """Writes parts of a million rows; from the sixth on they are those before."""
    for part in range(-(-rows // PART)):
        path = folder / f"part-{part:05}.parquet"
        size = min(PART, rows - part * PART)
        if part >= PARTS and size == PART:
            os.link(folder / f"part-{part % PARTS:05}.parquet", path)
        else:
            command = python(MAKE, ADULT, part, size, more, path)
            # DuckDB draws a bar where it takes long.
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def said(parts: Path, context: list[str], *settings: str) -> list[str]:
    """How `facts` is told of a table: only age makes subgroups, and these columns are seen by the model."""
    named = ", ".join(f'"{column}"' for column in context)
    words = [str(parts), "--protected", "sex", "--label", "income", "-q"]
    for setting in ('features.age.kind="categorical"', f"data.context=[{named}]", *settings):
        words += ["--set", setting]
    return words


def profiles(facts: str, rows: int, more: str, start: float) -> list[str]:
    """`facts profiles`, DuckDB and `train` on a table: a line of the first table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts, ours, theirs = folder / "parts", folder / "ours.parquet", folder / "theirs.parquet"
        parts.mkdir()
        make(parts, rows, more)
        words = said(parts, CONTEXT + ["draw"] * bool(more))
        own = measured([facts, "profiles", *words, "-o", str(ours)])
        duck = measured(python(GROUP, parts, theirs))
        train = measured([facts, "audit", *words, *TRAIN])
        distinct = compared(ours, theirs)
    cells = [f"{rows:,}", f"{distinct:,}", *beside(own, duck, start)]
    return [*cells, f"{train[0]:.2f}", f"{train[2]:.0f}", f"{train[0] / own[0]:.2f}"]


def cut(facts: str, rows: int, max_memory: int, start: float) -> list[str]:
    """An audit that cuts a number that hardly repeats, and DuckDB: a line of the second table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts, model, out = folder / "parts", folder / "model.json", folder / "out"
        parts.mkdir()
        make(parts, rows, WAGE)
        model.write_text(json.dumps({"intercept": -4.0, "levels": {}, "numbers": {"age": 0.1}}))
        words = said(parts, CONTEXT, "features.wage.quantiles=5")
        words += ["--model", f"linear:{model}", "--favourable", "1", "--label-favourable", ">50K", "--no-evidence"]
        words += ["--max-memory", str(max_memory)]
        own = measured([facts, "audit", *words, "--out", str(out)])
        if "cut into bins while the table was read" not in (out / "report.txt").read_text():
            raise SystemExit(f"{rows:,} rows fit into a quarter of {max_memory} MiB: they were read in one pass")
        duck = measured(python(CUT_AND_GROUP, parts, folder / "theirs.parquet"))
    return [f"{rows:,}", *beside(own, duck, start)]


def beside(own: tuple[float, float, float], duck: tuple[float, float, float], start: float) -> list[str]:
    """What both took, without the time in which DuckDB starts, and how they compare."""
    cpu = duck[0] - start
    cells = [f"{own[0]:.2f}", f"{own[1]:.2f}", f"{own[2]:.0f}", f"{cpu:.2f}", f"{duck[1]:.2f}", f"{duck[2]:.0f}"]
    return [*cells, f"{own[0] / cpu:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("facts")
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000, 5_000_000, 50_000_000, 100_000_000])
    parser.add_argument("--many", type=int, nargs="*", default=[5_000_000, 50_000_000])
    parser.add_argument("--cut", type=int, nargs="*", default=[5_000_000, 50_000_000])
    parser.add_argument("--max-memory", type=int, default=1000, help="of the audits with --cut, in MiB")
    arguments = parser.parse_args()
    start, _, _ = measured(python("import duckdb"))
    version = subprocess.run(python("import duckdb; print(duckdb.__version__)"), capture_output=True, text=True)
    print(f"# Distinct rows with their counts: `facts profiles` and DuckDB {version.stdout.strip()}\n")
    print(f"Made by [against_duckdb.py](../../python/benchmarks/against_duckdb.py) on {os.cpu_count()} cores. ", end="")
    print("CPU is seconds of processor time, peak is resident memory in MB; medians of three runs.\n")
    both = ["facts: CPU", "seconds", "peak", "DuckDB: CPU", "seconds", "peak", "CPU, facts ÷ DuckDB"]
    heads = ["rows", "distinct", *both, "train: CPU", "peak", "CPU, train ÷ facts"]
    sizes = [(rows, "") for rows in arguments.rows] + [(rows, DRAW) for rows in arguments.many]
    told(heads, (profiles(arguments.facts, rows, more, start) for rows, more in sizes))
    print("\n## A wage to the cent, cut into five bins\n")
    print(
        f"`facts audit` with a model that does not read it, in two passes, with --max-memory {arguments.max_memory}; ",
        end="",
    )
    print("DuckDB asks for the quantiles, and groups the rows by them.\n")
    told(["rows", *both], (cut(arguments.facts, rows, arguments.max_memory, start) for rows in arguments.cut))


def told(heads: list[str], lines: Iterable[list[str]]) -> None:
    """Prints a table, line by line as they come."""
    print("| " + " | ".join(heads) + " |")
    print("| " + " | ".join(["---:"] * len(heads)) + " |", flush=True)
    for cells in lines:
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
