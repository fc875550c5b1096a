//! `facts diff`: two saved audits compared.

use std::collections::HashMap;
use std::process::ExitCode;

use facts_report::Diff;
use facts_report::diff::{Change, Changed, Standing};
use facts_report::text::{Palette, count};

use crate::args::{DiffArgs, DiffForm};
use crate::config::Config;
use crate::failure::Failure;
use crate::output;
use crate::run::definitions_for;
use crate::saved;

pub(crate) fn diff(args: DiffArgs) -> Result<ExitCode, Failure> {
    let (old, new) = (saved::load(&args.old)?, saved::load(&args.new)?);
    let asked = args.definitions.any();
    let mut config = Config::default();
    args.definitions.apply(&mut config);
    let ids = if !asked {
        old.definitions.clone()
    } else {
        let definitions = definitions_for(&config, &old.audit, &mut Vec::new())?;
        definitions
            .iter()
            .map(|definition| definition.id())
            .collect()
    };
    let diff = Diff::new(&old, &new, &ids)?;
    match args.format {
        DiffForm::Json => {
            let text =
                serde_json::to_string_pretty(&diff).map_err(|e| Failure::output("JSON", e))?;
            output::print_raw(format!("{text}\n").as_bytes())?;
        }
        DiffForm::Text => output::print(&text(&diff, args.top, &Palette::COLOURED)?)?,
        DiffForm::Markdown => output::print_raw(markdown(&diff, args.top)?.as_bytes())?,
    }
    let over = |changed: &Changed| {
        let worse = matches!(changed.change, Change::Appeared | Change::Grew);
        let score = match changed.new {
            Standing::Unfair { score, .. } => score,
            _ => 0.0,
        };
        worse && args.fail_over.is_some_and(|limit| score > limit)
    };
    Ok(if diff.changed.iter().any(over) {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

/// The titles of definitions by id.
fn titles(diff: &Diff) -> Result<HashMap<String, String>, Failure> {
    let titled = diff.definitions.iter().map(|id| {
        let definition = facts_engine::definitions::parse(id)?;
        Ok((id.clone(), definition.title()))
    });
    titled.collect()
}

/// The first of each sort, by definition.
fn first<'a>(diff: &'a Diff, definition: &str, top: usize) -> Vec<&'a Changed> {
    let mut shown: HashMap<Change, usize> = HashMap::new();
    let of_definition = diff
        .changed
        .iter()
        .filter(|changed| changed.definition == definition);
    of_definition
        .filter(|changed| {
            let n = shown.entry(changed.change).or_default();
            *n += 1;
            *n <= top
        })
        .collect()
}

fn text(diff: &Diff, top: usize, palette: &Palette) -> Result<String, Failure> {
    let titles = titles(diff)?;
    let mut page = String::new();
    for warning in &diff.warnings {
        page += &format!("{}warning{:#}: {warning}\n", palette.bias, palette.bias);
    }
    if !diff.warnings.is_empty() {
        page.push('\n');
    }
    page += &diff.summary(&titles).text(0);
    page += &format!(
        "\n{} findings are unchanged.\n",
        count(diff.unchanged as u64)
    );
    for id in &diff.definitions {
        let shown = first(diff, id, top);
        if shown.is_empty() {
            continue;
        }
        page += &format!("\n{}{}{:#}\n", palette.heading, titles[id], palette.heading);
        for changed in &shown {
            page += &format!("{}\n", changed.text(palette));
        }
        let all = diff
            .changed
            .iter()
            .filter(|changed| changed.definition == *id)
            .count();
        if all > shown.len() {
            page += &format!(
                "  … and {} more; -n shows more\n",
                count((all - shown.len()) as u64)
            );
        }
    }
    Ok(page)
}

fn markdown(diff: &Diff, top: usize) -> Result<String, Failure> {
    let titles = titles(diff)?;
    let mut page = "# Findings before and after\n\n".to_owned();
    for warning in &diff.warnings {
        page += &format!("> {warning}\n\n");
    }
    page += &diff.summary(&titles).markdown();
    page += &format!(
        "\n{} findings are unchanged.\n",
        count(diff.unchanged as u64)
    );
    for id in &diff.definitions {
        let shown = first(diff, id, top);
        if shown.is_empty() {
            continue;
        }
        page += &format!("\n## {}\n\n```\n", titles[id]);
        for changed in shown {
            page += &format!("{}\n", changed.text(&Palette::PLAIN));
        }
        page += "```\n";
    }
    Ok(page)
}
