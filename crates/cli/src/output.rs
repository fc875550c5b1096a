//! Writing to standard output.

use std::io::Write;

use facts_report::text::visible_lines;
use facts_run::Failure;

use crate::args::by_flags;

/// Prints text for whoever typed the command: with flags for settings, and in colours if standard
/// output is a terminal that shows them.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    finished(anstream::stdout().lock(), by_flags(text).as_bytes())
}

/// Prints text that has no colours: whatever would command the terminal comes from outside.
pub(crate) fn print_plain(text: &str) -> Result<(), Failure> {
    print(&visible_lines(text))
}

/// Writes bytes to standard output just as they are.
pub(crate) fn print_raw(bytes: &[u8]) -> Result<(), Failure> {
    finished(std::io::stdout().lock(), bytes)
}

/// A reader that went away, such as `head`, is not an error.
fn finished(mut out: impl Write, bytes: &[u8]) -> Result<(), Failure> {
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::output("standard output", error))
        }
        _ => Ok(()),
    }
}
