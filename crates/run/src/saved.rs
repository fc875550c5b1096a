//! Saved audits: `audit.json.gz`, written and read back.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use facts_engine::Options;
use facts_engine::evidence::Tested;
use facts_guard::secret;
use facts_models::ModelSpec;
use facts_report::{EARLIEST_VERSION, FORMS, Record, Report, Showing, VERSION};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use crate::files::{self, Files};
use crate::in_database::is_elsewhere;
use crate::listener::Listener;

/// The file in a folder of results that holds the audit itself.
pub const AUDIT_FILE: &str = "audit.json.gz";

/// Writes the audit and every form of report into a folder.
pub fn whole(
    folder: &Path,
    report: &Report<'_>,
    showing: &Showing,
    files: &mut Files,
    listener: &dyn Listener,
) -> Result<(), Failure> {
    files.add(folder.join(AUDIT_FILE), &packed(report.record)?)?;
    for form in FORMS {
        listener.check()?;
        let path = folder.join(form.file);
        let bytes = (form.write)(report, showing)
            .map_err(|error| Failure::output(path.display(), error))?;
        files.add(path, &bytes)?;
    }
    Ok(())
}

/// Fails if results cannot be written to a folder, or would take the place of something that no audit wrote: of
/// what this audit reads (`inputs`: files, and folders of them), or of files that lie beside no saved audit.
pub fn check_folder(folder: &Path, inputs: &[PathBuf]) -> Result<(), Failure> {
    files::check_folder(folder)?;
    let Ok(real) = folder.canonicalize() else {
        return Ok(());
    };
    let names = || {
        [AUDIT_FILE]
            .into_iter()
            .chain(FORMS.iter().map(|form| form.file))
    };
    for input in inputs.iter().filter_map(|input| input.canonicalize().ok()) {
        if input == real {
            return Err(Failure::usage(format!(
                "{} holds the table, and the results would become parts of it; name another folder as `report.out`",
                folder.display()
            )));
        }
        if let Some(name) = names().find(|name| input == real.join(name)) {
            return Err(Failure::usage(format!(
                "{} is read by this audit, and a result of that name would take its place; name another folder as `report.out`",
                folder.join(name).display()
            )));
        }
    }
    if real.join(AUDIT_FILE).exists() {
        return Ok(());
    }
    match names().find(|name| real.join(name).exists()) {
        Some(name) => Err(Failure::output(
            folder.join(name).display(),
            "it is there, and no audit that it was written with; a result of that name would take its place: name another folder as `report.out`, or move it away",
        )),
        None => Ok(()),
    }
}

/// Fails if a file that is to be written (`--out`) would take the place of one that is read, or become a part of
/// a folder that is: `inputs` are files, folders and patterns.
pub fn check_file(file: &Path, inputs: &[PathBuf]) -> Result<(), Failure> {
    let Ok(real) = files::nearest(file).canonicalize() else {
        return Ok(());
    };
    for input in inputs.iter().filter(|input| !is_elsewhere(input)) {
        if let Ok(folder) = input.canonicalize()
            && folder.is_dir()
            && real.starts_with(&folder)
        {
            return Err(Failure::usage(format!(
                "{} lies in {}, which is read, and would become a part of the table; name a file in another folder as `--out`",
                file.display(),
                input.display()
            )));
        }
        let parts = match input.exists() {
            true => None,
            false => facts_input::parts(std::slice::from_ref(input))?,
        };
        let parts = parts
            .iter()
            .flatten()
            .filter_map(|part| part.location.file());
        let mut read = parts.chain([input.as_path()]);
        if real.is_file() && read.any(|read| read.canonicalize().is_ok_and(|read| read == real)) {
            return Err(Failure::usage(format!(
                "{} is read, and what is written would take its place; name another file as `--out`",
                file.display()
            )));
        }
    }
    Ok(())
}

/// A saved audit as it is written to [`AUDIT_FILE`].
pub fn packed(record: &Record) -> Result<Vec<u8>, Failure> {
    let refuse = |error: std::io::Error| Failure::output(AUDIT_FILE, error);
    let text = serde_json::to_vec(record).map_err(|error| Failure::output(AUDIT_FILE, error))?;
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(&text).map_err(refuse)?;
    packer.finish().map_err(refuse)
}

/// The SHA-256 of a file's bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    crate::hashes::hex(&Sha256::digest(bytes))
}

/// How many bytes a saved audit has at most, packed or not.
pub fn largest() -> u64 {
    Options::new().memory()
}

/// Reads a saved audit: its file, compressed or not, or the folder it lies in. What may be secret in the model's
/// string, which older versions saved as it was written, is hidden.
pub fn load(path: &Path) -> Result<Record, Failure> {
    let mut record = load_as_saved(path)?;
    let model = &mut record.model;
    if let Some(shown) = shown_spec(&model.spec) {
        model.description = secret::hidden(&model.description);
        model.spec = shown;
    }
    Ok(record)
}

/// The same; one that holds what may be secret is refused.
pub(crate) fn load_without_secrets(path: &Path) -> Result<Record, Failure> {
    let record = load_as_saved(path)?;
    refuse_secrets(&path.display().to_string(), &record)?;
    Ok(record)
}

/// Refuses to hand on an audit that holds what may be secret.
pub(crate) fn refuse_secrets(name: &str, record: &Record) -> Result<(), Failure> {
    match shown_spec(&record.model.spec) {
        None => Ok(()),
        Some(_) => Err(Failure::data(format!(
            "{name} holds what may be a secret in the model's string, as older versions saved it, and so would the pack; make the audit again"
        ))),
    }
}

/// The string of a model without what may be secret, if there is something.
fn shown_spec(spec: &str) -> Option<String> {
    let shown = spec.parse::<ModelSpec>().ok()?.to_string();
    (shown != spec).then_some(shown)
}

fn load_as_saved(path: &Path) -> Result<Record, Failure> {
    let file = if path.is_dir() {
        path.join(AUDIT_FILE)
    } else {
        PathBuf::from(path)
    };
    let name = file.display();
    let bytes = facts_guard::read_file(&file, largest()).map_err(|error| {
        let hint = if path.is_dir() {
            "; is this a folder that an audit was saved to?"
        } else {
            ""
        };
        Failure::data(format!("{name}: {error}{hint}"))
    })?;
    unpacked(&name.to_string(), bytes)
}

/// Reads a saved audit from its bytes, compressed or not.
pub fn unpacked(name: &str, bytes: Vec<u8>) -> Result<Record, Failure> {
    unpacked_within(name, bytes, largest())
}

/// The same; what would unpack to more bytes than this is refused. A small file can unpack to more than any
/// memory holds.
pub fn unpacked_within(name: &str, mut bytes: Vec<u8>, most: u64) -> Result<Record, Failure> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut text = Vec::new();
        MultiGzDecoder::new(bytes.as_slice())
            .take(most.saturating_add(1))
            .read_to_end(&mut text)
            .map_err(|error| Failure::data(format!("{name}: the file is damaged: {error}")))?;
        if text.len() as u64 > most {
            return Err(Failure::data(format!(
                "{name}: this unpacks to more than {} MiB, which no saved audit does",
                most >> 20
            )));
        }
        bytes = text;
    }
    // The version first: an audit of another version may hold anything.
    #[derive(Deserialize)]
    struct Versioned {
        version: Option<u32>,
        kind: Option<String>,
    }
    let refuse = |error: serde_json::Error| {
        Failure::data(format!("{name}: this is not a saved audit: {error}"))
    };
    let versioned: Versioned = serde_json::from_slice(&bytes).map_err(refuse)?;
    if let Some(kind) = versioned.kind {
        return Err(Failure::data(format!(
            "{name}: this is a {kind}, which holds findings only; give the folder or the {AUDIT_FILE} beside it"
        )));
    }
    match versioned.version {
        Some(EARLIEST_VERSION..=VERSION) => {}
        Some(version) => {
            return Err(Failure::data(format!(
                "{name}: the audit was saved in version {version} of the form, and this tool reads versions {EARLIEST_VERSION} to {VERSION}; use the tool that made it"
            )));
        }
        None => return Err(Failure::data(format!("{name}: this is not a saved audit"))),
    }
    let record: Record = serde_json::from_slice(&bytes).map_err(refuse)?;
    let whole = record.audit.check();
    let whole = whole.and_then(|()| {
        record
            .answer
            .as_ref()
            .map_or(Ok(()), |a| a.check(&record.audit))
    });
    let whole = whole.and_then(|()| check_tests(&record));
    let whole = whole.and_then(|()| check_hashes(&record));
    whole.map_err(|why| Failure::data(format!("{name}: the saved audit is damaged: {why}")))?;
    Ok(record)
}

/// Whether what is called a hash is one, and not a text of somebody's.
fn check_hashes(record: &Record) -> Result<(), String> {
    let files = record.data.files.iter().map(|file| &file.sha256);
    let hashes = files.chain([&record.data.sha256, &record.model.sha256]);
    let is_hash =
        |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    match hashes.flatten().find(|hash| !is_hash(hash)) {
        Some(_) => Err("a SHA-256 is not 64 hexadecimal digits".to_owned()),
        None => Ok(()),
    }
}

/// Whether the tests of an audit that came from elsewhere can be true.
fn check_tests(record: &Record) -> Result<(), String> {
    if let Some(evidence) = &record.evidence {
        let alpha = evidence.gathering.alpha;
        if !(alpha > 0.0 && alpha < 1.0) {
            return Err(format!("evidence: α is {alpha}, not between 0 and 1"));
        }
    }
    for tests in record.evidence.iter().flat_map(|evidence| &evidence.tests) {
        let wrong = |tested: &Option<_>| tested.is_some_and(|t: Tested| !t.holds_together());
        if let Some(s) = tests.tested.iter().position(wrong) {
            return Err(format!(
                "evidence: a p-value of subgroups[{s}] by {} is not between 0 and 1",
                tests.definition
            ));
        }
        let fit = tests.pairs.iter().all(|pair| pair.fits(&record.audit));
        if !fit || !tests.pairs.is_sorted_by_key(|pair| pair.subgroup) {
            return Err(format!(
                "evidence: the pairs of groups by {} do not fit the audit",
                tests.definition
            ));
        }
    }
    Ok(())
}
