//! Parquet: a sheet as typed columns, for data frames.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::sheets::Sheet;

/// A sheet as Parquet.
pub fn parquet(sheet: &Sheet) -> Result<Vec<u8>> {
    parquet_of(&sheet.batch()?, &[])
}

/// A batch as Parquet, with what its file says about itself.
pub fn parquet_of(batch: &RecordBatch, metadata: &[(String, String)]) -> Result<Vec<u8>> {
    // In the schema, too: it is where libraries look that read the file as Arrow.
    let schema = Schema::clone(&batch.schema());
    let schema = schema.with_metadata(metadata.iter().cloned().collect());
    let batch = batch.clone().with_schema(Arc::new(schema))?;
    let metadata = metadata.iter().cloned();
    let metadata: Vec<KeyValue> = metadata
        .map(|(key, value)| KeyValue::new(key, value))
        .collect();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata((!metadata.is_empty()).then_some(metadata))
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(bytes)
}
