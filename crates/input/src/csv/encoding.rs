//! Bytes to UTF-8.
//!
//! UTF-8 itself passes through untouched and is checked record by record, where
//! line and column are known. Every other encoding is decoded on the way, and
//! what cannot be decoded stops the stream *after* all that came before it, so
//! that whoever reads it knows the line.

use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::str::FromStr;

use encoding_rs::{Decoder, DecoderResult, UTF_8};

use crate::error::InputError;
use crate::source::Reader;

/// A text encoding, by any name the web knows it by: `utf-8`, `latin1`,
/// `windows-1252`, `utf-16le`, `shift_jis`, …
///
/// As on the web, `latin1` and `ascii` mean `windows-1252`, which extends both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

impl Default for Encoding {
    fn default() -> Self {
        Self(UTF_8)
    }
}

impl FromStr for Encoding {
    type Err = InputError;

    fn from_str(label: &str) -> Result<Self, InputError> {
        // "replacement" stands for encodings that are refused on purpose.
        match encoding_rs::Encoding::for_label_no_replacement(label.as_bytes()) {
            Some(encoding) => Ok(Self(encoding)),
            None => Err(InputError::UnknownEncoding(label.into())),
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl Encoding {
    /// The text as UTF-8 without a byte order mark, and the name of the
    /// encoding it had.
    pub(super) fn decode(self, mut bytes: Reader) -> io::Result<(Reader, &'static str)> {
        let mut head = Vec::new();
        (&mut bytes).take(3).read_to_end(&mut head)?;
        let (encoding, mark) = encoding_rs::Encoding::for_bom(&head).unwrap_or((self.0, 0));
        let bytes = Cursor::new(head.split_off(mark)).chain(bytes);
        let text: Reader = if encoding == UTF_8 {
            Box::new(bytes)
        } else {
            Box::new(Decoded {
                bytes: BufReader::new(bytes),
                decoder: encoding.new_decoder_without_bom_handling(),
                text: vec![0; 16 << 10],
                ready: 0..0,
                end: End::NotYet,
            })
        };
        Ok((text, encoding.name()))
    }
}

/// Bytes that mean nothing in the encoding, inside an [`io::Error`].
#[derive(Debug)]
pub(super) struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("malformed text")
    }
}

impl std::error::Error for Malformed {}

enum End {
    NotYet,
    Regular,
    Malformed,
}

struct Decoded<R> {
    bytes: BufReader<R>,
    decoder: Decoder,
    text: Vec<u8>,
    /// What part of `text` is decoded and not yet read.
    ready: std::ops::Range<usize>,
    end: End,
}

impl<R: Read> Decoded<R> {
    fn decode_some(&mut self) -> io::Result<()> {
        let bytes = self.bytes.fill_buf()?;
        let last = bytes.is_empty();
        let (result, read, written) =
            self.decoder
                .decode_to_utf8_without_replacement(bytes, &mut self.text, last);
        self.bytes.consume(read);
        self.ready = 0..written;
        self.end = match result {
            DecoderResult::Malformed(..) => End::Malformed,
            DecoderResult::InputEmpty if last => End::Regular,
            DecoderResult::InputEmpty | DecoderResult::OutputFull => End::NotYet,
        };
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() {
            match self.end {
                End::NotYet => self.decode_some()?,
                End::Regular => return Ok(0),
                End::Malformed => return Err(io::Error::other(Malformed)),
            }
        }
        let count = buffer.len().min(self.ready.len());
        let from = self.ready.start;
        buffer[..count].copy_from_slice(&self.text[from..from + count]);
        self.ready.start += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(label: &str, bytes: &[u8]) -> (String, &'static str) {
        let bytes = Box::new(Cursor::new(bytes.to_vec()));
        let encoding: Encoding = label.parse().unwrap();
        let (mut reader, name) = encoding.decode(bytes).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        (text, name)
    }

    #[test]
    fn byte_order_marks_win_and_disappear() {
        let expected = |name| ("é,b".to_string(), name);
        assert_eq!(decoded("utf-8", b"\xc3\xa9,b"), expected("UTF-8"));
        assert_eq!(
            decoded("latin1", b"\xef\xbb\xbf\xc3\xa9,b"),
            expected("UTF-8")
        );
        assert_eq!(
            decoded("utf-8", b"\xff\xfe\xe9\0,\0b\0"),
            expected("UTF-16LE")
        );
        assert_eq!(
            decoded("utf-8", b"\xfe\xff\0\xe9\0,\0b"),
            expected("UTF-16BE")
        );
        assert_eq!(decoded("latin1", b"\xe9,b"), expected("windows-1252"));
        assert_eq!(decoded("utf-16be", b"\0\xe9\0,\0b"), expected("UTF-16BE"));
    }

    #[test]
    fn text_longer_than_the_buffers_arrives_whole() {
        let text = "äöü,".repeat(20_000);
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decoded("utf-16le", &bytes).0, text);
    }

    #[test]
    fn what_comes_before_malformed_bytes_can_be_read() {
        let bytes = Box::new(&b"a\0b\0\x00\xd8c\0"[..]);
        let (mut reader, _) = Encoding(encoding_rs::UTF_16LE).decode(bytes).unwrap();
        let mut before = Vec::new();
        let error = reader.read_to_end(&mut before).unwrap_err();
        assert_eq!(before, b"ab");
        assert_eq!(error.to_string(), "malformed text");
    }
}
