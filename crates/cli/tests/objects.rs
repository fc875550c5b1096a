//! Tables in object stores: the audit of a file, from an S3 server that the test starts.
#![allow(clippy::unwrap_used)]

mod served;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use serde_json::Value;
use served::{KEY, SECRET, Store};

fn example(file: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hiring");
    folder.join(file)
}

fn facts(store: &Store) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_facts"));
    command
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .env("AWS_ENDPOINT_URL", store.url())
        .env("AWS_ACCESS_KEY_ID", KEY)
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .env("AWS_REGION", "us-east-1")
        .current_dir(store.folder());
    command
}

fn audit(store: &Store, tables: &[&str], out: &Path) -> Output {
    let mut command = facts(store);
    command.args(["audit", "-q", "--no-config", "--protected", "sex"]);
    command.args(["--label", "kept", "--favourable", "1"]);
    command.args(["--set", "label.favourable=yes"]);
    command.args([
        "--set",
        "evidence.shuffles=39",
        "--set",
        "evidence.resamples=20",
    ]);
    let model = format!("linear:{}", example("model.json").display());
    command.args(["--model", &model, "--out"]).arg(out);
    command.args(tables).output().unwrap()
}

/// All that was written and said.
fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// What is saved, but for where the table lies and how long it took; and where it lies.
fn saved(store: &Store, tables: &[&str]) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let output = audit(store, tables, &out);
    assert!(output.status.success(), "{tables:?}: {}", said(&output));
    let file = std::fs::File::open(out.join("audit.json.gz")).unwrap();
    let mut saved: Value = serde_json::from_reader(flate2::read::GzDecoder::new(file)).unwrap();
    for entry in std::fs::read_dir(&out).unwrap() {
        assert_tells_nothing(&std::fs::read(entry.unwrap().path()).unwrap());
    }
    assert_tells_nothing(saved.to_string().as_bytes());
    let fields = saved.as_object_mut().unwrap();
    let data = fields.remove("data").unwrap();
    fields.remove("made");
    let audit = fields.get_mut("audit").unwrap().as_object_mut().unwrap();
    audit.remove("seconds");
    (saved.to_string(), data)
}

/// What an audit that cannot be made says.
fn refused(store: &Store, tables: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let output = audit(store, tables, &out);
    assert!(!output.status.success(), "{tables:?}");
    assert!(
        !out.join("audit.json.gz").exists(),
        "half an audit is there"
    );
    let said = said(&output);
    assert_tells_nothing(said.as_bytes());
    assert!(!said.contains("panicked"), "{said}");
    said
}

fn assert_tells_nothing(bytes: &[u8]) {
    for secret in [SECRET, "hush"] {
        let mut windows = bytes.windows(secret.len());
        assert!(
            !windows.any(|window| window == secret.as_bytes()),
            "a secret is told"
        );
    }
}

/// A CSV file as Parquet, in row groups of so many rows.
fn parquet(csv: &Path, to: &Path, group: usize) {
    let mut table = facts_input::open(csv.to_owned(), &facts_input::Options::default()).unwrap();
    let settings = WriterProperties::builder().set_max_row_group_row_count(Some(group));
    let file = std::fs::File::create(to).unwrap();
    let schema = table.schema();
    let mut writer = ArrowWriter::try_new(file, schema, Some(settings.build())).unwrap();
    table
        .try_for_each(|batch| writer.write(&batch.unwrap()))
        .unwrap();
    writer.close().unwrap();
}

/// The example as a whole and in parts, in a bucket called `lake`.
fn lake() -> Store {
    let store = Store::start();
    let lake = store.folder().join("lake");
    let people = std::fs::read_to_string(example("people.csv")).unwrap();
    for folder in ["parts", "kinds", "hive"] {
        std::fs::create_dir_all(lake.join(folder)).unwrap();
    }
    std::fs::write(lake.join("people.csv"), &people).unwrap();
    parquet(&example("people.csv"), &lake.join("people.parquet"), 100);
    let packed = std::fs::File::create(lake.join("people.csv.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::default());
    std::io::Write::write_all(&mut packed, people.as_bytes()).unwrap();
    packed.finish().unwrap();
    let (header, rows) = people.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    let mut start = 0;
    for part in 0..7 {
        let end = rows.len() * (part + 1) * (part + 2) / 56;
        let text = format!("{header}\n{}\n", rows[start..end].join("\n"));
        let name = format!("parts/part-{part}.csv");
        std::fs::write(lake.join(&name), &text).unwrap();
        parquet(
            &lake.join(&name),
            &lake.join(format!("kinds/part-{part}.parquet")),
            40,
        );
        start = end;
    }
    std::fs::write(lake.join("parts/_SUCCESS"), "").unwrap();
    hive(header, &rows, &lake.join("hive"));
    store
}

/// By sex, in folders that say so; the column itself is not in the files.
fn hive(header: &str, rows: &[&str], folder: &Path) {
    let names: Vec<&str> = header.split(',').collect();
    let at = names.iter().position(|name| *name == "sex").unwrap();
    let without = |line: &str| -> (String, String) {
        let mut fields: Vec<&str> = line.split(',').collect();
        let taken = fields.remove(at).to_owned();
        (taken, fields.join(","))
    };
    for row in rows {
        let (sex, rest) = without(row);
        let folder = folder.join(format!("sex={sex}"));
        let file = folder.join("people.csv");
        if !file.exists() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, without(header).1 + "\n").unwrap();
        }
        let mut text = std::fs::read_to_string(&file).unwrap();
        text += &(rest + "\n");
        std::fs::write(&file, text).unwrap();
    }
}

#[test]
fn an_object_gives_the_audit_of_the_file() {
    let store = lake();
    let (expected, local) = saved(&store, &["lake/people.csv"]);
    for object in ["people.csv", "people.csv.gz", "people.parquet"] {
        let (found, data) = saved(&store, &[&format!("s3://lake/{object}")]);
        assert_eq!(found, expected, "{object}");
        assert_eq!(data["name"], object);
        let size = std::fs::metadata(store.folder().join("lake").join(object))
            .unwrap()
            .len();
        assert_eq!(data["files"][0]["stored"]["bytes"], size);
        assert_eq!(data["files"][0]["rows"], 600);
        // A hash is told where all bytes were read, and only there.
        match object {
            "people.csv" => assert_eq!(data["sha256"], local["sha256"]),
            "people.csv.gz" => assert_eq!(data["sha256"].as_str().unwrap().len(), 64),
            _ => {
                assert_eq!(data["sha256"], Value::Null);
                assert_eq!(data["files"][0].get("sha256"), None);
                assert!(data["files"][0]["stored"]["e_tag"].is_string());
            }
        }
    }
}

#[test]
fn parts_folders_and_globs_give_the_audit_of_one_file() {
    let store = lake();
    let (expected, _) = saved(&store, &["lake/people.csv"]);
    for tables in [
        vec!["s3://lake/parts"],
        vec!["s3a://lake/parts/"],
        vec!["s3://lake/kinds"],
        vec!["s3://lake/parts/part-*.csv"],
        vec!["s3://lake/kinds/part-?.parquet"],
        vec!["s3://lake/k*"],
        vec![
            "s3://lake/parts/part-[3-6].csv",
            "s3://lake/parts/part-[0-2].csv",
        ],
        vec!["s3://lake/parts/part-[1-6].csv", "lake/parts/part-0.csv"],
    ] {
        let (found, data) = saved(&store, &tables);
        assert_eq!(found, expected, "{tables:?}");
        assert_eq!(data["files"].as_array().unwrap().len(), 7, "{tables:?}");
    }
}

#[test]
fn folders_with_keys_give_columns_however_they_are_named() {
    let store = lake();
    let (local, _) = saved(&store, &["lake/hive"]);
    let folders: Vec<String> = std::fs::read_dir(store.folder().join("lake/hive"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let each = |prefix: &str| {
        folders
            .iter()
            .map(|name| format!("{prefix}/{name}"))
            .collect()
    };
    let mixed = vec![
        format!("s3://lake/hive/{}", folders[0]),
        format!("lake/hive/{}", folders[1]),
    ];
    assert_eq!(folders.len(), mixed.len());
    for tables in [
        vec!["s3://lake/hive".to_owned()],
        vec!["s3://lake/hive/sex=*".to_owned()],
        each("s3://lake/hive"),
        each("lake/hive"),
        mixed,
    ] {
        let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
        let (found, data) = saved(&store, &tables);
        assert_eq!(found, local, "{tables:?}");
        for file in data["files"].as_array().unwrap() {
            let name = file["name"].as_str().unwrap();
            assert!(name.contains("sex="), "{tables:?}: {name}");
        }
    }
}

#[test]
fn a_table_whose_log_says_which_files_count_is_refused() {
    let store = lake();
    let hive = store.folder().join("lake/hive");
    let mut folders = std::fs::read_dir(&hive).unwrap();
    let folder = folders.next().unwrap().unwrap().file_name();
    let part = format!("s3://lake/hive/{}", folder.display());
    for (log, keeper) in [
        ("_delta_log/0.json", "Delta Lake"),
        (".hoodie/hoodie.properties", "Hudi"),
        ("metadata/v1.metadata.json", "Iceberg"),
    ] {
        let log = hive.join(log);
        let is_beside_parts = !log.ends_with("v1.metadata.json");
        std::fs::create_dir_all(log.parent().unwrap()).unwrap();
        std::fs::write(&log, "{}").unwrap();
        let named = ["s3://lake/hive", "s3://lake/hi*", "s3://lake/"];
        let named = named
            .into_iter()
            .chain(is_beside_parts.then_some(part.as_str()));
        for table in named {
            let said = refused(&store, &[table]);
            let expected = format!("s3://lake/hive is a table of {keeper}, whose log");
            assert!(said.contains(&expected), "{table}: {said}");
        }
        let (_, data) = saved(&store, &["s3://lake/hive/**/*.csv"]);
        assert_eq!(data["files"].as_array().unwrap().len(), 2);
        std::fs::remove_dir_all(log.parent().unwrap()).unwrap();
    }
}

#[test]
fn init_and_profiles_and_configurations_take_addresses() {
    let store = lake();
    let made = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    };
    made(facts(&store).args(["init", "s3://lake/people.parquet", "--protected", "sex"]));
    let text = std::fs::read_to_string(store.folder().join("facts.toml")).unwrap();
    assert!(
        text.contains("path = \"s3://lake/people.parquet\""),
        "{text}"
    );
    for (table, out) in [
        ("s3://lake/kinds", "far.parquet"),
        ("lake/kinds", "near.parquet"),
    ] {
        made(facts(&store).args(["profiles", table, "--protected", "sex", "-o", out]));
    }
    let read = |name: &str| std::fs::read(store.folder().join(name)).unwrap();
    assert_eq!(read("far.parquet"), read("near.parquet"));
    // A configuration in another folder names the address as it stands.
    let folder = store.folder().join("elsewhere");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("facts.toml"), text).unwrap();
    made(
        facts(&store)
            .current_dir(folder)
            .args(["audit", "--dry-run"]),
    );
}

#[test]
fn columns_that_nobody_wants_are_not_fetched() {
    let store = Store::start();
    let lake = store.folder().join("lake");
    std::fs::create_dir_all(&lake).unwrap();
    let mut text = String::from("sex,age,label,note\n");
    for row in 0..40_000_u32 {
        // Notes that no compression helps with.
        let note: String = (0..8)
            .map(|piece| format!("{:08x}", (row * 8 + piece).wrapping_mul(2_654_435_761)))
            .collect();
        let sex = if row % 3 == 0 { "f" } else { "m" };
        text += &format!("{sex},{},{},{note}\n", row % 7, row % 2);
    }
    std::fs::write(lake.join("people.csv"), text).unwrap();
    parquet(
        &lake.join("people.csv"),
        &lake.join("people.parquet"),
        10_000,
    );
    let size = std::fs::metadata(lake.join("people.parquet"))
        .unwrap()
        .len();
    let fetched = |ignore: &str| {
        let before = store.fetched();
        let mut command = facts(&store);
        command.args(["profiles", "s3://lake/people.parquet", "--protected", "sex"]);
        command.args(["--set", ignore, "-o", "out.parquet"]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        store.fetched() - before
    };
    let (some, all) = (fetched("data.ignore=[\"note\"]"), fetched("data.ignore=[]"));
    assert!(all >= size, "{all} of {size}");
    assert!(some < size / 4, "{some} of {size}");
}

#[test]
fn what_is_wrong_is_named_with_its_address() {
    let store = lake();
    let lake = store.folder().join("lake");
    let has = |said: &str, pieces: &[&str]| {
        for piece in pieces {
            assert!(said.contains(piece), "{piece}: {said}");
        }
    };
    has(
        &refused(&store, &["s3://lake/nothing.csv"]),
        &["s3://lake/nothing.csv", "no such object"],
    );
    has(
        &refused(&store, &["s3://lake/no*.csv"]),
        &["s3://lake/no*.csv", "no object"],
    );
    has(
        &refused(&store, &["s3://sea/people.csv"]),
        &["s3://sea/people.csv", "no such object"],
    );
    // Another part with another column, of another type, and cut.
    std::fs::write(lake.join("parts/part-7.csv"), "sex,other\nm,1\n").unwrap();
    has(
        &refused(&store, &["s3://lake/parts"]),
        &["s3://lake/parts/part-7.csv", "other"],
    );
    let texts = std::fs::read_to_string(example("people.csv")).unwrap();
    let (header, rows) = texts.split_once('\n').unwrap();
    let row = rows.lines().next().unwrap();
    let worded: Vec<String> = row
        .split(',')
        .map(|field| {
            field
                .parse::<f64>()
                .map_or(field.to_owned(), |_| "many".to_owned())
        })
        .collect();
    std::fs::write(
        lake.join("odd.csv"),
        format!("{header}\n{}\n", worded.join(",")),
    )
    .unwrap();
    parquet(
        &lake.join("odd.csv"),
        &lake.join("kinds/part-7.parquet"),
        10,
    );
    has(
        &refused(&store, &["s3://lake/kinds"]),
        &["s3://lake/kinds/part-7.parquet", "column `years` is"],
    );
    let whole = std::fs::read(lake.join("people.parquet")).unwrap();
    let mut damaged = whole.clone();
    let middle = damaged.len() / 3;
    damaged[middle..middle + 400].fill(0xff);
    std::fs::write(lake.join("kinds/part-7.parquet"), &damaged).unwrap();
    has(
        &refused(&store, &["s3://lake/kinds"]),
        &["s3://lake/kinds/part-7.parquet", "cannot be decoded"],
    );
    std::fs::write(lake.join("cut.parquet"), &whole[..whole.len() / 2]).unwrap();
    has(
        &refused(&store, &["s3://lake/cut.parquet"]),
        &["s3://lake/cut.parquet", "cannot be decoded"],
    );
    let packed = std::fs::read(lake.join("people.csv.gz")).unwrap();
    std::fs::write(lake.join("cut.csv.gz"), &packed[..packed.len() / 2]).unwrap();
    has(
        &refused(&store, &["s3://lake/cut.csv.gz"]),
        &["s3://lake/cut.csv.gz", "is cut short"],
    );
}

#[test]
fn a_connection_that_breaks_is_taken_up_again_or_said() {
    let store = lake();
    let (expected, _) = saved(&store, &["lake/people.csv"]);
    for table in ["s3://lake/people.csv", "s3://lake/kinds"] {
        for after in [700, 3_000, 9_000] {
            store.cut_once_after(after);
            let (found, _) = saved(&store, &[table]);
            assert_eq!(found, expected, "{table} cut after {after} bytes");
        }
    }
    store.cut_always_after(5_000);
    let said = refused(&store, &["s3://lake/people.csv"]);
    assert!(said.contains("s3://lake/people.csv"), "{said}");
    assert!(
        said.contains("broke off") || said.contains("cannot be reached"),
        "{said}"
    );
}

#[test]
fn who_may_not_or_cannot_is_told_so() {
    let store = lake();
    let profiles = |command: &mut Command| {
        let output = command
            .args([
                "profiles",
                "s3://lake/people.csv",
                "--protected",
                "sex",
                "-o",
                "out.parquet",
            ])
            .output()
            .unwrap();
        assert!(!output.status.success());
        let said = said(&output);
        assert_tells_nothing(said.as_bytes());
        assert!(said.contains("s3://lake/people.csv"), "{said}");
        said
    };
    let said = profiles(facts(&store).env("AWS_SECRET_ACCESS_KEY", "another-hush"));
    assert!(said.contains("access was refused"), "{said}");
    // A port that nobody listens on.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let said = profiles(facts(&store).env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")));
    assert!(said.contains("cannot be reached"), "{said}");
}

#[test]
fn a_web_server_is_read_with_secrets_that_are_not_told() {
    let store = lake();
    let (expected, _) = saved(&store, &["lake/people.csv"]);
    let web = store.web();
    for object in ["people.csv", "people.parquet"] {
        let signed = format!("http://{web}/lake/{object}?sig=hush");
        let (found, data) = saved(&store, &[&signed]);
        assert_eq!(found, expected, "{object}");
        assert_eq!(data["name"], object);
        let named = format!("http://me:hush@{web}/lake/{object}");
        assert_eq!(saved(&store, &[&named]).0, expected);
    }
    // Without either, the server refuses.
    let bare = format!("http://{web}/lake/people.csv");
    let said = refused(&store, &[&bare]);
    assert!(
        said.contains(&bare) && said.contains("access was refused (403)"),
        "{said}"
    );
    let gone = format!("http://{web}/lake/gone.csv?sig=hush");
    let said = refused(&store, &[&gone]);
    assert!(said.contains("lake/gone.csv: no such object"), "{said}");
    let whole = format!("http://{web}/lake/people.csv?sig=hush&whole");
    let said = refused(&store, &[&whole]);
    assert!(said.contains("ignores range requests"), "{said}");
    let output = facts(&store)
        .args([
            "init",
            &format!("http://me:hush@{web}/lake/people.csv?sig=hush"),
            "-o",
            "-",
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", self::said(&output));
    assert_tells_nothing(self::said(&output).as_bytes());
    let refused = refused(&store, &["s3://me:hush@lake/people.csv"]);
    assert!(refused.contains("environment"), "{refused}");
}
