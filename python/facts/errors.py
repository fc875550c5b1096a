"""What goes wrong, as exceptions.

Each says in its message what is wrong and what to do about it.
"""

from __future__ import annotations

__all__ = ["DataError", "FactsError", "FactsWarning", "ModelError", "OutputError", "UsageError"]


class FactsError(Exception):
    """The base of all errors of this package."""


class UsageError(FactsError, ValueError):
    """What was asked for cannot be done: an argument, a configuration, a definition."""


class DataError(FactsError, ValueError):
    """A table or a saved audit that cannot be read or audited."""


class ModelError(FactsError, RuntimeError):
    """The model failed, or does not fit the table.

    If the model raised an exception, that is this one's ``__cause__``.
    """


class OutputError(FactsError, OSError):
    """A result could not be written."""


class FactsWarning(UserWarning):
    """What a careful user must know about an audit: people left out, and what was assumed."""
