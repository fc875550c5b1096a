//! What goes over a program's standard input and output: Arrow IPC streams, or CSV.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::builder::{ArrayBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use facts_engine::flips::ModelError;
use facts_guard::{Messages, guarded, is_cut};

use crate::cells::{Cell, Cells, Converted};

/// The longest answer to a row, in bytes: many times the name of a class. What is longer is no answer,
/// and might never end.
const MAX_ANSWER_BYTES: usize = 4096;
/// What an Arrow message has besides: its description, and buffers padded to eight bytes.
const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// How rows and answers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// An Arrow IPC stream each way.
    Arrow,
    /// A header line, then one line a row and an empty line after each batch; back comes one line
    /// a row and an empty line.
    Csv,
}

/// What a program wrote.
#[derive(Debug)]
pub(crate) enum Output {
    /// The answer to one batch.
    Answer(ArrayRef),
    /// Nothing more, because it ended or closed its output.
    Ended,
    /// Something that is no answer; what is wrong, and what to do.
    Nonsense(String),
}

/// Writes batches, all of one schema.
pub(super) enum Encoder {
    Arrow(Box<Option<StreamWriter<Vec<u8>>>>),
    Csv { is_begun: bool },
}

impl Encoder {
    pub(super) fn new(wire: Wire) -> Self {
        match wire {
            Wire::Arrow => Self::Arrow(Box::new(None)),
            Wire::Csv => Self::Csv { is_begun: false },
        }
    }

    /// The bytes of the next batch; those of the first one begin with the schema.
    pub(super) fn encode(&mut self, rows: &RecordBatch) -> Result<Vec<u8>, ModelError> {
        match self {
            Self::Arrow(writer) => {
                let failed = |error: ArrowError| {
                    ModelError::Failed(format!("the rows cannot be written as Arrow: {error}"))
                };
                let writer = match writer.as_mut() {
                    Some(writer) => writer,
                    None => {
                        let new = StreamWriter::try_new(Vec::new(), rows.schema_ref());
                        writer.insert(new.map_err(failed)?)
                    }
                };
                writer.write(rows).map_err(failed)?;
                Ok(std::mem::take(writer.get_mut()))
            }
            Self::Csv { is_begun } => {
                let mut text = String::new();
                let cells = Cells::of(rows)?;
                if !*is_begun {
                    let names: Vec<String> = (cells.iter())
                        .map(|column| as_csv(Cell::Text(column.name())))
                        .collect();
                    write_line(&mut text, names.iter());
                    *is_begun = true;
                }
                let columns: Vec<Converted<String>> = (cells.iter())
                    .map(|column| column.converted(|cell| Ok(as_csv(cell.finite()))))
                    .collect::<Result<_, ModelError>>()?;
                for row in 0..rows.num_rows() {
                    write_line(&mut text, columns.iter().map(|column| column.get(row)));
                }
                text.push('\n');
                Ok(text.into_bytes())
            }
        }
    }
}

/// One value of a CSV line.
fn as_csv(cell: Cell<'_>) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Boolean(value) => value.to_string(),
        Cell::Integer(value) => value.to_string(),
        Cell::Unsigned(value) => value.to_string(),
        // `3.0`, so that readers that guess types see a float.
        Cell::Float(value) => format!("{value:?}"),
        // Empty text is quoted, to differ from a missing value.
        Cell::Text(value) if value.is_empty() || value.contains([',', '"', '\n', '\r']) => {
            format!("\"{}\"", value.replace('"', "\"\""))
        }
        Cell::Text(value) => value.to_owned(),
    }
}

/// One CSV line. It is never empty: an empty line ends a batch.
fn write_line<'a>(text: &mut String, cells: impl Iterator<Item = &'a String>) {
    let start = text.len();
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            text.push(',');
        }
        text.push_str(cell);
    }
    if text.len() == start {
        text.push_str("\"\"");
    }
    text.push('\n');
}

/// Reads a program's output to its end and hands on each answer.
///
/// `asked` is the number of rows of the batch that is out, so that a program that never stops
/// writing is noticed.
pub(crate) fn read_answers(
    wire: Wire,
    output: impl Read,
    asked: &AtomicUsize,
    mut hand_on: impl FnMut(Output) -> bool,
) {
    let end = match wire {
        Wire::Arrow => read_arrow(output, asked, &mut hand_on),
        Wire::Csv => read_csv(output, asked, &mut hand_on),
    };
    hand_on(
        end.unwrap_or_else(|error| Output::Nonsense(format!("its output cannot be read: {error}"))),
    );
}

fn read_arrow(
    output: impl Read,
    asked: &AtomicUsize,
    hand_on: &mut impl FnMut(Output) -> bool,
) -> io::Result<Output> {
    let mut output = Looking::new(output);
    if let Some(end) = output.end_or_nonsense()? {
        return Ok(end);
    }
    let limit = || {
        let rows = asked.load(Ordering::Acquire);
        rows.saturating_mul(MAX_ANSWER_BYTES)
            .saturating_add(MAX_MESSAGE_BYTES) as u64
    };
    let output = Messages::new(output, limit);
    let mut answers = match guarded(|| StreamReader::try_new(output, None)) {
        Ok(answers) => answers,
        Err(error) => return Ok(broken(&error)),
    };
    loop {
        if let Some(end) = answers.get_mut().get_mut().end_or_nonsense()? {
            return Ok(end);
        }
        let output = match guarded(|| answers.next().transpose()).transpose() {
            None => return Ok(Output::Ended),
            Some(Err(error)) => return Ok(broken(&error)),
            Some(Ok(batch)) if batch.num_columns() != 1 => {
                return Ok(Output::Nonsense(format!(
                    "it answered with {} columns; write one column, with one class or probability a row",
                    batch.num_columns()
                )));
            }
            Some(Ok(batch)) => Output::Answer(Arc::clone(batch.column(0))),
        };
        if !hand_on(output) {
            return Ok(Output::Ended);
        }
    }
}

fn broken(error: &ArrowError) -> Output {
    // A stream that stops within a message: the program died while it wrote.
    if let ArrowError::IoError(_, io) = error
        && is_cut(io)
    {
        return Output::Ended;
    }
    Output::Nonsense(format!(
        "its output is not a valid Arrow IPC stream ({error}); write one stream, with one record batch for each that is read"
    ))
}

/// What every message of an Arrow IPC stream begins with.
const MESSAGE_START: [u8; 4] = [0xff; 4];

/// A reader of bytes that can look whether a message of an Arrow stream comes next. Without the
/// look a program's stray `print` would be taken for the length of a message of gigabytes.
struct Looking<R> {
    bytes: BufReader<R>,
    /// Bytes that were looked at and not read yet, last first.
    looked_at: Vec<u8>,
}

impl<R: Read> Looking<R> {
    fn new(output: R) -> Self {
        Self {
            bytes: BufReader::with_capacity(1 << 16, output),
            looked_at: Vec::new(),
        }
    }

    /// What is wrong if no message comes next.
    fn end_or_nonsense(&mut self) -> io::Result<Option<Output>> {
        let mut start = Vec::new();
        (&mut self.bytes).take(4).read_to_end(&mut start)?;
        if start == MESSAGE_START {
            self.looked_at = start;
            return Ok(None);
        }
        // Nothing more, or a program that died within these four bytes.
        if MESSAGE_START.starts_with(&start) {
            return Ok(Some(Output::Ended));
        }
        // Only what is there already: to wait for more could be to wait for ever.
        start.extend_from_slice(self.bytes.buffer());
        let line = begin(&start);
        Ok(Some(Output::Nonsense(format!(
            "it wrote `{line}` to its standard output, which is for answers only, as an Arrow IPC stream; write messages to standard error (in Python: print(…, file=sys.stderr))"
        ))))
    }
}

impl<R: Read> Read for Looking<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.looked_at.is_empty() {
            return self.bytes.read(buffer);
        }
        // All four bytes are the same, so their order does not matter.
        let length = buffer.len().min(self.looked_at.len());
        for place in &mut buffer[..length] {
            *place = self.looked_at.pop().unwrap_or_default();
        }
        Ok(length)
    }
}

/// The begin of what was written, for a message.
fn begin(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().next().unwrap_or("").chars().take(80).collect()
}

fn read_csv(
    output: impl Read,
    asked: &AtomicUsize,
    hand_on: &mut impl FnMut(Output) -> bool,
) -> io::Result<Output> {
    let mut output = BufReader::with_capacity(1 << 16, output);
    let mut line = Vec::new();
    let mut answers = StringBuilder::new();
    loop {
        line.clear();
        let most = MAX_ANSWER_BYTES as u64 + 1;
        let length = (&mut output).take(most).read_until(b'\n', &mut line)?;
        if length == 0 {
            return Ok(Output::Ended);
        }
        if length > MAX_ANSWER_BYTES {
            return Ok(Output::Nonsense(format!(
                "it wrote a line of more than {MAX_ANSWER_BYTES} bytes, which begins with `{}`; write one line a row, with one class or probability",
                begin(&line)
            )));
        }
        let Ok(text) = std::str::from_utf8(&line) else {
            return Ok(Output::Nonsense(format!(
                "it wrote `{}`, which is not UTF-8",
                begin(&line)
            )));
        };
        let text = text.trim();
        if text.is_empty() {
            if !hand_on(Output::Answer(Arc::new(answers.finish()))) {
                return Ok(Output::Ended);
            }
            continue;
        }
        let asked = asked.load(Ordering::Acquire);
        if answers.len() == asked {
            return Ok(Output::Nonsense(format!(
                "it wrote `{}` where the empty line after {asked} answers was due; write one line a row and an empty line after each batch, no header, and messages to standard error",
                begin(text.as_bytes())
            )));
        }
        let quoted = text.strip_prefix('"');
        match quoted.and_then(|text| text.strip_suffix('"')) {
            Some("") => answers.append_null(),
            Some(text) => answers.append_value(text.replace("\"\"", "\"")),
            None => answers.append_value(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::told_by_number;
    use arrow_array::{Array, BooleanArray, Float64Array, Int64Array, StringArray};

    fn rows() -> RecordBatch {
        let job = StringArray::from(vec![Some("clerk"), Some(""), None, Some("a,\"b\"")]);
        RecordBatch::try_from_iter([
            ("job, paid", Arc::new(job) as ArrayRef),
            ("hours", Arc::new(Int64Array::from(vec![40, -2, 0, 1]))),
            (
                "debt",
                Arc::new(Float64Array::from(vec![
                    Some(3.0),
                    Some(0.1),
                    None,
                    Some(1e300),
                ])),
            ),
        ])
        .unwrap()
    }

    fn outputs(wire: Wire, bytes: &[u8], asked: usize) -> Vec<Output> {
        let mut outputs = Vec::new();
        read_answers(wire, bytes, &AtomicUsize::new(asked), |output| {
            outputs.push(output);
            true
        });
        outputs
    }

    #[test]
    fn csv_has_one_header_and_an_empty_line_after_each_batch() {
        let mut encoder = Encoder::new(Wire::Csv);
        let first = String::from_utf8(encoder.encode(&rows()).unwrap()).unwrap();
        assert_eq!(
            first,
            "\"job, paid\",hours,debt\nclerk,40,3.0\n\"\",-2,0.1\n,0,\n\"a,\"\"b\"\"\",1,1e300\n\n"
        );
        let second = encoder.encode(&rows().slice(0, 1)).unwrap();
        assert_eq!(second, b"clerk,40,3.0\n\n");
        let by_number = Encoder::new(Wire::Csv).encode(&told_by_number(&rows()));
        assert_eq!(String::from_utf8(by_number.unwrap()).unwrap(), first);

        let nothing: ArrayRef = Arc::new(StringArray::from(vec![None::<&str>]));
        let one = RecordBatch::try_from_iter([("job", nothing)]).unwrap();
        let bytes = Encoder::new(Wire::Csv).encode(&one).unwrap();
        assert_eq!(bytes, b"job\n\"\"\n\n");
    }

    #[test]
    fn csv_answers_are_lines_up_to_an_empty_one() {
        let outputs = outputs(Wire::Csv, b"1\r\n\"say \"\"no\"\"\"\r\n\r\n0\n\n", 2);
        let [Output::Answer(first), Output::Answer(second), Output::Ended] = &outputs[..] else {
            panic!("{outputs:?}");
        };
        let expected = StringArray::from(vec!["1", "say \"no\""]);
        assert_eq!(first.to_data(), expected.to_data());
        assert_eq!(second.len(), 1);
    }

    #[test]
    fn a_line_too_many_is_noticed() {
        let outputs = outputs(Wire::Csv, b"prediction\n1\n0\n\n", 2);
        let [Output::Nonsense(why)] = &outputs[..] else {
            panic!("{outputs:?}");
        };
        assert!(
            why.starts_with("it wrote `0` where the empty line"),
            "{why}"
        );
    }

    #[test]
    fn a_line_without_an_end_is_noticed() {
        let mut output = io::repeat(b'1');
        let mut outputs = Vec::new();
        read_answers(Wire::Csv, &mut output, &AtomicUsize::new(2), |output| {
            outputs.push(output);
            true
        });
        let [Output::Nonsense(why)] = &outputs[..] else {
            panic!("{outputs:?}");
        };
        assert!(
            why.starts_with("it wrote a line of more than 4096 bytes"),
            "{why}"
        );
    }

    /// An answer whose message says that it has 2^56 bytes, and one that says so and goes on for ever.
    #[test]
    fn a_message_of_any_length_is_refused() {
        // Read, not included: the file is not in the package of this crate.
        let file = "../guard/tests/files/exec_abort_answer.bin";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let bytes = std::fs::read(path).unwrap();
        for endless in [0, u64::MAX] {
            let output = bytes.as_slice().chain(io::repeat(0).take(endless));
            let mut outputs = Vec::new();
            read_answers(Wire::Arrow, output, &AtomicUsize::new(1000), |output| {
                outputs.push(output);
                true
            });
            let Some(Output::Nonsense(why)) = outputs.last() else {
                panic!("{outputs:?}");
            };
            assert!(why.contains("is not a valid Arrow IPC stream"), "{why}");
        }
    }

    #[test]
    fn arrow_goes_there_and_back() {
        let mut encoder = Encoder::new(Wire::Arrow);
        let yes: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
        let batch = RecordBatch::try_from_iter([("class", yes)]).unwrap();
        let mut bytes = encoder.encode(&batch).unwrap();
        bytes.extend(encoder.encode(&batch.slice(1, 1)).unwrap());
        let whole = outputs(Wire::Arrow, &bytes, 2);
        let [Output::Answer(first), Output::Answer(second), Output::Ended] = &whole[..] else {
            panic!("{whole:?}");
        };
        assert_eq!((first.len(), second.len()), (2, 1));

        // Cut anywhere, it is an end and never a wrong answer.
        for length in 0..bytes.len() {
            let outputs = outputs(Wire::Arrow, &bytes[..length], 2);
            let (end, answers) = outputs.split_last().unwrap();
            assert!(matches!(end, Output::Ended), "{length}: {outputs:?}");
            assert!(answers.len() <= 1, "{length}: {outputs:?}");
        }

        // A message printed between two answers.
        let mut spoilt = encoder.encode(&batch).unwrap();
        spoilt.splice(0..0, bytes.clone());
        let at = bytes.len();
        spoilt.splice(at..at, *b"loading the model\n");
        let outputs = outputs(Wire::Arrow, &spoilt, 2);
        let Some(Output::Nonsense(why)) = outputs.last() else {
            panic!("{outputs:?}");
        };
        assert!(why.starts_with("it wrote `loading the model` to"), "{why}");
    }

    #[test]
    fn more_than_one_column_is_refused() {
        let bytes = Encoder::new(Wire::Arrow).encode(&rows()).unwrap();
        let outputs = outputs(Wire::Arrow, &bytes, 4);
        let [Output::Nonsense(why)] = &outputs[..] else {
            panic!("{outputs:?}");
        };
        assert!(why.starts_with("it answered with 3 columns"), "{why}");
    }
}
