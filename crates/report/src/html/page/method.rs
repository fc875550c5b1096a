//! The data, the model, the method and the features.

use facts_engine::actions::Validity;
use facts_engine::flips::Favourable;
use facts_engine::population::{Direction, Distance, Kind, Levels, Step};

use super::{evidence, list};
use crate::evidence::words::several;
use crate::record::Record;
use crate::text::{count, number};

/// A small table of names and what they stand for.
pub(super) struct FactTable {
    pub(super) title: &'static str,
    pub(super) rows: Vec<Fact>,
}

pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) text: String,
    /// Whether it is a hash or the like, to be set in a fixed-width font.
    pub(super) code: bool,
}

impl Fact {
    pub(super) fn text(name: &'static str, text: impl Into<String>) -> Self {
        Self {
            name,
            text: text.into(),
            code: false,
        }
    }

    fn code(name: &'static str, text: impl Into<String>) -> Self {
        Self {
            code: true,
            ..Self::text(name, text)
        }
    }
}

pub(super) struct FeatureRow {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) levels: String,
    pub(super) cost: String,
    pub(super) rules: String,
}

pub(super) fn fact_tables(record: &Record) -> Vec<FactTable> {
    let table = |title, rows| FactTable { title, rows };
    vec![
        table("Data", data_facts(record)),
        table("Model", model_facts(record)),
        table("Method", method_facts(record)),
        table("Evidence", evidence::facts(record)),
        table("Size of the work", size_facts(record)),
    ]
}

fn data_facts(record: &Record) -> Vec<Fact> {
    let population = &record.audit.population;
    let mut facts = vec![
        Fact::text("Table", &record.data.name),
        match &record.data.sha256 {
            Some(hash) => Fact::code("SHA-256", hash),
            None => Fact::text("SHA-256", record.data.without_hash()),
        },
        Fact::text("Rows read", count(population.rows)),
        Fact::text("People in the audit", count(population.people)),
        Fact::text(
            "Rows left out: protected value missing",
            count(population.excluded),
        ),
        Fact::text("Rows left out: a feature missing", dropped(record)),
        Fact::text("Rows of weight 0", count(population.weightless)),
    ];
    if !population.ignored_columns.is_empty() {
        facts.push(Fact::text(
            "Columns not used",
            population.ignored_columns.join(", "),
        ));
    }
    facts
}

/// `12 (age 7, job 5)`.
fn dropped(record: &Record) -> String {
    let population = &record.audit.population;
    let for_each: Vec<String> = (population.dropped_for.iter())
        .map(|(feature, rows)| format!("{feature} {}", count(*rows)))
        .collect();
    match for_each.as_slice() {
        [] => count(population.dropped),
        some => format!("{} ({})", count(population.dropped), some.join(", ")),
    }
}

fn model_facts(record: &Record) -> Vec<Fact> {
    let model = &record.model;
    let mut facts = vec![
        Fact::text("Model", &model.description),
        Fact::code("Opened from", &model.spec),
        match &model.sha256 {
            Some(hash) => Fact::code("SHA-256", hash),
            None => Fact::text("SHA-256", crate::record::NO_HASH),
        },
        Fact::text(
            "Favourable prediction",
            match &record.audit.settings.favourable {
                Favourable::Positive => "true, or the number 1".to_owned(),
                Favourable::Class(class) => format!("the class {class}"),
            },
        ),
        Fact::text(
            "Protected attributes it reads",
            match &model.reads_protected {
                None => "not known: the model does not tell what it reads".to_owned(),
                Some(none) if none.is_empty() => "none".to_owned(),
                Some(some) => some.join(", "),
            },
        ),
    ];
    if let Some(training) = &model.training {
        facts.push(Fact::text(
            "Fitted for this audit",
            format!(
                "on {} rows, label {} = {}, {}; right on {:.2}% of the {} rows kept for the audit",
                count(training.train_rows),
                training.label,
                training.favourable,
                training.split(),
                training.accuracy * 100.0,
                count(training.test_rows)
            ),
        ));
    }
    facts
}

fn method_facts(record: &Record) -> Vec<Fact> {
    let audit = &record.audit;
    let settings = &audit.settings;
    let mut facts = vec![
        Fact::text("Protected", list(&record.protected, "and")),
        Fact::text(
            "Least share of each group’s affected (support)",
            settings.support.to_string(),
        ),
        Fact::text(
            "Valid actions",
            match settings.validity {
                Validity::Joint => {
                    "joint: what changes and what stays must together be common among the unaffected"
                }
                Validity::Subset => "subset: the change itself must be common among the unaffected",
            },
        ),
        Fact::text("Range items", if settings.ranges { "yes" } else { "no" }),
        Fact::text(
            "Most items of a predicate",
            settings
                .max_length
                .map_or("no limit".to_owned(), |n| n.to_string()),
        ),
        Fact::text(
            "Least people of a subgroup in each group",
            count(settings.min_members),
        ),
        Fact::text(
            "Groups set aside under so many affected",
            count(settings.min_group_size),
        ),
    ];
    if let Some(suppression) = &audit.suppression {
        facts.push(Fact::text(
            "Small counts",
            match suppression.removed {
                0 => format!(
                    "there are none from 1 to {}: every row is shared by at least {} people of a group",
                    suppression.k.saturating_sub(1),
                    suppression.k
                ),
                removed => format!(
                    "from 1 to {} are suppressed; {} removed because a group has fewer than {} members",
                    suppression.k.saturating_sub(1),
                    several(removed as u64, "subgroup"),
                    suppression.k
                ),
            },
        ));
    }
    facts.push(Fact::text("Made by", &record.tool));
    facts.push(Fact::text("Made at (UTC)", &record.made));
    facts
}

fn size_facts(record: &Record) -> Vec<Fact> {
    let (audit, sizes) = (&record.audit, &record.audit.sizes);
    let whole = |size: usize| size as u64;
    let facts = [
        ("People with the favourable prediction", audit.unaffected),
        ("Distinct rows of the population", whole(sizes.profiles)),
        (
            "Distinct rows among the affected",
            whole(sizes.affected_profiles),
        ),
        (
            "Subgroups common to all groups",
            whole(sizes.common_subgroups),
        ),
        (
            "Frequent itemsets of the unaffected",
            whole(sizes.action_itemsets),
        ),
        ("Pairs of a subgroup and a valid action", whole(sizes.pairs)),
        ("Distinct changes among them", whole(sizes.changes)),
        (
            "Subgroups without a mined action",
            whole(audit.without_actions.len()),
        ),
        ("Pairs of person and change decided", sizes.decisions),
        ("Rows the model was asked for", sizes.rows_asked),
        (
            "Counterfactual rows it was asked for",
            sizes.counterfactual_rows_asked,
        ),
    ];
    let fact = |(name, size)| Fact::text(name, count(size));
    facts.into_iter().map(fact).collect()
}

pub(super) fn feature_row(feature: &Levels) -> FeatureRow {
    let distance = match &feature.distance {
        Distance::Categorical => "1 a change".to_owned(),
        Distance::Ordinal => "1 a step".to_owned(),
        Distance::Numeric { normalised: true } => "difference, as a share of the range".to_owned(),
        Distance::Numeric { normalised: false } => "difference".to_owned(),
        Distance::Table(table) => {
            format!("a table of {}", several(table.len() as u64, "transition"))
        }
        Distance::Function(_) => "a function".to_owned(),
    };
    FeatureRow {
        name: feature.name.clone(),
        kind: match feature.kind {
            Kind::Categorical => "categorical",
            Kind::Ordinal(_) => "ordinal",
            Kind::Numeric => "numeric",
            Kind::Binned(_) => "numeric, in bins",
        },
        levels: count(feature.levels.len() as u64),
        cost: if feature.weight == 1.0 {
            distance
        } else {
            format!("{distance}, times {}", number(feature.weight))
        },
        rules: rules(feature),
    }
}

fn rules(feature: &Levels) -> String {
    let rules = &feature.rules;
    if rules.immutable {
        return "never changes".to_owned();
    }
    let mut said = Vec::new();
    match rules.direction {
        Some(Direction::Increase) => said.push("only up".to_owned()),
        Some(Direction::Decrease) => said.push("only down".to_owned()),
        None => {}
    }
    match rules.max_step {
        Some(Step::Levels(levels)) => {
            said.push(format!("at most {}", several(levels as u64, "level")))
        }
        Some(Step::Units(units)) => said.push(format!("by at most {}", number(units))),
        None => {}
    }
    if !rules.not_a_target.is_empty() {
        said.push(format!("never to {}", list(&rules.not_a_target, "or")));
    }
    for (from, to) in &rules.forbidden {
        said.push(format!("not from {from} to {to}"));
    }
    if !rules.linked.is_empty() {
        said.push(format!("only together with {}", list(&rules.linked, "and")));
    }
    if said.is_empty() {
        return "any change".to_owned();
    }
    said.join("; ")
}
