//! What the settings of a configuration are called on the command line.

use facts_run::call_settings;

/// The flag for each key that has one.
const FLAGS: &[(&str, &str)] = &[
    ("data.database", "--database"),
    ("data.format", "--data-format"),
    ("data.delimiter", "--delimiter"),
    ("data.duplicates", "--duplicates"),
    ("data.encoding", "--encoding"),
    ("data.nulls", "--null"),
    ("data.missing-codes", "--missing-code"),
    ("data.weight", "--weight-column"),
    ("data.ignore", "--ignore"),
    ("data.context", "--context"),
    ("model.spec", "--model"),
    ("model.favourable", "--favourable"),
    ("model.threshold", "--threshold"),
    ("model.columns", "--map"),
    ("model.output", "--output"),
    ("model.timeout", "--timeout"),
    ("model.workers", "--workers"),
    ("model.batch-rows", "--batch-rows"),
    ("model.check", "--check-against"),
    ("model.answers", "--answers"),
    ("train.test-percent", "--test-percent"),
    ("train.seed", "--seed"),
    ("train.exclude", "--not-trained-on"),
    ("train.save", "--save-model"),
    ("label.column", "--label"),
    ("label.favourable", "--label-favourable"),
    ("protected", "--protected"),
    ("audit.support", "--support"),
    ("audit.validity", "--validity"),
    ("audit.ranges", "--ranges"),
    ("audit.max-length", "--max-length"),
    ("audit.min-members", "--min-members"),
    ("audit.max-subgroups", "--max-subgroups"),
    ("audit.max-memory-mib", "--max-memory"),
    ("audit.min-group-size", "--min-group-size"),
    ("audit.compare", "--compare"),
    ("audit.max-groups", "--max-groups"),
    ("audit.threads", "--threads"),
    ("audit.suppress-below", "--suppress-below"),
    ("audit.allow-dropped", "--allow-dropped"),
    ("evidence.seed", "--evidence-seed"),
    ("evidence.alpha", "--alpha"),
    ("evidence.shuffles", "--shuffles"),
    ("evidence.resamples", "--resamples"),
    ("evidence.stability", "--stability"),
    ("evidence.hold-out", "--hold-out"),
    ("report.definitions", "--definition"),
    ("report.phi", "--phi"),
    ("report.budgets", "--budget"),
    ("report.top", "--top"),
    ("report.out", "--out"),
];

/// A message that names flags where it named keys of the configuration.
pub(crate) fn by_flags(message: &str) -> String {
    call_settings(message, FLAGS)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn keys_and_flags_exist() {
        let reference: toml::Table = toml::from_str(facts_run::config::REFERENCE).unwrap();
        let command = Cli::command();
        let audit = command.find_subcommand("audit").unwrap();
        for (key, flag) in FLAGS {
            let mut parts = key.split('.');
            let first = reference.get(parts.next().unwrap());
            let value = parts.try_fold(first.unwrap(), |table, part| table.get(part));
            assert!(value.is_some(), "{key} is no key");
            let is_it = |arg: &clap::Arg| arg.get_long() == flag.strip_prefix("--");
            assert!(audit.get_arguments().any(is_it), "{flag} is no flag");
        }
        assert_eq!(by_flags("lower `audit.support`"), "lower --support");
    }
}
