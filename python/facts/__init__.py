"""Is the way out of a model's refusal as open to one group as to another?

When a model says no (a loan, a job, parole), what could a person change to get a yes, and is
that way as open to women as to men? This package finds the subgroups for which it is not, by six
definitions of fairness of recourse, for any model::

    import facts

    audit = facts.audit(pipeline, X, protected="sex", favourable=1)
    audit                                    # in a notebook: a summary
    print(audit.verdict)                     # is it fair, and to whom not
    audit.stories                            # who loses most, and why
    audit.show(3)                            # the worst subgroups, in words
    audit.rank()                             # all of them, as a frame like X
    audit.to_html("report.html")             # everything, for a browser

``facts.aif360`` is a drop-in for ``aif360.sklearn.detectors.FACTS``.
"""

from __future__ import annotations

from facts._answer import Story, Verdict, Why
from facts._audit import Audit, audit, load
from facts._compare import Comparison, Series, series
from facts._facts import __version__, explain_config
from facts._gate import Gate, GateFinding, RuleResult
from facts._levels import Bin
from facts._many import Audits, audit_models
from facts._profiles import profiles
from facts._spark import on_spark
from facts.errors import DataError, FactsError, FactsWarning, ModelError, OutputError, UsageError

__all__ = [
    "Audit",
    "Audits",
    "Bin",
    "Comparison",
    "DataError",
    "FactsError",
    "FactsWarning",
    "Gate",
    "GateFinding",
    "ModelError",
    "OutputError",
    "RuleResult",
    "Series",
    "Story",
    "UsageError",
    "Verdict",
    "Why",
    "__version__",
    "audit",
    "audit_models",
    "explain_config",
    "load",
    "on_spark",
    "profiles",
    "series",
]
