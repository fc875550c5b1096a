"""`facts.audit`: any model, any table, and what it gives back."""

from __future__ import annotations

import inspect
import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import facts
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import HIRING, OPTIONS, Asked, keeps
from facts import _facts


@pytest.fixture(scope="module")
def audit(people: pd.DataFrame) -> facts.Audit:
    return facts.audit(keeps, people, **OPTIONS)


def findings(audit: facts.Audit) -> str:
    """Everything that was found, without what differs between ways to come to it."""
    page = json.loads(audit.to_json(n=10_000) or "")
    return json.dumps(page["definitions"], sort_keys=True)


# One audit, whatever the way to it


def test_a_python_model_and_the_command_line_find_the_same(audit: facts.Audit, people: Any) -> None:
    by_string = facts.audit(f"linear:{HIRING / 'model.json'}", people, **OPTIONS)
    by_file = facts.audit(keeps, people, config=HIRING / "facts.toml", favourable=1, progress=False)
    assert findings(by_string) == findings(audit)
    assert findings(by_file) == findings(audit)
    assert by_string.about["model"]["spec"].startswith("linear:")
    assert audit.about["model"]["description"] == "Python function keeps"


def test_a_configuration_may_choose_and_replace(audit: facts.Audit, people: pd.DataFrame) -> None:
    config = {"data": {"keep": {"region": ["north", "south"]}}}
    known = people[people["region"] != "?"]
    kept = facts.audit(keeps, people, **OPTIONS, config=config)
    assert findings(kept) == findings(facts.audit(keeps, known, **OPTIONS))
    renamed = people.replace({"job": {"clerk": "office clerk"}})
    config = {"data": {"replace": {"job": {"office clerk": "clerk"}}}}
    by_string = facts.audit(f"linear:{HIRING / 'model.json'}", renamed, **OPTIONS, config=config)
    assert findings(by_string) == findings(audit)
    with pytest.raises(facts.UsageError, match="change X itself"):
        facts.audit(keeps, renamed, **OPTIONS, config=config)


def polars_model(rows: pl.DataFrame) -> np.ndarray:
    assert isinstance(rows, pl.DataFrame)
    return keeps(
        pd.DataFrame(
            {name: rows[name].cast(pl.String if name != "years" else pl.Int64).to_list() for name in rows.columns}
        )
    )


def arrow_model(rows: pa.Table) -> np.ndarray:
    assert isinstance(rows, pa.Table)
    return keeps(pd.DataFrame(rows.to_pydict()))


def batch_model(rows: pa.RecordBatch) -> np.ndarray:
    assert isinstance(rows, pa.RecordBatch)
    return keeps(pd.DataFrame(rows.to_pydict()))


def as_polars(people: pd.DataFrame) -> pl.DataFrame:
    return pl.DataFrame(people.to_dict("list"))


@pytest.mark.parametrize(
    ("turned", "model", "kind"),
    [
        (as_polars, polars_model, pl.DataFrame),
        (
            lambda p: as_polars(p).with_columns(
                pl.col("job").cast(pl.Categorical),
                pl.col("degree").cast(pl.Enum(["none", "school", "college", "university"])),
            ),
            polars_model,
            pl.DataFrame,
        ),
        (lambda p: pa.Table.from_pandas(p, preserve_index=False), arrow_model, pa.Table),
        (
            lambda p: pa.RecordBatch.from_pandas(p, preserve_index=False),
            batch_model,
            pa.Table,
        ),
        (
            lambda p: pa.table(
                {name: pa.array(p[name]).dictionary_encode() if name == "job" else pa.array(p[name]) for name in p}
            ),
            arrow_model,
            pa.Table,
        ),
        (lambda p: p.astype({"job": "category", "years": "int16"}), keeps, pd.DataFrame),
        (lambda p: p.astype({"job": "string", "years": "Int64"}), keeps, pd.DataFrame),
        (lambda p: p.astype({"job": object, "years": "uint8"}), None, pd.DataFrame),
    ],
)
def test_every_kind_of_table_gives_one_audit_and_its_own_frames(
    audit: facts.Audit, people: pd.DataFrame, turned: Any, model: Any, kind: type
) -> None:
    table = turned(people)
    asked = Asked(model or keeps)
    other = facts.audit(asked, table, **OPTIONS)
    assert findings(other) == findings(audit)
    for frame in (other.subgroups, other.actions, other.table(), other.rank("equal-choice:0.7")):
        assert isinstance(frame, kind)
    # The model sees what it would see of the table itself.
    for rows in asked.frames:
        if isinstance(table, pd.DataFrame):
            assert list(rows.dtypes) == list(table.dtypes)
            assert list(rows.columns) == list(table.columns)
        else:
            assert rows.schema == table.schema


def test_each_distinct_row_is_asked_once_in_large_batches(people: pd.DataFrame) -> None:
    asked = Asked(keeps)
    audit = facts.audit(asked, people, **OPTIONS)
    rows = pd.concat(asked.frames)
    assert not rows.duplicated().any()
    sizes = audit.about["sizes"]
    assert len(rows) == sizes["rows_asked"] + sizes["counterfactual_rows_asked"]
    # One batch for the people, one for all that they could become.
    assert len(asked.frames) == 2
    small = Asked(keeps)
    facts.audit(small, people, **OPTIONS, batch_rows=100)
    assert max(len(rows) for rows in small.frames) == 100
    assert sum(len(rows) for rows in small.frames) == len(rows)


def test_the_number_of_threads_changes_nothing(audit: facts.Audit, people: pd.DataFrame) -> None:
    for threads in (1, 2, 3):
        assert findings(facts.audit(keeps, people, **OPTIONS, threads=threads)) == findings(audit)


# Columns of all kinds


def kinds() -> pd.DataFrame:
    n = 240
    random = np.random.default_rng(7)
    age = random.integers(18, 70, n)
    return pd.DataFrame(
        {
            "group": pd.Categorical(random.choice(["a", "b"], n)),
            "band": pd.cut(pd.Series(age), [17, 30, 45, 70]),
            "interval": pd.arrays.IntervalArray(pd.cut(pd.Series(age + 1.0), [17, 30, 45, 71])),
            "flag": random.random(n) > 0.5,
            "maybe": pd.array(random.choice([True, False, None], n), dtype="boolean"),
            "count": pd.array(random.choice([1, 2, 3, None], n), dtype="Int32"),
            "ratio": random.choice([0.5, 1.5, np.nan], n),
            "half": random.choice([1.0, 2.0], n).astype(np.float16),
            "word": random.choice(["x", None], n),
            "day": pd.to_datetime(random.choice(["2024-01-01", "2024-06-01"], n)),
            "size": pd.Categorical(random.choice(["S", "M", "L"], n), categories=["S", "M", "L"], ordered=True),
            3: random.choice([10, 20], n),
        }
    )


def test_dtypes_survive_the_way_to_the_model_and_back() -> None:
    table = kinds()
    asked = Asked(lambda rows: rows["flag"] & (rows["size"] != "S"))
    features = {str(name): {"missing": "level"} for name in table if name != "group"}
    audit = facts.audit(
        asked, table, "group", support=0.2, features=features, favourable=1, min_members=1, progress=False
    )
    assert len(audit) > 0
    original = {tuple(map(str, row)) for row in table.itertuples(index=False)}
    rows = asked.frames[0]
    assert list(rows.columns) == list(table.columns)
    assert list(rows.dtypes) == list(table.dtypes)
    # The first batch holds the people themselves, each once.
    assert {tuple(map(str, row)) for row in rows.itertuples(index=False)} == original
    for rows in asked.frames[1:]:
        assert list(rows.dtypes) == list(table.dtypes)
    # Bands are ordered by their dtype, and shown as pandas prints them.
    assert any("band = (45, 70]" in text for text in audit.subgroups["subgroup"])
    assert any("size = L" in text for text in audit.actions["change"])


def test_text_by_number_is_the_same_text(monkeypatch: pytest.MonkeyPatch) -> None:
    table = kinds().assign(text=lambda rows: rows["word"].fillna("y").astype("string"))
    features = {str(name): {"missing": "level"} for name in table if name != "group"}
    options: dict[str, Any] = {"support": 0.2, "features": features, "favourable": 1, "min_members": 1}
    found = []
    for takes_codes in (True, False):
        monkeypatch.setattr("facts._frames.PandasFrame.takes_codes", takes_codes)
        asked = Asked(lambda rows: rows["flag"] & (rows["size"] != "S") & (rows["text"] != "y"))
        audit = facts.audit(asked, table, "group", batch_rows=50, progress=False, **options)
        found.append((findings(audit), asked.frames))
    assert found[0][0] == found[1][0]
    assert len(found[0][1]) == len(found[1][1]) > 5
    for by_number, plain in zip(found[0][1], found[1][1], strict=True):
        pd.testing.assert_frame_equal(by_number, plain)


def test_dates_and_decimals_of_polars_and_pyarrow_come_back_as_they_were() -> None:
    from datetime import date
    from decimal import Decimal

    n = 60
    table = pl.DataFrame(
        {
            "group": ["a", "b"] * (n // 2),
            "day": [date(2024, 1, 1 + i % 3) for i in range(n)],
            "price": [Decimal(i % 2) if i % 5 else None for i in range(n)],
            "job": ["x", "y", "z"] * (n // 3),
        },
        schema_overrides={"price": pl.Decimal(10, 2)},
    )
    options: dict[str, Any] = {
        "support": 0.05,
        "min_members": 1,
        "features": {"price": {"missing": "level"}, "day": {"kind": "categorical"}},
        "favourable": 1,
        "progress": False,
    }
    asked = Asked(lambda rows: (rows["job"] == "x") | (rows["day"] == date(2024, 1, 3)))
    first = facts.audit(asked, table, "group", **options)
    assert all(rows.schema == table.schema for rows in asked.frames)
    assert asked.frames[0].unique().height == table.unique().height
    assert any("day = 2024-01-02" in text for text in first.subgroups["subgroup"])
    arrow = table.to_arrow()

    def arrow_model(rows: pa.Table) -> np.ndarray:
        assert rows.schema == arrow.schema
        frame = pl.DataFrame(rows)
        return ((frame["job"] == "x") | (frame["day"] == date(2024, 1, 3))).to_numpy()

    assert findings(facts.audit(arrow_model, arrow, "group", **options)) == findings(first)


def test_missing_is_dropped_kept_or_refused_as_asked(people: pd.DataFrame) -> None:
    holes = people.copy()
    holes.loc[holes.index[:9], "job"] = None
    model = lambda rows: keeps(rows.fillna({"job": "clerk"}))  # noqa: E731
    features = dict(OPTIONS["features"])
    dropped = facts.audit(model, holes, **{**OPTIONS, "features": {**features, "job": {"missing": "drop"}}})
    assert sum(group["people"] for group in dropped.about["groups"]) == len(people) - 9
    with pytest.raises(facts.DataError, match="job"):
        facts.audit(model, holes, **{**OPTIONS, "features": {**features, "job": {"missing": "error"}}})


# Costs and rules in Python


def test_costs_and_rules_may_be_functions(people: pd.DataFrame) -> None:
    seen: set[Any] = set()

    def years(left: facts.Bin, reached: facts.Bin) -> float:
        seen.update((left, reached))
        return abs(reached.mid - left.mid)

    def no_managers(left: str, reached: str) -> bool:
        return reached != "manager"

    features = dict(OPTIONS["features"])
    features["years"] = {**features["years"], "cost": years}
    features["job"] = {"allowed": no_managers}
    audit = facts.audit(keeps, people, **{**OPTIONS, "features": features})
    actions = audit.actions
    assert not actions["change"].str.contains("manager").any()
    assert {bin.low for bin in seen} == {0.0, 3.0, 6.0, 9.0, 12.0}
    mids = {bin.label: bin.mid for bin in seen}
    # Actions that move the years alone cost just what the function says.
    parts = actions["change"].str.extract(r"^years = (\(.*\]|\[.*\])$")[0]
    froms = actions["subgroup"].str.extract(r"years = ([(\[][^\]]*\])")[0]
    alone = parts.notna()
    assert alone.sum() > 5
    expected = (parts[alone].map(mids) - froms[alone].map(mids)).abs()
    assert actions.loc[alone, "cost"].to_numpy() == pytest.approx(expected.to_numpy())


def test_an_interval_reaches_functions_as_an_interval() -> None:
    table = kinds()[["group", "band", "flag", "size"]]
    seen = []

    def older(left: pd.Interval, reached: pd.Interval) -> bool:
        seen.append((left, reached))
        return reached.left >= left.left

    model = lambda rows: rows["flag"] & (rows["size"] != "S")  # noqa: E731
    facts.audit(
        model,
        table,
        "group",
        support=0.1,
        features={"band": {"allowed": older}},
        favourable=1,
        min_members=1,
        progress=False,
    )
    assert seen and all(isinstance(value, pd.Interval) for pair in seen for value in pair)


def test_what_a_function_raises_is_the_cause(people: pd.DataFrame) -> None:
    def broken(left: Any, reached: Any) -> float:
        raise KeyError("no such cost")

    features = {**OPTIONS["features"], "job": {"cost": broken}}
    with pytest.raises(facts.UsageError, match="job") as caught:
        facts.audit(keeps, people, **{**OPTIONS, "features": features})
    assert isinstance(caught.value.__cause__, KeyError)
    features = {**OPTIONS["features"], "job": {"allowed": broken}}
    with pytest.raises(facts.UsageError, match="rule of feature `job` failed for `clerk` -> ") as caught:
        facts.audit(keeps, people, **{**OPTIONS, "features": features})
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(facts.UsageError, match="`features`: there is no column `jbo`"):
        facts.audit(keeps, people, **{**OPTIONS, "features": {"jbo": {"cost": lambda a, b: 1.0}}})


# What an audit gives


def test_tables_agree_with_each_other(audit: facts.Audit) -> None:
    scores, ranks, against = (audit.table(shows) for shows in ("score", "rank", "against"))
    assert list(scores.columns)[1:] == list(audit.definitions)
    assert 10 <= len(audit.definitions) <= 12
    assert len(scores) == len(audit) == scores["subgroup"].nunique()
    for definition in audit.definitions:
        ranked = audit.rank(definition)
        assert (ranked["score"].diff().dropna() <= 1e-9).all()
        by_text = ranked.set_index("subgroup")
        for place, text in enumerate(scores["subgroup"]):
            row = by_text.loc[text]
            assert row["score"] == scores[definition][place]
            assert row["against"] == against[definition][place]
            assert pd.isna(row["rank"]) == pd.isna(ranks[definition][place]) == (row["score"] == 0)
    unfair = audit.rank("equal-effectiveness:micro", drop_fair=True)
    assert len(unfair) == (scores["equal-effectiveness:micro"] > 0).sum()
    assert len(audit.rank("equal-effectiveness:micro", 3)) == 3
    analysis = audit.ranking_analysis()
    first = (ranks["equal-effectiveness:micro"] == 1).sum()
    row = analysis[analysis["definition"] == "equal-effectiveness:micro"].iloc[0]
    assert row["rank one"] == first
    aggregated = audit.aggregated_rankings()
    assert list(aggregated["definition"]) == list(audit.definitions)
    cells = aggregated.drop(columns="definition").to_numpy(dtype=float)
    assert np.isnan(np.diag(cells)).all()
    inside = cells[~np.isnan(cells)]
    assert ((inside > 0) & (inside <= 1)).all()


def test_effectiveness_follows_from_flips(audit: facts.Audit) -> None:
    actions = audit.actions
    for group in audit.groups:
        share = actions[f"flips {group}"] / actions[f"members {group}"]
        assert (share == actions[f"effectiveness {group}"]).all()


def test_distributions_rise_and_meet_the_definitions(audit: facts.Audit) -> None:
    worst = audit.rank("equal-effectiveness:micro").iloc[0]
    ecd = audit.ecd(worst["subgroup"])
    for group in audit.groups:
        for viewpoint in ("micro", "macro"):
            assert ecd[f"{viewpoint} {group}"].is_monotonic_increasing
        assert ecd[f"micro {group}"].iloc[-1] == worst[f"value {group}"]
        assert (ecd[f"micro {group}"] >= ecd[f"macro {group}"]).all()


def test_a_subgroup_is_found_by_any_of_its_names(audit: facts.Audit) -> None:
    ranked = audit.rank("equal-choice:0.7")
    # Intervals have a comma of their own.
    plain = ranked["subgroup"].str.contains(", ") & ~ranked["subgroup"].str.contains("years")
    worst = ranked[plain].iloc[0]
    text = worst["subgroup"]
    other_way = ", ".join(reversed(text.split(", ")))
    place = list(audit.table()["subgroup"]).index(text)
    for name in (text, other_way, worst["finding"], place):
        assert audit.ecd(name).equals(audit.ecd(text))
    assert text in audit.explain(text)
    with pytest.raises(facts.UsageError, match="feature `job` has no level `astronaut`"):
        audit.ecd("job = astronaut")
    with pytest.raises(IndexError):
        audit.ecd(10_000_000)
    with pytest.raises(IndexError):
        audit.ecd(-1)


def test_show_prints_findings_in_words(audit: facts.Audit, capsys: Any) -> None:
    audit.show(1)
    text = capsys.readouterr().out
    # One of each definition, and the first that passes where that one does not.
    assert text.count("Bias against") == 3 + text.count("None of those above passes. The first that do:")
    assert "Equal Effectiveness (micro)" in text
    audit.show(2, "equal-choice:0.7", against="Female", where="job")
    text = capsys.readouterr().out
    assert text.count("Bias against 'Female' by Equal Choice for Recourse (φ = 0.7)") == 2
    with pytest.raises(facts.UsageError, match="drop_fair, drop_contained"):
        audit.show(1, drop_fiar=True)
    with pytest.raises(facts.UsageError, match="no group `Other`; the groups are: Female, Male"):
        audit.show(1, against="Other")
    with pytest.raises(facts.UsageError, match="no definition of fairness"):
        audit.show(1, "equal-luck")


def test_definitions_φ_and_budgets_are_chosen(people: pd.DataFrame) -> None:
    chosen = facts.audit(
        keeps,
        people,
        **OPTIONS,
        definitions=["equal-choice", "equal-effectiveness-within-budget:micro"],
        phi=0.5,
        budgets=[4, 8],
    )
    assert list(chosen.definitions) == [
        "equal-choice:0.5",
        "equal-effectiveness-within-budget:micro:4",
        "equal-effectiveness-within-budget:micro:8",
    ]
    assert list(chosen.table(definitions="fair-trade-off:micro:0.05").columns) == [
        "subgroup",
        "fair-trade-off:micro:0.05",
    ]


def test_a_plot_shows_a_line_for_each_group(audit: facts.Audit, tmp_path: Any) -> None:
    import matplotlib

    matplotlib.use("Agg")
    text = audit.rank("equal-effectiveness:micro")["subgroup"].iloc[0]
    axes = audit.plot_ecd(text)
    ecd = audit.ecd(text)
    assert [line.get_label() for line in axes.lines] == audit.groups
    for line, group in zip(axes.lines, audit.groups, strict=True):
        heights = list(line.get_ydata())
        assert heights[0] == 0 and heights[1:-1] == list(ecd[f"micro {group}"])
    assert text in axes.get_title(loc="left")
    axes.figure.savefig(tmp_path / "ecd.png")
    assert audit.plot_ecd(text, "macro", ax=axes) is axes
    with pytest.raises(facts.UsageError, match="micro or macro"):
        audit.plot_ecd(text, "nano")


def test_notebooks_show_a_summary_in_which_nothing_is_markup(people: pd.DataFrame) -> None:
    nasty = people.assign(job=people["job"].replace({"clerk": "<b>clerk</b>"}))
    model = lambda rows: keeps(rows.replace({"<b>clerk</b>": "clerk"}))  # noqa: E731
    page = facts.audit(model, nasty, **OPTIONS)._repr_html_()
    assert "&lt;b&gt;clerk" in page and "<b>clerk" not in page
    assert page.count("<table>") == 2


# Files


def test_reports_are_written(audit: facts.Audit, tmp_path: Any) -> None:
    assert audit.to_html(tmp_path / "page.html") is None
    page = (tmp_path / "page.html").read_text()
    assert page.lower().startswith("<!doctype html") and page == audit.to_html()
    audit.to_json(tmp_path / "page.json")
    assert json.loads((tmp_path / "page.json").read_text()) == json.loads(audit.to_json() or "")
    assert (audit.to_markdown() or "").startswith("# ")
    with pytest.raises(facts.OutputError):
        audit.to_html("/proc/nowhere/page.html")
    with pytest.raises(OSError):
        audit.save("/proc/nowhere/audit.json.gz")


def test_saved_audits_are_the_command_lines_too(audit: facts.Audit, people: pd.DataFrame, tmp_path: Any) -> None:
    audit.save(tmp_path / "one.json.gz")
    audit.save(tmp_path / "folder")
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == [
        "actions.csv",
        "actions.parquet",
        "audit.json.gz",
        "drivers.csv",
        "drivers.parquet",
        "impact-ratios.csv",
        "impact-ratios.md",
        "people.csv",
        "people.parquet",
        "report.html",
        "report.json",
        "report.md",
        "report.txt",
        "stories.csv",
        "stories.parquet",
        "subgroups.csv",
        "subgroups.parquet",
    ]
    for saved in ("one.json.gz", "folder"):
        loaded = facts.load(tmp_path / saved)
        assert findings(loaded) == findings(audit)
        assert isinstance(facts.Audit.load(tmp_path / saved, "polars").subgroups, pl.DataFrame)
    command = os.environ.get("FACTS_COMMAND")
    if command is None:
        pytest.skip("FACTS_COMMAND does not name the `facts` command")
    shown = subprocess.run(
        [command, "show", str(tmp_path / "folder"), "--format", "json", "--top", "10000"],
        check=True,
        capture_output=True,
    ).stdout
    assert json.dumps(json.loads(shown)["definitions"], sort_keys=True) == findings(audit)
    out = tmp_path / "by command"
    subprocess.run(
        [command, "-q", "audit", "-c", str(HIRING / "facts.toml"), "--out", str(out), "--top", "0"],
        check=True,
        capture_output=True,
    )
    assert findings(facts.load(out)) == findings(audit)


def test_damaged_and_missing_files_are_named(tmp_path: Any) -> None:
    (tmp_path / "audit.json.gz").write_bytes(b"no audit")
    with pytest.raises(facts.DataError, match="audit.json.gz.*not a saved audit"):
        facts.load(tmp_path)
    with pytest.raises(facts.DataError, match="nowhere"):
        facts.load(tmp_path / "nowhere")


def test_a_change_is_told_in_words(audit: facts.Audit, people: pd.DataFrame) -> None:
    kinder = facts.audit(lambda rows: keeps(rows) | (rows["job"] == "manager"), people, **OPTIONS)
    told = kinder.diff(audit)
    assert " -> fair" in told
    same = audit.diff(audit)
    assert same.startswith("TOO CLOSE TO TELL") and "[" not in same


# Mistakes


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"protected": "gender"}, facts.UsageError, "gender"),
        ({"protected": None}, facts.UsageError, "protected"),
        ({"support": 0}, facts.UsageError, "support"),
        ({"support": 5}, facts.UsageError, "0.01"),
        ({"features": {"years": {"quantile": 5}}}, facts.UsageError, "features.years.quantile: unknown"),
        ({"features": {"yers": {"weight": 5}}}, facts.UsageError, "yers"),
        ({"features": {"job": {"allowed": 3}}}, facts.UsageError, "function"),
        ({"features": {"job": 3}}, facts.UsageError, "mapping"),
        ({"validity": "both"}, facts.UsageError, "audit.validity: unknown variant `both`"),
        ({"compare": ["Female"]}, facts.DataError, "Female"),
        ({"threads": 0}, facts.UsageError, "threads"),
        ({"config": "/nowhere/facts.toml"}, facts.UsageError, "/nowhere/facts.toml"),
        ({"max_subgroups": 3}, facts.DataError, "support"),
        ({"favourable": "yes"}, facts.DataError, "affected|favourable"),
    ],
)
def test_a_mistake_is_an_exception_that_says_what_to_do(
    people: pd.DataFrame, options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        facts.audit(keeps, people, **{**OPTIONS, **options})


def test_tables_that_are_none(people: pd.DataFrame) -> None:
    with pytest.raises(TypeError, match="pandas or polars DataFrame"):
        facts.audit(keeps, people.to_numpy(), "sex")
    twice = pd.concat([people, people[["job"]]], axis=1)
    with pytest.raises(facts.DataError, match="two columns are called `job`"):
        facts.audit(keeps, twice, "sex")
    with pytest.raises(facts.DataError):
        facts.audit(keeps, people[:0], "sex")
    lists = people.assign(job=[[1]] * len(people))
    with pytest.raises(facts.DataError, match=r"column `job` \(object\) cannot be read: unhashable"):
        facts.audit(keeps, lists, "sex")


def test_values_that_read_alike_stay_apart() -> None:
    table = pd.DataFrame({"g": ["a", "b"] * 30, "x": [1, "1", 2, 2] * 15, "y": ["u", "v", "v"] * 20})
    asked = Asked(lambda rows: (rows["x"].map(type) == str).to_numpy())
    audit = facts.audit(asked, table, "g", support=0.01, favourable=1, min_members=1, progress=False)
    assert {"x = 1 (int)", "x = 2"} & set(audit.table()["subgroup"])
    assert {type(x) for rows in asked.frames for x in rows["x"]} == {int, str}


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda rows: np.ones((len(rows), 2)) / 2, "shape"),
        (lambda rows: np.full(len(rows), 0.4), "0.4.*threshold"),
        (lambda rows: ["perhaps"] * len(rows), "(?s)favourable.*perhaps"),
        (lambda rows: np.ones(1), "asked for .* and answered 1"),
        (lambda rows: 1 / 0, "ZeroDivisionError|division by zero"),
    ],
)
def test_a_model_that_answers_wrongly_is_told_so(people: pd.DataFrame, answer: Any, says: str) -> None:
    with pytest.raises((facts.ModelError, facts.UsageError), match=says):
        facts.audit(answer, people, **{**OPTIONS, "favourable": None})


def test_what_a_model_raises_is_the_cause(people: pd.DataFrame) -> None:
    class Broken(Exception):
        pass

    def broken(rows: Any) -> Any:
        raise Broken("out of order")

    with pytest.raises(facts.ModelError, match="out of order") as caught:
        facts.audit(broken, people, **OPTIONS)
    assert isinstance(caught.value.__cause__, Broken)
    with pytest.raises(TypeError, match="must have a `predict` method"):
        facts.audit(3, people, **OPTIONS)


def test_what_the_system_refuses_is_the_cause(people: pd.DataFrame) -> None:
    with pytest.raises(facts.ModelError, match="nothing.txt") as caught:
        facts.audit("lightgbm:nothing.txt", people, **OPTIONS)
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    with pytest.raises(facts.UsageError, match="`lihgtgbm:model.txt` is no model.*lightgbm:model.txt"):
        facts.audit("lihgtgbm:model.txt", people, **OPTIONS)


def test_messages_name_keyword_arguments_that_exist() -> None:
    arguments = inspect.signature(facts.audit).parameters
    assert {name.rstrip("=") for _, name in _facts.KEYWORDS} <= arguments.keys()
    for key, _ in _facts.KEYWORDS:
        section, _, name = key.partition(".")
        # A section of the reference ends where the next begins.
        said = facts.explain_config().partition(f"\n[{section}")[2].partition("\n[")[0]
        assert said and (not name or f"\n{name} = " in said), key


def test_probabilities_and_names_of_classes_will_do(audit: facts.Audit, people: pd.DataFrame) -> None:
    sure = facts.audit(lambda rows: np.where(keeps(rows), 0.8, 0.3), people, **OPTIONS, threshold=0.5)
    assert findings(sure) == findings(audit)
    named = facts.audit(lambda rows: np.where(keeps(rows), "yes", "no"), people, **{**OPTIONS, "favourable": "yes"})
    assert findings(named) == findings(audit)
    column = facts.audit(lambda rows: keeps(rows).astype(int).reshape(-1, 1), people, **OPTIONS)
    assert findings(column) == findings(audit)


def test_a_model_may_see_the_names_of_bins(people: pd.DataFrame) -> None:
    features = {"years": {"edges": [0, 3, 20], "labels": ["few", "many"], "model_sees": "label"}}

    def experienced(rows: Any) -> Any:
        years = np.array(rows["years"].to_pylist() if isinstance(rows, pa.Table) else list(rows["years"]))
        assert set(years) <= {"few", "many"}
        return years == "many"

    turns = (lambda X: X, as_polars, pa.Table.from_pandas)
    options = {**OPTIONS, "features": features, "evidence": False}
    found = [findings(facts.audit(experienced, turn(people), **options)) for turn in turns]
    assert found[0] and found[0] == found[1] == found[2]


def test_weights_labels_and_what_is_ignored_are_not_for_the_model(audit: facts.Audit, people: pd.DataFrame) -> None:
    more = people.assign(people=1, outcome=np.where(keeps(people), 1.0, 0.0), note="x")
    for turn, model in ((lambda X: X, keeps), (as_polars, polars_model), (pa.Table.from_pandas, arrow_model)):
        asked = Asked(model)
        other = facts.audit(
            asked,
            turn(more),
            **OPTIONS,
            weight="people",
            label="outcome",
            label_favourable=1,
            config={"data": {"ignore": ["note"]}},
        )
        assert findings(other) == findings(audit)
        assert other.about["base_rates"]["favourable"] == "1.0"
        for rows in asked.frames:
            names = rows.schema.names if isinstance(rows, pa.Table) else list(rows.columns)
            assert names == list(people.columns)
    double = facts.audit(keeps, people.assign(people=2), **OPTIONS, weight="people")
    assert (double.actions["flips Male"] == 2 * audit.actions["flips Male"]).all()


def test_blanks_are_part_of_a_value_in_memory() -> None:
    table = pd.DataFrame({"city": [" A", "A", "B"] * 40, "g": ["x", "x", "x", "y", "y", "y"] * 20})
    model = lambda rows: (rows["city"] == "A").to_numpy()  # noqa: E731
    actions = facts.audit(model, table, "g", support=0.1, favourable=1, min_members=1, progress=False).actions
    reached = actions[actions["change"] == "city = A"]
    assert len(reached) and (reached["effectiveness x"] == 1).all()


def test_what_the_engine_cannot_hold_reaches_the_model_all_the_same(people: pd.DataFrame) -> None:
    n = len(people)
    odd = people.assign(
        big=np.array([2**63, 2**64 - 1] * (n // 2), dtype="uint64"),
        when=pd.to_datetime(["2020-01-01", None] * (n // 2)),
        span=pd.to_timedelta(["1 day", None] * (n // 2)),
        sparse=pd.arrays.SparseArray([1.0, np.nan] * (n // 2)),
        never=pd.Series([pd.NaT] * n, dtype="datetime64[ns]"),
    )
    asked = Asked(keeps)
    context = ["big", "when", "span", "sparse", "never"]
    facts.audit(asked, odd, **OPTIONS, context=context)
    for rows in asked.frames:
        dense = [d for d in zip(rows.dtypes, odd.dtypes, strict=True) if not isinstance(d[1], pd.SparseDtype)]
        assert all(here == there for here, there in dense)
    assert asked.frames[0]["when"].isna().any() and set(asked.frames[0]["big"]) == {2**63, 2**64 - 1}


def test_booleans_and_missing_reach_functions_as_they_are() -> None:
    table = kinds()[["group", "flag", "maybe", "size"]]
    seen: dict[str, set[Any]] = {"flag": set(), "maybe": set()}

    def cost(column: str) -> Any:
        def of(left: Any, reached: Any) -> float:
            seen[column] |= {left, reached}
            return 1.0

        return of

    model = lambda rows: rows["flag"] & (rows["size"] != "S")  # noqa: E731
    features = {
        "flag": {"cost": cost("flag")},
        "maybe": {"missing": "level", "cost": cost("maybe")},
    }
    facts.audit(model, table, "group", support=0.05, features=features, favourable=1, min_members=1, progress=False)
    assert seen == {"flag": {True, False}, "maybe": {True, False, None}}


def test_a_level_that_nobody_has_is_noted(people: pd.DataFrame) -> None:
    features = {**OPTIONS["features"], "job": {"not_a_target": ["maneger"]}}
    audit = facts.audit(keeps, people, **{**OPTIONS, "features": features})
    assert any("nobody has the level `maneger`" in note for note in audit.notes)


def test_open_edges_and_single_names_will_do(people: pd.DataFrame) -> None:
    features = {**OPTIONS["features"], "years": {"edges": [-np.inf, 5, np.inf]}}
    audit = facts.audit(keeps, people, **{**OPTIONS, "features": features})
    assert any("years = " in text for text in audit.table()["subgroup"])
    chosen = facts.audit(
        keeps, people, "sex", features="job", support=0.05, favourable=1, min_members=1, progress=False
    )
    assert set(chosen.table()["subgroup"].str.split(" = ").str[0]) == {"job"}
    by_config = facts.audit(None, people, config=HIRING / "facts.toml", favourable=1, progress=False)
    assert by_config.about["model"]["spec"].startswith("linear:")
    with pytest.raises(facts.UsageError, match="configuration names none"):
        facts.audit(None, people, "sex")
    with pytest.raises(facts.UsageError, match="config\\['audit'\\]"):
        facts.audit(keeps, people, "sex", config={"audit": "x"})
    nested = facts.audit(keeps, people, **OPTIONS, config={"audit": {"min_group_size": 2}})
    assert nested.about["settings"]["min_group_size"] == 2


def test_audits_are_pickled_and_copied(audit: facts.Audit) -> None:
    import copy
    import pickle

    assert findings(pickle.loads(pickle.dumps(audit))) == findings(audit)
    assert findings(copy.deepcopy(audit)) == findings(audit)


def test_wrong_numbers_are_refused(audit: facts.Audit, people: pd.DataFrame) -> None:
    for wrong in (-1, 1.5, "two"):
        with pytest.raises(facts.UsageError, match="how many"):
            audit.show(wrong)  # type: ignore[arg-type]
        with pytest.raises(facts.UsageError, match="how many"):
            audit.rank("equal-choice:0.7", wrong)  # type: ignore[arg-type]
    with pytest.raises(facts.UsageError, match="by text or by its place"):
        audit.ecd(1.5)  # type: ignore[arg-type]
    with pytest.raises(facts.ModelError, match="no number for row"):
        unsure = lambda rows: np.where(keeps(rows), 0.9, np.nan)  # noqa: E731
        facts.audit(unsure, people, **OPTIONS, threshold=0.5)
    with pytest.raises(facts.UsageError, match="threshold must be a number"):
        facts.audit(keeps, people, **OPTIONS, threshold="half")  # type: ignore[arg-type]
    with pytest.raises(facts.DataError, match="cannot be counted"):
        facts.audit(keeps, people.assign(w=2**62), **OPTIONS, weight="w")


# Manners


def test_a_model_is_called_where_the_audit_was_asked_for(people: pd.DataFrame) -> None:
    own = threading.get_ident()
    seen = []

    def model(rows: pd.DataFrame) -> np.ndarray:
        seen.append(threading.get_ident())
        return keeps(rows)

    facts.audit(model, people, **OPTIONS)
    assert set(seen) == {own}


@pytest.mark.parametrize("ends", [KeyboardInterrupt, SystemExit])
def test_what_ends_programs_is_not_caught(people: pd.DataFrame, ends: type[BaseException]) -> None:
    def model(rows: Any) -> Any:
        raise ends

    def tell(phase: str, done: int, total: int) -> None:
        raise ends

    with pytest.raises(ends):
        facts.audit(model, people, **OPTIONS)
    with pytest.raises(ends):
        facts.audit(keeps, people, **{**OPTIONS, "progress": tell})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_audits_too(audit: facts.Audit, people: pd.DataFrame) -> None:
    expected = findings(audit)
    child = os.fork()
    if child == 0:
        same = findings(facts.audit(keeps, people, **OPTIONS)) == expected
        os._exit(0 if same else 1)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the forked process hangs")
    assert os.waitstatus_to_exitcode(status) == 0


def test_progress_is_told_and_ends(people: pd.DataFrame) -> None:
    told: list[tuple[str, int, int]] = []
    facts.audit(keeps, people, **{**OPTIONS, "progress": lambda *step: told.append(step)})
    assert [phase for phase, _, _ in told][0] == "predictions"
    assert told[-1][0] == "evidence" and told[-1][1] == told[-1][2]


def test_other_threads_run_while_the_engine_works() -> None:
    table = pd.read_csv(HIRING.parents[1] / "data" / "adult" / "adult.csv.gz", skipinitialspace=True)
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.wait(0.001):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    before, start = ticks, time.monotonic()
    # The model is fitted by the engine: no Python code runs that could give the GIL away.
    facts.audit(
        "train", table, "sex", label="income", label_favourable=">50K", support=0.05, favourable=1, progress=False
    )
    during, seconds = ticks - before, time.monotonic() - start
    done.set()
    thread.join()
    # A thread that only gets to run before and after would tick once or twice.
    assert seconds > 0.2 and during > 30


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_interrupts(tmp_path: Any) -> None:
    script = textwrap.dedent(
        f"""
        import sys, time
        sys.path.insert(0, {str(HIRING.parents[1] / "python" / "tests")!r})
        import pandas as pd, facts
        from conftest import OPTIONS, keeps, HIRING
        people = pd.read_csv(HIRING / "people.csv").drop(columns="kept")
        def slow(rows):
            print("asked", flush=True)
            time.sleep(0.3)
            return keeps(rows)
        try:
            facts.audit(slow, people, **OPTIONS, batch_rows=1)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "asked\n"
    child.send_signal(signal.SIGINT)
    rest = child.stdout.read()
    assert child.wait() == 0
    assert rest.endswith("interrupted\n")
    # Some five hundred rows were to be asked; the work stopped at the next.
    assert rest.count("asked") < 20


def test_scores_are_numbers_infinity_included(audit: facts.Audit) -> None:
    scores = audit.table().drop(columns="subgroup").to_numpy()
    assert scores.dtype == np.float64 and not np.isnan(scores).any()
    assert any(math.isinf(score) for score in scores.ravel())


def test_repr_says_what_it_is(audit: facts.Audit) -> None:
    assert repr(audit).startswith("<facts.Audit of Python function keeps: Female against Male, ")
    assert "Female" in audit.summary()


def test_the_answer_comes_first(audit: facts.Audit, people: pd.DataFrame) -> None:
    verdict = audit.verdict
    assert verdict.kind in {"unfair", "fair-within", "not-shown", "cannot-tell"}
    assert str(verdict).startswith(verdict.words) and verdict.reason in str(verdict)
    told = audit.people
    assert list(told["group"]) == audit.groups
    assert list(told["refused"]) == [group["affected"] for group in audit.about["groups"]]
    assert ((told["with a way"] / told["refused"]) == told["open"]).all()
    assert ((told["open from"] <= told["open"]) & (told["open"] <= told["open to"])).all()
    assert audit.drivers["shapley"].is_monotonic_decreasing
    assert verdict.headline in audit.summary().replace("\n", " ")
    assert verdict.words in audit._repr_html_()
    assert audit.plot_people().get_xlabel().startswith("of the refused")
    with pytest.raises(facts.UsageError, match="there is no story 99"):
        audit.plot_story(99)


def test_stories_are_about_different_people() -> None:
    rows = 2000
    people = pd.DataFrame(
        {
            "sex": ["f", "m"] * (rows // 2),
            "job": [["clerk", "clerk", "manager", "driver"][i // 2 % 4] for i in range(rows)],
            "town": [["A", "B"][i // 8 % 2] for i in range(rows)],
        }
    )

    def model(rows: pd.DataFrame) -> pd.Series:  # women get a yes in town A only
        return (rows["job"] == "manager") & ((rows["sex"] == "m") | (rows["town"] == "A"))

    features = {"town": {"immutable": True}}
    audit = facts.audit(model, people, "sex", favourable=True, features=features)
    assert audit.verdict.kind == "unfair" and audit.verdict.words == "Unfair, against f"
    stories = audit.stories
    assert stories and all(story.against == "f" for story in stories)
    refused = dict(zip(audit.people["group"], audit.people["refused"]))
    for group in audit.groups:
        assert sum(story.groups[group][0] for story in stories) <= refused[group]
    first = stories[0]
    assert first.why is not None and first.why.composition is not None
    share = {group: with_a_way / told for group, (told, with_a_way) in first.groups.items()}
    parts = first.why.swap + first.why.composition + first.why.rest
    assert parts == pytest.approx(share["m"] - share["f"])
    assert first.passes and str(first) == first.sentence
    assert audit.plot_story(1).get_xlabel() == "cost"


def test_what_neither_model_nor_audit_reads_keeps_nobody_apart(people: pd.DataFrame) -> None:
    features = ["degree", "job", "hours", "years"]
    options = {**OPTIONS, "features": features}
    alone = facts.audit(keeps, people[["sex", *features]], **options)
    table = people.assign(id=people.index)
    audit = facts.audit(keeps, table, model_columns=["sex", *features], **options)
    assert audit.about["sizes"] == alone.about["sizes"]
    # A function that could read anything sees the whole table.
    assert facts.audit(keeps, table, **options).about["sizes"]["profiles"] == len(people)
