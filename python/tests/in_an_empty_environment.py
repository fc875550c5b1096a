"""Audits `examples/hiring`, the current folder, and what `facts demo` audits, with nothing installed but the wheel and what
it asks for."""

from importlib.metadata import distributions
from pathlib import Path

import facts
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]

needed = {"facts-audit", "numpy", "pandas", "pip", "python-dateutil", "pytz", "setuptools", "six", "tzdata"}
installed = {distribution.metadata["Name"].lower() for distribution in distributions()}
assert installed <= needed, installed - needed
audit = facts.audit("linear:model.json", pd.read_csv("people.csv"), config="facts.toml", progress=False)
assert audit.verdict is not None
print(audit.verdict)

# The package does not hold the demo's rows. With them it says what the command does.
adult = ROOT / "crates" / "reproduce" / "data" / "adult"
demo = facts.audit("train", pd.read_csv(adult / "adult.csv.gz"), config=adult / "facts.toml", progress=False)
print(demo.verdict)
screen = (ROOT / "crates" / "cli" / "tests" / "first_screens" / "demo.txt").read_text(encoding="utf-8")
headline = " ".join(screen.split("\n\n")[1].split("\n")[1:])
assert headline in str(demo.verdict), headline
