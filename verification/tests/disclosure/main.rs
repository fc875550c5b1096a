//! What is written when small counts are suppressed tells nothing of fewer than k people, whatever is
//! subtracted from what: an attacker who has all files solves the equations between them.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod attacker;
mod explorer;
mod payload;
mod reading;

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::{Array, BooleanArray, Float64Array, StringArray, UInt64Array};
use facts_report::answer::first_screen;
use facts_report::text::Palette;
use facts_report::{FORMS, Record, Report, Showing};
use facts_run::pack::{Packing, pack};
use facts_run::{Config, Silent, Table, run, saved};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use self::attacker::Attacker;

const K: [u64; 3] = [5, 10, 30];

/// A data set, and how it is audited: with as many subgroups as an audit of it may well have.
struct Audited {
    config: Config,
    table: Table,
}

fn audited(name: &str, text: &str, bytes: &'static [u8], settings: &[&str]) -> Audited {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let config = Config::parse("facts.toml", text, &settings).unwrap();
    let table = Table::embedded(name, bytes, &config.data).unwrap();
    Audited { config, table }
}

impl Audited {
    fn hiring() -> Self {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/hiring/model.json");
        let model = format!("model.spec=linear:{}", model.display());
        audited(
            "people.csv",
            include_str!("../../../examples/hiring/facts.toml"),
            include_bytes!("../../../examples/hiring/people.csv"),
            &[&model, "audit.support=0.01", "evidence.shuffles=99"],
        )
    }

    fn adult() -> Self {
        audited(
            "adult.csv.gz",
            include_str!("../../../data/adult/facts.toml"),
            facts_reproduce::tables::ADULT,
            &[
                "audit.support=0.02",
                "audit.max-length=3",
                "evidence.shuffles=0",
                "evidence.resamples=0",
            ],
        )
    }

    fn compas() -> Self {
        let experiment = facts_reproduce::Experiment::named("compas").unwrap();
        audited(
            "compas.csv.gz",
            experiment.config,
            facts_reproduce::tables::COMPAS,
            &[
                "audit.min-members=5",
                "evidence.shuffles=0",
                "evidence.resamples=0",
            ],
        )
    }

    fn record(&self, suppress_below: Option<u64>) -> Record {
        let mut config = self.config.clone();
        config.audit.suppress_below = suppress_below;
        run(&config, &self.table, &Silent).unwrap()
    }

    /// With all that supports findings: tests, intervals, variants and a hold-out.
    fn with_evidence(mut self) -> Self {
        let evidence = &mut self.config.evidence;
        evidence.shuffles = Some(99);
        evidence.resamples = Some(50);
        evidence.detailed = Some(3);
        evidence.stability = Some(true);
        evidence.hold_out = Some(0.5);
        self
    }
}

/// What an attacker finds in everything that is written of a record, and in what is answered about it.
fn attack(record: &Record, k: u64, together: usize) -> Attacker {
    let document = serde_json::to_value(record).unwrap();
    let mut attacker = Attacker::of(&document, k);
    let report = Report::new(record).unwrap();
    attacker.form("first screen");
    attacker.read_text(&first_screen(&report, &[], &Palette::PLAIN));
    let mut written = BTreeMap::new();
    for form in FORMS {
        let bytes = (form.write)(&report, &Showing::default()).unwrap();
        written.insert(form.file, bytes);
    }
    written
        .iter()
        .for_each(|(file, bytes)| read(&mut attacker, file, bytes, &written));
    for (file, bytes) in packed(record) {
        match file.strip_prefix("reports/") {
            // Read already.
            Some(file) if written[file] == bytes => {}
            _ if file == "audit.json.gz" => {
                let kept = saved::unpacked(&file, bytes).unwrap();
                assert_eq!(serde_json::to_value(kept).unwrap(), document);
            }
            _ => read(&mut attacker, &format!("pack: {file}"), &bytes, &written),
        }
    }
    explorer::ask(record, &mut attacker);

    attacker.subtract();
    attacker.exclude();
    attacker.solve(together);
    attacker.subtract();
    attacker
}

/// Reads one file of those that are written, by the end of its name.
fn read(attacker: &mut Attacker, file: &str, bytes: &[u8], written: &BTreeMap<&str, Vec<u8>>) {
    attacker.form(file);
    let text = || std::str::from_utf8(bytes).unwrap();
    match file.rsplit_once('.') {
        Some((_, "csv")) => attacker.read_sheet(text()),
        Some((name, "parquet")) => same_cells(bytes, &written[format!("{name}.csv").as_str()]),
        Some((_, "json")) => attacker.read_json(&serde_json::from_str(text()).unwrap()),
        Some((_, "html")) => attacker.read_page(text()),
        Some((_, "txt" | "md" | "toml" | "sha256")) => attacker.read_text(text()),
        _ => panic!("how is {file} to be read?"),
    }
}

/// A Parquet file holds the cells of its CSV and nothing else, so whoever has read the one has read both.
fn same_cells(bytes: &[u8], sheet: &[u8]) {
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let about = reader.metadata().file_metadata().key_value_metadata();
    let about = about.into_iter().flatten();
    assert!(about.into_iter().all(|pair| pair.key == "ARROW:schema"));
    let mut lines = std::str::from_utf8(sheet).unwrap().lines();
    let header = attacker::fields(lines.next().unwrap());
    let mut told = 0;
    for batch in reader.build().unwrap() {
        let batch = batch.unwrap();
        let names = batch.schema_ref().fields().iter().map(|field| field.name());
        assert!(names.eq(&header));
        for row in 0..batch.num_rows() {
            let line = attacker::fields(lines.next().unwrap());
            for (column, cell) in batch.columns().iter().zip(&line) {
                let any = column.as_any();
                let same = if column.is_null(row) {
                    cell.is_empty()
                } else if let Some(texts) = any.downcast_ref::<StringArray>() {
                    texts.value(row).replace('"', "") == *cell
                } else if let Some(counts) = any.downcast_ref::<UInt64Array>() {
                    counts.value(row).to_string() == *cell
                } else if let Some(flags) = any.downcast_ref::<BooleanArray>() {
                    flags.value(row).to_string() == *cell
                } else {
                    let numbers = any.downcast_ref::<Float64Array>().unwrap();
                    Ok(numbers.value(row)) == cell.parse()
                };
                assert!(same, "{cell}: {column:?}");
                told += 1;
            }
        }
    }
    assert!(
        lines.next().is_none(),
        "the CSV tells more, after {told} cells"
    );
}

/// The files of an evidence pack: the saved audit and a configuration, judged by the gate.
fn packed(record: &Record) -> Vec<(String, Vec<u8>)> {
    const BLOCK: usize = 512;
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("result");
    std::fs::create_dir(&result).unwrap();
    std::fs::write(result.join("audit.json.gz"), saved::packed(record).unwrap()).unwrap();
    let config = folder.path().join("facts.toml");
    std::fs::write(&config, "[report]\ntop = 3\n").unwrap();
    let packing = Packing {
        result: &result,
        config: Some(&config),
        settings: &[],
        key: None,
    };
    let (_, archive) = pack(&packing, &Silent).unwrap();
    let mut files = Vec::new();
    let mut rest = &archive[..];
    while rest[0] != 0 {
        let text = |from: usize, to: usize| {
            let text = std::str::from_utf8(&rest[from..to]).unwrap();
            text.trim_end_matches('\0').to_owned()
        };
        let size = usize::from_str_radix(&text(124, 136), 8).unwrap();
        files.push((text(0, 100), rest[BLOCK..BLOCK + size].to_vec()));
        rest = &rest[BLOCK + size.next_multiple_of(BLOCK)..];
    }
    assert!(files.len() > FORMS.len());
    files
}

/// Every level, least and greatest number that is named is that of at least k people of the table.
fn nobody_is_named(audited: &Audited, record: &Record, k: u64) {
    for feature in &record.audit.features {
        // A number is told as it is, or as the mean of neighbours.
        let shared = &audited.table.cells.with_shared_numbers(&[&feature.name], k);
        let column = shared.as_ref().unwrap().column(&feature.name).unwrap();
        let counts = column.counts();
        let holders = |of: &dyn Fn(&facts_engine::population::Value) -> bool| -> u64 {
            let values = column.column().values().iter().zip(&counts);
            values
                .filter(|(value, _)| of(value))
                .map(|(_, &rows)| rows as u64)
                .sum()
        };
        for level in feature.levels.iter().filter(|level| level.bounds.is_none()) {
            let Some(number) = level.number else {
                let label = level.label.trim();
                let people = holders(&|value| value.label().trim() == label);
                let missing = feature.missing.map(|m| feature.label(m));
                assert!(
                    people >= k || missing == Some(label),
                    "{}: {label} is {people}",
                    feature.name
                );
                continue;
            };
            let people = holders(&|value| value.number() == Some(number));
            assert!(people >= k, "{}: {number} is {people}", feature.name);
        }
        for end in feature
            .range
            .into_iter()
            .flat_map(|(least, greatest)| [least, greatest])
        {
            let people = holders(&|value| value.number() == Some(end));
            assert!(people >= k, "{}: {end} is {people}", feature.name);
        }
    }
}

/// Forms that need not tell of people: what Parquet files repeat, what names the audits, and what stands in every
/// evidence pack; the gate's word where no rule is broken. Stories are told where there are some; drivers never
/// are, where small counts are suppressed.
const WITHOUT_PEOPLE: [&str; 13] = [
    "actions.parquet",
    "drivers.csv",
    "drivers.parquet",
    "explorer: session",
    "pack: README.txt",
    "pack: config/facts.toml",
    "pack: manifest.json",
    "pack: manifest.json.sha256",
    "people.parquet",
    "stories.parquet",
    "subgroups.parquet",
    "pack: gate/check.json",
    "pack: gate/check.txt",
];

fn nothing_is_found(audited: &Audited, levels: &[u64], together: usize) {
    for &k in levels {
        let record = audited.record(Some(k));
        assert!(!record.audit.subgroups.is_empty(), "nothing is left at {k}");
        let attacker = attack(&record, k, together);
        println!("k = {k}: {} subgroups", record.audit.subgroups.len());
        let stories = record.answer.as_ref().unwrap().stories.len();
        for (form, told) in &attacker.told {
            println!("  {form}: {told}");
            let empty = WITHOUT_PEOPLE.contains(&form.as_str());
            let empty = empty || stories == 0 && form.contains("stories");
            assert!(*told > 0 || empty, "nothing was read from {form} at {k}");
        }
        let unknown = attacker.unknown;
        assert!(unknown.is_empty(), "are these about people? {unknown:?}");
        let (solved, left) = attacker.systems;
        println!("  systems of equations: {solved}, and {left} with fewer than two numbers");
        let found = attacker.found;
        assert!(
            found.is_empty(),
            "{} at {k}: {:?}",
            found.len(),
            found.first()
        );
        nobody_is_named(audited, &record, k);
    }
}

/// What suppression costs, as `docs/privacy.md` tells it:
/// `cargo test --workspace --test disclosure -- --ignored --nocapture`.
#[test]
#[ignore = "a table for the docs, not a check"]
fn price() {
    let data = [
        ("Adult", Audited::adult()),
        ("COMPAS", Audited::compas()),
        ("hiring", Audited::hiring()),
    ];
    for (name, mut audited) in data {
        audited.config.evidence.shuffles = Some(1000);
        for k in [None, Some(5), Some(10), Some(30)] {
            let mut config = audited.config.clone();
            config.audit.suppress_below = k;
            let record = match run(&config, &audited.table, &Silent) {
                Ok(record) => record,
                Err(failure) => {
                    println!("| {name} | {k:?} | {failure}");
                    continue;
                }
            };
            let audit = &record.audit;
            let evidence = record.evidence.as_ref().unwrap();
            let together = |s: usize| evidence.passing_together(s).count();
            let passing: usize = (0..audit.subgroups.len()).map(together).sum();
            let answer = record.answer.as_ref().unwrap();
            println!(
                "| {name} | {k:?} | {} rows | {} subgroups | {passing} pass | {} stories | {:?} | {:?}",
                audit.sizes.profiles,
                audit.subgroups.len(),
                answer.stories.len(),
                audit
                    .groups
                    .iter()
                    .map(|g| (g.people, g.affected))
                    .collect::<Vec<_>>(),
                record
                    .notes
                    .iter()
                    .find(|note| note.contains("another answer")),
            );
        }
    }
}

#[test]
fn the_attacker_finds_people_where_only_small_counts_are_left_out() {
    let mut record = Audited::hiring().record(None);
    record.audit = record.audit.suppressed(10);
    // They were made of all subgroups.
    (record.evidence, record.answer) = (None, None);
    let found = attack(&record, 10, 2).found;
    let by_solving = found.iter().filter(|what| what.contains("told: ")).count();
    assert!(
        found.len() > 100 && by_solving > 50,
        "{} and {by_solving}",
        found.len()
    );
}

#[test]
fn nothing_is_found_in_hiring() {
    nothing_is_found(&Audited::hiring().with_evidence(), &K, 3);
}

#[test]
fn nothing_is_found_in_adult() {
    nothing_is_found(&Audited::adult(), &K, 2);
}

#[test]
fn nothing_is_found_in_compas() {
    nothing_is_found(&Audited::compas(), &K, 2);
}

#[test]
fn nothing_is_found_in_adult_with_evidence() {
    nothing_is_found(&Audited::adult().with_evidence(), &[10], 2);
}

#[test]
fn nothing_is_found_in_compas_with_evidence() {
    nothing_is_found(&Audited::compas().with_evidence(), &[10], 2);
}
