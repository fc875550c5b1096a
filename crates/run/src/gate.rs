//! The gate on files: where the baseline of a configuration lies, and a report judged beside it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use facts_check::CheckError;
pub use facts_check::{Baseline, Gate, Place};
use facts_report::{Record, Report};

use crate::config::Config;
use crate::failure::Failure;
use crate::files::Files;
use crate::saved;

/// Where a baseline is kept: its list, and the audit that it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineFile {
    /// The list of what was accepted.
    pub path: PathBuf,
    /// The audit.
    pub audit: PathBuf,
}

/// A baseline, and the audit that it is from.
pub type Before = (Baseline, Record);

impl BaselineFile {
    /// Where the baseline of a configuration lies: where it says, or beside its file.
    pub fn of(config: &Config, file: Option<&Path>) -> Self {
        Self::at(config.check.baseline.clone().unwrap_or_else(|| {
            let folder = file.and_then(Path::parent).unwrap_or(Path::new(""));
            folder.join("facts.baseline.json")
        }))
    }

    /// A baseline that lies at a path, with its audit beside it.
    pub fn at(path: PathBuf) -> Self {
        let name = path
            .file_name()
            .and_then(OsStr::to_str)
            .unwrap_or("facts.baseline");
        let stem = name.strip_suffix(".json").unwrap_or(name);
        let audit = path.with_file_name(format!("{stem}.{}", saved::AUDIT_FILE));
        Self { path, audit }
    }

    /// The bytes of both files; none if there is no list.
    pub fn bytes(&self) -> Result<Option<[Vec<u8>; 2]>, Failure> {
        let path = self.path.display();
        let list = match facts_guard::read_file(&self.path, facts_guard::LARGEST_LIST) {
            Ok(list) => list,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::data(format!("{path}: {error}"))),
        };
        // A file that is something else is named before one that belongs to it.
        self.list(&list)?;
        let audit = facts_guard::read_file(&self.audit, saved::largest()).map_err(|error| {
            Failure::data(format!(
                "{}: {error}; it belongs to {path}: bring it back, or write both with --update-baseline",
                self.audit.display()
            ))
        })?;
        Ok(Some([list, audit]))
    }

    /// Reads the baseline; none if there is none.
    pub fn load(&self) -> Result<Option<Before>, Failure> {
        self.bytes()?.map(|bytes| self.parse(bytes)).transpose()
    }

    /// The baseline that two files hold.
    pub fn parse(&self, [list, audit]: [Vec<u8>; 2]) -> Result<Before, Failure> {
        let baseline = self.list(&list)?;
        let (path, name) = (self.path.display(), self.audit.display());
        if saved::sha256(&audit) != baseline.audit_sha256 {
            return Err(Failure::data(format!(
                "{name} is not the audit that {path} was written with: bring both back, or write both with --update-baseline"
            )));
        }
        let record = saved::unpacked(&name.to_string(), audit)?;
        Ok((baseline, record))
    }

    fn list(&self, bytes: &[u8]) -> Result<Baseline, Failure> {
        std::str::from_utf8(bytes)
            .map_err(|error| CheckError::NotABaseline(error.to_string()))
            .and_then(Baseline::parse)
            .map_err(|error| Failure::data(format!("{}: {error}", self.path.display())))
    }

    /// Writes a baseline that accepts what a gate finds fault with.
    pub fn update(
        &self,
        record: &Record,
        gate: &Gate,
        written: &mut Files,
    ) -> Result<Baseline, Failure> {
        let packed = saved::packed(record)?;
        let baseline = Baseline::new(record, saved::sha256(&packed), &gate.rules);
        written.add(self.audit.clone(), &packed)?;
        self.write(&baseline, written)?;
        Ok(baseline)
    }

    /// Writes the list of a baseline whose audit stays the same.
    pub fn write(&self, baseline: &Baseline, written: &mut Files) -> Result<(), Failure> {
        let text = baseline.text();
        let text = text.map_err(|error| Failure::output(self.path.display(), error))?;
        written.add(self.path.clone(), text.as_bytes())
    }
}

/// Judges a report by the rules of a configuration, beside a baseline if there is one. Waivers are judged
/// by a day, such as `2026-01-31`.
pub fn judge(
    report: &Report<'_>,
    config: &Config,
    before: Option<&Before>,
    today: &str,
) -> Result<Gate, Failure> {
    let today = today.parse().map_err(|why: String| Failure::usage(why))?;
    let before = before.map(|(baseline, record)| (baseline, record));
    facts_check::check(report, &config.check, before, today).map_err(|error| match error {
        CheckError::Rule { .. } | CheckError::SameName(_) => Failure::usage(error),
        CheckError::NotABaseline(_) | CheckError::BaselineVersion { .. } => Failure::data(error),
    })
}

/// A form of what a gate says, by its name.
pub fn form(gate: &Gate, place: &Place, name: &str) -> Result<String, Failure> {
    let form = facts_check::FORMS.iter().find(|form| form.name == name);
    let form = form.ok_or_else(|| Failure::usage(format!("no form is called {name}")))?;
    (form.write)(gate, place).map_err(|error| Failure::output(name, error))
}
