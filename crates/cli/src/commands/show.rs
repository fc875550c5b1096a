//! `facts show`: a saved audit, asked again.

use std::process::ExitCode;

use facts_report::text::{self, Palette, count, percent};
use facts_report::{Conditions, FORMS, Record, Report, evidence, finding_id, overview};
use facts_run::{Config, Failure, Listener, definitions_for, files, saved};

use super::audit::form;
use crate::args::ShowArgs;
use crate::output;
use crate::progress::Reporter;
use crate::showing::{check_tested, showing};

/// What is shown: text for people, or a form that must not be touched.
enum Page {
    Text(String),
    Bytes(Vec<u8>),
}

pub(crate) fn show(args: ShowArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    let record = saved::load(&args.audit)?;
    let showing = showing(&args.showing, &record)?;
    let asked = args.definitions.any();
    let mut report = ranked(&record, args.definitions, reporter)?;
    check_tested(&report, &showing)?;
    if !asked && (args.subgroup.is_some() || args.tables) {
        report = side_by_side(&record, report, reporter)?;
    }
    let palette = if args.out.is_some() {
        Palette::PLAIN
    } else {
        Palette::COLOURED
    };
    let page = if let Some(wanted) = &args.subgroup {
        Page::Text(subgroup(find(&report, wanted)?, &report, &palette))
    } else if args.tables {
        Page::Text(tables(&report, &palette))
    } else if let Some(name) = &args.format {
        let holds_all = FORMS.iter().any(|form| form.name == name && !form.chooses);
        if holds_all && args.showing.any() {
            reporter.note(&format!(
                "{name} holds all subgroups: what is chosen of them plays no part in it"
            ));
        }
        Page::Bytes(form(name, &report, &showing)?)
    } else {
        Page::Text(text::report(&report, &showing, &palette))
    };
    match (&args.out, page) {
        (Some(path), Page::Text(text)) => files::write(path, text.as_bytes(), reporter)?,
        (Some(path), Page::Bytes(bytes)) => files::write(path, &bytes, reporter)?,
        (None, Page::Text(text)) => output::print(&text)?,
        (None, Page::Bytes(bytes)) => output::print_raw(&bytes)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The record under the definitions that flags ask for, or under its own.
pub(crate) fn ranked<'a>(
    record: &'a Record,
    args: crate::args::DefinitionArgs,
    reporter: &Reporter,
) -> Result<Report<'a>, Failure> {
    let asked = args.any();
    let mut config = Config::default();
    args.apply(&mut config);
    if !asked {
        return Report::new(record).map_err(|error| {
            Failure::data(format!(
                "the saved audit names a definition that cannot be: {error}"
            ))
        });
    }
    let mut notes = Vec::new();
    let definitions = definitions_for(&config, &record.audit, &mut notes)?;
    notes.iter().for_each(|note| reporter.note(note));
    Ok(Report::by(record, definitions))
}

/// The paper's columns, and whatever else the audit was made for.
fn side_by_side<'a>(
    record: &'a Record,
    own: Report<'a>,
    reporter: &Reporter,
) -> Result<Report<'a>, Failure> {
    let mut notes = Vec::new();
    let mut all = definitions_for(&Config::default(), &record.audit, &mut notes)?;
    notes.iter().for_each(|note| reporter.note(note));
    let known: Vec<String> = all.iter().map(|definition| definition.id()).collect();
    let others = own.columns.into_iter().map(|column| column.definition);
    all.extend(others.filter(|definition| !known.contains(&definition.id())));
    Ok(Report::by(record, all))
}

/// A subgroup by its predicate, or by the id of one of its findings.
fn find(report: &Report<'_>, wanted: &str) -> Result<usize, Failure> {
    let audit = &report.record.audit;
    let is_id = wanted.len() == 12 && wanted.chars().all(|c| c.is_ascii_hexdigit());
    if is_id {
        let groups: Vec<&str> = audit
            .groups
            .iter()
            .map(|group| group.name.as_str())
            .collect();
        let found = audit.subgroups.iter().position(|subgroup| {
            let predicate = audit.text(&subgroup.predicate);
            report.columns.iter().any(|column| {
                finding_id(
                    &predicate,
                    &column.ranking.definition,
                    groups.iter().copied(),
                ) == wanted
            })
        });
        return found.ok_or_else(|| {
            Failure::usage(format!(
                "no finding {wanted} by the definitions of this audit; name the definition with -d"
            ))
        });
    }
    let parsed = Conditions::parse(wanted, &audit.features);
    let parsed = parsed.map_err(|why| Failure::usage(format!("--subgroup: {why}")))?;
    let items = parsed.exactly().ok_or_else(|| {
        Failure::usage(format!(
            "--subgroup {wanted}: give a whole predicate, such as \"age = 30, job = clerk\"; to search, use --where"
        ))
    })?;
    let same = |predicate: &facts_engine::subgroups::Predicate| predicate.items() == items;
    if let Some(found) = audit.subgroups.iter().position(|s| same(&s.predicate)) {
        return Ok(found);
    }
    if let Some(without) = audit.without_actions.iter().find(|s| same(&s.predicate)) {
        let members: Vec<String> = (audit.groups.iter().zip(&without.members))
            .map(|(group, members)| format!("{} {}", count(*members), group.name.trim()))
            .collect();
        return Err(Failure::usage(format!(
            "this subgroup is common ({}), but no valid action was mined for it, so it is not ranked",
            members.join(", ")
        )));
    }
    Err(Failure::usage(format!(
        "no subgroup of this audit has exactly this predicate: it is not common to all groups at support {}; try --where",
        audit.settings.support
    )))
}

/// One subgroup in full: who they are, all definitions side by side, all actions, distributions.
fn subgroup(subgroup: usize, report: &Report<'_>, palette: &Palette) -> String {
    let audit = &report.record.audit;
    let found = &audit.subgroups[subgroup];
    let heading = |text: &str| format!("\n{}{text}{:#}\n", palette.heading, palette.heading);
    let mut page = format!(
        "{}{}{:#}\n",
        palette.who,
        text::visible(&audit.text(&found.predicate)),
        palette.who
    );
    for (g, group) in audit.groups.iter().enumerate() {
        let share = facts_engine::distribution::Share::new(found.members[g], group.affected);
        page += &format!(
            "  {}: {} of {} affected ({})\n",
            text::visible(group.name.trim()),
            count(found.members[g]),
            count(group.affected),
            percent(share)
        );
    }
    page += &heading("All definitions");
    page += &overview::all_definitions(report, subgroup).text(2);
    for part in evidence::of_subgroup(report, subgroup) {
        page += &heading(&part.title);
        page += &part.text;
    }
    page += &heading("All actions, and how often each works");
    page += &overview::all_actions(report, subgroup).text(2);
    page += &heading("Effectiveness–cost distribution");
    page + &overview::distributions(report, subgroup).text(2)
}

/// The paper's two analysis tables.
fn tables(report: &Report<'_>, palette: &Palette) -> String {
    let heading = |text: &str| format!("{}{text}{:#}\n", palette.heading, palette.heading);
    heading("Ranking analysis")
        + &overview::ranking_analysis(report).text(2)
        + "\n"
        + &heading(
            "Aggregated rankings: mean rank of a row's first under each column, of the worst + 1",
        )
        + &overview::aggregated_rankings(report).text(2)
}
