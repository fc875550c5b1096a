//! One refused person: what would turn the answer for them, and how people like them fare.

use facts_engine::answer::{GroupPeople, Person, Persons, Turning};
use facts_engine::population::{Kind, Population};
use serde::Serialize;

use crate::answer::{Answered, words};
use crate::grid::{Grid, Side};
use crate::report::Report;
use crate::text::{Palette, count, hanging, number, styled};

/// One refused person, in words.
#[derive(Clone, Debug, Serialize)]
pub struct PersonPage {
    /// The number of the profile.
    pub profile: usize,
    /// The name of their group.
    pub group: String,
    /// How many people have this profile.
    pub people: u64,
    /// How many people that is, in words.
    pub who: String,
    /// What is known of them, feature by feature.
    pub values: Vec<PersonValue>,
    /// What would turn the answer, in a sentence.
    pub headline: String,
    /// How many actions are valid for them.
    pub valid: usize,
    /// Those that turn the answer, cheapest first.
    pub turning: Vec<TurningRow>,
    /// People with the same level in every feature.
    pub alike: Fare,
    /// People of the closest subgroup; none if they belong to no ranked one.
    pub closest: Option<Fare>,
}

/// What is known of somebody in a feature.
#[derive(Clone, Debug, Serialize)]
pub struct PersonValue {
    /// The feature's name.
    pub feature: String,
    /// Their level.
    pub level: String,
    /// Their own value, where the level is a bin of several.
    pub value: Option<String>,
    /// Whether an action may change it.
    pub may_change: bool,
}

/// A change that turns the answer.
#[derive(Clone, Debug, Serialize)]
pub struct TurningRow {
    /// What changes.
    pub change: String,
    /// What it costs.
    pub cost: f64,
    /// The same as it is read.
    pub cost_text: String,
}

/// How some people fare, group by group.
#[derive(Clone, Debug, Serialize)]
pub struct Fare {
    /// The predicate that describes them; empty for people who are alike in everything.
    pub predicate: String,
    /// How they fare, in a sentence.
    pub sentence: String,
    /// The same as a table.
    pub table: Grid,
}

/// A refused profile in a list.
#[derive(Clone, Debug, Serialize)]
pub struct PersonRow {
    /// The number of the profile.
    pub profile: usize,
    /// The name of their group.
    pub group: String,
    /// How many people have it.
    pub people: u64,
    /// What is known of them, feature by feature.
    pub values: Vec<PersonValue>,
    /// What the cheapest way out costs; `–` if there is none.
    pub way: String,
}

fn values(population: &Population, profile: usize) -> Vec<PersonValue> {
    let features = population.features().iter().enumerate();
    let value = |(place, feature): (usize, &facts_engine::population::Levels)| {
        let level = population.level(place, profile);
        let binned = matches!(feature.kind, Kind::Binned(_)) && feature.missing != Some(level);
        PersonValue {
            feature: feature.name.trim().to_owned(),
            level: feature.label(level).trim().to_owned(),
            value: binned.then(|| population.value(place, profile).label()),
            may_change: !feature.rules.immutable,
        }
    };
    features.map(value).collect()
}

/// Refused profiles as rows of a list.
pub fn rows(
    report: &Report<'_>,
    population: &Population,
    persons: &Persons<'_>,
    profiles: &[usize],
) -> Vec<PersonRow> {
    let groups = &report.record.audit.groups;
    let row = |&profile: &usize| {
        let way = persons.way(profile);
        let group = persons.group(profile).map(|g| groups[g].name.trim());
        PersonRow {
            profile,
            group: group.unwrap_or_default().to_owned(),
            people: population.people(profile),
            values: values(population, profile),
            way: cost(way.is_finite().then_some(way)),
        }
    };
    profiles.iter().map(row).collect()
}

/// One refused person by the number of their profile; none if nobody refused has it.
pub fn page(
    report: &Report<'_>,
    population: &Population,
    persons: &Persons<'_>,
    profile: usize,
) -> Option<PersonPage> {
    let person = persons.person(profile)?;
    let answered = report.answered()?;
    let audit = &report.record.audit;
    let row = |one: &Turning| TurningRow {
        change: audit.changes[one.change].text(&audit.features),
        cost: one.cost,
        cost_text: number(one.cost),
    };
    let turning: Vec<TurningRow> = person.turning.iter().map(row).collect();
    let features = audit.features.len();
    let alike = match features {
        1 => "the same level in the one feature".to_owned(),
        features => format!("the same level in all {features} features"),
    };
    Some(PersonPage {
        profile,
        group: answered.group(person.group).to_owned(),
        people: person.people,
        who: who(&answered, &person),
        values: values(population, profile),
        headline: headline(person.valid, &turning),
        valid: person.valid,
        turning,
        alike: fare(
            &answered,
            String::new(),
            &format!("Of the people with {alike},"),
            &person.alike,
        ),
        closest: person.closest.as_ref().map(|closest| {
            let subgroup = &audit.subgroups[closest.subgroup];
            let described = "In this subgroup, which has people of every group,";
            let predicate = audit.text(&subgroup.predicate);
            fare(&answered, predicate, described, &closest.people)
        }),
    })
}

fn who(answered: &Answered<'_>, person: &Person) -> String {
    let group = answered.called(person.group);
    match person.people {
        1 => format!("One refused person of {group} has this profile."),
        people => format!(
            "{} refused people of {group} have this profile.",
            count(people)
        ),
    }
}

fn headline(valid: usize, turning: &[TurningRow]) -> String {
    let actions = match valid {
        0 => {
            return "This person belongs to no ranked subgroup, so there is no valid action to try."
                .to_owned();
        }
        1 => "the one valid action".to_owned(),
        valid => format!("the {} valid actions", count(valid as u64)),
    };
    match turning {
        [] if valid == 1 => "The one valid action would not turn the answer.".to_owned(),
        [] => format!("None of {actions} would turn the answer."),
        [only] if valid == 1 => format!(
            "The one valid action would turn the answer: {}, at a cost of {}.",
            only.change, only.cost_text
        ),
        [only] => format!(
            "One of {actions} would turn the answer: {}, at a cost of {}.",
            only.change, only.cost_text
        ),
        [first, ..] => format!(
            "{} of {actions} would turn the answer. The cheapest costs {}: {}.",
            count(turning.len() as u64),
            first.cost_text,
            first.change
        ),
    }
}

fn cost(cost: Option<f64>) -> String {
    cost.map_or_else(|| "–".to_owned(), number)
}

/// How people fare, by group.
fn fare(answered: &Answered<'_>, predicate: String, whose: &str, people: &[GroupPeople]) -> Fare {
    let mut table = Grid::new([
        ("group", Side::Left),
        ("people", Side::Right),
        ("refused", Side::Right),
        ("with a way out", Side::Right),
        ("cheapest", Side::Right),
        ("median cost", Side::Right),
        ("dearest", Side::Right),
    ]);
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for (g, group) in people.iter().enumerate() {
        // Nothing is suppressed here, so ways are known.
        let ways = group.ways.as_deref().unwrap_or_default();
        let open: u64 = ways.iter().map(|ways| ways.people).sum();
        table.row([
            answered.called(g),
            count(group.people),
            count(group.refused),
            count(open),
            cost(ways.first().map(|ways| ways.cost)),
            cost(group.median_cost()),
            cost(ways.last().map(|ways| ways.cost)),
        ]);
        if group.people == 0 {
            missing.push(answered.called(g));
            continue;
        }
        there.push(format!(
            "{} of {} {} {} refused{}",
            count(group.refused),
            count(group.people),
            answered.people_of(g),
            if group.refused == 1 { "is" } else { "are" },
            with_a_way(group.refused, open),
        ));
    }
    let mut sentence = format!("{whose} {}.", there.join("; "));
    if !missing.is_empty() {
        sentence += &format!(
            " There is nobody of {} among them.",
            words::listed(&missing, "or")
        );
    }
    Fare {
        predicate,
        sentence,
        table,
    }
}

fn with_a_way(refused: u64, open: u64) -> String {
    match (refused, open) {
        (0, _) => String::new(),
        (1, 0) => ", without a way out".to_owned(),
        (1, _) => ", with a way out".to_owned(),
        (_, 0) => ", none of them with a way out".to_owned(),
        (refused, open) if refused == open => ", all of them with a way out".to_owned(),
        (_, open) => format!(", {} of them with a way out", count(open)),
    }
}

/// A person for a terminal.
pub fn text(page: &PersonPage, palette: &Palette) -> String {
    let plain = Palette::PLAIN.who;
    let heading = |text: &str| format!("\n{}\n", styled(palette.heading, text));
    let lines = |text: &str| hanging(text, "  ", "  ", plain).join("\n") + "\n";
    let mut all = format!(
        "{}\n",
        styled(
            palette.heading,
            format!("Profile {}: {}", page.profile, page.who)
        )
    );
    let mut known = Grid::new([
        ("feature", Side::Left),
        ("level", Side::Left),
        ("", Side::Left),
    ]);
    for value in &page.values {
        let own = value.value.as_deref();
        let level = own.map_or_else(
            || value.level.clone(),
            |own| format!("{own}, in {}", value.level),
        );
        let aside = if value.may_change {
            ""
        } else {
            "may not change"
        };
        known.row([value.feature.clone(), level, aside.to_owned()]);
    }
    all += &known.text(2);
    all += &heading("What would turn the answer");
    all += &lines(&page.headline);
    if page.turning.len() > 1 {
        let mut ways = Grid::new([("cost", Side::Right), ("change", Side::Left)]);
        for one in &page.turning {
            ways.row([one.cost_text.clone(), one.change.clone()]);
        }
        all += &ways.text(2);
    }
    all += &heading("People like them");
    all += &lines(&page.alike.sentence);
    all += &page.alike.table.text(2);
    if let Some(closest) = &page.closest {
        all += &heading(&format!("The closest subgroup: {}", closest.predicate));
        all += &lines(&closest.sentence);
        all += &closest.table.text(2);
    }
    all
}

/// Several profiles for a terminal, the first of so many.
pub fn list(rows: &[PersonRow], matching: usize) -> String {
    let mut grid = Grid::new([
        ("profile", Side::Right),
        ("group", Side::Left),
        ("people", Side::Right),
        ("way out", Side::Right),
        ("values", Side::Left),
    ]);
    for row in rows {
        let known = row.values.iter();
        let known = known.map(|one| {
            format!(
                "{} = {}",
                one.feature,
                one.value.as_ref().unwrap_or(&one.level)
            )
        });
        grid.row([
            row.profile.to_string(),
            row.group.clone(),
            count(row.people),
            row.way.clone(),
            known.collect::<Vec<_>>().join(", "),
        ]);
    }
    let shown = match rows.len() {
        shown if shown < matching => format!(", the first {shown}"),
        _ => String::new(),
    };
    format!(
        "{} refused profiles match{shown}:\n{}",
        count(matching as u64),
        grid.text(2)
    )
}
