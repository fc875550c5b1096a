//! Finding drivers: native libraries that are loaded when a database is opened.
//!
//! A driver is looked for
//!
//! 1. where the environment variable `FACTS_ADBC_DRIVERS` points: a folder, or the library itself;
//! 2. in the packages of the active Python, where `pip install` puts it;
//! 3. where ADBC looks: for a manifest of that name, and in the system's folders for libraries.

use std::path::PathBuf;

use adbc_core::options::AdbcVersion;
use adbc_core::{LOAD_FLAG_SEARCH_ENV, LOAD_FLAG_SEARCH_SYSTEM, LOAD_FLAG_SEARCH_USER, LoadFlags};
use adbc_driver_manager::ManagedDriver;
use facts_guard::library::Library;

use crate::database::Database;
use crate::error::SqlError;

/// Where a user can say where drivers are.
pub(crate) const VARIABLE: &str = "FACTS_ADBC_DRIVERS";

/// Where ADBC itself looks for drivers; never in the working folder, which is not a place to load code from.
pub(crate) const LOOK: LoadFlags =
    LOAD_FLAG_SEARCH_ENV | LOAD_FLAG_SEARCH_USER | LOAD_FLAG_SEARCH_SYSTEM;

/// The version of the interface that is spoken: every driver speaks it.
pub(crate) const VERSION: AdbcVersion = AdbcVersion::V100;

/// A driver that is known.
pub(crate) struct Driver {
    /// What its library is called, but for what the system puts around it.
    name: &'static str,
    /// What it is started by.
    start: &'static str,
    /// The Python package that brings it.
    package: &'static str,
    /// How to get it.
    pub(crate) remedy: &'static str,
}

pub(crate) const SQLITE: Driver = Driver {
    name: "adbc_driver_sqlite",
    start: "AdbcDriverSqliteInit",
    package: "adbc_driver_sqlite",
    remedy: "install it with: python3 -m pip install adbc-driver-sqlite",
};

pub(crate) const POSTGRES: Driver = Driver {
    name: "adbc_driver_postgresql",
    start: "AdbcDriverPostgresqlInit",
    package: "adbc_driver_postgresql",
    remedy: "install it with: python3 -m pip install adbc-driver-postgresql",
};

pub(crate) const DUCKDB: Driver = Driver {
    name: "duckdb",
    start: "duckdb_adbc_init",
    package: "duckdb",
    remedy: "it is DuckDB's own C library (a download called libduckdb, and the npm package @duckdb/node-bindings-…): put it into a folder, and name that in FACTS_ADBC_DRIVERS",
};

impl Driver {
    /// What its library is called on this system.
    pub(crate) fn file(&self) -> String {
        let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        format!("{prefix}{}{suffix}", self.name)
    }

    /// Loads it from the first place where it is.
    pub(crate) fn load(&self, database: &Database) -> Result<ManagedDriver, SqlError> {
        let file = self.file();
        let is_it = |name: &str| name == file;
        let library = Library {
            variables: &[VARIABLE],
            package: self.package,
            under: &["", "lib"],
            is_one: &is_it,
        };
        let said = library.said();
        let named = said.iter().flat_map(|(_, path)| library.at(path));
        let mut refused = Vec::new();
        let packaged = library
            .places()
            .into_iter()
            .flat_map(|place| library.of(&place));
        for file in named.chain(packaged) {
            match self.load_from(&file) {
                Ok(driver) => return Ok(driver),
                Err(why) => refused.push(format!("{} cannot be used ({why})", file.display())),
            }
        }
        let start = Some(self.start.as_bytes());
        let by_name = ManagedDriver::load_from_name(self.name, start, VERSION, LOOK, None);
        by_name.map_err(|_| {
            // The same file may be found in two ways.
            refused.dedup();
            let found = match (&said, refused.is_empty()) {
                (_, false) => refused.join("; "),
                (Some((variable, path)), true) => {
                    format!("it is neither where {variable} points, {}, nor in Python's packages, nor among the system's libraries", path.display())
                }
                (None, true) => {
                    "none was found in Python's packages or among the system's libraries".to_owned()
                }
            };
            database.no_driver(self, found)
        })
    }

    fn load_from(&self, file: &PathBuf) -> Result<ManagedDriver, String> {
        let start = Some(self.start.as_bytes());
        let loaded = ManagedDriver::load_dynamic_from_filename(file, start, VERSION);
        loaded.map_err(|error| error.message)
    }
}
