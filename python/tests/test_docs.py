"""The Python of the tutorial runs as it is written."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from conftest import ROOT


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("people.csv", "model.json", "facts.toml"):
        shutil.copy(ROOT / "examples" / "hiring" / file, tmp_path)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    assert (tmp_path / "report.html").stat().st_size > 10_000
