//! `facts audit --person`: what would turn the answer for one refused person.

use std::process::ExitCode;

use facts_report::text::Palette;
use facts_report::{Report, person};
use facts_run::config::Evidence;
use facts_run::{Config, Failure, Listener, Table, run_keeping_people};

use crate::args::PersonArgs;
use crate::output;
use crate::progress::Reporter;

/// So many profiles are listed where several are meant.
const LISTED: usize = 20;

/// Audits, and shows the person who is meant, or lists those who may be.
pub(super) fn show(
    mut config: Config,
    table: &Table,
    args: &PersonArgs,
    reporter: &Reporter,
) -> Result<ExitCode, Failure> {
    if config.audit.suppress_below.is_some() {
        return Err(Failure::usage(
            "--person shows single people, and `audit.suppress-below` hides them: give one of the two",
        ));
    }
    // Chance plays no part in what a model says of one person.
    config.evidence = Evidence::none();
    let (record, behind) = run_keeping_people(&config, table, reporter)?;
    reporter.clear();
    let report = Report::by(&record, Vec::new());
    let persons = behind.persons(&record.audit)?;
    let population = &behind.population;
    let who = args.person.as_deref().unwrap_or_default();
    let matching = match who.trim().parse::<usize>() {
        Ok(profile) => vec![profile],
        Err(_) => {
            let (group, wanted) = record.people_wanted(args.group.as_deref(), who)?;
            persons.matching(group, &wanted)
        }
    };
    let text = match matching.as_slice() {
        [] => {
            return Err(Failure::usage(format!(
                "nobody who is refused matches `{who}`"
            )));
        }
        &[profile] => {
            let page = person::page(&report, population, &persons, profile);
            let page = page.ok_or_else(|| {
                Failure::usage(format!(
                    "no refused person of the compared groups has profile {profile}"
                ))
            })?;
            person::text(&page, &Palette::COLOURED)
        }
        several => {
            let first = &several[..several.len().min(LISTED)];
            let rows = person::rows(&report, population, &persons, first);
            let list = person::list(&rows, several.len());
            format!(
                "{list}\nNext: --person {} shows the first in full.\n",
                several[0]
            )
        }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
