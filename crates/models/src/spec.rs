//! Naming a model by one string: `onnx:model.onnx`, `exec:python predict.py`, `model.txt`, `train`.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::str::FromStr;

use facts_guard::secret;
use serde::{Deserialize, Deserializer};
use twox_hash::XxHash3_128;

use crate::error::OpenError;
use crate::exec;
use crate::open::{FORMATS, Format, OpenOptions, Opened};

/// The word for a model that is fitted on the table that is audited.
const TRAIN: &str = "train";

/// Which model is audited, as one string says it. It is shown without what may be secret in a command or an address;
/// [`as_written`](Self::as_written) is the same string again.
#[derive(Clone, PartialEq, Eq)]
pub enum ModelSpec {
    /// `train`: one that is fitted on the table.
    Train,
    /// `onnx:model.onnx`: one of a format that is named.
    Format {
        /// The format.
        format: &'static Format,
        /// What comes after the colon.
        rest: String,
    },
    /// `model.txt`: a file whose format is recognised when it is opened.
    File(String),
}

impl ModelSpec {
    /// Whether the model is to be fitted on the table.
    pub fn is_train(&self) -> bool {
        *self == Self::Train
    }

    /// Whether the model lies in a file: to know what it reads is to read the file.
    pub fn is_file(&self) -> bool {
        match self {
            Self::Train => false,
            Self::Format { format, .. } => format.recognises.is_some(),
            Self::File(_) => true,
        }
    }

    /// The file that the model lies in, if it lies in one.
    pub fn file(&self) -> Option<&Path> {
        let file = self.rest().filter(|_| self.is_file());
        file.map(Path::new)
    }

    /// What may name a file: all of it, or what comes after the format.
    fn rest(&self) -> Option<&str> {
        match self {
            Self::Train => None,
            Self::Format { rest, .. } => Some(rest),
            Self::File(path) => Some(path),
        }
    }

    /// The same model as named from within a folder: what names a file in that folder becomes the
    /// path to it.
    pub fn beside(self, folder: &Path) -> Self {
        let path = self.rest().map(|rest| folder.join(rest));
        let Some(path) = path.filter(|path| path.is_file()) else {
            return self;
        };
        let path = path.display().to_string();
        match self {
            Self::Format { format, .. } => Self::Format { format, rest: path },
            Self::Train | Self::File(_) => Self::File(path),
        }
    }

    /// As it was written, secrets included.
    pub fn as_written(&self) -> String {
        match self {
            Self::Train => TRAIN.to_owned(),
            Self::Format { format, rest } => format!("{}:{rest}", format.prefix),
            Self::File(path) => path.clone(),
        }
    }

    /// Opens the model. One that is to be fitted cannot be opened.
    pub fn open(&self, options: &OpenOptions) -> Result<Opened, OpenError> {
        match self {
            Self::Train => Err(OpenError::Unavailable(
                "a model that is to be fitted on the table cannot be opened".to_owned(),
            )),
            Self::Format { format, rest } => (format.open)(rest, options),
            Self::File(path) => (recognised(path)?.open)(path, options),
        }
    }

    /// A text that stands for the model: how it is opened, and a hash of each file that it names
    /// (the model's own, or a program's script and what the script is given).
    ///
    /// What it cannot see, the user must: a program's imported modules, what is served behind an
    /// address, and what is not shown of the string. When those change, another file is needed for the answers.
    pub fn fingerprint(&self, options: &OpenOptions) -> Result<String, OpenError> {
        let spec = self.as_written();
        let rest = self.rest().unwrap_or_default();
        let words = exec::words(rest).unwrap_or_default();
        let mut parts = vec![self.to_string().trim().to_owned()];
        if let Some(threshold) = options.threshold {
            parts.push(format!("threshold {threshold:?}"));
        }
        if !options.columns.is_empty() {
            parts.push(format!("columns {:?}", options.columns));
        }
        if !options.order.is_empty() {
            parts.push(format!("order {:?}", options.order));
        }
        if let Some(output) = &options.output {
            parts.push(format!("output {output:?}"));
        }
        let mut hashed = HashSet::new();
        for name in [&spec, rest].map(str::to_owned).into_iter().chain(words) {
            let path = Path::new(&name);
            if path.is_file() && hashed.insert(name.clone()) {
                let hash = hash_of(path).map_err(|error| OpenError::file(path, error))?;
                let name = secret::hidden_in_urls(&name);
                parts.push(format!("{name} {hash:032x}"));
            }
        }
        Ok(parts.join("; "))
    }
}

/// The hash of a file's bytes, which need not fit into memory.
fn hash_of(path: &Path) -> std::io::Result<u128> {
    let mut file = BufReader::new(File::open(path)?);
    let mut hasher = XxHash3_128::new();
    loop {
        let bytes = file.fill_buf()?;
        if bytes.is_empty() {
            return Ok(hasher.finish_128());
        }
        hasher.write(bytes);
        let read = bytes.len();
        file.consume(read);
    }
}

/// Opens a model from its string.
pub fn open(spec: &str, options: &OpenOptions) -> Result<Opened, OpenError> {
    spec.parse::<ModelSpec>()?.open(options)
}

/// The one format that recognises a file.
fn recognised(path: &str) -> Result<&'static Format, OpenError> {
    let file = Path::new(path);
    let start = read_start(file).map_err(|error| OpenError::file(file, error))?;
    let mut fitting = (FORMATS.iter()).filter(|format| format.fits(file, &start));
    match (fitting.next(), fitting.next()) {
        (Some(format), None) => Ok(format),
        _ => Err(unknown(path)),
    }
}

/// The first bytes of a file.
fn read_start(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut start = Vec::new();
    std::fs::File::open(path)?
        .take(4096)
        .read_to_end(&mut start)?;
    Ok(start)
}

/// Says what can be written instead.
fn unknown(spec: &str) -> OpenError {
    let formats = FORMATS.iter().map(Format::example);
    OpenError::UnknownFormat {
        spec: secret::hidden(spec),
        usages: formats.chain([TRAIN.to_owned()]).collect(),
    }
}

impl FromStr for ModelSpec {
    type Err = OpenError;

    /// A word before a colon must be a format; a single letter is a drive, as in `C:\model.onnx`.
    fn from_str(spec: &str) -> Result<Self, OpenError> {
        let is_word = |text: &str| {
            text.len() > 1 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        };
        match spec.split_once(':') {
            _ if spec.trim().is_empty() => Err(unknown(spec)),
            _ if spec == TRAIN => Ok(Self::Train),
            Some((prefix, rest)) if is_word(prefix) => {
                let format = FORMATS.iter().find(|format| format.prefix == prefix);
                let format = format.ok_or_else(|| unknown(spec))?;
                let rest = rest.to_owned();
                Ok(Self::Format { format, rest })
            }
            _ => Ok(Self::File(spec.to_owned())),
        }
    }
}

/// Without what may be secret.
impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format { format, rest } if [exec::FORMAT, exec::CSV_FORMAT].contains(format) => {
                write!(f, "{}:{}", format.prefix, exec::shown(rest))
            }
            other => f.write_str(&secret::hidden_in_urls(&other.as_written())),
        }
    }
}

impl fmt::Debug for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelSpec({self})")
    }
}

impl<'de> Deserialize<'de> for ModelSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spec = String::deserialize(deserializer)?;
        spec.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The format that is named, and the rest.
    fn parts(spec: &str) -> (Option<&'static str>, String) {
        match spec.parse().unwrap() {
            ModelSpec::Train => panic!("{spec} is no model to train"),
            ModelSpec::Format { format, rest } => (Some(format.prefix), rest),
            ModelSpec::File(path) => (None, path),
        }
    }

    #[test]
    fn a_format_is_named_before_the_first_colon() {
        for (spec, format, rest) in [
            ("linear:model.json", Some("linear"), "model.json"),
            (
                "lightgbm:C:\\m\\model.txt",
                Some("lightgbm"),
                "C:\\m\\model.txt",
            ),
            ("C:\\m\\model.txt", None, "C:\\m\\model.txt"),
            ("./run:3/model.json", None, "./run:3/model.json"),
            ("model.json", None, "model.json"),
            ("./train", None, "./train"),
            (
                "http://host:80/invocations",
                Some("http"),
                "//host:80/invocations",
            ),
            (
                "exec:python a.py --x=y:z",
                Some("exec"),
                "python a.py --x=y:z",
            ),
        ] {
            assert_eq!(parts(spec), (format, rest.to_owned()));
        }
        assert!("train".parse::<ModelSpec>().unwrap().is_train());
    }

    #[test]
    fn a_wrong_string_is_answered_with_what_can_be_written() {
        for wrong in ["", " ", "lihgtgbm:model.txt", "keras:model.h5"] {
            let message = wrong.parse::<ModelSpec>().unwrap_err().to_string();
            assert!(message.contains(&format!("`{wrong}` is no model")));
            for format in FORMATS {
                assert!(message.contains(&format.example()), "{message}");
            }
            assert!(message.ends_with(", train"), "{message}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        for (spec, shown) in [
            (
                "exec:python m.py --token=hush  'a b'",
                "exec:python m.py --token=*** 'a b'",
            ),
            (
                "exec-csv:env KEY='hu sh' m --password hush -p 8",
                "exec-csv:env KEY=*** m --password *** -p 8",
            ),
            ("exec:m --token 'hush", "exec:m --token '***"),
            (
                "http://me:hush@h/invocations?sig=hush",
                "http://***@h/invocations?***",
            ),
            ("onnx:s3://me:hush@h/m.onnx", "onnx:s3://***@h/m.onnx"),
        ] {
            let read: ModelSpec = spec.parse().unwrap();
            assert_eq!(read.to_string(), shown);
            assert_eq!(format!("{read:?}"), format!("ModelSpec({shown})"));
            assert_eq!(read.as_written(), spec);
            let kept = read.fingerprint(&OpenOptions::default()).unwrap();
            assert!(!kept.contains("hush"), "{kept}");
        }
        for spec in [
            "exec:python predict.py model.pkl",
            "exec:python  a.py -p 8 --tokenizer=bert --keyword x",
            "lake/key=3/model.json",
            "http://h:80/invocations",
        ] {
            assert_eq!(spec.parse::<ModelSpec>().unwrap().to_string(), spec);
        }
        let error = "exc:m --token=hush".parse::<ModelSpec>().unwrap_err();
        assert!(!error.to_string().contains("hush"), "{error}");
    }

    #[test]
    fn files_in_a_folder_are_found_from_there() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("model.json"), "{}").unwrap();
        let beside = |spec: &str| {
            let spec: ModelSpec = spec.parse().unwrap();
            spec.beside(folder.path()).as_written()
        };
        let path = folder.path().join("model.json").display().to_string();
        assert_eq!(beside("model.json"), path);
        assert_eq!(beside("linear:model.json"), format!("linear:{path}"));
        for other in ["train", "other.json", "exec:python model.json"] {
            assert_eq!(beside(other), other);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            prefix in prop::sample::select(
                FORMATS.iter().map(|f| f.prefix).chain(["", "C", "./a"]).collect::<Vec<_>>()
            ),
            rest in "[ -~µ]{1,20}",
        ) {
            let spec = if prefix.is_empty() { rest } else { format!("{prefix}:{rest}") };
            if let Ok(read) = spec.parse::<ModelSpec>() {
                prop_assert_eq!(read.as_written(), spec.clone());
                let json = serde_json::to_string(&spec).unwrap();
                prop_assert_eq!(serde_json::from_str::<ModelSpec>(&json).unwrap(), read);
            } else {
                prop_assert!(prefix.is_empty(), "{} names a format or a path", spec);
            }
        }
    }
}
