//! The same audit from one file and from its parts, however they are named.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray,
};
use arrow_schema::DataType;
use facts_report::{Origin, Record};
use facts_run::profiles::{BinNames, Cuts, Manifest, Profiles};
use facts_run::{Config, Failure, Listener, Reading, RowOrder, Silent, Table, run};

fn hiring(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/hiring")
        .join(file)
}

/// A configuration with the example's model, or with one that is fitted.
fn config(trains: bool, settings: &[String]) -> Config {
    let model = match trains {
        true => "[model]\nspec = \"train\"\n".to_owned(),
        false => format!(
            "[model]\nspec = \"linear:{}\"\nfavourable = 1\n",
            hiring("model.json").display()
        ),
    };
    let label = "[label]\ncolumn = \"kept\"\nfavourable = \"yes\"\n";
    let text =
        format!("{model}{label}[protected.sex]\n[evidence]\nshuffles = 39\nresamples = 20\n");
    Config::parse("the test", &text, settings).unwrap()
}

/// What is saved, but for where the table lies and how long it took.
fn audit(paths: &[PathBuf], trains: bool, order: RowOrder) -> (Record, String) {
    saved(&config(trains, &[]), paths, order)
}

/// The same with further settings.
fn audit_with(paths: &[PathBuf], settings: &[String]) -> (Record, String) {
    saved(&config(false, settings), paths, RowOrder::Forgotten)
}

fn saved(config: &Config, paths: &[PathBuf], order: RowOrder) -> (Record, String) {
    let table = Table::read_all(paths, &config.data, order).unwrap();
    let record = run(config, &table, &Silent).unwrap();
    let mut saved = serde_json::to_value(&record).unwrap();
    let fields = saved.as_object_mut().unwrap();
    fields.remove("data");
    fields.remove("made");
    let audit = fields.get_mut("audit").unwrap().as_object_mut().unwrap();
    audit.remove("seconds");
    (record, saved.to_string())
}

/// The example in seven files of unequal length, with what writers leave beside them.
fn seven_parts(folder: &Path) {
    let text = std::fs::read_to_string(hiring("people.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    let mut start = 0;
    for part in 0..7 {
        let end = rows.len() * (part + 1) * (part + 2) / 56;
        let part_of = rows[start..end].join("\n");
        let name = folder.join(format!("part-{part:05}.csv"));
        std::fs::write(name, format!("{header}\n{part_of}\n")).unwrap();
        start = end;
    }
    assert_eq!(start, rows.len());
    std::fs::write(folder.join("_SUCCESS"), "").unwrap();
    std::fs::write(folder.join(".part-00000.csv.crc"), [0, 1, 2]).unwrap();
}

#[test]
fn seven_parts_give_the_audit_of_one_file() {
    let folder = tempfile::tempdir().unwrap();
    seven_parts(folder.path());
    let whole = [hiring("people.csv")];
    let parts = [folder.path().to_owned()];
    let pattern = [folder.path().join("part-*.csv")];
    let listed: Vec<PathBuf> = (0..7)
        .rev()
        .map(|part| folder.path().join(format!("part-{part:05}.csv")))
        .collect();
    for trains in [false, true] {
        let (_, expected) = audit(&whole, trains, RowOrder::Kept);
        let (record, from_folder) = audit(&parts, trains, RowOrder::Kept);
        assert_eq!(from_folder, expected);
        let files = &record.data.files;
        assert_eq!(files.len(), 7);
        assert_eq!(files[0].name, "part-00000.csv");
        let rows: u64 = files.iter().map(|file| file.rows).sum();
        assert_eq!(rows, 600);
        assert!(
            files
                .iter()
                .all(|file| file.sha256.as_ref().unwrap().len() == 64)
        );
        assert_eq!(audit(&pattern, trains, RowOrder::Kept).1, expected);
        assert_eq!(audit(&listed, trains, RowOrder::Kept).1, expected);
        if !trains {
            assert_eq!(audit(&parts, trains, RowOrder::Forgotten).1, expected);
        }
    }
}

#[test]
fn what_keeps_rows_apart_is_named_where_no_profile_is_left() {
    let config = config(false, &[]);
    let notes = Notes::default();
    let told = |suppress_below| {
        let table = Table::read_all(&[hiring("people.csv")], &config.data, RowOrder::Forgotten);
        Profiles::of(
            &config,
            table.unwrap(),
            &Cuts::None,
            Some(suppress_below),
            &notes,
        )
        .unwrap();
        std::mem::take(&mut *notes.0.lock().unwrap()).join("; ")
    };
    let none = told(1000);
    assert!(
        none.contains("no profile is left") && none.contains("`years` has the most"),
        "{none}"
    );
    assert!(!told(2).contains("no profile is left"));
}

/// The example as three sites have it, each in a file of its own.
fn three_sites(folder: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(hiring("people.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    let site = |site: usize| {
        let rows = rows.iter().enumerate();
        let rows: Vec<&str> = rows
            .filter(|(row, _)| row * row % 3 + row % 2 == site)
            .map(|(_, row)| *row)
            .collect();
        assert!(rows.len() > 50);
        let path = folder.join(format!("site-{site}.csv"));
        std::fs::write(&path, format!("{header}\n{}\n", rows.join("\n"))).unwrap();
        path
    };
    (0..3).map(site).collect()
}

fn profiles(paths: &[PathBuf], cuts: &Cuts, suppress_below: Option<u64>) -> Profiles {
    let mut config = config(false, &[]);
    let years = config.overrides.entry("years".to_owned()).or_default();
    years.quantiles = Some(3);
    let table = Table::read_all(paths, &config.data, RowOrder::Forgotten).unwrap();
    Profiles::of(&config, table, cuts, suppress_below, &Silent).unwrap()
}

fn written(profiles: &Profiles, path: &Path) -> PathBuf {
    std::fs::write(path, profiles.parquet().unwrap()).unwrap();
    path.to_owned()
}

#[test]
fn profiles_of_three_sites_give_the_audit_of_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let sites = three_sites(folder.path());
    let counted: Vec<PathBuf> = sites
        .iter()
        .map(|site| {
            let profiles = profiles(std::slice::from_ref(site), &Cuts::None, None);
            written(&profiles, &site.with_extension("parquet"))
        })
        .collect();
    let merged = profiles(&counted, &Cuts::None, None);
    assert_eq!(merged.manifest.rows, 600);
    let merged = [written(&merged, &folder.path().join("merged.profiles"))];
    let one = [hiring("people.csv")];
    let (_, expected) = audit(&one, false, RowOrder::Kept);
    assert_eq!(audit(&sites, false, RowOrder::Forgotten).1, expected);
    assert_eq!(audit(&counted, false, RowOrder::Kept).1, expected);
    assert_eq!(audit(&merged, false, RowOrder::Forgotten).1, expected);
    // The profiles of the whole are those of the parts, to the byte.
    let whole = profiles(&one, &Cuts::None, None);
    assert_eq!(whole.parquet().unwrap(), std::fs::read(&merged[0]).unwrap());
}

/// Shuffles and resamples draw people by number, and numbers do not depend on the order of rows.
#[test]
fn rows_in_any_order_give_one_audit() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(hiring("people.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    let (record, expected) = audit(&[hiring("people.csv")], false, RowOrder::Forgotten);
    let evidence = record.evidence.unwrap();
    assert!(!evidence.tests.is_empty() && !evidence.intervals.is_empty());
    let private = ["audit.suppress-below=5".to_owned()];
    let (_, expected_private) = audit_with(&[hiring("people.csv")], &private);
    // Neither number has a factor in common with 600.
    for step in [599, 271] {
        let mixed: Vec<&str> = (0..rows.len())
            .map(|row| rows[row * step % rows.len()])
            .collect();
        let path = [folder.path().join(format!("{step}.csv"))];
        std::fs::write(&path[0], format!("{header}\n{}\n", mixed.join("\n"))).unwrap();
        assert_eq!(audit(&path, false, RowOrder::Forgotten).1, expected);
        assert_eq!(audit_with(&path, &private).1, expected_private);
    }
}

#[test]
fn bins_are_fixed_once() {
    let folder = tempfile::tempdir().unwrap();
    let sites = three_sites(folder.path());
    let first = profiles(&sites[..1], &Cuts::OfTable, None);
    let first_path = written(&first, &folder.path().join("0.parquet"));
    let cuts = Cuts::Of(Manifest::of_file(&first_path).unwrap());
    let cut = first.manifest.columns.iter();
    let cut: Vec<&str> = cut
        .filter(|column| column.bins.is_some())
        .map(|column| column.name.as_str())
        .collect();
    assert!(!cut.is_empty(), "the example has a number that is cut");
    let mut counted = vec![first_path];
    for (number, site) in (1..).zip(&sites[1..]) {
        let profiles = profiles(std::slice::from_ref(site), &cuts, None);
        counted.push(written(
            &profiles,
            &folder.path().join(format!("{number}.parquet")),
        ));
    }
    let merged = profiles(&counted, &Cuts::None, None);
    let whole = profiles(&sites, &cuts, None);
    assert_eq!(merged.parquet().unwrap(), whole.parquet().unwrap());

    // Cut elsewhere, or not at all, they do not add up.
    let mut elsewhere = Manifest::of_file(&counted[0]).unwrap();
    let years = elsewhere.columns.iter_mut();
    for column in years.filter(|column| column.bins.is_some()) {
        column.bins = Some(BinNames::new(vec![5.0]));
    }
    for other in [Cuts::Of(elsewhere), Cuts::None] {
        let other = profiles(&sites[1..2], &other, None);
        let path = written(&other, &folder.path().join("other.parquet"));
        let paths = [counted[0].clone(), path];
        let data = Config::default().data;
        let read = Table::read_all(&paths, &data, RowOrder::Kept);
        let error = read.map(|table| table.rows()).unwrap_err().to_string();
        assert!(
            error.contains("other.parquet is no part of this table"),
            "{error}"
        );
        assert!(error.contains(cut[0]), "{error}");
    }
}

#[test]
fn small_profiles_are_left_out_and_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let all = profiles(&[hiring("people.csv")], &Cuts::OfTable, None);
    let some = profiles(&[hiring("people.csv")], &Cuts::OfTable, Some(4));
    let suppressed = some.manifest.suppressed.unwrap();
    assert!(some.manifest.rows < all.manifest.rows);
    assert_eq!(
        suppressed.rows.unwrap() + some.manifest.rows,
        all.manifest.rows
    );
    let counts = some.batch.column(some.batch.num_columns() - 1).clone();
    let counts = counts.as_primitive::<arrow_array::types::UInt64Type>();
    assert!(counts.values().iter().all(|&count| count >= 4));
    let path = written(&some, &folder.path().join("some.parquet"));
    let read = Table::read(&path, &Config::default().data).unwrap();
    assert_eq!(read.rows() as u64, some.manifest.rows);
    assert_eq!(read.manifest.as_deref(), Some(&some.manifest));
    // A number that is itself too small is not told.
    let few = profiles(&[hiring("people.csv")], &Cuts::OfTable, Some(10_000));
    assert_eq!(few.manifest.suppressed.unwrap().rows, None);
}

/// Years to a millionth, which nobody shares: an edge that is one of them names somebody.
#[test]
fn edges_of_suppressed_profiles_are_numbers_of_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(hiring("people.csv")).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let years = header.iter().position(|name| *name == "years").unwrap();
    let mut held = Vec::new();
    let mut exact = header.join(",");
    // So many that both edges of thirds are somebody's.
    for (row, line) in lines.take(598).enumerate() {
        let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
        let number: f64 = fields[years].parse().unwrap();
        fields[years] = format!("{:.6}", number + 0.000_731 * (row + 1) as f64);
        held.push(fields[years].parse::<f64>().unwrap());
        exact += &format!("\n{}", fields.join(","));
    }
    let path = folder.path().join("exact.csv");
    std::fs::write(&path, exact + "\n").unwrap();
    let edges = |suppress_below| -> Vec<f64> {
        let made = profiles(std::slice::from_ref(&path), &Cuts::OfTable, suppress_below);
        let mut columns = made.manifest.columns.into_iter();
        let years = columns.find(|column| column.name == "years").unwrap();
        years.bins.unwrap().cuts
    };
    let of_somebody = |edge: &f64| held.contains(edge);
    assert!(edges(None).iter().any(of_somebody));
    let shared = edges(Some(10));
    assert!(
        !shared.is_empty() && !shared.iter().any(of_somebody),
        "{shared:?}"
    );
}

/// A site of which every profile was left out has no rows to add, and is not forgotten.
#[test]
fn a_site_that_was_left_out_whole_is_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let sites = three_sites(folder.path());
    let there = profiles(&sites[..1], &Cuts::None, None);
    let there = written(&there, &folder.path().join("a.parquet"));
    let gone = profiles(&sites[1..2], &Cuts::None, Some(10_000));
    assert_eq!((gone.manifest.rows, gone.batch.num_rows()), (0, 0));
    let gone = written(&gone, &folder.path().join("b.parquet"));
    let merged = profiles(&[there.clone(), gone.clone()], &Cuts::None, None);
    let suppressed = merged.manifest.suppressed.unwrap();
    assert_eq!((suppressed.below, suppressed.rows), (10_000, None));
    let (record, _) = audit(&[there.clone(), gone], false, RowOrder::Forgotten);
    let told = "its makers left out some rows";
    assert!(record.notes.iter().any(|note| note.contains(told)));

    // Its bins are looked at, too.
    let cut = profiles(&sites[1..2], &Cuts::OfTable, Some(10_000));
    let cut = written(&cut, &folder.path().join("c.parquet"));
    let data = Config::default().data;
    let read = Table::read_all(&[there, cut], &data, RowOrder::Kept);
    let error = read.map(|table| table.rows()).unwrap_err().to_string();
    assert!(
        error.contains("c.parquet is no part of this table"),
        "{error}"
    );
}

#[test]
fn merged_profiles_are_without_what_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let all = profiles(&[hiring("people.csv")], &Cuts::None, None);
    let path = [written(&all, &folder.path().join("all.parquet"))];
    let config = config(false, &["data.ignore=[\"region\"]".to_owned()]);
    let table = Table::read_all(&path, &config.data, RowOrder::Forgotten).unwrap();
    let fewer = Profiles::of(&config, table, &Cuts::None, None, &Silent).unwrap();
    assert!(fewer.batch.column_by_name("region").is_none());
    assert_eq!(fewer.manifest.columns.len() + 1, all.manifest.columns.len());
    assert!(fewer.manifest.profiles < all.manifest.profiles);
    assert_eq!(fewer.manifest.rows, 600);
}

/// Above the first look, too: rows of many profiles give the same bytes in any order, within the same memory.
#[test]
fn many_profiles_fit_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let profiles = 90_000_u64;
    let text = |step: u64| {
        let rows = 4 * profiles;
        let mut text = String::from("sex,years,kept\n");
        for row in 0..rows {
            // The step has no factor in common with the number of rows.
            let person = row * step % rows / 4;
            let sex = ["f", "m"][(person % 2) as usize];
            let kept = ["no", "yes"][(person % 3 % 2) as usize];
            text += &format!("{sex},{person},{kept}\n");
        }
        text
    };
    let read = |name: &str, step: u64| {
        let path = folder.path().join(name);
        std::fs::write(&path, text(step)).unwrap();
        let settings = ["audit.max-memory-mib=48".to_owned()];
        let config = Config::parse("the test", "[protected.sex]\n", &settings).unwrap();
        let table = Table::read_all(&[path], &config.data, Reading::needed(&config)).unwrap();
        let columns = ["sex", "years", "kept"];
        table.cells.profiles(&columns, "count").unwrap()
    };
    let sorted = read("sorted.csv", 1);
    assert_eq!(sorted.num_rows() as u64, profiles);
    assert!(sorted == read("shuffled.csv", 200_003));
}

/// Files that are named twice, and files that make a column text, are told of.
#[test]
fn what_is_odd_about_parts_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    seven_parts(folder.path());
    let at = |name: &str| folder.path().join(name);
    let twice = [at("."), at("part-00003.csv")];
    let data = Config::default().data;
    let table = Table::read_all(&twice, &data, RowOrder::Forgotten).unwrap();
    assert_eq!(table.rows(), 600);
    let (record, _) = audit(&twice, false, RowOrder::Forgotten);
    let told = |record: &Record, what: &str| record.notes.iter().any(|note| note.contains(what));
    assert!(told(
        &record,
        "files that are named more than once are read once: "
    ));

    let (record, _) = audit(&[at(".")], false, RowOrder::Forgotten);
    assert!(!told(&record, "more than once") && !told(&record, "taken for text"));
    let header = std::fs::read_to_string(at("part-00002.csv")).unwrap();
    let header = header.lines().next().unwrap().to_owned();
    let place = header.split(',').position(|name| name == "years").unwrap();
    let text = std::fs::read_to_string(at("part-00002.csv")).unwrap();
    let last = text.trim_end().rsplit('\n').next().unwrap();
    let mut cells: Vec<&str> = last.split(',').collect();
    cells[place] = "many";
    std::fs::write(at("part-00002.csv"), format!("{text}{}\n", cells.join(","))).unwrap();
    let table = Table::read_all(&[at(".")], &data, RowOrder::Forgotten).unwrap();
    assert_eq!(
        table.notes,
        ["taken for text, though some files hold no text there: years (first in part-00002.csv)"]
    );
}

/// Who listens hears of each file, and may stop it.
#[test]
fn reading_is_told_file_by_file() {
    #[derive(Default)]
    struct Heard(Mutex<Vec<(usize, usize, u64)>>);
    impl Listener for Heard {
        fn reading(&self, file: usize, files: usize, rows: u64) {
            self.0.lock().unwrap().push((file, files, rows));
        }
        fn check(&self) -> Result<(), Failure> {
            match self.0.lock().unwrap().len() {
                8 => Err(Failure::interrupted()),
                _ => Ok(()),
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    seven_parts(folder.path());
    let paths = [folder.path().to_owned()];
    let config = config(false, &[]);
    let heard = Heard::default();
    let reading = || Reading::needed(&config).heard_by(&heard);
    Table::read_all(&paths, &config.data, reading()).unwrap();
    let told = heard.0.lock().unwrap().clone();
    let files: Vec<(usize, usize)> = told.iter().map(|&(file, all, _)| (file, all)).collect();
    assert_eq!(files, (1..=7).map(|file| (file, 7)).collect::<Vec<_>>());
    assert_eq!(told[6].2, 600);
    assert!(told.is_sorted_by_key(|&(_, _, rows)| rows));
    let stopped = Table::read_all(&paths, &config.data, reading());
    assert!(stopped.is_err());
}

/// What is ignored is not read, so that rows which differ in nothing else are one.
#[test]
fn ignored_columns_keep_no_rows_apart() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(hiring("people.csv")).unwrap();
    let numbered: Vec<String> = (text.lines().enumerate())
        .map(|(row, line)| match row {
            0 => format!("{line},id"),
            row => format!("{line},p{row}"),
        })
        .collect();
    let path = [folder.path().join("numbered.csv")];
    std::fs::write(&path[0], numbered.join("\n")).unwrap();
    let ignoring = config(false, &["data.ignore=[\"id\"]".to_owned()]);
    let table = Table::read_all(&path, &ignoring.data, RowOrder::Forgotten).unwrap();
    let without = Table::read(&hiring("people.csv"), &ignoring.data).unwrap();
    assert_eq!(table.rows(), without.rows());
    assert_eq!(table.cells.repeats(), without.cells.repeats());
    assert!(table.cells.repeats().len() < 600);
    let record = run(&ignoring, &table, &Silent).unwrap();
    let (expected, _) = audit(&[hiring("people.csv")], false, RowOrder::Kept);
    assert_eq!(record.evidence, expected.evidence);
    assert_eq!(record.audit.population.ignored_columns, ["kept", "id"]);
}

/// By counts, the split and the model follow from what people are: not from the order of rows or columns, the
/// number of files, or whether rows come as counts.
#[test]
fn a_fit_by_counts_is_the_same_by_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let sites = three_sites(folder.path());
    let model = folder.path().join("fitted.json");
    let by_counts = config(
        true,
        &[
            "train.split=counts".to_owned(),
            format!("train.save={}", model.display()),
        ],
    );
    let fitted = |paths: &[PathBuf], order: RowOrder| {
        let (record, audit) = saved(&by_counts, paths, order);
        (record, audit, std::fs::read_to_string(&model).unwrap())
    };
    let (record, audit, coefficients) = fitted(&[hiring("people.csv")], RowOrder::Kept);
    let training = record.model.training.unwrap();
    assert!(training.by_counts);
    assert_eq!((training.train_rows, training.test_rows), (420, 180));

    // Another order of rows and of columns, and a column of numbers that nobody asked for.
    let text = std::fs::read_to_string(hiring("people.csv")).unwrap();
    let mut lines: Vec<String> = (text.lines().enumerate())
        .map(|(line, text)| {
            let mut cells: Vec<&str> = text.split(',').collect();
            cells.reverse();
            let id = match line {
                0 => "id".to_owned(),
                line => line.to_string(),
            };
            format!("{id},{}", cells.join(","))
        })
        .collect();
    lines[1..].reverse();
    let turned = folder.path().join("turned.csv");
    std::fs::write(&turned, lines.join("\n")).unwrap();

    let mut counted = Vec::new();
    for site in &sites {
        let profiles = profiles(std::slice::from_ref(site), &Cuts::None, None);
        counted.push(written(&profiles, &site.with_extension("parquet")));
    }
    for (paths, order) in [
        (vec![hiring("people.csv")], RowOrder::Forgotten),
        (sites, RowOrder::KeptUpTo(100)),
        (counted, RowOrder::Kept),
    ] {
        let (_, other, others) = fitted(&paths, order);
        assert_eq!(others, coefficients, "{paths:?}");
        assert_eq!(other, audit, "{paths:?}");
    }
    let (record, _, others) = fitted(&[turned], RowOrder::Forgotten);
    assert_eq!(others, coefficients);
    assert_eq!(record.model.training.unwrap(), training);
}

/// Counts have no order, so a split by place is refused there, and by counts is the default.
#[test]
fn counts_are_split_by_counts() {
    let folder = tempfile::tempdir().unwrap();
    let made = profiles(&[hiring("people.csv")], &Cuts::None, None);
    let path = [written(&made, &folder.path().join("people.profiles"))];
    let (record, _) = audit(&path, true, RowOrder::Kept);
    assert!(record.model.training.unwrap().by_counts);
    let (record, _) = audit(&[hiring("people.csv")], true, RowOrder::Kept);
    assert!(!record.model.training.unwrap().by_counts);
    let by_place = config(true, &["train.split=own".to_owned()]);
    let table = Table::read_all(&path, &by_place.data, RowOrder::Kept).unwrap();
    let error = run(&by_place, &table, &Silent).unwrap_err().to_string();
    assert!(error.contains("a table of counts has none"), "{error}");
}

/// What a listener was told.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Listener for Notes {
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

/// A table from its rows, and its profiles by a configuration.
fn made(config: &Config, path: &Path, cuts: &Cuts) -> Result<(Profiles, Vec<String>), Failure> {
    let notes = Notes::default();
    let placed = match cuts {
        Cuts::Of(other) => other.placed(config)?,
        _ => Vec::new(),
    };
    let reading = Reading::for_profiles(config, cuts, &placed, None);
    let table = Table::read_all(&[path.to_owned()], &config.data, reading)?;
    let made = Profiles::of(config, table, cuts, None, &notes)?;
    Ok((made, notes.0.into_inner().unwrap()))
}

fn roles(manifest: &Manifest) -> Vec<(&str, &str)> {
    let columns = manifest.columns.iter();
    columns
        .map(|column| (column.name.as_str(), column.role.as_str()))
        .collect()
}

/// A list of features is no list of what the model reads.
#[test]
fn profiles_keep_what_the_model_reads() {
    let folder = tempfile::tempdir().unwrap();
    let one = hiring("people.csv");
    let listing = config(
        false,
        &[
            "features.years.quantiles=3".into(),
            "features.job={}".into(),
        ],
    );
    let (few, notes) = made(&listing, &one, &Cuts::None).unwrap();
    let expected = [
        ("sex", "protected"),
        ("degree", "context"),
        ("job", "feature"),
        ("hours", "context"),
        ("years", "feature"),
        ("kept", "label"),
    ];
    assert_eq!(roles(&few.manifest), expected);
    // The model does not read the region.
    assert_eq!(
        notes,
        [
            "kept for the model, though the audit does not speak of them: degree, hours",
            "left out: region (not among the features); name those that the model reads in `data.context`"
        ]
    );
    let path = [written(&few, &folder.path().join("few.parquet"))];
    let (record, _) = saved(&listing, &path, RowOrder::Forgotten);
    let (whole, _) = saved(&listing, &[one], RowOrder::Kept);
    assert_eq!(record.audit.subgroups.len(), whole.audit.subgroups.len());
    assert_eq!(record.evidence, whole.evidence);
}

/// Where nobody knows what a model reads, it may read all columns; not those that tell who somebody is.
#[test]
fn who_people_are_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(hiring("people.csv")).unwrap();
    let named: Vec<String> = (text.lines().enumerate())
        .map(|(row, line)| match row {
            0 => format!("{line},id,name,office"),
            row => format!("{line},{row},Person {row},here"),
        })
        .collect();
    let path = folder.path().join("named.csv");
    std::fs::write(&path, named.join("\n")).unwrap();
    let unknown = Config::parse("the test", "[protected.sex]\n", &[]).unwrap();
    let (made, notes) = made(&unknown, &path, &Cuts::None).unwrap();
    let columns = roles(&made.manifest);
    assert!(columns.contains(&("office", "context")), "{columns:?}");
    assert!(
        !columns
            .iter()
            .any(|(name, _)| ["id", "name"].contains(name))
    );
    let told = notes.iter().find(|note| note.starts_with("left out: "));
    let told = told.unwrap();
    assert!(
        told.contains("id (each row has a number of its own"),
        "{told}"
    );
    assert!(told.contains("name (nearly each row"), "{told}");
}

/// The rows of a site, with what one of its columns holds there.
fn site(folder: &Path, name: &str, column: &str, value: impl Fn(usize) -> String) -> PathBuf {
    let text = std::fs::read_to_string(hiring("people.csv")).unwrap();
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    let place = header.split(',').position(|known| known == column).unwrap();
    let mut site = header.to_owned();
    for (row, line) in lines.enumerate() {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        cells[place] = value(row);
        site += &format!("\n{}", cells.join(","));
    }
    let path = folder.join(name);
    std::fs::write(&path, site + "\n").unwrap();
    path
}

/// What a column looks like at one site does not say what it is at all of them.
#[test]
fn sites_have_the_columns_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let order = "features.degree.order=[\"none\", \"school\", \"college\", \"university\"]";
    let mut first_config = config(false, &["model.spec=train".into(), order.into()]);
    first_config.features = Default::default();
    let degree = first_config.overrides.entry("degree".into()).or_default();
    degree.order = Some(
        ["none", "school", "college", "university"]
            .map(Into::into)
            .into(),
    );
    let (first, _) = made(&first_config, &hiring("people.csv"), &Cuts::OfTable).unwrap();
    let first_path = written(&first, &folder.path().join("first.parquet"));
    let degree = first.manifest.columns.iter().find(|c| c.name == "degree");
    let expected = ["none", "school", "college", "university"].map(str::to_owned);
    assert_eq!(degree.unwrap().order.as_deref(), Some(&expected[..]));

    let like_first = Cuts::Of(Manifest::of_file(&first_path).unwrap());
    let nothing = Config::parse("the test", "", &[]).unwrap();
    let sites = [
        site(folder.path(), "constant.csv", "region", |_| "north".into()),
        site(folder.path(), "empty.csv", "years", |row| match row {
            0..10 => row.to_string(),
            _ => String::new(),
        }),
    ];
    let mut paths = vec![first_path];
    for path in &sites {
        // Left to itself, it would have other columns or bins.
        let (own, _) = made(&first_config, path, &Cuts::OfTable).unwrap();
        assert_ne!(own.manifest.columns, first.manifest.columns);
        let (made, _) = made(&nothing, path, &like_first).unwrap();
        assert_eq!(made.manifest.columns, first.manifest.columns);
        paths.push(written(&made, &path.with_extension("parquet")));
    }
    let merged = profiles(&paths, &Cuts::None, None);
    assert_eq!(merged.manifest.rows, 1800);
    assert_eq!(merged.manifest.columns, first.manifest.columns);

    let refused = |config: &Config, path: &Path| {
        let error = made(config, path, &like_first).map(|_| ()).unwrap_err();
        error.to_string()
    };
    let other = site(folder.path(), "other.csv", "degree", |_| "doctor".into());
    let error = refused(&nothing, &other);
    assert!(
        error.contains("`degree` holds `doctor`, which has no place in the order"),
        "{error}"
    );
    let text = std::fs::read_to_string(hiring("people.csv")).unwrap();
    let fewer = folder.path().join("fewer.csv");
    std::fs::write(&fewer, text.replacen("degree,job", "grade,work", 1)).unwrap();
    let error = refused(&nothing, &fewer);
    assert!(error.contains("fewer.csv"), "{error}");
    assert!(
        error.contains("this table does not have: degree, job"),
        "{error}"
    );
    let by_region = Config::parse("the test", "[protected.region]\n", &[]).unwrap();
    let error = refused(&by_region, &hiring("people.csv"));
    assert!(
        error.contains("`region` is to be protected here, and is feature"),
        "{error}"
    );
}

/// What a column is must be the same in all profiles, and the order of its levels.
#[test]
fn profiles_of_other_roles_are_no_parts() {
    let folder = tempfile::tempdir().unwrap();
    let one = hiring("people.csv");
    let with = |name: &str, order: &[&str], label: bool| {
        let mut config = config(false, &[]);
        if !label {
            config.label.column = None;
        }
        if !order.is_empty() {
            let degree = config.overrides.entry("degree".into()).or_default();
            degree.order = Some(order.iter().map(|&level| level.into()).collect());
        }
        let (made, _) = made(&config, &one, &Cuts::None).unwrap();
        written(&made, &folder.path().join(name))
    };
    let up = ["none", "school", "college", "university"];
    let down = ["university", "college", "school", "none"];
    let first = with("a.parquet", &up, true);
    for (other, why) in [
        (
            with("down.parquet", &down, true),
            "the levels of its column `degree` have another order",
        ),
        (
            with("free.parquet", &[], true),
            "the levels of its column `degree` have another order",
        ),
    ] {
        let data = Config::default().data;
        let read = Table::read_all(&[first.clone(), other.clone()], &data, RowOrder::Kept);
        let error = read.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(&other.display().to_string()), "{error}");
        assert!(error.contains(why), "{error}");
    }
    let mut manifest = Manifest::of_file(&first).unwrap();
    let roles = manifest.columns.iter_mut();
    for column in roles.filter(|column| column.name == "region") {
        "context".clone_into(&mut column.role);
    }
    let table = Table::read(&first, &Config::default().data);
    let other = Profiles::counted(table.unwrap(), manifest.columns, None).unwrap();
    let other = written(&other, &folder.path().join("roles.parquet"));
    let data = Config::default().data;
    let read = Table::read_all(&[first, other], &data, RowOrder::Kept);
    let error = read.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("roles.parquet is no part"), "{error}");
    assert!(
        error.contains("column `region` is context, and feature in the others"),
        "{error}"
    );
}

/// An order, or a code for a missing value, is not told of a level that few people have.
#[test]
fn levels_of_few_are_not_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(hiring("people.csv")).unwrap();
    let more = "Female,doctor,clerk,full time,3,north,yes\nMale,?,clerk,full time,3,north,yes\n";
    let path = folder.path().join("people.csv");
    std::fs::write(&path, text + more).unwrap();
    let mut config = config(false, &["data.missing-codes=[\"?\"]".into()]);
    let degree = config.overrides.entry("degree".into()).or_default();
    let order = ["none", "school", "college", "university", "doctor"];
    degree.order = Some(order.map(Into::into).into());
    let degree = |suppress_below| {
        let table = Table::read(&path, &config.data).unwrap();
        let made = Profiles::of(&config, table, &Cuts::None, suppress_below, &Silent).unwrap();
        let mut columns = made.manifest.columns.iter();
        columns.find(|c| c.name == "degree").unwrap().clone()
    };
    let (all, some) = (degree(None), degree(Some(5)));
    assert_eq!(all.missing_codes, ["?"]);
    assert_eq!(all.order.unwrap(), order);
    assert_eq!(some.missing_codes, [""; 0]);
    assert_eq!(some.order.unwrap(), order[..4]);
    // Nor once profiles that name it are merged.
    let table = Table::read(&path, &config.data).unwrap();
    let all = Profiles::of(&config, table, &Cuts::None, None, &Silent).unwrap();
    let all = written(&all, &folder.path().join("all.parquet"));
    let merged = profiles(&[all], &Cuts::None, Some(5)).manifest.columns;
    let degree = merged.into_iter().find(|c| c.name == "degree").unwrap();
    assert_eq!(degree.order.unwrap(), order[..4]);
}

/// Nothing is said of profiles that were left out where there were none.
#[test]
fn nobody_was_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("sex,job,kept\n");
    for row in 0..600 {
        let sex = ["Female", "Male"][row % 2];
        text += &format!(
            "{sex},{},{}\n",
            ["clerk", "sales"][row / 2 % 2],
            ["no", "yes"][row / 4 % 2]
        );
    }
    let path = folder.path().join("people.csv");
    std::fs::write(&path, text).unwrap();
    let config = Config::parse("the test", "[protected.sex]\n[label]\ncolumn = \"kept\"\nfavourable = \"yes\"\n[model]\nspec = \"train\"\n[evidence]\nshuffles = 0\n", &[]).unwrap();
    let table = Table::read(&path, &config.data).unwrap();
    let made = Profiles::of(&config, table, &Cuts::None, Some(5), &Silent).unwrap();
    assert_eq!(made.manifest.suppressed.unwrap().rows, Some(0));
    let path = written(&made, &folder.path().join("p.parquet"));
    let table = Table::read(&path, &config.data).unwrap();
    let record = run(&config, &table, &Silent).unwrap();
    assert!(
        !record.notes.iter().any(|note| note.contains("left out")),
        "{:?}",
        record.notes
    );
}

/// A database has other types than a file, and one site whole numbers where another has parts of them.
#[test]
fn types_of_profiles_are_few_and_can_be_widened() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config::parse(
        "the test",
        "[protected.sex]\n[features.age]\n[features.job]\n",
        &[],
    );
    let config = config.unwrap();
    let counted = |name: &str, age: ArrayRef, job: ArrayRef| {
        let sex: ArrayRef = Arc::new(StringArray::from(vec!["f", "m", "f"]));
        let batch = RecordBatch::try_from_iter([("sex", sex), ("age", age), ("job", job)]);
        let origin = Origin {
            name: name.to_owned(),
            sha256: None,
            files: Vec::new(),
        };
        let table = Table::of(&[batch.unwrap()], origin).unwrap();
        let made = Profiles::of(&config, table, &Cuts::None, None, &Silent).unwrap();
        let types: Vec<DataType> = (made.batch.schema().fields().iter())
            .map(|field| field.data_type().clone())
            .collect();
        (types, written(&made, &folder.path().join(name)))
    };
    let texts = |values: [&str; 3]| -> ArrayRef { Arc::new(StringArray::from(values.to_vec())) };
    let wide: ArrayRef = Arc::new(LargeStringArray::from(vec!["a", "b", "a"]));
    let short: ArrayRef = Arc::new(Int32Array::from(vec![Some(40), None, Some(50)]));
    let (types, a) = counted("a.parquet", short, wide);
    let plain = [
        DataType::Utf8,
        DataType::Int64,
        DataType::Utf8,
        DataType::UInt64,
    ];
    assert_eq!(types, plain);
    let long: ArrayRef = Arc::new(Int64Array::from(vec![40, 50, 50]));
    let (_, b) = counted("b.parquet", long, texts(["a", "b", "a"]));
    let parts: ArrayRef = Arc::new(Float64Array::from(vec![2.5, 40.0, 40.0]));
    let (_, c) = counted("c.parquet", parts, texts(["a", "b", "a"]));
    let nothing: ArrayRef = Arc::new(StringArray::from(vec![None::<&str>; 3]));
    let (types, d) = counted("d.parquet", Arc::clone(&nothing), nothing);
    assert_eq!(types[1..3], [DataType::Null, DataType::Null]);

    let merged = |paths: &[&PathBuf]| {
        let paths: Vec<PathBuf> = paths.iter().map(|&path| path.clone()).collect();
        Table::read_all(&paths, &config.data, RowOrder::Forgotten)
    };
    let age = |table: &Table| {
        let age = table.cells.column("age").unwrap().column();
        let mut values: Vec<String> = age.values().iter().map(|value| value.label()).collect();
        values.sort();
        (age.data_type().clone(), values)
    };
    let whole = |values: [&str; 3]| values.map(str::to_owned).to_vec();
    let table = merged(&[&a, &b]).unwrap();
    assert_eq!(age(&table), (DataType::Int64, whole(["", "40", "50"])));
    // Whatever comes first.
    for paths in [[&a, &b, &c, &d], [&d, &c, &b, &a]] {
        let table = merged(&paths).unwrap();
        assert_eq!(table.rows(), 12);
        let (kind, values) = age(&table);
        assert_eq!(
            (kind, values),
            (
                DataType::Float64,
                ["", "2.5", "40.0", "50.0"].map(str::to_owned).to_vec()
            )
        );
    }
    let (_, e) = counted(
        "e.parquet",
        texts(["young", "old", "old"]),
        texts(["a", "b", "a"]),
    );
    let error = merged(&[&a, &e]).map(|_| ()).unwrap_err().to_string();
    assert!(
        error
            .contains("e.parquet is no part of this table: its column `age` is Utf8, and Int64 in"),
        "{error}"
    );
    assert!(error.contains("a.parquet"), "{error}");
}
