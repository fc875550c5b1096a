"""Many models on one table."""

from __future__ import annotations

import json
from pathlib import Path

import facts
import numpy as np
import pandas as pd
import pytest
from facts.errors import ModelError, UsageError

SETTINGS = {"protected": "sex", "favourable": True, "support": 0.1, "min_members": 1, "resamples": 0}


@pytest.fixture
def people() -> pd.DataFrame:
    rows = [
        (job, city, sex)
        for job, city, sex, times in [
            ("clerk", "A", "Female", 60),
            ("clerk", "B", "Female", 60),
            ("clerk", "A", "Male", 60),
            ("clerk", "B", "Male", 60),
            ("manager", "A", "Female", 20),
            ("manager", "B", "Female", 20),
            ("manager", "A", "Male", 20),
            ("manager", "B", "Male", 20),
        ]
        for _ in range(times)
    ]
    return pd.DataFrame(rows, columns=["job", "city", "sex"])


def fair(rows: pd.DataFrame) -> pd.Series:
    return rows.job == "manager"


def unfair(rows: pd.DataFrame) -> pd.Series:
    return (rows.job == "manager") & ((rows.city == "A") | (rows.sex == "Male"))


def broken(rows: pd.DataFrame) -> pd.Series:
    raise ZeroDivisionError("the model is broken")


def test_unfair_models_come_first_and_one_that_fails_loses_nothing(people: pd.DataFrame, tmp_path: Path) -> None:
    models = {"fair": fair, "broken": broken, "unfair": unfair}
    audits = facts.audit_models(models, people, **SETTINGS)
    assert list(audits) == ["unfair", "fair"]
    assert str(audits).startswith("Unfair: 1 of 3 models.")
    assert audits["unfair"].verdict.words == "Unfair, against Female"
    assert isinstance(audits.failures["broken"], ModelError)
    assert isinstance(audits.failures["broken"].__cause__, ZeroDivisionError)
    with pytest.raises(ModelError, match="the model is broken"):
        audits["broken"]

    summary = audits.summary()
    assert list(summary.name) == ["unfair", "fair", "broken"]
    assert list(summary.against) == ["Female", "", ""]
    assert "the model is broken" in summary.failure[2]

    audits.save(tmp_path)
    assert facts.load(tmp_path / "unfair").verdict.words == "Unfair, against Female"
    assert (tmp_path / "models.csv").read_text().startswith("name,model,verdict,against,p,")
    assert not (tmp_path / "broken").exists()


def test_each_audit_is_the_same_as_alone_at_its_share_of_alpha(people: pd.DataFrame) -> None:
    audits = facts.audit_models({"a": unfair, "b": fair}, people, alpha=0.04, **SETTINGS)
    for name, model in {"a": unfair, "b": fair}.items():
        alone = facts.audit(model, people, alpha=0.02, **SETTINGS)
        pd.testing.assert_frame_equal(audits[name].subgroups, alone.subgroups)
        pd.testing.assert_frame_equal(audits[name].people, alone.people)


def test_models_that_read_other_columns_get_their_own(people: pd.DataFrame) -> None:
    seen: dict[str, set[tuple[str, ...]]] = {"jobs": set(), "all": set()}

    class Jobs:
        feature_names_in_ = ("job",)

        def predict(self, rows: pd.DataFrame) -> pd.Series:
            seen["jobs"].add(tuple(rows.columns))
            return rows.job == "manager"

    def everything(rows: pd.DataFrame) -> pd.Series:
        seen["all"].add(tuple(rows.columns))
        return unfair(rows)

    audits = facts.audit_models({"jobs": Jobs(), "all": everything}, people, **SETTINGS)
    assert not audits.failures
    assert seen == {"jobs": {("job",)}, "all": {("job", "city", "sex")}}


def test_what_ends_programs_ends_all_audits(people: pd.DataFrame) -> None:
    def leaving(rows: pd.DataFrame) -> pd.Series:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        facts.audit_models({"a": leaving, "b": fair}, people, **SETTINGS)


def test_wrong_arguments_are_refused(people: pd.DataFrame) -> None:
    with pytest.raises(UsageError, match="a mapping of at least one model"):
        facts.audit_models({}, people, **SETTINGS)
    with pytest.raises(UsageError, match="two models are called"):
        facts.audit_models({"a": fair, "A": fair}, people, **SETTINGS)
    with pytest.raises(UsageError, match="cannot be the name of a model"):
        facts.audit_models({"a/b": fair}, people, **SETTINGS)
    with pytest.raises(UsageError, match="keeps no people"):
        facts.audit_models({"a": fair}, people, keep_people=True, **SETTINGS)
    with pytest.raises(TypeError, match="unexpected keyword argument 'suport'"):
        facts.audit_models({"a": fair}, people, suport=0.1, **SETTINGS)


def probable(rows: pd.DataFrame) -> pd.Series:
    return (0.4 * (rows.job == "manager") + 0.2 * (rows.city == "A")).astype(float)


def test_a_model_may_have_a_threshold_and_a_yes_of_its_own(people: pd.DataFrame, tmp_path: Path) -> None:
    words = lambda rows: np.where(unfair(rows), "yes", "no")
    scorecard = {"intercept": 0.0, "levels": {"job": {"clerk": 0, "manager": 1}, "city": {"A": 1, "B": 0}}}
    (tmp_path / "model.json").write_text(json.dumps({**scorecard, "numbers": {}}))
    spec = f"linear:{tmp_path / 'model.json'}"
    models = {
        "strict": {"model": probable, "threshold": 0.5},
        "lenient": {"model": probable, "threshold": np.float64(0.3)},
        "words": {"model": words, "favourable": "yes"},
        "file": {"model": spec, "threshold": 0.8, "favourable": 1},
        "plain": spec,
    }
    settings = {**SETTINGS, "favourable": 1, "shuffles": 0}
    audits = facts.audit_models(models, people, **settings)
    assert not audits.failures
    for name, said in models.items():
        own = dict(said) if isinstance(said, dict) else {"model": said}
        alone = facts.audit(own.pop("model"), people, **{**settings, **own})
        assert audits[name].rank().equals(alone.rank()), name
        assert audits[name].favourable == alone.favourable
    assert not audits["strict"].people.equals(audits["lenient"].people)
    assert not audits["file"].people.equals(audits["plain"].people)
    for wrong in ({"threshold": 0.5}, {"model": probable, "spec": "train"}):
        with pytest.raises(UsageError, match=r"models\['one'\] must have a `model`"):
            facts.audit_models({"one": wrong}, people, **settings)
