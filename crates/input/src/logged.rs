//! Tables of which a log says which files count: Delta Lake, Iceberg, Hudi. Files that were replaced or deleted
//! still lie in their folders, so that all files together are no table.

use std::fmt;
use std::path::Path;

/// Who keeps such a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// Delta Lake, in `_delta_log`.
    DeltaLake,
    /// Iceberg, in files called `….metadata.json` in `metadata`.
    Iceberg,
    /// Hudi, in `.hoodie`.
    Hudi,
}

/// Folders that are logs whatever is in them.
pub(crate) const FOLDERS: [(&str, Keeper); 2] =
    [("_delta_log", Keeper::DeltaLake), (".hoodie", Keeper::Hudi)];

impl Keeper {
    /// Whose log lies in a folder of a disk, if any does.
    pub(crate) fn at(folder: &Path) -> Option<Self> {
        let known = FOLDERS.iter();
        let mut known = known.filter(|(name, _)| folder.join(name).is_dir());
        if let Some(&(_, keeper)) = known.next() {
            return Some(keeper);
        }
        let entries = std::fs::read_dir(folder.join("metadata")).ok()?;
        let mut names = entries.flatten().map(|entry| entry.file_name());
        let is_there = names.any(|name| is_of_iceberg(&name.to_string_lossy()));
        is_there.then_some(Self::Iceberg)
    }

    /// Whose log a file of a store belongs to, and the folder that the log lies in.
    #[cfg(feature = "object-store")]
    pub(crate) fn of(key: &str) -> Option<(Self, &str)> {
        let (folders, name) = key.rsplit_once('/')?;
        let mut start = 0;
        for folder in folders.split('/') {
            if let Some(&(_, keeper)) = FOLDERS.iter().find(|(known, _)| *known == folder) {
                return Some((keeper, key[..start].trim_end_matches('/')));
            }
            start += folder.len() + 1;
        }
        let table = folders.strip_suffix("metadata")?;
        let is_whole = table.is_empty() || table.ends_with('/');
        (is_whole && is_of_iceberg(name)).then_some((Self::Iceberg, table.trim_end_matches('/')))
    }

    /// What reads such a table.
    fn readers(self) -> &'static str {
        match self {
            Self::DeltaLake => {
                "DuckDB reads it (`sql:FROM delta_scan('…')`), and so does Spark, from Python"
            }
            Self::Iceberg => {
                "DuckDB reads it (`sql:FROM iceberg_scan('…')`), and so does Spark, from Python"
            }
            Self::Hudi => "Spark reads it, from Python",
        }
    }
}

impl fmt::Display for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DeltaLake => "Delta Lake",
            Self::Iceberg => "Iceberg",
            Self::Hudi => "Hudi",
        })
    }
}

/// What to do about a table with such a log.
pub(crate) fn advice(keeper: Keeper, folder: &str) -> String {
    format!(
        "{}; if all its files are meant, name them by a pattern: '{}/**/*.parquet'",
        keeper.readers(),
        folder.trim_end_matches('/')
    )
}

/// The folder of which a folder is a part by its name: `people` of `people/year=2018/month=1`.
pub(crate) fn table_of(folder: &Path) -> &Path {
    let is_part = |folder: &&Path| {
        let name = folder.file_name().unwrap_or_default();
        name.to_string_lossy().contains('=')
    };
    folder
        .ancestors()
        .find(|one| !is_part(one))
        .unwrap_or(folder)
}

fn is_of_iceberg(file: &str) -> bool {
    file.contains(".metadata.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_table_are_told_by_their_names() {
        for (folder, table) in [
            ("people/year=2018/month=1", "people"),
            ("people", "people"),
            ("year=2018", ""),
            ("x=1/people", "x=1/people"),
        ] {
            assert_eq!(table_of(Path::new(folder)), Path::new(table));
        }
    }

    #[cfg(feature = "object-store")]
    #[test]
    fn logs_are_known_by_their_keys() {
        let delta = |folder| Some((Keeper::DeltaLake, folder));
        assert_eq!(Keeper::of("_delta_log/0.json"), delta(""));
        assert_eq!(Keeper::of("a/b/_delta_log/x/0.json"), delta("a/b"));
        assert_eq!(Keeper::of("a/.hoodie/x"), Some((Keeper::Hudi, "a")));
        let iceberg = Some((Keeper::Iceberg, "a"));
        assert_eq!(Keeper::of("a/metadata/v1.metadata.json"), iceberg);
        assert_eq!(Keeper::of("a/metadata/v1.gz.metadata.json"), iceberg);
        for none in [
            "a/_delta_log",
            "a/metadata.json",
            "a/metadata/snap-1.avro",
            "a/my-metadata/v1.metadata.json",
        ] {
            assert_eq!(Keeper::of(none), None, "{none}");
        }
    }
}
