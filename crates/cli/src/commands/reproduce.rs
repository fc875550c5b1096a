//! `facts reproduce`: the paper's experiments, ours beside theirs.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use facts_report::{Report, Showing, csv};
use facts_reproduce::document::{self, Rules};
use facts_reproduce::{Comparison, EXPERIMENTS, Experiment, Reproduction, Run, Variant, compare};
use facts_run::{Failure, Listener, files, files::Files, saved};

use crate::args::{ReproduceArgs, RulesArg, VariantArg};
use crate::output;
use crate::progress::Reporter;

pub(crate) fn reproduce(args: ReproduceArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    let experiments: Vec<&'static Experiment> = match Experiment::named(&args.name) {
        Some(experiment) => vec![experiment],
        None => EXPERIMENTS.iter().collect(),
    };
    if args.print_config {
        for experiment in experiments {
            output::print_raw(experiment.config.as_bytes())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if args.data.is_some() && experiments.len() > 1 {
        return Err(Failure::usage(
            "--data is the table of one experiment; name that instead of `all`",
        ));
    }
    let variants: &[Variant] = match args.variant {
        _ if args.page.is_some() => &[Variant::Authors, Variant::Own],
        VariantArg::Both => &[Variant::Authors, Variant::Own],
        VariantArg::Authors => &[Variant::Authors],
        VariantArg::Own => &[Variant::Own],
    };
    let rules = match args.rules {
        RulesArg::Facts => Rules::Facts,
        RulesArg::Authors => Rules::Authors,
    };
    let several = experiments.len() * variants.len() > 1;
    let mut comparisons = Vec::new();
    for experiment in experiments {
        for &variant in variants {
            let run = Run {
                data: args.data.as_deref(),
                support: args.support.as_deref(),
                threads: args.threads,
                ..Run::new(experiment, variant)
            };
            let start = Instant::now();
            let made = run.run(reporter)?;
            let mut comparison = compare(&made)?;
            let seconds = start.elapsed().as_secs_f64();
            if args.page.is_none() {
                // A page is to be the same whenever it is written.
                comparison.seconds = Some(seconds);
                let text = document::experiment(&comparison, rules, 1).plain();
                output::print(&format!("{text}\n"))?;
            }
            reporter.note(&format!(
                "{}, {}: {seconds:.2} s",
                experiment.name, made.split_and_model
            ));
            if let Some(folder) = &args.out {
                let inside = folder.join(format!("{}-{}", experiment.name, variant.name()));
                let folder = if several { &inside } else { folder };
                write(folder, &made, &comparison, rules, reporter)?;
            }
            comparisons.push(comparison);
        }
    }
    if let Some(page) = &args.page {
        files::write(page, document::page(&comparisons).as_bytes(), reporter)?;
        reporter.note(&format!("wrote {}", page.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the comparison, the audit and all reports.
fn write(
    folder: &Path,
    made: &Reproduction,
    comparison: &Comparison,
    rules: Rules,
    reporter: &Reporter,
) -> Result<(), Failure> {
    reporter.step("writing the reports");
    let mut files = Files::of_folder(folder, reporter)?;
    let markdown = document::experiment(comparison, rules, 1).markdown();
    files.add(folder.join("reproduction.md"), markdown.as_bytes())?;
    let path = folder.join("reproduction.json");
    let mut json = serde_json::to_vec_pretty(comparison)
        .map_err(|error| Failure::output(path.display(), error))?;
    json.push(b'\n');
    files.add(path, &json)?;
    let sheet = csv::csv(&document::sheet(comparison), csv::Formulas::Kept);
    files.add(folder.join("reproduction.csv"), &sheet)?;
    let report = Report::new(&made.record)?;
    saved::whole(folder, &report, &Showing::top(3), &mut files, reporter)?;
    super::audit::publish(files, folder, reporter)
}
