"""What tells findings from chance, in Python."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import facts
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import HIRING, OPTIONS, keeps

MICRO = "equal-effectiveness:micro"
COLUMNS = ["p", "family_wise", "false_discovery", "together", "passes", "least_score", "source"]


@pytest.fixture(scope="module")
def audit(people: pd.DataFrame) -> facts.Audit:
    return facts.audit(keeps, people, **OPTIONS)


@pytest.fixture(scope="module")
def whole(people: pd.DataFrame) -> facts.Audit:
    return facts.audit(keeps, people, **OPTIONS, shuffles=200, resamples=200, stability=True, hold_out=0.5)


def test_frames_have_p_values_unless_none_are_wanted(audit: facts.Audit, people: pd.DataFrame) -> None:
    ranked = audit.rank(MICRO)
    first = list(ranked.columns).index("p")
    assert list(ranked.columns[first : first + len(COLUMNS)]) == COLUMNS
    assert ranked["p"].between(0, 1, inclusive="right").all()
    assert (ranked["family_wise"] >= ranked["p"]).all()
    assert (ranked["false_discovery"] >= ranked["p"]).all()
    unfair = ranked["rank"].notna()
    assert (ranked["passes"] == (unfair & (ranked["family_wise"] <= 0.05))).all()
    assert (ranked["p"][~unfair] == 1).all()
    assert set(ranked["source"]) <= {"exact", "bound", "shuffles"}
    assert audit.evidence is not None
    assert audit.evidence["gathering"] == {
        "seed": 1,
        "alpha": 0.05,
        "shuffles": 1000,
        "resamples": 1000,
        "detailed": 10,
    }
    without = facts.audit(keeps, people, **OPTIONS, evidence=False)
    assert without.evidence is None
    assert not set(COLUMNS) & set(without.rank(MICRO).columns)
    same = [name for name in ranked.columns if name not in COLUMNS]
    pd.testing.assert_frame_equal(without.rank(MICRO), ranked[same])


def test_seeds_decide_lots_and_threads_do_not(people: pd.DataFrame) -> None:
    def p_values(**said: Any) -> list[float]:
        made = facts.audit(
            keeps, people, **OPTIONS, definitions="equal-mean-recourse", resamples=0, shuffles=99, **said
        )
        return list(made.rank("equal-mean-recourse")["p"])

    first = p_values(seed=1)
    assert p_values(seed=1, threads=1) == first
    assert p_values(seed=2) != first


def test_what_passes_can_be_shown_alone(audit: facts.Audit, people: pd.DataFrame, capsys: Any) -> None:
    tests = audit.tests().set_index("definition")
    assert list(tests.index) == list(audit.definitions)
    for definition in audit.definitions:
        passing = audit.rank(definition, passing=True)
        assert len(passing) == tests["family_wise"][definition]
        assert passing["passes"].all()
    assert (tests["family_wise"] <= tests["unfair"]).all()
    assert (tests["powerless"] <= tests["family"]).all()
    audit.show(10_000, definitions=MICRO, passing=True)
    said = capsys.readouterr().out
    assert said.count("    Evidence: p ") == tests["family_wise"][MICRO]
    assert "Compatible with chance:" not in said
    audit.show(10_000, definitions=MICRO)
    said = capsys.readouterr().out
    assert said.count("    Compatible with chance: p ") > 0
    # Whoever is harder to convince is convinced by fewer.
    strict = facts.audit(keeps, people, **OPTIONS, alpha=0.002, resamples=0).tests().set_index("definition")
    assert (strict["family_wise"] <= tests["family_wise"]).all()


def test_tables_of_p_values(audit: facts.Audit) -> None:
    for shows in ("p", "family_wise", "false_discovery"):
        table = audit.table(shows)
        ranked = audit.rank(MICRO).set_index("subgroup")
        by_subgroup = table.set_index("subgroup")[MICRO]
        assert (by_subgroup[ranked.index] == ranked[shows]).all()
    # Not asked for when the audit was made: not tested.
    other = audit.rank("equal-choice:0.5")
    assert other["p"].isna().all() and other["passes"].isna().all()
    assert other["passes"].dtype == "boolean"
    assert len(audit.rank("equal-choice:0.5", passing=True)) == 0
    with pytest.raises(facts.UsageError, match="family_wise"):
        audit.table("evidence")


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_every_kind_of_frame_has_them(audit: facts.Audit, tmp_path: Any, library: str) -> None:
    path = tmp_path / "audit.json.gz"
    audit.save(path)
    loaded = facts.load(path, frames=library)
    ranked = loaded.rank(MICRO, passing=True)
    assert isinstance(ranked, pl.DataFrame if library == "polars" else pa.Table)
    assert len(ranked) == len(audit.rank(MICRO, passing=True))
    assert len(loaded.tests()) == len(audit.definitions)
    assert len(loaded.intervals()) > 0


def test_intervals_hold_what_was_found(whole: facts.Audit) -> None:
    intervals = whole.intervals()
    ranked = whole.subgroups.set_index("finding")
    for row in intervals.itertuples():
        found = ranked.loc[row.finding]
        assert found["rank"] >= 1
    low, high = intervals["score percentile low"], intervals["score percentile high"]
    assert (low <= high).all()
    assert intervals["infinite"].between(0, 1).all()
    # The first ten by score, the first ten for people, and the first ten that pass.
    assert 10 <= len(whole.intervals(MICRO)) <= 30


def test_variants_and_the_hold_out_are_frames(whole: facts.Audit) -> None:
    stability = whole.stability()
    assert whole.evidence is not None
    variants = whole.evidence["variants"]
    assert len(variants) == 20
    one = stability[stability["finding"] == stability["finding"][0]]
    assert list(one["variant"]) == variants
    said = whole.explain(one["subgroup"].iloc[0])
    assert (
        f"Holds in {one['holds'].sum()} of 20 variants; against the same groups in {one['same_groups'].sum()}." in said
    )
    assert variants[0] in said
    held = whole.hold_out()
    both = held[held["left"].notna()]
    assert len(both) > 0
    assert (abs(both["left"] - both["tested score"] / both["found score"]) < 1e-12).all()
    assert whole.evidence["hold_out"] == 0.5


def test_what_was_not_gathered_says_how_to_get_it(audit: facts.Audit, people: pd.DataFrame) -> None:
    with pytest.raises(facts.UsageError, match="stability=True"):
        audit.stability()
    with pytest.raises(facts.UsageError, match="hold_out=True"):
        audit.hold_out()
    without = facts.audit(keeps, people, **OPTIONS, evidence=False)
    for ask in (without.tests, without.intervals, lambda: without.rank(MICRO, passing=True)):
        with pytest.raises(facts.UsageError, match="evidence=True"):
            ask()
    with pytest.raises(facts.UsageError, match="nothing was tested"):
        without.show(passing=True)
    assert "none was gathered" in without.summary()


def test_arguments_and_files_say_the_same(people: pd.DataFrame) -> None:
    config = {"evidence": {"shuffles": 50, "resamples": 0, "seed": 7, "hold_out": 0.5}}
    said = facts.audit(keeps, people, **OPTIONS, config=config, seed=8)
    assert said.evidence is not None
    assert said.evidence["gathering"]["shuffles"] == 50
    assert said.evidence["gathering"]["seed"] == 8
    assert said.evidence["hold_out"] == 0.5
    assert facts.audit(keeps, people, **OPTIONS, config=config, evidence=False).evidence is None
    half = facts.audit(keeps, people, **OPTIONS, shuffles=40, resamples=0, hold_out=True)
    assert half.evidence is not None and half.evidence["hold_out"] == 0.5


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"evidence": False, "alpha": 0.1}, "alpha would say nothing"),
        ({"alpha": 1.5}, "alpha= is 1.5"),
        ({"alpha": 0.0}, "alpha"),
        ({"hold_out": 1.0}, "hold_out= is 1"),
    ],
)
def test_what_cannot_be_is_refused(people: pd.DataFrame, said: dict[str, Any], match: str) -> None:
    with pytest.raises(facts.UsageError, match=match):
        facts.audit(keeps, people, **OPTIONS, **said)


def test_notebooks_grey_what_does_not_pass(audit: facts.Audit, people: pd.DataFrame) -> None:
    page = audit._repr_html_()
    worst = [audit.rank(definition, 1) for definition in audit.definitions]
    grey = sum(not one["passes"].iloc[0] for one in worst)
    assert page.count('<tr style="opacity') == grey
    assert page.count("does not pass (family-wise p = ") == grey
    assert "does not show that recourse is fair" in page
    without = facts.audit(keeps, people, **OPTIONS, evidence=False)._repr_html_()
    assert "No evidence was gathered" in without and "opacity" not in without


def test_copies_keep_it(audit: facts.Audit) -> None:
    for again in (pickle.loads(pickle.dumps(audit)), copy.deepcopy(audit)):
        pd.testing.assert_frame_equal(again.rank(MICRO), audit.rank(MICRO))


def test_the_command_line_gathers_the_same(audit: facts.Audit, people: pd.DataFrame) -> None:
    by_string = facts.audit(f"linear:{HIRING / 'model.json'}", people, **OPTIONS)
    pd.testing.assert_frame_equal(by_string.rank(MICRO), audit.rank(MICRO))
