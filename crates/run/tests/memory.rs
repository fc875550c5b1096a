//! From a table to its reports an audit stays within the memory that it may take, as the allocator counts it.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use facts_report::sheets::{Cells, Sheet};
use facts_report::{FORMS, Report, Showing, Size};
use facts_run::config::Data;
use facts_run::files::Files;
use facts_run::{Config, FailureKind, Reading, RowOrder, Silent, Table, run, saved};
use flate2::Compression;
use flate2::write::GzEncoder;
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// What is allocated is counted for the whole process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// What there is beside what is counted, whatever the size of the audit: the page's own scripts and styles, buffers of
/// readers and of compression, and what the allocator keeps for threads.
const BESIDE: u64 = 12 << 20;

/// A table of people with some features of three levels.
fn people(rows: usize, groups: usize, features: usize) -> String {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut text = String::from("group");
    for feature in 0..features {
        write!(text, ",f{feature}").unwrap();
    }
    for _ in 0..rows {
        write!(text, "\n{}", ["a", "b", "c", "d"][draw(groups)]).unwrap();
        for _ in 0..features {
            write!(text, ",{}", ["low", "middle", "high"][draw(3)]).unwrap();
        }
    }
    text + "\n"
}

/// A model that asks more of group `a`.
const MODEL: &str = r#"{
  "intercept": -2.5,
  "levels": {"f0": {"high": 2}, "f1": {"high": 1, "middle": 1}, "f2": {"low": 0.7}, "group": {"a": -0.6}},
  "unseen": "zero"
}"#;

fn config(folder: &Path, mib: u64) -> Config {
    let text = format!(
        r#"
        [model]
        spec = "linear:{}"
        favourable = 1
        [protected.group]
        [audit]
        support = 0.01
        min-members = 5
        threads = 2
        max-memory-mib = {mib}
        [evidence]
        shuffles = 200
        resamples = 100
        [report]
        out = "{}"
        "#,
        folder.join("model.json").display(),
        folder.join("out").display()
    );
    Config::parse("the test", &text, &[]).unwrap()
}

/// An audit of a table, written in every form; what it came to.
fn audit(folder: &Path, mib: u64) -> Result<(), facts_run::Failure> {
    let config = config(folder, mib);
    let paths = [folder.join("people.csv")];
    let table = Table::read_all(&paths, &config.data, Reading::needed(&config))?;
    let record = run(&config, &table, &Silent)?;
    let report = Report::new(&record).unwrap();
    let mut files = Files::default();
    let out = folder.join("out");
    saved::whole(&out, &report, &Showing::top(3), &mut files, &Silent)?;
    files.publish(&Silent).map(drop)
}

#[test]
fn an_audit_with_its_reports_stays_within_its_limit() {
    let _alone = ALONE.lock();
    // Many subgroups with many actions; many groups; many people of few kinds.
    let tables = [(1500, 2, 6), (3000, 4, 4), (60_000, 2, 3)];
    for (rows, groups, features) in tables {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::write(folder.join("model.json"), MODEL).unwrap();
        let table = people(rows, groups, features);
        std::fs::write(folder.join("people.csv"), table).unwrap();
        let mut made = Vec::new();
        for mib in [1, 8, 24, 64, 1024] {
            let before = ALLOCATED.current_usage();
            ALLOCATED.reset_peak_usage();
            let outcome = audit(folder, mib);
            let taken = (ALLOCATED.peak_usage() - before) as u64;
            let what = format!("{rows} rows, {groups} groups: {taken} bytes of {mib} MiB");
            println!(
                "{what}: {:?}",
                outcome.as_ref().map_err(ToString::to_string)
            );
            assert!(taken <= (mib << 20) + BESIDE, "{what}");
            if let Err(failure) = &outcome {
                assert_eq!(failure.kind, FailureKind::Data, "{failure}");
                let said = failure.to_string();
                let advised = said.contains("raise the") || said.contains("was tried and fits");
                assert!(said.contains("MiB") && advised, "{said}");
                assert!(!folder.join("out").exists(), "{said}");
            }
            made.push(outcome.is_ok());
            let _ = std::fs::remove_dir_all(folder.join("out"));
        }
        assert!(
            made.is_sorted(),
            "more memory makes no audit fail: {made:?}"
        );
        assert!(!made[0] && made[made.len() - 1], "{made:?}");
    }
}

/// What is reckoned for the reports is more than any form takes, and not far more.
#[test]
fn reports_take_about_what_is_reckoned() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("model.json"), MODEL).unwrap();
    std::fs::write(folder.join("people.csv"), people(1500, 2, 6)).unwrap();
    let config = config(folder, 1024);
    let table = Table::read(&folder.join("people.csv"), &config.data).unwrap();
    let record = run(&config, &table, &Silent).unwrap();
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    let report = Report::new(&record).unwrap();
    let mut most = 0;
    for form in FORMS {
        ALLOCATED.reset_peak_usage();
        let bytes = (form.write)(&report, &Showing::top(3)).unwrap();
        let taken = (ALLOCATED.peak_usage() - before) as u64;
        println!("{}: {taken} for {} bytes", form.name, bytes.len());
        most = most.max(taken);
    }
    ALLOCATED.reset_peak_usage();
    let packed = saved::packed(&record).unwrap();
    let taken = (ALLOCATED.peak_usage() - before) as u64;
    println!("saved: {taken} for {} bytes", packed.len());
    most = most.max(taken);
    let audit = &record.audit;
    let mut size = Size {
        groups: audit.groups.len(),
        definitions: record.definitions.len(),
        subgroups: audit.subgroups.len(),
        pairs: audit.sizes.pairs,
        predicates: 0,
        pairs_text: 0,
    };
    for subgroup in &audit.subgroups {
        let predicate = audit.text(&subgroup.predicate).len() as u64;
        size.predicates += predicate;
        for action in &subgroup.actions {
            let change = audit.changes[action.change as usize].text(&audit.features);
            size.pairs_text += predicate + change.len() as u64;
        }
    }
    let reckoned = size.report_bytes();
    println!("{size:?}: {reckoned} reckoned, {most} taken");
    assert!(most <= reckoned + BESIDE, "{most} of {reckoned}");
    assert!(most * 4 > reckoned, "{most} of {reckoned}: far too much");
}

/// Equal rows are counted, not kept: a few kilobytes that hold millions of them are read within the limit, or refused
/// where their order is to be kept.
#[test]
fn a_small_file_of_many_rows_stays_within_the_limit() {
    const ROWS: usize = 2_000_000;
    const LIMIT: u64 = 16 << 20;
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let sheet = Sheet {
        columns: vec![("number".to_owned(), Cells::Count(vec![Some(1); ROWS]))],
    };
    let parquet = folder.path().join("many.parquet");
    std::fs::write(&parquet, facts_report::parquet::parquet(&sheet).unwrap()).unwrap();
    drop(sheet);
    let csv = folder.path().join("many.csv.gz");
    let mut packer = GzEncoder::new(std::fs::File::create(&csv).unwrap(), Compression::fast());
    packer.write_all(b"number\n").unwrap();
    for _ in 0..ROWS / 1000 {
        packer.write_all(&b"1\n".repeat(1000)).unwrap();
    }
    packer.finish().unwrap();
    for path in [parquet, csv] {
        assert!(std::fs::metadata(&path).unwrap().len() < 1 << 17);
        for (order, fits) in [(RowOrder::Forgotten, true), (RowOrder::Kept, false)] {
            let mut reading = Reading::from(order);
            reading.max_memory = Some(LIMIT);
            let before = ALLOCATED.current_usage();
            ALLOCATED.reset_peak_usage();
            let read = Table::read_all(std::slice::from_ref(&path), &Data::default(), reading);
            let taken = (ALLOCATED.peak_usage() - before) as u64;
            let what = format!("{}, {order:?}: {taken} bytes", path.display());
            println!("{what}");
            assert!(taken <= LIMIT + BESIDE, "{what}");
            if fits {
                assert_eq!(read.unwrap().rows(), ROWS);
            } else {
                let said = read.unwrap_err().to_string();
                assert!(said.contains("leave too little of the 16 MiB"), "{said}");
            }
        }
    }
}
