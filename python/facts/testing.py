"""Fairness of recourse in tests: a fixture for pytest, and an assertion for anywhere.

With pytest, the fixture comes with the package::

    def test_the_way_out_is_no_less_open(recourse):
        audit = facts.audit(pipeline, X, protected="sex", favourable=1)
        recourse.check(audit, rules=[{"min_ratio": 0.8}])

A rule that fails fails the test, with what was found in words; one that is undecided is a warning.
``pytest --facts-update-baseline`` accepts what is found today: with a baseline, only what is new or has
grown beyond chance fails.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from facts._audit import Audit, load
from facts._gate import Gate
from facts.errors import FactsWarning

if TYPE_CHECKING:
    import pytest

__all__ = ["Recourse", "assert_passes"]


def assert_passes(
    audit: Audit[Any] | str | os.PathLike[str],
    config: str | os.PathLike[str] | None = None,
    *,
    rules: Sequence[Mapping[str, Any]] | None = None,
    baseline: str | os.PathLike[str] | Literal[False] | None = None,
    update_baseline: bool = False,
) -> Gate:
    """Asserts that an audit meets the rules of a release.

    Takes an audit or the path of a saved one, and what :meth:`facts.Audit.check` takes. What does not hold
    and is no error is a :class:`facts.FactsWarning`.
    """
    __tracebackhide__ = True
    found = audit if isinstance(audit, Audit) else load(audit)
    gate = found.check(config, rules=rules, baseline=baseline, update_baseline=update_baseline)
    if not gate.passed:
        raise AssertionError("the gate failed\n" + gate.text)
    for rule in gate.rules:
        if rule.level is not None:
            verb = "fails" if rule.status == "fails" else "is undecided"
            warnings.warn(f"{rule.name} {verb}: {rule.reason}", FactsWarning, stacklevel=2)
    return gate


class Recourse:
    """What the fixture ``recourse`` gives to tests."""

    def __init__(self, update_baseline: bool) -> None:
        self._update_baseline = update_baseline

    def check(
        self,
        audit: Audit[Any] | str | os.PathLike[str],
        config: str | os.PathLike[str] | None = None,
        *,
        rules: Sequence[Mapping[str, Any]] | None = None,
        baseline: str | os.PathLike[str] | Literal[False] | None = None,
    ) -> Gate:
        """Asserts that an audit meets the rules; see :func:`assert_passes`.

        With ``pytest --facts-update-baseline`` the baseline is written first, unless it is ``False``.
        """
        __tracebackhide__ = True
        update = self._update_baseline and baseline is not False
        return assert_passes(audit, config, rules=rules, baseline=baseline, update_baseline=update)


# For pytest, which finds this module by its entry point. Without pytest none of it is called.


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("facts").addoption(
        "--facts-update-baseline",
        action="store_true",
        help="accept what facts finds today: write the baselines of the fixture `recourse`",
    )


def _recourse(request: pytest.FixtureRequest) -> Recourse:
    """Checks whether an audit meets the rules of a release: ``recourse.check(audit, rules=[...])``."""
    return Recourse(bool(request.config.getoption("--facts-update-baseline")))


def __getattr__(name: str) -> Any:
    # Made when pytest asks for it, so that the assertion needs no pytest.
    if name == "recourse":
        import pytest

        made = pytest.fixture(scope="session", name="recourse")(_recourse)
        globals()[name] = made
        return made
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), "recourse"]
