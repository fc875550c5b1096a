"""What a notebook shows of an audit."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from facts.errors import UsageError

if TYPE_CHECKING:
    from facts._audit import Audit

# What turns the direction of writing, and so what other text seems to say, and control characters, is shown as a sign.
_HARMFUL = [
    *range(10),
    *range(11, 32),
    *range(0x7F, 0xA0),
    0x61C,
    0x200E,
    0x200F,
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
]
_SIGNS = dict.fromkeys(_HARMFUL, "\ufffd")

_RIGHT = ' style="text-align:right"'
_LEFT = ' style="text-align:left"'


def escape(text: str) -> str:
    """Text from data as it may stand in a page."""
    return html.escape(text.translate(_SIGNS))


def summary(audit: Audit[Any], top: int = 1) -> str:
    """A heading, the groups, and the worst subgroup of each definition."""
    about = audit.about
    groups = [
        (g["name"], f"{g['people']:,}", f"{g['affected']:,}", f"{g['affected'] / g['people']:.1%}")
        for g in about["groups"]
    ]
    worst = [(title, f) for definition, title in audit.definitions.items() for f in audit._worst(definition, top)]
    findings: list[tuple[str, ...]] = [(title, f["subgroup"], _score(f["score"]), f["against"]) for title, f in worst]
    columns: tuple[str, ...] = ("definition", "subgroup", "score", "against")
    grey: set[int] = set()
    if audit.evidence is None:
        evidence = "No evidence was gathered: nothing here tells findings from chance."
    else:
        alpha = audit.evidence["gathering"]["alpha"]
        evidence = f"In grey: does not pass at α = {alpha} family-wise, which does not show that recourse is fair."
        findings = [(*row, _verdict(f)) for row, (_, f) in zip(findings, worst)]
        columns = (*columns, "evidence")
        grey = {i for i, (_, f) in enumerate(worst) if f.get("passes") is False}
    head = (
        f"<b>facts</b> audit of {escape(about['model']['description'])}: "
        f"{about['subgroups']:,} subgroups, {about['sizes']['pairs']:,} pairs of a subgroup and an "
        f"action, protected: {escape(', '.join(about['protected']))}"
    )
    left_out = "".join(f" <b>{escape(one)}.</b>" for one in audit.left_out)
    notes = "".join(f"<li>{escape(note)}</li>" for note in about["notes"])
    return "".join(
        [
            f"<div><p>{head}</p>",
            _answer(audit),
            f"<p>Yes means: <b>{escape(audit.favourable)}</b>.{left_out}</p>",
            _table(("group", "people", "affected", "share"), groups, numbers={1, 2, 3}),
            "<p>The most unfair subgroup by each definition:</p>",
            _table(columns, findings, numbers={2}, grey=grey),
            f"<p>{escape(evidence)}</p>",
            f"<details><summary>Notes</summary><ul>{notes}</ul></details>" if notes else "",
            "<p><code>.show()</code> says them in words, <code>.to_html(path)</code> writes everything.</p></div>",
        ]
    )


def _answer(audit: Audit[Any], stories: int = 3) -> str:
    """The verdict and the first stories; nothing in audits that have no answer."""
    try:
        verdict = audit.verdict
    except UsageError:
        return ""
    told = "".join(f"<li>{escape(story.sentence)}</li>" for story in audit.stories[:stories])
    said = f"<p><b>{escape(verdict.words)}.</b> {escape(verdict.headline)} {escape(verdict.reason)}</p>"
    return said + (f"<ol>{told}</ol>" if told else "")


def _table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: set[int],
    grey: Set[int] = frozenset(),
) -> str:
    def cell(tag: str, place: int, text: str) -> str:
        return f"<{tag}{_RIGHT if place in numbers else _LEFT}>{escape(text)}</{tag}>"

    def row(tag: str, cells: Sequence[str], is_grey: bool = False) -> str:
        style = ' style="opacity:.65"' if is_grey else ""
        return f"<tr{style}>" + "".join(cell(tag, i, text) for i, text in enumerate(cells)) + "</tr>"

    body = "".join(row("td", cells, i in grey) for i, cells in enumerate(rows))
    return f"<table><thead>{row('th', head)}</thead><tbody>{body}</tbody></table>"


def _verdict(finding: Mapping[str, Any]) -> str:
    if "passes" not in finding:
        return "not tested"
    verdict = "passes" if finding["passes"] else "does not pass"
    return f"{verdict} (family-wise p = {finding['family_wise']:.2g})"


def _score(score: float) -> str:
    return "∞" if score == float("inf") else f"{score:.4g}"
