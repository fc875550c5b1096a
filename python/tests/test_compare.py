"""Audits compared: what is said to have changed has been tested."""

from __future__ import annotations

from typing import Any

import facts
import pandas as pd
import pytest
from conftest import OPTIONS, keeps


def shut(rows: pd.DataFrame) -> Any:
    """The scorecard, but hardly any way is open to women."""
    return keeps(rows) & ((rows["sex"] == "Male") | (rows["years"] >= 15)).to_numpy()


@pytest.fixture(scope="module")
def before(people: pd.DataFrame) -> facts.Audit[Any]:
    return facts.audit(keeps, people, **OPTIONS, keep_people=True)


@pytest.fixture(scope="module")
def after(people: pd.DataFrame) -> facts.Audit[Any]:
    return facts.audit(shut, people, **OPTIONS, keep_people=True)


def test_the_same_audit_has_not_changed(before: facts.Audit[Any]) -> None:
    for same_people in (False, True):
        same = before.compare(before, same_people=same_people)
        assert (same.trend, same.levelled_down, same.changed) == ("too-close", False, [])
        assert same.same_people is same_people
        assert str(same).startswith("TOO CLOSE TO TELL")


def test_what_is_said_to_have_changed_is_shown(before: facts.Audit[Any], after: facts.Audit[Any]) -> None:
    found = after.compare(before)
    assert found.trend == "worse" and str(found).startswith("WORSE")
    tested = {"appeared", "grew", "turned", "shrank", "vanished", "levelled-down", "mixed"}
    shown = [one for one in found.changed if one["change"] in tested]
    assert shown
    for one in shown:
        gap = one["gap"]
        assert gap["corrected"] <= found.alpha
        assert gap["interval"]["low"] > 0 or gap["interval"]["high"] < 0
    for one in found.changed:
        if one["change"] == "too-close":
            assert one["gap"]["corrected"] > found.alpha
    assert after.diff(before) == str(found)
    # A stricter level shows no more.
    strict = after.compare(before, alpha=1e-6)
    assert len([one for one in strict.changed if one["change"] in tested]) <= len(shown)


def test_the_same_people_are_compared_by_whose_answer_changed(
    before: facts.Audit[Any], after: facts.Audit[Any], people: pd.DataFrame
) -> None:
    found = after.compare(before, same_people=True)
    assert found.same_people and found.trend == "worse"
    assert "the same people under both models" in str(found)
    not_kept = facts.audit(shut, people, **OPTIONS)
    with pytest.raises(facts.UsageError, match="keep_people=True"):
        not_kept.compare(before, same_people=True)
    others = facts.audit(keeps, people.assign(number=range(len(people))), **OPTIONS, keep_people=True)
    with pytest.raises(facts.FactsError, match="not of the same people"):
        others.compare(before, same_people=True)


def test_a_series_spends_alpha_over_its_looks(before: facts.Audit[Any], after: facts.Audit[Any]) -> None:
    quiet = facts.series([before, before, before])
    assert quiet.first_change is None and str(quiet).startswith("NO CHANGE SHOWN")
    assert [look["spends"] for look in quiet.looks] == pytest.approx([0.025, 0.05 / 6])
    found = facts.series([before, before, after], ["January", "February", "March"])
    assert found.first_change == 2 and "March" in str(found)
    for wrong in ([before], []):
        with pytest.raises(facts.UsageError, match="two audits"):
            facts.series(wrong)
    with pytest.raises(facts.UsageError, match="alpha is 2"):
        facts.series([before, after], alpha=2)
    with pytest.raises(facts.UsageError, match="2 audits and 1 names"):
        facts.series([before, after], ["one"])


def test_two_groups_have_no_pairs_to_tell_apart(before: facts.Audit[Any]) -> None:
    pairs = before.pairs
    assert len(pairs) == 0
    assert {"subgroup", "group", "other group", "worse off", "together", "differ"} <= set(pairs)


def test_every_subgroup_has_its_gap(before: facts.Audit[Any]) -> None:
    gaps = before.gaps
    assert len(gaps) == before.subgroups["subgroup"].nunique()
    assert (gaps["difference_low"] <= gaps["difference"]).all()
    assert (gaps["difference"] <= gaps["difference_high"]).all()
    assert (gaps["difference"] <= gaps["gap_at_most_alone"]).all()
    assert (gaps["gap_at_most_alone"] <= gaps["gap_at_most"]).all()
    told = gaps["ratio"].dropna()
    assert ((told >= 0) & (told <= 1)).all()
    within = gaps["shown"] == "shown to be fair within 10 points"
    assert (gaps.loc[within, "gap_at_most"] <= 0.1).all()
    assert set(gaps["shown"]) <= {
        "shown to be unfair",
        "shown to be fair within 10 points",
        "nothing is shown",
    }
