"""The gate from Python, in pytest and in MLflow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import facts
import facts.mlflow
import mlflow
import numpy as np
import pandas as pd
import pytest
from facts.testing import assert_passes

pytest_plugins = ["pytester"]

FOUR_FIFTHS = [{"name": "four fifths", "min_ratio": 0.8}]


def unlucky(gap: int, people: int = 2000) -> pd.DataFrame:
    """People of whom the second group has less luck if they have no job: so many percentage points."""
    draw = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "group": draw.choice(["first", "second"], people),
            "area": draw.choice(["north", "south"], people),
            "job": draw.choice(["none", "clerk", "expert"], people),
            "luck": draw.integers(0, 100, people),
        }
    )
    hit = (frame["group"] == "second") & (frame["job"] == "none")
    frame.loc[hit, "luck"] += gap
    return frame


def hires(rows: pd.DataFrame) -> Any:
    return ((rows["job"] != "none") & (rows["luck"] < 60)).to_numpy()


def audited(gap: int) -> facts.Audit[pd.DataFrame]:
    return facts.audit(
        hires,
        unlucky(gap),
        protected="group",
        favourable=1,
        context=["luck"],
        features={"area": {"immutable": True}, "job": {}},
        support=0.05,
        definitions=["equal-effectiveness:micro"],
        progress=False,
    )


@pytest.fixture(scope="module")
def unfair() -> facts.Audit[pd.DataFrame]:
    return audited(40)


def test_a_gate_is_what_the_command_says(unfair: facts.Audit, tmp_path: Path) -> None:
    gate = unfair.check(rules=FOUR_FIFTHS, baseline=False)
    assert not gate and not gate.passed
    assert str(gate).startswith("FAILED: 0 of 1 rule holds, 1 fails.\n")
    (rule,) = gate.rules
    assert (rule.name, rule.status, rule.level) == ("four fifths", "fails", "error")
    (finding,) = rule.findings
    assert finding.counts and finding.against == ["second"]
    assert 0 < finding.value < 0.8
    assert unfair.check(rules=[{"min_ratio": 0.1}], baseline=False)
    with pytest.raises(facts.UsageError, match="between 0 and 1"):
        unfair.check(rules=[{"min_ratio": 8}])
    command = os.environ.get("FACTS_COMMAND")
    if command is None:
        pytest.skip("FACTS_COMMAND does not name the `facts` command")
    unfair.save(tmp_path / "result")
    (tmp_path / "facts.toml").write_text('[[check.rule]]\nname = "four fifths"\nmin-ratio = 0.8\n')
    told = subprocess.run([command, "check", "result", "--format", "json"], cwd=tmp_path, capture_output=True)
    assert told.returncode == 1
    said = json.loads(told.stdout)
    assert said["rules"][0]["findings"] == gate.data["rules"][0]["findings"]
    assert unfair.check(tmp_path / "facts.toml").data["rules"] == said["rules"][:0] + [
        {**said["rules"][0], "rule": {**said["rules"][0]["rule"], "line": None}}
    ]


def test_a_baseline_lets_only_what_is_worse_fail(unfair: facts.Audit, tmp_path: Path) -> None:
    baseline = tmp_path / "facts.baseline.json"
    assert not unfair.check(baseline=baseline)
    assert unfair.check(baseline=baseline, update_baseline=True)
    assert baseline.is_file()
    gate = unfair.check(baseline=baseline)
    assert gate and {finding.state for rule in gate.rules for finding in rule.findings} == {"known"}
    worse = audited(60).check(baseline=baseline)
    assert not worse
    assert any(finding.state == "grown" for finding in worse.rules[0].findings)


def test_an_assertion_says_what_was_found(unfair: facts.Audit) -> None:
    with pytest.raises(AssertionError) as failed:
        assert_passes(unfair, rules=FOUR_FIFTHS, baseline=False)
    assert "the gate failed\nFAILED: 0 of 1 rule holds" in str(failed.value)
    assert len(str(failed.value).splitlines()) <= 31
    with pytest.warns(facts.FactsWarning, match="four fifths fails"):
        assert_passes(unfair, rules=[{**FOUR_FIFTHS[0], "severity": "warn"}], baseline=False)


def test_the_fixture_of_pytest(unfair: facts.Audit, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    unfair.save(pytester.path / "result")
    pytester.makepyfile(
        """
        def test_four_fifths(recourse):
            recourse.check("result", rules=[{"min_ratio": 0.1}])

        def test_no_story(recourse):
            recourse.check("result", baseline="facts.baseline.json")
        """
    )

    def ran(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)

    first = ran()
    first.assert_outcomes(passed=1, failed=1)
    first.stdout.fnmatch_lines(["*the gate failed", "*FAILED: 0 of 1 rule holds, 1 fails.", "*at a loss*"])
    # The test's own line is shown, and nothing of this package.
    assert "testing.py" not in first.stdout.str()
    ran("--facts-update-baseline").assert_outcomes(passed=2)
    assert (pytester.path / "facts.baseline.json").is_file()
    ran().assert_outcomes(passed=2)


def test_the_assertion_needs_no_pytest() -> None:
    code = "import sys; sys.modules['pytest'] = None; import facts.testing; facts.testing.assert_passes"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_mlflow_gets_the_audit_and_what_it_comes_to(
    unfair: facts.Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A database would do as well; the package without one is smaller.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(f"file:{tmp_path / 'runs'}")
    gate = unfair.check(rules=FOUR_FIFTHS, baseline=False)
    with mlflow.start_run() as run:
        logged = facts.mlflow.log_audit(unfair, gate=gate)
    kept = mlflow.tracking.MlflowClient().get_run(run.info.run_id)
    assert kept.data.metrics == pytest.approx(logged)
    assert kept.data.metrics["facts.gate_passed"] == 0.0
    people = unfair.people.set_index("group")
    for group in ("first", "second"):
        row = people.loc[group]
        assert kept.data.metrics[f"facts.refused.{group}"] == row["refused"]
        assert kept.data.metrics[f"facts.open.{group}"] == pytest.approx(row["with a way"] / row["refused"])
    assert kept.data.metrics["facts.recourse_ratio"] == pytest.approx(gate.rules[0].findings[0].value)
    assert kept.data.metrics["facts.stories"] == len(unfair.stories)
    assert kept.data.tags["facts.verdict"] == unfair.verdict.words
    folder = Path(mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="facts"))
    assert facts.load(folder).verdict == unfair.verdict
    assert (folder / "check.txt").read_text() == gate.text
    assert json.loads((folder / "check.json").read_text()) == gate.data
