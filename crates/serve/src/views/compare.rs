//! Two audits side by side: what changed for people, and finding by finding.

use facts_report::Diff;
use facts_report::diff::{Change, Changed};
use serde::Serialize;
use serde_json::{Value, json};

use super::command::Command;
use crate::failure::Failed;
use crate::http::Request;

/// So many findings of each sort are answered.
const SHOWN: usize = 50;

/// A finding that is not the same in both.
#[derive(Serialize)]
struct ChangedRow<'a> {
    predicate: &'a str,
    change: Change,
    finding: &'a str,
    old: String,
    new: String,
}

/// What became of the findings of one definition.
#[derive(Serialize)]
struct Sort<'a> {
    change: Change,
    /// The same in a word or two.
    word: &'static str,
    count: usize,
    first: Vec<ChangedRow<'a>>,
}

/// How two audits compare, with the findings of one definition.
pub(crate) fn compare(
    diff: &Diff,
    request: &Request,
    command: Option<Command>,
) -> Result<Value, Failed> {
    let asked = request.parameter("definition").filter(|id| !id.is_empty());
    let known = diff.definitions.iter().zip(&diff.titles);
    let chosen = match asked {
        Some(id) => id,
        None => diff.definitions.first().map_or("", String::as_str),
    };
    if !diff.definitions.is_empty() && !diff.definitions.iter().any(|id| id == chosen) {
        let why = format!("the two audits are not compared by `{chosen}`");
        return Err(Failed::unknown(why));
    }
    let of_definition = diff.changed.iter().filter(|one| one.definition == chosen);
    let of_definition: Vec<&Changed> = of_definition.collect();
    // They come sort by sort.
    let sorts = of_definition.chunk_by(|a, b| a.change == b.change);
    let sorts = sorts.map(|sort| Sort {
        change: sort[0].change,
        word: sort[0].word(),
        count: sort.len(),
        first: sort.iter().take(SHOWN).map(|one| row(one)).collect(),
    });
    let sorts: Vec<Sort<'_>> = sorts.collect();
    let people = diff.people.as_ref().map(|people| {
        json!({
            "trend": people.trend.words(),
            "sentence": people.sentence(),
            "levelled_down": people.levelled_down,
            "table": people.table(),
            "groups": people.groups,
        })
    });
    Ok(json!({
        "warnings": diff.warnings,
        "people": people,
        "definition": chosen,
        "definitions": known.map(|(id, title)| json!({ "id": id, "title": title })).collect::<Vec<_>>(),
        "unchanged": diff.unchanged,
        "sorts": sorts,
        "command": command.map(|command| command.with("-d", chosen).to_string()),
    }))
}

fn row(changed: &Changed) -> ChangedRow<'_> {
    ChangedRow {
        predicate: &changed.predicate,
        change: changed.change,
        finding: &changed.finding,
        old: changed.old.words(),
        new: changed.new.words(),
    }
}
