"""One audit, by every way in which its table can come: the same findings and the same evidence, to the byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import facts
import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_engines import ENGINES, saved, tables
from test_sql import HIRING, LITTLE_MEMORY, NAMES, audited, flags, run


def in_parts(people: pd.DataFrame, folder: Path) -> Path:
    """The people in seven files of unequal length."""
    folder.mkdir()
    ends = [len(people) * (part + 1) * (part + 2) // 56 for part in range(7)]
    for part, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        people.iloc[start:end].to_parquet(folder / f"part-{part:05}.parquet", index=False)
    return folder


def merged_profiles(people: pd.DataFrame, settings: list[object], folder: Path) -> Path:
    """The people of three sites, each as its profiles, merged."""
    folder.mkdir()
    made = []
    for site in range(3):
        people.iloc[site::3].to_csv(folder / f"{site}.csv", index=False)
        made.append(written(folder / f"{site}.parquet", folder / f"{site}.csv", settings))
    return written(folder / "all.parquet", *made, settings)


def written(out: Path, *tables_and_settings: Any) -> Path:
    """Profiles, written by the command."""
    *paths, settings = tables_and_settings
    done = run("profiles", *paths, *settings[:2], "-o", out)
    assert done.returncode == 0, done.stderr
    return out


def test_the_audit_is_the_same_by_every_way(
    people: pd.DataFrame,
    parquet: Path,
    databases: Any,
    settings: list[object],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    whole = tmp_path / "whole.parquet"
    people.to_parquet(whole, index=False)
    found: dict[str, str] = {}

    def by_command(way: str, *where: object) -> None:
        found[way] = audited(*where, *settings, "--out", tmp_path / way)

    by_command("one file", whole)
    by_command("seven parts", in_parts(people, tmp_path / "parts"))
    merged = merged_profiles(people, settings, tmp_path / "sites")
    by_command("profiles of three sites", merged)
    for name in NAMES:
        query, database = databases[name]
        by_command(f"sql: on {name}", query, "--database", database)

    def by_python(way: str, table: Any) -> None:
        # The same file of settings, which names the model.
        audit = facts.audit(None, table, config=settings[1], shuffles=39, resamples=20, progress=False)
        found[way] = saved(audit, tmp_path)

    by_python("profiles of three sites, in Python", pq.read_table(merged))
    for engine in ENGINES:
        by_python(f"Python on {engine}", tables(engine, parquet, request))

    assert len(found) == 4 + len(NAMES) + len(ENGINES)
    expected = found["one file"]
    assert '"together"' in expected and '"intervals"' in expected, "there is evidence to compare"
    assert {way for way, text in found.items() if text != expected} == set()


INCOME: dict[str, Any] = {"quantiles": 4, "missing_codes": ["-9"], "missing": "level"}
LITTLE: dict[str, Any] = {"max_memory_mib": 12, "shuffles": 39, "resamples": 20, "progress": False}


@pytest.fixture(scope="module")
def cutting(settings: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same settings, with incomes that are cut into bins."""
    path = tmp_path_factory.mktemp("cutting") / "facts.toml"
    income = 'quantiles = 4\nmissing-codes = ["-9"]\nmissing = "level"\n'
    path.write_text(f"{settings[1].read_text()}\n[features.income]\n{income}")
    return path


@pytest.fixture(scope="module")
def cut(
    incomes: dict[str, str], cutting: Path, settings: list[object], tmp_path_factory: pytest.TempPathFactory
) -> str:
    """The audit of people with an income of their own each, by the command from a file, in two passes."""
    path = next(iter(incomes))
    out = tmp_path_factory.mktemp("cut") / "out"
    found = audited(path, "--config", cutting, *settings[2:], *flags(LITTLE_MEMORY), "--out", out)
    assert "cut into bins while the table was read" in found
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_that_hardly_repeat_are_cut_in_the_engine(
    engine: str,
    incomes: dict[str, str],
    cutting: Path,
    cut: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = tables(engine, Path(next(iter(incomes))).parent, request)
    audit = facts.audit(None, table, config=cutting, **LITTLE)
    assert saved(audit, tmp_path) == cut
    # Too many to be fetched, whatever memory there is.
    with monkeypatch.context() as few:
        few.setattr("facts._engines.MOST", 50_000)
        audit = facts.audit(None, table, config=cutting, **{**LITTLE, "max_memory_mib": None})
        assert saved(audit, tmp_path) == cut
    # A pipeline tells what it reads; and whoever sees bins needs no numbers.
    labels = {**INCOME, "labels": ["least", "less", "more", "most"], "model_sees": "label"}
    for model, income in ((Pipeline(), INCOME), (by_name, labels)):
        asked = {**LITTLE, "protected": "sex", "favourable": 1, "shuffles": 0, "resamples": 0}
        audit = facts.audit(model, table, features={"income": income}, **asked)
        assert any("cut into bins while the table was read" in note for note in audit.notes)


def by_name(rows: pd.DataFrame) -> Any:
    """A model that sees the names of bins."""
    assert set(rows["income"].dropna()) <= {"least", "less", "more", "most"}
    return ((rows["income"] == "most") | (rows["job"] == "manager")).to_numpy().astype(int)


class Pipeline:
    """A model that says what it was fitted on, as scikit-learn's do; income is not among it."""

    feature_names_in_ = np.array(["job", "years"], dtype=object)

    def predict(self, rows: pd.DataFrame) -> Any:
        return ((rows["years"] > 5) | (rows["job"] == "manager")).to_numpy().astype(int)


def test_what_does_not_fit_is_refused(incomes: dict[str, str], request: pytest.FixtureRequest) -> None:
    table = tables("duckdb", Path(next(iter(incomes))).parent, request)

    def anything(rows: pd.DataFrame) -> Any:
        return (rows["income"] > 20_000).to_numpy().astype(int)

    asked: dict[str, Any] = {"protected": "sex", "favourable": 1, "features": {"income": INCOME}, **LITTLE}
    too_large = "leave too little of the 12 MiB allowed"
    with pytest.raises(facts.DataError, match=too_large):
        facts.audit(anything, table, **asked)
    with pytest.raises(facts.DataError, match=too_large):
        facts.audit_models({"one": Pipeline(), "other": Pipeline()}, table, **asked)
    with pytest.raises(facts.DataError, match=too_large):
        facts.audit(Pipeline(), table, **{**asked, "features": {"income": {"kind": "numeric"}}})
    # An edge would be the income of one person.
    with pytest.raises(facts.DataError, match=too_large):
        facts.audit(Pipeline(), table, suppress_below=10, **asked)


def test_edges_are_the_same_where_a_sketch_tells_them(settings: Any, tmp_path: Path) -> None:
    """There are too many numbers to count them one by one."""
    pd.read_csv(HIRING / "people.csv").drop(columns="kept").to_parquet(tmp_path / "people.parquet", index=False)
    people = f"(SELECT *, row_number() OVER () - 1 AS number FROM '{tmp_path / 'people.parquet'}')"
    income = "SELECT sqrt(range * 7919 % 1000003) AS income, range % 600 AS number FROM range(700000)"
    query = f"SELECT * EXCLUDE number FROM {people} JOIN ({income}) USING (number)"
    path = tmp_path / "facts.toml"
    path.write_text(f"{settings[1].read_text()}\n[features.income]\nquantiles = 4\n")
    more = ["--config", path, *settings[2:], *flags(LITTLE_MEMORY)]
    expected = audited(f"sql:{query}", "--database", "duckdb:", *more, "--out", tmp_path / "out")
    assert "income (within" in expected
    there = ibis.duckdb.connect()
    there.raw_sql(f"CREATE VIEW many AS {query}")
    audit = facts.audit(None, there.table("many"), config=path, **LITTLE)
    assert saved(audit, tmp_path) == expected


def test_edges_of_suppressed_profiles_are_those_of_the_command(tmp_path: Path) -> None:
    draw = np.random.default_rng(8)
    rows = 1000
    people = pd.DataFrame(
        {
            "sex": np.array(["Female", "Male"])[np.arange(rows) % 2],
            "pay": np.round(draw.lognormal(10, 1, rows), 2),
            "points": draw.choice(10**6, rows, replace=False),
            "years": draw.integers(0, 30, rows),
        }
    )
    path, out = tmp_path / "people.parquet", tmp_path / "profiles.parquet"
    people.to_parquet(path, index=False)
    for column in ("pay", "points", "years"):
        said = ["--protected", "sex", "--set", f"features.{column}.quantiles=7"]
        done = run("profiles", path, *said, "--bins", "--suppress-below", 10, "-o", out)
        assert done.returncode == 0, done.stderr
        made = facts.profiles(people[["sex", column]], "sex", bins={column: 7}, suppress_below=10)
        assert cuts_of(made.schema, column) == cuts_of(pq.read_schema(out), column), column


def cuts_of(schema: pa.Schema, column: str) -> list[float]:
    """Where profiles were cut."""
    [kept] = [one for one in json.loads(schema.metadata[b"facts.profiles"])["columns"] if one["name"] == column]
    cuts: list[float] = kept["bins"]["cuts"]
    assert cuts
    return cuts
