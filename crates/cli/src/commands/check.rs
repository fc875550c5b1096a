//! `facts check`: whether an audit meets the rules of a release.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use facts_check::{Baseline, CheckError, Date, FORMS, Gate, Place, forms};
use facts_report::text::Palette;
use facts_report::{Record, Report, Showing};
use facts_run::config::Paths;
use facts_run::files::Files;
use facts_run::{Config, Failure, Listener, RowOrder, Table, run, saved, today};

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
    let today: Date = today()?.parse().map_err(Failure::usage)?;
    let record = record(&args, &config, reporter)?;
    let report = Report::new(&record)?;
    let kept = Kept::new(&args, &config, file.as_deref());
    let baseline = if args.no_baseline {
        None
    } else {
        kept.load(&args)?
    };
    let beside = baseline
        .as_ref()
        .map(|(baseline, before)| (baseline, before));
    let gate = facts_check::check(&report, &config.check, beside, today).map_err(refused)?;
    let mut written = Files::default();
    let gate = if args.update_baseline {
        let baseline = kept.update(&record, &gate, &mut written, reporter)?;
        // What is told is what holds from now on.
        let beside = Some((&baseline, &record));
        facts_check::check(&report, &config.check, beside, today).map_err(refused)?
    } else {
        gate
    };
    let place = Place {
        config: file
            .as_deref()
            .unwrap_or(Path::new("facts.toml"))
            .display()
            .to_string(),
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
        let (mut baseline, _) = baseline.ok_or_else(|| {
            Failure::usage(format!(
                "{}: there is no baseline to prune",
                kept.path.display()
            ))
        })?;
        let gone = baseline.prune(&gate.rules);
        written.add(kept.path.clone(), kept.text(&baseline)?.as_bytes())?;
        let path = kept.path.display();
        reporter.note(&format!("took {} out of {path}", findings(gone)));
    }
    written.publish(reporter)?;
    Ok(if gate.passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

fn findings(number: usize) -> String {
    if number == 1 {
        "1 finding".to_owned()
    } else {
        format!("{number} findings")
    }
}

fn refused(error: CheckError) -> Failure {
    match error {
        CheckError::Rule { .. } | CheckError::SameName(_) => Failure::usage(error),
        CheckError::NotABaseline(_) | CheckError::BaselineVersion { .. } => Failure::data(error),
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
    let table = Table::read_all(&paths.0, &config.data, RowOrder::needed(config))?;
    let record = run(config, &table, reporter)?;
    if let Some(folder) = &config.report.out {
        super::audit::write(folder, &Report::new(&record)?, &Showing::top(3), reporter)?;
    }
    Ok(record)
}

/// Where the baseline is kept.
struct Kept {
    path: PathBuf,
    audit: PathBuf,
}

impl Kept {
    fn new(args: &CheckArgs, config: &Config, file: Option<&Path>) -> Self {
        let named = args
            .baseline
            .clone()
            .or_else(|| config.check.baseline.clone());
        let path = named.unwrap_or_else(|| {
            let folder = file.and_then(Path::parent).unwrap_or(Path::new(""));
            folder.join("facts.baseline.json")
        });
        let name = path
            .file_name()
            .and_then(OsStr::to_str)
            .unwrap_or("facts.baseline");
        let stem = name.strip_suffix(".json").unwrap_or(name);
        let audit = path.with_file_name(format!("{stem}.{}", saved::AUDIT_FILE));
        Self { path, audit }
    }

    fn load(&self, args: &CheckArgs) -> Result<Option<(Baseline, Record)>, Failure> {
        let path = self.path.display();
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return match &args.baseline {
                    Some(_) if !args.update_baseline => Err(Failure::usage(format!(
                        "{path}: there is no such baseline; --update-baseline writes one"
                    ))),
                    _ => Ok(None),
                };
            }
            Err(error) => return Err(Failure::data(format!("{path}: {error}"))),
        };
        if args.update_baseline {
            // It is written anew: what it was plays no part.
            return Ok(None);
        }
        let baseline =
            Baseline::parse(&text).map_err(|error| Failure::data(format!("{path}: {error}")))?;
        let name = self.audit.display();
        let packed = std::fs::read(&self.audit).map_err(|error| {
            Failure::data(format!(
                "{name}: {error}; it belongs to {path}: bring it back, or write both with --update-baseline"
            ))
        })?;
        if saved::sha256(&packed) != baseline.audit_sha256 {
            return Err(Failure::data(format!(
                "{name} is not the audit that {path} was written with: bring both back, or write both with --update-baseline"
            )));
        }
        let record = saved::unpacked(&name.to_string(), packed)?;
        Ok(Some((baseline, record)))
    }

    /// Makes a baseline that accepts what a gate finds fault with.
    fn update(
        &self,
        record: &Record,
        gate: &Gate,
        written: &mut Files,
        reporter: &Reporter,
    ) -> Result<Baseline, Failure> {
        let packed = saved::packed(record)?;
        let baseline = Baseline::new(record, saved::sha256(&packed), &gate.rules);
        written.add(self.audit.clone(), &packed)?;
        written.add(self.path.clone(), self.text(&baseline)?.as_bytes())?;
        reporter.note(&format!(
            "writing {} and {}: {} accepted",
            self.path.display(),
            self.audit.display(),
            findings(baseline.findings.len())
        ));
        Ok(baseline)
    }

    fn text(&self, baseline: &Baseline) -> Result<String, Failure> {
        baseline
            .text()
            .map_err(|error| Failure::output(self.path.display(), error))
    }
}

fn form(gate: &Gate, place: &Place, name: &str) -> Result<String, Failure> {
    let form = FORMS.iter().find(|form| form.name == name);
    let form = form.ok_or_else(|| Failure::usage(format!("no form is called {name}")))?;
    (form.write)(gate, place).map_err(|error| Failure::output(name, error))
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
