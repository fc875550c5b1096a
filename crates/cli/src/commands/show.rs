//! `facts show`: a saved audit, asked again.

use std::process::ExitCode;

use facts_report::text::{self, Palette, count, percent};
use facts_report::{Choice, FORMS, Report, answer, evidence, overview};
use facts_run::{
    Config, Definitions, Failure, Listener, definitions_for, files, own_definitions, paper_and_own,
    saved,
};

use crate::args::{PartArgs, ShowArgs};
use crate::output;
use crate::progress::Reporter;

/// What is shown: text for people, or a form that must not be touched.
enum Page {
    Text(String),
    Bytes(Vec<u8>),
}

pub(crate) fn show(args: ShowArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    let record = saved::load(&args.audit)?;
    let mut note = None;
    let mut noted = |definitions: Definitions| {
        note = definitions.note;
        definitions.all
    };
    let asks_definitions = args.definitions.any();
    let definitions = if asks_definitions {
        let mut config = Config::default();
        args.definitions.apply(&mut config);
        noted(definitions_for(&config, &record.audit)?)
    } else if args.part.by_all_definitions() {
        noted(paper_and_own(&record)?)
    } else {
        own_definitions(&record)?
    };
    note.iter().for_each(|note| reporter.note(note));
    let report = Report::by(&record, definitions);
    let chooses = args.showing.any();
    let showing = Choice::from(args.showing).showing(&report)?;
    let palette = if args.out.is_some() {
        Palette::PLAIN
    } else {
        Palette::COLOURED
    };
    let page = if let Some(part) = part(&args.part, &report, &palette)? {
        Page::Text(part)
    } else if let Some(name) = &args.format {
        let holds_all = FORMS.iter().any(|form| form.name == name && !form.chooses);
        if holds_all && chooses {
            reporter.note(&format!(
                "{name} holds all subgroups: what is chosen of them plays no part in it"
            ));
        }
        Page::Bytes(report.form(name, &showing)?)
    } else if chooses || asks_definitions || record.answer.is_none() {
        Page::Text(text::report(&report, &showing, &palette))
    } else {
        let next = [super::audit::show_next(&args.audit)];
        Page::Text(answer::first_screen(&report, &next, &palette))
    };
    match (&args.out, page) {
        (Some(path), Page::Text(text)) => files::write(path, text.as_bytes(), reporter)?,
        (Some(path), Page::Bytes(bytes)) => files::write(path, &bytes, reporter)?,
        (None, Page::Text(text)) => output::print(&text)?,
        (None, Page::Bytes(bytes)) => output::print_raw(&bytes)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The part of a report that is asked for, if one is.
pub(super) fn part(
    args: &PartArgs,
    report: &Report<'_>,
    palette: &Palette,
) -> Result<Option<String>, Failure> {
    Ok(Some(if let Some(wanted) = args.story {
        let told = answer::story(report, wanted, palette);
        told.ok_or_else(|| no_such_story(report, wanted))?
    } else if args.stories {
        answer::stories(report, palette)
    } else if let Some(wanted) = &args.subgroup {
        let columns = report.columns.iter();
        let definitions = columns.map(|c| c.ranking.definition.as_str());
        // Ids of stories too, as `facts check` names them.
        let stories = definitions.chain([facts_check::STORY]);
        let place = report.record.find(wanted, stories)?;
        subgroup(place, report, palette)
    } else if args.tables {
        tables(report, palette)
    } else {
        return Ok(None);
    }))
}

/// That there is no story of that number, and how many there are.
fn no_such_story(report: &Report<'_>, wanted: usize) -> Failure {
    let stories = report.answered().map_or(0, |a| a.answer.stories.len());
    Failure::usage(match stories {
        0 => "this audit has no stories".to_owned(),
        1 => format!("there is no story {wanted}: this audit has one, number 1"),
        _ => format!("there is no story {wanted}: this audit has {stories}"),
    })
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
