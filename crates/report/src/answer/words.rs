//! The answer in plain sentences, unescaped.

use std::collections::BTreeMap;

use facts_engine::Audit;
use facts_engine::answer::{Compared, Story, Verdict, Why};
use facts_engine::distribution::Share;
use facts_engine::population::{Distance, Kind, Levels};
use facts_engine::subgroups::{Item, Operator};

use super::Answered;
use crate::evidence::words::{confidence, plural, several};
use crate::text::{count, number};

/// Standard deviations to either side of a 95 % interval.
pub(crate) const Z_95: f64 = 1.959_963_984_540_054;

/// The verdict in two or three words, such as `Unfair, against Female`.
pub fn verdict(answered: &Answered<'_>) -> String {
    match &answered.answer.verdict {
        None => "Not tested".to_owned(),
        Some(Verdict::Unfair { against, .. }) => {
            let names: Vec<String> = against.iter().map(|&g| answered.called(g)).collect();
            match names.as_slice() {
                [] => "Unfair".to_owned(),
                names => format!("Unfair, against {}", listed(names, "and")),
            }
        }
        Some(Verdict::FairWithin { delta, .. }) => format!("Fair within {}", points(*delta)),
        Some(Verdict::NotShown { .. }) => "Not shown to be unfair".to_owned(),
        Some(Verdict::CannotTell { .. }) => "Cannot tell".to_owned(),
    }
}

/// How much wider the gap at some cost must be than the gap in who has a way at all, to be told beside it.
const WIDER: f64 = 0.05;

/// Who has a way out, in a sentence that can be quoted; and at which cost the groups lie farthest apart, if
/// that says more and is more than chance.
pub fn headline(answered: &Answered<'_>) -> String {
    let people = &answered.answer.people;
    let open = |g: usize| people[g].open().map_or_else(String::new, of_100);
    let compared = answered.compared();
    let whole = match (&compared, people.first().and_then(|people| people.open())) {
        (Some(compared), _) => format!(
            "Of the people this model refuses, {} {} could get a yes by a change, and {} {}.",
            open(compared.worst),
            answered.people_of(compared.worst),
            open(compared.best),
            answered.people_of(compared.best),
        ),
        (None, Some(open)) => format!(
            "Of the people this model refuses, {} in each group could get a yes by a change.",
            of_100(open)
        ),
        (None, None) => return "Too few people have a way out to tell how many.".to_owned(),
    };
    let difference = compared.map_or(0.0, |compared| compared.difference);
    let telling =
        |at: &Compared| at.difference >= difference + WIDER && at.difference_interval.low > 0.0;
    match Compared::widest(people, answered.alpha()) {
        Some((cost, at)) if telling(&at) => {
            let within = |g: usize| people[g].open_within(cost).map_or_else(String::new, of_100);
            format!(
                "{whole} By a change that costs at most {}, it is {} {} and {} {}.",
                number(cost),
                within(at.worst),
                answered.people_of(at.worst),
                within(at.best),
                answered.people_of(at.best),
            )
        }
        _ => whole,
    }
}

/// What the verdict rests on.
pub fn reason(answered: &Answered<'_>) -> String {
    let record = answered.report.record;
    let evidence = record.evidence.as_ref();
    let definitions = evidence.map_or(0, |found| found.tests.len());
    let alpha = crate::evidence::words::level(answered.alpha());
    match &answered.answer.verdict {
        None => "No finding was tested, so nothing here tells findings from chance.".to_owned(),
        Some(Verdict::Unfair {
            against,
            findings,
            sets,
        }) => {
            let lost = |g: usize| answered.answer.at_a_loss(g).round() as u64;
            let lost: Vec<String> = (against.iter())
                .filter(|&&g| lost(g) > 0)
                .map(|&g| format!("{} {}", count(lost(g)), answered.people_of(g)))
                .collect();
            let lost = match lost.as_slice() {
                [] => String::new(),
                lost => format!("{} are at a loss. ", listed(lost, "and")),
            };
            // A test of all groups says that they are not all alike, not which of them differ.
            let which = match record.audit.groups.len() > 2 && against.is_empty() {
                true => " No pair of groups is shown to differ.",
                false => "",
            };
            format!(
                "{lost}{} about {} {}{} at α = {alpha}.{which}",
                several(*findings as u64, "finding"),
                several_sets(*sets),
                plural(*findings, "pass", "passes"),
                together(definitions),
            )
        }
        Some(Verdict::FairWithin { delta, widest }) => format!(
            "In each of the {} the gap surely lies within {}: it is at most {} (all bounds together at α = {alpha}).",
            several(record.audit.subgroups.len() as u64, "subgroup"),
            points(*delta),
            points(*widest),
        ),
        Some(Verdict::NotShown { gap }) => format!(
            "No finding passes{}, and a gap of {} would most likely have been seen. That does not show that recourse is fair.",
            together(definitions),
            points(*gap),
        ),
        Some(Verdict::CannotTell {
            too_few_shuffles: Some(few),
            ..
        }) => format!(
            "No finding could have passed{} at α = {alpha}, whatever there is to find: {} are too few, and {} would do.",
            together(definitions),
            several(few.shuffles as u64, "shuffle"),
            count(few.needed as u64),
        ),
        Some(Verdict::CannotTell { gap, too_small, .. }) => {
            let groups: Vec<String> = (too_small.iter())
                .map(|group| {
                    let name = answered.people_of(group.group);
                    format!(
                        "{} of the refused {name}",
                        short_percent(group.covered.ratio())
                    )
                })
                .collect();
            format!(
                "No finding passes{}, and a gap of {} could have gone unseen: only {} are in subgroups large enough to show one.",
                together(definitions),
                points(*gap),
                listed(&groups, "and"),
            )
        }
    }
}

/// That findings pass for all definitions together, where there are several.
fn together(definitions: usize) -> String {
    match definitions {
        1 => String::new(),
        several => format!(" for all {several} definitions together"),
    }
}

/// What the verdict does not say.
pub const NOT_SAID: &str = "The verdict is about this model's answers to these people, under the changes that the audit was told may happen. It does not say why, what would happen if people did change, or whether a law is broken.";

/// How the least open group compares with the most open.
pub fn ratio(answered: &Answered<'_>, compared: &Compared) -> Option<String> {
    let (ratio, interval) = (compared.ratio?, compared.ratio_interval?);
    let worst = answered.called(compared.worst);
    let best = answered.called(compared.best);
    Some(format!(
        "Recourse ratio {ratio:.2}, {worst} to {best} (95% interval {:.2} to {}): {}.",
        interval.low,
        if interval.high.is_finite() {
            format!("{:.2}", interval.high)
        } else {
            "∞".to_owned()
        },
        if interval.high < 0.8 {
            "below four fifths"
        } else if ratio < 0.8 {
            "below four fifths, but not surely"
        } else if interval.low >= 0.8 {
            "above four fifths"
        } else {
            "above four fifths, but not surely"
        }
    ))
}

/// The story in one sentence.
pub fn story(answered: &Answered<'_>, place: usize, story: &Story) -> String {
    let audit = &answered.report.record.audit;
    let subgroup = &audit.subgroups[story.subgroup];
    let told: u64 = story.told.iter().map(|share| share.whole).sum();
    let others = if place == 0 || told == subgroup.people() {
        "refused people"
    } else {
        "the other refused people"
    };
    let worse = answered.people_of(story.worse_off);
    format!(
        "Of {others} whose {}, {} would turn the answer for {} {} and {} {worse}: {} {worse} at a loss ({}).",
        predicate(audit, story),
        changes(audit, story),
        of_100(story.told[story.better_off]),
        answered.people_of(story.better_off),
        of_100(story.told[story.worse_off]),
        count(story.loss.people.round() as u64),
        at_least(story.loss.at_least),
    )
}

/// A lower bound of people above 0: `at least 494`.
pub(crate) fn at_least(people: f64) -> String {
    match people.floor() as u64 {
        0 => "more than 0".to_owned(),
        whole => format!("at least {}", count(whole)),
    }
}

/// Who a story is about: `hours-per-week is FullTime and race is White`.
fn predicate(audit: &Audit, story: &Story) -> String {
    let items = audit.subgroups[story.subgroup].predicate.items();
    let items: Vec<String> = items
        .iter()
        .map(|item| condition(*item, &audit.features))
        .collect();
    listed(&items, "and")
}

/// A condition in words.
pub fn condition(item: Item, features: &[Levels]) -> String {
    let feature = &features[item.feature as usize];
    let name = feature.name.trim();
    let level = level(feature, item.level);
    match item.operator {
        Operator::Is => format!("{name} is {level}"),
        Operator::AtLeast => format!("{name} is {level} or higher"),
        Operator::AtMost => format!("{name} is {level} or lower"),
    }
}

/// A level in words: bins of numbers as `over 41 up to 50`, everything else as it is labelled.
pub fn level(feature: &Levels, level: u32) -> String {
    let this = &feature.levels[level as usize];
    let label = this.label.trim();
    let is_interval = label.starts_with(['(', '[']) && label.ends_with([']', ')']);
    let (Kind::Binned(_), Some((low, high)), true) = (&feature.kind, this.bounds, is_interval)
    else {
        return label.to_owned();
    };
    let last = feature.ranks().saturating_sub(1);
    match level as usize {
        0 if last > 0 => format!("{} or less", number(high)),
        place if place == last && last > 0 => format!("over {}", number(low)),
        _ => format!("over {} up to {}", number(low), number(high)),
    }
}

/// What the actions of a story that work within its cost would change.
pub fn changes(audit: &Audit, story: &Story) -> String {
    let subgroup = &audit.subgroups[story.subgroup];
    let within = subgroup.levels_within(story.cost);
    // By feature: the levels that actions lead to.
    let mut targets: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (place, action) in subgroup.actions.iter().enumerate() {
        let helps = |g| subgroup.flips(place, g).known() != Some(0);
        if (action.cost_level as usize) < within && (0..subgroup.groups()).any(helps) {
            for assignment in subgroup.change(place, &audit.changes).assignments() {
                targets
                    .entry(assignment.feature)
                    .or_default()
                    .push(assignment.level);
            }
        }
    }
    let changes: Vec<String> = targets
        .into_iter()
        .map(|(f, mut levels)| {
            let feature = &audit.features[f as usize];
            levels.sort_unstable();
            levels.dedup();
            let mut items = subgroup.predicate.items().iter();
            let from = items.find(|item| item.feature == f && item.operator == Operator::Is);
            in_words(feature, from.map(|item| item.level), &levels)
        })
        .collect();
    match changes.as_slice() {
        [] => "no change".to_owned(),
        changes => listed(changes, "or"),
    }
}

/// A change of one feature from a level to any of others.
fn in_words(feature: &Levels, from: Option<u32>, to: &[u32]) -> String {
    let name = feature.name.trim();
    if let [only] = to {
        return format!("{name} {}", level(feature, *only));
    }
    match from {
        Some(from) if feature.is_ordered() && to.iter().all(|&to| to > from) => {
            format!("higher {name}")
        }
        Some(from) if feature.is_ordered() && to.iter().all(|&to| to < from) => {
            format!("lower {name}")
        }
        _ if feature.is_ordered() => format!("other {name}"),
        _ => format!("another {name}"),
    }
}

/// What a story's gap is made of.
pub fn why(answered: &Answered<'_>, story: &Story) -> Option<String> {
    let why = story.why.as_ref()?;
    let protected = answered.report.record.protected.join(" and ");
    let worse = answered.people_of(story.worse_off);
    let better = answered.people_of(story.better_off);
    let mut whole = why_points(story, why).into_iter();
    let mut next = || whole.next().unwrap_or_default();
    let swap = next();
    let others = match why.composition {
        Some(_) => {
            let features: Vec<&str> = (why.strata.iter())
                .map(|&f| {
                    answered.report.record.audit.features[f as usize]
                        .name
                        .trim()
                })
                .collect();
            let among = match features.as_slice() {
                [] => "other features".to_owned(),
                [first, _, _, ..] => format!("{first} and {} more", features.len() - 1),
                features => listed(features, "and"),
            };
            format!("{} with {among}, {} neither", next(), next())
        }
        None => format!(
            "{} with anything else (no {worse} are like any {better})",
            next()
        ),
    };
    Some(format!(
        "of {}, {swap} with the model's use of {protected}, {others}.",
        points(story.gap()),
    ))
}

/// What goes with the swap, the composition (if that is known) and neither, in whole points that add up to those
/// of the gap.
pub(crate) fn why_points(story: &Story, why: &Why) -> Vec<String> {
    let parts = [Some(why.swap), why.composition, Some(why.rest)];
    let parts: Vec<f64> = parts.into_iter().flatten().collect();
    let whole = whole_points(story.gap(), &parts).into_iter();
    whole.map(signed).collect()
}

/// The parts of a gap in whole points that add up to the gap's own: each is rounded down, and the points that
/// are then missing go to the parts that lost most.
fn whole_points(gap: f64, parts: &[f64]) -> Vec<i64> {
    let mut whole: Vec<i64> = (parts.iter())
        .map(|part| (part * 100.0).floor() as i64)
        .collect();
    let missing = (gap * 100.0).round() as i64 - whole.iter().sum::<i64>();
    let lost = |&place: &usize| parts[place] * 100.0 - (parts[place] * 100.0).floor();
    let mut places: Vec<usize> = (0..parts.len()).collect();
    places.sort_by(|a, b| lost(b).total_cmp(&lost(a)));
    for &place in places.iter().take(missing.max(0) as usize) {
        whole[place] += 1;
    }
    whole
}

/// What a cost is made of: features that count alike are named together.
pub fn cost_unit(audit: &Audit) -> String {
    let changing = audit
        .features
        .iter()
        .filter(|feature| !feature.rules.immutable);
    let mut alike: Vec<(String, Vec<&str>)> = Vec::new();
    for feature in changing {
        let weight = number(feature.weight);
        let unit = match &feature.distance {
            Distance::Categorical => weight,
            Distance::Ordinal => format!("{weight} a step"),
            Distance::Numeric { normalised: false } => format!("{weight} a unit"),
            Distance::Numeric { normalised: true } => format!("{weight} for its whole range"),
            _ => format!("{weight} times a cost of your own"),
        };
        let name = feature.name.trim();
        match alike.iter_mut().find(|(known, _)| *known == unit) {
            Some((_, names)) => names.push(name),
            None => alike.push((unit, vec![name])),
        }
    }
    let parts: Vec<String> = alike
        .into_iter()
        .map(|(unit, names)| match names.as_slice() {
            [first, second, third, _, _, ..] => {
                format!(
                    "{first}, {second}, {third} and {} more {unit} each",
                    names.len() - 3
                )
            }
            [only] => format!("{only} {unit}"),
            names => format!("{} {unit} each", listed(names, "and")),
        })
        .collect();
    match parts.as_slice() {
        [] => "Nothing may change.".to_owned(),
        parts => format!("Costs add up: {}.", parts.join("; ")),
    }
}

/// `44 of 100`, or `3 of 7` where there are few people.
pub fn of_100(share: Share) -> String {
    if share.whole < 20 {
        return format!("{} of {}", share.part, share.whole);
    }
    let hundredths = (share.ratio() * 100.0).round();
    // Somebody is not nobody, and not everybody is not all.
    if hundredths == 0.0 && share.part > 0 {
        return "fewer than 1 of 100".to_owned();
    }
    if hundredths == 100.0 && share.part < share.whole {
        return "more than 99 of 100".to_owned();
    }
    format!("{hundredths} of 100")
}

/// A share in few characters, for tables that must fit a screen: somebody is not nobody, and not
/// everybody is not all.
pub(crate) fn short_percent(share: f64) -> String {
    match (share * 100.0).round() {
        0.0 if share > 0.0 => "under 1%".to_owned(),
        100.0 if share < 1.0 => "over 99%".to_owned(),
        percent => format!("{percent}%"),
    }
}

/// A gap in points of a hundred.
pub fn points(gap: f64) -> String {
    let rounded = (gap * 100.0).round();
    let points = if rounded == 0.0 { 0.0 } else { rounded };
    format!(
        "{points} {}",
        if points == 1.0 { "point" } else { "points" }
    )
}

/// Points without the word, with a minus sign if they are below 0.
fn signed(points: i64) -> String {
    match points {
        0.. => points.to_string(),
        _ => format!("−{}", points.unsigned_abs()),
    }
}

/// How sure the intervals of an answer are.
pub fn sureness(answered: &Answered<'_>) -> String {
    confidence(answered.alpha())
}

fn several_sets(sets: usize) -> String {
    match sets {
        1 => "1 set of people".to_owned(),
        sets => format!("{} sets of people", count(sets as u64)),
    }
}

/// `a, b and c`.
pub fn listed<T: AsRef<str>>(names: &[T], last: &str) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_in_whole_points_add_up_to_the_gap() {
        for (gap, parts, whole) in [
            (0.30, [0.024, 0.264, 0.012], [2, 27, 1]),
            (0.09, [0.006, 0.086, -0.002], [1, 8, 0]),
            (0.254, [0.024, 0.166, 0.064], [2, 17, 6]),
            (-0.016, [-0.006, 0.0, -0.010], [-1, 0, -1]),
        ] {
            let points = whole_points(gap, &parts);
            assert_eq!(points, whole, "{gap}");
            assert_eq!(points.iter().sum::<i64>(), (gap * 100.0).round() as i64);
        }
    }
}
