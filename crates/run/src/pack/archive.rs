//! The archive: a plain tar file, written in one way only, so that a bit that is not where it belongs
//! shows even where no file stands.

use std::collections::BTreeSet;

/// The size of a block of a tar file.
const BLOCK: usize = 512;

/// Files of a tar archive, in order.
pub(super) type Files = Vec<(String, Vec<u8>)>;

/// The archive of some files. Names are ours: short, and without a way out of the folder.
pub(super) fn write(files: &Files) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, bytes) in files {
        archive.extend(header(name, bytes.len()));
        archive.extend(bytes);
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    // Two empty blocks end an archive.
    archive.resize(archive.len() + 2 * BLOCK, 0);
    archive
}

fn header(name: &str, size: usize) -> [u8; BLOCK] {
    let mut header = [0; BLOCK];
    let mut put = |at: usize, text: &str| {
        header[at..at + text.len()].copy_from_slice(text.as_bytes());
    };
    put(0, name);
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{size:011o}\0"));
    put(136, "00000000000\0");
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

/// The files of an archive that [`write`] wrote. What is wrong, if it is not one of these to the byte.
pub(super) fn read(archive: &[u8]) -> Result<Files, String> {
    let damaged = |why: &str| format!("the archive is damaged: {why}");
    let mut files: Files = Vec::new();
    let mut names = BTreeSet::new();
    let mut rest = archive;
    loop {
        let (block, after) = rest
            .split_at_checked(BLOCK)
            .ok_or_else(|| damaged("it ends too early"))?;
        if block.iter().all(|&byte| byte == 0) {
            break;
        }
        let name = text(&block[..100]).ok_or_else(|| damaged("a name cannot be read"))?;
        let size = text(&block[124..136])
            .and_then(|size| usize::from_str_radix(&size, 8).ok())
            .ok_or_else(|| damaged(&format!("the size of {name} cannot be read")))?;
        let bytes = after
            .get(..size)
            .ok_or_else(|| damaged(&format!("{name} ends too early")))?;
        if !names.insert(name.clone()) {
            return Err(damaged(&format!("{name} is there twice")));
        }
        files.push((name, bytes.to_vec()));
        rest = after
            .get(size.next_multiple_of(BLOCK)..)
            .ok_or_else(|| damaged("it ends too early"))?;
    }
    if write(&files) == archive {
        Ok(files)
    } else {
        Err(damaged("something beside its files was changed"))
    }
}

/// Text up to the first zero.
fn text(field: &[u8]) -> Option<String> {
    let end = field.iter().position(|&byte| byte == 0)?;
    let text = std::str::from_utf8(&field[..end]).ok()?;
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Files {
        vec![
            ("a.txt".to_owned(), b"some text".to_vec()),
            ("folder/empty".to_owned(), Vec::new()),
            ("b".to_owned(), vec![7; 512]),
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read(&write(&files())).unwrap(), files());
    }

    #[test]
    fn a_bit_outside_of_files_is_seen() {
        let whole = write(&files());
        let inside: Vec<std::ops::Range<usize>> = vec![512..521, 2048..2560];
        for place in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[place / 8] ^= 1 << (place % 8);
            let of_a_file = inside.iter().any(|range| range.contains(&(place / 8)));
            match read(&flipped) {
                Ok(read) => assert_ne!(read, files(), "bit {place}"),
                Err(_) => assert!(!of_a_file, "bit {place}"),
            }
        }
        assert!(read(&whole[..whole.len() - 1]).is_err());
        assert!(read(&[whole.as_slice(), b" "].concat()).is_err());
    }
}
