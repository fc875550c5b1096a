//! What is seen of all subgroups, as a file.

use facts_report::csv::{self, Formulas};
use facts_report::sheets::{Cells, Sheet};

use super::subgroups::{Asked, entries, rows};
use crate::desk::Desk;
use crate::failure::Failed;
use crate::http::Response;

/// The rows that filters and brush leave, in the order asked for, all of them, as JSON.
pub(crate) fn json(desk: &mut Desk<'_>, asked: &Asked) -> Result<Response, Failed> {
    let rows = rows(desk, asked)?;
    let name = "attachment; filename=\"subgroups.json\"";
    Ok(Response::json(&rows).with("Content-Disposition", name))
}

/// The same as CSV. It is opened in a spreadsheet, so nothing in it is a formula.
pub(crate) fn csv(desk: &mut Desk<'_>, asked: &Asked) -> Result<Response, Failed> {
    let entries = entries(desk, asked)?;
    let audit = &desk.record.audit;
    let mut columns = vec![(
        "subgroup".to_owned(),
        Cells::Text(
            entries
                .iter()
                .map(|(ranked, _)| desk.texts[ranked.subgroup].clone())
                .collect(),
        ),
    )];
    for (g, group) in audit.groups.iter().enumerate() {
        let name = group.name.trim();
        let members = entries
            .iter()
            .map(|(ranked, _)| Some(audit.subgroups[ranked.subgroup].members[g]));
        columns.push((format!("members {name}"), Cells::Count(members.collect())));
        let values = entries
            .iter()
            .map(|(ranked, _)| Some(ranked.assessment.values[g].number()));
        columns.push((format!("value {name}"), Cells::Number(values.collect())));
    }
    let scores = entries
        .iter()
        .map(|(ranked, _)| Some(ranked.assessment.score));
    columns.push(("score".to_owned(), Cells::Number(scores.collect())));
    let ranks = entries.iter().map(|(ranked, _)| ranked.rank.map(u64::from));
    columns.push(("rank".to_owned(), Cells::Count(ranks.collect())));
    let against = entries.iter().map(|(ranked, _)| {
        let names = ranked
            .assessment
            .against
            .iter()
            .map(|&g| audit.groups[g].name.trim());
        names.collect::<Vec<_>>().join(" and ")
    });
    columns.push(("against".to_owned(), Cells::Text(against.collect())));
    let p = entries
        .iter()
        .map(|(_, tested)| tested.map(|tested| tested.family_wise));
    columns.push(("family-wise p".to_owned(), Cells::Number(p.collect())));
    let text = csv::csv(&Sheet { columns }, Formulas::Disarmed);
    let response = Response::new(200, "text/csv; charset=utf-8", text);
    Ok(response.with(
        "Content-Disposition",
        "attachment; filename=\"subgroups.csv\"",
    ))
}
