//! The page that is committed is what its source gives, and it is small.
//!
//! `FACTS_NODE` names a `node`; run `npm ci` in `crates/serve/web` first. Without it the source is not
//! built, and the test says so; on CI that is a failure.
#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

const FILES: [&str; 4] = ["index.html", "explorer.js", "explorer.css", "icon.svg"];

fn web() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("web")
}

#[test]
fn the_page_is_under_150_kilobytes() {
    let mut packed = 0;
    for file in FILES {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer
            .write_all(&std::fs::read(web().join("dist").join(file)).unwrap())
            .unwrap();
        packed += packer.finish().unwrap().len();
    }
    assert!(packed < 150_000, "{packed} bytes");
}

#[test]
fn the_committed_page_is_what_the_source_gives() {
    let Some(node) = std::env::var_os("FACTS_NODE").filter(|node| !node.is_empty()) else {
        let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!is_ci, "FACTS_NODE must be set on CI");
        eprintln!("LEFT OUT: set FACTS_NODE to build the page from its source");
        return;
    };
    let built = tempfile::tempdir().unwrap();
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
    let folder = built.path().to_str().unwrap();
    run(
        "vite/bin/vite.js",
        &[
            "build",
            "--outDir",
            folder,
            "--emptyOutDir",
            "--logLevel",
            "warn",
        ],
    );
    for file in FILES {
        let fresh = std::fs::read(built.path().join(file)).unwrap();
        let committed = std::fs::read(web().join("dist").join(file)).unwrap();
        assert!(
            fresh == committed,
            "web/dist/{file} is not what web/src gives: run `npm run build` in crates/serve/web"
        );
    }
    let there = std::fs::read_dir(built.path()).unwrap().count();
    assert_eq!(there, FILES.len());
}
