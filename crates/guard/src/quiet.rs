//! Decoders that assert instead of reporting.
//!
//! The Parquet and Arrow decoders check what they read, but not all of it: some files with changed bytes
//! trip an assertion inside them. To whoever passed the file that is one more way of being damaged, so it
//! becomes an error here, and nothing is printed about it: standard error belongs to the program.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use arrow_schema::ArrowError;

thread_local! {
    /// How many pieces of guarded work this thread is within.
    static GUARDED: Cell<u32> = const { Cell::new(0) };
}

/// Puts a hook before the one that prints panics, once: those of guarded work are not printed.
fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // A thread that is ending has no such count any more, and does no guarded work.
            if GUARDED.try_with(Cell::get).unwrap_or(0) == 0 {
                print(panic);
            }
        }));
    });
}

/// What the work gives, or nothing if it panicked. What the work was done on is not to be used again
/// after a panic.
pub fn quietly<T>(work: impl FnOnce() -> T) -> Option<T> {
    hush();
    GUARDED.with(|guarded| guarded.set(guarded.get() + 1));
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.with(|guarded| guarded.set(guarded.get() - 1));
    done.ok()
}

/// The result of a decoder's work, or of its giving up.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    quietly(work).unwrap_or_else(|| {
        let cause = "its content contradicts itself";
        Err(ArrowError::ParseError(cause.into()))
    })
}
