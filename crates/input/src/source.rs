//! Where the bytes come from, and how often they can be read.
//!
//! Readers differ in what they need: Parquet and the Arrow file format begin at
//! the end of the file, CSV is read twice to find its types, an Arrow stream
//! goes by once. [`Input`] gives each what it needs at the least price: a file
//! on disk is simply read again, and a pipe is kept only for those who ask.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::PathBuf;

use bytes::Bytes;
use tempfile::{SpooledData, SpooledTempFile};

use crate::address::{self, Address};
use crate::compressed::Compression;
use crate::error::InputError;
#[cfg(feature = "object-store")]
use crate::objects::{Object, ObjectReader, find};

/// A pipe up to this size is kept in memory, a larger one in a temporary file.
const SPOOL_IN_MEMORY: usize = 64 << 20;

/// How many bytes decide what a file is. The longest magic is eight bytes.
const HEAD: usize = 16;

pub(crate) type Reader = Box<dyn Read + Send>;

/// Where a table comes from.
pub enum Source {
    /// A file, or anything with a path that can be read once, such as a named
    /// pipe; or the address of an object.
    Path(PathBuf),
    /// An object of a store.
    #[cfg(feature = "object-store")]
    Object(Object),
    /// Standard input.
    Stdin,
    /// Any other bytes, with the name that errors call them by. The ending of
    /// the name counts as that of a file does.
    Reader {
        /// What errors call it.
        name: String,
        /// The bytes.
        reader: Box<dyn Read + Send>,
    },
}

impl Source {
    /// Bytes from anywhere, with a name for errors.
    pub fn reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        Self::Reader {
            name: name.into(),
            reader: Box::new(reader),
        }
    }

    /// What errors call it.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => address::shown(path),
            #[cfg(feature = "object-store")]
            Self::Object(object) => object.name().to_owned(),
            Self::Stdin => "standard input".into(),
            Self::Reader { name, .. } => name.clone(),
        }
    }
}

/// As on a command line: `-` is standard input.
impl From<&str> for Source {
    fn from(argument: &str) -> Self {
        match argument {
            "-" => Self::Stdin,
            path => Self::Path(path.into()),
        }
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

/// Opened bytes; decompressed in every way they are handed out.
pub(crate) enum Input {
    /// A file, which can be read as often as one likes.
    Disk(File, Option<Compression>),
    /// The same, in memory.
    Memory(Bytes),
    /// An object of a store, which can be read as often as one likes, too.
    #[cfg(feature = "object-store")]
    Object(Object, Option<Compression>),
    /// Bytes that go by once, no longer compressed.
    Pipe(Reader),
}

/// Uncompressed bytes with random access.
pub(crate) enum Seekable {
    Here(Here),
    #[cfg(feature = "object-store")]
    Object(Object),
}

/// The same, on this machine.
pub(crate) enum Here {
    Disk(File),
    Memory(Bytes),
}

impl Input {
    /// Opens a source; the name for errors comes along.
    pub(crate) fn open(source: Source) -> Result<(String, Self), InputError> {
        let name = source.name();
        let input = match source {
            Source::Path(path) => match Address::of(&path) {
                Some(address) => return Ok((name, Self::from_address(&address)?)),
                None => File::open(path).and_then(Self::from_file),
            },
            #[cfg(feature = "object-store")]
            Source::Object(object) => Self::from_object(object),
            Source::Stdin => Self::from_pipe(Box::new(io::stdin())),
            Source::Reader { reader, .. } => Self::from_pipe(reader),
        };
        match input {
            Ok(input) => Ok((name, input)),
            Err(e) => Err(InputError::io(&name, e)),
        }
    }

    fn from_file(mut file: File) -> io::Result<Self> {
        let kind = file.metadata()?.file_type();
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // `<(command)` and named pipes have a path, but pass by once.
        if !kind.is_file() {
            return Self::from_pipe(Box::new(file));
        }
        let compression = Compression::of(&read_head(&mut file)?);
        Ok(Self::Disk(file, compression))
    }

    #[cfg(feature = "object-store")]
    fn from_address(address: &Address) -> Result<Self, InputError> {
        let mut objects = find(address)?.objects;
        match (objects.pop(), objects.pop()) {
            (Some(object), None) => {
                let opened = Self::from_object(object);
                opened.map_err(|e| InputError::io(&address.to_string(), e))
            }
            _ => Err(InputError::Folder(address.to_string())),
        }
    }

    #[cfg(not(feature = "object-store"))]
    fn from_address(address: &Address) -> Result<Self, InputError> {
        address.check()?;
        Err(InputError::FilesOnly(address.to_string()))
    }

    #[cfg(feature = "object-store")]
    fn from_object(object: Object) -> io::Result<Self> {
        let compression = Compression::of(&read_head(&mut ObjectReader::new(&object))?);
        Ok(Self::Object(object, compression))
    }

    fn from_pipe(mut pipe: Reader) -> io::Result<Self> {
        let head = read_head(&mut pipe)?;
        let compression = Compression::of(&head);
        let pipe = Box::new(Cursor::new(head).chain(pipe));
        Ok(Self::Pipe(match compression {
            Some(compression) => compression.undo(pipe)?,
            None => pipe,
        }))
    }

    /// The first bytes, which stay in the input.
    pub(crate) fn head(&mut self) -> io::Result<Vec<u8>> {
        if let Self::Pipe(pipe) = self {
            let head = read_head(pipe)?;
            let rest = std::mem::replace(pipe, Box::new(io::empty()));
            *pipe = Box::new(Cursor::new(head.clone()).chain(rest));
            return Ok(head);
        }
        read_head(&mut self.again()?)
    }

    /// The bytes from the start, for one who needs them once.
    pub(crate) fn once(self) -> io::Result<Reader> {
        match self {
            Self::Pipe(pipe) => Ok(pipe),
            mut input => input.again(),
        }
    }

    /// An input that [`Input::again`] may be called on.
    pub(crate) fn repeatable(self) -> io::Result<Self> {
        Ok(match self {
            Self::Pipe(pipe) => match spool(pipe)? {
                Here::Disk(file) => Self::Disk(file, None),
                Here::Memory(bytes) => Self::Memory(bytes),
            },
            input => input,
        })
    }

    /// The bytes from the start. One reader at a time: those of a file share
    /// its position. A pipe has to be made repeatable first.
    pub(crate) fn again(&mut self) -> io::Result<Reader> {
        match self {
            Self::Disk(file, compression) => {
                let mut file = file.try_clone()?;
                file.rewind()?;
                match compression {
                    Some(compression) => compression.undo(Box::new(file)),
                    None => Ok(Box::new(file)),
                }
            }
            Self::Memory(bytes) => Ok(Box::new(Cursor::new(bytes.clone()))),
            #[cfg(feature = "object-store")]
            Self::Object(object, compression) => {
                let bytes = Box::new(ObjectReader::new(object));
                match compression {
                    Some(compression) => compression.undo(bytes),
                    None => Ok(bytes),
                }
            }
            Self::Pipe(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }

    /// Random access, for formats that begin at the end.
    pub(crate) fn seekable(self) -> io::Result<Seekable> {
        match self {
            Self::Disk(mut file, None) => {
                file.rewind()?;
                Ok(Seekable::Here(Here::Disk(file)))
            }
            Self::Memory(bytes) => Ok(Seekable::Here(Here::Memory(bytes))),
            #[cfg(feature = "object-store")]
            Self::Object(object, None) => Ok(Seekable::Object(object)),
            compressed_or_pipe => spool(compressed_or_pipe.once()?).map(Seekable::Here),
        }
    }
}

fn read_head(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    reader.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

impl Seekable {
    /// The same here: for readers that go back and forth.
    pub(crate) fn here(self) -> io::Result<Here> {
        match self {
            #[cfg(feature = "object-store")]
            Self::Object(object) => spool(Box::new(ObjectReader::new(&object))),
            Self::Here(here) => Ok(here),
        }
    }
}

fn spool(mut reader: Reader) -> io::Result<Here> {
    let mut spool = SpooledTempFile::new(SPOOL_IN_MEMORY);
    io::copy(&mut reader, &mut spool)?;
    Ok(match spool.into_inner() {
        SpooledData::InMemory(bytes) => Here::Memory(bytes.into_inner().into()),
        SpooledData::OnDisk(mut file) => {
            file.rewind()?;
            Here::Disk(file)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(mut reader: Reader) -> String {
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_dash_is_standard_input() {
        assert!(matches!(Source::from("-"), Source::Stdin));
        assert_eq!(Source::from("a/b.csv").name(), "a/b.csv");
        assert_eq!(Source::Stdin.name(), "standard input");
    }

    #[test]
    fn looking_at_the_head_takes_nothing_away() {
        let long = "a text that is longer than the head";
        let (_, mut pipe) = Input::open(Source::reader("r", long.as_bytes())).unwrap();
        assert_eq!(pipe.head().unwrap(), &long.as_bytes()[..HEAD]);
        assert_eq!(pipe.head().unwrap(), &long.as_bytes()[..HEAD]);
        let mut twice = pipe.repeatable().unwrap();
        assert_eq!(text(twice.again().unwrap()), long);
        assert_eq!(text(twice.again().unwrap()), long);
        assert_eq!(text(twice.once().unwrap()), long);
    }

    #[test]
    fn a_large_pipe_goes_to_disk() {
        let size = SPOOL_IN_MEMORY as u64 + 1;
        let spooled = spool(Box::new(io::repeat(b'x').take(size))).unwrap();
        let Here::Disk(file) = spooled else {
            panic!("kept in memory");
        };
        assert_eq!(file.metadata().unwrap().len(), size);
    }
}
