"""The same audit, wherever the table lies."""

from __future__ import annotations

import gzip
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import facts
import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

HIRING = Path(__file__).resolve().parents[3] / "examples" / "hiring"
SPEC = json.loads((HIRING / "model.json").read_text())
OPTIONS: dict[str, Any] = {
    "protected": "sex",
    "favourable": 1,
    "support": 0.05,
    "shuffles": 39,
    "resamples": 20,
    "progress": False,
}


def scorer(spec: dict[str, Any]) -> Callable[[pd.DataFrame], np.ndarray]:
    """The scorecard of examples/hiring; whole in itself, so that workers get it pickled."""

    def keeps(rows: pd.DataFrame) -> Any:
        score = rows["sex"].astype(object).map(lambda _: float(spec["intercept"]))
        for column, points in spec["levels"].items():
            score = score + rows[column].astype(object).map(points).astype(float)
        for column, coefficient in spec["numbers"].items():
            score = score + rows[column].astype(float) * coefficient
        return (score > 0).to_numpy().astype("int64")

    return keeps


def saved(audit: Any, folder: Path) -> str:
    """What is saved of an audit, but for where the table lies and when."""
    path = folder / "audit.json.gz"
    audit.save(path)
    record = json.loads(gzip.decompress(path.read_bytes()))
    for key in ("data", "made"):
        del record[key]
    return json.dumps(record)


@pytest.fixture(scope="module")
def expected(people: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The audit of the table in memory."""
    return saved(facts.audit(scorer(SPEC), people, **OPTIONS), tmp_path_factory.mktemp("expected"))


def tables(name: str, parquet: Path, request: pytest.FixtureRequest) -> Any:
    """The table in an engine."""
    if name == "duckdb":
        return ibis.duckdb.connect().read_parquet(f"{parquet}/*.parquet")
    if name == "datafusion":
        return ibis.datafusion.connect().read_parquet(str(parquet))
    if name == "spark":
        return request.getfixturevalue("spark").read.parquet(str(parquet))
    port = request.getfixturevalue("postgres")
    there = ibis.postgres.connect(host="127.0.0.1", port=port, user="facts", database="postgres")
    if "people" not in there.list_tables():
        there.create_table("people", pq.read_table(parquet))
    return there.table("people")


ENGINES = ["duckdb", "datafusion", "postgres", "spark"]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_audit_is_the_same_wherever_the_table_lies(
    engine: str, parquet: Path, expected: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    table = tables(engine, parquet, request)
    audit = facts.audit(scorer(SPEC), table, **OPTIONS)
    assert saved(audit, tmp_path) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_profiles_are_the_same_wherever_the_table_lies(
    engine: str, parquet: Path, people: pd.DataFrame, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    table = tables(engine, parquet, request)
    made = facts.profiles(table, "sex", bins={"years": 3})
    manifest = json.loads(made.schema.metadata[b"facts.profiles"])
    [years] = [column for column in manifest["columns"] if column["name"] == "years"]
    assert years["bins"]["cuts"] == np.quantile(people["years"], [1 / 3, 2 / 3]).tolist()
    # As a slow and obvious count has it.
    cuts, labels = years["bins"]["cuts"], years["bins"]["labels"]
    binned = people.assign(years=[labels[sum(year > cut for cut in cuts)] for year in people["years"]])
    counted = binned.groupby(list(people.columns)).size()
    found = made.to_pandas().set_index(list(people.columns))["count"]
    assert found.to_dict() == counted.to_dict()
    assert manifest["rows"] == len(people) and manifest["profiles"] == len(counted)
    # Written and read again, they give the audit of the rows, with bins in their order.
    pq.write_table(made, tmp_path / "p.parquet")

    def experienced(rows: pa.Table) -> Any:
        return np.array([year != labels[0] for year in rows.column("years").to_pylist()])

    audit = facts.audit(experienced, pq.read_table(tmp_path / "p.parquet"), **OPTIONS)
    rows = pa.Table.from_pandas(binned, preserve_index=False)
    features = {"years": {"kind": "ordinal", "order": labels}}
    local = facts.audit(experienced, rows, features=features, **OPTIONS)
    assert saved(audit, tmp_path) == saved(local, tmp_path)


def test_small_profiles_are_left_out(parquet: Path, request: pytest.FixtureRequest) -> None:
    table = tables("duckdb", parquet, request)
    made = facts.profiles(table, "sex", bins={"years": [3, 6]}, suppress_below=20)
    assert min(made.column("count").to_pylist()) >= 20
    manifest = json.loads(made.schema.metadata[b"facts.profiles"])
    assert manifest["suppressed"]["below"] == 20
    assert manifest["suppressed"]["rows"] + manifest["rows"] == 4200


def test_profiles_of_a_table_in_memory(people: pd.DataFrame, parquet: Path, request: pytest.FixtureRequest) -> None:
    there = facts.profiles(tables("duckdb", parquet, request), "sex", bins={"years": 3})
    assert facts.profiles(people, "sex", bins={"years": 3}) == there
    assert facts.profiles(pa.Table.from_pandas(people), "sex", bins={"years": 3}) == there


def test_what_cannot_be_done_is_said(parquet: Path, request: pytest.FixtureRequest) -> None:
    table = tables("duckdb", parquet, request)
    with pytest.raises(facts.UsageError, match="there is no column `gender`"):
        facts.profiles(table, "gender")
    with pytest.raises(facts.UsageError, match="give numbers that ascend"):
        facts.profiles(table, "sex", bins={"years": [6, 3]})
    with pytest.raises(facts.DataError, match="`job` holds no numbers"):
        facts.profiles(table, "sex", bins={"job": 3})
    with pytest.raises(facts.UsageError, match="must name one of its columns"):
        facts.audit(scorer(SPEC), table, protected=np.array(["a"]), favourable=1)


def test_rows_that_are_all_distinct_are_not_fetched(
    parquet: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("facts._engines.MOST", 100)
    with pytest.raises(facts.DataError, match="more than 100 distinct rows"):
        facts.audit(scorer(SPEC), tables("duckdb", parquet, request), protected="sex", favourable=1)


def dying(keeps: Callable[[Any], Any], mark: str) -> Callable[[Any], Any]:
    """A model that takes its worker down with it once, when it is asked there."""

    def answer(rows: Any) -> Any:
        process = os.getpid()
        while "CoarseGrainedExecutorBackend" not in Path(f"/proc/{process}/cmdline").read_text():
            status = Path(f"/proc/{process}/stat").read_text()
            process = int(status.rsplit(")", 1)[1].split()[1])
            if process <= 1:
                return keeps(rows)  # not on a worker
        if not Path(mark).exists():
            Path(mark).write_text(str(process))
            os.kill(process, signal.SIGKILL)
        return keeps(rows)

    return answer


def test_a_worker_that_dies_changes_nothing(spark: Any, parquet: Path, expected: str, tmp_path: Path) -> None:
    mark = tmp_path / "killed"
    model = facts.on_spark(dying(scorer(SPEC), str(mark)), spark)
    people = spark.read.parquet(str(parquet))
    audit = facts.audit(model, people, batch_rows=1_000_000, **OPTIONS)
    assert mark.exists(), "no worker was killed"
    assert _without_model(saved(audit, tmp_path)) == _without_model(expected)


def _without_model(record: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(record)
    del found["model"]
    return found


SECRET = "correct-horse"


def test_nothing_about_where_a_table_lies_is_recorded(
    postgres: int, parquet: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    tables("postgres", parquet, request)
    there = ibis.postgres.connect(host="127.0.0.1", port=postgres, user="facts", password=SECRET, database="postgres")
    table = there.table("people")
    options = {key: value for key, value in OPTIONS.items() if key not in ("shuffles", "resamples")}
    audit = facts.audit(scorer(SPEC), table, evidence=False, **options)
    path = tmp_path / "audit.json.gz"
    audit.save(path)
    record = json.loads(gzip.decompress(path.read_bytes()))
    assert record["data"]["name"] == "an Ibis table in postgres"
    with pytest.raises(facts.UsageError) as refused:
        facts.profiles(table, "gender")
    for text in (json.dumps(record), str(refused.value), audit.to_html()):
        for place in ("127.0.0.1", str(postgres), SECRET):
            assert place not in text
