"""What the tests share: a small table with a model that can be read off a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
HIRING = ROOT / "examples" / "hiring"


def keeps(rows: pd.DataFrame) -> np.ndarray:
    """The scorecard of examples/hiring/model.json, on a pandas frame."""
    spec = json.loads((HIRING / "model.json").read_text())
    score = np.full(len(rows), float(spec["intercept"]))
    for column, points in spec["levels"].items():
        score += rows[column].astype(object).map(points).to_numpy(dtype=float)
    for column, coefficient in spec["numbers"].items():
        score += rows[column].to_numpy(dtype=float) * coefficient
    return score > 0


class Asked:
    """A model that keeps what it was asked."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.frames: list[Any] = []

    def predict(self, rows: Any) -> Any:
        self.frames.append(rows)
        return self.model(rows)


@pytest.fixture(scope="session")
def people() -> pd.DataFrame:
    """The applicants of examples/hiring, without the label."""
    return pd.read_csv(HIRING / "people.csv").drop(columns="kept")


@pytest.fixture(scope="session")
def scorecard() -> Any:
    """The model of examples/hiring as a Python function."""
    return keeps


OPTIONS: dict[str, Any] = {
    "protected": "sex",
    "favourable": 1,
    "support": 0.05,
    "min_members": 5,
    "progress": False,
    "features": {
        "degree": {
            "order": ["none", "school", "college", "university"],
            "only": "increase",
            "weight": 3,
        },
        "job": {"weight": 2},
        "hours": {"order": ["part time", "full time"]},
        "years": {"edges": [0, 3, 6, 9, 12, 20], "only": "increase", "cost": "ordinal"},
        "region": {"missing_codes": ["?"], "missing": "level", "immutable": True},
    },
}
