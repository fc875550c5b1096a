//! Checking a pack.

use std::io::Read;
use std::path::Path;

use facts_models::ModelSpec;
use facts_report::{Record, Report};
use flate2::read::MultiGzDecoder;

use super::archive::{self, Files};
use super::{
    BASELINE, BASELINE_AUDIT, CONFIG, MANIFEST, Manifest, REPORTS, SEAL, SIGNATURE, recount,
    signature,
};
use crate::config::Config;
use crate::failure::Failure;
use crate::gate::BaselineFile;
use crate::in_database::shown_path;
use crate::listener::Listener;
use crate::run::{TOOL, run};
use crate::saved;
use crate::table::{Reading, Table};

/// What an audit is to be made again from.
#[derive(Clone, Copy, Debug)]
pub struct Redo<'a> {
    /// The table.
    pub data: &'a Path,
    /// The model, as `model.spec` names it; none for one that the audit fits itself.
    pub model: Option<&'a str>,
}

/// What was found right about a pack, and what was not looked at.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The manifest.
    pub manifest: Manifest,
    /// What holds, a sentence each.
    pub holds: Vec<String>,
    /// What was not looked at, and why.
    pub not_checked: Vec<String>,
}

/// Checks a pack. Fails at the first thing that is not right.
pub fn verify(
    bytes: &[u8],
    signer: Option<&Path>,
    redo: Option<Redo<'_>>,
    listener: &dyn Listener,
) -> Result<Verified, Failure> {
    let expected = signer.map(signature::signer).transpose()?;
    let files = archive::read(bytes).map_err(Failure::data)?;
    let pack = Pack { files };
    let manifest = pack.whole().map_err(Failure::data)?;
    let mut verified = Verified {
        holds: vec![format!(
            "{} files, each with the SHA-256 that the manifest says",
            manifest.files.len()
        )],
        not_checked: Vec::new(),
        manifest,
    };
    match (pack.get(SIGNATURE), &expected) {
        (Some(signed), expected) => {
            let text = pack.get(MANIFEST).unwrap_or_default();
            let by = signature::check(signed, text, expected.as_ref()).map_err(Failure::data)?;
            verified.holds.push(match expected {
                Some(_) => format!("signed by {by}, who was expected"),
                None => format!("signed by {by}; --signer KEY.pub says who is expected"),
            });
        }
        (None, Some(_)) => return Err(Failure::data("the pack is not signed")),
        (None, None) => verified
            .not_checked
            .push("who made it: it is not signed".to_owned()),
    }
    let record = pack.record()?;
    pack.follow(&record, &mut verified)?;
    match redo {
        Some(redo) => {
            pack.redo(&record, redo, &verified.manifest, listener)?;
            verified.holds.push(
                "the audit, made again from the table and the model, is the same to the byte"
                    .to_owned(),
            );
        }
        None => verified.not_checked.push(
            "whether table and model give this audit: --data and --model make it again".to_owned(),
        ),
    }
    Ok(verified)
}

/// The files of a pack.
struct Pack {
    files: Files,
}

impl Pack {
    fn get(&self, path: &str) -> Option<&[u8]> {
        let mut files = self.files.iter();
        let found = files.find(|(name, _)| name == path);
        found.map(|(_, bytes)| bytes.as_slice())
    }

    /// Whether all files are there, as the manifest says, and no other.
    fn whole(&self) -> Result<Manifest, String> {
        let text = self.get(MANIFEST).ok_or("this is not a pack")?;
        let manifest = Manifest::parse(text)?;
        let seal = self.get(SEAL).ok_or("the hash of the manifest is gone")?;
        if seal != super::seal(text).as_bytes() {
            return Err("the manifest is not the one that was sealed".to_owned());
        }
        let mut own = vec![MANIFEST, SEAL];
        own.extend(self.get(SIGNATURE).map(|_| SIGNATURE));
        let listed = manifest.files.iter().map(|file| file.path.as_str());
        let expected: Vec<&str> = own.into_iter().chain(listed).collect();
        let there: Vec<&str> = self.files.iter().map(|(path, _)| path.as_str()).collect();
        if expected != there {
            return Err("the files are not those that the manifest lists".to_owned());
        }
        for file in &manifest.files {
            let bytes = self.get(&file.path).unwrap_or_default();
            if bytes.len() as u64 != file.bytes || saved::sha256(bytes) != file.sha256 {
                return Err(format!("{} was changed: its SHA-256 is another", file.path));
            }
        }
        Ok(manifest)
    }

    fn record(&self) -> Result<Record, Failure> {
        let bytes = self.get(saved::AUDIT_FILE);
        let bytes = bytes.ok_or_else(|| Failure::data("the pack holds no audit"))?;
        saved::unpacked(saved::AUDIT_FILE, bytes.to_vec())
    }

    /// Whether everything follows from the counts: what the audit says, every report, and the gate.
    fn follow(&self, record: &Record, verified: &mut Verified) -> Result<(), Failure> {
        recount::recount(record).map_err(Failure::data)?;
        let manifest = &verified.manifest;
        let same = (&manifest.data, &manifest.model) == (&record.data, &record.model)
            && (&manifest.audited_by, &manifest.audited) == (&record.tool, &record.made);
        if !same {
            return Err(Failure::data(
                "the manifest names another table, model or day than the audit",
            ));
        }
        verified
            .holds
            .push("people at a loss and verdict follow from counts and tests".to_owned());
        if manifest.tool != TOOL {
            verified.not_checked.push(format!(
                "reports and gate: they are by {}, and this is {TOOL}",
                manifest.tool
            ));
            return Ok(());
        }
        let report = Report::new(record)?;
        let reports = super::reports(&report, manifest.top)?;
        self.same(&reports, "does not follow from the counts of the audit")?;
        let number = manifest.files.iter();
        let number = number.filter(|file| file.path.starts_with(REPORTS)).count();
        if number != reports.len() {
            return Err(Failure::data("the pack holds a report that is none"));
        }
        verified.holds.push(format!(
            "{number} reports, written again from the counts, are the same to the byte"
        ));
        match &manifest.gate {
            None => verified
                .not_checked
                .push("the gate: the pack holds no configuration".to_owned()),
            Some(of) => {
                let config = self.config(manifest)?;
                let lists = self.get(BASELINE).zip(self.get(BASELINE_AUDIT));
                let kept = BaselineFile::at(BASELINE.into());
                let before = lists.map(|(list, audit)| kept.parse([list.into(), audit.into()]));
                let before = before.transpose()?;
                let (gate, written) = super::judged(&report, &config, before.as_ref(), of)?;
                self.same(&written, "is not what the gate says of this audit")?;
                if gate.passed != of.passed {
                    return Err(Failure::data("the manifest says otherwise than the gate"));
                }
                let word = if gate.passed { "passes" } else { "fails" };
                verified.holds.push(format!(
                    "the gate {word}, judged again by the rules of {} as of {}",
                    of.config, of.today
                ));
            }
        }
        Ok(())
    }

    /// Whether files of the pack are these.
    fn same(&self, written: &Files, otherwise: &str) -> Result<(), Failure> {
        let other = written
            .iter()
            .find(|(path, bytes)| self.get(path) != Some(bytes));
        match other {
            None => Ok(()),
            Some((path, _)) => Err(Failure::data(format!("{path} {otherwise}"))),
        }
    }

    fn config(&self, manifest: &Manifest) -> Result<Config, Failure> {
        let text = self.get(CONFIG).ok_or_else(|| {
            Failure::data("the pack holds no configuration: pack it with --config")
        })?;
        let text = std::str::from_utf8(text)
            .map_err(|error| Failure::data(format!("{CONFIG}: {error}")))?;
        Config::parse(CONFIG, text, &manifest.settings)
    }

    /// Makes the audit again, and compares it to the byte.
    fn redo(
        &self,
        record: &Record,
        redo: Redo<'_>,
        manifest: &Manifest,
        listener: &dyn Listener,
    ) -> Result<(), Failure> {
        let mut config = self.config(manifest)?;
        (config.report.out, config.train.save, config.model.answers) = (None, None, None);
        match redo.model {
            Some(spec) => {
                let spec: ModelSpec = spec.parse().map_err(Failure::usage)?;
                config.model.spec = Some(spec);
            }
            None if config.is_train() => {}
            None => {
                return Err(Failure::usage(format!(
                    "the audit asked the model {}: name it with --model",
                    record.model.spec
                )));
            }
        }
        listener.step("reading the table");
        let paths = [redo.data.to_owned()];
        let mut table = Table::read_all(&paths, &config.data, Reading::needed(&config))?;
        let known = table.origin.hashes();
        if record.data.hashes().is_none() {
            return Err(Failure::data(format!(
                "the audit keeps no SHA-256 of its table ({}), so whether {} is that table cannot be told; make the audit from a file",
                record.data.without_hash(),
                shown_path(redo.data)
            )));
        }
        if known.is_none() || known != record.data.hashes() {
            return Err(Failure::data(format!(
                "{} is not the table that was audited: its SHA-256 is another",
                shown_path(redo.data)
            )));
        }
        // What files are called and when it is does not matter.
        table.origin.clone_from(&record.data);
        let mut again = run(&config, &table, listener)?;
        if again.model.sha256 != record.model.sha256 {
            return Err(Failure::data(format!(
                "{} is not the model that was audited: its SHA-256 is another",
                again.model.spec
            )));
        }
        again.model.spec.clone_from(&record.model.spec);
        again.made.clone_from(&record.made);
        again.version = record.version;
        let text = serde_json::to_vec(&again)
            .map_err(|error| Failure::output(saved::AUDIT_FILE, error))?;
        if text == self.audit_text()? {
            return Ok(());
        }
        let by = if record.tool == TOOL {
            String::new()
        } else {
            format!(": it was made by {}, and this is {TOOL}", record.tool)
        };
        Err(Failure::data(format!(
            "the audit made again is not the one in the pack{by}"
        )))
    }

    /// The saved audit, not compressed.
    fn audit_text(&self) -> Result<Vec<u8>, Failure> {
        let bytes = self.get(saved::AUDIT_FILE).unwrap_or_default();
        let mut text = Vec::new();
        MultiGzDecoder::new(bytes)
            .read_to_end(&mut text)
            .map_err(|error| Failure::data(format!("{}: {error}", saved::AUDIT_FILE)))?;
        Ok(text)
    }
}
