//! Reading as many bytes as somebody says there are, and files up to a size.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// No configuration, list or key has more bytes than this.
pub const LARGEST_TEXT: u64 = 16 << 20;

/// No list of findings has more bytes than this.
pub const LARGEST_LIST: u64 = 1 << 30;

/// No model that is read here has more bytes than this.
pub const LARGEST_MODEL: u64 = 1 << 30;

/// The bytes of a file of at most so many. What is larger, or never ends, as devices do, is refused.
pub fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let why = format!("it has more than {} MiB", most >> 20);
        return Err(io::Error::new(ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// The same, as text.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let text = String::from_utf8(read_file(path, most)?);
    text.map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8"))
}

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

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let path = std::env::temp_dir().join(format!("facts-read-{}", std::process::id()));
        std::fs::write(&path, [b'a'; 9]).unwrap();
        assert_eq!(read_text(&path, 9).unwrap(), "aaaaaaaaa");
        let error = read_file(&path, 8).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        std::fs::write(&path, [0xff]).unwrap();
        let error = read_text(&path, 9).unwrap_err();
        assert_eq!(error.to_string(), "it is not text in UTF-8");
        std::fs::remove_file(&path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_device_without_an_end_is_refused() {
        let error = read_file(Path::new("/dev/zero"), LARGEST_TEXT).unwrap_err();
        assert_eq!(error.to_string(), "it has more than 16 MiB");
    }
}
