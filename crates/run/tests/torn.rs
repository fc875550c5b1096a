//! Files that were cut short, at every length: each is refused in words, and none is read as something else.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use facts_report::{Record, Report, Showing};
use facts_run::files::Files;
use facts_run::gate::{BaselineFile, judge};
use facts_run::pack::{Packing, pack, verify};
use facts_run::profiles::{Cuts, Profiles};
use facts_run::{Config, Failure, FailureKind, RowOrder, Silent, Table, run, saved};

/// A table so small that every cut can be tried.
fn table(folder: &Path) -> PathBuf {
    let path = folder.join("people.csv");
    let mut text = String::from("sex,job,hours\n");
    for row in 0..60 {
        let (sex, job) = (["f", "m"][row % 2], ["cook", "guard", "clerk"][row % 3]);
        text += &format!("{sex},{job},{}\n", ["part", "full"][row / 2 % 2]);
    }
    std::fs::write(&path, text).unwrap();
    let model = r#"{"intercept": -1, "levels": {"job": {"clerk": 2}, "hours": {"full": 0.5}}, "unseen": "zero"}"#;
    std::fs::write(folder.join("model.json"), model).unwrap();
    path
}

fn config(folder: &Path) -> Config {
    let text = format!(
        "[model]\nspec = \"linear:{}\"\nfavourable = 1\n[protected.sex]\n[audit]\nmin-members = 1\n[evidence]\nshuffles = 0\nresamples = 0\n[report]\ndefinitions = [\"equal-effectiveness:micro\"]\n",
        folder.join("model.json").display()
    );
    Config::parse("the test", &text, &[]).unwrap()
}

fn audited(folder: &Path) -> Record {
    let path = table(folder);
    let config = config(folder);
    let table = Table::read(&path, &config.data).unwrap();
    run(&config, &table, &Silent).unwrap()
}

/// Every cut of a file is refused as bad data, in words that name the file.
fn refused<T>(name: &str, bytes: &[u8], read: impl Fn(Vec<u8>) -> Result<T, Failure>) {
    assert!(read(bytes.to_vec()).is_ok(), "{name} as it was written");
    for length in 0..bytes.len() {
        let Err(failure) = read(bytes[..length].to_vec()) else {
            panic!("{name} cut at {length} of {} is read", bytes.len());
        };
        assert_eq!(failure.kind, FailureKind::Data, "{failure}");
        assert!(failure.to_string().contains(name), "{failure}");
    }
}

#[test]
fn a_torn_audit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let record = audited(folder.path());
    let packed = saved::packed(&record).unwrap();
    refused("audit.json.gz", &packed, |bytes| {
        saved::unpacked("audit.json.gz", bytes)
    });
    let plain = serde_json::to_vec(&record).unwrap();
    refused("audit.json", &plain, |bytes| {
        saved::unpacked("audit.json", bytes)
    });
}

#[test]
fn a_saved_audit_that_unpacks_without_end_is_refused() {
    use std::io::Write as _;
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..64 {
        packer.write_all(&zeros).unwrap();
    }
    let bytes = packer.finish().unwrap();
    let error = saved::unpacked_within("audit.json.gz", bytes, 1 << 20).unwrap_err();
    assert!(
        error.to_string().contains("unpacks to more than 1 MiB"),
        "{error}"
    );
}

#[test]
fn a_torn_baseline_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let record = audited(folder);
    let report = Report::new(&record).unwrap();
    let gate = judge(&report, &config(folder), None, "2026-11-18").unwrap();
    let file = BaselineFile::at(folder.join("facts.baseline.json"));
    let mut files = Files::default();
    file.update(&record, &gate, &mut files).unwrap();
    files.publish(&Silent).unwrap();
    let [list, audit] = file.bytes().unwrap().unwrap();
    // It ends in a line break, without which it is the same.
    refused("facts.baseline", list.trim_ascii_end(), |bytes| {
        file.parse([bytes, audit.clone()])
    });
    refused("facts.baseline", &audit, |bytes| {
        file.parse([list.clone(), bytes])
    });
}

#[test]
fn torn_profiles_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = table(folder);
    let config = config(folder);
    let table = Table::read_all(&[path], &config.data, RowOrder::Forgotten).unwrap();
    let profiles = Profiles::of(&config, table, &Cuts::None, None, &Silent).unwrap();
    let torn = folder.join("torn.parquet");
    refused("torn.parquet", &profiles.parquet().unwrap(), |bytes| {
        std::fs::write(&torn, bytes).unwrap();
        let paths = [torn.clone()];
        Table::read_all(&paths, &config.data, RowOrder::Forgotten)
    });
}

/// A pack is large: cut in every block, and wherever its end is near.
#[test]
fn a_torn_pack_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let record = audited(folder);
    let result = folder.join("result");
    let mut files = Files::default();
    let report = Report::new(&record).unwrap();
    saved::whole(&result, &report, &Showing::top(3), &mut files, &Silent).unwrap();
    files.publish(&Silent).unwrap();
    let packing = Packing {
        result: &result,
        config: None,
        settings: &[],
        key: None,
    };
    let (_, bytes) = pack(&packing, &Silent).unwrap();
    assert!(verify(&bytes, None, None, &Silent).is_ok());
    let near_the_end = bytes.len() - 2100..bytes.len();
    for length in (0..bytes.len()).step_by(509).chain(near_the_end) {
        let refused = verify(&bytes[..length], None, None, &Silent);
        assert!(refused.is_err(), "cut at {length} of {}", bytes.len());
    }
}
