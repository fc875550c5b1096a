"""Audits in MLflow: the report as artifacts, what it comes to as metrics and tags.

with mlflow.start_run():
    facts.mlflow.log_audit(audit, gate=audit.check(rules=[{"min_ratio": 0.8}]))
"""

from __future__ import annotations

import os
import re
import tempfile
from typing import Any

from facts._audit import Audit
from facts._gate import Gate
from facts.errors import UsageError

__all__ = ["log_audit", "metrics"]


def metrics(audit: Audit[Any]) -> dict[str, float]:
    """What an audit comes to, as numbers: for each group its people, how many are refused and which share
    of them has a way out; the recourse ratio; stories, and the people at a loss in all of them."""
    found: dict[str, float] = {}
    open_to = []
    for row in audit._answer["people"]:
        group = _name(row["group"])
        found[f"people.{group}"] = float(row["people"])
        found[f"refused.{group}"] = float(row["refused"])
        if row["with_a_way"] is not None and row["refused"]:
            found[f"open.{group}"] = row["with_a_way"] / row["refused"]
            open_to.append(found[f"open.{group}"])
    if len(open_to) > 1 and max(open_to) > 0:
        found["recourse_ratio"] = min(open_to) / max(open_to)
    found["stories"] = float(len(audit.stories))
    found["people_at_a_loss"] = sum(story.loss for story in audit.stories)
    return found


def log_audit(audit: Audit[Any], name: str = "facts", gate: Gate | None = None) -> dict[str, float]:
    """Logs an audit to the active run of MLflow, or to a new one.

    Artifacts, in a folder of that name: the saved audit and every form of report; ``check.txt`` and
    ``check.json`` with a gate. Metrics: :func:`metrics`, under ``name.``; ``name.gate_passed`` with a gate.
    Tags: ``name.verdict``, ``name.tool``.

    Returns:
        The metrics, as they were logged.
    """
    try:
        import mlflow
    except ImportError as error:
        raise UsageError("log_audit needs mlflow: pip install mlflow-skinny") from error
    found = {f"{name}.{key}": value for key, value in metrics(audit).items()}
    if gate is not None:
        found[f"{name}.gate_passed"] = float(gate.passed)
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "audit")
        audit.save(place)
        mlflow.log_artifacts(place, artifact_path=name)
    if gate is not None:
        mlflow.log_text(gate.text, f"{name}/check.txt")
        mlflow.log_dict(gate.data, f"{name}/check.json")
    mlflow.log_metrics(found)
    mlflow.set_tags({f"{name}.verdict": audit.verdict.words, f"{name}.tool": str(audit.about["tool"])})
    return found


def _name(group: str) -> str:
    """A group as the name of a metric may hold it."""
    return re.sub(r"[^\w\-. :/]", "_", group.strip())
