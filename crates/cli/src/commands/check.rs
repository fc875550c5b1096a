//! `facts check`: whether an audit meets the rules of a release.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use facts_check::{Gate, Place, forms};
use facts_report::text::Palette;
use facts_report::{Record, Report, Showing};
use facts_run::config::Paths;
use facts_run::files::Files;
use facts_run::gate::{BaselineFile, Before, form, judge};
use facts_run::{Config, Failure, Listener, Reading, Table, run, saved, today};

use crate::args::CheckArgs;
use crate::output;
use crate::progress::Reporter;

pub(crate) fn check(args: CheckArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    let local = PathBuf::from("facts.toml");
    let file = args
        .config
        .clone()
        .or_else(|| local.is_file().then_some(local));
    let config = Config::load(file.as_deref(), &args.set)?;
    let today = today()?;
    let record = record(&args, &config, reporter)?;
    let report = Report::new(&record)?;
    let kept = match &args.baseline {
        Some(path) => BaselineFile::at(path.clone()),
        None => BaselineFile::of(&config, file.as_deref()),
    };
    let before = before(&kept, &args)?;
    let mut gate = judge(&report, &config, before.as_ref(), &today)?;
    let mut written = Files::default();
    if args.update_baseline {
        let baseline = kept.update(&record, &gate, &mut written)?;
        reporter.note(&format!(
            "writing {} and {}: {} accepted",
            kept.path.display(),
            kept.audit.display(),
            findings(baseline.findings.len())
        ));
        // What is told is what holds from now on.
        gate = judge(&report, &config, Some(&(baseline, record.clone())), &today)?;
    }
    let place = Place {
        config: from_here(file.as_deref().unwrap_or(Path::new("facts.toml"))),
        audit: (args.audit.iter().find(|path| is_saved(path)))
            .or(config.report.out.as_ref())
            .map_or_else(String::new, |path| path.display().to_string()),
    };
    reporter.clear();
    print(&gate, &place, args.format.as_deref())?;
    for (name, path) in &args.write {
        written.add(path.clone(), form(&gate, &place, name)?.as_bytes())?;
    }
    if args.prune {
        prune(&kept, before, &gate, &mut written, reporter)?;
    }
    written.publish(reporter)?;
    Ok(if gate.passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// The baseline that counts: none if it is not wanted, or is about to be written anew.
fn before(kept: &BaselineFile, args: &CheckArgs) -> Result<Option<Before>, Failure> {
    if args.no_baseline || args.update_baseline {
        return Ok(None);
    }
    let before = kept.load()?;
    match (&before, &args.baseline) {
        (None, Some(path)) => Err(Failure::usage(format!(
            "{}: there is no such baseline; --update-baseline writes one",
            path.display()
        ))),
        _ => Ok(before),
    }
}

/// Takes out of the baseline what is not found any more.
fn prune(
    kept: &BaselineFile,
    before: Option<Before>,
    gate: &Gate,
    written: &mut Files,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let path = kept.path.display();
    let (mut baseline, _) =
        before.ok_or_else(|| Failure::usage(format!("{path}: there is no baseline to prune")))?;
    let gone = baseline.prune(&gate.rules);
    kept.write(&baseline, written)?;
    reporter.note(&format!("took {} out of {path}", findings(gone)));
    Ok(())
}

/// A file as other programs find it: from the folder that they and this one run in, if it lies there.
fn from_here(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let inside = here
        .as_deref()
        .and_then(|here| path.strip_prefix(here).ok());
    let inside = inside.unwrap_or(path);
    let inside = inside.strip_prefix("./").unwrap_or(inside);
    inside.display().to_string()
}

fn findings(number: usize) -> String {
    if number == 1 {
        "1 finding".to_owned()
    } else {
        format!("{number} findings")
    }
}

/// Whether a path is that of a saved audit, and not of a table.
fn is_saved(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or("");
    path.is_dir() || name.ends_with(".json") || name.ends_with(".json.gz")
}

/// The audit to be checked: saved, or made now.
fn record(args: &CheckArgs, config: &Config, reporter: &Reporter) -> Result<Record, Failure> {
    if let Some(path) = args.audit.as_deref().filter(|path| is_saved(path)) {
        return saved::load(path);
    }
    let given = args.audit.clone().map(|path| Paths(vec![path]));
    let paths = given.or_else(|| config.data.path.clone());
    let paths = paths.ok_or_else(|| {
        Failure::usage(
            "nothing to check: give a saved audit or a table, or name data.path in the configuration",
        )
    })?;
    reporter.step("reading the table");
    let table = Table::read_all(
        &paths.0,
        &config.data,
        Reading::needed(config).heard_by(reporter),
    )?;
    let record = run(config, &table, reporter)?;
    if let Some(folder) = &config.report.out {
        super::audit::write(folder, &Report::new(&record)?, &Showing::top(3), reporter)?;
    }
    Ok(record)
}

/// Prints what was asked for; in GitHub Actions also what its pages show.
fn print(gate: &Gate, place: &Place, format: Option<&str>) -> Result<(), Failure> {
    match format {
        None | Some("text") => output::print(&forms::text(gate, place, &Palette::COLOURED))?,
        Some(name) => output::print_raw(form(gate, place, name)?.as_bytes())?,
    }
    let said = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if format.is_none() && said("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
        output::print_raw(forms::annotations(gate, place).as_bytes())?;
    }
    if let Some(file) = said("GITHUB_STEP_SUMMARY") {
        let refuse = |error| Failure::output(Path::new(&file).display(), error);
        let mut page = std::fs::File::options()
            .append(true)
            .create(true)
            .open(&file)
            .map_err(refuse)?;
        page.write_all(forms::summary(gate).as_bytes())
            .map_err(refuse)?;
    }
    Ok(())
}
