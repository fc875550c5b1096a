//! What reads input from outside: one target a reader. A target may refuse its input, and must do nothing worse.

use std::io::Cursor;
use std::path::Path;
use std::sync::OnceLock;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use facts_check::{Baseline, Place};
use facts_guard::{Messages, check_file, guarded};
use facts_input::{Format, Options, Source};
use facts_models::{ModelSpec, OpenOptions, Wire, outside};
use facts_report::answer::first_screen;
use facts_report::text::Palette;
use facts_report::{Conditions, FORMS, Record, Report, Showing};
use facts_run::config::Data;
use facts_run::models::read_list;
use facts_run::{Config, RowOrder, Table, saved};

use crate::packs::pack;

/// A reader, and how to have it read.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// What it is called; its seeds lie in a folder of this name.
    pub name: &'static str,
    /// Reads an input; whether it was accepted.
    pub read: fn(&[u8]) -> bool,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "csv",
        read: |bytes| table(bytes, Format::Csv),
    },
    Target {
        name: "parquet",
        read: |bytes| table(bytes, Format::Parquet),
    },
    Target {
        name: "profiles",
        read: profiles,
    },
    Target {
        name: "arrow-file",
        read: arrow_file,
    },
    Target {
        name: "arrow-stream",
        read: arrow_stream,
    },
    Target {
        name: "config",
        read: config,
    },
    Target {
        name: "conditions",
        read: conditions,
    },
    Target {
        name: "lightgbm",
        read: |bytes| model(bytes, "lightgbm", "model.txt"),
    },
    Target {
        name: "xgboost-json",
        read: |bytes| model(bytes, "xgboost", "model.json"),
    },
    Target {
        name: "xgboost-ubjson",
        read: |bytes| model(bytes, "xgboost", "model.ubj"),
    },
    Target {
        name: "linear",
        read: |bytes| model(bytes, "linear", "model.json"),
    },
    Target {
        name: "saved",
        read: saved_audit,
    },
    Target {
        name: "exec-csv",
        read: |bytes| outside::exec_answers(Wire::Csv, bytes, 3) > 0,
    },
    Target {
        name: "exec-arrow",
        read: |bytes| outside::exec_answers(Wire::Arrow, bytes, 3) > 0,
    },
    Target {
        name: "http",
        read: |bytes| outside::http_answers(&String::from_utf8_lossy(bytes), 3) > 0,
    },
    Target {
        name: "baseline",
        read: baseline,
    },
    Target {
        name: "check",
        read: check,
    },
    Target {
        name: "pack",
        read: pack,
    },
    Target {
        name: "models",
        read: models,
    },
];

/// Reads a list of models, whose files are not opened.
fn models(bytes: &[u8]) -> bool {
    read_list(&scratch("models.toml", bytes)).is_ok()
}

/// The most that a message of an Arrow stream may hold here.
const MESSAGE_LIMIT: u64 = 1 << 24;

fn table(bytes: &[u8], format: Format) -> bool {
    let options = Options {
        format: Some(format),
        ..Options::default()
    };
    let source = Source::reader("input", Cursor::new(bytes.to_vec()));
    facts_input::open(source, &options).is_ok_and(|mut table| table.all(|batch| batch.is_ok()))
}

/// Reads a file of profiles as an audit does: what it says about itself, and the rows it stands for.
fn profiles(bytes: &[u8]) -> bool {
    let paths = [scratch("profiles.parquet", bytes)];
    let table = Table::read_all(&paths, &Data::default(), RowOrder::Forgotten);
    table.is_ok_and(|table| table.manifest.is_some())
}

/// Both the guard alone and the reader that stands behind it.
fn arrow_file(bytes: &[u8]) -> bool {
    let alone = guarded(|| {
        check_file(Cursor::new(bytes))?;
        let reader = FileReader::try_new(Cursor::new(bytes), None)?;
        reader
            .map(|batch| Ok(batch?.num_rows()))
            .sum::<Result<usize, _>>()
    });
    table(bytes, Format::ArrowFile) && alone.is_ok()
}

fn arrow_stream(bytes: &[u8]) -> bool {
    let alone = guarded(|| {
        let reader = StreamReader::try_new(Messages::new(bytes, || MESSAGE_LIMIT), None)?;
        reader
            .map(|batch| Ok(batch?.num_rows()))
            .sum::<Result<usize, _>>()
    });
    table(bytes, Format::ArrowStream) && alone.is_ok()
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn config(bytes: &[u8]) -> bool {
    text(bytes).is_some_and(|text| Config::parse("facts.toml", text, &[]).is_ok())
}

/// An audit that is sound, whose features conditions speak of and whose findings are checked.
fn sound() -> &'static Record {
    static SOUND: OnceLock<Record> = OnceLock::new();
    SOUND.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds/saved/hiring.json");
        saved::load(&path).expect("the seed is a saved audit")
    })
}

fn conditions(bytes: &[u8]) -> bool {
    let audit = &sound().audit;
    let Some(Ok(conditions)) = text(bytes).map(|text| Conditions::parse(text, &audit.features))
    else {
        return false;
    };
    conditions.exactly();
    for subgroup in &audit.subgroups {
        conditions.admit(&subgroup.predicate);
    }
    true
}

/// A file of this process alone, in memory where there is such a place.
fn scratch(name: &str, bytes: &[u8]) -> std::path::PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let made = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        made.expect("a folder for one file")
    });
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a file can be written");
    path
}

/// Opens a model file and asks the model about a few rows.
fn model(bytes: &[u8], format: &str, file: &str) -> bool {
    let path = scratch(file, bytes);
    let spec: ModelSpec = format!("{format}:{}", path.display())
        .parse()
        .expect("a known format");
    let opened = spec.open(&OpenOptions::default());
    opened.is_ok_and(|opened| opened.model.predict(rows()).is_ok())
}

/// Rows that the models among the seeds can answer.
fn rows() -> &'static RecordBatch {
    static ROWS: OnceLock<RecordBatch> = OnceLock::new();
    ROWS.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../crates/models/tests/support/trees_fixture/rows.csv");
        let mut table =
            facts_input::open(path, &Options::default()).expect("the fixture is a table");
        let batch = table
            .next()
            .expect("the fixture has rows")
            .expect("the fixture is sound");
        batch.slice(0, batch.num_rows().min(8))
    })
}

/// Reads a saved audit, and writes every form of report of what is accepted.
fn saved_audit(bytes: &[u8]) -> bool {
    let Ok(record) = saved::unpacked("audit.json", bytes.to_vec()) else {
        return false;
    };
    let Ok(report) = Report::new(&record) else {
        return false;
    };
    first_screen(&report, &[], &Palette::PLAIN);
    let showing = Showing::default();
    FORMS
        .iter()
        .all(|form| (form.write)(&report, &showing).is_ok())
}

fn baseline(bytes: &[u8]) -> bool {
    let read = text(bytes).map(Baseline::parse);
    read.is_some_and(|read| read.is_ok_and(|baseline| baseline.text().is_ok()))
}

/// Reads rules and waivers, judges a sound audit by them and writes the verdict in every form, SARIF among them.
fn check(bytes: &[u8]) -> bool {
    let Some(Ok(config)) = text(bytes).map(|text| Config::parse("facts.toml", text, &[])) else {
        return false;
    };
    let Ok(report) = Report::new(sound()) else {
        return false;
    };
    let today = "2026-01-31".parse().expect("a date");
    let Ok(gate) = facts_check::check(&report, &config.check, None, today) else {
        return false;
    };
    let place = Place {
        config: "facts.toml".to_owned(),
        audit: "audit.json.gz".to_owned(),
    };
    facts_check::FORMS
        .iter()
        .all(|form| (form.write)(&gate, &place).is_ok())
}
