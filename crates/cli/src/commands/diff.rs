//! `facts diff`: saved audits compared, two or a series; or two models on the same people.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use facts_engine::comparison::{Comparison, compare};
use facts_report::diff::{Change, Changed, Diff, SeriesDiff, Standing};
use facts_report::text::{Palette, count};
use facts_report::{Record, Report};
use facts_run::{
    Config, Failure, FromCode, Kept, Listener, Reading, Table, compare_people, definitions_for,
    run_to_compare, saved,
};

use crate::args::{DiffArgs, DiffForm};
use crate::output;
use crate::progress::Reporter;

pub(crate) fn diff(args: DiffArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    if let Some(alpha) = args.alpha
        && !(alpha > 0.0 && alpha < 1.0)
    {
        return Err(Failure::usage(format!(
            "--alpha is {alpha}; give a number between 0 and 1"
        )));
    }
    let is_config = |path: &PathBuf| path.extension().is_some_and(|end| end == "toml");
    match args.audits.as_slice() {
        [old, new] if is_config(old) && is_config(new) => models(&args, old, new, reporter),
        paths if paths.iter().any(is_config) => Err(Failure::usage(
            "a configuration is compared with one other configuration: both are audited now, on the same people; saved audits are compared with saved audits",
        )),
        [old, new] => two(&args, old, new),
        [folder] => series(&args, in_folder(folder)?),
        paths => {
            let load = |path: &PathBuf| Ok((path.display().to_string(), saved::load(path)?));
            series(
                &args,
                paths.iter().map(load).collect::<Result<_, Failure>>()?,
            )
        }
    }
}

fn two(args: &DiffArgs, old: &Path, new: &Path) -> Result<ExitCode, Failure> {
    let (old, new) = (saved::load(old)?, saved::load(new)?);
    let asked = Asked::new(args, &old, &new)?;
    let comparison = compare(old.side(), new.side(), &asked.budgets, asked.alpha);
    finish(args, &old, &new, &asked.ids, comparison.as_ref(), None)
}

/// Audits the models of two configurations on the same people, and compares by those whose answer changed.
fn models(
    args: &DiffArgs,
    old: &Path,
    new: &Path,
    reporter: &Reporter,
) -> Result<ExitCode, Failure> {
    let make = |path: &Path| -> Result<(Record, Kept), Failure> {
        let config = Config::load(Some(path), &[])?;
        let paths = config.data.path.clone().ok_or_else(|| {
            Failure::usage(format!(
                "{}: no table is named; give data.path",
                path.display()
            ))
        })?;
        reporter.step("reading the table");
        let table = Table::read_all(
            &paths.0,
            &config.data,
            Reading::needed(&config).heard_by(reporter),
        )?;
        run_to_compare(&config, &table, FromCode::default(), reporter)
    };
    let (old, new) = (make(old)?, make(new)?);
    let asked = Asked::new(args, &old.0, &new.0)?;
    let (old, new) = ((&old.0, &old.1), (&new.0, &new.1));
    let (comparison, people) = compare_people(old, new, &asked.budgets, asked.alpha)?;
    let all = new.0.audit.groups.iter().map(|group| group.people).sum();
    let fewer = (people < all).then(|| {
        format!(
            "{} of the {} people audited now were audited before too; the same people are compared",
            count(people),
            count(all)
        )
    });
    let comparison = comparison.as_ref();
    finish(args, old.0, new.0, &asked.ids, comparison, fewer)
}

/// What two audits are compared by.
struct Asked {
    ids: Vec<String>,
    budgets: Vec<f64>,
    alpha: f64,
}

impl Asked {
    fn new(args: &DiffArgs, old: &Record, new: &Record) -> Result<Self, Failure> {
        let ids = definitions(args, old)?;
        if args.passing {
            must_be_tested(new, &ids)?;
        }
        let parsed = ids.iter().map(|id| facts_engine::definitions::parse(id));
        let budgets = Report::by(old, parsed.collect::<Result<_, _>>()?).budgets();
        Ok(Self {
            budgets,
            alpha: args.alpha.unwrap_or(new.alpha()),
            ids,
        })
    }
}

/// Prints two audits compared.
fn finish(
    args: &DiffArgs,
    old: &Record,
    new: &Record,
    ids: &[String],
    comparison: Option<&Comparison>,
    warning: Option<String>,
) -> Result<ExitCode, Failure> {
    let mut diff = Diff::with(old, new, ids, comparison)?;
    diff.warnings.extend(warning);
    only_passing(args, &mut diff);
    match args.format {
        DiffForm::Json => print_json(serde_json::to_string_pretty(&diff))?,
        DiffForm::Text => output::print(&diff.text(args.top, &Palette::COLOURED))?,
        DiffForm::Html => output::print_raw(diff.html(args.top).as_bytes())?,
        DiffForm::Markdown => output::print_raw(diff.markdown(args.top).as_bytes())?,
    }
    let changed = comparison.is_some_and(Comparison::anything_moved);
    Ok(exit(args, changed, &diff))
}

fn series(args: &DiffArgs, mut audits: Vec<(String, Record)>) -> Result<ExitCode, Failure> {
    let later = audits.split_off(1.min(audits.len()));
    let (Some((name, first)), Some((_, newest))) = (audits.first(), later.last()) else {
        return Err(Failure::usage("one audit alone cannot be compared"));
    };
    let ids = definitions(args, first)?;
    if args.passing {
        must_be_tested(newest, &ids)?;
    }
    let alpha = args.alpha.unwrap_or(newest.alpha());
    let named: Vec<(String, &Record)> = (later.iter())
        .map(|(name, record)| (name.clone(), record))
        .collect();
    let mut series = SeriesDiff::new((name, first), &named, &ids, alpha)?;
    for look in &mut series.looks {
        only_passing(args, &mut look.diff);
    }
    match args.format {
        DiffForm::Json => print_json(serde_json::to_string_pretty(&series))?,
        DiffForm::Text => output::print(&series.text(args.top, &Palette::COLOURED))?,
        DiffForm::Html => output::print_raw(series.html(args.top).as_bytes())?,
        DiffForm::Markdown => output::print_raw(series.markdown(args.top).as_bytes())?,
    }
    let changed = series.first_change.is_some();
    Ok(match series.looks.last() {
        Some(look) => exit(args, changed, &look.diff),
        None => ExitCode::SUCCESS,
    })
}

/// The saved audits of a folder, by when they were made and then by name.
fn in_folder(folder: &Path) -> Result<Vec<(String, Record)>, Failure> {
    let refuse = |error: std::io::Error| Failure::data(format!("{}: {error}", folder.display()));
    if !folder.is_dir() || folder.join(saved::AUDIT_FILE).is_file() {
        return Err(Failure::usage(format!(
            "{} is one audit; name another to compare it with, or a folder that holds several",
            folder.display()
        )));
    }
    let mut audits = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refuse)? {
        let path = entry.map_err(refuse)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_file = name.ends_with(".json.gz") && path.is_file();
        if is_file || path.join(saved::AUDIT_FILE).is_file() {
            audits.push((name.into_owned(), saved::load(&path)?));
        }
    }
    if audits.len() < 2 {
        return Err(Failure::usage(format!(
            "{} holds {}; a series needs two: folders that `facts audit --out` wrote, or files that end in .json.gz",
            folder.display(),
            match audits.len() {
                0 => "no audit",
                _ => "one audit",
            }
        )));
    }
    audits.sort_by(|(a, old), (b, new)| old.made.cmp(&new.made).then_with(|| a.cmp(b)));
    Ok(audits)
}

/// The definitions to compare by: those asked for, or those of the oldest audit.
fn definitions(args: &DiffArgs, oldest: &Record) -> Result<Vec<String>, Failure> {
    if !args.definitions.any() {
        return Ok(oldest.definitions.clone());
    }
    let mut config = Config::default();
    args.definitions.clone().apply(&mut config);
    let definitions = definitions_for(&config, &oldest.audit)?.all;
    Ok(definitions.iter().map(|d| d.id()).collect())
}

fn must_be_tested(newest: &Record, ids: &[String]) -> Result<(), Failure> {
    let tested = newest.check_tested(ids.iter().map(String::as_str));
    tested.map_err(|error| Failure::from(error).with("--passing heeds the newer audit"))
}

/// Leaves out findings that pass in neither audit, if that was asked for.
fn only_passing(args: &DiffArgs, diff: &mut Diff) {
    if args.passing {
        let passes = |standing: &Standing| standing.passes() == Some(true);
        diff.changed
            .retain(|changed| passes(&changed.old) || passes(&changed.new));
    }
}

fn print_json(text: serde_json::Result<String>) -> Result<(), Failure> {
    let text = text.map_err(|error| Failure::output("JSON", error))?;
    output::print_raw(format!("{text}\n").as_bytes())
}

/// 1 if what was asked not to happen happened.
fn exit(args: &DiffArgs, changed: bool, newest: &Diff) -> ExitCode {
    let over = |changed: &Changed| {
        let Standing::Unfair { score, passes, .. } = changed.new else {
            return false;
        };
        let worse = match changed.change {
            Change::Appeared | Change::Grew => true,
            // Nothing to compare it with; its own test must do.
            Change::OnlyNow => passes == Some(true),
            _ => false,
        };
        let counts = worse && (!args.passing || passes == Some(true));
        counts && args.fail_over.is_some_and(|limit| score > limit)
    };
    if (args.fail_on_change && changed) || newest.changed.iter().any(over) {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    }
}
