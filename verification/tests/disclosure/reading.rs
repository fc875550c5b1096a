//! How the attacker reads each form that something is written in.
//!
//! Nothing is passed over in silence: a whole number or a column of a sheet that is not known to be about
//! people or about something else is remembered as unknown and fails the test, so that whoever adds one says
//! here which it is.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::Value;

use super::attacker::{Attacker, Whom, fields};

/// Names under which documents tell how many people there are of some kind.
const PEOPLE: [&str; 26] = [
    "affected",
    "dropped",
    "excluded",
    "favourable",
    "flips",
    "found_among",
    "found_members",
    "left_out",
    "macro",
    "members",
    "micro",
    "part",
    "people",
    "reached",
    "refused",
    "rows",
    "selected",
    "test_rows",
    "tested_among",
    "train_rows",
    "unaffected",
    "ways",
    "weightless",
    "whole",
    "with_a_way",
    "within",
];

/// Names under which whole numbers are about something else: places, ranks, settings, and counts of
/// subgroups, findings, changes, rows that the model was asked, and different rows.
const OTHERS: [&str; 73] = [
    "action_itemsets",
    "affected_profiles",
    "against",
    "at",
    "best",
    "better_off",
    "brushed",
    "bytes",
    "change",
    "changes",
    "common_subgroups",
    "cost_level",
    "counterfactual_rows_asked",
    "decisions",
    "detailed",
    "fair",
    "fair_within",
    "false_discovery",
    "family",
    "family_wise",
    "feature",
    "findings",
    "format",
    "from",
    "group",
    "groups",
    "holds",
    "in_top_tenth",
    "k",
    "key",
    "least",
    "level",
    "lists",
    "matching",
    "max_length",
    "min_group_size",
    "min_members",
    "nothing",
    "number",
    "of",
    "pairs",
    "passes",
    "passing",
    "powerless",
    "profiles",
    "rank",
    "rank_one",
    "ranked",
    "removed",
    "resamples",
    "rows_asked",
    "same_as",
    "same_groups",
    "seed",
    "sets",
    "shuffles",
    "stands_for",
    "strata",
    "subgroup",
    "subgroups",
    "suppressed",
    "told_by",
    "top",
    "unfair",
    "unfair_within",
    "value",
    "variant",
    "version",
    "within_alone",
    "without_actions",
    "worse_off",
    "worst",
    "worst_rank",
];

/// Names that stand beside each other in a document, where the second tells of some of the first.
const SOME_OF: [(&str, &str); 8] = [
    ("affected", "members"),
    ("people", "affected"),
    ("people", "favourable"),
    ("people", "refused"),
    ("people", "with_a_way"),
    ("refused", "with_a_way"),
    ("rows", "people"),
    ("whole", "part"),
];

impl Attacker {
    /// Reads a document: every whole number in it, and every text.
    pub(crate) fn read_json(&mut self, value: &Value) {
        self.read_named("", value);
    }

    fn read_named(&mut self, name: &str, value: &Value) {
        match value {
            Value::Number(number) => {
                // Costs, scores and shares are written with a point.
                let Some(count) = number.as_u64() else {
                    return;
                };
                if PEOPLE.contains(&name) {
                    self.difference(Some(count), Some(0), name);
                } else {
                    self.unknown
                        .extend((!OTHERS.contains(&name)).then(|| format!("{name}: {count}")));
                }
            }
            Value::String(text) => self.read_text(text),
            Value::Array(values) => {
                if name == "micro" {
                    self.rising(values);
                }
                if matches!(name, "ways" | "within") {
                    // Cost, and how many have a way within it.
                    let counts: Vec<Value> = values.iter().map(|pair| pair[1].clone()).collect();
                    self.rising(&counts);
                }
                values.iter().for_each(|value| self.read_named(name, value));
            }
            Value::Object(fields) => {
                for (whole, part) in SOME_OF {
                    if let (Some(whole), Some(part)) = (fields.get(whole), fields.get(part)) {
                        self.differences(whole, part);
                    }
                }
                self.read_object(value);
                for (name, value) in fields {
                    // What became of findings is listed by the place of each.
                    let place = name.bytes().all(|byte| byte.is_ascii_digit());
                    self.read_named(if place { "" } else { name }, value);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// One set of people and some of them, or one after the other, group by group.
    fn differences(&mut self, whole: &Value, part: &Value) {
        match (whole, part) {
            (Value::Array(wholes), Value::Array(parts)) if wholes.len() == parts.len() => {
                let both = wholes.iter().zip(parts);
                both.for_each(|(whole, part)| self.differences(whole, part));
            }
            _ => self.difference(whole.as_u64(), part.as_u64(), "the rest of a part"),
        }
    }

    /// Sets of people each of which has the one before in it.
    fn rising(&mut self, counts: &[Value]) {
        for pair in counts.windows(2) {
            self.difference(pair[1].as_u64(), pair[0].as_u64(), "reached at a cost");
        }
    }

    /// What the fields of an object say together.
    fn read_object(&mut self, object: &Value) {
        let predicate = object["predicate"].as_str();
        let items = predicate.and_then(|text| self.items_of(text));
        if let Some(items) = items {
            for (field, whom) in [
                (&object["members"], Whom::Members),
                (&object["found_members"], Whom::Found),
                (&object["tested"]["members"], Whom::Tested),
            ] {
                for (g, people) in field.as_array().into_iter().flatten().enumerate() {
                    self.learn((g, whom, items.clone()), people.as_u64().unwrap());
                }
            }
            // A comparative subgroup counterfactual: its groups, and what flips how many of each.
            let groups = object["groups"].as_array().into_iter().flatten();
            for (g, group) in groups.enumerate() {
                let Some(members) = group["members"].as_u64() else {
                    continue;
                };
                self.learn((g, Whom::Members, items.clone()), members);
                for action in group["actions"].as_array().into_iter().flatten() {
                    let change = self.change_of(action["change"].as_str().unwrap());
                    if let Some(flips) = action["flips"].as_u64() {
                        self.learn((g, Whom::Flipped(change), items.clone()), flips);
                    }
                }
            }
        }
        for (field, whom) in [("found_among", Whom::Found), ("tested_among", Whom::Tested)] {
            for (g, people) in object[field].as_array().into_iter().flatten().enumerate() {
                self.learn((g, whom, Vec::new()), people.as_u64().unwrap());
            }
        }
        if let Some(members) = object["members"].as_u64() {
            for reached in ["micro", "macro"] {
                for part in object[reached].as_array().into_iter().flatten() {
                    self.difference(Some(members), part.as_u64(), "not reached at a cost");
                }
            }
        }
        // Who has a way at each cost, and who has none.
        if let (Some(refused), Some(ways)) = (object["refused"].as_u64(), object["ways"].as_array())
        {
            let with_a_way = ways.iter().map(|way| way["people"].as_u64().unwrap());
            self.difference(Some(refused), Some(with_a_way.sum()), "without a way");
        }
        if let Some(shares) = object["within"].as_array() {
            for pair in shares {
                for all in ["refused", "with_a_way"] {
                    let all = object[all].as_u64();
                    self.difference(all, pair[1].as_u64(), "without a way within a cost");
                }
            }
        }
    }

    /// Reads a sheet, column by column.
    pub(crate) fn read_sheet(&mut self, sheet: &str) {
        let mut lines = sheet.lines().map(fields);
        let header = lines.next().unwrap();
        for line in lines {
            self.read_line(&header, &line);
        }
        // A sheet without lines has columns all the same.
        for column in &header {
            let _ = self.column(column);
        }
    }

    /// What a column of a sheet is about.
    fn column(&mut self, column: &str) -> Column {
        let of_group = |what: &str| {
            let name = column.strip_prefix(what)?.strip_prefix(' ')?;
            self.names.iter().position(|known| known == name)
        };
        for (what, about) in [
            ("members", About::Members),
            ("flips", About::Flips),
            ("told", About::Told),
            ("with a way", About::Way),
            ("coverage", About::Coverage),
            ("effectiveness", About::Effectiveness),
            ("value", About::Compared),
        ] {
            if let Some(g) = of_group(what) {
                return Column::OfGroup(about, g);
            }
        }
        match column {
            "people" => Column::People("people"),
            "refused" => Column::PartOf("refused", "people"),
            "selected" => Column::PartOf("selected", "people"),
            "with a way" => Column::PartOf("with a way", "refused"),
            "open" => Column::Share("refused"),
            "selection rate" => Column::Share("people"),
            "refused, worse off" | "refused, better off" => Column::People("refused"),
            "open, worse off" => Column::Share("refused, worse off"),
            "open, better off" => Column::Share("refused, better off"),
            within if within.starts_with("with a way within ") => {
                Column::PartOf("with a way within a cost", "with a way")
            }
            // Names, ranks, scores, costs, p-values, intervals and ratios of two shares; people at a loss are
            // no set of people, but a gap times how many they are.
            "action"
            | "against"
            | "at a loss"
            | "at a loss, at least"
            | "by"
            | "category"
            | "change"
            | "composition"
            | "cost"
            | "cut_off"
            | "definition"
            | "difference"
            | "difference_high"
            | "difference_low"
            | "false_discovery"
            | "family-wise p"
            | "family_wise"
            | "finding"
            | "gap_at_most"
            | "gap_at_most_alone"
            | "group"
            | "impact ratio"
            | "item"
            | "least_open"
            | "least_score"
            | "mean cost"
            | "median cost"
            | "most_open"
            | "open from"
            | "open to"
            | "p"
            | "passes"
            | "rank"
            | "ratio"
            | "ratio_high"
            | "ratio_low"
            | "rest"
            | "score"
            | "sentence"
            | "shapley"
            | "shown"
            | "source"
            | "stands for"
            | "story"
            | "subgroup"
            | "swap"
            | "together"
            | "under 2 %" => Column::Other,
            other => {
                self.unknown.insert(format!("column {other}"));
                Column::Other
            }
        }
    }

    fn read_line(&mut self, header: &[String], line: &[String]) {
        let text = |name: &str| {
            let place = header.iter().position(|column| column == name)?;
            Some(line[place].as_str())
        };
        let count = |name: &str| text(name)?.parse::<u64>().ok();
        let items = text("subgroup").and_then(|subgroup| self.items_of(subgroup));
        let change = text("change").map(|change| self.change_of(change));
        for (column, cell) in header.iter().zip(line) {
            let (number, share) = (cell.parse::<u64>().ok(), cell.parse::<f64>().ok());
            let (about, g) = match self.column(column) {
                Column::Other => {
                    self.read_text(cell);
                    continue;
                }
                Column::People(what) => {
                    self.difference(number, Some(0), what);
                    continue;
                }
                Column::PartOf(what, whole) => {
                    self.difference(number, Some(0), what);
                    self.difference(count(whole), number, what);
                    continue;
                }
                Column::Share(whole) => {
                    if let (Some(share), Some(whole)) = (share, count(whole)) {
                        self.share(share, whole, column);
                    }
                    continue;
                }
                Column::OfGroup(about, g) => (about, g),
            };
            let items = items.clone().unwrap();
            let members = count(&format!("members {}", self.names[g]));
            match about {
                About::Members => self.learn((g, Whom::Members, items), number.unwrap()),
                About::Flips => {
                    if let Some(flips) = number {
                        self.learn((g, Whom::Flipped(change.unwrap()), items), flips);
                        self.difference(members, number, "members not flipped");
                    }
                }
                About::Told => {
                    let all = self.told(&(g, Whom::Members, items));
                    self.difference(number, Some(0), "told by a story");
                    self.difference(all, number, "told by another story");
                }
                About::Way => {
                    self.difference(number, Some(0), "told, with a way");
                    let told = count(&format!("told {}", self.names[g]));
                    self.difference(told, number, "told, without a way");
                }
                About::Coverage => {
                    let all = self.told(&(g, Whom::Members, Vec::new()));
                    self.share(share.unwrap(), all.unwrap(), column);
                }
                About::Effectiveness => {
                    if let (Some(share), Some(members)) = (share, members) {
                        self.share(share, members, column);
                    }
                }
                About::Compared => {
                    // Other definitions compare costs, or numbers of actions.
                    let of_people = text("definition")
                        .is_some_and(|definition| definition.starts_with("equal-effectiveness"));
                    if let (true, Some(share), Some(members)) = (of_people, share, members) {
                        self.share(share, members, column);
                    }
                }
            }
        }
    }

    /// A share of so many people is a number of people.
    fn share(&mut self, share: f64, all: u64, what: &str) {
        let people = share * all as f64;
        let near = (people - people.round()).abs() < 1e-6 * (1.0 + people.abs());
        assert!(near, "{what}: {share} of {all} is no number of people");
        let people = people.round() as u64;
        self.difference(Some(people), Some(0), what);
        self.difference(Some(all), Some(people), what);
    }

    /// Reads a text: wherever it says `(78 of 6,612)`, those 78 and the others are sets of people; so are
    /// the `78 people` and `78 rows` of which it tells, and the first numbers of a line about a group.
    pub(crate) fn read_text(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        for window in words.windows(3) {
            if window[0].starts_with('(') && window[1] == "of" && window[2].contains(')') {
                let (part, whole) = (number(window[0]), number(window[2]));
                self.difference(part, Some(0), "told in words");
                self.difference(whole, part, "the rest of what is told in words");
            }
        }
        for (place, window) in words.windows(2).enumerate() {
            let what = window[1].trim_end_matches(|c: char| !c.is_alphabetic());
            // A bound, and no count: "more than 9 people".
            let bound = place > 0 && matches!(words[place - 1], "than" | "least" | "most");
            // Different rows that the model was asked about, and the name of a variant.
            let next = words.get(place + 2..place + 5).unwrap_or_default();
            let other = next == ["of", "the", "population,"] || next.first() == Some(&"drawn");
            if matches!(what, "people" | "rows") && !bound && !other {
                self.difference(number(window[0]), Some(0), "people told of in words");
            }
        }
        for line in text.lines() {
            self.read_table_line(line);
        }
    }

    /// A line of a table of groups: its people, those of them who are refused or selected, and those who
    /// have a way out; the rest of it is shares and costs.
    fn read_table_line(&mut self, line: &str) {
        let line = line.trim_start_matches([' ', '|']);
        let name = self.names.iter().find(|name| line.starts_with(*name));
        let Some(rest) = name.map(|name| &line[name.len()..]) else {
            return;
        };
        let words = rest.split_whitespace().filter(|word| *word != "|");
        let counts = words.take_while(|word| {
            let share = word.ends_with('%');
            share || word.bytes().all(|b| b.is_ascii_digit() || b == b',')
        });
        let counts: Vec<u64> = counts
            .filter(|word| !word.ends_with('%'))
            .filter_map(number)
            .collect();
        // Numbers that stand alone are costs of one group.
        if counts.len() < 2 {
            return;
        }
        for pair in counts.windows(2) {
            self.difference(Some(pair[1]), Some(0), "in a table of groups");
            self.difference(Some(pair[0]), Some(pair[1]), "in a table of groups");
        }
    }

    /// Reads a page: what is shown without its script, and what it carries for it.
    pub(crate) fn read_page(&mut self, page: &str) {
        let start = "<script id=\"payload\" type=\"application/octet-stream\">";
        let (before, after) = page.split_once(start).unwrap();
        let (payload, _) = after.split_once("</script>").unwrap();
        let (_, body) = before.split_once("</head>").unwrap();
        self.read_text(&without_tags(body));
        let packed = STANDARD.decode(payload.trim()).unwrap();
        let mut bytes = Vec::new();
        GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        self.form("page: payload");
        super::payload::read(self, &bytes);
    }
}

/// What a column of a sheet is about.
#[derive(Clone, Copy)]
enum Column {
    /// Not about how many people there are.
    Other,
    /// A number of people.
    People(&'static str),
    /// A number of people, some of those of another column.
    PartOf(&'static str, &'static str),
    /// A share of the people of another column.
    Share(&'static str),
    /// About the people of one group in a subgroup.
    OfGroup(About, usize),
}

#[derive(Clone, Copy)]
enum About {
    Members,
    Flips,
    Told,
    Way,
    Coverage,
    Effectiveness,
    Compared,
}

/// The number that a word is, whatever stands around it.
fn number(word: &str) -> Option<u64> {
    let digits = word.trim_matches(|c: char| !c.is_ascii_digit());
    digits.replace(',', "").parse().ok()
}

/// The text of a page: a line a row of a table.
fn without_tags(page: &str) -> String {
    let mut text = String::new();
    for (place, part) in page.split('<').enumerate() {
        let (tag, shown) = match place {
            0 => ("", part),
            _ => part.split_once('>').unwrap_or((part, "")),
        };
        text.push(if tag.starts_with("/tr") { '\n' } else { ' ' });
        text += shown;
    }
    text
}
