"""A drop-in for ``aif360.sklearn.detectors.FACTS``: change one import line and keep the rest.

::

    # from aif360.sklearn.detectors.facts import FACTS, FACTS_bias_scan
    # from aif360.sklearn.detectors.facts.clean import clean_dataset
    from facts.aif360 import FACTS, FACTS_bias_scan, clean_dataset

Signatures, parameters, attributes, numbers and the printed report are AIF360's (0.6.1), its own
ways included; they are listed in ``docs/python.md`` and live in this folder alone. The work is done
by the engine, so it takes a fraction of the time, and what makes AIF360 stop (no column ``age`` of
intervals, missing values, features it cannot subtract) does not stop it here.

For new work use :func:`facts.audit`, which knows costs, rules and raw numbers and has no special
names.
"""

from __future__ import annotations

from facts.aif360._detector import FACTS, FACTS_bias_scan
from facts.aif360._predicate import Predicate
from facts.aif360._report import print_recourse_report
from facts.aif360.clean import clean_dataset

__all__ = ["FACTS", "FACTS_bias_scan", "Predicate", "clean_dataset", "print_recourse_report"]
