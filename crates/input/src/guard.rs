//! Decoders that assert instead of reporting.
//!
//! The Parquet and Arrow decoders check what they read, but not all of it: some
//! files with changed bytes trip an assertion inside them. To whoever passed
//! the file that is one more way of being damaged, so it becomes an error here.
//! The decoder is not used again after it.
//!
//! What cannot be caught is a changed length in an Arrow file that asks for
//! more memory than there is.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

/// The result of a decoder's work, or of its giving up.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let cause = "its content contradicts itself";
        Err(ArrowError::ParseError(cause.into()))
    })
}

/// The batches of a decoder, up to the first error.
pub(crate) fn guarded_batches(
    mut decoder: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send,
) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send {
    std::iter::from_fn(move || guarded(|| decoder.next().transpose()).transpose())
}
