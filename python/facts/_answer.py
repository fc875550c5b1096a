"""What an audit comes to: a verdict, and stories about different people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Verdict:
    """Whether recourse is fair, as far as the audit can tell.

    ``str(verdict)`` is a sentence that can be quoted.
    """

    #: ``"unfair"``, ``"fair-within"``, ``"not-shown"``, ``"cannot-tell"`` or ``"not-tested"``.
    kind: str
    #: In two or three words: ``"Unfair, against Female"``.
    words: str
    #: Who has a way out.
    headline: str
    #: What the verdict rests on.
    reason: str

    def __str__(self) -> str:
        return f"{self.words}. {self.headline} {self.reason}"

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Verdict:
        found = answer["verdict"]
        kind = "not-tested" if found is None else next(iter(found))
        return cls(kind, answer["verdict_words"], answer["headline"], answer["reason"])


@dataclass(frozen=True)
class Why:
    """What a story's gap is made of, in shares; the three parts add up to it. None of them is causal."""

    #: What goes with how the model uses the protected attribute.
    swap: float
    #: What goes with the groups' differing in other features that the model reads, if that can be told.
    composition: float | None
    #: What goes with neither.
    rest: float
    #: The same in words.
    sentence: str


@dataclass(frozen=True)
class Story:
    """One story: a subgroup, the people of it whom no earlier story tells of, and what they lack."""

    number: int
    #: The predicate of the subgroup.
    subgroup: str
    #: The whole story in one sentence.
    sentence: str
    #: The group that is worse off.
    against: str
    #: By group: the people told of, and those of them who have a way out.
    groups: dict[str, tuple[int, int]]
    #: The cost within which they have one.
    cost: float
    #: How many people are at a loss, and how many at least.
    loss: float
    loss_at_least: float
    #: What would have to change.
    changes: str
    why: Why | None
    #: Where the gap is sharper inside: predicate and gap.
    sharper: list[tuple[str, float]]
    #: How many distinct sets of people that pass it stands for.
    stands_for: int
    #: The definitions under which it passes, with the groups that it is against.
    passes: dict[str, list[str]]

    def __str__(self) -> str:
        return self.sentence

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Story:
        found = row["why"]
        why = found and Why(found["swap"], found["composition"], found["rest"], row["why_sentence"])
        return cls(
            number=row["number"],
            subgroup=row["predicate"],
            sentence=row["sentence"],
            against=row["against"],
            groups={g["group"]: (g["people"], g["with_a_way"]) for g in row["groups"]},
            cost=row["cost"],
            loss=row["loss"]["people"],
            loss_at_least=row["loss"]["at_least"],
            changes=row["changes"],
            why=why or None,
            sharper=[(predicate, gap) for predicate, gap in row["sharper"]],
            stands_for=row["stands_for"],
            passes={d["definition"]: d["against"] for d in row["definitions"] if d["passes"]},
        )
