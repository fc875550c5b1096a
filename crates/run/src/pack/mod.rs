//! Evidence packs: one archive with an audit and everything that was said of it, which others can check.
//!
//! [`pack`] puts together the saved audit, every form of report, the configuration, the baseline and what
//! the gate said, with a manifest that holds the SHA-256 of each, and may sign it. [`verify`](verify())
//! checks that nothing was changed, works every number out again that follows from the counts, and, with
//! the table and the model, makes the audit itself again.

mod archive;
mod manifest;
mod recount;
mod signature;
mod verify;

use std::path::Path;

use facts_check::{Gate, Place};
use facts_report::{FORMS, Record, Report, Showing};

use self::archive::Files;
pub use self::manifest::{Environment, File, GateOf, Manifest};
pub use self::verify::{Redo, Verified, verify};
use crate::config::{self, Config};
use crate::failure::Failure;
use crate::gate::{self, BaselineFile, Before};
use crate::listener::Listener;
use crate::run::{TOOL, now};
use crate::{saved, today};

const MANIFEST: &str = "manifest.json";
const SEAL: &str = "manifest.json.sha256";
const SIGNATURE: &str = "manifest.json.sig";
const CONFIG: &str = "config/facts.toml";
const BASELINE: &str = "baseline/facts.baseline.json";
const BASELINE_AUDIT: &str = "baseline/facts.baseline.audit.json.gz";
const GATE_JSON: &str = "gate/check.json";
const GATE_TEXT: &str = "gate/check.txt";
const REPORTS: &str = "reports/";

/// The findings of each definition that reports show unless the configuration says otherwise.
const TOP: usize = 3;

const README: &str = include_str!("README.txt");

/// What goes into a pack.
#[derive(Clone, Copy, Debug)]
pub struct Packing<'a> {
    /// The saved audit: its folder or its file.
    pub result: &'a Path,
    /// The configuration that it was made with.
    pub config: Option<&'a Path>,
    /// Settings that were given beside it.
    pub settings: &'a [String],
    /// The private key to sign with.
    pub key: Option<&'a Path>,
}

/// Makes a pack: its manifest and its bytes.
pub fn pack(
    packing: &Packing<'_>,
    listener: &dyn Listener,
) -> Result<(Manifest, Vec<u8>), Failure> {
    let record = saved::load_without_secrets(packing.result)?;
    let config = Config::load(packing.config, packing.settings)?;
    let text = packing.config.map(|path| {
        facts_guard::read_text(path, facts_guard::LARGEST_TEXT)
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
    });
    let text = text.transpose()?;
    // Whoever gets the pack reads all of it.
    let name = packing.config.map_or_else(String::new, name_of);
    config::refuse_secrets(&name, text.as_deref().unwrap_or_default(), packing.settings)?;
    let top = config.report.top.unwrap_or(TOP);
    let report = Report::new(&record)?;
    let mut files: Files = vec![
        ("README.txt".to_owned(), README.as_bytes().to_vec()),
        (saved::AUDIT_FILE.to_owned(), audit_bytes(packing, &record)?),
    ];
    listener.step("writing the reports");
    files.extend(reports(&report, top)?);
    note_other_reports(packing.result, &files, listener);
    let mut gate_of = None;
    if let (Some(path), Some(text)) = (packing.config, text) {
        files.push((CONFIG.to_owned(), text.into_bytes()));
        let kept = BaselineFile::of(&config, Some(path));
        let bytes = kept.bytes()?;
        let before = bytes.clone().map(|bytes| kept.parse(bytes)).transpose()?;
        if let Some((_, record)) = &before {
            saved::refuse_secrets(BASELINE_AUDIT, record)?;
        }
        if let Some([list, audit]) = bytes {
            files.push((BASELINE.to_owned(), list));
            files.push((BASELINE_AUDIT.to_owned(), audit));
        }
        let of = GateOf {
            today: today()?,
            passed: false,
            config: name_of(path),
            audit: name_of(packing.result),
        };
        let (gate, written) = judged(&report, &config, before.as_ref(), &of)?;
        files.extend(written);
        gate_of = Some(GateOf {
            passed: gate.passed,
            ..of
        });
    }
    let manifest = Manifest {
        kind: manifest::KIND.to_owned(),
        version: manifest::VERSION,
        tool: TOOL.to_owned(),
        packed: now()?,
        audited_by: record.tool.clone(),
        audited: record.made.clone(),
        data: record.data.clone(),
        model: record.model.clone(),
        environment: Environment::here(),
        top,
        settings: packing.settings.to_vec(),
        gate: gate_of,
        files: files.iter().map(listed).collect(),
    };
    let bytes = sealed(&manifest, files, packing.key)?;
    Ok((manifest, bytes))
}

/// The archive: the manifest first, with its hash and its signature.
fn sealed(manifest: &Manifest, files: Files, key: Option<&Path>) -> Result<Vec<u8>, Failure> {
    let text =
        serde_json::to_string_pretty(manifest).map_err(|error| Failure::output(MANIFEST, error))?;
    let text = (text + "\n").into_bytes();
    let mut all: Files = vec![(SEAL.to_owned(), seal(&text).into_bytes())];
    if let Some(key) = key {
        all.push((SIGNATURE.to_owned(), signature::sign(key, &text)?));
    }
    all.insert(0, (MANIFEST.to_owned(), text));
    all.extend(files);
    Ok(archive::write(&all))
}

/// The hash of a manifest, as `sha256sum` writes it.
fn seal(manifest: &[u8]) -> String {
    format!("{}  {MANIFEST}\n", saved::sha256(manifest))
}

fn listed((path, bytes): &(String, Vec<u8>)) -> File {
    File {
        path: path.clone(),
        bytes: bytes.len() as u64,
        sha256: saved::sha256(bytes),
    }
}

/// The bytes of a pack.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = facts_guard::read_file(path, saved::largest());
    bytes.map_err(|error| Failure::data(format!("{}: {error}", path.display())))
}

/// The saved audit as it lies there.
fn audit_bytes(packing: &Packing<'_>, record: &Record) -> Result<Vec<u8>, Failure> {
    let file = if packing.result.is_dir() {
        packing.result.join(saved::AUDIT_FILE)
    } else {
        packing.result.to_owned()
    };
    let bytes = facts_guard::read_file(&file, saved::largest())
        .map_err(|error| Failure::data(format!("{}: {error}", file.display())))?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        Ok(bytes)
    } else {
        saved::packed(record)
    }
}

/// Every form of report that an audit gives.
fn reports(report: &Report<'_>, top: usize) -> Result<Files, Failure> {
    let showing = Showing::top(top);
    let written = FORMS.iter().map(|form| {
        let bytes =
            (form.write)(report, &showing).map_err(|error| Failure::output(form.file, error))?;
        Ok((format!("{REPORTS}{}", form.file), bytes))
    });
    written.collect()
}

/// What the gate says of a report, and the files that say it.
fn judged(
    report: &Report<'_>,
    config: &Config,
    before: Option<&Before>,
    of: &GateOf,
) -> Result<(Gate, Files), Failure> {
    let gate = gate::judge(report, config, before, &of.today)?;
    let place = Place {
        config: of.config.clone(),
        audit: of.audit.clone(),
    };
    let form = |name: &str| gate::form(&gate, &place, name).map(String::into_bytes);
    let files = vec![
        (GATE_JSON.to_owned(), form("json")?),
        (GATE_TEXT.to_owned(), form("text")?),
    ];
    Ok((gate, files))
}

/// A path's last part: where on a machine something lies is nobody's business.
fn name_of(path: &Path) -> String {
    path.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Says if reports that lie beside the audit are not those that go into the pack.
fn note_other_reports(result: &Path, files: &Files, listener: &dyn Listener) {
    let others: Vec<&str> = (files.iter())
        .filter_map(|(path, bytes)| {
            let name = path.strip_prefix(REPORTS)?;
            let beside = facts_guard::read_file(&result.join(name), saved::largest()).ok()?;
            (beside != *bytes).then_some(name)
        })
        .collect();
    if !others.is_empty() {
        listener.note(&format!(
            "{} in {} differ from what the audit gives now, by this tool and this configuration; the pack holds what it gives",
            others.join(", "),
            result.display()
        ));
    }
}
