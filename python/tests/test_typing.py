"""What is typed is typed truly, and examples in docstrings run."""

from __future__ import annotations

import doctest
import subprocess
import sys

import facts
import facts._audit
from conftest import ROOT


def test_the_package_is_typed() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout


def test_the_stub_is_what_the_engine_has() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "facts._facts", "--ignore-disjoint-bases"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout


def test_examples_in_docstrings_run() -> None:
    failed, tried = doctest.testmod(facts._audit)
    assert tried > 3 and failed == 0


def test_everything_public_is_explained() -> None:
    for name in facts.__all__:
        thing = getattr(facts, name)
        assert isinstance(thing, str) or thing.__doc__, name
    for name in dir(facts.Audit):
        if not name.startswith("_"):
            assert getattr(facts.Audit, name).__doc__, name
