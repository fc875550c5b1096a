//! Packs whose parts are damaged, and not only their hashes: everything in a pack has one, so a pack with a changed byte
//! would be refused before anything else of it is read.
//!
//! An input is the parts of a pack as text, each after a line `--- NAME`. They are listed and sealed here as `facts pack`
//! does, with the reports and the gate that the audit gives. A part `damage` changes bytes of the archive itself.

use facts_check::Place;
use facts_report::{FORMS, Report, Showing};
use facts_run::gate::{BaselineFile, Before};
use facts_run::pack::verify;
use facts_run::{Config, Silent, TOOL, gate, saved};
use serde_json::{Value, json};

const MANIFEST: &str = "manifest.json";
const SIGNATURE: &str = "manifest.json.sig";
const CONFIG: &str = "config/facts.toml";
const BASELINE: &str = "baseline/facts.baseline.json";
const BASELINE_AUDIT: &str = "baseline/facts.baseline.audit.json.gz";
/// Bytes of the archive that are changed: a place and a value a line.
const DAMAGE: &str = "damage";

type Parts = Vec<(String, Vec<u8>)>;

/// Puts a pack together and verifies it; whether it is sound.
pub(crate) fn pack(bytes: &[u8]) -> bool {
    let mut parts = parts(bytes);
    let damage = take(&mut parts, DAMAGE).unwrap_or_default();
    let manifest = take(&mut parts, MANIFEST).unwrap_or_default();
    let signature = take(&mut parts, SIGNATURE);
    let signed = signature.is_some();
    // A signature is of the manifest as it stands.
    let manifest = match signed {
        true => manifest,
        false => completed(&mut parts, &manifest).unwrap_or(manifest),
    };
    let seal = format!("{}  {MANIFEST}\n", saved::sha256(&manifest));
    let mut files = vec![
        (MANIFEST.to_owned(), manifest),
        (format!("{MANIFEST}.sha256"), seal.into_bytes()),
    ];
    files.extend(signature.map(|signature| (SIGNATURE.to_owned(), signature)));
    files.extend(parts);
    let mut archive = archive(&files);
    harm(&mut archive, &damage);
    match verify(&archive, None, None, &Silent) {
        Ok(_) => true,
        // Reports are not the same in the next version, and a seed cannot be signed anew for each: one that is signed
        // has no files, and is right up to here.
        Err(failure) => signed && failure.to_string() == "the pack holds no audit",
    }
}

/// The parts of an input.
fn parts(bytes: &[u8]) -> Parts {
    let mut parts = Parts::new();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let name = std::str::from_utf8(line).ok();
        let name = name.and_then(|line| line.strip_prefix("--- "));
        match (name, parts.last_mut()) {
            (Some(name), _) => parts.push((name.trim_end().to_owned(), Vec::new())),
            (None, Some((_, part))) => part.extend(line),
            (None, None) => {}
        }
    }
    parts
}

fn take(parts: &mut Parts, name: &str) -> Option<Vec<u8>> {
    let place = parts.iter().position(|(known, _)| known == name)?;
    Some(parts.remove(place).1)
}

fn get<'a>(parts: &'a Parts, name: &str) -> Option<&'a [u8]> {
    let found = parts.iter().find(|(known, _)| known == name);
    found.map(|(_, bytes)| bytes.as_slice())
}

/// Adds the reports and the gate that a pack's audit gives, as far as it gives any, and lists all files in the manifest.
fn completed(parts: &mut Parts, manifest: &[u8]) -> Option<Vec<u8>> {
    let mut manifest: Value = serde_json::from_slice(manifest).ok()?;
    resealed(parts);
    if let Some(more) = followed(parts, &manifest) {
        parts.extend(more);
    }
    let fields = manifest.as_object_mut()?;
    let listed = parts.iter().map(|(path, bytes)| {
        json!({ "path": path, "bytes": bytes.len(), "sha256": saved::sha256(bytes) })
    });
    fields.insert("files".to_owned(), listed.collect());
    fields.insert("tool".to_owned(), TOOL.into());
    serde_json::to_vec_pretty(&manifest).ok()
}

/// Lets the list of a baseline belong to its audit.
fn resealed(parts: &mut Parts) {
    let Some(hash) = get(parts, BASELINE_AUDIT).map(saved::sha256) else {
        return;
    };
    let list = parts.iter_mut().find(|(name, _)| name == BASELINE);
    if let Some((_, text)) = list
        && let Ok(Value::Object(mut fields)) = serde_json::from_slice(text)
    {
        fields.insert("audit-sha256".to_owned(), hash.into());
        *text = Value::Object(fields).to_string().into_bytes();
    }
}

/// What follows from an audit: reports, and what the gate says.
fn followed(parts: &Parts, manifest: &Value) -> Option<Parts> {
    let audit = get(parts, saved::AUDIT_FILE)?.to_vec();
    let record = saved::unpacked(saved::AUDIT_FILE, audit).ok()?;
    let report = Report::new(&record).ok()?;
    let top = usize::try_from(manifest.get("top")?.as_u64()?).ok()?;
    let showing = Showing::top(top);
    let reports = FORMS.iter().map(|form| {
        let bytes = (form.write)(&report, &showing).ok()?;
        Some((format!("reports/{}", form.file), bytes))
    });
    let mut more = reports.collect::<Option<Parts>>()?;
    let said = |key: &str| Some(manifest.get("gate")?.get(key)?.as_str()?.to_owned());
    let (Some(today), Some(config), Some(audit)) = (said("today"), said("config"), said("audit"))
    else {
        return Some(more);
    };
    let text = std::str::from_utf8(get(parts, CONFIG)?).ok()?;
    let settings = Config::parse(CONFIG, text, &[]).ok()?;
    let lists = get(parts, BASELINE).zip(get(parts, BASELINE_AUDIT));
    let kept = BaselineFile::at(BASELINE.into());
    let before: Option<Before> = match lists {
        Some((list, audit)) => Some(kept.parse([list.to_vec(), audit.to_vec()]).ok()?),
        None => None,
    };
    let judged = gate::judge(&report, &settings, before.as_ref(), &today).ok()?;
    let place = Place { config, audit };
    for (form, file) in [("json", "gate/check.json"), ("text", "gate/check.txt")] {
        let text = gate::form(&judged, &place, form).ok()?;
        more.push((file.to_owned(), text.into_bytes()));
    }
    Some(more)
}

/// A tar file, as packs are: `facts_run::pack` refuses any that is written in another way.
fn archive(files: &Parts) -> Vec<u8> {
    const BLOCK: usize = 512;
    let mut archive = Vec::new();
    for (name, bytes) in files {
        let mut header = [0; BLOCK];
        let mut put = |at: usize, text: &[u8]| header[at..at + text.len()].copy_from_slice(text);
        put(0, &name.as_bytes()[..name.len().min(100)]);
        put(100, b"0000644\x000000000\x000000000\0");
        put(
            124,
            format!("{:011o}\x0000000000000\0", bytes.len()).as_bytes(),
        );
        put(148, b"        0");
        put(257, b"ustar\x0000");
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend(header);
        archive.extend(bytes);
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    archive
}

/// Changes bytes of an archive.
fn harm(archive: &mut [u8], damage: &[u8]) {
    for line in String::from_utf8_lossy(damage).lines() {
        let Some((place, value)) = line.split_once(' ') else {
            continue;
        };
        if let (Ok(place), Ok(value)) = (place.parse::<usize>(), value.parse()) {
            let length = archive.len();
            archive[place % length] = value;
        }
    }
}
