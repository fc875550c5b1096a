"""What a notebook shows of an audit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from facts._audit import Audit

_RIGHT = ' style="text-align:right"'
_LEFT = ' style="text-align:left"'


def summary(audit: Audit, top: int = 1) -> str:
    """A heading, the groups, and the worst subgroup of each definition."""
    about = audit.about
    groups = [
        (g["name"], f"{g['people']:,}", f"{g['affected']:,}", f"{g['affected'] / g['people']:.1%}")
        for g in about["groups"]
    ]
    findings = [
        (title, f["subgroup"], _score(f["score"]), f["against"])
        for definition, title in audit.definitions.items()
        for f in audit._worst(definition, top)
    ]
    head = (
        f"<b>facts</b> audit of {escape(about['model']['description'])}: "
        f"{about['subgroups']:,} subgroups, {about['sizes']['pairs']:,} pairs of a subgroup and an "
        f"action, protected: {escape(', '.join(about['protected']))}"
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in about["notes"])
    return "".join(
        [
            f"<div><p>{head}</p>",
            _table(("group", "people", "affected", "share"), groups, numbers={1, 2, 3}),
            "<p>The most unfair subgroup by each definition:</p>",
            _table(("definition", "subgroup", "score", "against"), findings, numbers={2}),
            f"<details><summary>Notes</summary><ul>{notes}</ul></details>" if notes else "",
            "<p><code>.show()</code> says them in words, <code>.to_html(path)</code> writes everything.</p></div>",
        ]
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: set[int]) -> str:
    def cell(tag: str, place: int, text: str) -> str:
        return f"<{tag}{_RIGHT if place in numbers else _LEFT}>{escape(text)}</{tag}>"

    def row(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(cell(tag, i, text) for i, text in enumerate(cells)) + "</tr>"

    body = "".join(row("td", cells) for cells in rows)
    return f"<table><thead>{row('th', head)}</thead><tbody>{body}</tbody></table>"


def _score(score: float) -> str:
    return "∞" if score == float("inf") else f"{score:.4g}"
