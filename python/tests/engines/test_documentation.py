"""What docs/scale.md says of databases and Spark runs as it is written, but for where they are."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import psycopg
import pytest
from documentation import ROOT, blocks, make_models
from test_sql import HIRING, run

SCALE = blocks(ROOT / "docs" / "scale.md")


@pytest.fixture(scope="module")
def server(postgres: int) -> Any:
    """A database of its own in Postgres, since the names of its tables are those of the page."""
    with psycopg.connect(host="127.0.0.1", port=postgres, user="facts", dbname="postgres", autocommit=True) as there:
        there.execute("CREATE DATABASE documented")
    return ibis.postgres.connect(host="127.0.0.1", port=postgres, user="facts", database="documented")


@pytest.fixture(scope="module")
def lake(people: pd.DataFrame, server: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tables and the model that the page names, and the same in Postgres."""
    folder = tmp_path_factory.mktemp("lake")
    shutil.copy(HIRING / "people.csv", folder)
    make_models(folder)
    with duckdb.connect() as there:
        there.register("applicants", people)
        # As older libraries read it, too.
        there.execute(f"ATTACH '{folder / 'lake.duckdb'}' AS lake (STORAGE_VERSION 'v1.0.0')")
        there.execute("CREATE TABLE lake.people AS FROM applicants")
    (folder / "lake").mkdir()
    for year in (2017, 2018):
        people.assign(year=year).to_parquet(folder / "lake" / f"{year}.parquet", index=False)
    server.create_table("applicants", people)
    return folder


COMMANDS = [line for block in SCALE if block.language == "sh" for line in block.commands() if "sql:" in line]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_query_of_the_page_is_audited(command: str, lake: Path, postgres: int) -> None:
    address = f"postgresql://facts@127.0.0.1:{postgres}/documented"
    words = shlex.split(command.replace("postgresql://auditor@db/people", address))
    done = run(*words[1:], folder=lake)
    assert done.returncode == 0, done.stderr
    assert "4,200 people by sex" in done.stdout


def test_there_are_queries() -> None:
    assert len(COMMANDS) == 3


class Pipeline:
    """Whoever works long gets a yes, and men sooner."""

    def predict(self, rows: pd.DataFrame) -> Any:
        return (rows["hours"] + 5 * (rows["sex"] == "Male") > 40).to_numpy().astype(int)


@pytest.mark.filterwarnings("ignore::facts.FactsWarning")
def test_the_python_of_the_page_runs(postgres: int, server: Any, spark: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    size = 800
    people = pd.DataFrame(
        {
            "age": rng.integers(20, 60, size),
            "sex": rng.choice(["Female", "Male"], size),
            "job": rng.choice(["clerk", "manager"], size),
            "hours": rng.integers(20, 60, size),
        }
    )
    people.to_parquet(tmp_path / "people.parquet", index=False)
    server.create_table("people", people)
    [block] = [block for block in SCALE if block.language == "python"]
    where = f'host="127.0.0.1", port={postgres}, user="facts", database="documented"'
    text = block.text.replace("…", where).replace("s3a://lake/people", str(tmp_path / "people.parquet"))
    assert text.count(where) == 1 and text.count(str(tmp_path)) == 1
    audits = []
    first, second = text.split("\n\npeople = spark")
    names: dict[str, Any] = {"pipeline": Pipeline(), "spark": spark}
    for part in (first, "people = spark" + second):
        exec(part, names)
        audits.append(names["audit"])
    assert str(audits[0].verdict) == str(audits[1].verdict)
