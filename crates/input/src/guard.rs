//! Decoders that assert instead of reporting.

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

pub(crate) use facts_guard::guarded;

/// The batches of a decoder, up to the first error.
pub(crate) fn guarded_batches(
    mut decoder: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send,
) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send {
    std::iter::from_fn(move || guarded(|| decoder.next().transpose()).transpose())
}
