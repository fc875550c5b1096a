//! Which database is meant, and what of its address nobody is to see.

use std::fmt;
use std::path::{Path, PathBuf};

use facts_guard::secret;

use crate::connection::Connection;
use crate::driver::{self, Driver};
use crate::error::SqlError;

/// A database, by its address. Shown without what may be secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Database {
    pub(crate) kind: Kind,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file of DuckDB; none: no tables of its own, for queries over files.
    DuckDb(Option<PathBuf>),
    /// A file of SQLite.
    Sqlite(PathBuf),
    /// A server.
    Postgres,
    /// Whatever a driver of this name reaches, or a profile says.
    Other,
}

impl Database {
    /// The database that a text names.
    pub fn parse(text: &str) -> Result<Self, SqlError> {
        let text = text.trim();
        let database = |kind| Self {
            kind,
            text: text.to_owned(),
        };
        let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
        let kind = match scheme.to_ascii_lowercase().as_str() {
            "duckdb" => Kind::DuckDb(file(rest)),
            "sqlite" => match file(rest) {
                Some(file) => Kind::Sqlite(file),
                None => return Err(database(Kind::Other).bad("it names no file")),
            },
            "postgresql" | "postgres" if rest.starts_with("//") => Kind::Postgres,
            "postgresql" | "postgres" => {
                return Err(database(Kind::Other).bad("two slashes follow the colon"));
            }
            // One letter is a drive of Windows.
            name if name.len() > 1 && name.chars().all(is_of_a_name) => Kind::Other,
            _ => return Err(database(Kind::Other).bad("it does not say of which kind it is")),
        };
        Ok(database(kind))
    }

    /// The same, with a relative path of a file read from this folder.
    #[must_use]
    pub fn beside(self, folder: &Path) -> Self {
        let moved = |scheme: &str, file: &Path| format!("{scheme}:{}", folder.join(file).display());
        let text = match &self.kind {
            Kind::DuckDb(Some(file)) if file.is_relative() => moved("duckdb", file),
            Kind::Sqlite(file) if file.is_relative() => moved("sqlite", file),
            _ => return self,
        };
        Self::parse(&text).unwrap_or(self)
    }

    /// As it was written, secrets included.
    pub fn as_written(&self) -> &str {
        &self.text
    }

    /// Loads the driver and connects. The database is only read.
    pub fn connect(&self) -> Result<Connection, SqlError> {
        if let Kind::DuckDb(Some(file)) | Kind::Sqlite(file) = &self.kind
            && !file.is_file()
        {
            let file = file.display().to_string();
            return Err(SqlError::NoFile(secret::hidden(&file)));
        }
        let driver = match &self.kind {
            Kind::DuckDb(_) => driver::DUCKDB,
            Kind::Sqlite(_) => driver::SQLITE,
            Kind::Postgres => driver::POSTGRES,
            Kind::Other => return Connection::by_name(self),
        };
        Connection::open(self, &driver)
    }

    fn bad(&self, why: &str) -> SqlError {
        SqlError::BadDatabase {
            text: self.to_string(),
            why: why.to_owned(),
        }
    }

    pub(crate) fn no_driver(&self, driver: &Driver, found: String) -> SqlError {
        SqlError::NoDriver {
            database: self.to_string(),
            driver: driver.file(),
            found,
            remedy: driver.remedy.to_owned(),
        }
    }

    pub(crate) fn no_such_driver(&self) -> SqlError {
        let name = self.text.split(':').next().unwrap_or_default();
        SqlError::NoDriver {
            database: self.to_string(),
            driver: name.to_owned(),
            found: "none of that name was found".to_owned(),
            remedy: format!(
                "ADBC looks for a manifest {name}.toml, as installers of drivers write it, and for the library among the system's"
            ),
        }
    }

    /// An error of the driver, on one line and without the secrets of the address and of what was asked: some
    /// repeat what they could not read.
    pub(crate) fn refused(
        &self,
        what: &'static str,
        said: &adbc_core::error::Error,
        asked: &[String],
    ) -> SqlError {
        let mut why = said.message.as_str();
        if !asked.is_empty() {
            // An excerpt may begin or end in the middle of a secret.
            why = without_excerpt(why);
        }
        let mut secrets = self.secrets();
        secrets.extend_from_slice(asked);
        let meant: Vec<String> = secrets.iter().map(|secret| decoded(secret)).collect();
        secrets.extend(meant);
        let why = secret::hidden(&secret::without(why, &secrets));
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        SqlError::Refused {
            database: self.to_string(),
            what,
            why,
        }
    }

    /// Parts of the address that nobody is to see, as they are written.
    fn secrets(&self) -> Vec<String> {
        if matches!(self.kind, Kind::DuckDb(_) | Kind::Sqlite(_)) {
            let secrets = secret::secrets(&self.text).into_iter();
            return secrets.map(str::to_owned).collect();
        }
        let mut secrets = vec![self.text.clone()];
        let (user, _, parameters) = parts(&self.text);
        secrets.extend(user.and_then(|user| Some(user.split_once(':')?.1.to_owned())));
        for parameter in parameters {
            if let Some((name, value)) = parameter.split_once('=')
                && secret::is_name(name)
            {
                secrets.push(value.to_owned());
            }
        }
        secrets
    }
}

impl fmt::Display for Database {
    /// Without password and parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::DuckDb(_) | Kind::Sqlite(_) => f.write_str(&secret::hidden(&self.text)),
            Kind::Postgres | Kind::Other => {
                let (user, place, _) = parts(&self.text);
                let place = place_shown(place);
                let scheme = self.text.split_once("//").map_or("", |(scheme, _)| scheme);
                match (
                    scheme,
                    user.map(|user| user.split(':').next().unwrap_or(user)),
                ) {
                    ("", _) => f.write_str(&place),
                    (scheme, Some(user)) => write!(f, "{scheme}//{user}@{place}"),
                    (scheme, None) => write!(f, "{scheme}//{place}"),
                }
            }
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Database({self})")
    }
}

/// Who asks, where, and with which parameters. A password may hold anything, if somebody forgot to escape it:
/// it goes up to the last `@`.
fn parts(text: &str) -> (Option<&str>, &str, impl Iterator<Item = &str>) {
    let rest = text.split_once("//").map_or(text, |(_, rest)| rest);
    let (user, rest) = match rest.rsplit_once('@') {
        Some((user, rest)) => (Some(user), rest),
        None => (None, rest),
    };
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    (user, place, parameters.split(['&', ';']))
}

/// A place as it is shown: a port that is no number may be something else that came there by mistake.
fn place_shown(place: &str) -> String {
    let (host, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    match host.rsplit_once(':') {
        Some((host, port)) if !port.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{host}:***{path}")
        }
        _ => place.to_owned(),
    }
}

fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-+.".contains(c)
}

/// A path, also one written with two slashes as in a URL; none if there is none.
fn file(rest: &str) -> Option<PathBuf> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    let is_memory = path.is_empty() || path == ":memory:";
    (!is_memory).then(|| PathBuf::from(path))
}

/// What a driver says, without the lines of a statement that it quotes: `LINE 1: SELECT …`.
fn without_excerpt(said: &str) -> &str {
    let quotes = |(at, word): (usize, &str)| {
        let number = said[at + word.len()..].split(':').next();
        let is_line = number.is_some_and(|number| number.parse::<u32>().is_ok());
        is_line.then_some(at)
    };
    let excerpt = said.match_indices("LINE ").find_map(quotes);
    excerpt.map_or(said, |at| &said[..at])
}

/// A text of a URL with its escapes undone.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte =
            escaped.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        decoded.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use adbc_core::error::{Error, Status};

    use super::*;

    fn kind(text: &str) -> Kind {
        Database::parse(text).unwrap().kind
    }

    #[test]
    fn databases_are_told_by_what_they_begin_with() {
        assert_eq!(kind("duckdb:"), Kind::DuckDb(None));
        assert_eq!(kind("duckdb::memory:"), Kind::DuckDb(None));
        assert_eq!(kind("duckdb:a b.db"), Kind::DuckDb(Some("a b.db".into())));
        assert_eq!(
            kind("sqlite:///data/x.db"),
            Kind::Sqlite("/data/x.db".into())
        );
        assert_eq!(kind("postgres://h/d"), Kind::Postgres);
        assert_eq!(kind("snowflake://u@account/d"), Kind::Other);
        assert_eq!(kind("profile://lake"), Kind::Other);
        for (text, why) in [
            ("sqlite:", "names no file"),
            ("people.db", "of which kind"),
            ("C:\\people.db", "of which kind"),
            ("postgresql:people", "two slashes"),
        ] {
            let error = Database::parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn files_lie_beside_their_configuration() {
        let beside = |text| {
            Database::parse(text)
                .unwrap()
                .beside(Path::new("/conf"))
                .text
        };
        assert_eq!(beside("sqlite:people.db"), "sqlite:/conf/people.db");
        assert_eq!(beside("duckdb:/lake.db"), "duckdb:/lake.db");
        assert_eq!(beside("duckdb:"), "duckdb:");
        assert_eq!(beside("postgres://h/d"), "postgres://h/d");
    }

    #[test]
    fn secrets_are_never_shown() {
        let text = "postgresql://me:s%40cret@host:5432/people?sslmode=require&sslpassword=hush";
        let database = Database::parse(text).unwrap();
        assert_eq!(database.to_string(), "postgresql://me@host:5432/people");
        assert_eq!(
            format!("{database:?}"),
            "Database(postgresql://me@host:5432/people)"
        );
        for (text, shown) in [
            (
                "postgresql://me:pa/s@s?x@host/people",
                "postgresql://me@host/people",
            ),
            (
                "postgresql://host:hush/people",
                "postgresql://host:***/people",
            ),
            (
                "snowflake://me:hush@account/d?token=hush",
                "snowflake://me@account/d",
            ),
        ] {
            assert_eq!(Database::parse(text).unwrap().to_string(), shown);
        }
        let message =
            format!("cannot read {text}: s@cret, s%40cret and hush\nwith sslmode=require");
        let error = Error::with_message_and_status(message, Status::IO);
        let told = database.refused("connecting", &error, &[]).to_string();
        assert_eq!(
            told,
            "postgresql://me@host:5432/people: connecting: cannot read ***: ***, *** and *** with sslmode=require"
        );
    }

    #[test]
    fn secrets_of_a_query_are_never_shown() {
        let database = Database::parse("duckdb:").unwrap();
        let told = |message: &str| {
            let error = Error::with_message_and_status(message, Status::IO);
            let asked = ["sig=hu%20sh".to_owned(), "open sesame".to_owned()];
            database
                .refused("the query fails", &error, &asked)
                .to_string()
        };
        assert_eq!(
            told("no GET on 'https://host/a?sig=hu%20sh': hu sh, open sesame\nor password=\nx"),
            "duckdb:: the query fails: no GET on 'https://host/a?***': hu sh, *** or password= ***"
        );
        assert_eq!(
            told("Parser Error: syntax error at FRM\n\nLINE 1: ...n sesame') FRM\n    ^"),
            "duckdb:: the query fails: Parser Error: syntax error at FRM"
        );
        let lake = Database::parse("duckdb:md:lake?motherduck_token=hush").unwrap();
        assert_eq!(lake.to_string(), "duckdb:md:lake?motherduck_token=***");
        let error = lake.connect().err().unwrap().to_string();
        assert!(!error.contains("hush"), "{error}");
    }
}
