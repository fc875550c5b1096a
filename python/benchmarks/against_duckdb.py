"""Measures `facts profiles` and `train` beside DuckDB's `GROUP BY ALL` of the same Parquet files.

    cargo build --release -p facts-audit
    python3 -m venv target/python/duckdb && target/python/duckdb/bin/pip install duckdb==2.0.0
    target/python/duckdb/bin/python python/benchmarks/against_duckdb.py target/release/facts > verification/records/scale.md

Both read the same files one after the other, count the distinct rows of the same columns and write them to a Parquet file;
the counts are compared. `facts audit --model train` then reads them again, fits a model to all columns by counts and audits
it for subgroups by age, without evidence: a small audit, so that what is measured is reading, splitting and fitting. Processor time and peak memory are those of the process, as the operating system tells them; the
processor time that Python and DuckDB take to start is taken off DuckDB's. Everything is run three times, and the median is
told. `facts` also takes the SHA-256 of every file,
which its records need. The table is Adult without its sampling weight and one of its two columns of education, repeated and
shuffled in parts of a million rows. Five parts are made here; more rows are these five under further names. `--many`
has a table of about a million profiles: a number below 24 is drawn for each row, in a column `draw`. It is read, and no model fitted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ADULT = Path(__file__).parents[2] / "data" / "adult" / "adult.csv.gz"
PART = 1_000_000
PARTS = 5

# Everything of DuckDB runs in processes of its own: a process starts with the peak of the one that it was forked from.
MAKE = """
import duckdb, sys
adult, part, size, draws, path = sys.argv[1:]
draw = f", (hash(adult.rowid, again, {part}, 'draw') % {draws})::INT AS draw" if int(draws) else ""
duckdb.execute(f"CREATE TABLE adult AS SELECT * EXCLUDE (fnlwgt, education) FROM read_csv('{adult}')")
duckdb.execute(
    f"COPY (SELECT adult.*{draw} FROM adult, range(21) AS r(again) "
    f"ORDER BY hash(adult.rowid, again, {part}) LIMIT {size}) TO '{path}' (COMPRESSION zstd)"
)
"""
GROUP = """
import duckdb, sys
duckdb.execute("PRAGMA threads=2")
duckdb.execute(f"COPY (SELECT *, count(*) AS count FROM '{sys.argv[1]}/*.parquet' GROUP BY ALL) TO '{sys.argv[2]}'")
"""
COUNT = """
import duckdb, sys
print(*duckdb.execute(f"SELECT count(*), sum(count) FROM '{sys.argv[1]}'").fetchone())
"""
SETTINGS = ['features.age.kind="categorical"', "data.context=[{}]"]
CONTEXT = ["Workclass", "education-num", "marital-status", "occupation", "relationship", "race", "capital-gain"]
CONTEXT += ["capital-loss", "hours-per-week", "native-country"]

# So many numbers are drawn where there are to be many profiles.
DRAWS = 24

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


def counted(path: Path) -> tuple[int, int]:
    """How many profiles a file has, and how many rows they are."""
    text = subprocess.run(python(COUNT, path), check=True, capture_output=True, text=True).stdout
    profiles, rows = text.split()
    return int(profiles), int(rows)


def make(folder: Path, rows: int, draws: int) -> None:
    """Writes parts of a million rows; from the sixth on they are those before."""
    for part in range(-(-rows // PART)):
        path = folder / f"part-{part:05}.parquet"
        size = min(PART, rows - part * PART)
        if part >= PARTS and size == PART:
            os.link(folder / f"part-{part % PARTS:05}.parquet", path)
        else:
            command = python(MAKE, ADULT, part, size, draws, path)
            # DuckDB draws a bar where it takes long.
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("facts")
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000, 5_000_000, 50_000_000, 100_000_000])
    parser.add_argument("--many", type=int, nargs="*", default=[5_000_000, 50_000_000])
    arguments = parser.parse_args()
    start, _, _ = measured(python("import duckdb"))
    version = subprocess.run(python("import duckdb; print(duckdb.__version__)"), capture_output=True, text=True)
    print(f"# Distinct rows with their counts: `facts profiles` and DuckDB {version.stdout.strip()}\n")
    print(f"Made by [against_duckdb.py](../../python/benchmarks/against_duckdb.py) on {os.cpu_count()} cores. ", end="")
    print("CPU is seconds of processor time, peak is resident memory in MB; medians of three runs.\n")
    heads = [
        "rows",
        "distinct",
        "facts: CPU",
        "seconds",
        "peak",
        "DuckDB: CPU",
        "seconds",
        "peak",
        "CPU, facts ÷ DuckDB",
    ]
    heads += ["train: CPU", "peak", "CPU, train ÷ facts"]
    print("| " + " | ".join(heads) + " |")
    print("| " + " | ".join(["---:"] * len(heads)) + " |", flush=True)
    for rows, draws in [(rows, 0) for rows in arguments.rows] + [(rows, DRAWS) for rows in arguments.many]:
        context = CONTEXT + ["draw"] * (draws > 0)
        settings = [SETTINGS[0], SETTINGS[1].format(", ".join(f'"{column}"' for column in context))]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            parts, ours, theirs = folder / "parts", folder / "ours.parquet", folder / "theirs.parquet"
            parts.mkdir()
            make(parts, rows, draws)
            said = [str(parts), "--protected", "sex", "--label", "income", "-q"]
            for setting in settings:
                said += ["--set", setting]
            facts = measured([arguments.facts, "profiles", *said, "-o", str(ours)])
            duck = measured(python(GROUP, parts, theirs))
            train = None if draws else measured([arguments.facts, "audit", *said, *TRAIN])
            if counted(ours) != counted(theirs):
                raise SystemExit(f"facts and DuckDB do not agree: {counted(ours)}, {counted(theirs)}")
            cpu = duck[0] - start
            cells = [f"{rows:,}", f"{counted(ours)[0]:,}", f"{facts[0]:.2f}", f"{facts[1]:.2f}", f"{facts[2]:.0f}"]
            cells += [f"{cpu:.2f}", f"{duck[1]:.2f}", f"{duck[2]:.0f}", f"{facts[0] / cpu:.2f}"]
            cells += [f"{train[0]:.2f}", f"{train[2]:.0f}", f"{train[0] / facts[0]:.2f}"] if train else ["–"] * 3
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
