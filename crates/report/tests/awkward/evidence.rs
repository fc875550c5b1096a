//! Evidence for the awkward audit, written by hand: the first finding of each definition passes, the
//! second stands by the false discovery rate only, the others stand against nothing. The last
//! definition was not tested.

use facts_engine::definitions;
use facts_engine::evidence::{
    BootstrapIntervals, Evidence, FindingIntervals, FindingStability, Gathering, HeldOut,
    HeldOutTest, HoldOut, Interval, Outcome, PairTested, Source, Stability, Tested, Tests,
};
use facts_engine::{Audit, ranking::Ranking};
use facts_report::Record;

use super::{IMAGE, SCRIPT};

/// The record with evidence.
pub(crate) fn with_evidence(mut record: Record) -> Record {
    let audit = &record.audit;
    let rank = |id: &String| {
        let definition = definitions::parse(id).expect("a definition");
        audit.rank(definition.as_ref())
    };
    let rankings: Vec<Ranking> = record.definitions.iter().map(rank).collect();
    let (_, tested) = rankings.split_last().expect("definitions");
    let variants: Vec<String> = (1..=20).map(|n| format!("sample {n} {SCRIPT}")).collect();
    record.evidence = Some(Evidence {
        gathering: Gathering {
            detailed: 1,
            ..Gathering::default()
        },
        tests: (tested.iter())
            .map(|ranking| tests(audit, ranking))
            .collect(),
        intervals: tested
            .iter()
            .filter_map(|ranking| intervals(audit, ranking))
            .collect(),
        stability: Some(Stability {
            variants,
            findings: tested.iter().filter_map(stability).collect(),
        }),
        hold_out: Some(hold_out(audit, &rankings[0])),
    });
    record
}

fn tests(audit: &Audit, ranking: &Ranking) -> Tests {
    let mut tested = vec![None; audit.subgroups.len()];
    for (place, ranked) in ranking.ranked.iter().enumerate() {
        let [p, family_wise, false_discovery] = match (ranked.rank, place) {
            (None, _) => [1.0, 1.0, 1.0],
            (_, 0) => [0.000_12, 0.004, 0.000_6],
            (_, 1) => [0.002, 0.2, 0.01],
            (_, 2) => [0.04, 0.61, 0.2],
            (_, place) => [0.06 + place as f64 / 1000.0, 1.0, 0.7],
        };
        tested[ranked.subgroup] = Some(Tested {
            p,
            family_wise,
            false_discovery,
            source: if place == 0 {
                Source::Exact
            } else {
                Source::Permutations
            },
            least_score: match place % 3 {
                0 => Some(0.23),
                1 => None,
                _ => Some(f64::INFINITY),
            },
            least_gap: 0.0,
            together: None,
            gap_p: None,
        });
    }
    Tests {
        definition: ranking.definition.clone(),
        tested,
        cut_off: Some(0.001),
        cut_off_together: None,
        pairs: pairs(ranking),
    }
}

/// Of the first finding, which passes: one pair of groups differs, and another does not.
fn pairs(ranking: &Ranking) -> Vec<PairTested> {
    let Some(first) = ranking.unfair().first() else {
        return Vec::new();
    };
    let pair = |other: usize, together: f64| PairTested {
        subgroup: first.subgroup,
        groups: [0, other],
        against: vec![0],
        score: first.assessment.score,
        p: 0.001,
        together,
        source: Source::Exact,
    };
    vec![pair(1, 0.03), pair(2, 0.4)]
}

fn intervals(audit: &Audit, ranking: &Ranking) -> Option<FindingIntervals> {
    let first = ranking.unfair().first()?;
    let score = first.assessment.score;
    let both = |low: f64, high: f64| BootstrapIntervals {
        percentile: Interval { low, high },
        bca: score.is_finite().then_some(Interval {
            low: low / 2.0,
            high: high / 2.0,
        }),
    };
    Some(FindingIntervals {
        definition: ranking.definition.clone(),
        subgroup: first.subgroup,
        values: vec![both(0.125, 0.5); audit.groups.len()],
        gap: both(-score, -0.125),
        score: both(0.125, score),
        infinite: if score.is_finite() { 0.0 } else { 0.83 },
    })
}

fn stability(ranking: &Ranking) -> Option<FindingStability> {
    let first = ranking.unfair().first()?;
    let outcome = |variant: usize| {
        (variant != 3).then(|| Outcome {
            rank: (variant != 4).then_some(2),
            of: 30,
            score: if variant == 4 {
                0.0
            } else {
                first.assessment.score
            },
            against: vec![SCRIPT.to_owned()],
            same_groups: variant != 4,
            holds: variant > 4,
        })
    };
    Some(FindingStability {
        definition: ranking.definition.clone(),
        subgroup: first.subgroup,
        among_first: true,
        outcomes: (0..20).map(outcome).collect(),
    })
}

fn hold_out(audit: &Audit, ranking: &Ranking) -> HoldOut {
    let of = |audit: &Audit| {
        audit
            .groups
            .iter()
            .map(|group| group.affected / 2)
            .collect()
    };
    let members = vec![11; audit.groups.len()];
    let found = |predicate: String, tested| HeldOut {
        definition: ranking.definition.clone(),
        predicate,
        found_members: members.clone(),
        found_score: 0.5,
        found_against: vec![SCRIPT.to_owned()],
        tested,
    };
    HoldOut {
        share: 0.5,
        found_among: of(audit),
        tested_among: of(audit),
        findings: vec![
            found(
                format!("job = {IMAGE}"),
                Some(HeldOutTest {
                    members: members.clone(),
                    score: 0.4,
                    against: vec![SCRIPT.to_owned()],
                    p: 0.003,
                    source: Source::Bound,
                    family_wise: 0.03,
                    confirmed: true,
                }),
            ),
            found("city = B".to_owned(), None),
            found(
                "city = C, D".to_owned(),
                Some(HeldOutTest {
                    members: members.clone(),
                    score: 0.6,
                    against: vec!["A & B".to_owned()],
                    p: 0.9,
                    source: Source::Permutations,
                    family_wise: 1.0,
                    confirmed: false,
                }),
            ),
        ],
    }
}
