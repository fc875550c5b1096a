//! Evidence packs: what is packed holds, and whatever was changed is refused.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use facts_report::{Record, Report, Showing};
use facts_run::files::Files;
use facts_run::pack::{Packing, Redo, pack, verify};
use facts_run::{Config, Silent, Table, run, saved};
use ssh_key::private::{Ed25519Keypair, KeypairData};
use ssh_key::{LineEnding, PrivateKey};

fn example(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/hiring")
        .join(file)
}

fn audited() -> Record {
    let config = Config::load(Some(&example("facts.toml")), &[]).unwrap();
    let table = Table::read(&example("people.csv"), &config.data).unwrap();
    run(&config, &table, &Silent).unwrap()
}

fn saved_to(folder: &Path, record: &Record) {
    let mut files = Files::default();
    let report = Report::new(record).unwrap();
    saved::whole(folder, &report, &Showing::top(3), &mut files, &Silent).unwrap();
    files.publish(&Silent).unwrap();
}

/// The hiring example, packed in a folder of its own; signed or not.
fn packed(record: &Record, key: Option<&Path>) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    saved_to(folder.path(), record);
    let packing = Packing {
        result: folder.path(),
        config: Some(&example("facts.toml")),
        settings: &[],
        key,
    };
    pack(&packing, &Silent).unwrap().1
}

/// Keys that only the tests know: private and public.
fn keys(folder: &Path, seed: u8) -> [PathBuf; 2] {
    let pair = KeypairData::from(Ed25519Keypair::from_seed(&[seed; 32]));
    let private = PrivateKey::new(pair, "a test").unwrap();
    let paths = [format!("key{seed}"), format!("key{seed}.pub")].map(|name| folder.join(name));
    let text = private.to_openssh(LineEnding::LF).unwrap();
    std::fs::write(&paths[0], text.as_bytes()).unwrap();
    std::fs::write(&paths[1], private.public_key().to_openssh().unwrap()).unwrap();
    paths
}

fn refusal(bytes: &[u8], signer: Option<&Path>) -> String {
    let refused = verify(bytes, signer, None, &Silent);
    refused.expect_err("it holds").to_string()
}

#[test]
fn a_pack_holds_and_its_audit_can_be_made_again() {
    let bytes = packed(&audited(), None);
    let verified = verify(&bytes, None, None, &Silent).unwrap();
    assert_eq!(verified.not_checked.len(), 2, "{verified:?}");
    let holds = verified.holds.join("\n");
    for what in [
        "each with the SHA-256",
        "verdict follow",
        "the same to the byte",
        "the gate passes",
    ] {
        assert!(holds.contains(what), "{holds}");
    }
    // Under other names, in another folder.
    let folder = tempfile::tempdir().unwrap();
    let [data, model] = ["people.csv", "model.json"].map(|file| {
        let place = folder.path().join(format!("copy-of-{file}"));
        std::fs::copy(example(file), &place).unwrap();
        place
    });
    let spec = format!("linear:{}", model.display());
    let redo = |data: &Path, model: Option<&str>| {
        let redo = Redo { data, model };
        verify(&bytes, None, Some(redo), &Silent).map_err(|failure| failure.to_string())
    };
    let verified = redo(&data, Some(&spec)).unwrap();
    assert!(verified.holds.join("\n").contains("made again"));
    assert!(redo(&data, None).unwrap_err().contains("--model"));
    let text = std::fs::read_to_string(&model).unwrap();
    std::fs::write(&model, text.replace("-9.75", "-9.5")).unwrap();
    let why = redo(&data, Some(&spec)).unwrap_err();
    assert!(why.contains("is not the model"), "{why}");
    let text = std::fs::read_to_string(&data).unwrap();
    std::fs::write(&data, text + "\n").unwrap();
    let why = redo(&data, Some(&spec)).unwrap_err();
    assert!(why.contains("is not the table"), "{why}");
}

/// Every bit of the first kilobytes, which hold the manifest and what seals and signs it, then bits all
/// over the archive, each in another place of its byte.
#[test]
fn a_pack_with_one_flipped_bit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [private, public] = keys(folder.path(), 7);
    for key in [None, Some(private.as_path())] {
        let whole = packed(&audited(), key);
        let signer = key.map(|_| public.as_path());
        assert!(verify(&whole, signer, None, &Silent).is_ok());
        let manifest = 3 * 512 + whole[512..].windows(3).position(|w| w == b"\n}\n").unwrap();
        let all = (0..8 * manifest).step_by(5);
        let spread = (0..1200).map(|n| n * (whole.len() / 1200) * 8 + n % 8);
        for bit in all.chain(spread) {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let held = verify(&flipped, signer, None, &Silent).is_ok();
            assert!(!held, "bit {bit} of {}", 8 * whole.len());
        }
    }
}

#[test]
fn a_pack_is_signed_by_whom_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let [private, public] = keys(folder.path(), 1);
    let [_, other] = keys(folder.path(), 2);
    let bytes = packed(&audited(), Some(&private));
    assert!(verify(&bytes, Some(&public), None, &Silent).is_ok());
    let why = refusal(&bytes, Some(&other));
    assert!(why.contains("is signed by SHA256:"), "{why}");
    let unsigned = packed(&audited(), None);
    assert!(refusal(&unsigned, Some(&public)).contains("not signed"));
    let no_key = verify(&bytes, Some(&example("model.json")), None, &Silent);
    assert!(no_key.unwrap_err().to_string().contains("no public key"));
}

/// Whoever changes a report and puts the hashes right is still found out.
#[test]
fn a_number_that_does_not_follow_is_found() {
    let mut bytes = packed(&audited(), None);
    let at = |bytes: &[u8], text: &str| {
        let windows = &mut bytes.windows(text.len());
        windows.position(|window| window == text.as_bytes())
    };
    // The report in plain text lies whole in the archive: its header, then its bytes.
    let start = at(&bytes, "reports/report.txt\0").unwrap() + 512;
    let size = usize::from_str_radix(
        std::str::from_utf8(&bytes[start - 512 + 124..start - 512 + 135]).unwrap(),
        8,
    )
    .unwrap();
    let report = start..start + size;
    let (before, manifest) = (saved::sha256(&bytes[report.clone()]), manifest_of(&bytes));
    let digit = bytes[report.clone()]
        .iter()
        .position(|&byte| byte == b'1')
        .unwrap();
    bytes[start + digit] = b'2';
    assert!(refusal(&bytes, None).contains("reports/report.txt was changed"));
    let after = saved::sha256(&bytes[report]);
    let place = at(&bytes, &before).unwrap();
    bytes[place..place + 64].copy_from_slice(after.as_bytes());
    assert!(refusal(&bytes, None).contains("not the one that was sealed"));
    let (old, new) = (
        saved::sha256(&manifest),
        saved::sha256(&manifest_of(&bytes)),
    );
    let place = at(&bytes, &old).unwrap();
    bytes[place..place + 64].copy_from_slice(new.as_bytes());
    let why = refusal(&bytes, None);
    assert!(
        why.contains("reports/report.txt does not follow from the counts"),
        "{why}"
    );
}

fn manifest_of(bytes: &[u8]) -> Vec<u8> {
    let size = std::str::from_utf8(&bytes[124..135]).unwrap();
    let size = usize::from_str_radix(size, 8).unwrap();
    bytes[512..512 + size].to_vec()
}

#[test]
fn an_audit_that_contradicts_its_counts_is_found() {
    let mut record = audited();
    let answer = record.answer.as_mut().unwrap();
    answer.verdict = Some(facts_engine::answer::Verdict::Unfair {
        against: vec![0],
        findings: 3,
        sets: 2,
    });
    let bytes = packed(&record, None);
    let why = refusal(&bytes, None);
    assert!(why.contains("the verdict does not follow"), "{why}");
}
