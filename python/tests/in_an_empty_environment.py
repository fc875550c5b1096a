"""Audits `examples/hiring`, the current folder, with nothing installed but the wheel and what it asks for."""

from importlib.metadata import distributions

import facts
import pandas as pd

needed = {"facts-audit", "numpy", "pandas", "pip", "python-dateutil", "pytz", "setuptools", "six", "tzdata"}
installed = {distribution.metadata["Name"].lower() for distribution in distributions()}
assert installed <= needed, installed - needed
audit = facts.audit("linear:model.json", pd.read_csv("people.csv"), config="facts.toml", progress=False)
assert audit.verdict is not None
print(audit.verdict)
