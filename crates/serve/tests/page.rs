//! The explorer that is committed is what its source gives, for `facts serve` and for report.html, and it is small.
//!
//! `FACTS_NODE` names a `node`; run `npm ci` in `crates/serve/web` first. Without it the source is not
//! built, and the test says so; on CI that is a failure.
#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Where each build is committed, the mode of Vite that gives it, and its files.
const BUILDS: [(&str, &str, &[&str]); 2] = [
    (
        "dist",
        "production",
        &["index.html", "explorer.js", "explorer.css", "icon.svg"],
    ),
    (
        "../../report/src/html/assets/explorer",
        "report",
        &["explorer.js", "explorer.css"],
    ),
];

fn web() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("web")
}

#[test]
fn both_builds_together_are_under_150_kilobytes() {
    let mut packed = 0;
    for (folder, _, files) in BUILDS {
        for file in files {
            let mut packer = GzEncoder::new(Vec::new(), Compression::default());
            packer
                .write_all(&std::fs::read(web().join(folder).join(file)).unwrap())
                .unwrap();
            packed += packer.finish().unwrap().len();
        }
    }
    assert!(packed < 150_000, "{packed} bytes");
}

/// What would end the element that the report carries it in.
#[test]
fn the_report_can_carry_its_explorer() {
    let folder = web().join(BUILDS[1].0);
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let (script, style) = (read("explorer.js"), read("explorer.css"));
    assert!(!script.contains("</script") && !script.contains("<!--"));
    assert!(!style.contains("</style") && !style.contains("url("));
}

#[test]
fn the_committed_page_is_what_the_source_gives() {
    let Some(node) = std::env::var_os("FACTS_NODE").filter(|node| !node.is_empty()) else {
        let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!is_ci, "FACTS_NODE must be set on CI");
        eprintln!("LEFT OUT: set FACTS_NODE to build the page from its source");
        return;
    };
    let run = |script: &str, arguments: &[&str]| {
        let script = web().join("node_modules").join(script);
        assert!(
            script.is_file(),
            "{} is missing; run `npm ci` in crates/serve/web",
            script.display()
        );
        let mut command = Command::new(&node);
        let done = command
            .arg(script)
            .args(arguments)
            .current_dir(web())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(
            done.status.success(),
            "{said}{}",
            String::from_utf8_lossy(&done.stderr)
        );
    };
    run("typescript/bin/tsc", &["--noEmit"]);
    for (folder, mode, files) in BUILDS {
        let built = tempfile::tempdir().unwrap();
        let to = built.path().to_str().unwrap();
        let quietly = ["--emptyOutDir", "--logLevel", "warn"];
        let arguments = ["build", "--mode", mode, "--outDir", to];
        run("vite/bin/vite.js", &[&arguments[..], &quietly].concat());
        for file in files {
            let fresh = std::fs::read(built.path().join(file)).unwrap();
            let committed = std::fs::read(web().join(folder).join(file)).unwrap();
            assert!(
                fresh == committed,
                "{folder}/{file} is not what web/src gives: run `npm run build` in crates/serve/web"
            );
        }
        let there = std::fs::read_dir(built.path()).unwrap().count();
        assert_eq!(there, files.len());
    }
}
