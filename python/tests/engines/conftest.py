"""Engines, started for the tests. One that cannot be started is a failure, not a skip."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

HIRING = Path(__file__).resolve().parents[3] / "examples" / "hiring"


@pytest.fixture(scope="session")
def people() -> pd.DataFrame:
    """The applicants of examples/hiring, seven times over, without the label."""
    once = pd.read_csv(HIRING / "people.csv").drop(columns="kept")
    return pd.concat([once] * 7, ignore_index=True)


@pytest.fixture(scope="session")
def parquet(people: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a folder of three parts."""
    folder = tmp_path_factory.mktemp("parts")
    for part in range(3):
        people.iloc[part::3].to_parquet(folder / f"part-{part}.parquet", index=False)
    return folder


#: Values of a column of text as tables have them that nobody tidied up.
CITIES = [
    "São Paulo",
    "L'Aquila",
    'a "b"',
    "100 %",
    "back\\slash",
    "漢字",
    "",
    " Bern",
    "Bern ",
    "tab\there",
    "two\nlines",
]
CITIES += ["é", "e\u0301", "🙂", "NULL", "-0.0"]


@pytest.fixture(scope="session")
def varied(people: pd.DataFrame) -> pa.Table:
    """The same applicants with columns that engines, Arrow and pandas each have their own ways with."""
    draw = np.random.default_rng(17)
    rows = len(people)
    some = lambda values, gaps: pa.array([None if gap else value for value, gap in zip(values, gaps, strict=True)])
    gaps = lambda share: draw.random(rows) < share
    points = draw.choice([-0.0, 0.0, 0.1, 0.1 + 0.2, 1e-300, -7.25, 1e17], rows).tolist()
    table = pa.Table.from_pandas(people, preserve_index=False)
    table = table.append_column("points", some(points, gaps(0.01)))
    table = table.append_column("visits", some(draw.integers(-1, 4, rows).tolist(), gaps(0.01)))
    table = table.append_column("owner", some((draw.random(rows) < 0.4).tolist(), gaps(0.01)))
    table = table.append_column('home.city `"', some(draw.choice(CITIES, rows).tolist(), gaps(0.01)))
    # More than a float could tell apart.
    table = table.append_column("branch", some((2**53 + draw.integers(0, 3, rows)).tolist(), gaps(0.01)))
    return table


@pytest.fixture(scope="session")
def varied_parquet(varied: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a folder of two parts."""
    folder = tmp_path_factory.mktemp("varied")
    for part in range(2):
        pq.write_table(varied.take(list(range(part, varied.num_rows, 2))), folder / f"part-{part}.parquet")
    return folder


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Spark with two worker processes."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("facts")
    for key, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A Postgres server of its own, on loopback; gives its port."""
    bin_ = _postgres()
    folder = tmp_path_factory.mktemp("postgres")
    as_user: dict[str, Any] = {}
    if os.geteuid() == 0:
        # Postgres will not run as root.
        user = pwd.getpwnam("postgres")
        as_user = {"user": user.pw_uid, "group": user.pw_gid}
        for path in (folder, *folder.parents):
            if path == Path("/tmp") or path == Path("/"):
                break
            path.chmod(path.stat().st_mode | 0o011)
        os.chown(folder, user.pw_uid, user.pw_gid)
    data = folder / "data"
    options: dict[str, Any] = {"cwd": folder, "check": True, "capture_output": True, **as_user}
    subprocess.run([bin_ / "initdb", "-D", data, "-U", "facts", "--auth=trust", "-E", "UTF8"], **options)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
    log = folder / "log"
    control = [bin_ / "pg_ctl", "-D", data, "-w"]
    started = {**options, "capture_output": False, "stdout": subprocess.DEVNULL}
    subprocess.run([*control, "-l", log, "-o", settings, "start"], **started)
    yield port
    # Whether it ends at once is not what is tested.
    subprocess.run([*control, "-m", "immediate", "stop"], **{**started, "check": False})


@pytest.fixture(scope="session")
def databases(people: pd.DataFrame, parquet: Path, tmp_path_factory: pytest.TempPathFactory, postgres: int) -> Any:
    """The applicants in three databases: a query of each, and the database."""
    folder = tmp_path_factory.mktemp("databases")
    with sqlite3.connect(folder / "people.db") as lite:
        people.to_sql("people", lite, index=False)
    there = ibis.postgres.connect(host="127.0.0.1", port=postgres, user="facts", database="postgres")
    there.create_table("applicants", pq.read_table(parquet))
    return {
        "sqlite": ("sql:people", f"sqlite:{folder / 'people.db'}"),
        "duckdb": (f"sql:FROM '{parquet}/*.parquet'", "duckdb:"),
        "postgres": ("sql:SELECT * FROM applicants;", f"postgresql://facts@127.0.0.1:{postgres}/postgres"),
    }


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """How the applicants are audited: as in examples/hiring, without the label."""
    text = (HIRING / "facts.toml").read_text()
    before, label = text.split("[label]")
    text = before + "[" + label.split("[", 1)[1]
    path = tmp_path_factory.mktemp("settings") / "facts.toml"
    path.write_text(text.replace('"linear:model.json"', f'"linear:{HIRING / "model.json"}"'))
    return ["--config", path, "--set", "evidence.shuffles=39", "--set", "evidence.resamples=20"]


@pytest.fixture(scope="session")
def incomes(tmp_path_factory: pytest.TempPathFactory, postgres: int) -> dict[str, str]:
    """Many people with an income of their own each; the model does not read it."""
    folder, chance = tmp_path_factory.mktemp("incomes"), np.random.default_rng(5)
    rows = 120_000
    once = pd.read_csv(HIRING / "people.csv").drop(columns="kept")
    people = once.iloc[chance.integers(0, len(once), rows)].reset_index(drop=True)
    income = np.round(chance.lognormal(10, 1, rows), 2)
    income[chance.integers(0, rows, 500)] = -9
    income[chance.integers(0, rows, 500)] = np.nan
    people["income"] = income
    path = folder / "rows" / "people.parquet"
    path.parent.mkdir()
    people.to_parquet(path, index=False)
    with sqlite3.connect(folder / "people.db") as lite:
        people.to_sql("people", lite, index=False)
    there = ibis.postgres.connect(host="127.0.0.1", port=postgres, user="facts", database="postgres")
    there.create_table("incomes", pq.read_table(path))
    return {
        str(path): "",
        f"sql:'{path}'": "duckdb:",
        "sql:people": f"sqlite:{folder / 'people.db'}",
        "sql:incomes": f"postgresql://facts@127.0.0.1:{postgres}/postgres",
    }


def _postgres() -> Path:
    """The folder of Postgres' programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    assert on_path, "Postgres is not installed (Debian: apt-get install postgresql)"
    return Path(on_path).parent
