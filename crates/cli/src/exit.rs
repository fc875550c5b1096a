//! The exit codes: what a command says to the program that started it.

use facts_run::{Failure, FailureKind};

use std::process::ExitCode;

/// What the exit codes mean; shown by `--help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    done, and a finding scores over --fail-over, or the gate of `facts check` failed
  2    wrong usage: an option, a configuration, a definition
  3    bad data: a table or a saved audit that cannot be read or audited
  4    the model failed, or does not fit the table
  5    a result could not be written
  130  interrupted";

/// The exit code of a failure.
pub(crate) fn code(failure: &Failure) -> ExitCode {
    ExitCode::from(match failure.kind {
        FailureKind::Usage => 2,
        FailureKind::Data => 3,
        FailureKind::Model => 4,
        FailureKind::Output => 5,
        FailureKind::Interrupted => 130,
    })
}
