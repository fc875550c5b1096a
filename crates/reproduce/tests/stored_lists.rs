//! The lists that the paper's authors stored for COMPAS and Ad Campaign, read as their code reads them,
//! against the tables that the paper prints.
//!
//! The lists are not ours to hand on. `FACTS_PAPER_LISTS` names the folder that holds them as
//! `compas_rules.json.gz` and `ad-campaign_rules.json.gz`; it is looked for beside the sources too.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use facts_reproduce::authors::{Atomic, Listed, Lists, Measure, Step, Tables};
use facts_reproduce::experiments::Experiment;
use facts_reproduce::published::Published;
use flate2::read::GzDecoder;
use serde::Deserialize;

#[derive(Deserialize)]
struct Stored {
    groups: [String; 2],
    subgroups: Vec<StoredSubgroup>,
}

#[derive(Deserialize)]
struct StoredSubgroup {
    #[serde(rename = "if")]
    predicate: BTreeMap<String, String>,
    /// The levels after the action, its effectiveness by group, its cost.
    thens: Vec<(Vec<String>, BTreeMap<String, f64>, f64)>,
    /// By group: an action, and the share reached by it and those before it.
    cum: BTreeMap<String, Vec<(usize, f64)>>,
}

impl Stored {
    fn lists(self) -> Lists {
        let groups = self.groups.clone();
        let listed = |stored: StoredSubgroup| {
            let items = stored.predicate.iter();
            let items: Vec<String> = items.map(|(f, v)| format!("{f} = {v}")).collect();
            let action = |(_, shares, cost): &(Vec<String>, BTreeMap<String, f64>, f64)| Atomic {
                cost: *cost,
                effectiveness: groups.each_ref().map(|group| shares[group]),
            };
            let steps = |group: &String| {
                let steps = stored.cum[group].iter();
                let step = |(action, effectiveness): &(usize, f64)| Step {
                    cost: stored.thens[*action].2,
                    effectiveness: *effectiveness,
                };
                steps.map(step).collect()
            };
            Listed {
                predicate: items.join(", "),
                actions: stored.thens.iter().map(action).collect(),
                cumulated: groups.each_ref().map(steps),
            }
        };
        Lists {
            groups: self.groups.clone(),
            subgroups: self.subgroups.into_iter().map(listed).collect(),
        }
    }
}

/// The stored lists of an experiment; none where they are not at hand.
fn stored(name: &str) -> Option<Lists> {
    let beside = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/oracle/paper-caches"
    );
    let folder = std::env::var_os("FACTS_PAPER_LISTS").map_or(beside.into(), PathBuf::from);
    let path = folder.join(format!("{name}_rules.json.gz"));
    let Ok(file) = File::open(&path) else {
        eprintln!(
            "NOT TESTED: the authors' lists are not at {}",
            path.display()
        );
        return None;
    };
    let stored: Stored = serde_json::from_reader(GzDecoder::new(file)).unwrap();
    Some(stored.lists())
}

/// The lists of an experiment under the paper's columns, and what the paper prints about it.
fn tables(name: &str) -> Option<(Lists, Tables, Published)> {
    let lists = stored(name)?;
    let published = Experiment::named(name).unwrap().published().unwrap();
    assert_eq!(lists.groups, published.groups);
    let measures: Vec<Measure> = (published.definitions())
        .map(|id| Measure::parse(id).unwrap())
        .collect();
    let tables = Tables::new(&lists, &measures);
    Some((lists, tables, published))
}

/// Both analysis tables, in every cell.
fn check(name: &str, subgroups: usize, pairs: usize) {
    let Some((lists, tables, published)) = tables(name) else {
        return;
    };
    assert_eq!(lists.subgroups.len(), subgroups);
    assert_eq!(published.subgroups, subgroups as u64);
    let actions: usize = lists.subgroups.iter().map(|s| s.actions.len()).sum();
    assert_eq!(actions, pairs);

    for (row, printed) in tables
        .ranking_analysis()
        .iter()
        .zip(&published.ranking.rows)
    {
        let [first, second] = row.against_in_top_tenth;
        let found = [row.rank_one, first, second].map(|n| n.to_string());
        assert_eq!(found, printed[1..], "{}", printed[0]);
    }

    let found = tables.aggregated_rankings();
    let printed = published.aggregated.rows.iter();
    let printed = printed.map(|row| row[1..].iter().map(|cell| cell.parse::<f64>().ok()));
    let printed: Vec<Vec<Option<f64>>> = printed.map(Iterator::collect).collect();
    assert_eq!(found, printed);
    assert_eq!(found.iter().flatten().flatten().count(), 110);
}

#[test]
fn the_stored_compas_lists_give_the_printed_tables() {
    check("compas", 995, 3_652);
}

#[test]
fn the_stored_ad_campaign_lists_give_the_printed_tables() {
    check("ad-campaign", 1_432, 6_038);
}

/// The showcased subgroups: rank, victim and score in every cell.
#[test]
fn the_stored_lists_give_the_showcased_subgroups() {
    for name in ["compas", "ad-campaign"] {
        let Some((lists, tables, published)) = tables(name) else {
            return;
        };
        let ids: Vec<&str> = published.definitions().collect();
        for showcased in &published.showcased {
            // The stored lists call a column otherwise than the table does.
            let predicate = showcased.predicate.replace("age = ", "ages = ");
            let is_it = |l: &Listed| [&showcased.predicate, &predicate].contains(&&l.predicate);
            let place = lists.subgroups.iter().position(is_it).unwrap();
            for [id, rank, against, score] in &showcased.table {
                let column = &tables.columns()[ids.iter().position(|i| i == id).unwrap()];
                let assessed = column.assessed[place];
                let found_rank = column.ranks[place].map_or("Fair".to_owned(), |r| r.to_string());
                let found_against = assessed.against.map_or("Fair", |g| &lists.groups[g]);
                let found = (found_rank.as_str(), found_against);
                assert_eq!(found, (rank.as_str(), against.as_str()), "{name}: {id}");
                let printed: f64 = score.parse().unwrap();
                let same =
                    assessed.score == printed || (assessed.score - printed).abs() < 0.0005 + 1e-9;
                assert!(same, "{name}: {id}: {} is not {printed}", assessed.score);
            }
        }
    }
}
