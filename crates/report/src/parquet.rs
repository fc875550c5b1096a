//! Parquet: a sheet as typed columns, for data frames.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;

use crate::sheets::{Cells, Sheet};

/// A sheet as Parquet.
pub fn parquet(sheet: &Sheet) -> Result<Vec<u8>> {
    let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for (name, cells) in &sheet.columns {
        let (data_type, array): (DataType, ArrayRef) = match cells {
            Cells::Text(cells) => {
                let array = StringArray::from_iter_values(cells);
                (DataType::Utf8, Arc::new(array))
            }
            Cells::Count(cells) => {
                let array = UInt64Array::from(cells.clone());
                (DataType::UInt64, Arc::new(array))
            }
            Cells::Number(cells) => {
                let array = Float64Array::from(cells.clone());
                (DataType::Float64, Arc::new(array))
            }
        };
        fields.push(Field::new(name, data_type, true));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), arrays)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema, Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(bytes)
}
