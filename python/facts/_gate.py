"""The gate: whether an audit meets the rules of a release."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from facts import _facts

if TYPE_CHECKING:
    from facts._audit import Audit


@dataclass(frozen=True)
class GateFinding:
    """Something that a rule finds fault with."""

    #: The same in every audit that speaks of it; waivers and baselines name it.
    id: str
    #: What was found, in one sentence.
    sentence: str
    #: The groups that are worse off.
    against: list[str]
    #: ``"new"``, ``"grown"``, ``"known"`` or ``"unlisted"``, beside the baseline.
    state: str
    #: People at a loss (at least so many), the score, or the ratio.
    value: float
    #: Whether a waiver lets it through.
    waived: bool

    @property
    def counts(self) -> bool:
        """Whether the rule fails for it."""
        return not self.waived and self.state in ("new", "grown")


@dataclass(frozen=True)
class RuleResult:
    """A rule and what became of it."""

    name: str
    #: ``"holds"``, ``"fails"`` or ``"undecided"``: there is too little data to tell.
    status: str
    #: What that amounts to: ``"error"``, ``"warn"``, ``"info"``, or nothing.
    level: str | None
    reason: str
    findings: list[GateFinding]


@dataclass(frozen=True)
class Gate:
    """Whether an audit meets the rules of a release. ``str(gate)`` says it in at most 30 lines."""

    passed: bool
    rules: list[RuleResult]
    #: Everything, as ``facts check --format json`` prints it.
    data: dict[str, Any] = field(repr=False)
    text: str = field(repr=False)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return self.text


def check(
    audit: Audit[Any],
    config: str | os.PathLike[str] | None = None,
    *,
    rules: Sequence[Mapping[str, Any]] | None = None,
    baseline: str | os.PathLike[str] | Literal[False] | None = None,
    update_baseline: bool = False,
) -> Gate:
    """Judges an audit; :meth:`facts.Audit.check` says how."""
    if config is None and os.path.isfile("facts.toml"):
        config = "facts.toml"
    said: dict[str, Any] = {}
    folder = None
    if config is not None:
        said = json.loads(_facts.read_config(os.fspath(config)))
        folder = os.path.dirname(os.path.abspath(config))
    if rules is not None:
        listed = [{key.replace("_", "-"): value for key, value in rule.items()} for rule in rules]
        said.setdefault("check", {})["rule"] = listed
    if baseline is None:
        # The one that the configuration names, or that lies beside it.
        place = "" if config is not None else None
    else:
        place = None if baseline is False else os.fspath(baseline)
    if update_baseline and place is None:
        place = "facts.baseline.json"
    name = "facts.toml" if config is None else os.fspath(config)
    told, text = audit._found.check(json.dumps(said), folder, place, update_baseline, (name, ""))
    data: dict[str, Any] = json.loads(told)
    return Gate(data["passed"], [_rule(*rule) for rule in zip(data["rules"], data["levels"])], data, text)


def _rule(rule: Mapping[str, Any], level: str | None) -> RuleResult:
    findings = [
        GateFinding(
            found["id"],
            found["sentence"],
            found["against"],
            found["state"],
            float(found["value"]),
            found["waived"] is not None,
        )
        for found in rule["findings"]
    ]
    return RuleResult(rule["rule"]["name"], rule["status"], level, rule["reason"], findings)
