"""The gate from Python, in pytest, in MLflow, in pre-commit and in CI."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import facts
import facts.mlflow
from facts.testing import assert_passes

from conftest import HIRING, ROOT

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
    told = subprocess.run(
        [command, "check", "result", "--format", "json"], cwd=tmp_path, capture_output=True
    )
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


def test_the_fixture_of_pytest(
    unfair: facts.Audit, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    mlflow = pytest.importorskip("mlflow")
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
        assert kept.data.metrics[f"facts.open.{group}"] == pytest.approx(
            row["with a way"] / row["refused"]
        )
    assert kept.data.metrics["facts.recourse_ratio"] == pytest.approx(gate.rules[0].findings[0].value)
    assert kept.data.metrics["facts.stories"] == len(unfair.stories)
    assert kept.data.tags["facts.verdict"] == unfair.verdict.words
    folder = Path(mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="facts"))
    assert facts.load(folder).verdict == unfair.verdict
    assert (folder / "check.txt").read_text() == gate.text
    assert json.loads((folder / "check.json").read_text()) == gate.data


# What others read: JUnit, workflows, hooks. They need the command.

command = pytest.mark.skipif(
    "FACTS_COMMAND" not in os.environ, reason="FACTS_COMMAND does not name the `facts` command"
)


def project(folder: Path) -> dict[str, str]:
    """The hiring example in a folder, and an environment in which `facts` is the command."""
    for name in ("facts.toml", "people.csv", "model.json"):
        shutil.copy(HIRING / name, folder / name)
    place = str(Path(os.environ["FACTS_COMMAND"]).parent)
    said = {**os.environ, "PATH": place + os.pathsep + os.environ["PATH"]}
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        said.pop(name, None)
    return said


@command
def test_junit_is_what_its_schema_says(tmp_path: Path) -> None:
    xmlschema = pytest.importorskip("xmlschema")
    schema = xmlschema.XMLSchema(str(ROOT / "crates/cli/tests/schemas/junit-10.xsd"))
    environment = project(tmp_path)
    rules = """
[[check.rule]]
name = "holds <&> \\"always\\""
max-loss = 100000
[[check.rule]]
name = "is undecided"
definition = "equal-choice:0.45"
[[check.rule]]
name = "is as bad as if it failed"
definition = "equal-choice:0.55"
on-undecided = "fail"
[[check.rule]]
name = "fails as a warning"
definition = "equal-effectiveness:micro"
evidence = "none"
severity = "warn"
[[check.rule]]
name = "fails"
definition = "equal-choice:0.3"
evidence = "none"
"""
    with open(tmp_path / "facts.toml", "a") as file:
        file.write(rules)
    told = subprocess.run(
        ["facts", "check", "--write", "junit=facts.xml", "--format", "json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
    )
    assert told.returncode == 1, told.stderr
    statuses = [rule["status"] for rule in json.loads(told.stdout)["rules"]]
    assert statuses == ["holds", "undecided", "undecided", "fails", "fails"]
    schema.validate(str(tmp_path / "facts.xml"))
    text = (tmp_path / "facts.xml").read_text()
    assert text.count("<failure ") == 2 and text.count("<skipped ") == 2
    # The schema can say no.
    (tmp_path / "wrong.xml").write_text(text.replace("<testcase name=", "<testcase called="))
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        schema.validate(str(tmp_path / "wrong.xml"))


@command
def test_workflows_run_as_they_are_written(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    environment = project(tmp_path)
    summary = tmp_path / "summary.md"
    on_github = {**environment, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    workflow = yaml.safe_load((ROOT / "examples/ci/github.yml").read_text())
    (job,) = workflow["jobs"].values()
    written = set()
    for step in job["steps"]:
        if "run" in step:
            subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=on_github, check=True)
        written.update(step.get("with", {}).values())
    # What later steps upload is there.
    assert {"facts.sarif", "result.pack.tar"} <= written
    for name in written:
        assert (tmp_path / name).exists(), name
    assert summary.read_text().startswith("## facts check passed")
    job = yaml.safe_load((ROOT / "examples/ci/gitlab.yml").read_text())["facts"]
    for line in job["script"]:
        subprocess.run(["bash", "-e", "-c", line], cwd=tmp_path, env=environment, check=True)
    for name in job["artifacts"]["reports"].values():
        assert (tmp_path / name).is_file(), name


@command
@pytest.mark.parametrize("how", ["try-repo", "local"])
def test_pre_commit_runs_the_hook(tmp_path: Path, how: str) -> None:
    pytest.importorskip("pre_commit")
    environment = project(tmp_path)
    environment["PRE_COMMIT_HOME"] = str(tmp_path / "cache")
    for name in ("NAME", "EMAIL"):
        for who in ("AUTHOR", "COMMITTER"):
            environment[f"GIT_{who}_{name}"] = "a test"

    def run(*arguments: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(arguments, cwd=cwd, env=environment, capture_output=True, text=True)

    assert run("git", "init", "-q").returncode == 0
    assert run("git", "add", "facts.toml", "people.csv", "model.json").returncode == 0
    hook = [sys.executable, "-m", "pre_commit"]
    if how == "try-repo":
        # The hook that others install from a repository: a copy of ours, so that nothing of it changes.
        hooks = tmp_path / "hooks"
        hooks.mkdir()
        shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "hooks"]):
            done = run("git", *arguments, cwd=hooks)
            assert done.returncode == 0, done
        hook += ["try-repo", str(hooks), "facts-check", "--all-files"]
    else:
        shutil.copy(ROOT / "examples/ci/pre-commit.yaml", tmp_path / ".pre-commit-config.yaml")
        assert run("git", "add", ".pre-commit-config.yaml").returncode == 0
        hook += ["run", "--all-files"]
    passed = run(*hook)
    assert passed.returncode == 0 and "Passed" in passed.stdout, passed
    with open(tmp_path / "facts.toml", "a") as file:
        file.write('[[check.rule]]\ndefinition = "equal-choice:0.3"\nevidence = "none"\n')
    assert run("git", "add", "facts.toml").returncode == 0
    failed = run(*hook)
    assert failed.returncode == 1 and "FAILED: 0 of 1 rule holds" in failed.stdout, failed
