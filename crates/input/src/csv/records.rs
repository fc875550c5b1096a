//! Text to records: where fields and lines begin and end.

use std::io::{BufRead, BufReader};

use super::encoding::Malformed;
use crate::error::{InputError, Place, inside};
use crate::source::Reader;

/// No row of a table is longer: a quote that is never closed is found before it
/// has eaten all memory.
const LONGEST: usize = 64 << 20;

/// A delimiter and a quote that can be told apart from each other, from line
/// ends, and from the parts of a longer character.
#[derive(Clone, Copy, Debug)]
pub(super) struct Separators {
    delimiter: u8,
    quote: Option<u8>,
}

impl Separators {
    pub(super) fn check(delimiter: u8, quote: Option<u8>) -> Result<Self, InputError> {
        let refuse = |option, byte, why| {
            let example = match option {
                "quote" => r#"'"'"#,
                _ => "',' or ';'",
            };
            Err(InputError::BadSeparator {
                option,
                byte,
                why,
                example,
            })
        };
        for (option, byte) in [("delimiter", Some(delimiter)), ("quote", quote)] {
            match byte {
                Some(byte @ (b'\n' | b'\r')) => return refuse(option, byte, "it ends a line"),
                Some(byte) if !byte.is_ascii() => {
                    return refuse(option, byte, "it is only a part of a character");
                }
                _ => {}
            }
        }
        if quote == Some(delimiter) {
            return refuse("delimiter", delimiter, "it is the quote already");
        }
        Ok(Self { delimiter, quote })
    }
}

/// One record, reused for the next.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The fields without their quotes, each followed by one delimiter. It
    /// keeps half a character at the end of one field from becoming a whole one
    /// with the next.
    text: String,
    fields: Vec<FieldEnd>,
    /// The line on which the record starts, counted from 1.
    line: u64,
}

#[derive(Clone, Copy, Debug)]
struct FieldEnd {
    end: usize,
    quoted: bool,
}

impl Record {
    pub(super) fn width(&self) -> usize {
        self.fields.len()
    }

    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Bytes of text.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn field(&self, field: usize) -> &str {
        &self.text[self.start(field)..self.fields[field].end]
    }

    pub(super) fn is_quoted(&self, field: usize) -> bool {
        self.fields[field].quoted
    }

    /// The line on which a field starts, after all line ends in those before.
    pub(super) fn line_of(&self, field: usize) -> u64 {
        self.line + line_ends(&self.text.as_bytes()[..self.start(field)])
    }

    fn start(&self, field: usize) -> usize {
        match field {
            0 => 0,
            _ => self.fields[field - 1].end + 1,
        }
    }
}

/// Counts LF, CR LF and CR, each once.
fn line_ends(text: &[u8]) -> u64 {
    let feeds = text.iter().filter(|&&byte| byte == b'\n').count();
    let lone_returns = text
        .iter()
        .enumerate()
        .filter(|&(at, &byte)| byte == b'\r' && text.get(at + 1) != Some(&b'\n'))
        .count();
    (feeds + lone_returns) as u64
}

/// The records of a text.
pub(super) struct Records {
    file: String,
    text: BufReader<Reader>,
    separators: Separators,
    encoding: &'static str,
    /// The line that the next byte is on.
    line: u64,
    /// A line ended in CR; if an LF follows, it belongs to it.
    after_return: bool,
    /// For errors. Empty until the header is known.
    names: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    FieldStart,
    Plain,
    Quoted,
    /// After a quote inside a quoted field: its end, or the first of two.
    MaybeClosed,
}

impl Records {
    pub(super) fn new(
        file: &str,
        text: Reader,
        separators: Separators,
        encoding: &'static str,
    ) -> Self {
        Self {
            file: file.into(),
            text: BufReader::with_capacity(128 << 10, text),
            separators,
            encoding,
            line: 1,
            after_return: false,
            names: Vec::new(),
        }
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    pub(super) fn delimiter(&self) -> char {
        self.separators.delimiter.into()
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn set_names(&mut self, names: Vec<String>) {
        self.names = names;
    }

    pub(super) fn place(&self, line: u64, field: Option<usize>) -> Place {
        Place {
            file: self.file.clone(),
            line,
            column: field.and_then(|field| self.names.get(field).cloned()),
        }
    }

    /// Reads the next record; `false` at the end.
    pub(super) fn next(&mut self, record: &mut Record) -> Result<bool, InputError> {
        let mut bytes = std::mem::take(&mut record.text).into_bytes();
        bytes.clear();
        record.fields.clear();
        let found = self.split(&mut bytes, record)?;
        match String::from_utf8(bytes) {
            Ok(text) => record.text = text,
            Err(invalid) => {
                let error = invalid.utf8_error();
                let (from, length) = (error.valid_up_to(), error.error_len().unwrap_or(1));
                let bytes = invalid.into_bytes();
                return Err(self.not_utf8(record, &bytes, from, length));
            }
        }
        Ok(found)
    }

    /// The hot loop of reading CSV. It goes through the text once and is bound
    /// by the two searches for the next byte that means something.
    fn split(&mut self, bytes: &mut Vec<u8>, record: &mut Record) -> Result<bool, InputError> {
        let Separators { delimiter, quote } = self.separators;
        let is_line_end = |byte: u8| byte == b'\n' || byte == b'\r';
        let mut state = State::FieldStart;
        let mut quoted = false;
        let mut quote_line = self.line;
        let mut started = false;
        record.line = self.line;
        loop {
            let chunk = match self.text.fill_buf() {
                Ok(chunk) => chunk,
                Err(e) => return Err(self.unreadable(e, record.fields.len())),
            };
            if chunk.is_empty() {
                break;
            }
            let mut at = 0;
            while let Some(&byte) = chunk.get(at) {
                if self.after_return {
                    self.after_return = false;
                    if byte == b'\n' {
                        if state == State::Quoted {
                            bytes.push(byte);
                        }
                        at += 1;
                        continue;
                    }
                }
                started = true;
                match state {
                    State::FieldStart if Some(byte) == quote => {
                        (state, quoted, quote_line) = (State::Quoted, true, self.line);
                        at += 1;
                        continue;
                    }
                    State::FieldStart => state = State::Plain,
                    State::Quoted => {
                        let rest = &chunk[at..];
                        let stop = |&byte: &u8| Some(byte) == quote || is_line_end(byte);
                        let Some(length) = rest.iter().position(stop) else {
                            bytes.extend_from_slice(rest);
                            break;
                        };
                        at += length + 1;
                        if Some(rest[length]) == quote {
                            bytes.extend_from_slice(&rest[..length]);
                            state = State::MaybeClosed;
                        } else {
                            bytes.extend_from_slice(&rest[..=length]);
                            self.line += 1;
                            self.after_return = rest[length] == b'\r';
                        }
                        continue;
                    }
                    State::MaybeClosed if Some(byte) == quote => {
                        bytes.push(byte);
                        state = State::Quoted;
                        at += 1;
                        continue;
                    }
                    State::MaybeClosed if byte != delimiter && !is_line_end(byte) => {
                        let field = Some(record.fields.len());
                        return Err(InputError::TextAfterQuote(self.place(self.line, field)));
                    }
                    State::Plain | State::MaybeClosed => {}
                }
                // Up to the end of the field; after a closing quote, that is here.
                let rest = &chunk[at..];
                let stop = |&byte: &u8| byte == delimiter || is_line_end(byte);
                let Some(length) = rest.iter().position(stop) else {
                    bytes.extend_from_slice(rest);
                    break;
                };
                bytes.extend_from_slice(&rest[..length]);
                end_field(bytes, record, quoted, delimiter);
                (state, quoted) = (State::FieldStart, false);
                at += length + 1;
                if rest[length] != delimiter {
                    self.line += 1;
                    self.after_return = rest[length] == b'\r';
                    self.text.consume(at);
                    return Ok(true);
                }
            }
            let read = chunk.len();
            self.text.consume(read);
            if bytes.len() > LONGEST {
                return Err(InputError::TooLong {
                    at: self.place(record.line, None),
                    megabytes: LONGEST >> 20,
                });
            }
        }
        if state == State::Quoted {
            let field = Some(record.fields.len());
            return Err(InputError::UnclosedQuote(self.place(quote_line, field)));
        }
        if started {
            end_field(bytes, record, quoted, delimiter);
        }
        Ok(started)
    }

    fn unreadable(&self, error: std::io::Error, field: usize) -> InputError {
        if inside::<Malformed>(&error).is_none() {
            return InputError::io(&self.file, error);
        }
        InputError::InvalidBytes {
            at: self.place(self.line, Some(field)),
            bytes: "that follow".into(),
            encoding: self.encoding,
            advice: "set the encoding the file was written in, such as utf-8 or windows-1252, or copy it again if it is cut",
        }
    }

    fn not_utf8(&self, record: &Record, bytes: &[u8], from: usize, length: usize) -> InputError {
        let field = record.fields.partition_point(|field| field.end < from);
        let shown: Vec<String> = bytes[from..from + length]
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect();
        InputError::InvalidBytes {
            at: self.place(record.line + line_ends(&bytes[..from]), Some(field)),
            bytes: shown.join(" "),
            encoding: self.encoding,
            advice: "set the encoding the file was written in, most likely windows-1252 (latin1)",
        }
    }
}

fn end_field(bytes: &mut Vec<u8>, record: &mut Record, quoted: bool, delimiter: u8) {
    let end = bytes.len();
    record.fields.push(FieldEnd { end, quoted });
    bytes.push(delimiter);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A reader that gives one byte at a time, so that every byte is once the
    /// last of its chunk.
    struct Dripping(std::io::Cursor<Vec<u8>>);

    impl std::io::Read for Dripping {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let one = buffer.len().min(1);
            self.0.read(&mut buffer[..one])
        }
    }

    /// Each field, and whether it is quoted.
    type Fields = Vec<(String, bool)>;

    /// Each record with its line, up to the end or an error's text.
    fn split(text: Reader) -> (Vec<(u64, Fields)>, String) {
        let separators = Separators::check(b',', Some(b'"')).unwrap();
        let mut records = Records::new("t.csv", text, separators, "UTF-8");
        let (mut record, mut found) = (Record::default(), Vec::new());
        loop {
            match records.next(&mut record) {
                Ok(false) => return (found, String::new()),
                Err(error) => return (found, error.to_string()),
                Ok(true) => {}
            }
            let field = |at| (record.field(at).to_string(), record.is_quoted(at));
            found.push((record.line(), (0..record.width()).map(field).collect()));
        }
    }

    #[test]
    fn lines_are_those_of_an_editor() {
        let text = "a\r\n\"b\r\nb\rb\n\",\"\"\r\rc\n,\"x\ny\",d";
        let (records, error) = split(Box::new(text.as_bytes()));
        let lines: Vec<u64> = records.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2, 6, 7, 8]);
        let fields = |at: usize| records[at].1.clone();
        let field = |text: &str, quoted| (text.to_string(), quoted);
        assert_eq!(fields(1), [field("b\r\nb\rb\n", true), field("", true)]);
        assert_eq!(fields(2), [field("", false)]);
        assert_eq!(
            fields(4),
            [field("", false), field("x\ny", true), field("d", false)]
        );
        assert_eq!(error, "");
    }

    #[test]
    fn a_field_knows_its_line() {
        let separators = Separators::check(b',', Some(b'"')).unwrap();
        let text = "\n\"a\r\nb\",c,\"\rd\",e";
        let mut records = Records::new("t", Box::new(text.as_bytes()), separators, "UTF-8");
        let mut record = Record::default();
        assert!(records.next(&mut record).unwrap());
        assert!(records.next(&mut record).unwrap());
        let lines: Vec<u64> = (0..4).map(|field| record.line_of(field)).collect();
        assert_eq!(lines, [2, 3, 3, 4]);
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(
            text in prop::collection::vec(prop::sample::select(b"\"\"\",,\n\r\xc3\xa9 a".to_vec()), 0..40),
        ) {
            let whole = split(Box::new(std::io::Cursor::new(text.clone())));
            let dripping = split(Box::new(Dripping(std::io::Cursor::new(text))));
            prop_assert_eq!(whole, dripping);
        }
    }
}
