//! `facts demo`: an audit that needs nothing: the Adult census data and a model fitted on it.

use std::path::Path;
use std::process::ExitCode;

use facts_report::text::Palette;
use facts_report::{Choice, Report, answer};
use facts_reproduce::tables::{ADULT, ADULT_CONFIG};
use facts_run::{Config, Failure, Table, files, run, saved};

use super::audit::{print, show_next, write};
use crate::args::DemoArgs;
use crate::output;
use crate::progress::Reporter;

/// The report that is written when no folder is named.
const PAGE: &str = "facts-demo.html";

pub(crate) fn demo(args: DemoArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    if args.print_config {
        output::print_raw(ADULT_CONFIG.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut config = Config::parse("the demo's configuration", ADULT_CONFIG, &[])?;
    args.evidence.apply(&mut config);
    if let Some(folder) = &args.out {
        saved::check_folder(folder, &[])?;
    }
    let table = Table::embedded("adult.csv.gz", ADULT, &config.data)?;
    let record = run(&config, &table, reporter)?;
    let seconds = reporter.seconds();
    let report = Report::new(&record)?;
    let chooses = args.showing.any();
    let showing = Choice::from(args.showing).showing(&report)?;
    if chooses {
        print(&record, &report, &config, &showing, reporter)?;
    } else {
        let next = next_steps(args.out.as_deref(), seconds);
        output::print(&answer::first_screen(&report, &next, &Palette::COLOURED))?;
    }

    match &args.out {
        Some(folder) => write(folder, &report, &showing, reporter)?,
        None => files::write(Path::new(PAGE), &report.form("html", &showing)?, reporter)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What to do after the first screen.
fn next_steps(folder: Option<&Path>, seconds: f64) -> Vec<String> {
    let saved = match folder {
        Some(folder) => show_next(folder),
        None => format!(
            "Next: open {PAGE}; facts demo --full prints all, --out DIR saves all; facts explain answer."
        ),
    };
    let own = "Your own table: facts init YOUR.csv, then facts audit YOUR.csv.";
    vec![saved, format!("{own} (Made in {seconds:.1} s.)")]
}
