//! All subgroups under all definitions, small enough to travel inside the page.
//!
//! A JSON header with the texts that repeat (items, changes, costs, scores), then one stream of
//! whole numbers in 7-bit groups, column after column, so that like stands beside like and
//! compresses well; all of it gzipped and in base64. The explorer's `offline/payload.ts` reads it back in
//! the order in which [`encode`] writes it, and answers from it as the server does. Views of the audit as a
//! whole are small: the header holds their answers as they are.
//!
//! Scores are sent as the text of each rank, and values as the texts that are shown, so that the
//! page says exactly what the other reports say, infinities included.

mod evidence;
mod sentences;

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use facts_engine::Audit;
use facts_engine::definitions::{Fair, GroupValue};
use facts_engine::distribution::{Count, Subgroup, Viewpoint};
use facts_engine::ranking::Ranked;
use facts_engine::subgroups::{Item, Predicate};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::{Value, json};

use self::evidence::{HeaderClose, HeaderIntervals, HeaderTests};
use crate::answer::words::condition;
use crate::evidence::words::of_definition;
use crate::record::Record;
use crate::report::{Column, Report};
use crate::text::{number, value};
use crate::views::{Overview, Places, Stories, overview, stories, title};

#[derive(Serialize)]
struct Header<'a> {
    session: Value,
    overview: Overview<'a>,
    stories: Stories,
    groups: Vec<HeaderGroup<'a>>,
    subgroups: usize,
    without_actions: usize,
    support: String,
    /// Feature, operator, level.
    items: Vec<[&'a str; 3]>,
    /// The same in words.
    item_words: Vec<String>,
    /// Features and their levels: what conditions may name.
    features: Vec<(&'a str, Vec<&'a str>)>,
    /// Assignments of each change: feature, level.
    changes: Vec<Vec<[&'a str; 2]>>,
    costs: Vec<f64>,
    /// The sets of worse-off groups that occur.
    against: Vec<Vec<usize>>,
    /// About intervals; none if no evidence was gathered.
    intervals: Option<HeaderIntervals>,
    /// Sentences about gaps, their numbers left out.
    gaps: Vec<Vec<String>>,
    /// Whether it is known which story tells each subgroup, and which others have the same members.
    told: bool,
    columns: Vec<HeaderColumn<'a>>,
}

#[derive(Serialize)]
struct HeaderGroup<'a> {
    name: &'a str,
    affected: u64,
}

#[derive(Serialize)]
struct HeaderColumn<'a> {
    id: &'a str,
    title: &'a str,
    viewpoint: Option<String>,
    phi: Option<f64>,
    budget: Option<f64>,
    /// The score of each rank, from rank 1, as it is shown.
    scores: Vec<String>,
    /// The texts that values refer to, in rising order; none if values are parts of the members.
    values: Option<Vec<String>>,
    /// Whether the definition has a significance test.
    tested: bool,
    /// Whether every action of every subgroup is listed.
    lists_all: bool,
    /// The tests of the subgroups; none if the definition was not tested.
    evidence: Option<HeaderTests>,
    /// What is said of all its findings together.
    evidence_words: Option<String>,
    /// What was found by looking closely, by subgroup.
    close: BTreeMap<usize, HeaderClose>,
    /// Which groups differ, of three or more, by subgroup that passes.
    pairs: BTreeMap<usize, String>,
}

/// The payload as base64.
pub(super) fn encode(report: &Report<'_>) -> String {
    let audit = &report.record.audit;
    let mut numbers = Numbers::default();
    let mut items = Dictionary::default();
    let ranked = audit.subgroups.iter();
    let ranked: Vec<_> = ranked.map(|one| (&one.predicate, &one.members)).collect();
    write_predicates(audit, &ranked, &mut items, &mut numbers);
    let without = audit.without_actions.iter();
    let without: Vec<_> = without.map(|one| (&one.predicate, &one.members)).collect();
    write_predicates(audit, &without, &mut items, &mut numbers);
    let costs = write_actions(audit, &mut numbers);
    write_distributions(audit, &mut numbers);
    evidence::write_shares(report, &mut numbers);
    let gaps = (0..audit.subgroups.len()).map(|s| Some(report.gap(s)?.sentence()));
    let gaps = sentences::write(gaps, &mut numbers);
    write_stories(report, &mut numbers);
    let mut against = Dictionary::default();
    let columns = report
        .columns
        .iter()
        .map(|column| write_column(report, column, &mut against, &mut numbers))
        .collect();
    let label = |feature: u32, level: u32| audit.features[feature as usize].label(level);
    let name = |feature: u32| audit.features[feature as usize].name.as_str();
    let header = Header {
        session: session(report.record),
        overview: overview(report, None),
        stories: stories(report, &Places::new(audit), &|_| None),
        without_actions: audit.without_actions.len(),
        support: audit.settings.support.to_string(),
        item_words: (items.entries.iter())
            .map(|item| condition(*item, &audit.features))
            .collect(),
        features: (audit.features.iter())
            .map(|feature| {
                let levels = feature.levels.iter().map(|level| level.label.trim());
                (feature.name.as_str(), levels.collect())
            })
            .collect(),
        told: report.record.answer.is_some(),
        groups: audit
            .groups
            .iter()
            .map(|group| HeaderGroup {
                name: group.name.trim(),
                affected: group.affected,
            })
            .collect(),
        subgroups: audit.subgroups.len(),
        items: items
            .entries
            .iter()
            .map(|item| {
                let level = label(item.feature, item.level);
                [name(item.feature), item.operator.symbol(), level]
            })
            .collect(),
        changes: audit
            .changes
            .iter()
            .map(|change| {
                let assignments = change.assignments().iter();
                assignments
                    .map(|a| [name(a.feature), label(a.feature, a.level)])
                    .collect()
            })
            .collect(),
        costs: costs.entries.into_iter().map(f64::from_bits).collect(),
        against: against.entries,
        intervals: evidence::intervals(report),
        gaps,
        columns,
    };
    let header = serde_json::to_vec(&header).expect("a header of texts and numbers is JSON");
    let mut compressed = GzEncoder::new(Vec::new(), Compression::best());
    let length = u32::try_from(header.len()).expect("a header under 4 GiB");
    let compressed = compressed
        .write_all(&length.to_le_bytes())
        .and_then(|()| compressed.write_all(&header))
        .and_then(|()| compressed.write_all(&numbers.bytes))
        .and_then(|()| compressed.finish())
        .expect("writing to memory does not fail");
    STANDARD.encode(compressed)
}

/// How many items each predicate has, which, and how many members of each group.
fn write_predicates(
    audit: &Audit,
    predicates: &[(&Predicate, &Vec<u64>)],
    items: &mut Dictionary<Item>,
    numbers: &mut Numbers,
) {
    for (predicate, _) in predicates {
        numbers.push(predicate.items().len());
    }
    for (predicate, _) in predicates {
        for &item in predicate.items() {
            numbers.push(items.place(item));
        }
    }
    for g in 0..audit.groups.len() {
        for (_, members) in predicates {
            numbers.push_u64(members[g]);
        }
    }
}

/// For each subgroup the story that tells it, and the shortest predicate with the same members, from 1; 0 if
/// there is none or it is the shortest itself.
fn write_stories(report: &Report<'_>, numbers: &mut Numbers) {
    let Some(answer) = &report.record.answer else {
        return;
    };
    let subgroups = 0..report.record.audit.subgroups.len();
    for s in subgroups.clone() {
        let told = answer.told_by.get(s).copied().flatten();
        numbers.push(told.map_or(0, |story| story as usize + 1));
    }
    for s in subgroups {
        let same = answer.same_as.get(s).map(|&same| same as usize);
        numbers.push(same.filter(|&same| same != s).map_or(0, |same| same + 1));
    }
}

/// What can be asked of the page: one audit, without model and rows.
fn session(record: &Record) -> Value {
    let mut audit = title(&record.data.name, record);
    audit["key"] = json!(0);
    audit["rows"] = json!(false);
    audit["people"] = json!(false);
    audit["settings"] = Value::Null;
    json!({ "tool": record.tool, "bench": false, "job": null, "audits": [audit] })
}

/// How many actions each subgroup has, what each changes and costs, and whom it flips.
///
/// The lowest bit of a cost says that it starts a new cost level; a level is known by its first
/// cost.
fn write_actions(audit: &Audit, numbers: &mut Numbers) -> Dictionary<u64> {
    let mut costs = Dictionary::default();
    for subgroup in &audit.subgroups {
        numbers.push(subgroup.actions.len());
    }
    for subgroup in &audit.subgroups {
        for action in &subgroup.actions {
            numbers.push(action.change as usize);
        }
    }
    for subgroup in &audit.subgroups {
        let mut previous = None;
        for action in &subgroup.actions {
            let starts = previous != Some(action.cost_level);
            previous = Some(action.cost_level);
            numbers.push(costs.place(action.cost.to_bits()) * 2 + usize::from(starts));
        }
    }
    for g in 0..audit.groups.len() {
        for subgroup in &audit.subgroups {
            for action in 0..subgroup.actions.len() {
                numbers.push_count(subgroup.flips(action, g));
            }
        }
    }
    costs
}

/// The effectiveness–cost distributions at each cost level, as parts of the members; of the macro ones only
/// where they are other than the micro ones: 0 if they are the same, otherwise one higher.
fn write_distributions(audit: &Audit, numbers: &mut Numbers) {
    let mut levels = Vec::new();
    for g in 0..audit.groups.len() {
        for subgroup in &audit.subgroups {
            levels.extend((1..=subgroup.cost_levels.len()).map(|level| (subgroup, g, level)));
        }
    }
    let stored = |viewpoint: Viewpoint, &(subgroup, g, level): &(&Subgroup, usize, usize)| {
        let share = subgroup.ecd(viewpoint, g, level);
        share.map_or(0, |share| share.part + 1)
    };
    for level in &levels {
        numbers.push_u64(stored(Viewpoint::Micro, level));
    }
    for level in &levels {
        let (own, common) = (
            stored(Viewpoint::Micro, level),
            stored(Viewpoint::Macro, level),
        );
        numbers.push_u64(if common == own { 0 } else { common + 1 });
    }
}

/// How one definition ranks, what it compares, whom it is against and what it lists.
fn write_column<'a>(
    report: &Report<'_>,
    column: &'a Column,
    against: &mut Dictionary<Vec<usize>>,
    numbers: &mut Numbers,
) -> HeaderColumn<'a> {
    let audit = &report.record.audit;
    let ranking = &column.ranking;
    let mut by_subgroup: Vec<Option<&Ranked>> = vec![None; audit.subgroups.len()];
    for ranked in &ranking.ranked {
        by_subgroup[ranked.subgroup] = Some(ranked);
    }
    // 0 is suppressed, 1 as open to all, 2 out of reach for all, then the ranks.
    for ranked in &by_subgroup {
        numbers.push(ranked.map_or(0, |ranked| match ranked.assessment.fair() {
            Some(Fair::Equal) => 1,
            Some(Fair::OutOfReach) => 2,
            None => ranked.rank.unwrap_or(0) as usize + 2,
        }));
    }
    for ranked in by_subgroup.iter().flatten() {
        numbers.push(against.place(ranked.assessment.against.to_vec()));
    }
    let values = write_values(audit, &by_subgroup, numbers);
    let tested = ranking
        .ranked
        .iter()
        .any(|ranked| ranked.assessment.significant.is_some());
    if tested {
        for ranked in by_subgroup.iter().flatten() {
            numbers.push(usize::from(ranked.assessment.significant == Some(true)));
        }
    }
    let lists_all = write_lists(audit, column, numbers);
    let tests = evidence::write_tests(report, column, &by_subgroup, numbers);
    write_order(audit, column, numbers);
    let tied = ranking.unfair().chunk_by(|a, b| a.rank == b.rank);
    let first_of_each_rank = tied.filter_map(|tied| tied.first());
    HeaderColumn {
        id: &ranking.definition,
        title: &ranking.title,
        viewpoint: column.definition.viewpoint().map(|v| v.to_string()),
        phi: column.definition.phi().map(|phi| phi.get().to_f64()),
        budget: column.definition.budget(),
        scores: first_of_each_rank
            .map(|ranked| number(ranked.assessment.score))
            .collect(),
        values,
        tested,
        lists_all,
        evidence: tests,
        evidence_words: of_definition(report, column),
        close: evidence::close(report, column),
        pairs: evidence::pairs(report, column),
    }
}

/// The places of the unfair subgroups in the order for people.
fn write_order(audit: &Audit, column: &Column, numbers: &mut Numbers) {
    let definition = column.definition.as_ref();
    let ordered = column.ranking.for_people(definition, &audit.subgroups);
    let places: BTreeMap<usize, usize> = (ordered.unfair().iter().enumerate())
        .map(|(place, ranked)| (ranked.subgroup, place))
        .collect();
    places.values().for_each(|&place| numbers.push(place));
}

/// What a definition compares, group after group: parts of the members, or places among texts.
fn write_values(
    audit: &Audit,
    by_subgroup: &[Option<&Ranked>],
    numbers: &mut Numbers,
) -> Option<Vec<String>> {
    let groups = 0..audit.groups.len();
    let part = |subgroup: &Subgroup, compared: GroupValue, g: usize| match compared {
        GroupValue::Share(share) if share.whole == subgroup.members[g] => Some(share.part),
        _ => None,
    };
    let rows = || {
        let rows = audit.subgroups.iter().zip(by_subgroup);
        rows.filter_map(|(subgroup, ranked)| Some((subgroup, &(*ranked)?.assessment.values)))
    };
    let all_parts = rows().all(|(subgroup, values)| {
        groups
            .clone()
            .all(|g| part(subgroup, values[g], g).is_some())
    });
    if all_parts {
        for g in groups {
            for (subgroup, values) in rows() {
                numbers.push_u64(part(subgroup, values[g], g).unwrap_or(0));
            }
        }
        return None;
    }
    let mut rising: Vec<GroupValue> = rows().flat_map(|(_, values)| values.to_vec()).collect();
    rising.sort_by(|a, b| a.number().total_cmp(&b.number()));
    let mut texts = Dictionary::default();
    for &compared in &rising {
        texts.place(value(compared));
    }
    for g in groups {
        for (_, values) in rows() {
            numbers.push(texts.place(value(values[g])));
        }
    }
    Some(texts.entries)
}

/// Which actions a definition lists, as runs: how many to skip, how many to take, and so on.
fn write_lists(audit: &Audit, column: &Column, numbers: &mut Numbers) -> bool {
    let definition = column.definition.as_ref();
    let mut runs: Vec<Vec<usize>> = Vec::with_capacity(audit.subgroups.len());
    let mut all = true;
    for g in 0..audit.groups.len() {
        for subgroup in &audit.subgroups {
            let mut lengths = Vec::new();
            let mut taking = false;
            let mut length = 0;
            for action in 0..subgroup.actions.len() {
                let lists = definition.lists(subgroup, action, g);
                all &= lists;
                if lists != taking {
                    lengths.push(length);
                    length = 0;
                    taking = lists;
                }
                length += 1;
            }
            if taking {
                lengths.push(length);
            }
            runs.push(lengths);
        }
    }
    if !all {
        for lengths in &runs {
            numbers.push(lengths.len());
            lengths.iter().for_each(|&length| numbers.push(length));
        }
    }
    all
}

/// Whole numbers, seven bits to a byte, the lowest first; the highest bit says that more follows.
#[derive(Default)]
struct Numbers {
    bytes: Vec<u8>,
}

impl Numbers {
    fn push(&mut self, number: usize) {
        self.push_u64(number as u64);
    }

    fn push_u64(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// 0 is suppressed; what is known comes one higher.
    fn push_count(&mut self, count: Count) {
        self.push_u64(count.known().map_or(0, |count| count + 1));
    }
}

/// Distinct things in the order in which they were first met.
struct Dictionary<T> {
    entries: Vec<T>,
    places: HashMap<T, usize>,
}

impl<T> Default for Dictionary<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            places: HashMap::new(),
        }
    }
}

impl<T: Clone + Eq + Hash> Dictionary<T> {
    fn place(&mut self, entry: T) -> usize {
        if let Some(&place) = self.places.get(&entry) {
            return place;
        }
        let place = self.entries.len();
        self.entries.push(entry.clone());
        self.places.insert(entry, place);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_few_bytes_as_they_need() {
        let mut numbers = Numbers::default();
        numbers.push(0);
        numbers.push(127);
        numbers.push(128);
        numbers.push(300);
        numbers.push_count(Count::Suppressed);
        numbers.push_count(Count::Known(0));
        assert_eq!(numbers.bytes, [0, 127, 0x80, 1, 0xac, 2, 0, 1]);
    }
}
