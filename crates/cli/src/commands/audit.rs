//! `facts audit`: a table and a model in, findings out.

use std::path::Path;
use std::process::ExitCode;

use facts_engine::definitions;
use facts_models::ModelSpec;
use facts_report::text::{self, Palette};
use facts_report::{Choice, HEADLINES, Record, Report, Showing, answer};
use facts_run::{
    Config, Failure, Listener, Reading, Table, expected, files::Files, outlook, paper_and_own, run,
    saved,
};
use serde_json::json;

use crate::args::{AuditArgs, PartArgs};
use crate::commands::{audit_models, dry_run, person, show};
use crate::output;
use crate::progress::Reporter;

pub(crate) fn audit(args: AuditArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    let (config, mut results) = args.config()?;
    if let Some(file) = &results.found {
        reporter.note(&using(file));
    }
    let paths = config.data.path.clone().ok_or_else(|| {
        Failure::usage("no table is named; give DATA, or data.path in the configuration")
    })?;
    let model = config.model.spec.as_ref().and_then(ModelSpec::file);
    let inputs = [
        paths.0.clone(),
        model.map(Path::to_owned).into_iter().collect(),
    ]
    .concat();
    let out = config.report.out.as_ref().filter(|_| !results.dry_run);
    if let Some(folder) = out {
        saved::check_folder(folder, &inputs)?;
    }
    if let Some(list) = &results.models {
        return audit_models::audit_models(&config, &paths.0, list, &results, reporter);
    }
    reporter.step("reading the table");
    let table = Table::read_all(
        &paths.0,
        &config.data,
        Reading::needed(&config).heard_by(reporter),
    )?;
    if results.dry_run {
        let outlook = outlook(&config, &table, reporter)?;
        let expected = expected(&config, &table, reporter);
        reporter.clear();
        reporter.check()?;
        output::print_plain(&dry_run::page(&outlook, &expected, &table))?;
        return Ok(ExitCode::SUCCESS);
    }
    if results.person.person.is_some() {
        return person::show(config, &table, &results.person, reporter);
    }
    let record = run(&config, &table, reporter)?;
    results.showing.top = config.report.top;
    let report = Report::new(&record)?;
    let chooses = results.showing.any();
    let showing = Choice::from(results.showing).showing(&report)?;
    match results.format.as_deref() {
        None if results.part.any() => print_part(&record, &report, &results.part)?,
        None if chooses => print(&record, &report, &config, &showing, reporter)?,
        None => {
            let next = next_steps(config.report.out.as_deref());
            output::print(&answer::first_screen(&report, &next, &Palette::COLOURED))?;
            reporter.note(&format!("{:.2} s in all", reporter.seconds()));
        }
        Some(name) => output::print_raw(&report.form(name, &showing)?)?,
    }
    if let Some(folder) = &config.report.out {
        write(folder, &report, &showing, reporter)?;
        remove_answers(folder);
    }
    Ok(match results.fail_over {
        Some(limit) if report.any_over(limit, &showing) => {
            reporter.note(&format!("a finding scores over {limit}"));
            ExitCode::from(1)
        }
        _ => ExitCode::SUCCESS,
    })
}

/// That a configuration is used that was not named.
pub(super) fn using(file: &Path) -> String {
    format!(
        "using {}, which is about this table; --no-config ignores it",
        file.display()
    )
}

/// Prints one part of what was found, as `facts show` does.
fn print_part(record: &Record, report: &Report<'_>, part: &PartArgs) -> Result<(), Failure> {
    let palette = &Palette::COLOURED;
    let page = match part.by_all_definitions() {
        true => show::part(
            part,
            &Report::by(record, paper_and_own(record)?.all),
            palette,
        )?,
        false => show::part(part, report, palette)?,
    };
    output::print(&page.unwrap_or_default())
}

/// What to do after the first screen.
fn next_steps(folder: Option<&Path>) -> Vec<String> {
    let next = match folder {
        None => "Next: --out DIR saves the audit and its reports; --full prints all findings; facts explain answer.".to_owned(),
        Some(folder) => show_next(folder),
    };
    vec![next]
}

/// What to do with a saved audit.
pub(crate) fn show_next(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "Next: {folder}/report.html; facts show {folder} --story 1, --stories or --full; facts explain answer."
    )
}

/// Prints the summary, then the findings.
pub(crate) fn print(
    record: &Record,
    report: &Report<'_>,
    config: &Config,
    showing: &Showing,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let palette = Palette::COLOURED;
    let mut page = text::overview(report, &palette);
    page += &format!(
        "\n{}\n",
        facts_report::overview::ranking_analysis(report).text(2)
    );
    let findings = if showing.top == 0 {
        String::new()
    } else if config.report.definitions.is_empty() {
        let headlines = HEADLINES.iter().map(|id| definitions::parse(id));
        let headlines = Report::by(record, headlines.collect::<Result<_, _>>()?);
        text::findings(&headlines, showing, &palette)
    } else {
        text::findings(report, showing, &palette)
    };
    page += &findings;
    page += &text::hold_out(report, &palette);
    output::print(&page)?;
    reporter.note(&format!("{:.2} s in all", reporter.seconds()));
    Ok(())
}

/// Writes everything into a folder.
pub(crate) fn write(
    folder: &Path,
    report: &Report<'_>,
    showing: &Showing,
    reporter: &Reporter,
) -> Result<(), Failure> {
    reporter.step("writing the reports");
    let mut files = Files::of_folder(folder, reporter)?;
    saved::whole(folder, report, showing, &mut files, reporter)?;
    publish(files, folder, reporter)
}

/// Puts the files of a folder in their places, and says so.
pub(crate) fn publish(files: Files, folder: &Path, reporter: &Reporter) -> Result<(), Failure> {
    reporter.clear();
    let paths = files.publish(reporter)?;
    let names: Vec<String> = (paths.iter())
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    reporter.note(&format!(
        "wrote {} to {}",
        names.join(", "),
        folder.display()
    ));
    reporter.event("wrote", json!({ "folder": folder, "files": names }));
    Ok(())
}

/// The answers that were kept in case the model fails are not needed once the audit is written.
pub(super) fn remove_answers(folder: &Path) {
    // If it cannot be removed it stays, and does no harm.
    let _ = std::fs::remove_file(folder.join("answers"));
}
