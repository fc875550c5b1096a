//! `facts audit --models`: many models on one table.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use facts_models::ModelSpec;
use facts_report::models::{MODEL_FORMS, ModelRow, Models};
use facts_report::{Choice, Record, Report};
use facts_run::files::Files;
use facts_run::{Config, Failure, FromCode, Listener, Reading, RowOrder, Table, models, saved};

use super::audit::{publish, remove_answers, write};
use crate::args::{Results, by_flags};
use crate::exit;
use crate::output;
use crate::progress::Reporter;

/// Audits each model of a list. The exit code is that of the first model that failed, if any did.
pub(super) fn audit_models(
    config: &Config,
    paths: &[PathBuf],
    list: &Path,
    results: &Results,
    reporter: &Reporter,
) -> Result<ExitCode, Failure> {
    check_form(results.format.as_deref())?;
    let listed = models::read_list(list)?;
    if let Some(out) = &config.report.out {
        for model in &listed {
            let file = model.model.spec.as_ref().and_then(ModelSpec::file);
            let inputs = [
                paths,
                &file.map(Path::to_owned).into_iter().collect::<Vec<_>>(),
            ]
            .concat();
            saved::check_folder(&out.join(&model.name), &inputs)?;
        }
    }
    // What the models read is known one by one; the table is read once for all of them.
    let mut reading = Reading::needed(config).once().heard_by(reporter);
    if listed.iter().any(|model| model.is_train()) {
        reading.order = RowOrder::to_train(config.train.split);
    }
    reporter.step("reading the table");
    let table = Table::read_all(paths, &config.data, reading)?;
    let (mut done, all) = (0, listed.len());
    let mut failed = None;
    let made = models::run_models(
        config,
        &table,
        listed,
        reporter,
        |_| FromCode::default(),
        |name, config, found| {
            done += 1;
            let row =
                match found.and_then(|record| written(name, config, &record, results, reporter)) {
                    Ok(row) => row,
                    Err(failure) => {
                        let why = by_flags(&failure.to_string());
                        failed.get_or_insert(exit::code(&failure));
                        ModelRow::failed(name, why)
                    }
                };
            reporter.clear();
            reporter.note(&format!("{done} of {all}: {name}: {}", row.verdict));
            Ok(row)
        },
    );
    let summary = models::summary(config, &table, made?)?;
    show(&summary, config.report.out.as_deref(), results, reporter)?;
    Ok(failed.unwrap_or(ExitCode::SUCCESS))
}

/// Writes the audit of one model, if that is asked for; its line of the summary.
fn written(
    name: &str,
    config: &Config,
    record: &Record,
    results: &Results,
    reporter: &Reporter,
) -> Result<ModelRow, Failure> {
    let report = Report::new(record)?;
    if let Some(folder) = &config.report.out {
        let showing = Choice::from(results.showing.clone()).showing(&report)?;
        write(folder, &report, &showing, reporter)?;
        remove_answers(folder);
    }
    Ok(ModelRow::audited(name, &report))
}

/// Refuses a form that the summary does not have.
fn check_form(form: Option<&str>) -> Result<(), Failure> {
    let names: Vec<&str> = MODEL_FORMS.iter().map(|form| form.name).collect();
    match form {
        Some(form) if !names.contains(&form) => Err(Failure::usage(format!(
            "the summary of models has the forms {}, and not {form}; --out writes every form of report for each model",
            names.join(", ")
        ))),
        _ => Ok(()),
    }
}

/// Prints the summary, and writes it in all its forms.
fn show(
    summary: &Models,
    out: Option<&Path>,
    results: &Results,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let refuse = |form: &str, error| Failure::output(form, error);
    let formulas = Choice::from(results.showing.clone()).formulas;
    match results.format.as_deref() {
        None => {
            output::print_plain(&summary.text())?;
            let audited = summary.models.iter().find(|model| model.failure.is_none());
            let next = match (out, audited) {
                (Some(out), Some(first)) => {
                    format!("facts show {}", out.join(&first.name).display())
                }
                (Some(_), None) => "see why they failed, and audit them again".to_owned(),
                (None, _) => "--out DIR saves each audit with its reports".to_owned(),
            };
            output::print_plain(&format!("\nNext: {next}\n"))?;
            reporter.note(&format!("{:.2} s in all", reporter.seconds()));
        }
        Some(form) => {
            let bytes = summary.form(form, formulas).transpose();
            let bytes = bytes.map_err(|error| refuse(form, error))?;
            output::print_raw(&bytes.unwrap_or_default())?;
        }
    }
    let Some(out) = out else {
        return Ok(());
    };
    let mut files = Files::of_folder(out, reporter)?;
    for form in MODEL_FORMS {
        let bytes = (form.write)(summary, formulas).map_err(|error| refuse(form.file, error))?;
        files.add(out.join(form.file), &bytes)?;
    }
    publish(files, out, reporter)
}
