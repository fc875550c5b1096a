"""Measures `facts profiles` beside DuckDB's `GROUP BY ALL` of the same Parquet files.

    cargo build --release -p facts-audit
    python3 -m venv target/python/duckdb && target/python/duckdb/bin/pip install duckdb==2.0.0
    target/python/duckdb/bin/python python/benchmarks/against_duckdb.py target/release/facts > verification/records/scale.md

Both read the same files one after the other, count the distinct rows of the same columns and write them to a Parquet file;
the counts are compared. Processor time and peak memory are those of the process, as the operating system tells them; the
time that Python and DuckDB take to start is taken off DuckDB's. `facts` also takes the SHA-256 of every file, which its
records need. The table is Adult without its sampling weight and one of its two columns of education, repeated and shuffled
in parts of a million rows. Five parts are made here; more rows are these five under further names.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

ADULT = Path(__file__).parents[2] / "data" / "adult" / "adult.csv.gz"
PART = 1_000_000
PARTS = 5

GROUP = """
import duckdb, sys
duckdb.execute("PRAGMA threads=2")
duckdb.execute(f"COPY (SELECT *, count(*) AS count FROM '{sys.argv[1]}/*.parquet' GROUP BY ALL) TO '{sys.argv[2]}'")
"""


def measured(command: list[str]) -> tuple[float, float, float]:
    """Seconds of processor time, seconds, and MB at most."""
    before = os.times().elapsed
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, os.times().elapsed - before, usage.ru_maxrss / 1024


def table(folder: Path, rows: int) -> None:
    """Writes parts of a million rows; from the sixth on they are those before."""
    here = duckdb.connect()
    here.execute(f"CREATE TABLE adult AS SELECT * EXCLUDE (fnlwgt, education) FROM read_csv('{ADULT}')")
    for part in range(-(-rows // PART)):
        path = folder / f"part-{part:05}.parquet"
        size = min(PART, rows - part * PART)
        if part >= PARTS and size == PART:
            os.link(folder / f"part-{part % PARTS:05}.parquet", path)
            continue
        here.execute(
            f"COPY (SELECT adult.* FROM adult, range({PART // 48_842 + 1}) AS r(again) "
            f"ORDER BY hash(adult.rowid, again, {part}) LIMIT {size}) TO '{path}' (COMPRESSION zstd)"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("facts")
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 5_000_000, 50_000_000, 100_000_000])
    arguments = parser.parse_args()
    python = [sys.executable, "-c"]
    start, _, _ = measured([*python, "import duckdb"])
    print(f"# Distinct rows with their counts: `facts profiles` and DuckDB {duckdb.__version__}\n")
    print(f"Made by [against_duckdb.py](../../python/benchmarks/against_duckdb.py) on {os.cpu_count()} cores. ", end="")
    print("CPU is seconds of processor time, peak is resident memory in MB.\n")
    print("| rows | distinct | facts: CPU | seconds | peak | DuckDB: CPU | seconds | peak | CPU, facts ÷ DuckDB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            parts = folder / "parts"
            parts.mkdir()
            table(parts, rows)
            ours, theirs = folder / "ours.parquet", folder / "theirs.parquet"
            columns = [row[0] for row in duckdb.execute(f"DESCRIBE SELECT * FROM '{parts}/*.parquet'").fetchall()]
            context = [column for column in columns if column not in ("sex", "income")]
            setting = "data.context=[" + ",".join(f'"{column}"' for column in context[1:]) + "]"
            command = [arguments.facts, "profiles", str(parts), "--protected", "sex", "--label", "income"]
            command += ["--set", f"features.{context[0]}.kind=\"categorical\"", "--set", setting, "-q", "-o", str(ours)]
            facts = measured(command)
            duck = measured([*python, GROUP, str(parts), str(theirs)])
            distinct = [duckdb.execute(f"SELECT count(*), sum(count) FROM '{file}'").fetchone() for file in (ours, theirs)]
            if distinct[0] != distinct[1]:
                raise SystemExit(f"facts and DuckDB do not agree: {distinct}")
            cpu = duck[0] - start
            cells = [f"{rows:,}", f"{distinct[0][0]:,}", f"{facts[0]:.1f}", f"{facts[1]:.1f}", f"{facts[2]:.0f}"]
            cells += [f"{cpu:.1f}", f"{duck[1]:.1f}", f"{duck[2]:.0f}", f"{facts[0] / cpu:.2f}"]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
