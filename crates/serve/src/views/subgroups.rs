//! All subgroups by one definition: filtered, sorted, a window of rows at a time, and as points.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use facts_engine::evidence::Tested;
use facts_engine::ranking::{Ranked, Ranking};
use facts_report::evidence::words;
use facts_report::views::Row;
use facts_report::{AskError, Choice, Report};
use serde::Serialize;

use super::command::{Command, lacking};
use crate::desk::{Desk, Source};
use crate::failure::Failed;
use crate::http::Request;

/// At most so many rows come at once.
const MOST_ROWS: usize = 2000;

/// What is asked for, checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    definition: String,
    alpha: Option<f64>,
    wanted: Option<String>,
    against: Option<String>,
    passing: bool,
    unfair: bool,
    people: Option<(f64, f64)>,
    gap: Option<(f64, f64)>,
    sort: Sort,
    descending: bool,
}

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    /// The order for people.
    People,
    Rank,
    Members,
    Predicate,
    P,
    /// What is compared in one group.
    Value(usize),
}

/// Which rows of what was found are answered, and whether points are.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    rows: Range<usize>,
    points: bool,
}

/// What was found.
#[derive(Serialize)]
pub(crate) struct Answer {
    definition: String,
    title: String,
    alpha: f64,
    /// Whether it is known what passes at α.
    tested: bool,
    /// What the tests say, in words.
    evidence: Option<String>,
    ranked: usize,
    unfair: usize,
    /// Unfair subgroups against each group.
    against: Vec<usize>,
    /// Unfair subgroups that pass, if that is known.
    passing: Option<usize>,
    /// How many subgroups the filters leave, and how many of those the brush.
    matching: usize,
    brushed: usize,
    from: usize,
    rows: Vec<Row>,
    points: Option<Points>,
    command: String,
    /// What the command does not do, in a sentence.
    command_lacks: Option<String>,
}

/// Every subgroup that the filters leave, as columns of numbers.
#[derive(Default, Serialize)]
struct Points {
    people: Vec<u64>,
    /// The score, as a negative number if the second of two groups is worse off; 0 if it is fair.
    /// Null is infinite. Four digits are enough to draw it; brushes are compared with the whole number.
    gap: Vec<Option<f32>>,
    /// The first of the worse-off groups; −1 if it is fair.
    against: Vec<i32>,
    /// 1 if it passes, 0 if it does not, −1 if that is not known.
    passes: Vec<i8>,
}

/// A question that was asked before, and what the filters and the brush left then.
pub(crate) type Remembered = (Asked, Arc<Matching>);

/// What filters and brush leave: places in the ranking.
pub(crate) struct Matching {
    filtered: Vec<usize>,
    brushed: Vec<usize>,
}

impl Asked {
    /// Reads the parameters of a request.
    pub(crate) fn read(request: &Request) -> Result<(Self, Window), Failed> {
        let text = |name: &str| {
            request
                .parameter(name)
                .map(str::trim)
                .filter(|t| !t.is_empty())
        };
        let yes = |name: &str| text(name).is_some_and(|given| given == "1" || given == "true");
        let definition =
            text("definition").ok_or_else(|| Failed::bad("`definition` is missing"))?;
        let sort = text("sort").unwrap_or("people");
        let asked = Self {
            definition: definition.to_owned(),
            alpha: level(request)?,
            wanted: text("where").map(str::to_owned),
            against: text("against").map(str::to_owned),
            passing: yes("passing"),
            unfair: yes("unfair"),
            people: span(request, "people")?,
            gap: span(request, "gap")?,
            sort: Sort::named(sort)
                .ok_or_else(|| Failed::bad(format!("cannot sort by `{sort}`")))?,
            descending: yes("descending"),
        };
        let whole = |name: &str, usual: usize| match text(name) {
            None => Ok(usual),
            Some(given) => (given.parse())
                .map_err(|_| Failed::bad(format!("`{name}` is `{given}`, not a whole number"))),
        };
        let from = whole("from", 0)?;
        let rows = from..from.saturating_add(whole("count", 100)?.min(MOST_ROWS));
        let points = yes("points");
        Ok((asked, Window { rows, points }))
    }
}

/// The level α that is asked for.
pub(crate) fn level(request: &Request) -> Result<Option<f64>, Failed> {
    let Some(given) = request.parameter("alpha").filter(|given| !given.is_empty()) else {
        return Ok(None);
    };
    let alpha = given
        .parse()
        .ok()
        .filter(|alpha| *alpha > 0.0 && *alpha < 1.0);
    let refuse = || {
        Failed::bad(format!(
            "`alpha` is `{given}`; give a number between 0 and 1"
        ))
    };
    alpha.ok_or_else(refuse).map(Some)
}

/// Two numbers, from where to where: `20..300`; either may be `inf` or `-inf`.
fn span(request: &Request, name: &str) -> Result<Option<(f64, f64)>, Failed> {
    let Some(given) = request.parameter(name).filter(|given| !given.is_empty()) else {
        return Ok(None);
    };
    let read = |text: &str| text.parse::<f64>().ok().filter(|number| !number.is_nan());
    let ends = given
        .split_once("..")
        .and_then(|(low, high)| Some((read(low)?, read(high)?)));
    let refuse = || Failed::bad(format!("`{name}` is `{given}`; write it as 20..300"));
    ends.ok_or_else(refuse).map(Some)
}

impl Sort {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "people" => Self::People,
            "rank" => Self::Rank,
            "members" => Self::Members,
            "predicate" => Self::Predicate,
            "p" => Self::P,
            _ => Self::Value(name.strip_prefix("value")?.parse().ok()?),
        })
    }
}

/// The score with the side it is on, for two groups.
fn signed(ranked: &Ranked, groups: usize) -> f64 {
    let found = &ranked.assessment;
    match found.against.first() {
        Some(1) if groups == 2 && found.against.len() == 1 => -found.score,
        _ => found.score,
    }
}

/// The id of the definition asked for, the level, and what filters and brush leave.
fn matching(desk: &mut Desk<'_>, asked: &Asked) -> Result<(String, f64, Arc<Matching>), Failed> {
    let id = desk.column(&asked.definition)?.ranking.definition.clone();
    let alpha = asked.alpha.unwrap_or_else(|| desk.alpha());
    let matching = match desk.remembered.take() {
        Some((before, matching)) if before == *asked => matching,
        _ => Arc::new(find(desk, asked, &id, alpha)?),
    };
    desk.remembered = Some((asked.clone(), Arc::clone(&matching)));
    Ok((id, alpha, matching))
}

/// All entries that filters and brush leave, with what the tests say of them.
pub(crate) fn entries(
    desk: &mut Desk<'_>,
    asked: &Asked,
) -> Result<Vec<(Ranked, Option<Tested>)>, Failed> {
    let (id, alpha, matching) = matching(desk, asked)?;
    let column = desk.known(&id).ok_or_else(Failed::gone)?;
    let tests = desk.tests(&id, alpha);
    let entry = |&place: &usize| {
        let ranked = &column.ranking.ranked[place];
        let tested = tests.and_then(|tests| tests.tested.get(ranked.subgroup).copied()?);
        (ranked.clone(), tested)
    };
    Ok(matching.brushed.iter().map(entry).collect())
}

/// The same as rows, under what they were asked for.
pub(crate) fn rows(desk: &mut Desk<'_>, asked: &Asked) -> Result<Exported, Failed> {
    let (id, alpha, matching) = matching(desk, asked)?;
    let column = desk.known(&id).ok_or_else(Failed::gone)?;
    let tests = desk.tests(&id, alpha);
    let row = |&place: &usize| {
        let ranked = &column.ranking.ranked[place];
        let text = &desk.texts[ranked.subgroup];
        Row::new(&desk.record.audit, text, ranked, tests, alpha)
    };
    Ok(Exported {
        title: column.ranking.title.clone(),
        groups: desk
            .record
            .audit
            .groups
            .iter()
            .map(|group| group.name.clone())
            .collect(),
        rows: matching.brushed.iter().map(row).collect(),
        tested: tests.is_some(),
        definition: id,
        alpha,
    })
}

/// All rows, to be saved.
#[derive(Serialize)]
pub(crate) struct Exported {
    definition: String,
    title: String,
    alpha: f64,
    tested: bool,
    groups: Vec<String>,
    rows: Vec<Row>,
}

/// Answers a question about all subgroups.
pub(crate) fn subgroups(
    desk: &mut Desk<'_>,
    source: &Source,
    asked: &Asked,
    window: &Window,
) -> Result<Answer, Failed> {
    let (id, alpha, matching) = matching(desk, asked)?;
    let column = desk.known(&id).ok_or_else(Failed::gone)?;
    let (audit, ranking) = (&desk.record.audit, &column.ranking);
    let tests = desk.tests(&id, alpha);
    let passes = |ranked: &Ranked| -> Option<bool> {
        let tested = tests?.tested.get(ranked.subgroup)?.as_ref()?;
        Some(ranked.rank.is_some() && tested.passes(alpha))
    };
    let mut against = vec![0; audit.groups.len()];
    for ranked in ranking.unfair() {
        ranked
            .assessment
            .against
            .iter()
            .for_each(|&g| against[g] += 1);
    }
    let rows = matching
        .brushed
        .iter()
        .skip(window.rows.start)
        .take(window.rows.len());
    let row = |&place: &usize| {
        let ranked = &ranking.ranked[place];
        Row::new(audit, &desk.texts[ranked.subgroup], ranked, tests, alpha)
    };
    let own = desk
        .report
        .columns
        .iter()
        .find(|own| own.ranking.definition == id);
    let (command, command_lacks) = command(source, asked, &id, alpha, desk.alpha());
    let evidence = own.filter(|_| asked.alpha.is_none_or(|alpha| alpha == desk.alpha()));
    Ok(Answer {
        evidence: evidence.and_then(|own| words::of_definition(&desk.report, own)),
        title: ranking.title.clone(),
        alpha,
        tested: tests.is_some(),
        ranked: ranking.ranked.len(),
        unfair: ranking.unfair().len(),
        passing: tests.map(|_| {
            let unfair = ranking.unfair().iter();
            unfair
                .filter(|&ranked| passes(ranked) == Some(true))
                .count()
        }),
        against,
        matching: matching.filtered.len(),
        brushed: matching.brushed.len(),
        from: window.rows.start,
        rows: rows.map(row).collect(),
        points: window.points.then(|| {
            let ranked = matching
                .filtered
                .iter()
                .map(|&place| &ranking.ranked[place]);
            points(desk, ranked, &passes)
        }),
        command: command.to_string(),
        command_lacks,
        definition: id,
    })
}

fn points<'r>(
    desk: &Desk<'_>,
    ranked: impl Iterator<Item = &'r Ranked>,
    passes: &dyn Fn(&Ranked) -> Option<bool>,
) -> Points {
    let audit = &desk.record.audit;
    let mut points = Points::default();
    for ranked in ranked {
        let gap = signed(ranked, audit.groups.len());
        let first = ranked.assessment.against.first();
        points.people.push(desk.people[ranked.subgroup]);
        points.gap.push(gap.is_finite().then(|| four_digits(gap)));
        points.against.push(first.map_or(-1, |&g| g as i32));
        points.passes.push(passes(ranked).map_or(-1, i8::from));
    }
    points
}

/// A number with as many digits as a plot can show: fewer to write, to send and to read.
fn four_digits(number: f64) -> f32 {
    if number == 0.0 {
        return 0.0;
    }
    let unit = 10_f64.powi(number.abs().log10().floor() as i32 - 3);
    // Divided by a power of ten where that is exact, so that the digits stay few.
    let digits = (number / unit).round();
    match unit < 1.0 {
        true => (digits / (1.0 / unit).round()) as f32,
        false => (digits * unit.round()) as f32,
    }
}

/// Filters and sorts.
fn find(desk: &Desk<'_>, asked: &Asked, id: &str, alpha: f64) -> Result<Matching, Failed> {
    let audit = &desk.record.audit;
    let column = desk.known(id).ok_or_else(Failed::gone)?;
    let ranking = &column.ranking;
    // Names and conditions are checked where every other form of report has them checked.
    let choice = Choice {
        wanted: asked.wanted.clone(),
        against: asked.against.clone(),
        ..Choice::default()
    };
    let nothing = Report::by(desk.record, Vec::new());
    let showing = choice.showing(&nothing)?;
    let tests = desk.tests(id, alpha);
    if asked.passing && tests.is_none() {
        return Err(AskError::NotTested(vec![id.to_owned()]).into());
    }
    let passes = |ranked: &Ranked| {
        let tested = tests.and_then(|tests| tests.tested.get(ranked.subgroup)?.as_ref());
        ranked.rank.is_some() && tested.is_some_and(|tested| tested.passes(alpha))
    };
    let stays = |ranked: &Ranked| {
        let predicate = &audit.subgroups[ranked.subgroup].predicate;
        let against = showing.filters.against;
        (!asked.unfair || ranked.rank.is_some())
            && against.is_none_or(|g| ranked.assessment.against.contains(&g))
            && showing
                .conditions
                .as_ref()
                .is_none_or(|wanted| wanted.admit(predicate))
            && (!asked.passing || passes(ranked))
    };
    let places = 0..ranking.ranked.len();
    let mut filtered: Vec<usize> = places.filter(|&p| stays(&ranking.ranked[p])).collect();
    sort(desk, asked, ranking, &mut filtered, id, alpha);
    let within = |span: Option<(f64, f64)>, number: f64| {
        span.is_none_or(|(low, high)| low <= number && number <= high)
    };
    let brushed = filtered.iter().copied().filter(|&place| {
        let ranked = &ranking.ranked[place];
        let people = desk.people[ranked.subgroup] as f64;
        within(asked.people, people) && within(asked.gap, signed(ranked, audit.groups.len()))
    });
    let brushed = brushed.collect();
    Ok(Matching { filtered, brushed })
}

/// Sorts places in a ranking; what is equal stays in order of rank.
fn sort(
    desk: &Desk<'_>,
    asked: &Asked,
    ranking: &Ranking,
    places: &mut [usize],
    id: &str,
    alpha: f64,
) {
    let audit = &desk.record.audit;
    let ranked = |place: usize| &ranking.ranked[place];
    let subgroup = |place: usize| ranked(place).subgroup;
    let tests = desk.tests(id, alpha);
    let p = |place: usize| {
        let tested = tests.and_then(|tests| tests.tested.get(subgroup(place))?.as_ref());
        tested.map_or(f64::INFINITY, |tested| tested.family_wise)
    };
    let group = match asked.sort {
        Sort::Value(g) => g,
        _ => 0,
    };
    let value = |place| {
        let values = &ranked(place).assessment.values;
        values.get(group).map_or(0.0, |value| value.number())
    };
    let by: &dyn Fn(usize, usize) -> Ordering = match asked.sort {
        Sort::Rank => &|a, b| a.cmp(&b),
        Sort::Members => &|a, b| {
            let people = |place| desk.people[subgroup(place)];
            people(a).cmp(&people(b))
        },
        Sort::Predicate => &|a, b| desk.texts[subgroup(a)].cmp(&desk.texts[subgroup(b)]),
        Sort::P => &|a, b| p(a).total_cmp(&p(b)),
        Sort::Value(_) => &|a, b| value(a).total_cmp(&value(b)),
        Sort::People => {
            let column = desk.known(id);
            let order =
                column.map(|c| ranking.order_for_people(c.definition.as_ref(), &audit.subgroups));
            let mut at = vec![usize::MAX; ranking.ranked.len()];
            for (place, &ranked) in order.iter().flatten().enumerate() {
                at[ranked] = place;
            }
            places.sort_by_key(|&place| at[place]);
            if asked.descending {
                places.reverse();
            }
            return;
        }
    };
    places.sort_by(|&a, &b| match asked.descending {
        true => by(b, a),
        false => by(a, b),
    });
}

/// The command that lists the same findings, and what it does not do.
fn command(
    source: &Source,
    asked: &Asked,
    id: &str,
    alpha: f64,
    own_alpha: f64,
) -> (Command, Option<String>) {
    let mut lacks = Vec::new();
    let mut command = Command::show(source).with("-d", id);
    if let Some(wanted) = &asked.wanted {
        command = command.with("--where", wanted);
    }
    if let Some(against) = &asked.against {
        command = command.with("--against", against);
    }
    if asked.passing {
        command = command.flag("--passing");
    } else if !asked.unfair {
        command = command.flag("--fair");
    }
    if alpha != own_alpha {
        command = command.at_level(source, alpha, &mut lacks);
    }
    let chosen = [("people", asked.people), ("score", asked.gap)];
    let chosen = chosen.iter().filter(|(_, span)| span.is_some());
    lacks.extend(chosen.map(|(name, _)| format!("choose by {name}")));
    match asked.sort {
        Sort::Rank if !asked.descending => command = command.with("--order", "score"),
        Sort::People if !asked.descending => {}
        _ => lacks.push("sort like that".to_owned()),
    }
    (command.with("--top", "25"), lacking(&lacks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_written_with_four_digits() {
        let written = |number: f64| serde_json::to_string(&four_digits(number)).unwrap();
        for (number, text) in [
            (0.077_312_345, "0.07731"),
            (-0.5, "-0.5"),
            (12.345_678, "12.35"),
            (98_765.4, "98770.0"),
            (0.0, "0.0"),
            (1.0 / 3.0, "0.3333"),
        ] {
            assert_eq!(written(number), text);
        }
    }
}
