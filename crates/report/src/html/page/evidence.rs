//! What the page says about evidence.

use facts_engine::evidence::Gathering;

use super::{Fact, several};
use crate::csc::Csc;
use crate::evidence::{Stands, grids, words};
use crate::record::Record;
use crate::report::Report;
use crate::text::count;

/// What supports one finding.
pub(in super::super) struct Support {
    /// Whether it was tested and does not pass.
    pub(in super::super) is_grey: bool,
    pub(in super::super) passes: bool,
    /// What it stands against, in a word or two.
    pub(in super::super) badge: &'static str,
    pub(in super::super) lines: Vec<String>,
    /// How it fares in each variant of the audit; none if that was not asked for.
    pub(in super::super) variants: Vec<[String; 6]>,
}

/// Findings of one part of the people, tested among the others.
pub(in super::super) struct HoldOutPart {
    pub(in super::super) about: String,
    pub(in super::super) rows: Vec<HoldOutRow>,
}

/// One of them.
pub(in super::super) struct HoldOutRow {
    pub(in super::super) definition: String,
    pub(in super::super) cells: [String; 8],
    pub(in super::super) confirmed: bool,
}

/// What supports a finding; none if no evidence was gathered.
pub(super) fn support(csc: &Csc) -> Option<Support> {
    let evidence = csc.evidence.as_ref()?;
    let badge = match &evidence.test {
        None => "Not tested",
        Some(test) => match test.stands {
            Stands::FamilyWise => "Passes",
            stands => words::verdict(stands),
        },
    };
    Some(Support {
        is_grey: csc.is_grey(),
        passes: evidence.passes() == Some(true),
        badge,
        lines: words::lines(csc),
        variants: (evidence.stability.iter())
            .flat_map(|followed| followed.variants.iter().map(grids::variant_cells))
            .collect(),
    })
}

/// What the people who were held out say; none if nobody was.
pub(super) fn hold_out(report: &Report<'_>) -> Option<HoldOutPart> {
    let about = words::hold_out(report)?;
    let findings = grids::held_out(report).into_iter();
    Some(HoldOutPart {
        about,
        rows: findings
            .map(|(title, held)| HoldOutRow {
                definition: title.to_owned(),
                cells: grids::held_out_cells(held),
                confirmed: held.tested.as_ref().is_some_and(|tested| tested.confirmed),
            })
            .collect(),
    })
}

/// How evidence was gathered.
pub(super) fn facts(record: &Record) -> Vec<Fact> {
    let Some(found) = &record.evidence else {
        return vec![Fact::text("Gathered", words::NONE)];
    };
    let Gathering {
        seed,
        alpha,
        shuffles,
        resamples,
        detailed,
    } = found.gathering;
    let many = |number: usize| count(number as u64);
    let mut facts = vec![
        Fact::text("Level α", words::level(alpha)),
        Fact::text("Shuffles of each subgroup’s members", many(shuffles)),
        Fact::text("Resamples for intervals", many(resamples)),
        Fact::text(
            "Findings of each definition looked at closely",
            many(detailed),
        ),
        Fact::text("Seed", seed.to_string()),
    ];
    let stability = found.stability.as_ref();
    facts.push(Fact::text(
        "Stability",
        stability.map_or_else(
            || "not asked for".to_owned(),
            |stability| several(stability.variants.len(), "variant"),
        ),
    ));
    let held = found.hold_out.as_ref();
    facts.push(Fact::text(
        "Hold-out",
        held.map_or_else(
            || "not asked for".to_owned(),
            |held| format!("found among {}", words::whole_percent(held.share)),
        ),
    ));
    facts
}
