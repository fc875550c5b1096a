//! What keeps two audits from being compared like with like.

use std::collections::HashMap;

use facts_engine::Audit;
use facts_engine::population::Levels;

use crate::evidence::words::level;
use crate::record::Record;

/// The definitions that were tested in one of the audits only: whether findings pass by them cannot be
/// compared.
fn tested_once(old: &Record, new: &Record, definitions: &[String]) -> Vec<String> {
    let once = |is: &Record, is_not: &Record, when: &str| {
        let ids = definitions.iter();
        let ids: Vec<&str> = ids
            .filter(|id| is.tests_of(id).is_some() && is_not.tests_of(id).is_none())
            .map(String::as_str)
            .collect();
        (!ids.is_empty()).then(|| {
            format!(
                "tested {when} only, so that passing cannot be compared: {}; where budgets were chosen from the data, name the same ones in both audits (`report.budgets`)",
                ids.join(", ")
            )
        })
    };
    let (before, now) = (once(old, new, "before"), once(new, old, "now"));
    before.into_iter().chain(now).collect()
}

/// What keeps two audits from being compared like with like.
pub(super) fn warnings(old: &Record, new: &Record, definitions: &[String]) -> Vec<String> {
    let mut warnings = tested_once(old, new, definitions);
    let mut differ = |what: &str, old: String, new: String| {
        if old != new {
            warnings.push(format!("{what} differ: {old} before, {new} now"));
        }
    };
    let groups = |record: &Record| {
        let names: Vec<&str> = record.audit.groups.iter().map(|g| g.name.trim()).collect();
        names.join(", ")
    };
    differ("the groups compared", groups(old), groups(new));
    let (a, b) = (&old.audit.settings, &new.audit.settings);
    let below = |record: &Record| {
        let suppression = record.audit.suppression;
        suppression.map_or_else(|| "none".to_owned(), |s| format!("below {}", s.k))
    };
    differ("the counts suppressed", below(old), below(new));
    differ("the supports", a.support.to_string(), b.support.to_string());
    differ(
        "the least numbers of members",
        a.min_members.to_string(),
        b.min_members.to_string(),
    );
    let longest = |most: Option<usize>| most.map_or_else(|| "any".to_owned(), |n| n.to_string());
    differ(
        "the most items of a predicate",
        longest(a.max_length),
        longest(b.max_length),
    );
    differ(
        "the rules of validity",
        format!("{:?}", a.validity),
        format!("{:?}", b.validity),
    );
    differ(
        "the uses of ranges",
        a.ranges.to_string(),
        b.ranges.to_string(),
    );
    let alpha = |record: &Record| Some(record.evidence.as_ref()?.gathering.alpha);
    if let (Some(a), Some(b)) = (alpha(old), alpha(new)) {
        differ("the levels α at which findings pass", level(a), level(b));
    }
    let short = |record: &Record| {
        let short = |hash: &str| hash.get(..12).unwrap_or(hash).to_owned();
        let hashes = record.data.hashes()?.into_iter().map(short);
        Some(hashes.collect::<Vec<_>>().join(" "))
    };
    if let (Some(a), Some(b)) = (short(old), short(new)) {
        differ("the data", a, b);
    }
    let by_name = |audit: &Audit| -> HashMap<String, Levels> {
        let features = audit.features.iter();
        features
            .map(|levels| (levels.name.clone(), levels.clone()))
            .collect()
    };
    let mut was = by_name(&old.audit);
    for is in &new.audit.features {
        match was.remove(&is.name) {
            None => warnings.push(format!("feature {} is new", is.name)),
            Some(was) => warnings.extend(levels_differ(&was, is)),
        }
    }
    let mut gone: Vec<String> = was.into_keys().collect();
    gone.sort();
    warnings.extend(
        gone.into_iter()
            .map(|name| format!("feature {name} is gone")),
    );
    warnings
}

fn levels_differ(old: &Levels, new: &Levels) -> Vec<String> {
    let mut warnings = Vec::new();
    if old.weight != new.weight {
        warnings.push(format!(
            "the cost weights of {} differ: {} before, {} now",
            new.name, old.weight, new.weight
        ));
    }
    if format!("{:?}", old.distance) != format!("{:?}", new.distance) {
        warnings.push(format!("the costs of {} differ", new.name));
    }
    if old.rules != new.rules {
        warnings.push(format!("the rules about changing {} differ", new.name));
    }
    let labels = |levels: &Levels| -> Vec<String> {
        let levels = levels.levels.iter();
        levels.map(|level| level.label.clone()).collect()
    };
    let (was, is) = (labels(old), labels(new));
    let bounds = |levels: &Levels| -> Vec<Option<(f64, f64)>> {
        levels.levels.iter().map(|level| level.bounds).collect()
    };
    if was != is {
        warnings.push(labels_differ(new, &was, &is));
    } else if bounds(old) != bounds(new) {
        warnings.push(format!(
            "the bins of {} are called the same and reach from elsewhere to elsewhere",
            new.name
        ));
    }
    warnings
}

fn labels_differ(new: &Levels, was: &[String], is: &[String]) -> String {
    let missing = |from: &[String], other: &[String]| -> String {
        let some: Vec<&str> = from
            .iter()
            .filter(|label| !other.contains(label))
            .map(|label| label.trim())
            .collect();
        let shown = some.iter().take(5).copied().collect::<Vec<_>>().join(", ");
        match some.len() {
            0 => "none".to_owned(),
            n if n > 5 => format!("{shown} and {} more", n - 5),
            _ => shown,
        }
    };
    let binned = matches!(new.kind, facts_engine::population::Kind::Binned(_));
    let what = if binned { "bins" } else { "levels" };
    format!(
        "the {what} of {} differ: only before: {}; only now: {}; findings that name them cannot meet",
        new.name,
        missing(was, is),
        missing(is, was)
    )
}
