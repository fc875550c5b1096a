//! What the settings of a configuration are called in Python.

use facts_run::call_settings;

/// The keyword argument of `facts.audit` for each key that has one.
pub(crate) const KEYWORDS: [(&str, &str); 30] = [
    ("protected", "protected="),
    ("data.context", "context="),
    ("data.weight", "weight="),
    ("data.missing-codes", "missing_codes="),
    ("model.spec", "model="),
    ("model.favourable", "favourable="),
    ("model.threshold", "threshold="),
    ("model.batch-rows", "batch_rows="),
    ("label.column", "label="),
    ("label.favourable", "label_favourable="),
    ("audit.support", "support="),
    ("audit.validity", "validity="),
    ("audit.ranges", "ranges="),
    ("audit.max-length", "max_length="),
    ("audit.min-members", "min_members="),
    ("audit.max-subgroups", "max_subgroups="),
    ("audit.min-group-size", "min_group_size="),
    ("audit.compare", "compare="),
    ("audit.threads", "threads="),
    ("audit.suppress-below", "suppress_below="),
    ("audit.allow-dropped", "allow_dropped="),
    ("evidence.seed", "seed="),
    ("evidence.alpha", "alpha="),
    ("evidence.shuffles", "shuffles="),
    ("evidence.resamples", "resamples="),
    ("evidence.stability", "stability="),
    ("evidence.hold-out", "hold_out="),
    ("report.definitions", "definitions="),
    ("report.phi", "phi="),
    ("report.budgets", "budgets="),
];

/// A message that names keyword arguments where it named keys of the configuration.
pub(crate) fn by_keywords(message: &str) -> String {
    call_settings(message, &KEYWORDS)
}
