//! JSON, for programs. `docs/schema/report.schema.json` says what it holds.
//!
//! Infinite costs and scores are the text `"inf"`, since JSON has no infinity; a count that was
//! suppressed is `null`.

use facts_engine::definitions::GroupValue;
use facts_engine::evidence::{Gathering, HeldOut, HoldOut};
use facts_engine::population::Summary;
use facts_engine::ranking::AggregatedRankings;
use facts_engine::{Group, SetAside, Settings, Sizes, Suppression};
use serde::{Serialize, Serializer};

use crate::answer::AnswerDocument;
use crate::csc::Csc;
use crate::evidence::Tally;
use crate::gaps::Gaps;
use crate::record::{BaseRates, ModelOrigin, Origin};
use crate::report::{Report, Showing};

/// The version of the form of a report in JSON.
pub const REPORT_VERSION: u32 = 2;

/// A number that may be infinite.
#[derive(Serialize)]
#[serde(untagged)]
pub enum JsonNumber {
    /// It is not.
    Finite(f64),
    /// It is.
    Infinite(&'static str),
}

impl From<f64> for JsonNumber {
    fn from(number: f64) -> Self {
        if number.is_finite() {
            Self::Finite(number)
        } else {
            Self::Infinite("inf")
        }
    }
}

impl JsonNumber {
    /// Writes a number.
    pub fn write<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Self::from(*number).serialize(serializer)
    }

    pub(crate) fn write_optional<S: Serializer>(
        number: &Option<f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        number.map(Self::from).serialize(serializer)
    }

    pub(crate) fn write_value<S: Serializer>(
        value: &GroupValue,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        Self::from(value.number()).serialize(serializer)
    }
}

/// A report as JSON holds it.
#[derive(Serialize)]
struct Document<'a> {
    kind: &'static str,
    version: u32,
    tool: &'a str,
    made: &'a str,
    data: &'a Origin,
    model: &'a ModelOrigin,
    protected: &'a [String],
    yes_means: String,
    answer: Option<AnswerDocument<'a>>,
    gaps: &'a Gaps,
    base_rates: &'a Option<BaseRates>,
    assumptions: &'a [String],
    notes: &'a [String],
    population: &'a Summary,
    groups: &'a [Group],
    set_aside: &'a [SetAside],
    unaffected: u64,
    settings: &'a Settings,
    sizes: &'a Sizes,
    subgroups: Subgroups,
    suppression: &'a Option<Suppression>,
    evidence: Option<EvidenceSummary<'a>>,
    definitions: Vec<Definition<'a>>,
    aggregated_rankings: AggregatedRankings,
}

/// How evidence was gathered, and what of it is not about one finding of the audit.
#[derive(Serialize)]
struct EvidenceSummary<'a> {
    gathering: &'a Gathering,
    variants: Option<&'a [String]>,
    hold_out: Option<HoldOutSummary<'a>>,
}

/// Findings among one part of the people, tested among the others.
#[derive(Serialize)]
struct HoldOutSummary<'a> {
    share: f64,
    found_among: &'a [u64],
    tested_among: &'a [u64],
    findings: Vec<HeldFinding<'a>>,
}

/// One of them, with its id and what is left of its score.
#[derive(Serialize)]
struct HeldFinding<'a> {
    finding: String,
    #[serde(flatten)]
    held: &'a HeldOut,
    left: Option<f64>,
}

impl<'a> HoldOutSummary<'a> {
    fn new(report: &Report<'_>, held: &'a HoldOut) -> Self {
        let findings = held.findings.iter().map(|held| HeldFinding {
            finding: report.finding_id(&held.predicate, &held.definition),
            left: (held.tested.as_ref()).and_then(|tested| tested.shrinkage(held.found_score)),
            held,
        });
        Self {
            share: held.share,
            found_among: &held.found_among,
            tested_among: &held.tested_among,
            findings: findings.collect(),
        }
    }
}

/// How many subgroups there are of each sort.
#[derive(Serialize)]
struct Subgroups {
    ranked: usize,
    without_actions: usize,
}

/// One definition and what it found.
#[derive(Serialize)]
struct Definition<'a> {
    id: &'a str,
    title: &'a str,
    question: &'a str,
    unfair: usize,
    fair: usize,
    suppressed: usize,
    rank_one: usize,
    worst_rank: u32,
    against: Vec<Against<'a>>,
    /// How many findings pass; none if the definition was not tested.
    evidence: Option<Tally>,
    findings: Vec<Csc>,
    /// The first that pass, where none of the findings above does.
    first_passing: Vec<Csc>,
}

/// How many findings are against a group.
#[derive(Serialize)]
struct Against<'a> {
    group: &'a str,
    findings: usize,
    in_top_tenth: usize,
}

/// The report as JSON.
pub fn json(report: &Report<'_>, showing: &Showing) -> Result<Vec<u8>, serde_json::Error> {
    let (record, audit) = (report.record, &report.record.audit);
    let analysis = report.ranking_analysis();
    let definitions = report
        .columns
        .iter()
        .zip(&analysis.rows)
        .map(|(column, row)| {
            let ranking = &column.ranking;
            let findings = report.findings(column, showing);
            let counts = row.against.iter().zip(&row.against_in_top_tenth);
            Definition {
                id: &ranking.definition,
                title: &ranking.title,
                question: column.definition.kind().question,
                unfair: ranking.unfair().len(),
                fair: ranking.ranked.len() - ranking.unfair().len(),
                suppressed: ranking.suppressed.len(),
                rank_one: row.rank_one,
                worst_rank: ranking.worst_rank,
                against: audit
                    .groups
                    .iter()
                    .zip(counts)
                    .map(|(group, (&findings, &in_top_tenth))| Against {
                        group: &group.name,
                        findings,
                        in_top_tenth,
                    })
                    .collect(),
                evidence: report.tally(column),
                first_passing: report.first_passing(column, showing, &findings),
                findings,
            }
        });
    let answered = report.answered();
    let document = Document {
        kind: "facts-report",
        version: REPORT_VERSION,
        tool: &record.tool,
        made: &record.made,
        data: &record.data,
        model: &record.model,
        protected: &record.protected,
        yes_means: record.yes_means(),
        answer: answered.as_ref().map(|answered| answered.document()),
        gaps: report.gaps(),
        base_rates: &record.base_rates,
        assumptions: &record.assumptions,
        notes: &record.notes,
        population: &audit.population,
        groups: &audit.groups,
        set_aside: &audit.set_aside,
        unaffected: audit.unaffected,
        settings: &audit.settings,
        sizes: &audit.sizes,
        subgroups: Subgroups {
            ranked: audit.subgroups.len(),
            without_actions: audit.without_actions.len(),
        },
        suppression: &audit.suppression,
        evidence: report.evidence().map(|found| EvidenceSummary {
            gathering: &found.gathering,
            variants: found.stability.as_ref().map(|s| s.variants.as_slice()),
            hold_out: (found.hold_out.as_ref()).map(|held| HoldOutSummary::new(report, held)),
        }),
        definitions: definitions.collect(),
        aggregated_rankings: report.aggregated_rankings(),
    };
    let mut text = serde_json::to_vec_pretty(&document)?;
    text.push(b'\n');
    Ok(text)
}
