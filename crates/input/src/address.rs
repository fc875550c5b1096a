//! Addresses of objects: `s3://bucket/people.parquet` in the place of a path.
//!
//! An address may carry secrets: a password in front of the host, the signature
//! of a signed URL. It is shown without them, wherever it is shown.

use std::fmt;
use std::path::Path;

use facts_guard::secret::{self, Url};

use crate::error::InputError;

/// What an address begins with, and which kind of store that is.
const SCHEMES: [(&str, Scheme); 6] = [
    ("s3", Scheme::S3),
    ("s3a", Scheme::S3),
    ("gs", Scheme::Google),
    ("az", Scheme::Azure),
    ("https", Scheme::Http),
    ("http", Scheme::Http),
];

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// Amazon S3, and what speaks as it does.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
    /// Any web server.
    Http,
}

/// Where an object lies, or many of them.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) scheme: Scheme,
    /// The scheme as it was written.
    pub(crate) prefix: String,
    /// `user:password`, in front of the host.
    pub(crate) user: Option<String>,
    /// The bucket, the container, or the host with its port.
    pub(crate) host: String,
    /// What follows the host, without the slash in between.
    pub(crate) key: String,
    /// What follows a question mark, or `#`.
    pub(crate) query: Option<String>,
}

impl Address {
    /// The address that a path is; none if it is a path.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let url = Url::of(path.to_str()?)?;
        let known = |(name, _): &&(&str, Scheme)| url.scheme.eq_ignore_ascii_case(name);
        let &(_, scheme) = SCHEMES.iter().find(known)?;
        Some(Self {
            scheme,
            prefix: url.scheme.to_ascii_lowercase(),
            user: url.user.map(str::to_owned),
            host: url.host.to_owned(),
            key: url.path.strip_prefix('/').unwrap_or(url.path).to_owned(),
            query: url.parameters.map(str::to_owned),
        })
    }

    /// Refuses what no store of this kind can make sense of.
    pub(crate) fn check(&self) -> Result<(), InputError> {
        let bad = |why: &str| {
            Err(InputError::BadAddress {
                address: self.to_string(),
                why: why.to_owned(),
            })
        };
        if self.host.is_empty() {
            return bad("it names no bucket or host");
        }
        if self.scheme != Scheme::Http && (self.user.is_some() || self.query.is_some()) {
            return bad(
                "such an address has no credentials and no parameters in it; credentials are read from the environment (AWS_ACCESS_KEY_ID and so on)",
            );
        }
        if self.prefix == "http" && !self.is_on_this_machine() {
            return bad("http:// is read on this machine only; write https://");
        }
        if self.scheme == Scheme::Http && (self.key.is_empty() || self.key.ends_with('/')) {
            return bad("a web server has no folders; name each file");
        }
        if self.scheme == Scheme::Http && self.key.contains(['*', '[']) {
            return bad("a web server has no list of its files; name each file");
        }
        Ok(())
    }

    fn is_on_this_machine(&self) -> bool {
        is_loopback(&self.host)
    }

    /// Whether it means many objects by a pattern.
    #[cfg(feature = "object-store")]
    pub(crate) fn is_glob(&self) -> bool {
        self.scheme != Scheme::Http && self.key.contains(['*', '?', '['])
    }

    /// The address of another object of the same store.
    #[cfg(feature = "object-store")]
    pub(crate) fn beside(&self, key: &str) -> Self {
        Self {
            key: key.to_owned(),
            ..self.clone()
        }
    }
}

/// Whether a host, with or without a port, is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.split(':').next().unwrap_or(host),
    };
    let address = name.parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|ip| ip.is_loopback())
}

/// Without what may be secret.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}/{}", self.prefix, self.host, self.key)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// Whether a path is the address of an object, such as `s3://bucket/people.parquet`.
pub fn is_address(path: &Path) -> bool {
    Address::of(path).is_some()
}

/// A path as it may be shown: an address without passwords and signatures. What is neither the address of an object
/// nor a path, such as that of a database, is shown without them too.
pub fn shown(path: &Path) -> String {
    if let Some(address) = Address::of(path) {
        return address.to_string();
    }
    let text = path.display().to_string();
    // `host=h password=x` has a blank in it; in a path, `key=3` is a part of a table.
    match text.contains(' ') && !text.contains(['/', '\\']) {
        true => secret::hidden(&text),
        false => secret::hidden_in_urls(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        Address::of(Path::new(text)).unwrap()
    }

    #[test]
    fn paths_are_no_addresses() {
        for path in [
            "people.csv",
            "s3/people.csv",
            "data:1.csv",
            "ftp://a/b",
            "lake/key=3/part-0.parquet",
            "my people.csv",
            "-",
        ] {
            assert!(!is_address(Path::new(path)), "{path}");
            assert_eq!(shown(Path::new(path)), path);
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        for (text, expected) in [
            (
                "https://me:hush@host:1/a/b.csv?sig=hush#hush",
                "https://host:1/a/b.csv",
            ),
            ("https://m@e:hush@host/a.csv", "https://host/a.csv"),
            ("https://host?sig=hush", "https://host/"),
            ("s3://hush:hush@bucket/key", "s3://bucket/key"),
            ("s3://bucket/key?X-Amz-Signature=hush", "s3://bucket/key"),
            ("S3://bucket/key", "s3://bucket/key"),
        ] {
            assert_eq!(shown(Path::new(text)), expected);
            assert_eq!(
                format!("{:?}", address(text)),
                format!("Address({expected})")
            );
        }
    }

    #[test]
    fn what_is_no_address_of_an_object_is_shown_without_secrets_too() {
        for (text, expected) in [
            ("postgresql://me:hush@h/x", "postgresql://***@h/x"),
            ("ftp://me:hush@h/a.csv", "ftp://***@h/a.csv"),
            ("host=h password=hush", "host=h password=***"),
        ] {
            assert_eq!(shown(Path::new(text)), expected);
        }
    }

    #[test]
    fn a_question_mark_may_stand_for_any_character() {
        let some = address("s3://lake/year=?/part-?.parquet");
        assert_eq!(some.key, "year=?/part-?.parquet");
        #[cfg(feature = "object-store")]
        assert!(some.is_glob());
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (text, why) in [
            ("s3:///key", "names no bucket"),
            ("s3://me:hush@bucket/key", "no credentials"),
            ("az://box/key?sig=hush", "no parameters"),
            ("http://example.com/a.csv", "this machine only"),
            ("https://example.com/a/", "no folders"),
            ("https://example.com/*.csv", "no list"),
        ] {
            let error = address(text).check().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            assert!(!error.contains("hush"), "{error}");
        }
        for text in [
            "http://127.0.0.1:80/a",
            "http://[::1]:80/a",
            "http://localhost/a",
            "s3://b",
        ] {
            address(text).check().unwrap();
        }
    }
}
