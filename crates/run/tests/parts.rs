//! The same audit from one file and from its parts, however they are named.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use facts_report::Record;
use facts_run::{Config, RowOrder, Silent, Table, run};

fn hiring(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/hiring")
        .join(file)
}

/// A configuration with the example's model, or with one that is fitted.
fn config(trains: bool) -> Config {
    let model = match trains {
        true => "[model]\nspec = \"train\"\n[label]\ncolumn = \"kept\"\nfavourable = \"yes\"\n"
            .to_owned(),
        false => format!(
            "[model]\nspec = \"linear:{}\"\nfavourable = 1\n",
            hiring("model.json").display()
        ),
    };
    let text = format!("{model}[protected.sex]\n[evidence]\nshuffles = 39\nresamples = 20\n");
    Config::parse("the test", &text, &[]).unwrap()
}

/// What is saved, but for where the table lies and how long it took.
fn audit(paths: &[PathBuf], trains: bool, order: RowOrder) -> (Record, String) {
    let config = config(trains);
    let table = Table::read_all(paths, &config.data, order).unwrap();
    let record = run(&config, &table, &Silent).unwrap();
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
        assert!(files.iter().all(|file| file.sha256.len() == 64));
        assert_eq!(audit(&pattern, trains, RowOrder::Kept).1, expected);
        assert_eq!(audit(&listed, trains, RowOrder::Kept).1, expected);
        if !trains {
            assert_eq!(audit(&parts, trains, RowOrder::Forgotten).1, expected);
        }
    }
}
