//! `facts profiles`: a table as counts, to be audited elsewhere or with others.

use std::process::ExitCode;

use facts_report::text::count;
use facts_run::profiles::{Cuts, Profiles};
use facts_run::{Failure, Listener, Reading, Table, files, saved};

use crate::args::ProfilesArgs;
use crate::output;
use crate::progress::Reporter;

pub(crate) fn profiles(mut args: ProfilesArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    saved::check_file(&args.out, &args.inputs())?;
    let (config, paths, cuts) = args.config()?;
    let placed = match &cuts {
        Cuts::Of(other) => other.placed(&config)?,
        _ => Vec::new(),
    };
    reporter.step("reading the table");
    let reading = Reading::for_profiles(&config, &cuts, &placed, args.suppress_below);
    let reading = reading.heard_by(reporter).unhashed();
    let table = Table::read_all(&paths.0, &config.data, reading)?;
    let read = table.rows() as u64;
    let profiles = Profiles::of(&config, table, &cuts, args.suppress_below, reporter)?;
    files::write(&args.out, &profiles.parquet()?, reporter)?;
    reporter.clear();
    let manifest = &profiles.manifest;
    let left_out = match (args.suppress_below, read - manifest.rows) {
        (Some(below), left_out) if left_out > 0 => {
            format!("; profiles of fewer than {below} rows are left out")
        }
        _ => String::new(),
    };
    output::print_plain(&format!(
        "{}: {} rows in {} profiles of {} columns{left_out}\n",
        args.out.display(),
        count(manifest.rows),
        count(manifest.profiles),
        manifest.columns.len(),
    ))?;
    Ok(ExitCode::SUCCESS)
}
