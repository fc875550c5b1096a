//! What an audit covered, before any finding: for the terminal and for Markdown.

use facts_engine::Group;
use facts_engine::distribution::{Count, Share};
use facts_engine::ranking::Ranked;

use crate::evidence::{Judging, Stands, words};
use crate::grid::{Grid, Side};
use crate::report::{Column, Report};
use crate::text::{SUPPRESSED, count, effectiveness, number, percent, value};

/// What was audited, line by line: a heading, and what it says.
pub fn facts(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let (record, audit) = (report.record, &report.record.audit);
    let (sizes, population) = (&audit.sizes, &audit.population);
    let mut facts = vec![("Data", format!("{}: {}", record.data.name, rows(report)))];
    facts.push(("Model", model(report)));
    facts.push(("Yes means", record.yes_means()));
    facts.push((
        "Protected",
        format!(
            "{}; {} groups compared",
            record.protected.join(" × "),
            audit.groups.len()
        ),
    ));
    for aside in &audit.set_aside {
        let people = match aside.people {
            Count::Known(people) => format!("{} people", count(people)),
            Count::Suppressed => format!("{SUPPRESSED} number of people"),
        };
        let aside = format!("{} ({people}): {}", aside.name.trim(), aside.why);
        facts.push(("Set aside", aside));
    }
    facts.push((
        "Subgroups",
        format!(
            "{} common to all groups at support {}{}; {} ranked, {} without a valid action",
            count(sizes.common_subgroups as u64),
            audit.settings.support,
            match audit.settings.max_length {
                None => String::new(),
                Some(1) => ", predicates of 1 item".to_owned(),
                Some(most) => format!(", predicates of up to {most} items"),
            },
            count(audit.subgroups.len() as u64),
            count(audit.without_actions.len() as u64),
        ),
    ));
    if let Some(suppression) = audit.suppression {
        facts.push((
            "Suppressed",
            match suppression.removed {
                0 => format!(
                    "counts below {}: no row is shared by fewer people",
                    suppression.k
                ),
                removed => format!(
                    "counts below {}; {} subgroups removed for it",
                    suppression.k,
                    count(removed as u64)
                ),
            },
        ));
    }
    facts.push((
        "Actions",
        format!(
            "{} distinct changes; {} pairs of a subgroup and a valid action",
            count(sizes.changes as u64),
            count(sizes.pairs as u64),
        ),
    ));
    let counterfactual = match sizes.counterfactual_rows_asked {
        0 => "no counterfactual row: this model answers from its own parts".to_owned(),
        rows => format!("{} counterfactual rows", count(rows)),
    };
    facts.push((
        "Asked",
        format!(
            "{} rows of the population, {counterfactual}",
            count(sizes.rows_asked)
        ),
    ));
    facts.push(("Evidence", words::about(record)));
    if !audit.subgroups.is_empty() {
        facts.push(("Shown", report.gaps().sentence(record.is_tested())));
    }
    facts.extend((record.assumptions.iter()).map(|said| ("Columns", said.clone())));
    let notes = population.notices.iter().chain(&record.notes);
    facts.extend(notes.map(|note| ("Note", note.clone())));
    facts
}

/// How many rows were read, and what became of them.
fn rows(report: &Report<'_>) -> String {
    let population = &report.record.audit.population;
    let mut text = format!("{} rows", count(population.rows));
    if population.dropped > 0 {
        let features: Vec<&str> = population
            .dropped_for
            .iter()
            .map(|(feature, _)| feature.as_str())
            .collect();
        text += &format!(
            ", {} dropped for missing values of {}",
            count(population.dropped),
            features.join(", ")
        );
    }
    if population.excluded > 0 {
        text += &format!(", {} without a protected value", count(population.excluded));
    }
    if population.weightless > 0 {
        text += &format!(", {} of weight 0", count(population.weightless));
    }
    text + &format!("; {} people", count(population.people))
}

fn model(report: &Report<'_>) -> String {
    let model = &report.record.model;
    let mut text = format!("{} ({})", model.spec, model.description);
    if let Some(training) = &model.training {
        text += &format!(
            "; fitted here on {} rows to predict {} = {}, audited on the other {} rows, right on {:.1}% of them ({})",
            count(training.train_rows),
            training.label,
            training.favourable.trim(),
            count(training.test_rows),
            training.accuracy * 100.0,
            training.split(),
        );
    }
    match model.reads_protected.as_deref() {
        Some([]) | None => {}
        Some(read) => text += &format!("; READS the protected {}", read.join(", ")),
    }
    text
}

/// The groups: how many people, how many affected, how often the label is favourable.
pub fn groups(report: &Report<'_>) -> Grid {
    let (record, audit) = (report.record, &report.record.audit);
    let mut columns = vec![
        ("group", Side::Left),
        ("people", Side::Right),
        ("affected", Side::Right),
        ("share", Side::Right),
    ];
    if record.base_rates.is_some() {
        columns.push(("favourable label", Side::Right));
    }
    let mut grid = Grid::new(columns);
    for (g, group) in audit.groups.iter().enumerate() {
        let mut row = vec![
            group.name.trim().to_owned(),
            count(group.people),
            count(group.affected),
            percent(Share::new(group.affected, group.people)),
        ];
        if let Some(base) = record
            .base_rates
            .as_ref()
            .and_then(|rates| rates.groups.get(g))
        {
            row.push(percent(Share::new(base.favourable, base.people)));
        }
        grid.row(row);
    }
    grid
}

/// The names of the groups.
pub(crate) fn group_names(report: &Report<'_>) -> Vec<String> {
    let groups = report.record.audit.groups.iter();
    groups.map(|group| group.name.clone()).collect()
}

/// A column of numbers for each group.
fn of_groups(report: &Report<'_>, before: &str) -> Vec<(String, Side)> {
    let groups = report.record.audit.groups.iter();
    let name = |group: &Group| format!("{before}{}", group.name.trim());
    groups.map(|group| (name(group), Side::Right)).collect()
}

/// The ranking analysis: how many share rank 1, and against whom the findings are.
pub fn ranking_analysis(report: &Report<'_>) -> Grid {
    let mut columns = vec![
        ("definition".to_owned(), Side::Left),
        ("unfair".to_owned(), Side::Right),
        ("rank 1".to_owned(), Side::Right),
    ];
    let has_evidence = report.evidence().is_some();
    if has_evidence {
        columns.push(("pass".to_owned(), Side::Right));
    }
    columns.extend(of_groups(report, "against "));
    columns.extend(of_groups(report, "in top 10%: "));
    let mut grid = Grid::new(columns);
    let analysis = report.ranking_analysis();
    for (column, row) in report.columns.iter().zip(&analysis.rows) {
        let mut cells = vec![
            column.ranking.title.clone(),
            count(column.ranking.unfair().len() as u64),
            count(row.rank_one as u64),
        ];
        if has_evidence {
            let pass = report.tally(column).map(|tally| tally.family_wise);
            cells.push(pass.map_or_else(|| "not tested".to_owned(), |n| count(n as u64)));
        }
        let counts = row.against.iter().chain(&row.against_in_top_tenth);
        cells.extend(counts.map(|&n| count(n as u64)));
        grid.row(cells);
    }
    grid
}

/// The aggregated rankings: where the first of one definition (row) stand under another (column).
pub fn aggregated_rankings(report: &Report<'_>) -> Grid {
    let table = report.aggregated_rankings();
    let numbers = (1..=table.definitions.len()).map(|n| (n.to_string(), Side::Right));
    let first = [
        ("no.".to_owned(), Side::Right),
        ("definition".to_owned(), Side::Left),
    ];
    let mut grid = Grid::new(first.into_iter().chain(numbers));
    for (n, (cells, column)) in table.cells.iter().zip(&report.columns).enumerate() {
        let mut row = vec![(n + 1).to_string(), column.ranking.title.clone()];
        row.extend(cells.iter().map(|cell| match cell {
            Some(cell) => format!("{cell:.3}"),
            None => String::new(),
        }));
        grid.row(row);
    }
    grid
}

/// One subgroup under all definitions: the value of each group, score, rank, against.
pub fn all_definitions(report: &Report<'_>, subgroup: usize) -> Grid {
    let own = |column: &Column| {
        let (found, tests) = (report.evidence(), report.tests(column));
        let alpha = found.map_or(0.0, |found| found.gathering.alpha);
        Judging {
            alpha,
            tests,
            tested_at: tests.map(|_| alpha),
            definitions: found.map_or(0, |found| found.tests.len()),
        }
    };
    all_definitions_judged(report, subgroup, &own)
}

/// The same, each definition judged by these tests at their level.
pub fn all_definitions_judged<'j>(
    report: &Report<'_>,
    subgroup: usize,
    judging: &dyn Fn(&Column) -> Judging<'j>,
) -> Grid {
    let groups = &report.record.audit.groups;
    let mut columns = vec![("definition".to_owned(), Side::Left)];
    columns.extend(of_groups(report, ""));
    columns.extend([
        ("score".to_owned(), Side::Right),
        ("rank".to_owned(), Side::Right),
        ("bias against".to_owned(), Side::Left),
    ]);
    let is_tested = |column: &Column| judging(column).tests.is_some();
    let has_evidence = report.evidence().is_some() || report.columns.iter().any(is_tested);
    if has_evidence {
        columns.push(("p".to_owned(), Side::Right));
        columns.push(("family-wise".to_owned(), Side::Right));
        columns.push(("passes".to_owned(), Side::Left));
    }
    let mut grid = Grid::new(columns);
    for column in &report.columns {
        let title = column.ranking.title.clone();
        let mut ranked = column.ranking.ranked.iter();
        let Some(ranked) = ranked.find(|ranked| ranked.subgroup == subgroup) else {
            grid.row([title, SUPPRESSED.to_owned()]);
            continue;
        };
        let assessment = &ranked.assessment;
        let mut row = vec![title];
        row.extend(assessment.values.iter().map(|&v| value(v)));
        row.push(number(assessment.score));
        row.push(
            ranked
                .rank
                .map_or_else(|| "Fair".to_owned(), |rank| rank.to_string()),
        );
        let against = assessment.against.iter().map(|&g| groups[g].name.trim());
        row.push(against.collect::<Vec<_>>().join(", "));
        if has_evidence {
            row.extend(tested_cells(&judging(column), ranked));
        }
        grid.row(row);
    }
    grid
}

/// What the test of a ranked subgroup says: its p-values and whether it passes.
fn tested_cells(judging: &Judging<'_>, ranked: &Ranked) -> [String; 3] {
    let Some((tested, stands)) = judging.of_subgroup(ranked.subgroup) else {
        return [String::new(), String::new(), "not tested".to_owned()];
    };
    let passes = match stands {
        _ if ranked.rank.is_none() => "",
        Stands::FamilyWise => "yes",
        Stands::FalseDiscovery => "by false discovery rate only",
        Stands::CannotTell => "cannot tell",
        Stands::Chance => "no",
    };
    [
        words::p_value(tested.p),
        words::p_value(tested.family_wise),
        passes.to_owned(),
    ]
}

/// The valid actions of a subgroup: cost, and how often each works for each group.
pub fn all_actions(report: &Report<'_>, subgroup: usize) -> Grid {
    let audit = &report.record.audit;
    let subgroup = &audit.subgroups[subgroup];
    let mut columns = vec![("cost".to_owned(), Side::Right)];
    columns.extend(of_groups(report, ""));
    columns.push(("change".to_owned(), Side::Left));
    let mut grid = Grid::new(columns);
    for (a, action) in subgroup.actions.iter().enumerate() {
        let mut row = vec![number(action.cost)];
        let share = |g: usize| effectiveness(subgroup.flips(a, g), subgroup.members[g]);
        row.extend((0..audit.groups.len()).map(share));
        row.push(subgroup.change(a, &audit.changes).text(&audit.features));
        grid.row(row);
    }
    grid
}

/// The effectiveness–cost distributions of a subgroup: a line for each cost level.
pub fn distributions(report: &Report<'_>, subgroup: usize) -> Grid {
    use facts_engine::distribution::Viewpoint::{Macro, Micro};
    let audit = &report.record.audit;
    let subgroup = &audit.subgroups[subgroup];
    let mut columns = vec![("cost up to".to_owned(), Side::Right)];
    for viewpoint in [Micro, Macro] {
        columns.extend(of_groups(report, &format!("{viewpoint} ")));
    }
    let mut grid = Grid::new(columns);
    for (level, cost) in subgroup.cost_levels.iter().enumerate() {
        let mut row = vec![number(*cost)];
        for viewpoint in [Micro, Macro] {
            row.extend((0..audit.groups.len()).map(|g| {
                let share = subgroup.ecd(viewpoint, g, level + 1);
                share.map_or_else(|| SUPPRESSED.to_owned(), percent)
            }));
        }
        grid.row(row);
    }
    grid
}
