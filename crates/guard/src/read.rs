//! Reading as many bytes as somebody says there are.

use std::io::{self, ErrorKind, Read};

/// So many bytes are taken on trust.
const FIRST: u64 = 1 << 20;

/// Reads exactly so many bytes. Memory is taken as they come, so that a length without bytes costs
/// nothing; if there is not enough of it, that is an error.
pub fn read_exactly(mut bytes: impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    let mut missing = length;
    while missing > 0 {
        // Twice as much each time: what is read is copied a constant number of times.
        let part = missing.min(FIRST.max(read.len() as u64));
        let room = usize::try_from(part).map_err(|_| ErrorKind::OutOfMemory)?;
        read.try_reserve(room)
            .map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
        let more = (&mut bytes).take(part).read_to_end(&mut read)?;
        if (more as u64) < part {
            return Err(cut());
        }
        missing -= part;
    }
    Ok(read)
}

/// The bytes end before they should.
fn cut() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, Cut)
}

/// Whether an error says that bytes end before they should.
pub fn is_cut(error: &io::Error) -> bool {
    error.kind() == ErrorKind::UnexpectedEof
        || error.get_ref().is_some_and(|inner| inner.is::<Cut>())
}

/// The decoder of Arrow takes `UnexpectedEof` for the regular end of a stream, so a cut has its own name.
#[derive(Debug)]
struct Cut;

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it ends early")
    }
}

impl std::error::Error for Cut {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_without_bytes_is_a_cut_and_takes_no_memory() {
        let error = read_exactly(&b"abc"[..], 1 << 60).unwrap_err();
        assert!(is_cut(&error), "{error}");
        assert_eq!(read_exactly(&b"abc"[..], 2).unwrap(), b"ab");
        let long = vec![7; 5 << 20];
        assert_eq!(read_exactly(long.as_slice(), 5 << 20).unwrap(), long);
    }
}
