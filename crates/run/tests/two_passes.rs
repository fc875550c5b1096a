//! A table with a column of numbers that hardly repeat, within little memory.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use facts_report::Record;
use facts_run::profiles::{Cuts, Profiles};
use facts_run::{Config, Listener, Reading, Silent, Table, run};
use parquet::arrow::ArrowWriter;

const ROWS: u64 = 120_000;

/// People whose income is a number of their own; the model does not read it.
fn people(folder: &Path) -> PathBuf {
    let mut text = "sex,degree,job,income,hired\n".to_owned();
    for row in 0..ROWS {
        let mixed = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let sex = ["f", "m"][(mixed % 2) as usize];
        let degree = ["none", "school", "college"][(mixed / 2 % 3) as usize];
        let income = match row % 50 {
            0 => "-1".to_owned(),
            _ => format!("{}.{:03}", mixed % 90_000, row % 1000),
        };
        let (steps, luck) = (mixed / 2 % 3 + mixed / 6 % 3, mixed / 18 % 4);
        let job = ["clerk", "sales", "boss"][(mixed / 6 % 3) as usize];
        let hired = ["no", "yes"][usize::from(steps + luck > 3)];
        writeln!(text, "{sex},{degree},{job},{income},{hired}").unwrap();
    }
    let path = folder.join("people.csv");
    std::fs::write(&path, text).unwrap();
    path
}

fn config(folder: &Path, settings: &[&str]) -> Config {
    let model = folder.join("model.json");
    let degree = r#""degree": {"none": -2, "school": -1, "college": 1}"#;
    let job = r#""job": {"clerk": -1, "sales": 0, "boss": 1.2}"#;
    let levels = format!(r#"{{{degree}, {job}, "sex": {{"f": 0, "m": 0.5}}}}"#);
    std::fs::write(
        &model,
        format!(r#"{{"intercept": 0.1, "levels": {levels}}}"#),
    )
    .unwrap();
    let text = format!(
        r#"
[model]
spec = "linear:{}"
favourable = 1
[label]
column = "hired"
favourable = "yes"
[protected.sex]
[features.degree]
order = ["none", "school", "college"]
[features.job]
[features.income]
quantiles = 4
missing-codes = ["-1"]
"#,
        model.display()
    );
    let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
    Config::parse("the test", &text, &settings).unwrap()
}

fn audited(config: &Config, path: &Path) -> Record {
    let paths = [path.to_owned()];
    let table = Table::read_all(&paths, &config.data, Reading::needed(config)).unwrap();
    run(config, &table, &Silent).unwrap()
}

/// What was found and under which names: all but what it took, and but how the edges were asked for.
fn findings(record: &Record) -> Vec<serde_json::Value> {
    let mut audit = serde_json::to_value(&record.audit).unwrap();
    for feature in audit["features"].as_array_mut().unwrap() {
        feature.as_object_mut().unwrap().remove("kind");
    }
    let keys = [
        "features",
        "population",
        "groups",
        "unaffected",
        "changes",
        "subgroups",
        "without_actions",
    ];
    keys.map(|key| audit[key].clone()).to_vec()
}

#[test]
fn bins_in_a_second_pass_are_the_bins_of_the_whole_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = people(folder.path());
    let shuffles = "evidence.shuffles=0";
    let whole = audited(&config(folder.path(), &[shuffles]), &path);
    let little = config(folder.path(), &[shuffles, "audit.max-memory-mib=20"]);
    let twice = audited(&little, &path);
    let told = |record: &Record| -> Vec<String> {
        let notes = record.notes.iter();
        let told = notes.filter(|note| note.starts_with("cut into bins while"));
        told.cloned().collect()
    };
    assert!(told(&whole).is_empty());
    // The first pass hashed the file.
    assert_eq!(twice.data, whole.data);
    let [note] = told(&twice).try_into().unwrap();
    assert!(note.contains("income (exactly)"), "{note}");
    assert!(whole.audit.subgroups.len() > 10);
    for (twice, whole) in findings(&twice).iter().zip(findings(&whole)) {
        assert!(*twice == whole, "{twice:.2000} and not {whole:.2000}");
    }
}

/// A second pass over other files would cut their rows at the edges of the first.
#[test]
fn a_table_that_changes_between_two_passes_is_refused() {
    struct Writer(PathBuf);
    impl Listener for Writer {
        fn reading(&self, _file: usize, _files: usize, _rows: u64) {
            let text = "sex,degree,job,income,hired\nf,none,boss,1.5,yes\n";
            std::fs::write(&self.0, text).unwrap();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let parts = folder.path().join("parts");
    std::fs::create_dir(&parts).unwrap();
    people(&parts);
    let config = config(folder.path(), &["audit.max-memory-mib=20"]);
    let writer = Writer(parts.join("written-later.csv"));
    let reading = Reading::needed(&config).heard_by(&writer);
    let read = Table::read_all(&[parts], &config.data, reading);
    let error = read.unwrap_err().to_string();
    assert!(
        error.starts_with("parts: its files changed between two readings"),
        "{error}"
    );
}

#[test]
fn files_are_not_hashed_for_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = [people(folder.path())];
    let config = config(folder.path(), &["audit.max-memory-mib=1024"]);
    let hash = |reading| {
        let table = Table::read_all(&path, &config.data, reading).unwrap();
        table.origin.sha256
    };
    assert!(hash(Reading::needed(&config)).is_some());
    assert_eq!(hash(Reading::needed(&config).unhashed()), None);
}

/// The same people as Parquet, where one of them has another income.
fn with_income(folder: &Path, income: f64) -> PathBuf {
    let (mut columns, mut incomes) = (vec![Vec::new(); 4], Vec::new());
    let text = std::fs::read_to_string(people(folder)).unwrap();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        for (column, at) in columns.iter_mut().zip([0, 1, 2, 4]) {
            column.push(cells[at].to_owned());
        }
        incomes.push(cells[3].parse::<f64>().unwrap());
    }
    incomes[100_001] = income;
    let names = ["sex", "degree", "job", "hired"].into_iter();
    let texts = names.zip(columns).map(|(name, column)| {
        let array: ArrayRef = Arc::new(StringArray::from(column));
        (name, array)
    });
    let income: ArrayRef = Arc::new(Float64Array::from(incomes));
    let batch = RecordBatch::try_from_iter(texts.chain([("income", income)])).unwrap();
    parquet(folder, &batch)
}

/// More numbers than are counted one by one, none of them twice, and among them codes for missing ones: one below
/// all numbers and one above.
fn with_codes(folder: &Path) -> PathBuf {
    let texts = |values: &[&'static str]| -> ArrayRef {
        let values = values.iter().cycle().take(600_000).copied();
        Arc::new(StringArray::from_iter_values(values))
    };
    let income = (0..600_000).map(|row| match row % 1000 {
        7 => -9.0,
        8 => 9_999_999.0,
        _ => 20_000.0 + f64::from(row) / 10.0,
    });
    let columns = [
        ("sex", texts(&["f", "m", "m"])),
        ("degree", texts(&["none", "school", "college", "school"])),
        ("job", texts(&["clerk", "sales", "boss", "clerk", "boss"])),
        (
            "hired",
            texts(&["no", "no", "yes", "no", "no", "no", "yes"]),
        ),
        (
            "income",
            Arc::new(Float64Array::from_iter_values(income)) as ArrayRef,
        ),
    ];
    parquet(folder, &RecordBatch::try_from_iter(columns).unwrap())
}

fn parquet(folder: &Path, batch: &RecordBatch) -> PathBuf {
    let path = folder.join("people.parquet");
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    path
}

/// Everybody falls into a bin, whatever the sketch kept.
#[test]
fn codes_for_missing_numbers_move_no_edge() {
    let folder = tempfile::tempdir().unwrap();
    let path = with_codes(folder.path());
    let settings = [
        "evidence.shuffles=0",
        "audit.max-memory-mib=64",
        "audit.max-length=1",
        "features.income.missing-codes=[\"-9\", \"9999999\"]",
    ];
    let told = audited(&config(folder.path(), &settings), &path);
    let note = told
        .notes
        .iter()
        .find(|note| note.starts_with("cut into bins while"));
    assert!(note.unwrap().contains("income (within 0.0"), "{note:?}");
    let mut features = told.audit.features.iter();
    let income = features.find(|f| f.name == "income").unwrap();
    assert_eq!(income.range.map(|range| range.0), Some(20_000.0));
    assert_eq!(income.levels.len(), 5, "four bins, and missing ones");
}

#[test]
fn what_is_not_finite_is_refused_in_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let little = "audit.max-memory-mib=20";
    let open = "features.income.edges=[-inf, 20000, 40000, inf]";
    let quantiles = "evidence.shuffles=0";
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let path = [with_income(folder.path(), value)];
        for bins in [quantiles, open] {
            let refusals = [&[bins][..], &[bins, little]].map(|settings| {
                let mut config = config(folder.path(), settings);
                if bins == open {
                    config.features.get_mut("income").unwrap().quantiles = None;
                }
                let reading = Reading::needed(&config);
                let table = Table::read_all(&path, &config.data, reading).unwrap();
                let is_cut = !table.cells.placed_bins().is_empty();
                assert_eq!(is_cut, settings.contains(&little));
                run(&config, &table, &Silent).unwrap_err().to_string()
            });
            let expected = format!(
                "column `income`, row 100002: {value} is not a finite number; make it null if it is missing"
            );
            for refusal in refusals {
                assert!(refusal.contains(&expected), "{refusal}");
            }
        }
    }
}

#[test]
fn a_model_that_sees_bins_is_fitted_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = people(folder.path());
    let config = config(
        folder.path(),
        &[
            "model.spec=train",
            "features.income.model-sees=label",
            "audit.max-memory-mib=20",
            "evidence.shuffles=0",
        ],
    );
    let record = audited(&config, &path);
    let training = record.model.training.unwrap();
    assert_eq!(training.train_rows + training.test_rows, ROWS);
    assert!(
        record
            .notes
            .iter()
            .any(|note| note.contains("income (exactly)"))
    );
}

#[test]
fn numbers_that_the_model_reads_are_not_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = [people(folder.path())];
    let settings = ["model.spec=train", "audit.max-memory-mib=20"];
    let config = config(folder.path(), &settings);
    let read = Table::read_all(&path, &config.data, Reading::needed(&config));
    let error = read.unwrap_err().to_string();
    assert!(error.contains("`income` has"), "{error}");
}

/// The profiles of a table within so much memory.
fn counted(config: &Config, path: &Path, cuts: &Cuts, suppress_below: Option<u64>) -> Profiles {
    let placed = match cuts {
        Cuts::Of(other) => other.placed(config).unwrap(),
        _ => Vec::new(),
    };
    let reading = Reading::for_profiles(config, cuts, &placed, suppress_below);
    let table = Table::read_all(&[path.to_owned()], &config.data, reading).unwrap();
    Profiles::of(config, table, cuts, suppress_below, &Silent).unwrap()
}

/// Only names of bins are written, so memory does not follow the numbers: for bins that are said, guessed, or
/// those of other profiles.
#[test]
fn profiles_of_numbers_that_hardly_repeat_are_made_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = people(folder.path());
    let with = |memory: &str| {
        let settings = [memory.to_owned(), "data.missing-codes=[\"-1\"]".to_owned()];
        Config::parse(
            "the test",
            "[protected.sex]\n[label]\ncolumn = \"hired\"\n",
            &settings,
        )
        .unwrap()
    };
    let (much, little) = (
        with("audit.max-memory-mib=4096"),
        with("audit.max-memory-mib=20"),
    );
    let whole = counted(&much, &path, &Cuts::OfTable, None);
    let income = whole
        .manifest
        .columns
        .iter()
        .find(|c| c.name == "income")
        .unwrap();
    let bins = income.bins.as_ref().unwrap();
    assert_eq!(bins.labels.len(), 5);
    // Codes for missing values are in no bin.
    let held = whole.batch.column_by_name("income").unwrap();
    assert!(held.null_count() > 0);
    let counts = whole.batch.column(whole.batch.num_columns() - 1).clone();
    let counts = counts.as_primitive::<UInt64Type>();
    let missing: u64 = (0..held.len())
        .filter(|&row| held.is_null(row))
        .map(|row| counts.value(row))
        .sum();
    assert_eq!(missing, ROWS / 50);

    let twice = counted(&little, &path, &Cuts::OfTable, None);
    assert!(twice.parquet().unwrap() == whole.parquet().unwrap());
    let like = Cuts::Of(whole.manifest.clone());
    let once = counted(&little, &path, &like, None);
    assert_eq!(once.manifest, whole.manifest);
    assert!(once.parquet().unwrap() == whole.parquet().unwrap());

    let cut = |config: &Config, suppress_below| {
        let mut config = config.clone();
        let income = config.overrides.entry("income".into()).or_default();
        income.quantiles = Some(4);
        let cuts = Cuts::OfColumns(vec!["income".into()]);
        counted(&config, &path, &cuts, suppress_below)
    };
    let (twice, whole) = (cut(&little, None), cut(&much, None));
    assert!(twice.parquet().unwrap() == whole.parquet().unwrap());
    // An edge that is somebody's number is told to three digits.
    let shared = cut(&little, Some(10)).manifest.columns;
    let bins = shared
        .iter()
        .find(|c| c.name == "income")
        .unwrap()
        .bins
        .clone();
    for cut in bins.unwrap().cuts {
        assert_eq!(format!("{cut:.2e}").parse::<f64>().unwrap(), cut);
    }
    // Without bins, the numbers themselves are asked for, and do not fit.
    let reading = Reading::for_profiles(&little, &Cuts::None, &[], None);
    let read = Table::read_all(&[path], &little.data, reading);
    assert!(read.unwrap_err().to_string().contains("`income` has"));
}

/// The edges of bins, and the least and the greatest number, would be those of single people.
#[test]
fn numbers_of_single_people_are_no_edges_where_small_counts_are_suppressed() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [people(folder.path())];
    let settings = ["audit.suppress-below=10", "audit.max-memory-mib=20"];
    let config = config(folder.path(), &settings);
    let read = Table::read_all(&paths, &config.data, Reading::needed(&config));
    let error = read.map(|table| table.rows()).unwrap_err().to_string();
    assert!(error.contains("of the 20 MiB allowed"), "{error}");
}
