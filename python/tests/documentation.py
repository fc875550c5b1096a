"""What the documentation tells people to type: fenced blocks, and the commands in them."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"\s*(\$ |(facts|cargo|curl|pip|python3?|npm|tar)\s)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    language: str
    text: str

    def commands(self) -> list[str]:
        """The commands of a block: lines that end in a backslash go on in the next, and what is printed is left out."""
        lines = self.text.replace("\\\n", " ").splitlines()
        if self.language == "console":
            return [line[2:] for line in lines if line.startswith("$ ")]
        return [line for line in lines if line.strip() and not line.startswith("#")]

    def printed(self, command: str) -> str:
        """What a console shows after a command."""
        after = self.text.split(f"$ {command}\n", 1)[1]
        return re.split(r"^\$ ", after, maxsplit=1, flags=re.MULTILINE)[0]


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [Block(page.stem, language, text) for language, text in found]


def unmarked(page: Path) -> list[str]:
    """Commands that stand in a page where nothing says that they are commands."""
    text = page.read_text(encoding="utf-8")
    plain = [block.text for block in blocks(page) if block.language in ("", "text")]
    indented = [line for line in FENCE.sub("", text).splitlines() if line.startswith("    ")]
    lines = [line for part in plain for line in part.splitlines()] + indented
    return [line for line in lines if COMMAND.match(line)]


def make_models(folder: Path) -> None:
    """Writes the models that pages ask, into a folder that holds the table of examples/hiring."""
    python = os.environ.get("FACTS_PYTHON")
    assert python, "FACTS_PYTHON names a Python with crates/models/tests/support/requirements.txt"
    subprocess.run([python, Path(__file__).with_name("documented_models.py"), folder], check=True)
