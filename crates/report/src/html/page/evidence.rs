//! What the page says about evidence.

use super::method::Fact;
use crate::csc::Csc;
use crate::evidence::{Stands, grids, words};
use crate::record::Record;
use crate::report::Report;
use crate::text::count;

/// What supports one finding.
pub(super) struct Support {
    /// Whether it was tested and does not pass.
    pub(super) is_grey: bool,
    pub(super) passes: bool,
    /// What it stands against, in a word or two.
    pub(super) badge: &'static str,
    pub(super) lines: Vec<String>,
    /// How it fares in each variant of the audit; none if that was not asked for.
    pub(super) variants: Vec<[String; 6]>,
}

/// Findings of one part of the people, tested among the others.
pub(super) struct HoldOutPart {
    pub(super) about: String,
    pub(super) rows: Vec<HoldOutRow>,
}

/// One of them.
pub(super) struct HoldOutRow {
    pub(super) definition: String,
    pub(super) cells: [String; 8],
    pub(super) confirmed: bool,
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
    let how = &found.gathering;
    let many = |number: usize| count(number as u64);
    let asked = |told: Option<String>| told.unwrap_or_else(|| "not asked for".to_owned());
    let (stability, held) = (found.stability.as_ref(), found.hold_out.as_ref());
    let variants = stability.map(|found| words::several(found.variants.len() as u64, "variant"));
    let share = held.map(|held| format!("found among {}", words::whole_percent(held.share)));
    vec![
        Fact::text("Level α", words::level(how.alpha)),
        Fact::text(
            "Permutations of each subgroup’s members",
            many(how.shuffles),
        ),
        Fact::text("Bootstrap resamples for intervals", many(how.resamples)),
        Fact::text(
            "Findings of each definition looked at closely",
            many(how.detailed),
        ),
        Fact::text("Seed", how.seed.to_string()),
        Fact::text("Stability", asked(variants)),
        Fact::text("Hold-out", asked(share)),
    ]
}
