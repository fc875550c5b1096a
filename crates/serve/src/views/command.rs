//! The command that gives what a view shows.

use crate::desk::Source;

/// A command, argument by argument.
#[derive(Debug)]
pub(crate) struct Command(Vec<String>);

impl Command {
    /// What shows an audit.
    pub(crate) fn show(source: &Source) -> Self {
        let arguments = match source {
            Source::Saved(path) => vec!["show".to_owned(), path.clone()],
            Source::Made {
                arguments,
                settings,
            } => {
                let settings = settings.iter();
                let settings = settings.flat_map(|one| ["--set".to_owned(), one.clone()]);
                let made = std::iter::once("audit".to_owned()).chain(arguments.iter().cloned());
                made.chain(settings).collect()
            }
        };
        Self(arguments)
    }

    /// What compares two saved audits; none if one of them is not saved.
    pub(crate) fn diff(old: &Source, new: &Source) -> Option<Self> {
        match (old, new) {
            (Source::Saved(old), Source::Saved(new)) => {
                Some(Self(vec!["diff".to_owned(), old.clone(), new.clone()]))
            }
            _ => None,
        }
    }

    /// What judges at another level: an audit that is made says so, one that is saved has its own.
    pub(crate) fn at_level(self, source: &Source, alpha: f64, lacks: &mut Vec<String>) -> Self {
        match source {
            Source::Made { .. } => self.with("--set", &format!("evidence.alpha={alpha}")),
            Source::Saved(_) => {
                lacks.push(format!("judge at α = {alpha}"));
                self
            }
        }
    }

    /// With a flag.
    pub(crate) fn flag(mut self, flag: &str) -> Self {
        self.0.push(flag.to_owned());
        self
    }

    /// With a flag and its value.
    pub(crate) fn with(self, flag: &str, value: &str) -> Self {
        self.flag(flag).flag(value)
    }
}

impl std::fmt::Display for Command {
    /// As one types it into a shell.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("facts")?;
        self.0
            .iter()
            .try_for_each(|one| write!(f, " {}", quoted(one)))
    }
}

/// What a command does not do that the page does, in a sentence; none if it does all.
pub(crate) fn lacking(what: &[String]) -> Option<String> {
    let listed = facts_report::answer::words::listed(what, "or");
    (!what.is_empty()).then(|| format!("The command does not {listed}; this page does."))
}

/// An argument that a shell takes as it stands.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed() {
        let saved = Source::Saved("my results".to_owned());
        let command = Command::show(&saved)
            .with("--where", "job = it's")
            .flag("--passing");
        assert_eq!(
            command.to_string(),
            r"facts show 'my results' --where 'job = it'\''s' --passing"
        );
        let configured = Source::Made {
            arguments: ["--config", "facts.toml"].map(str::to_owned).into(),
            settings: vec!["features.age.weight=2".to_owned()],
        };
        assert_eq!(
            Command::show(&configured).to_string(),
            "facts audit --config facts.toml --set features.age.weight=2"
        );
        assert!(Command::diff(&saved, &configured).is_none());
    }
}
