"""`facts audit sql:…`: tables in databases, from the command line."""

from __future__ import annotations

import datetime
import gzip
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parents[3]
HIRING = ROOT / "examples" / "hiring"
COMMAND = Path(os.environ.get("FACTS_COMMAND", ROOT / "target" / "debug" / "facts"))
DUCKDB = Path(__file__).parent / "node_modules/@duckdb"


def run(*arguments: object, folder: Path = HIRING, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the command, with the drivers at hand."""
    assert COMMAND.is_file(), f"{COMMAND} is not there; build it, or name another in FACTS_COMMAND"
    libraries = [path.parent for path in DUCKDB.glob("*/*duckdb.*") if path.suffix in (".so", ".dylib", ".dll")]
    assert libraries, "DuckDB's library is not there: npm ci --prefix python/tests/engines"
    known = {"FACTS_PYTHON": sys.executable, "FACTS_ADBC_DRIVERS": str(libraries[0]), **environment}
    words = [str(word) for word in arguments]
    return subprocess.run([COMMAND, *words], cwd=folder, env={**os.environ, **known}, capture_output=True, text=True)


def audited(*arguments: object, **more: Any) -> str:
    """What is saved of an audit, but for where the table lies and when."""
    done = run("audit", *arguments, **more)
    assert done.returncode == 0, done.stderr
    [out] = [Path(str(value)) for flag, value in zip(arguments, arguments[1:], strict=False) if flag == "--out"]
    record = json.loads(gzip.decompress((out / "audit.json.gz").read_bytes()))
    for key in ("data", "made"):
        del record[key]
    return json.dumps(record)


NAMES = ["sqlite", "duckdb", "postgres"]


@pytest.fixture(scope="session")
def table(people: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same in a file."""
    path = tmp_path_factory.mktemp("table") / "people.csv"
    people.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_an_audit_is_the_same_from_a_database(
    name: str, databases: Any, settings: Any, table: Path, tmp_path: Path
) -> None:
    query, database = databases[name]
    there = audited(query, "--database", database, *settings, "--out", tmp_path / "there")
    assert there == audited(table, *settings, "--out", tmp_path / "here")


@pytest.mark.parametrize("name", NAMES)
def test_columns_that_are_ignored_are_left_there(
    name: str, databases: Any, parquet: Path, settings: Any, people: pd.DataFrame, tmp_path: Path
) -> None:
    table = {"sqlite": "people", "duckdb": f"'{parquet}/*.parquet'", "postgres": "applicants"}[name]
    query = f"sql:SELECT years * 7 AS note, * FROM {table}"
    people.assign(note=people["years"] * 7).to_csv(tmp_path / "people.csv", index=False)
    more = [*settings, "--set", 'data.ignore=["note"]']
    there = audited(query, "--database", databases[name][1], *more, "--out", tmp_path / "there")
    assert there == audited(tmp_path / "people.csv", *more, "--out", tmp_path / "here")


def test_a_database_is_named_in_a_configuration(databases: Any, settings: Any, table: Path, tmp_path: Path) -> None:
    query, database = databases["postgres"]
    text = settings[1].read_text().replace('"people.csv"', f'"{query}"\ndatabase = "env:PEOPLE"')
    (tmp_path / "facts.toml").write_text(text)
    written = ["--config", tmp_path / "facts.toml", *settings[2:]]
    there = audited(*written, "--out", tmp_path / "there", PEOPLE=database)
    assert there == audited(table, *settings, "--out", tmp_path / "here")
    unset = run("audit", *written)
    assert unset.returncode == 2 and "environment variable PEOPLE, which is not set" in unset.stderr


@pytest.mark.parametrize("name", NAMES)
def test_profiles_are_the_same_from_a_database(
    name: str, databases: Any, settings: Any, table: Path, tmp_path: Path
) -> None:
    query, database = databases[name]
    for out, where in {"there": [query, "--database", database], "here": [table]}.items():
        done = run("profiles", *where, *settings[:2], "-o", tmp_path / f"{out}.parquet")
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "there.parquet").read_bytes() == (tmp_path / "here.parquet").read_bytes()


CUT = {
    "features.income.quantiles": "4",
    "features.income.missing-codes": '["-9"]',
    "features.income.missing": '"level"',
}
LITTLE_MEMORY = {"audit.max-memory-mib": "12"}


def flags(settings: dict[str, str]) -> list[str]:
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


def test_bins_are_cut_in_the_database_where_numbers_keep_rows_apart(
    incomes: dict[str, str], settings: Any, tmp_path: Path
) -> None:
    more = flags(CUT | LITTLE_MEMORY)
    found = {
        audited(
            where, *(["--database", database] if database else []), *settings, *more, "--out", tmp_path / str(number)
        )
        for number, (where, database) in enumerate(incomes.items())
    }
    assert len(found) == 1
    assert "cut into bins while the table was read" in found.pop()


@pytest.mark.parametrize(
    ("number", "value"), [("NaN", "'NaN'::float8"), ("inf", "'Infinity'::float8"), ("-inf", "'-Infinity'::float8")]
)
def test_what_is_not_finite_is_refused_however_it_is_read(
    number: str, value: str, incomes: dict[str, str], settings: Any
) -> None:
    columns = ", ".join(name for name in pd.read_csv(HIRING / "people.csv", nrows=1) if name != "kept")
    edges = {"features.income.edges": "[-inf, 100, 1000, inf]"}
    open_ends = {key: value for key, value in CUT.items() if "quantiles" not in key} | edges
    for where, database in incomes.items():
        if not database or (database.startswith("sqlite") and number == "NaN"):
            continue
        there = {"inf": "9e999", "-inf": "-9e999"}[number] if database.startswith("sqlite") else value
        table = where.removeprefix("sql:")
        one = f"SELECT {columns}, {there} FROM (SELECT * FROM {table} LIMIT 1) AS one"
        query = f"sql:SELECT {columns}, income FROM {table} UNION ALL {one}"
        for cut in (CUT, CUT | LITTLE_MEMORY, open_ends, open_ends | LITTLE_MEMORY):
            done = run("audit", query, "--database", database, *settings, *flags(cut))
            said = f": {number} is not a finite number; make it null if it is missing"
            assert "column `income`, row " in done.stderr and said in done.stderr, (database, done.stderr)
            assert done.returncode == 3, done.stderr


def test_edges_do_not_depend_on_the_order_of_rows(settings: Any, tmp_path: Path) -> None:
    """There are too many numbers to count them one by one, so that a sketch tells the edges."""
    pd.read_csv(HIRING / "people.csv").drop(columns="kept").to_parquet(tmp_path / "people.parquet", index=False)
    people = f"(SELECT *, row_number() OVER () - 1 AS number FROM '{tmp_path / 'people.parquet'}')"
    found = set()
    for order in ("range", "699999 - range"):
        income = "sqrt(range * 7919 % 1000003)"
        rows = f"(SELECT {income} AS income, range % (SELECT count(*) FROM {people}) AS number FROM range(700000)"
        query = f"sql:SELECT * EXCLUDE number FROM {people} JOIN {rows} ORDER BY {order}) USING (number)"
        more = flags(CUT | LITTLE_MEMORY)
        out = tmp_path / order.replace(" ", "")
        found.add(audited(query, "--database", "duckdb:", *settings, *more, "--out", out))
    assert len(found) == 1
    assert "income (within" in found.pop()


def test_columns_of_any_type_can_be_read(people: pd.DataFrame, databases: Any, tmp_path: Path) -> None:
    _, database = databases["postgres"]
    casts = "years::numeric(6, 2) AS years, date '2020-01-31' + years::int AS since, ARRAY[years] AS years_too"
    query = f"sql:SELECT sex, job, degree, hours, region, {casts} FROM applicants -- all of them"
    features = [word for name in ("years", "since", "years_too") for word in ("--set", f"features.{name}={{}}")]
    out = tmp_path / "p.parquet"
    done = run("profiles", query, "--database", database, "-o", out, "--protected", "sex", *features)
    assert done.returncode == 0, done.stderr
    made = pq.read_table(tmp_path / "p.parquet").to_pandas()
    assert set(made["years"]) == {float(years) for years in people["years"]}
    start = datetime.date(2020, 1, 31)
    assert set(made["years_too"]) == {f"{{{years}}}" for years in people["years"]}
    assert set(made["since"]) == {str(start + datetime.timedelta(int(years))) for years in people["years"]}


@pytest.mark.parametrize("name", ["duckdb", "postgres"])
def test_both_zeros_stay_values(name: str, databases: Any, tmp_path: Path) -> None:
    """A model may tell them apart, and a database does not."""
    _, database = databases[name]
    values = [-0.0, 0.0, None, 1.5, -1.5] * 40 + [-0.0, 0.0, 0.0]
    casts = {"duckdb": ("'{}'::double", "'{}'::real"), "postgres": ("'{}'::float8", "'{}'::float4")}[name]
    rows = [
        ", ".join([f"'{'fm'[place % 7 % 2]}'", *("NULL" if value is None else cast.format(value) for cast in casts)])
        for place, value in enumerate(values)
    ]
    listed = ", ".join(f"({row})" for row in rows)
    query = f"sql:SELECT * FROM (VALUES {listed}) AS v(sex, double, single)"
    table = pa.table({"sex": ["fm"[place % 7 % 2] for place in range(len(values))]})
    table = table.append_column("double", pa.array(values, pa.float64()))
    pq.write_table(table.append_column("single", pa.array(values, pa.float32())), tmp_path / "here.parquet")
    columns = ["--protected", "sex", *flags({f"features.{name}": "{}" for name in ("double", "single")})]
    made = {}
    for where in ([query, "--database", database], [tmp_path / "here.parquet"]):
        out = tmp_path / f"profiles-{len(made)}.parquet"
        done = run("profiles", *where, "-o", out, *columns)
        assert done.returncode == 0, done.stderr
        made[out] = out.read_bytes()
    there, here = made.values()
    assert there == here
    found = pq.read_table(next(iter(made))).to_pydict()
    zeros = {str(value) for value in found["double"] if value == 0}
    assert zeros == {"0.0", "-0.0"} == {str(value) for value in found["single"] if value == 0}


def test_a_column_of_sqlite_may_hold_anything(tmp_path: Path) -> None:
    """The driver goes by the first rows; the later ones are of other types here."""
    with sqlite3.connect(tmp_path / "p.db") as lite:
        lite.execute("CREATE TABLE p (sex, late, mixed, number, empty)")
        early = [(sex, None, 1, 1, None) for sex in "fm"] * 2
        distinct = [("f", None, 1, number, None) for number in range(3000)]
        lite.executemany("INSERT INTO p VALUES (?, ?, ?, ?, ?)", early + distinct + [("m", "x", "one", 0.5, None)])
    where = ["sql:p", "--database", "sqlite:p.db"]
    columns = ("late", "mixed", "number", "empty")
    features = [word for name in columns for word in ("--set", f"features.{name}={{}}")]
    done = run("profiles", *where, "-o", "p.parquet", "--protected", "sex", *features, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    made = pq.read_table(tmp_path / "p.parquet").to_pandas()
    last = made[made["late"] == "x"]
    assert last["mixed"].tolist() == ["one"] and last["number"].tolist() == [0.5] and last["count"].tolist() == [1]
    assert set(made["mixed"]) == {"1", "one"} and made["count"].sum() == 3005
    assert made["empty"].isna().all()


def refusal(*arguments: object, **more: Any) -> str:
    """What is said of an audit that is not made."""
    done = run("audit", *arguments, "--protected", "sex", "--model", "linear:model.json", **more)
    assert done.returncode in (2, 3), (done.returncode, done.stderr)
    assert "panicked" not in done.stderr
    return done.stderr


def test_what_cannot_be_done_is_said(databases: Any, tmp_path: Path) -> None:
    query, database = databases["sqlite"]
    assert "name it with --database" in refusal(query)
    assert "names no table" in refusal("sql:", "--database", database)
    assert "it does not say of which kind it is" in refusal(query, "--database", "people.db")
    assert "no such file" in refusal(query, "--database", "sqlite:nobody.db")
    assert not (HIRING / "nobody.db").exists()
    assert "no such table: nobody" in refusal("sql:nobody", "--database", database)
    assert "has no rows" in refusal("sql:SELECT * FROM people WHERE sex = 'x'", "--database", database)
    twice = "sql:SELECT sex, sex FROM applicants"
    assert "has two columns called `sex`" in refusal(twice, "--database", databases["postgres"][1])
    assert "a query is a table of its own" in refusal(query, "sql:others", "--database", database)
    assert "needs the ADBC driver libadbc_driver_sqlite" in refusal(
        query, "--database", database, FACTS_PYTHON="nobody", PATH="", FACTS_ADBC_DRIVERS=""
    )
    assert "python3 -m pip install adbc-driver-sqlite" in refusal(
        query, "--database", database, FACTS_PYTHON="nobody", PATH="", FACTS_ADBC_DRIVERS=str(tmp_path)
    )
    unknown = refusal(query, "--database", "nosuch://me:secret@lake/d?token=secret")
    assert "nosuch://***@lake/d needs the ADBC driver nosuch" in unknown and "secret" not in unknown


def test_a_query_that_would_write_is_refused(databases: Any, tmp_path: Path) -> None:
    _, database = databases["postgres"]
    refusal("sql:SELECT 1) AS x; DROP TABLE applicants; --", "--database", database)
    out = tmp_path / "kept.parquet"
    kept = run("profiles", "sql:applicants", "--database", database, "--protected", "sex", "-o", out)
    assert kept.returncode == 0 and out.is_file(), kept.stderr


def test_rows_are_of_one_state_of_a_database_and_nothing_is_written(databases: Any, tmp_path: Path) -> None:
    _, database = databases["postgres"]
    told = "current_setting('transaction_isolation') || ', ' || current_setting('transaction_read_only') AS told"
    out = tmp_path / "told.parquet"
    done = run("profiles", f"sql:SELECT *, {told} FROM applicants", "--database", database, "--protected", "sex",
               "--set", "features.told={}", "-o", out)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert set(pq.read_table(out)["told"].to_pylist()) == {"repeatable read, on"}
    assert "read-only transaction" in refusal("sql:SELECT * FROM applicants FOR UPDATE", "--database", database)


def test_a_password_is_never_told(databases: Any, settings: Any, postgres: int, tmp_path: Path) -> None:
    secret = "s3cr%2Ft"
    for database in (
        f"postgresql://facts:{secret}@127.0.0.1:1/postgres",
        f"postgresql://facts:{secret}@127.0.0.1:{secret}/postgres",
        f"postgresql://facts:{secret}@127.0.0.1:{postgres}/nobody?password={secret}",
        f"nosuch://facts:{secret}@127.0.0.1/postgres",
    ):
        said = refusal("sql:applicants", "--database", database)
        assert secret not in said and "s3cr/t" not in said, said
        assert "@127.0.0.1" in said
    whole = f"postgresql://facts:{secret}@127.0.0.1:{postgres}/postgres"
    done = run("audit", "sql:applicants", "--database", whole, *settings, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            said += (gzip.decompress(held) if path.suffix == ".gz" else held).decode(errors="replace")
    assert secret not in said and "s3cr/t" not in said
    helped = run("audit", "--help", FACTS_DATABASE=whole)
    assert "FACTS_DATABASE" in helped.stdout and secret not in helped.stdout
    made = run("init", "sql:applicants", "--database", whole, "-o", "-")
    assert secret not in made.stdout and 'path = "sql:applicants"' in made.stdout
    assert f'database = "postgresql://facts@127.0.0.1:{postgres}/postgres"' in made.stdout


def test_a_secret_in_a_query_is_never_told(databases: Any, parquet: Path, settings: Any, tmp_path: Path) -> None:
    secret = "s3cr3t"
    duckdb, postgres = ["--database", "duckdb:"], ["--database", databases["postgres"][1]]
    for query, database in (
        (f"sql:FROM 'https://me:{secret}@127.0.0.1:1/x.parquet?sig={secret}'", duckdb),
        (f"sql:FROM postgres_scan('host=127.0.0.1 port=1 password={secret}', 'public', 'people')", duckdb),
        (f"sql:FROM read_csv('nobody.csv?token={secret}')", duckdb),
        (f"sql:SELECT *, 's3_secret_access_key={secret}' FROM {'x' * 40} WHER", duckdb),
        (f"sql:SELECT 'password={secret}'::int", duckdb),
        (f"sql:SELECT 'password={secret}'::int", postgres),
        (f"sql:SELECT * FROM applicants WHERE 'Secret' = '{secret}'::int", postgres),
        (f"sql:SELECT 'password={secret}' AS x, 1 AS x", duckdb),
        (f"sql:FROM 'https://me:{secret}@127.0.0.1:1/x.parquet?sig={secret}'", []),
        ("sql:SELECT 1 AS x", ["--database", f"duckdb:md:lake?motherduck_token={secret}"]),
    ):
        said = refusal(query, *database)
        assert secret not in said, said
    held = f"'https://me:{secret}@host/a?sig={secret}' <> 'password={secret}'"
    query = f"sql:SELECT * FROM '{parquet}/*.parquet' WHERE {held}"
    done = run("audit", query, *duckdb, *settings, "--out", tmp_path / "out", "--format", "html")
    assert done.returncode == 0, done.stderr
    written = {"printed": (done.stdout + done.stderr).encode()}
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            held_by = path.read_bytes()
            written[path.name] = gzip.decompress(held_by) if path.suffix == ".gz" else held_by
    assert {"audit.json.gz", "report.html"} <= set(written)
    for name, content in written.items():
        assert secret.encode() not in content, name
    record = json.loads(written["audit.json.gz"])
    assert record["data"]["name"].endswith("WHERE 'https://***@host/a?***' <> 'password=***'")
    made = run("init", query, *duckdb, "-o", "-")
    assert made.returncode == 0 and secret not in made.stdout + made.stderr, made.stderr
    assert "password=***" in made.stdout and "which is not written down" in made.stdout
    plain = run("init", databases["postgres"][0], *postgres, "-o", "-")
    assert 'path = "sql:SELECT * FROM applicants;"' in plain.stdout
    assert "given with a password" not in plain.stdout
