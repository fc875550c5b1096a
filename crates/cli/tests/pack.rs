//! `facts pack`, `facts verify`, and the impact ratios that go into a pack.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn facts(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_facts"))
        .args(arguments)
        .current_dir(folder)
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .unwrap()
}

fn told(output: &Output) -> (i32, String) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let text = text + &String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap(), text)
}

/// The hiring example, audited into `result`.
fn hiring() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hiring");
    for file in ["facts.toml", "people.csv", "model.json"] {
        std::fs::copy(example.join(file), folder.path().join(file)).unwrap();
    }
    let made = facts(folder.path(), &["audit", "-q", "--out", "result"]);
    assert_eq!(told(&made).0, 0, "{}", told(&made).1);
    folder
}

#[test]
fn a_pack_is_made_checked_and_made_again() {
    let folder = hiring();
    let here = folder.path();
    let (code, text) = told(&facts(here, &["pack", "result"]));
    assert_eq!(code, 0, "{text}");
    assert!(text.starts_with("Wrote result.pack.tar: "), "{text}");
    assert!(!text.contains("differ from what"), "{text}");
    let (code, text) = told(&facts(here, &["verify", "result.pack.tar"]));
    assert_eq!(code, 0, "{text}");
    assert!(
        text.starts_with("VERIFIED: an audit of people.csv"),
        "{text}"
    );
    assert!(text.contains("not checked  who made it"), "{text}");
    let redo = ["--data", "people.csv", "--model", "linear:model.json"];
    let (code, text) = told(&facts(
        here,
        &[&["verify", "result.pack.tar"][..], &redo].concat(),
    ));
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("made again from the table"), "{text}");
    // The same again gives the same bytes.
    let before = std::fs::read(here.join("result.pack.tar")).unwrap();
    assert_eq!(told(&facts(here, &["pack", "result"])).0, 0);
    assert_eq!(std::fs::read(here.join("result.pack.tar")).unwrap(), before);
    let mut cut = before.clone();
    cut.truncate(before.len() / 2);
    std::fs::write(here.join("cut.tar"), cut).unwrap();
    let (code, text) = told(&facts(here, &["verify", "cut.tar"]));
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("cut.tar is refused"), "{text}");
    let (code, text) = told(&facts(here, &["verify", "people.csv"]));
    assert_eq!(code, 3, "{text}");
    // Anybody's tar opens it.
    let list = Command::new("tar")
        .args(["tf", "result.pack.tar"])
        .current_dir(here)
        .output()
        .unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    assert!(
        list.starts_with("manifest.json\nmanifest.json.sha256\n"),
        "{list}"
    );
    assert!(list.contains("\nreports/impact-ratios.md\n"), "{list}");
}

/// Keys and signatures are those of OpenSSH: its own program makes the key and checks the signature.
#[test]
fn ssh_keygen_checks_what_is_signed() {
    let folder = hiring();
    let here = folder.path();
    let keygen = |arguments: &[&str]| {
        let mut command = Command::new("ssh-keygen");
        command.args(arguments).current_dir(here);
        command
    };
    let made = keygen(&["-q", "-t", "ed25519", "-N", "", "-f", "key"]).status();
    assert!(made.expect("ssh-keygen is on the machine").success());
    let (code, text) = told(&facts(here, &["pack", "result", "--sign", "key"]));
    assert_eq!(code, 0, "{text}");
    let verify = ["verify", "result.pack.tar", "--signer", "key.pub"];
    let (code, text) = told(&facts(here, &verify));
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("who was expected"), "{text}");
    let unpacked = Command::new("tar")
        .args([
            "xf",
            "result.pack.tar",
            "manifest.json",
            "manifest.json.sig",
        ])
        .current_dir(here)
        .status();
    assert!(unpacked.unwrap().success());
    let mut check = keygen(&["-Y", "check-novalidate", "-n", "facts-pack"]);
    check.args(["-s", "manifest.json.sig"]);
    check.stdin(std::fs::File::open(here.join("manifest.json")).unwrap());
    assert!(check.stdout(Stdio::null()).status().unwrap().success());
    let locked = keygen(&["-q", "-t", "ed25519", "-N", "secret", "-f", "locked"]).status();
    assert!(locked.unwrap().success());
    let (code, text) = told(&facts(here, &["pack", "result", "--sign", "locked"]));
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("protected by a passphrase"), "{text}");
}

/// Impact ratios beside a count of the rows themselves.
#[test]
fn impact_ratios_are_those_of_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let mut table = "sex,race,degree,hours\n".to_owned();
    // (sex, race) → people and selected, counted row by row.
    let mut counted: BTreeMap<[&str; 2], [u64; 2]> = BTreeMap::new();
    let (mut people, mut unknown) = (0_u64, 0);
    for n in 0..2000_u64 {
        let sex = ["F", "M"][(n % 2) as usize];
        let race = match n % 97 {
            0 => "C",
            m if m < 40 => "A",
            _ => "B",
        };
        let degree = ["none", "some"][usize::from((n / 2) % 5 < 2 + u64::from(sex == "M"))];
        let hours = ["part", "full"][((n / 3) % 2) as usize];
        let missing = n % 101 == 7;
        table += &format!(
            "{sex},{},{degree},{hours}\n",
            if missing { "" } else { race }
        );
        if missing {
            unknown += 1;
            continue;
        }
        people += 1;
        let selected = u64::from(degree == "some" && hours == "full");
        for key in [[sex, ""], ["", race], [sex, race]] {
            let [all, chosen] = counted.entry(key).or_default();
            (*all, *chosen) = (*all + 1, *chosen + selected);
        }
    }
    std::fs::write(here.join("people.csv"), table).unwrap();
    let model = r#"{"intercept": -1.5, "levels": {"degree": {"none": 0, "some": 1}, "hours": {"part": 0, "full": 1}}}"#;
    std::fs::write(here.join("model.json"), model).unwrap();
    let audit = "audit people.csv -q --model linear:model.json --favourable 1 --protected sex --protected race --set evidence.shuffles=0 --set evidence.resamples=0 --set audit.min-members=5 --out result";
    let (code, text) = told(&facts(here, &audit.split(' ').collect::<Vec<_>>()));
    assert_eq!(code, 0, "{text}");
    let sheet = std::fs::read_to_string(here.join("result/impact-ratios.csv")).unwrap();
    let rate = |[all, chosen]: [u64; 2]| chosen as f64 / all as f64;
    let is_small = |[all, _]: [u64; 2]| 100 * all < 2 * people;
    let mut rows = 0;
    for line in sheet.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let by = cells[0];
        let key = match (by, cells[1].split_once(" & ")) {
            ("sex", _) => [cells[1], ""],
            ("race", _) => ["", cells[1]],
            (_, Some((sex, race))) => [sex, race],
            other => panic!("{other:?}"),
        };
        let alike = |other: &&[&str; 2]| {
            (other[0].is_empty(), other[1].is_empty()) == (key[0].is_empty(), key[1].is_empty())
        };
        let highest = counted.iter().filter(|(other, _)| alike(other));
        let highest = highest.filter(|(_, counts)| !is_small(**counts));
        let highest = highest.map(|(_, counts)| rate(*counts)).fold(0.0, f64::max);
        let own = counted[&key];
        assert_eq!(
            cells[2..4],
            [own[0].to_string(), own[1].to_string()],
            "{line}"
        );
        assert_eq!(cells[4].parse::<f64>().unwrap(), rate(own), "{line}");
        assert_eq!(cells[6], is_small(own).to_string(), "{line}");
        match is_small(own) {
            true => assert_eq!(cells[5], "", "{line}"),
            false => assert_eq!(
                cells[5].parse::<f64>().unwrap(),
                rate(own) / highest,
                "{line}"
            ),
        }
        rows += 1;
    }
    assert_eq!(rows, 2 + 3 + 6, "{sheet}");
    let page = facts(here, &["show", "result", "--format", "impact-ratios"]);
    let (code, page) = told(&page);
    assert_eq!(code, 0, "{page}");
    for said in [
        "## By sex\n",
        "## By race\n",
        "## By sex and race\n",
        "Under 2 % of the people, and so left out of the impact ratios: C (",
        &format!("{unknown} rows are in no category"),
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
}
