//! How often chance is taken for a finding, and how often what was planted is found: writes
//! `docs/evidence-simulations.md`.
//!
//! `cargo run --release -p facts-verification --example simulations`; with the number of repeats as
//! an argument it makes so many. The tables of power of the tests as they were are read from
//! `verification/records/evidence_before.md`.
#![allow(clippy::print_stdout)]

use std::fmt::Write;
use std::path::Path;

use facts_verification::simulation::{
    ALPHA, DEFINITIONS, Effect, POWER, Power, Repeat, Truth, World, false_findings, fixed_at_most,
    fixed_together, found_by_any, normal_quantile, stated_power,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const REPEATS: u64 = 250;

/// How many times as many repeats there are where nothing is to be found: a rate near 0.05 needs more
/// of them to be told from 0.05.
const MORE_FOR_CHANCE: u64 = 4;

fn main() -> Result<(), Failure> {
    let asked = std::env::args().nth(1);
    let repeats = asked.as_deref().map_or(Ok(REPEATS), str::parse)?;
    let profile = [" --release", ""][usize::from(cfg!(debug_assertions))];
    let mut page = format!(
        "# Simulations: is chance taken for a finding, is what is there found?\n\n\
         Made by `cargo run{profile} -p facts-verification --example simulations {repeats}`, with {} \
         repeats where there is\nnothing to find and {repeats} where there is something.\n\
         In each repeat people are made up (`verification/src/simulation.rs` says how), subgroups and \
         actions are mined\nfrom the start, and everything is tested. `verification/tests/evidence.rs` \
         does the same with 200 repeats on every\nrun of the tests.\n\n\
         [What the tests are](evidence.md). Beside these: [pairs of three groups](../verification/records/pairs.md), \
         [audits compared, series,\nand bounds of gaps](../verification/records/comparisons.md), \
         [passes by the number of shuffles](../verification/records/tails.md).\n\n",
        repeats * MORE_FOR_CHANCE
    );
    nulls(&mut page, repeats * MORE_FOR_CHANCE)?;
    power(&mut page, repeats)?;
    together(&mut page, repeats)?;
    print!("{page}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::write(root.join("docs/evidence-simulations.md"), page)?;
    Ok(())
}

fn nulls(page: &mut String, repeats: u64) -> Result<(), Failure> {
    // Enough to tell what passes for all definitions together.
    let world = |truth| World {
        people: 800,
        shuffles: 399,
        truth,
    };
    let truths = [Truth::Shuffled, Truth::SharesDiffer, Truth::NearPhi];
    let worlds = truths.map(|truth| world(truth).repeats(repeats));
    let worlds: Vec<Vec<Repeat>> = worlds.into_iter().collect::<Result<_, _>>()?;
    let error = 2.0 * (ALPHA * (1.0 - ALPHA) / repeats as f64).sqrt();
    writeln!(
        page,
        "## Nothing to find\n\n\
         How often any subgroup passes at α = {ALPHA}, family-wise and by false discovery rate (FDR), \
         though nothing depends on\nthe group. At most {ALPHA} is right, for both, since whatever is \
         found is false; the binomial error of {repeats} repeats is ±{error:.3} \
         (two standard errors).\n\n\
         - *Labels shuffled*: who belongs to which group is drawn at random; {} subgroups on average.\n\
         - *Shares differ*: the second group is 10 % of one area and 90 % of another, but what helps \
         does not depend on\n  the area; {} subgroups on average.\n\
         - *Ties near φ*: what helps anybody helps three of ten, so that scores of φ = 0.3 are infinite \
         by chance in every\n  subgroup; {} subgroups on average.\n\n\
         | definition | labels shuffled | FDR | shares differ | FDR | ties near φ | FDR |\n\
         | --- | --- | --- | --- | --- | --- | --- |",
        mined(&worlds[0]),
        mined(&worlds[1]),
        mined(&worlds[2])
    )?;
    let share = |wrong: usize| format!("{:.3}", wrong as f64 / repeats as f64);
    let wrong: Vec<Vec<[usize; 2]>> = worlds.iter().map(|made| false_findings(made)).collect();
    for (d, definition) in DEFINITIONS.iter().enumerate() {
        let row = wrong.iter().flat_map(|wrong| wrong[d]).map(share);
        writeln!(
            page,
            "| {definition} | {} |",
            row.collect::<Vec<_>>().join(" | ")
        )?;
    }
    let all = DEFINITIONS.len();
    writeln!(
        page,
        "\nEach definition is a family of its own. How often chance passes by any of these {all}: each \
         at α; for all of them together by\none step-down over all pairs of a definition and a subgroup \
         (what headlines, stories and verdicts use); and with p\ntimes {all}, as headlines had it \
         before.\n\n\
         | | labels shuffled | shares differ | ties near φ |\n| --- | --- | --- | --- |"
    )?;
    let any: Vec<[usize; 3]> = worlds.iter().map(|made| found_by_any(made)).collect();
    for (by, name) in [
        "each at α",
        "one step-down over all",
        "p times their number",
    ]
    .iter()
    .enumerate()
    {
        let row: Vec<String> = any.iter().map(|any| share(any[by])).collect();
        writeln!(page, "| {name} | {} |", row.join(" | "))?;
    }
    let shuffled = &worlds[0];
    writeln!(
        page,
        "\nOne subgroup that was chosen beforehand (nobody has a job there): how often its own p-value \
         is at most a limit.\nAt most the limit is right.\n\n\
         | definition | 0.01 | 0.05 | 0.1 | 0.2 | 0.5 |\n| --- | --- | --- | --- | --- | --- |"
    )?;
    let limits = [0.01, 0.05, 0.1, 0.2, 0.5].map(|limit| fixed_at_most(shuffled, limit));
    for (d, definition) in DEFINITIONS.iter().enumerate() {
        let shares = limits
            .each_ref()
            .map(|shares| format!("{:.3}", shares[d][0]));
        writeln!(page, "| {definition} | {} |", shares.join(" | "))?;
    }
    Ok(())
}

fn power(page: &mut String, repeats: u64) -> Result<(), Failure> {
    writeln!(
        page,
        "\n## Something to find\n\n\
         Those without a job (about a quarter of the people, 40 % of them in the second group) have \
         less luck if they are\nof the second group: every action helps them less often by so many \
         percentage points. How often that subgroup passes\nat α = {ALPHA}: alone, among all \
         subgroups family-wise, and by false discovery rate (FDR); beside it the same before gaps\nbroke \
         ties ([record](../verification/records/evidence_before.md))."
    )?;
    let before = include_str!("../records/evidence_before.md");
    let mut cells = String::new();
    let mut found = Vec::new();
    for cell in POWER {
        let made = cell.world().repeats(repeats)?;
        let members: Vec<&Vec<u64>> = made
            .iter()
            .filter_map(|r| r.fixed_members.as_ref())
            .collect();
        let mean = |g: usize| {
            let sum: u64 = members.iter().map(|members| members[g]).sum();
            sum as f64 / members.len().max(1) as f64
        };
        writeln!(
            cells,
            "\n{}\n\n{:.0} and {:.0} members on average, {} subgroups.\n\n\
             | definition | alone | family-wise | FDR | before: alone | family-wise | FDR |\n\
             | --- | --- | --- | --- | --- | --- | --- |",
            cell.heading(),
            mean(0),
            mean(1),
            mined(&made)
        )?;
        let at_most = fixed_at_most(&made, ALPHA);
        for (definition, &shares) in DEFINITIONS.iter().zip(&at_most) {
            let was = stated_power(before, cell, definition).ok_or("no such power before")?;
            let shares = shares.into_iter().chain(was);
            let shares: Vec<String> = shares.map(|share| format!("{share:.3}")).collect();
            writeln!(cells, "| {definition} | {} |", shares.join(" | "))?;
        }
        found.push(at_most);
    }
    to_find(page, &found, repeats)?;
    page.push_str(&cells);
    Ok(())
}

/// What each definition has to find in each cell, computed from the constants of the world, beside how often it is
/// found: why Equal Cost of Effectiveness and Equal Mean Recourse cannot have the power of Equal Effectiveness
/// everywhere.
fn to_find(page: &mut String, found: &[Vec<[f64; 3]>], repeats: u64) -> Result<(), Failure> {
    const BASE: &str = "equal-effectiveness:micro";
    type Find = fn(Power) -> Effect;
    const OTHERS: [(&str, Find); 3] = [
        ("equal-cost-of-effectiveness:micro:0.3", |cell| {
            cell.of_cost(0.3)
        }),
        ("equal-cost-of-effectiveness:micro:0.5", |cell| {
            cell.of_cost(0.5)
        }),
        ("equal-mean-recourse", Power::of_means),
    ];
    let place = |id: &str| DEFINITIONS.iter().position(|one| *one == id);
    let base = place(BASE).ok_or("no such definition")?;
    let asked = normal_quantile(1.0 - ALPHA / 2.0);
    writeln!(
        page,
        "\n### What each definition has to find\n\n\
         At any cost, 60 % of the first group have a way, and so many points less of the second: that is what Equal \
         Effectiveness\nsees. For φ = 0.5 the same cost decides. A share of 0.3 is reached one step cheaper, where nobody \
         without training is\nhelped: there 37 % of the first group have a way, and the gap is two thirds as wide. Within a \
         budget of 2 it is a third as\nwide. Equal (Conditional) Mean Recourse looks only at those who have a way, and what it \
         costs them hardly differs.\n\n\
         The table is worked out from the constants of the made-up world (`verification/src/simulation.rs`), but for what is \
         *found*.\n\n\
         - *z*: the true difference in standard errors, at the average number of members.\n\
         - *About*: Φ(z − {asked:.2}), how often a test at α = {ALPHA} finds so much. *Found*: how often it was, alone.\n\
         - *Family-wise*: how often it was found among all subgroups; before it, *about*: Φ(z − c), with the c that \
         Equal\n  Effectiveness needs to be found as often as it was, among the same subgroups. Where that was nearly \
         always, there is no c.\n\
         - *Of EE*: what was found, as a part of what Equal Effectiveness found in the same world: alone, family-wise.\n\n\
         | people | gap | definition | first | second | people compared | z | about | found | about | family-wise | of EE |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    )?;
    // By definition: the cells in which it has less than half the power of Equal Effectiveness, alone or family-wise.
    let mut short: Vec<Vec<String>> = vec![Vec::new(); OTHERS.len()];
    let nearly_all = 1.0 - 2.0 / repeats as f64;
    for (cell, found) in POWER.iter().zip(found) {
        let [alone, family, _] = found[base];
        let effect = cell.of_effectiveness();
        let threshold =
            (family > 0.0 && family < nearly_all).then(|| effect.errors - normal_quantile(family));
        let row = |id: &str, effect: Effect, shares: [f64; 3], of_base: &str| {
            let percent = id != "equal-mean-recourse";
            let truth = effect.truth.map(|truth| match percent {
                true => format!("{:.0} %", truth * 100.0),
                false => format!("{truth:.2}"),
            });
            let about = threshold.map_or("–".to_owned(), |c| format!("{:.2}", effect.power(c)));
            format!(
                "| {} | {} | {id} | {} | {} | {:.0} and {:.0} | {:.1} | {:.2} | {:.2} | {about} | {:.2} | {of_base} |",
                cell.people,
                cell.gap,
                truth[0],
                truth[1],
                effect.people[0],
                effect.people[1],
                effect.errors,
                effect.power(asked),
                shares[0],
                shares[1],
            )
        };
        writeln!(page, "{}", row(BASE, effect, found[base], ""))?;
        for ((id, effect), short) in OTHERS.into_iter().zip(&mut short) {
            let shares = found[place(id).ok_or("no such definition")?];
            let parts = [shares[0] / alone, shares[1] / family];
            if parts.iter().any(|part| *part < 0.5) {
                short.push(format!("{}/{}", cell.people, cell.gap));
            }
            let of_base = parts.map(|part| format!("{part:.2}")).join(", ");
            writeln!(page, "{}", row(id, effect(*cell), shares, &of_base))?;
        }
    }
    writeln!(
        page,
        "\nAt least half of the power of Equal Effectiveness, alone and family-wise:\n"
    )?;
    for ((id, _), short) in OTHERS.into_iter().zip(&short) {
        let said = match short.as_slice() {
            [] => "in all worlds".to_owned(),
            some if some.len() == POWER.len() => "in no world".to_owned(),
            some => format!("in all worlds but {}", some.join(", ")),
        };
        writeln!(page, "- {id}: {said}.")?;
    }
    writeln!(
        page,
        "\nWith 3,200 people and a gap of 10, the share of the second group is φ itself (30 % and 50 %): in about half of the samples \
         both groups\nreach φ at that cost, and the definition sees no gap there at all.\n\n\
         Where it is less, *about* says that a test of the same size which knew nothing but the numbers compared could hardly do \
         better:\nthe effect that the definition asks for is that much smaller, in standard errors, than the one that Equal \
         Effectiveness sees."
    )?;
    Ok(())
}
/// Two ways to look at all definitions together. With fewer shuffles the p-value times their number could
/// not be as small as α, whatever was found, and there would be nothing to compare.
fn together(page: &mut String, repeats: u64) -> Result<(), Failure> {
    let shuffles = 999;
    writeln!(
        page,
        "\n## All definitions together\n\n\
         How often the planted subgroup passes under at least one definition for all {} together, with \
         {shuffles} shuffles and {repeats}\nrepeats. (With 199, as above, p times their number is \
         never at most {ALPHA}.)\n\n\
         | people | gap | one step-down over all | p times their number |\n| --- | --- | --- | --- |",
        DEFINITIONS.len()
    )?;
    for cell in &POWER[..2] {
        let world = World {
            shuffles,
            ..cell.world()
        };
        let found = fixed_together(&world.repeats(repeats)?);
        let [joint, times] = found.map(|found| found as f64 / repeats as f64);
        let (people, gap) = (cell.people, cell.gap);
        writeln!(page, "| {people} | {gap} | {joint:.3} | {times:.3} |")?;
    }
    Ok(())
}

fn mined(repeats: &[Repeat]) -> usize {
    let all: usize = repeats.iter().map(|repeat| repeat.subgroups).sum();
    all / repeats.len().max(1)
}
