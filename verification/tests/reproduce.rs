//! The paper's main experiment, Adult with sex protected at 1 %: from the raw table to every rank.
//!
//! `data/adult-sex/ours_s01.json` holds what is found, as counts and hashes; if any of it moves, a test
//! fails. `FACTS_FINGERPRINT=overwrite` writes the file again: read the difference before you commit it.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use facts_engine::Audit;
use facts_engine::definitions::paper_columns;
use facts_engine::population::Column;
use facts_engine::ranking::Ranking;
use facts_models::train::{Splitting, split};
use facts_reproduce::authors::{Lists, Measure, Tables};
use facts_reproduce::tables::ADULT;
use facts_reproduce::{EXPERIMENTS, Experiment, Reproduction, Run, Variant, compare, document};
use facts_run::{Config, Silent, Table};
use facts_verification::{adult_audit, adult_model, adult_rows};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

fn made() -> Reproduction {
    let experiment = Experiment::named("adult-sex").unwrap();
    Run::new(experiment, Variant::Authors).run(&Silent).unwrap()
}

/// A column as text.
fn texts(batch: &RecordBatch, name: &str) -> Vec<String> {
    let (column, codes) = Column::of(name, batch.column_by_name(name).unwrap()).unwrap();
    let labels: Vec<String> = column.values().iter().map(|value| value.label()).collect();
    codes
        .iter()
        .map(|&code| labels[code as usize].clone())
        .collect()
}

#[test]
fn the_split_has_the_rows_of_scikit_learn_in_its_order() {
    let experiment = Experiment::named("adult-sex").unwrap();
    let config = Config::parse("adult-sex", experiment.config, &[]).unwrap();
    let table = Table::embedded("adult.csv.gz", ADULT, &config.data).unwrap();
    let table = table.cells;
    let mut complete = vec![true; table.repeats().len()];
    let ignored = &config.data.ignore;
    for name in table
        .names()
        .filter(|&name| !ignored.iter().any(|of| of == name))
    {
        let column = table.column(name).unwrap();
        let missing = column.column().missing(&["?".to_owned()]);
        for (complete, &code) in complete.iter_mut().zip(column.codes()) {
            *complete &= !missing[code as usize];
        }
    }
    let table = table.filter(|row| complete[row]);
    assert_eq!(table.rows(), 45_222);
    let order = table.order();
    let texts_of = |name: &str| -> Vec<String> {
        let column = table.column(name).unwrap();
        order
            .iter()
            .map(|&row| column.value(row as usize).label())
            .collect()
    };
    let income = table.column("income").unwrap();
    let favourable: Vec<bool> = order
        .iter()
        .map(|&row| income.value(row as usize).reads_as(">50K"))
        .collect();
    let (train, test) = split(&favourable, Splitting::ScikitLearn, 30, 131_313).unwrap();
    let ours = |name: &str| -> Vec<String> {
        let texts = texts_of(name);
        test.iter().map(|&row| texts[row].clone()).collect()
    };

    let reference = adult_rows().unwrap();
    let reference = concat_batches(&reference[0].schema(), &reference).unwrap();
    assert_eq!((test.len(), train.len()), (13_567, 31_655));
    let binned = ["age", "hours-per-week"];
    for field in reference.schema().fields() {
        if !binned.contains(&field.name().as_str()) {
            let theirs = texts(&reference, field.name());
            assert_eq!(ours(field.name()), theirs, "{}", field.name());
        }
    }
    // The two columns that the reference has as bins.
    let ages = ours("age").into_iter().zip(texts(&reference, "age"));
    for (age, bin) in ages {
        let edges = bin.trim_matches(['(', ']']).split_once(", ").unwrap();
        let (low, high): (f64, f64) = (edges.0.parse().unwrap(), edges.1.parse().unwrap());
        let age: f64 = age.parse().unwrap();
        assert!(low < age && age <= high, "{age} in {bin}");
    }
    let hours = ours("hours-per-week").into_iter();
    for (hours, bin) in hours.zip(texts(&reference, "hours-per-week")) {
        let expected = match hours.parse::<u32>().unwrap() {
            ..=25 => "PartTime",
            26..=39 => "MidTime",
            40 => "FullTime",
            41..=55 => "OverTime",
            _ => "BrainDrain",
        };
        assert_eq!(bin, expected);
    }
}

/// Everything that was counted, subgroup by subgroup.
fn counted(audit: &Audit) -> String {
    let mut text = String::new();
    for subgroup in &audit.subgroups {
        let predicate = audit.text(&subgroup.predicate);
        writeln!(text, "{predicate} {:?}", subgroup.members).unwrap();
        for (index, action) in subgroup.actions.iter().enumerate() {
            let change = subgroup.change(index, &audit.changes).text(&audit.features);
            let flips = [0, 1].map(|g| subgroup.flips(index, g).known().unwrap());
            writeln!(text, "  {change} {:.9} {flips:?}", action.cost).unwrap();
        }
    }
    for subgroup in &audit.without_actions {
        let predicate = audit.text(&subgroup.predicate);
        writeln!(text, "{predicate} {:?} without actions", subgroup.members).unwrap();
    }
    text
}

/// Every rank, score and victim of one ranking.
fn ranked(audit: &Audit, ranking: &Ranking) -> String {
    let mut text = String::new();
    for ranked in &ranking.ranked {
        let predicate = audit.text(&audit.subgroups[ranked.subgroup].predicate);
        let assessment = &ranked.assessment;
        writeln!(
            text,
            "{predicate} {:?} {:.9} {:?}",
            ranked.rank, assessment.score, assessment.against
        )
        .unwrap();
    }
    text
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is found at 1 %, so small that it can be read and so exact that nothing can move unseen.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Fingerprint {
    affected: Vec<(String, u64)>,
    unaffected: u64,
    common_subgroups: usize,
    subgroups_with_actions: usize,
    pairs: usize,
    action_itemsets: usize,
    changes: usize,
    budgets: Vec<f64>,
    /// Of members, changes, costs and flips.
    counts_sha256: String,
    columns: Vec<ColumnFingerprint>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct ColumnFingerprint {
    definition: String,
    rank_one: usize,
    unfair: usize,
    worst_rank: u32,
    against: Vec<usize>,
    against_in_top_tenth: Vec<usize>,
    /// Of ranks, scores and victims.
    sha256: String,
    /// Subgroups to which the authors' rules give another score, more than 1e-9 off.
    scores_by_authors: usize,
    /// Subgroups to which they give another rank.
    ranks_by_authors: usize,
}

impl Fingerprint {
    fn of(made: &Reproduction) -> Self {
        let audit = &made.record.audit;
        let budgets = audit.automatic_budgets().unwrap();
        let definitions = paper_columns(&budgets).unwrap();
        let rankings: Vec<Ranking> = audit.rank_all(&definitions);
        let analysis = audit.ranking_analysis(&rankings);
        let measures: Vec<Measure> = (definitions.iter())
            .map(|definition| Measure::parse(&definition.id()).unwrap())
            .collect();
        let lists = Lists::of(audit, &made.individuals).unwrap();
        let by_authors = Tables::new(&lists, &measures);
        let columns = rankings
            .iter()
            .zip(&analysis.rows)
            .zip(by_authors.columns());
        let columns = columns.map(|((ranking, row), authors)| {
            let other = |differs: &dyn Fn(usize) -> bool| {
                (0..ranking.ranked.len()).filter(|&i| differs(i)).count()
            };
            ColumnFingerprint {
                definition: ranking.definition.clone(),
                rank_one: row.rank_one,
                unfair: ranking.unfair().len(),
                worst_rank: ranking.worst_rank,
                against: row.against.clone(),
                against_in_top_tenth: row.against_in_top_tenth.clone(),
                sha256: hash(&ranked(audit, ranking)),
                scores_by_authors: other(&|i| {
                    let ranked = &ranking.ranked[i];
                    let theirs = authors.assessed[ranked.subgroup].score;
                    let ours = ranked.assessment.score;
                    theirs != ours && (theirs - ours).abs() >= 1e-9
                }),
                ranks_by_authors: other(&|i| {
                    let ranked = &ranking.ranked[i];
                    authors.ranks[ranked.subgroup] != ranked.rank
                }),
            }
        });
        Self {
            affected: (audit.groups.iter())
                .map(|group| (group.name.trim().to_owned(), group.affected))
                .collect(),
            unaffected: audit.unaffected,
            common_subgroups: audit.sizes.common_subgroups,
            subgroups_with_actions: audit.subgroups.len(),
            pairs: audit.sizes.pairs,
            action_itemsets: audit.sizes.action_itemsets,
            changes: audit.sizes.changes,
            counts_sha256: hash(&counted(audit)),
            columns: columns.collect(),
            budgets,
        }
    }
}

#[test]
fn nothing_has_moved_at_1_percent() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/adult-sex/ours_s01.json");
    let found = Fingerprint::of(&made());
    assert_eq!(
        found.affected,
        [("Female".to_owned(), 4_176), ("Male".to_owned(), 6_563)]
    );
    assert_eq!(found.unaffected, 2_828);
    assert_eq!(found.common_subgroups, 13_272);
    assert_eq!(found.subgroups_with_actions, 13_028);
    assert_eq!(found.pairs, 103_115);
    assert_eq!(found.changes, 1_315);
    if std::env::var("FACTS_FINGERPRINT").as_deref() == Ok("overwrite") {
        let text = serde_json::to_string_pretty(&found).unwrap();
        std::fs::write(&path, text + "\n").unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap();
    let known: Fingerprint = serde_json::from_str(&known).unwrap();
    assert_eq!(found, known);
}

#[test]
fn the_command_s_input_is_the_reference_s() {
    let reference = adult_audit(&adult_model().unwrap(), "0.01").unwrap();
    // The reference keeps the blanks of the raw table in its levels.
    let reference = counted(&reference).replace("=  ", "= ");
    assert!(
        counted(&made().record.audit) == reference,
        "the audits differ"
    );
}

#[test]
fn what_the_paper_finds_is_found() {
    let comparison = compare(&made()).unwrap();
    // Figure 2 keeps its finding: rank 1, ∞, against women.
    let figure = comparison
        .showcased
        .iter()
        .find(|shown| shown.source == "Figure 2")
        .unwrap();
    assert!(figure.csc.against.same && figure.csc.score.same);
    let listed = figure
        .csc
        .actions
        .iter()
        .find(|action| action.listed[0])
        .unwrap();
    assert_eq!(listed.facts[0].as_deref(), Some("70.83%"));
}

#[test]
fn the_page_is_what_the_command_writes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reproduction.md");
    let mut comparisons = Vec::new();
    for experiment in &EXPERIMENTS {
        for variant in [Variant::Authors, Variant::Own] {
            let made = Run::new(experiment, variant).run(&Silent).unwrap();
            comparisons.push(compare(&made).unwrap());
        }
    }
    let page = document::page(&comparisons);
    let known = std::fs::read_to_string(&path).unwrap();
    let differing = page
        .lines()
        .zip(known.lines())
        .find(|(ours, known)| ours != known);
    assert_eq!(differing, None);
    assert!(
        page == known,
        "write it again: facts reproduce all --page docs/reproduction.md"
    );
}
