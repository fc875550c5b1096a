//! Plain text, in the shape that the paper prints.

use std::fmt::{self, Write};

use anstyle::{AnsiColor, Style};
use facts_engine::definitions::{Fair, GroupValue};
use facts_engine::distribution::{Count, Share};
use facts_engine::ranking::Ranking;
use unicode_width::UnicodeWidthStr;

use crate::answer;
use crate::csc::{Csc, CscAction, CscGroup};
use crate::evidence::{self, grids, words};
use crate::overview;
use crate::report::{Report, Showing};

/// How the parts of a text stand out. Where colours are not wanted, all styles are empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Palette {
    /// Who is spoken of.
    pub who: Style,
    /// How often an action works.
    pub effect: Style,
    /// That there is no way out, and whom the bias is against.
    pub bias: Style,
    /// That there is no bias.
    pub fair: Style,
    /// What is said by the way.
    pub aside: Style,
    /// Headings.
    pub heading: Style,
}

impl Palette {
    /// No styles at all.
    pub const PLAIN: Self = Self {
        who: Style::new(),
        effect: Style::new(),
        bias: Style::new(),
        fair: Style::new(),
        aside: Style::new(),
        heading: Style::new(),
    };

    /// For a terminal.
    pub const COLOURED: Self = Self {
        who: Style::new().bold(),
        effect: AnsiColor::Cyan.on_default(),
        bias: AnsiColor::Red.on_default().bold(),
        fair: AnsiColor::Green.on_default(),
        aside: Style::new().dimmed(),
        heading: Style::new().bold().underline(),
    };
}

/// Text in a style; nothing is added where the style is empty.
pub(crate) fn styled(style: Style, text: impl fmt::Display) -> String {
    format!("{style}{}{style:#}", visible(&text.to_string()))
}

/// Text from data as a person may see it: what would command a terminal is shown as a sign.
pub fn visible(text: &str) -> String {
    let sign = |character: char| match character {
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}'),
        '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => '\u{fffd}',
        // What turns the direction of writing, and so what other text seems to say.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            '\u{fffd}'
        }
        character => character,
    };
    text.chars().map(sign).collect()
}

/// Text of several lines, each made harmless by [`visible`].
pub fn visible_lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    lines.join("\n")
}

impl fmt::Display for Csc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&csc(self, &Palette::PLAIN))
    }
}

/// The most columns of text for people.
const WIDTH: usize = 100;

/// Text in lines of at most 100 columns in a style, the first indented so and the others so.
pub fn hanging(text: &str, first: &str, others: &str, style: Style) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let indent = |lines: &[String]| if lines.is_empty() { first } else { others }.to_owned();
    for word in visible(text).split_whitespace() {
        let indented = indent(&lines);
        if !line.is_empty() && indented.width() + line.width() + 1 + word.width() > WIDTH {
            lines.push(format!("{indented}{style}{line}{style:#}"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    if !line.is_empty() {
        lines.push(format!("{}{style}{line}{style:#}", indent(&lines)));
    }
    lines
}

/// The answer, its stories, what the audit covered, and the first findings of each definition.
pub fn report(report: &Report<'_>, showing: &Showing, palette: &Palette) -> String {
    let answer = match report.answered() {
        None => String::new(),
        Some(_) => {
            let heading = |text: &str| styled(palette.heading, text);
            answer::first_screen(report, &[], palette)
                + &format!("\n{}\n\n", heading("Stories"))
                + &answer::stories(report, palette)
                + &format!("{}\n\n", heading("What was audited"))
        }
    };
    answer
        + &overview(report, palette)
        + "\n"
        + &findings(report, showing, palette)
        + &hold_out(report, palette)
}

/// What the audit covered.
pub fn overview(report: &Report<'_>, palette: &Palette) -> String {
    let mut text = String::new();
    for (name, fact) in overview::facts(report) {
        text += &format!(
            "{} {}\n",
            styled(palette.heading, format!("{name:<10}")),
            visible(&fact)
        );
    }
    text = text + "\n" + &overview::groups(report).text(2);
    if report.evidence().is_some() {
        text += "\n";
        for line in evidence::headline(report) {
            text += &format!("{}\n", styled(palette.heading, visible(&line)));
        }
    }
    text
}

/// What the people who were held out say of findings; nothing if nobody was.
pub fn hold_out(report: &Report<'_>, palette: &Palette) -> String {
    let Some(about) = words::hold_out(report) else {
        return String::new();
    };
    format!(
        "{}\n{}\n\n{}\n",
        styled(palette.heading, "Hold-out"),
        styled(palette.aside, about),
        grids::hold_out(report).text(2)
    )
}

/// The first findings of each definition.
pub fn findings(report: &Report<'_>, showing: &Showing, palette: &Palette) -> String {
    let mut text = String::new();
    for column in &report.columns {
        let ranking = &column.ranking;
        let counts = unfair_and_fair(ranking);
        text += &format!(
            "{}\n{}\n\n",
            styled(palette.heading, &ranking.title),
            styled(
                palette.aside,
                format!("{} {counts}.", column.definition.kind().question)
            )
        );
        let findings = report.findings(column, showing);
        if let Some(evidence) = words::of_definition(report, column) {
            // The blank line moves below.
            text.pop();
            text += &format!("{}\n\n", styled(palette.aside, evidence));
        }
        if findings.is_empty() && showing.top > 0 {
            text += "No finding to show.\n\n";
        }
        text += &listed(&findings, palette);
        let passing = report.first_passing(column, showing, &findings);
        if !passing.is_empty() {
            text += &format!("{}\n\n", styled(palette.aside, words::FIRST_PASSING));
            text += &listed(&passing, palette);
        }
    }
    text
}

/// How many subgroups are unfair, and what being fair means for the others.
pub(crate) fn unfair_and_fair(ranking: &Ranking) -> String {
    let of = |wanted: Fair| {
        let ranked = ranking.ranked.iter();
        ranked
            .filter(|ranked| ranked.assessment.fair() == Some(wanted))
            .count() as u64
    };
    format!(
        "{} of {} subgroups unfair; {} equal, {} out of reach for everybody",
        count(ranking.unfair().len() as u64),
        count(ranking.ranked.len() as u64),
        count(of(Fair::Equal)),
        count(of(Fair::OutOfReach)),
    )
}

/// Findings, each with its rank and id.
fn listed(findings: &[Csc], palette: &Palette) -> String {
    let mut text = String::new();
    for finding in findings {
        let rank = finding.standing();
        let id = styled(palette.aside, format!("finding {}", finding.finding));
        text += &format!("{rank}, {id}\n{}\n", csc(finding, palette));
    }
    text
}

/// A comparative subgroup counterfactual in the paper's shape, then what supports it; in grey if it
/// was tested and does not pass.
pub fn csc(csc: &Csc, palette: &Palette) -> String {
    if csc.is_grey() {
        let plain = effect(csc, &Palette::PLAIN) + &support(csc, &Palette::PLAIN);
        let lines = plain.lines();
        return lines
            .map(|line| format!("{}\n", styled(palette.aside, line)))
            .collect();
    }
    effect(csc, palette) + &support(csc, palette)
}

/// What supports a finding.
fn support(csc: &Csc, palette: &Palette) -> String {
    let lines = words::lines(csc);
    let line = |line: &String| format!("    {}\n", styled(palette.aside, line));
    lines.iter().map(line).collect()
}

/// What was found.
fn effect(csc: &Csc, palette: &Palette) -> String {
    let mut text = format!("If {}:\n", styled(palette.who, &csc.predicate));
    for group in &csc.groups {
        text += &of_group(group, &csc.confidence(), palette);
    }
    if csc.against.is_empty() {
        let verdict = styled(palette.fair, format!("Fair by {}.", csc.definition));
        return text + &format!("    {verdict}\n");
    }
    let against = csc.against.iter();
    let against: Vec<String> = against.map(|name| format!("'{}'", name.trim())).collect();
    let bias = styled(
        palette.bias,
        format!("Bias against {}", against.join(" and ")),
    );
    text + &format!(
        "    {bias} by {}. Unfairness score = {}.\n",
        csc.definition,
        styled(palette.bias, number(csc.score))
    )
}

fn of_group(group: &CscGroup, confidence: &str, palette: &Palette) -> String {
    let covered = format!(
        "{} covered ({} of {})",
        percent(Share::new(group.members, group.affected)),
        count(group.members),
        count(group.affected)
    );
    let mut text = format!(
        "    Protected subgroup '{}', {covered}\n",
        styled(palette.who, group.name.trim())
    );
    if let Some(none) = &group.none {
        return text + &format!("        {}\n", styled(palette.bias, none));
    }
    for CscAction {
        change,
        cost,
        flips,
        interval,
    } in &group.actions
    {
        let effectiveness = styled(palette.effect, effectiveness(*flips, group.members));
        text += &format!(
            "        Make {} with effectiveness {effectiveness} (cost {}{})\n",
            visible(change),
            number(*cost),
            words::of_effectiveness(interval.as_ref(), confidence)
        );
    }
    text
}

/// How often an action works, in percent.
pub fn effectiveness(flips: Count, members: u64) -> String {
    match flips {
        Count::Known(flips) => percent(Share::new(flips, members)),
        Count::Suppressed => SUPPRESSED.to_owned(),
    }
}

/// How a group fares under a definition.
pub fn value(value: GroupValue) -> String {
    match value {
        GroupValue::Share(share) => percent(share),
        GroupValue::Count(actions) => count(actions),
        GroupValue::Cost(cost) => number(cost),
    }
}

/// What stands in the place of a count too small to be told.
pub const SUPPRESSED: &str = "suppressed";

/// A share in percent with two decimals.
pub fn percent(share: Share) -> String {
    format!("{:.2}%", share.ratio() * 100.0)
}

/// A cost or score: at most four decimals, ∞ as such.
pub fn number(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "-∞" }.to_owned();
    }
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

/// A count with commas between thousands.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        // Writing to a string cannot fail.
        let _ = text.write_char(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use facts_engine::evidence::Interval;

    use super::*;
    use crate::evidence::FindingEvidence;

    #[test]
    fn numbers_read_well() {
        assert_eq!(number(4.0), "4");
        assert_eq!(number(0.15024150241502415), "0.1502");
        assert_eq!(number(f64::INFINITY), "∞");
        assert_eq!(number(f64::NEG_INFINITY), "-∞");
        assert_eq!(number(-0.000_01), "0");
        assert_eq!(number(-0.25), "-0.25");
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(6_612), "6,612");
        assert_eq!(count(1_443_140), "1,443,140");
    }

    #[test]
    fn a_finding_reads_like_the_papers() {
        let group = |name: &str, members, affected, actions| CscGroup {
            name: name.to_owned(),
            members,
            affected,
            value: GroupValue::Cost(f64::INFINITY),
            interval: None,
            actions,
            none: None,
        };
        let action = CscAction {
            change: "occupation = Exec-managerial".to_owned(),
            cost: 4.0,
            flips: Count::Known(31),
            interval: None,
        };
        let mut csc = Csc {
            finding: "0123456789ab".to_owned(),
            subgroup: 0,
            items: Vec::new(),
            significant: None,
            predicate: "age = (41.0, 50.0], occupation = Sales".to_owned(),
            groups: vec![
                group("Male", 78, 6_612, vec![action]),
                CscGroup {
                    none: Some(
                        "No action reaches 30%. The best: make occupation = Prof-specialty, 6.94% (cost 4)."
                            .to_owned(),
                    ),
                    ..group("Female", 64, 4_101, Vec::new())
                },
            ],
            definition: "Equal Cost of Effectiveness (macro, φ = 0.3)".to_owned(),
            rank: Some(1),
            score: f64::INFINITY,
            against: vec!["Female".to_owned()],
            evidence: None,
            gap: None,
        };
        let expected = "\
If age = (41.0, 50.0], occupation = Sales:
    Protected subgroup 'Male', 1.18% covered (78 of 6,612)
        Make occupation = Exec-managerial with effectiveness 39.74% (cost 4)
    Protected subgroup 'Female', 1.56% covered (64 of 4,101)
        No action reaches 30%. The best: make occupation = Prof-specialty, 6.94% (cost 4).
    Bias against 'Female' by Equal Cost of Effectiveness (macro, φ = 0.3). Unfairness score = ∞.
";
        assert_eq!(csc.to_string(), expected);
        // Where there is evidence, an interval joins the cost.
        csc.groups[0].actions[0].interval = Some(Interval {
            low: 0.288,
            high: 0.515,
        });
        csc.evidence = Some(FindingEvidence {
            alpha: 0.05,
            test: None,
            pairs: Vec::new(),
            small_groups: Vec::new(),
            intervals: None,
            looked_at: 0,
            stability: None,
            judged_at: 0.05,
            tested_at: None,
        });
        let line =
            "Exec-managerial with effectiveness 39.74% (cost 4; 95% interval 28.8% to 51.5%)";
        assert!(csc.to_string().contains(line));
    }
}
