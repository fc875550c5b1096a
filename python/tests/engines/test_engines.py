"""The same audit, wherever the table lies."""

from __future__ import annotations

import gzip
import json
import os
import signal
import time
import uuid
from collections import Counter
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
    if parquet.name not in there.list_tables():
        there.create_table(parquet.name, pq.read_table(parquet))
    return there.table(parquet.name)


def written(table: pa.Table, folder: Path) -> Path:
    """A folder of one part, called as no other."""
    place = folder / f"t{uuid.uuid4().hex}"
    place.mkdir()
    pq.write_table(table, place / "part-0.parquet")
    return place


def on_pandas(model: Callable[[pd.DataFrame], Any]) -> Callable[[pa.Table], Any]:
    """A model of pandas frames that is asked with Arrow tables."""
    return lambda rows: model(rows.to_pandas())


ENGINES = ["duckdb", "datafusion", "postgres", "spark"]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_audit_is_the_same_wherever_the_table_lies(
    engine: str, parquet: Path, expected: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    table = tables(engine, parquet, request)
    audit = facts.audit(scorer(SPEC), table, **OPTIONS)
    assert saved(audit, tmp_path) == expected


def picky(spec: dict[str, Any]) -> Callable[[pd.DataFrame], np.ndarray]:
    """The scorecard, which also looks at every column that is not tidy."""
    keeps = scorer(spec)

    def answer(rows: pd.DataFrame) -> Any:
        points = rows["points"].to_numpy(dtype=float)
        below = np.signbit(points) & (points == 0)
        known = rows["visits"].notna() & rows["owner"].notna()
        longer = rows['home.city `"'].str.len().fillna(1).to_numpy(dtype=float) > 3
        return np.where(below | (known & longer), keeps(rows), (points < 0.3).astype("int64"))

    return answer


@pytest.mark.parametrize("engine", ENGINES)
def test_an_audit_of_an_untidy_table_is_that_of_the_arrow_table(
    engine: str, varied: pa.Table, varied_parquet: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    options = {**OPTIONS, "support": 0.1, "max_length": 2}
    features = {name: {"missing": "level"} for name in ("points", "visits", "owner", 'home.city `"', "branch")}
    features["points"]["kind"] = features["visits"]["kind"] = features["branch"]["kind"] = "categorical"
    dtypes = set()

    def model(rows: pd.DataFrame) -> Any:
        dtypes.add(tuple(rows.dtypes.astype(str).items()))
        return picky(SPEC)(rows)

    table = tables(engine, varied_parquet, request)
    audit = facts.audit(model, table, features=features, batch_rows=500, **options)
    # Whether or not something is missing among the rows that are asked together.
    assert dtypes == {tuple(varied.to_pandas().dtypes.astype(str).items())}
    local = facts.audit(on_pandas(picky(SPEC)), varied, features=features, **options)
    assert _without_model(saved(audit, tmp_path)) == _without_model(saved(local, tmp_path))
    for level in ("-0.0", "0.0", "9007199254740993", "true", "e\u0301"):
        assert f'"label": {json.dumps(level)}' in saved(local, tmp_path), level


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused_as_they_are_here(
    engine: str, odd: float, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    rows = 60
    table = pa.table(
        {
            "sex": ["Female", "Male"] * (rows // 2),
            "pay": [None, odd, 1.0, 2.0, 9.0, 4.0] * (rows // 6),
            "job": ["clerk", "clerk", "manager"] * (rows // 3),
        }
    )
    there = tables(engine, written(table, tmp_path), request)
    model = lambda rows: np.asarray(rows["job"] == "manager")
    options = {"protected": "sex", "favourable": True, "evidence": False, "progress": False, "min_members": 1}
    refused = "column `pay`.* is not a finite number; make it null if it is missing"
    for X in (table, there):
        with pytest.raises(facts.DataError, match=refused):
            facts.audit(model, X, features=["job", "pay"], **options)
    for bins in (2, [3.0]):
        with pytest.raises(facts.DataError, match=refused):
            facts.profiles(there, "sex", bins={"pay": bins})
    # Where the audit does not speak of them, they are the model's.
    answers = lambda rows: np.asarray(rows["pay"].to_pandas() if hasattr(rows, "schema") else rows["pay"]) > 3
    alone = {**options, "features": ["job"]}
    assert saved(facts.audit(answers, there, **alone), tmp_path) == saved(
        facts.audit(answers, table, **alone), tmp_path
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_quantiles_are_cut_where_they_are_here(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(5)
    rows = 1000
    gaps = draw.random(rows) < 0.2
    columns = {
        "one": np.full(rows, 7.5),
        "two": draw.choice([0.0, -0.0], rows),
        "ties": np.floor(draw.exponential(3, rows)),
        "below": -draw.lognormal(0, 4, rows),
        "large": 2**53 + draw.integers(0, 9, rows),
    }
    arrays = {name: pa.array(values, mask=gaps) for name, values in columns.items()}
    arrays["single"] = pa.array([None] * (rows - 1) + [3])
    table = pa.table({"sex": ["Female", "Male"] * (rows // 2), **arrays})
    there = tables(engine, written(table, tmp_path), request)
    for bins in (1, 3, 40):
        made = facts.profiles(there, "sex", bins=dict.fromkeys(arrays, bins))
        manifest = json.loads(made.schema.metadata[b"facts.profiles"])
        found = {column["name"]: column["bins"]["cuts"] for column in manifest["columns"] if column.get("bins")}
        for name, array in arrays.items():
            # All numbers in their order, -0.0 before 0.0.
            known = sorted((float(n) for n in array.drop_null().to_pylist()), key=lambda n: (n, np.copysign(1, n)))
            here = facts._facts.quantile_cuts(name, known, [1] * len(known), bins)
            assert list(map(repr, found[name])) == list(map(repr, here)), (name, bins)
    # All but every number is another one, and they are not fetched.
    with monkeypatch.context() as few:
        few.setattr("facts._engines.MOST", 8)
        assert facts.profiles(there.select("sex", "below"), "sex", bins={"below": 3}).num_rows == 8
    with pytest.raises(facts.UsageError, match="`gone`.*every value is missing"):
        empty = table.append_column("gone", pa.nulls(rows, pa.float64()))
        facts.profiles(tables(engine, written(empty, tmp_path), request), "sex", bins={"gone": 2})


class Fitted:
    """A model that says what it was fitted on, as scikit-learn's do."""

    def __init__(self, columns: list[str]) -> None:
        self.feature_names_in_ = np.array(columns, dtype=object)

    def predict(self, rows: pd.DataFrame) -> Any:
        assert list(rows.columns) == list(self.feature_names_in_)
        return scorer(SPEC)(rows.assign(sex="-"))


@pytest.mark.parametrize("engine", ENGINES)
def test_what_nobody_reads_is_not_fetched(
    engine: str, people: pd.DataFrame, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = np.where(people["years"] + people.index % 3 > 4, "yes", "no")
    table = people.assign(id=people.index, note=(people.index * 7).astype(str), kept=label)
    there = tables(engine, written(pa.Table.from_pandas(table, preserve_index=False), tmp_path), request)
    features = ["degree", "job", "hours", "years"]
    reads = [*features, "region"]
    ignored = {"data": {"ignore": ["id", "note"]}}
    listed = {"features": {name: {} for name in features}, "label": {"column": "kept", "favourable": "yes"}}
    labelled = {"features": features, "label": "kept", "label_favourable": "yes"}
    trained = {**labelled, "favourable": "yes", "config": {"train": {"split": "counts"}}}
    ways: list[tuple[Any, dict[str, Any], list[str]]] = [
        (scorer(SPEC), {"config": ignored}, [*reads, "kept"]),
        (Fitted(reads), labelled, [*reads, "kept"]),
        (Fitted(features), {"features": features}, features),
        (Fitted(features), {"config": listed}, [*features, "kept"]),
        (scorer(SPEC), {"features": features, "model_columns": ["sex", *reads]}, reads),
        ("train", trained, [*features, "kept"]),
    ]
    for model, said, wanted in ways:
        options = {**OPTIONS, "shuffles": 0, "resamples": 0, **said}
        local = facts.audit(model, table, **options)
        monkeypatch.setattr("facts._engines.MOST", len(table[["sex", *wanted]].drop_duplicates()))
        assert saved(facts.audit(model, there, **options), tmp_path) == saved(local, tmp_path), said
    # Of many models, what one of them reads.
    models = {"one": Fitted(features), "other": Fitted(reads)}
    monkeypatch.setattr("facts._engines.MOST", len(table[["sex", *reads]].drop_duplicates()))
    options = {**OPTIONS, "shuffles": 0, "resamples": 0, "features": features}
    local = facts.audit_models(models, table, **options)
    for name, audit in facts.audit_models(models, there, **options).items():
        assert saved(audit, tmp_path) == saved(local[name], tmp_path)
    # And no more than that: a model that could read anything gets all.
    with pytest.raises(facts.DataError, match="distinct rows"):
        facts.audit(scorer(SPEC), there, **options)


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


@pytest.mark.parametrize("engine", ENGINES)
def test_small_profiles_are_left_out(engine: str, parquet: Path, request: pytest.FixtureRequest) -> None:
    table = tables(engine, parquet, request)
    made = facts.profiles(table, "sex", bins={"years": [3, 6]}, suppress_below=20)
    assert min(made.column("count").to_pylist()) >= 20
    manifest = json.loads(made.schema.metadata[b"facts.profiles"])
    assert manifest["suppressed"]["below"] == 20
    assert manifest["suppressed"]["rows"] + manifest["rows"] == 4200


@pytest.mark.parametrize("engine", ENGINES)
def test_edges_of_suppressed_profiles_are_numbers_of_nobody(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(3)
    # So many that the edges of fifths are at rows, and not between them.
    rows = 601
    columns = {
        "pay": np.round(draw.lognormal(10, 1, rows), 2),
        "points": draw.choice(10**6, rows, replace=False),
        "debt": -np.round(draw.lognormal(3, 2, rows), 4),
        "years": draw.integers(0, 9, rows),
        "zeros": draw.choice([-0.0, 0.0], rows),
    }
    table = pa.table({"sex": np.array(["Female", "Male"])[np.arange(rows) % 2], **columns})
    there = tables(engine, written(table, tmp_path), request)

    def cuts(suppress_below: int | None) -> dict[str, list[float]]:
        made = {
            name: facts.profiles(there.select("sex", name), "sex", bins={name: 5}, suppress_below=suppress_below)
            for name in columns
        }
        manifests = {name: json.loads(profiles.schema.metadata[b"facts.profiles"]) for name, profiles in made.items()}
        return {name: manifest["columns"][1]["bins"]["cuts"] for name, manifest in manifests.items()}

    exact, shared = cuts(None), cuts(10)
    # However many are fetched at a time.
    monkeypatch.setattr("facts._engines._AT_A_TIME", 100)
    assert cuts(10) == shared
    for name in ("pay", "points", "debt"):
        held = set(columns[name].tolist())
        assert len(shared[name]) == 4 and set(exact[name]) <= held and not held & set(shared[name]), name
        # Rounded, and close to what they would be.
        assert shared[name] == [float(f"{cut:.2e}") for cut in shared[name]]
        assert np.allclose(shared[name], exact[name], rtol=0.1)
    # Numbers that enough people share are nobody's own.
    assert shared["years"] == exact["years"]


@pytest.mark.parametrize("engine", ENGINES)
def test_profiles_are_cut_as_others_were(
    engine: str, parquet: Path, people: pd.DataFrame, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    here = tmp_path / "here.parquet"
    pq.write_table(facts.profiles(people.iloc[:500], "sex", bins={"years": 3}), here)
    there = facts.profiles(tables(engine, parquet, request), "sex", bins_from=here)
    manifests = [json.loads(made.schema.metadata[b"facts.profiles"]) for made in (pq.read_table(here), there)]
    own, other = (manifest["columns"] for manifest in manifests)
    assert own == other and any(column.get("bins") for column in own)
    assert manifests[1]["rows"] == len(people)


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
    with pytest.raises(facts.UsageError, match="give one of them"):
        facts.profiles(table, "sex", bins={"years": 3}, bins_from="other.parquet")
    with pytest.raises(facts.UsageError, match="this is no file of profiles"):
        facts.profiles(table, "sex", bins_from=next(parquet.glob("*.parquet")))
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


def watched(keeps: Callable[[Any], Any], folder: str, deadly: bool) -> Callable[[Any], Any]:
    """A model that keeps a file of the rows that it answered on a worker, under the worker's process.

    A deadly one takes a worker down with it: the first that is asked in the second batch or later, once
    another has answered.
    """

    def answer(rows: Any) -> Any:
        kept = Path(folder)
        process = os.getpid()
        while "CoarseGrainedExecutorBackend" not in Path(f"/proc/{process}/cmdline").read_text():
            status = Path(f"/proc/{process}/stat").read_text()
            process = int(status.rsplit(")", 1)[1].split()[1])
            if process <= 1:
                # Not on a worker: to see of what type answers are.
                (kept / f"here-{uuid.uuid4().hex}").touch()
                return keeps(rows)
        others = [mark for mark in kept.glob("rows-*") if mark.name.split("-")[1] != str(process)]
        if deadly and others and len(list(kept.glob("batch-*"))) >= 2:
            try:
                (kept / "killed").open("x").write(str(process))
                os.kill(process, signal.SIGKILL)
                time.sleep(60)
            except FileExistsError:
                pass
        answers = keeps(rows)
        (kept / f"rows-{process}-{uuid.uuid4().hex}").write_text(rows.to_json(orient="values"))
        return answers

    return answer


def rows_of(frames: list[pd.DataFrame]) -> Counter[tuple[Any, ...]]:
    """Which rows these are, and how often each comes."""
    return Counter(tuple(row) for frame in frames for row in json.loads(frame.to_json(orient="values")))


@pytest.mark.parametrize("deadly", [False, True])
def test_a_worker_that_dies_changes_nothing(
    deadly: bool, spark: Any, parquet: Path, people: pd.DataFrame, expected: str, tmp_path: Path
) -> None:
    asked: list[pd.DataFrame] = []
    facts.audit(lambda rows: (asked.append(rows), scorer(SPEC)(rows))[1], people, **OPTIONS)
    here = rows_of(asked)
    folder = tmp_path / "marks"
    folder.mkdir()
    model = facts.on_spark(watched(scorer(SPEC), str(folder), deadly), spark)
    ask = model.predict
    model.predict = lambda rows: ((folder / f"batch-{uuid.uuid4().hex}").touch(), ask(rows))[1]
    # People, and then rows that they could change to in several batches.
    batch = here.total() // 4
    audit = facts.audit(model, spark.read.parquet(str(parquet)), batch_rows=batch, **OPTIONS)
    assert _without_model(saved(audit, tmp_path)) == _without_model(expected)
    assert len(list(folder.glob("batch-*"))) >= 4
    assert len(list(folder.glob("here-*"))) == 1, "the type of answers is asked for once"
    marks = list(folder.glob("rows-*"))
    executors = {mark.name.split("-")[1] for mark in marks}
    assert len(executors) >= 2, "one worker answered everything"
    # The task that died had answered nothing, so no row was answered twice, and none was lost.
    there = Counter(tuple(row) for mark in marks for row in json.loads(mark.read_text()))
    assert there == here
    if deadly:
        killed = (folder / "killed").read_text()
        assert not Path(f"/proc/{killed}").exists() or "State:\tZ" in Path(f"/proc/{killed}/status").read_text()
        assert executors - {killed}, "nobody went on"


def classifier(spec: dict[str, Any], with_probabilities: bool = True) -> Any:
    """The scorecard as a classifier; whole in itself."""

    class Classifier:
        classes_ = np.array([0, 1])

        def predict(self, rows: pd.DataFrame) -> Any:
            return (self._score(rows) > 0).astype("int64")

        def _score(self, rows: pd.DataFrame) -> Any:
            score = np.full(len(rows), float(spec["intercept"]))
            for column, points in spec["levels"].items():
                score = score + rows[column].astype(object).map(points).astype(float).to_numpy()
            for column, coefficient in spec["numbers"].items():
                score = score + rows[column].astype(float).to_numpy() * coefficient
            return score

    def predict_proba(self: Any, rows: pd.DataFrame) -> Any:
        yes = 1 / (1 + np.exp(-self._score(rows)))
        return np.column_stack([1 - yes, yes])

    if with_probabilities:
        Classifier.predict_proba = predict_proba  # type: ignore[attr-defined]
    return Classifier()


def test_probabilities_come_from_the_workers(spark: Any, people: pd.DataFrame, tmp_path: Path) -> None:
    model = classifier(SPEC)
    there = facts.on_spark(model, spark)
    rows = people.head(1_000).drop(columns="sex").assign(sex=people["sex"].head(1_000))
    assert np.array_equal(there.predict_proba(rows), model.predict_proba(rows))
    assert there.predict_proba(rows[:0]).shape == (0, 2)
    options = OPTIONS | {"threshold": 0.8}
    expected = saved(facts.audit(model, people, **options), tmp_path)
    assert _without_model(saved(facts.audit(there, people, **options), tmp_path)) == _without_model(expected)
    other = saved(facts.audit(model, people, **OPTIONS), tmp_path)
    assert _without_model(other) != _without_model(expected), "the threshold changes something"
    without = facts.on_spark(classifier(SPEC, with_probabilities=False), spark)
    assert not hasattr(without, "predict_proba")
    with pytest.raises(facts.UsageError, match="gives no probabilities"):
        facts.audit(without, people, **options)


def test_answers_of_several_types_are_not_cut(spark: Any) -> None:
    rows = pd.DataFrame({"a": np.arange(1_000)})
    halves = facts.on_spark(lambda rows: np.array([1]) if len(rows) == 1 else np.full(len(rows), 0.5), spark, 2)
    with pytest.raises(Exception, match="some rows with whole numbers and others with values of type float64"):
        halves.predict(rows)
    truths = facts.on_spark(lambda rows: rows["a"].to_numpy() > 5 if len(rows) > 1 else np.array([1]), spark, 2)
    assert truths.predict(rows).tolist() == (rows["a"] > 5).astype(int).tolist()
    whole = facts.on_spark(lambda rows: np.ones(len(rows), dtype=int if len(rows) > 1 else float), spark, 2)
    assert whole.predict(rows).tolist() == [1.0] * 1_000
    texts = facts.on_spark(lambda rows: [None if a == 3 else f"class {a % 2}" for a in rows["a"]], spark, 2)
    assert texts.predict(rows)[2:5].tolist() == ["class 0", None, "class 0"]
    one_column = facts.on_spark(lambda rows: rows[["a"]].to_numpy(), spark, 2)
    assert one_column.predict(rows).tolist() == rows["a"].tolist()


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
    table = there.table(parquet.name)
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
