"""What other programs read and run: JUnit, workflows, hooks. They need the command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import HIRING, ROOT

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
