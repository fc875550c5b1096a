"""The example notebooks run, and show what they promise.

`python test_notebooks.py` runs them and keeps what they show in the files.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def run(path: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": FOLDER}}
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place)
    client.execute()
    return notebook


def shown(notebook: nbformat.NotebookNode) -> str:
    """All text that the cells show."""
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            texts.append(output.get("text", ""))
            texts.append("".join(output.get("data", {}).get("text/plain", "")))
            texts.append("".join(output.get("data", {}).get("text/html", "")))
    return "\n".join(texts)


def test_there_are_notebooks() -> None:
    assert [path.name for path in NOTEBOOKS] == ["first-audit.ipynb", "from-ranking-to-report.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    notebook = run(path)
    text = shown(notebook)
    assert "Bias against" in text
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert "Traceback" not in text
    # The files keep what the cells showed when they were last run.
    assert "Bias against" in shown(nbformat.read(path, as_version=4))


if __name__ == "__main__":
    for path in NOTEBOOKS:
        done = run(path)
        for cell in done.cells:
            cell.metadata.pop("execution", None)
            # Bars and warnings are of the moment.
            if cell.cell_type == "code":
                cell.outputs = [o for o in cell.outputs if o.get("name") != "stderr"]
        nbformat.write(done, path)
