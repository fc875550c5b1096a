//! What is pinned, as one page or as Markdown, to be handed over.

use facts_report::answer::words;
use facts_report::text::{self, Palette};
use serde::Deserialize;

use super::command::Command;
use super::subgroup;
use crate::desk::{Desk, Source};
use crate::failure::Failed;
use crate::http::Response;

/// At most so many pins.
const MOST: usize = 50;

/// What is to be handed over.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    form: Form,
    /// By which definition the subgroups are told; the usual one if none is named.
    definition: Option<String>,
    /// The level at which findings pass; that of the audit if none is named.
    alpha: Option<f64>,
    pins: Vec<Pin>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Form {
    Html,
    Markdown,
}

/// A subgroup and what the reader noted about it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pin {
    predicate: String,
    note: String,
}

/// What is told of one pin.
struct Told {
    predicate: String,
    note: String,
    /// The story, where it is one.
    story: Option<String>,
    /// What each group can do, as plain text.
    csc: String,
    /// What a budget buys each group, as a drawing; none where a count is suppressed.
    plot: Option<String>,
}

/// The page, or the Markdown.
pub(crate) fn hand_over(
    desk: &mut Desk<'_>,
    source: &Source,
    asked: &Asked,
) -> Result<Response, Failed> {
    if asked.pins.len() > MOST {
        return Err(Failed::bad(format!("at most {MOST} pins are handed over")));
    }
    if !asked.alpha.is_none_or(|alpha| alpha > 0.0 && alpha < 1.0) {
        return Err(Failed::bad("`alpha` must lie between 0 and 1"));
    }
    let usual = "equal-effectiveness:micro";
    let definition = asked.definition.as_deref().unwrap_or(usual);
    let id = desk.column(definition)?.ranking.definition.clone();
    let told = asked
        .pins
        .iter()
        .map(|pin| tell(desk, &id, asked.alpha, pin));
    let told: Vec<Told> = told.collect::<Result<_, _>>()?;
    let head = head(desk);
    let foot = foot(desk, source);
    let (kind, name, text) = match asked.form {
        Form::Markdown => (
            "text/markdown",
            "findings.md",
            markdown(&head, &told, &foot),
        ),
        Form::Html => ("text/html", "findings.html", html(&head, &told, &foot)),
    };
    let response = Response::new(200, &format!("{kind}; charset=utf-8"), text.into_bytes());
    let disposition = format!("attachment; filename=\"{name}\"");
    Ok(response.with("Content-Disposition", disposition))
}

/// Which audit it is from: when and with what it was made, and the command that shows it.
fn foot(desk: &Desk<'_>, source: &Source) -> [String; 2] {
    let record = desk.record;
    let day = record.made.get(..10).unwrap_or(&record.made);
    [
        format!("Audited on {day} by {}. The whole audit:", record.tool),
        Command::show(source).to_string(),
    ]
}

/// The verdict, and then sentences that stand before everything else.
fn head(desk: &Desk<'_>) -> (String, Vec<String>) {
    let about = facts_report::answer::about(&desk.report);
    match desk.report.answered() {
        None => (desk.record.data.name.clone(), vec![about]),
        Some(answered) => {
            let said = vec![
                words::headline(&answered),
                words::reason(&answered),
                about,
                words::NOT_SAID.to_owned(),
            ];
            (words::verdict(&answered), said)
        }
    }
}

fn tell(desk: &mut Desk<'_>, id: &str, alpha: Option<f64>, pin: &Pin) -> Result<Told, Failed> {
    let place = desk.record.find(&pin.predicate, std::iter::empty())?;
    let csc = subgroup::csc(desk, id, alpha, place)?;
    let stories = desk.report.answered().map(|answered| answered.stories());
    let story = stories.and_then(|stories| stories.into_iter().find(|one| one.subgroup == place));
    Ok(Told {
        predicate: desk.texts[place].clone(),
        note: pin.note.chars().take(2000).collect(),
        story: story.map(|story| story.sentence),
        csc: text::csc(&csc, &Palette::PLAIN),
        plot: facts_report::plot(&desk.record.audit, &desk.record.audit.subgroups[place]),
    })
}

fn markdown(head: &(String, Vec<String>), told: &[Told], foot: &[String; 2]) -> String {
    let escape = facts_report::markdown::escape;
    let mut page = format!("# {}\n", escape(&head.0));
    for said in &head.1 {
        page += &format!("\n{}\n", escape(said));
    }
    for one in told {
        page += &format!("\n## {}\n", escape(&one.predicate));
        for said in one
            .story
            .iter()
            .chain([&one.note])
            .filter(|said| !said.is_empty())
        {
            page += &format!("\n{}\n", escape(said));
        }
        // Indented text is shown as it stands, whatever it contains.
        let lines = one.csc.lines().map(|line| format!("    {line}\n"));
        page += &format!("\n{}", lines.collect::<String>());
    }
    page + &format!("\n---\n\n{}\n\n    {}\n", escape(&foot[0]), foot[1])
}

fn html(head: &(String, Vec<String>), told: &[Told], foot: &[String; 2]) -> String {
    let paragraphs = |all: &mut dyn Iterator<Item = &String>| -> String {
        let said = all.filter(|said| !said.is_empty());
        said.map(|said| format!("<p>{}</p>", escaped(said)))
            .collect()
    };
    let sections = told.iter().map(|one| {
        format!(
            "<section><h2>{}</h2>{}{}<pre>{}</pre></section>",
            escaped(&one.predicate),
            paragraphs(&mut one.story.iter().chain([&one.note])),
            one.plot.as_deref().unwrap_or_default(),
            escaped(&one.csc)
        )
    });
    let title = escaped(&head.0);
    let said = paragraphs(&mut head.1.iter());
    let (marks, plots) = (facts_report::plot_marks(), facts_report::plot_style());
    let sections = sections.collect::<String>();
    let [told, command] = foot.each_ref().map(|text| escaped(text));
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title><style>{STYLE}{plots}</style></head><body>{marks}<h1>{title}</h1>{said}{sections}<footer><p>{told} <code>{command}</code></p></footer></body></html>\n"
    )
}

const STYLE: &str = include_str!("handover.css");

/// Text as it can stand in HTML, made visible.
fn escaped(text: &str) -> String {
    let text = text::visible_lines(text);
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_can_stand_in_html() {
        assert_eq!(
            escaped("<a>\n\u{202e}b\u{85}"),
            "&lt;a&gt;\n\u{fffd}b\u{fffd}"
        );
    }
}
