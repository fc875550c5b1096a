//! Five audits, made as the command makes them, recounted by `recount.py`: a program that shares no code with the
//! engine. And one that was tampered with, so that it is known to notice.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use facts_report::Record;
use facts_run::{Config, Silent, Table, run, saved};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// An audit of a table of the repository, saved beside its profiles.
struct Saved {
    folder: tempfile::TempDir,
    record: Record,
}

impl Saved {
    fn new((config, table): (&str, &str), settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let profiles = folder.path().join("profiles.json.gz");
        let profiles = format!("report.profiles={:?}", profiles.display().to_string());
        let mut all: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
        all.extend([
            profiles,
            "evidence.shuffles=300".to_owned(),
            "evidence.resamples=0".to_owned(),
        ]);
        let config = Config::load(Some(&root().join(config)), &all).unwrap();
        let table = Table::read(&root().join(table), &config.data).unwrap();
        let record = run(&config, &table, &Silent).unwrap();
        let saved = Self { folder, record };
        saved.save();
        saved
    }

    fn save(&self) {
        let bytes = saved::packed(&self.record).unwrap();
        std::fs::write(self.folder.path().join("audit.json.gz"), bytes).unwrap();
    }

    fn recount(&self) -> Output {
        Command::new("python3")
            .arg(root().join("verification/recount.py"))
            .args(["audit.json.gz", "profiles.json.gz"])
            .current_dir(self.folder.path())
            .output()
            .unwrap()
    }

    /// All numbers agree, and there are at least so many.
    fn agrees(&self, least: usize) {
        let output = self.recount();
        let said = String::from_utf8(output.stdout).unwrap();
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}{complained}");
        let last = said.lines().last().unwrap().replace(',', "");
        let agree: usize = last.split(' ').next().unwrap().parse().unwrap();
        assert!(agree >= least, "{said}");
        assert!(last.ends_with(" 0 differ"), "{said}");
    }
}

const HIRING: (&str, &str) = ("examples/hiring/facts.toml", "examples/hiring/people.csv");
const ADULT: (&str, &str) = (
    "crates/reproduce/data/adult/facts.toml",
    "crates/reproduce/data/adult/adult.csv.gz",
);
const COMPAS: (&str, &str) = (
    "crates/reproduce/src/experiments/compas.toml",
    "crates/reproduce/data/compas/compas-scores-two-years.csv.gz",
);

#[test]
fn hiring_with_joint_actions() {
    Saved::new(HIRING, &[]).agrees(2000);
}

#[test]
fn hiring_with_subset_actions_and_rules() {
    let settings = [
        "audit.validity=\"subset\"",
        "audit.support=0.03",
        "features.job.forbidden=[[\"manager\", \"clerk\"], [\"sales\", \"technician\"]]",
        "features.job.linked=[\"hours\"]",
        "features.degree.max-step=1",
        "features.years.cost=\"numeric\"",
    ];
    Saved::new(HIRING, &settings).agrees(3500);
}

#[test]
fn adult() {
    Saved::new(ADULT, &["audit.support=0.05"]).agrees(6000);
}

#[test]
fn compas() {
    Saved::new(COMPAS, &["audit.support=0.03"]).agrees(2500);
}

#[test]
fn compas_with_three_groups() {
    let races = "[\"African-American\", \"Caucasian\", \"Hispanic\"]";
    let settings = [
        &format!("data.keep.race={races}"),
        "audit.support=0.03",
        "audit.min-members=5",
    ];
    Saved::new(COMPAS, &settings).agrees(1000);
}

#[test]
fn what_was_tampered_with_is_noticed() {
    let mut saved = Saved::new(HIRING, &["audit.max-length=1"]);
    saved.record.audit.groups[0].affected -= 1;
    saved.save();
    let output = saved.recount();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("group affected: saved 209, counted 210"),
        "{said}"
    );
}
