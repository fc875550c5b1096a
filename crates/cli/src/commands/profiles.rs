//! `facts profiles`: a table as counts, to be audited elsewhere or with others.

use std::path::PathBuf;
use std::process::ExitCode;

use facts_report::text::count;
use facts_run::profiles::{Cuts, Manifest, Profiles};
use facts_run::{Failure, Listener, Reading, RowOrder, Table, files, saved};

use crate::args::ProfilesArgs;
use crate::output;
use crate::progress::Reporter;

pub(crate) fn profiles(mut args: ProfilesArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    let (config, paths) = args.config()?;
    let bins_from = args.bins_from.iter().cloned();
    let inputs: Vec<PathBuf> = paths.0.iter().cloned().chain(bins_from).collect();
    saved::check_file(&args.out, &inputs)?;
    let cuts = match (&args.bins_from, args.bins) {
        (Some(file), _) => Cuts::Of(Manifest::of_file(file)?),
        (None, true) => Cuts::OfTable,
        (None, false) => Cuts::None,
    };
    reporter.step("reading the table");
    let mut kept = Reading::needed(&config).heard_by(reporter).unhashed();
    kept.order = RowOrder::Forgotten;
    // Profiles hold what the table holds.
    kept.twice_for = None;
    let table = Table::read_all(&paths.0, &config.data, kept)?;
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
