//! No secret that is given to the tool is told by it: not in messages, and not in what it writes.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flate2::read::MultiGzDecoder;

/// Whoever finds it in what the tool says or writes has found a leak.
const SECRET: &str = "s3cr3t";

/// Answers rows only if it was given what it wants.
const PROGRAM: &str = r#"case "$*$API_KEY" in *s3cr3t*) ;; *) exit 9 ;; esac
read -r header
while read -r line; do
    case $line in
    '') echo ;;
    *manager* | *university*) echo 1 ;;
    *) echo 0 ;;
    esac
done
"#;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hiring");
        for name in ["people.csv", "model.json"] {
            std::fs::copy(example.join(name), folder.path().join(name)).unwrap();
        }
        let place = Self(folder);
        place.write("model.sh", PROGRAM);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn facts(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_facts"));
        command
            .current_dir(self.0.path())
            .env("SOURCE_DATE_EPOCH", "1700000000")
            .env_remove("FACTS_DATABASE")
            .args(arguments);
        command.output().unwrap()
    }

    /// What it said, both ways, if none of it tells the secret.
    fn said(&self, arguments: &[&str], code: i32) -> String {
        let mut all = String::new();
        for form in [&[][..], &["--json-log"]] {
            let output = self.facts(&[arguments, form].concat());
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8(said).unwrap();
            assert!(!said.contains(SECRET), "{arguments:?}: {said}");
            assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
            all += &said;
        }
        all
    }

    /// Looks for the secret in all files under a folder, as they are and unpacked.
    fn look_through(&self, folder: &str) -> usize {
        let mut files = 0;
        let mut folders = vec![self.path(folder)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let bytes = std::fs::read(&path).unwrap();
                is_clean(&path, &bytes);
                if path.extension().is_some_and(|name| name == "gz") {
                    let mut text = Vec::new();
                    let mut unpacked = MultiGzDecoder::new(bytes.as_slice());
                    unpacked.read_to_end(&mut text).unwrap();
                    is_clean(&path, &text);
                }
                files += 1;
            }
        }
        files
    }
}

fn is_clean(path: &Path, bytes: &[u8]) {
    let mut windows = bytes.windows(SECRET.len());
    let found = windows.any(|window| window == SECRET.as_bytes());
    assert!(!found, "{} holds the secret", path.display());
}

const URL: &str = "postgresql://me:s3cr3t@h/d";

/// What is wrong is told without what may be secret.
#[test]
fn messages_tell_no_secret() {
    let place = Place::new();
    for (name, text) in [
        (
            "open.toml",
            "[data]\ndatabase = \"postgresql://me:s3cr3t@h/d\n",
        ),
        ("key.toml", "[data]\ndatabse = \"host=h password=s3cr3t\"\n"),
        (
            "paths.toml",
            "[data]\npaths = \"https://h/a.csv?sig=s3cr3t\"\n",
        ),
        ("kind.toml", "[model]\nheaders = \"Bearer s3cr3t\"\n"),
        ("spec.toml", "[model]\nspec = \"exce:m --token s3cr3t\"\n"),
        (
            "list.toml",
            "[[model]]\nname = \"a\"\nspec = \"http://me:s3cr3t@h/invocations\n",
        ),
        (
            "keys.toml",
            "[[model]]\nname = \"a\"\nheaders = \"s3cr3t\"\n",
        ),
    ] {
        place.write(name, text);
    }
    let audit = ["audit", "people.csv", "-p", "sex", "--favourable", "1"];
    let wrong = |more: &[&str]| place.said(&[&audit[..], more].concat(), 2);
    for (more, told) in [
        (
            &["--set", "data.databse=postgresql://me:s3cr3t@h/d"][..],
            "data.databse: unknown",
        ),
        (&["--set", "data=s3cr3t"], "--set data: invalid type"),
        (&["--set", URL], "postgresql://***@h/d"),
        (
            &["--config", "open.toml"],
            "open.toml: TOML parse error at line 2",
        ),
        (&["--config", "key.toml"], "unknown field `databse`"),
        (
            &["--config", "paths.toml"],
            "line 2, column 1: unknown field `paths`",
        ),
        (
            &["--config", "kind.toml"],
            "invalid type: string, expected a map",
        ),
        (
            &["--config", "spec.toml"],
            "`exce:m --token ***` is no model",
        ),
        (
            &["--models", "list.toml"],
            "list.toml: TOML parse error at line 3",
        ),
        (&["--models", "keys.toml"], "model `a`: invalid type"),
        (
            &["-m", "model.json", "--map", "postgresql://me:s3cr3t@h/d"],
            "--map",
        ),
        (&["--databse", URL], "--databse"),
    ] {
        let said = wrong(more);
        assert!(said.contains(told), "{more:?}: {said}");
    }
    // What is no model, or cannot be asked.
    for (model, told) in [
        (
            "http://me:s3cr3t@127.0.0.1:9/invocations",
            "http://***@127.0.0.1:9",
        ),
        (
            "http://127.0.0.1:9/invocations?sig=s3cr3t",
            "no server at http://127.0.0.1:9/invocations?***",
        ),
        ("onnx:https://me:s3cr3t@h/m.onnx", "https://***@h/m.onnx"),
        (
            "exec:no-such-program --token=s3cr3t",
            "no-such-program --token=***",
        ),
        ("exec:m --password 's3cr3t", "m --password '***"),
        (
            "exec-csv:sh -c 'echo $2 >&2; exit 3' m --token s3cr3t",
            "--token ***",
        ),
        (
            "exec-csv:sh -c 'echo postgresql://me:s3cr3t@h/d; exit 3' m --key s3cr3t",
            "--key ***",
        ),
    ] {
        let said = place.said(&[&audit[..], &["-m", model]].concat(), 4);
        assert!(said.contains(told), "{model}: {said}");
    }
    // What is no table, no audit, and no argument.
    let said = place.said(&["audit", URL, "-p", "sex", "-m", "model.json"], 3);
    assert!(
        said.contains("postgresql://***@h/d: no such file"),
        "{said}"
    );
    place.said(
        &[
            "audit",
            "ftp://me:s3cr3t@h/a.csv",
            "-p",
            "sex",
            "-m",
            "model.json",
        ],
        3,
    );
    place.said(
        &[
            "audit",
            "host=h password=s3cr3t",
            "-p",
            "sex",
            "-m",
            "model.json",
        ],
        3,
    );
    place.said(&["init", "-o", "made.toml", URL], 3);
    place.said(&["show", URL], 3);
    place.said(&["diff", URL, URL], 3);
    place.said(&["verify", URL], 3);
    place.said(&["completions", "bash", URL], 2);
    place.said(&["completions", "bash", "--password", SECRET], 2);
}

/// The program is run as it was written; what is saved and said of it tells no secret.
#[test]
fn results_tell_no_secret() {
    let place = Place::new();
    place.write(
        "facts.toml",
        "[data]\npath = \"people.csv\"\nignore = [\"kept\"]\n[model]\nfavourable = 1\n[protected.sex]\n[features.degree]\n",
    );
    for (number, (model, shown)) in [
        (
            "exec-csv:sh model.sh --token=s3cr3t",
            "sh model.sh --token=***",
        ),
        (
            "exec-csv:sh model.sh --api-key 's3cr3t'",
            "sh model.sh --api-key ***",
        ),
        (
            "exec-csv:env API_KEY=s3cr3t sh model.sh",
            "env API_KEY=*** sh model.sh",
        ),
        (
            "exec-csv:sh model.sh http://me:s3cr3t@h/?a",
            "sh model.sh http://***@h/?***",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("out{number}");
        place.said(&["audit", "-m", model, "--out", &out], 0);
        assert!(place.look_through(&out) > 5);
        let page = std::fs::read_to_string(place.path(&out).join("report.json")).unwrap();
        assert!(page.contains(&format!("exec-csv:{shown}")), "{page}");
    }
    let model = "exec-csv:sh model.sh --token=s3cr3t";
    place.said(&["audit", "-m", model, "--dry-run"], 0);
    place.said(&["audit", "-m", model, "--full"], 0);
    place.said(&["show", "out0"], 0);
    place.said(&["diff", "out0", "out1"], 0);
    // Answers that are kept are known by what is shown of the command.
    place.said(&["audit", "-m", model, "--answers", "kept/answers"], 0);
    assert_eq!(place.look_through("kept"), 1);
    // Made again by whoever knows what is hidden.
    place.said(&["pack", "out0", "-o", "packs/a.tar"], 0);
    place.look_through("packs");
    let redo = ["verify", "packs/a.tar", "--data", "people.csv", "--model"];
    let said = place.said(&[&redo[..], &[model]].concat(), 0);
    assert!(said.contains("the same to the byte"), "{said}");
    place.said(
        &[&redo[..], &["exec-csv:sh model.sh --token=***"]].concat(),
        4,
    );
    // An ordinary command is shown as it is.
    place.write("plain.sh", &PROGRAM.replace("exit 9", ""));
    let plain = "exec-csv:sh  plain.sh -p 8 model.pkl --tokenizer=x";
    place.said(&["audit", "-m", plain, "--out", "plain"], 0);
    let page = std::fs::read_to_string(place.path("plain").join("report.json")).unwrap();
    assert!(page.contains(plain), "{page}");
    // Of many models, the failures too.
    place.write(
        "list.toml",
        "[[model]]\nname = \"a\"\nspec = \"http://me:s3cr3t@h/invocations\"\n[[model]]\nname = \"b\"\nspec = \"exec-csv:sh model.sh --token s3cr3t\"\n[[model]]\nname = \"c\"\nspec = \"exec-csv:sh -c 'echo $2 >&2; exit 3' m --token s3cr3t\"\n",
    );
    place.said(&["audit", "--models", "list.toml", "--out", "models"], 4);
    assert!(place.look_through("models") > 8);
}

/// A configuration goes into a pack as it is: one with a secret is refused.
#[test]
fn a_pack_with_a_secret_is_refused() {
    let place = Place::new();
    let config = "[data]\npath = \"people.csv\"\n[model]\nspec = \"linear:model.json\"\nfavourable = 1\n[label]\ncolumn = \"kept\"\n[protected.sex]\n";
    place.write("facts.toml", config);
    place.said(&["audit", "--no-evidence", "--out", "out"], 0);
    for (name, more, key) in [
        (
            "header",
            "[model.headers]\nTenant = \"s3cr3t\"\n",
            "model.headers.Tenant",
        ),
        ("comment", "# was postgresql://me:s3cr3t@h/d\n", "line 9"),
    ] {
        place.write("other.toml", &format!("{config}{more}"));
        let said = place.said(
            &["pack", "out", "--config", "other.toml", "-o", "no.tar"],
            2,
        );
        assert!(said.contains(key), "{name}: {said}");
    }
    for (from, to, key) in [
        (
            "spec = \"linear:model.json\"",
            "spec = \"exec:m --token=s3cr3t\"",
            "model.spec",
        ),
        (
            "path = ",
            "database = \"postgresql://me:s3cr3t@h/d\"\npath = ",
            "data.database",
        ),
        (
            "\"people.csv\"",
            "\"https://h/a.csv?sig=s3cr3t\"",
            "data.path",
        ),
    ] {
        place.write("other.toml", &config.replace(from, to));
        let said = place.said(
            &["pack", "out", "--config", "other.toml", "-o", "no.tar"],
            2,
        );
        assert!(said.contains(key), "{said}");
    }
    let set = "model.headers.Tenant=s3cr3t";
    let said = place.said(&["pack", "out", "--set", set, "-o", "no.tar"], 2);
    assert!(said.contains("--set model.headers.Tenant holds"), "{said}");
    assert!(!place.path("no.tar").exists());
    place.write(
        "other.toml",
        &format!("{config}[model.headers]\nTenant = \"env:TENANT\"\n"),
    );
    place.said(
        &["pack", "out", "--config", "other.toml", "-o", "yes.tar"],
        0,
    );
    // An audit as older versions saved it.
    let path = place.path("out").join("audit.json.gz");
    let mut text = String::new();
    let bytes = std::fs::read(&path).unwrap();
    MultiGzDecoder::new(bytes.as_slice())
        .read_to_string(&mut text)
        .unwrap();
    let old = text.replace("linear:model.json", "exec:m --token=s3cr3t");
    assert_ne!(old, text);
    std::fs::write(&path, old).unwrap();
    place.said(&["show", "out"], 0);
    let said = place.said(&["pack", "out", "-o", "no.tar"], 3);
    assert!(said.contains("make the audit again"), "{said}");
}
