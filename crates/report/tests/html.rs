//! The HTML page as text: what it says, and that nothing from the data gets out of its place.
#![allow(clippy::unwrap_used)]

mod awkward;

use std::collections::HashMap;
use std::io::Read;

use awkward::evidence::with_evidence;
use awkward::{IMAGE, JOB, SCRIPT, answered_record, awkward_audit, awkward_record};
use base64::Engine;
use facts_report::{Record, Report, html};
use serde_json::Value;

fn page(record: &Record) -> String {
    html(&Report::new(record).unwrap())
}

/// The record with evidence written by hand.
fn supported() -> Record {
    with_evidence(awkward_record(awkward_audit()))
}

/// What stands between two texts.
fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    let rest = page.split_once(start).unwrap().1;
    rest.split_once(end).unwrap().0
}

/// The page without its own styles, scripts and payload: what Rust wrote.
fn body(page: &str) -> String {
    let body = between(page, "<body>", "<script id=\"payload\"");
    body.to_owned()
}

/// The header of the payload, and how many bytes follow it.
fn payload(page: &str) -> (Value, usize) {
    let start = "<script id=\"payload\" type=\"application/octet-stream\">";
    let base64 = between(page, start, "</script>");
    let compressed = base64::engine::general_purpose::STANDARD
        .decode(base64)
        .unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(compressed.as_slice())
        .read_to_end(&mut bytes)
        .unwrap();
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let header = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
    (header, bytes.len() - 4 - length)
}

#[test]
fn every_name_from_the_data_is_escaped() {
    let page = page(&awkward_record(awkward_audit()));
    assert!(!page.contains(SCRIPT), "markup from the data");
    assert!(!page.contains(IMAGE), "markup from the data");
    assert!(!page.contains(JOB), "markup from the data");
    let body = body(&page);
    assert!(body.contains("&#60;script&#62;window.broken = 1&#60;/script&#62;"));
    assert!(body.contains("A &#38; B"));
    assert!(body.contains("עברית"));
    // The page's own script and its payload, and no other.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("<img").count(), 0);
}

#[test]
fn the_page_may_do_nothing_but_run_what_it_carries() {
    let page = page(&awkward_record(awkward_audit()));
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"));
    assert!(!policy.contains("unsafe"));
    for asks in ["src=\"http", "href=\"http", "@import", "url("] {
        assert!(!page.contains(asks), "the page asks for something: {asks}");
    }
    // Inline styles would be refused.
    assert!(!body(&page).contains(" style=\""));
}

#[test]
fn all_parts_are_there_without_a_script() {
    let page = page(&awkward_record(awkward_audit()));
    let body = body(&page);
    for part in [
        "overview",
        "findings",
        "subgroups",
        "rankings",
        "definitions",
        "method",
    ] {
        assert!(body.contains(&format!("<section id=\"{part}\"")), "{part}");
    }
    for said in [
        "Base rate: the label is favourable",
        "Groups that are not compared",
        "tiny &#60;i&#62;",
        "Ranking analysis",
        "Aggregated rankings",
        "Equal Choice for Recourse (φ = 0.3)",
        "Does each group have as many actions that work",
        "The group with fewer such actions is worse off.",
        "on 12,000 rows, label",
        "right on 81.25% of the 407 rows",
        "not known: it could not be read twice, or is no file",
        "1 a change, times 2.5",
        "never to B",
    ] {
        assert!(body.contains(said), "{said}");
    }
}

#[test]
fn links_lead_somewhere() {
    links_lead(&page(&awkward_record(awkward_audit())));
    links_lead(&page(&answered_record()));
}

fn links_lead(page: &str) {
    let body = body(page);
    let ids: Vec<&str> = body
        .split(" id=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    let mut times: HashMap<&str, usize> = HashMap::new();
    for id in &ids {
        *times.entry(id).or_default() += 1;
    }
    assert!(times.values().all(|&n| n == 1), "an id twice: {times:?}");
    for link in body.split("href=\"#").skip(1) {
        let place = link.split('"').next().unwrap();
        let is_subgroup = place.starts_with("subgroup=") || place.starts_with("subgroup-");
        let views = ["/answer", "/stories", "/matrix", "/drill", "/subgroups"];
        let is_view = views.contains(&place);
        assert!(is_subgroup || is_view || ids.contains(&place), "{place}");
    }
}

#[test]
fn the_payload_holds_all_subgroups() {
    let record = awkward_record(awkward_audit());
    let (header, numbers) = payload(&page(&record));
    assert_eq!(header["subgroups"], record.audit.subgroups.len());
    assert_eq!(header["groups"].as_array().unwrap().len(), 4);
    assert_eq!(
        header["columns"].as_array().unwrap().len(),
        record.definitions.len()
    );
    assert_eq!(header["columns"][4]["scores"][0], "∞");
    assert_eq!(header["columns"][4]["phi"], 0.3);
    assert_eq!(header["columns"][3]["budget"], 3.0);
    assert_eq!(header["columns"][2]["viewpoint"], "macro");
    assert!(numbers > record.audit.subgroups.len() * header["columns"].as_array().unwrap().len());
}

#[test]
fn the_page_answers_as_the_server_does() {
    use facts_report::views::{Places, overview, stories};

    let record = answered_record();
    let report = Report::new(&record).unwrap();
    let (header, _) = payload(&html(&report));
    let plain = |answer: Result<Value, serde_json::Error>| answer.unwrap();
    let whole = plain(serde_json::to_value(overview(&report, None)));
    assert_eq!(header["overview"], whole);
    assert!(whole["answer"]["headline"].is_string());
    let told = stories(&report, &Places::new(&record.audit), &|_| None);
    let told = plain(serde_json::to_value(told));
    assert_eq!(header["stories"], told);
    assert!(!told["stories"].as_array().unwrap().is_empty());
    assert_eq!(header["session"]["audits"][0]["data"], record.data.name);
}

#[test]
fn every_finding_is_drawn_without_a_script() {
    let body = body(&page(&supported()));
    let cards = body.split("<article class=\"csc").skip(1);
    let drawn = cards
        .clone()
        .filter(|card| card.contains("class=\"steps\""));
    assert_eq!(drawn.count(), cards.count());
    assert!(body.contains("(dotted: 3, the budget)"));
    assert!(body.contains(">φ = 0.3</text>"));
}

#[test]
fn the_same_record_gives_the_same_page() {
    let record = awkward_record(awkward_audit());
    assert_eq!(page(&record), page(&record));
}

#[test]
fn suppressed_counts_are_not_told() {
    let record = awkward_record(awkward_audit().suppressed(10));
    let report = Report::new(&record).unwrap();
    assert!(
        report
            .columns
            .iter()
            .any(|column| !column.ranking.suppressed.is_empty())
    );
    let body = body(&html(&report));
    assert!(body.contains("Suppressed</th>"));
    assert!(body.contains("from 1 to 9 are suppressed"));
    assert!(body.contains("a suppressed number of people, a suppressed number of affected"));
}

#[test]
fn an_audit_without_unfair_subgroups_reads_well() {
    let mut record = awkward_record(awkward_audit());
    // What no budget of 0 buys, it buys for nobody.
    record.definitions = vec!["equal-effectiveness-within-budget:micro:0".to_owned()];
    record.base_rates = None;
    record.notes.clear();
    let body = body(&page(&record));
    assert!(body.contains("No subgroup is unfair under any definition."));
    assert!(body.contains("No subgroup is unfair by this definition."));
    assert!(body.contains("No label was named"));
    assert!(!body.contains("class=\"notes\""));
}

#[test]
fn an_audit_of_one_subgroup_or_none_reads_well() {
    let mut record = awkward_record(awkward_audit());
    record.audit.subgroups.truncate(1);
    let one = page(&record);
    assert_eq!(payload(&one).0["subgroups"], 1);
    record.audit.subgroups.clear();
    let none = page(&record);
    assert_eq!(payload(&none).0["subgroups"], 0);
    assert!(body(&none).contains("No subgroup is unfair under any definition."));
}

#[test]
fn what_supports_findings_is_told_and_what_does_not_pass_is_grey() {
    let record = supported();
    let page = page(&record);
    let body = body(&page);
    for said in [
        "6 of ",
        " findings pass at α = 0.05 for all 6 definitions together, under 6 of them. Each definition by itself: ",
        "<p class=\"evidence\">1 of ",
        "<p class=\"evidence\">Not tested: no test of this definition was asked for.</p>",
        "<span class=\"badge passes\">Passes</span>",
        "<span class=\"badge\">Stands by false discovery rate only</span>",
        "<span class=\"badge\">Compatible with chance</span>",
        "<span class=\"badge\">Not tested</span>",
        "<p>Evidence: p = 0.00012 alone, 0.004 among all 11 subgroups (family-wise), 0.0006 (false discovery rate).</p>",
        "<p>Score ∞, 95% interval 0.125 to ∞ (percentile); infinite in 83% of resamples.</p>",
        "<span class=\"interval\">95% interval 6.2% to 25.0%</span>",
        "<summary>Each variant</summary>",
        "<section id=\"hold-out\"",
        "<td class=\"number\" data-label=\"Left\">80%</td>",
        "<tr class=\"grey\"><td>",
        "<a href=\"#hold-out\">Hold-out</a>",
        "Level α</dt>",
        "not tested</td>",
    ] {
        assert!(body.contains(said), "{said}");
    }
    let (grey, tested) = (
        body.matches("csc grey").count(),
        record.definitions.len() - 1,
    );
    let cards = body.matches("<article class=\"csc").count();
    let passing = body.matches("badge passes").count();
    let not_tested = body.matches("<span class=\"badge\">Not tested").count();
    assert_eq!(passing, tested);
    assert_eq!(grey, cards - passing - not_tested);
    // Names from the data stay text.
    assert!(!page.contains(SCRIPT) && !page.contains(IMAGE));
    let (header, _) = payload(&page);
    assert_eq!(header["columns"][0]["evidence"]["family"], 11);
    let close = header["columns"][0]["close"].as_object().unwrap();
    let close = close.values().next().unwrap();
    assert_eq!(close["variants"].as_array().unwrap().len(), 20);
    assert_eq!(header["columns"][6]["evidence"], Value::Null);
}

#[test]
fn without_evidence_the_page_says_so_once() {
    let page = page(&awkward_record(awkward_audit()));
    let body = body(&page);
    let said = "Evidence: none was gathered: nothing here tells findings from chance.";
    assert_eq!(body.matches(said).count(), 1);
    for absent in ["class=\"badge", "csc grey", "id=\"hold-out\"", "not tested"] {
        assert!(!body.contains(absent), "{absent}");
    }
}

/// A text as it stands in the page.
fn escaped(text: &str) -> String {
    let pairs = [
        ('&', "&#38;"),
        ('<', "&#60;"),
        ('>', "&#62;"),
        ('"', "&#34;"),
        ('\'', "&#39;"),
    ];
    pairs
        .iter()
        .fold(text.to_owned(), |text, (c, code)| text.replace(*c, code))
}

#[test]
fn page_one_is_the_answer_and_needs_no_script() {
    use facts_report::answer::words;

    let record = answered_record();
    let report = Report::new(&record).unwrap();
    let page = html(&report);
    let body = body(&page);
    let answered = report.answered().unwrap();
    let one = between(&body, "<section id=\"answer\"", "</section>");
    let said = [
        words::verdict(&answered),
        words::headline(&answered),
        words::reason(&answered),
        words::ratio(&answered, &answered.compared().unwrap()).unwrap(),
        words::cost_unit(&record.audit),
        words::NOT_SAID.to_owned(),
        record.assumptions[0].clone(),
    ];
    for said in &said {
        assert!(one.contains(&escaped(said)), "{said}");
    }
    for row in answered.people() {
        let group = between(
            one,
            &format!("<bdi>{}</bdi></th>", escaped(&row.group)),
            "</tr>",
        );
        for number in [row.people, row.refused, row.with_a_way.unwrap()] {
            assert!(
                group.contains(&format!(">{number}<")),
                "{} {number}",
                row.group
            );
        }
    }
    assert_eq!(
        one.matches("class=\"steps\"").count(),
        record.audit.groups.len()
    );
    let stories = answered.stories();
    assert!(!stories.is_empty(), "the test must see stories");
    assert_eq!(
        one.matches("<li><a href=\"#story-").count(),
        stories.len().min(3)
    );
    for story in &stories {
        let start = format!("<article class=\"story\" id=\"story-{}\"", story.number);
        let card = between(&body, &start, "</article>");
        assert!(
            card.contains(&escaped(&story.sentence)),
            "{}",
            story.sentence
        );
        assert!(card.contains(&format!("href=\"#subgroup-{}\"", story.subgroup)));
        for group in &story.groups {
            assert!(card.contains(&format!("<b>{}</b>", group.with_a_way)));
        }
    }
    let passing = stories.iter().flat_map(|story| &story.definitions);
    let passing = passing
        .filter(|definition| definition.passes == Some(true))
        .count();
    let matrix = between(&body, "<table class=\"matrix\">", "</table>");
    assert_eq!(matrix.matches("passes, against").count(), passing);
    assert!(!page.contains(SCRIPT) && !page.contains(IMAGE));
    assert!(!body.contains(" style=\""));
}

#[test]
fn an_audit_without_an_answer_opens_with_the_overview() {
    let body = body(&page(&supported()));
    assert!(
        body.contains("<main class=\"wide\">\n\n<section id=\"overview\""),
        "{}",
        &body[..3000]
    );
    assert!(!body.contains("id=\"answer\"") && !body.contains("href=\"#answer\""));
}

#[test]
fn nobody_is_said_to_have_no_recourse_who_has_some() {
    for page in [page(&supported()), page(&answered_record())] {
        assert!(!page.contains("No recourse"));
    }
    let body = body(&page(&supported()));
    assert!(body.contains("No action reaches 30%. The best: make"));
}
