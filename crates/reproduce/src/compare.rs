//! An audit beside what was printed, cell by cell.

use facts_engine::Audit;
use facts_engine::definitions::{self, Definition};
use facts_engine::distribution::{Share, Subgroup};
use facts_engine::ranking::{Ranked, Ranking};
use facts_report::{Record, Report, text};
use facts_run::Failure;
use serde::Serialize;

use crate::authors::{Lists, Measure, Tables};
use crate::experiments::Variant;
use crate::published::{self, Published, Showcased, equals_print};
use crate::run::Reproduction;

/// The decimals of the paper's scores and aggregated rankings, trailing zeros left out.
const DECIMALS: usize = 3;
/// Those of its first table.
const DECIMALS_OF_TABLE_1: usize = 2;

/// Ours beside theirs.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The experiment's name.
    pub experiment: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Whose split and model.
    pub variant: Variant,
    /// The same in words.
    pub split_and_model: &'static str,
    /// The table that was audited.
    pub data: String,
    /// Whether its rows are generated ones in the place of the real ones.
    pub stand_in: bool,
    /// The model that was audited.
    pub model: String,
    /// The least share of each group that a subgroup has.
    pub support: String,
    /// How long reading, fitting, auditing and comparing took, if somebody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Sizes.
    pub counts: Vec<CountRow>,
    /// The subgroups that the paper shows.
    pub showcased: Vec<ShownBeside>,
    /// Ranking analysis.
    pub ranking: RankingBeside,
    /// Aggregated rankings.
    pub aggregated: AggregatedBeside,
}

/// A size, as printed and as found.
#[derive(Clone, Debug, Serialize)]
pub struct CountRow {
    /// What is counted.
    pub what: String,
    /// What the paper says, if it does.
    pub paper: Option<String>,
    /// What was found.
    pub facts: String,
}

/// A printed cell and what was found in its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// As printed.
    pub paper: String,
    /// What was found; none if there is nothing to find, such as a subgroup that is not common.
    pub facts: Option<String>,
    /// Whether both are the same, to the decimals that were printed.
    pub same: bool,
    /// What was found when counted as the authors' code counts, where that makes a cell of its own.
    pub authors: Option<String>,
    /// Whether that is the same.
    pub same_by_authors: bool,
}

/// A subgroup that the paper shows.
#[derive(Clone, Debug, Serialize)]
pub struct ShownBeside {
    /// The tables and figures that show it.
    pub source: String,
    /// The predicate.
    pub predicate: String,
    /// Why there is nothing beside it, if so.
    pub absent: Option<&'static str>,
    /// Rank, against and score under each definition.
    pub rows: Vec<ScoreBeside>,
    /// Its comparative subgroup counterfactual.
    pub csc: CscBeside,
}

/// A subgroup under one definition.
#[derive(Clone, Debug, Serialize)]
pub struct ScoreBeside {
    /// The definition's id.
    pub definition: String,
    /// Its rank, or Fair.
    pub rank: Cell,
    /// The group that is worse off, or Fair.
    pub against: Cell,
    /// The unfairness score.
    pub score: Cell,
}

/// A comparative subgroup counterfactual.
#[derive(Clone, Debug, Serialize)]
pub struct CscBeside {
    /// The definition's id.
    pub definition: String,
    /// The group that is worse off.
    pub against: Cell,
    /// The unfairness score.
    pub score: Cell,
    /// The groups, in the paper's order.
    pub groups: Vec<String>,
    /// The share of each group's affected that the subgroup holds.
    pub covered: Vec<Cell>,
    /// The actions that either lists, cheapest first, those that are no valid action here last.
    pub actions: Vec<ActionBeside>,
}

/// An action of a comparative subgroup counterfactual.
#[derive(Clone, Debug, Serialize)]
pub struct ActionBeside {
    /// What changes.
    pub change: String,
    /// What it costs; none if it is no valid action here.
    pub cost: Option<String>,
    /// For each group, its effectiveness if the figure lists it.
    pub paper: Vec<Option<String>>,
    /// For each group, its effectiveness here.
    pub facts: Vec<Option<String>>,
    /// For each group, whether the definition lists it here.
    pub listed: Vec<bool>,
}

/// The ranking analysis.
#[derive(Clone, Debug, Serialize)]
pub struct RankingBeside {
    /// The table's number.
    pub source: String,
    /// The two groups.
    pub groups: [String; 2],
    /// A row for each definition.
    pub rows: Vec<RankingRowBeside>,
}

/// A row of the ranking analysis: rank 1, and the first tenth against each group.
#[derive(Clone, Debug, Serialize)]
pub struct RankingRowBeside {
    /// The definition's id.
    pub definition: String,
    /// The three cells.
    pub cells: [Cell; 3],
}

/// The aggregated rankings.
#[derive(Clone, Debug, Serialize)]
pub struct AggregatedBeside {
    /// The table's number.
    pub source: String,
    /// The definitions' ids, naming rows and columns.
    pub definitions: Vec<String>,
    /// The cells by row; none on the diagonal.
    pub cells: Vec<Vec<Option<Cell>>>,
}

/// How many cells agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Agreement {
    /// Cells that the paper prints.
    pub cells: usize,
    /// Those that are the same here.
    pub same: usize,
    /// Those that are the same when counted as the authors' code counts.
    pub same_by_authors: usize,
}

impl Agreement {
    fn of<'a>(cells: impl Iterator<Item = &'a Cell>) -> Self {
        cells.fold(Self::default(), |mut agreement, cell| {
            agreement.cells += 1;
            agreement.same += usize::from(cell.same);
            agreement.same_by_authors += usize::from(cell.same_by_authors);
            agreement
        })
    }
}

impl Comparison {
    /// How the showcased subgroups' ranks, victims and scores agree.
    pub fn showcased_agreement(&self) -> Agreement {
        let rows = self.showcased.iter().flat_map(|shown| &shown.rows);
        Agreement::of(rows.flat_map(|row| [&row.rank, &row.against, &row.score]))
    }

    /// How the ranking analysis agrees.
    pub fn ranking_agreement(&self) -> Agreement {
        Agreement::of(self.ranking.rows.iter().flat_map(|row| &row.cells))
    }

    /// How the aggregated rankings agree.
    pub fn aggregated_agreement(&self) -> Agreement {
        Agreement::of(self.aggregated.cells.iter().flatten().flatten())
    }
}

impl Cell {
    /// A number beside print.
    fn number(paper: &str, facts: Option<f64>, decimals: usize) -> Self {
        let same = facts.is_some_and(|value| equals_print(value, paper, decimals));
        let written = |value: f64| match (value.is_infinite(), same) {
            (true, _) => "∞".to_owned(),
            (false, true) => paper.to_owned(),
            (false, false) => trimmed(value, decimals.max(published::decimals(paper))),
        };
        Self {
            paper: paper.replace("inf", "∞"),
            facts: facts.map(written),
            same,
            authors: None,
            same_by_authors: same,
        }
    }

    /// A word beside print.
    fn word(paper: &str, facts: Option<String>) -> Self {
        let same = facts.as_deref() == Some(paper);
        Self {
            paper: paper.to_owned(),
            facts,
            same,
            authors: None,
            same_by_authors: same,
        }
    }

    /// The same cell, with what the authors' way of counting gives.
    fn with_authors(mut self, authors: Option<f64>, decimals: usize) -> Self {
        if let Some(value) = authors {
            let cell = Self::number(&self.paper, Some(value), decimals);
            self.authors = cell.facts;
            self.same_by_authors = cell.same;
        }
        self
    }
}

/// A number to so many decimals, trailing zeros left out.
fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Puts an audit beside what the paper prints about its experiment.
pub fn compare(made: &Reproduction) -> Result<Comparison, Failure> {
    let experiment = made.experiment;
    let published = (experiment.published()).map_err(|error| {
        Failure::data(format!("what is printed of {}: {error}", experiment.name))
    })?;
    let record = &made.record;
    let audit = &record.audit;
    let groups = places(&published.groups, audit)?;
    let ids: Vec<&str> = published.definitions().collect();
    let parsed = ids.iter().map(|id| definitions::parse(id));
    let report = Report::by(record, parsed.collect::<Result<_, _>>()?);
    let by_authors = Lists::of(audit, &made.individuals).map(|lists| {
        let measures: Vec<Measure> = ids.iter().filter_map(|id| Measure::parse(id)).collect();
        Tables::new(&lists, &measures)
    });
    let beside = Beside {
        published: &published,
        audit,
        report: &report,
        groups,
        by_authors,
    };
    let showcased = published.showcased.iter();
    Ok(Comparison {
        experiment: experiment.name,
        title: experiment.title,
        variant: made.variant,
        split_and_model: made.split_and_model,
        data: record.data.name.clone(),
        stand_in: made.stand_in,
        model: record.model.description.clone(),
        support: audit.settings.support.to_string(),
        seconds: None,
        counts: beside.counts(record),
        showcased: (showcased.map(|showcased| beside.showcased(showcased)))
            .collect::<Result<_, _>>()?,
        ranking: beside.ranking(),
        aggregated: beside.aggregated(),
    })
}

/// The places of the paper's groups among the audit's.
fn places(groups: &[String; 2], audit: &Audit) -> Result<[usize; 2], Failure> {
    let place = |name: &String| audit.groups.iter().position(|g| g.name.trim() == name);
    match [place(&groups[0]), place(&groups[1])] {
        [Some(a), Some(b)] if audit.groups.len() == 2 => Ok([a, b]),
        _ => {
            let found: Vec<&str> = audit.groups.iter().map(|g| g.name.trim()).collect();
            Err(Failure::data(format!(
                "the paper compares {} and {}, and the table has {}",
                groups[0],
                groups[1],
                found.join(", ")
            )))
        }
    }
}

/// What is put beside what.
struct Beside<'a> {
    published: &'a Published,
    audit: &'a Audit,
    report: &'a Report<'a>,
    /// The paper's groups by their places in the audit.
    groups: [usize; 2],
    by_authors: Option<Tables>,
}

impl Beside<'_> {
    fn counts(&self, record: &Record) -> Vec<CountRow> {
        let audit = self.audit;
        let by_group = |of: &dyn Fn(usize) -> u64| {
            let each = self.groups.map(|g| {
                let name = audit.groups[g].name.trim();
                format!("{} {name}", text::count(of(g)))
            });
            let all = (self.groups.iter()).map(|&g| of(g)).sum();
            format!("{} ({})", text::count(all), each.join(", "))
        };
        let sizes = &audit.sizes;
        let size = |n: usize| text::count(n as u64);
        let printed = |n: u64| Some(text::count(n));
        let unfavourable = record.base_rates.as_ref().map(|rates| {
            let refused = rates.groups.iter().map(|g| g.people - g.favourable);
            text::count(refused.sum())
        });
        let budgets = audit.automatic_budgets().unwrap_or_default();
        let budgets: Vec<String> = budgets.iter().map(|budget| text::number(*budget)).collect();
        let budgets = if budgets.is_empty() {
            "none".to_owned()
        } else {
            budgets.join(", ")
        };
        let people = by_group(&|g| audit.groups[g].people);
        let affected = by_group(&|g| audit.groups[g].affected);
        let common = size(sizes.common_subgroups);
        let ranked = size(audit.subgroups.len());
        let itemsets = size(sizes.action_itemsets);
        let (paper_affected, paper_ranked) = (self.published.affected, self.published.subgroups);
        let paper_budgets = Some(self.published.budgets.join(", "));
        let rows = [
            ("people audited", None, Some(people)),
            (
                "with the unfavourable label; the paper's “affected”",
                printed(paper_affected),
                unfavourable,
            ),
            (
                "affected: with the unfavourable prediction",
                None,
                Some(affected),
            ),
            ("subgroups common to both groups", None, Some(common)),
            (
                "with a valid action; the paper's “subgroups”",
                printed(paper_ranked),
                Some(ranked),
            ),
            ("itemsets of the unaffected", None, Some(itemsets)),
            (
                "pairs of a subgroup and an action",
                None,
                Some(size(sizes.pairs)),
            ),
            ("distinct changes", None, Some(size(sizes.changes))),
            ("automatic budgets", paper_budgets, Some(budgets)),
        ];
        let row = |(what, paper, facts): (&str, Option<String>, Option<String>)| {
            let (what, facts) = (what.to_owned(), facts?);
            Some(CountRow { what, paper, facts })
        };
        rows.into_iter().filter_map(row).collect()
    }

    fn name(&self, g: usize) -> &str {
        self.audit.groups[g].name.trim()
    }

    /// Whom an entry of a ranking is against, in the paper's word for nobody.
    fn against(&self, ranked: &Ranked) -> String {
        let against = ranked.assessment.against.iter().map(|&g| self.name(g));
        match against.collect::<Vec<_>>().join(", ") {
            nobody if nobody.is_empty() => "Fair".to_owned(),
            against => against,
        }
    }

    fn showcased(&self, showcased: &Showcased) -> Result<ShownBeside, Failure> {
        let audit = self.audit;
        let is_it = |subgroup: &Subgroup| audit.text(&subgroup.predicate) == showcased.predicate;
        let place = audit.subgroups.iter().position(is_it);
        let absent = match place {
            Some(_) => None,
            None => Some(self.why_absent(&showcased.predicate)),
        };
        let decimals = if showcased.source.starts_with("Table 1,") {
            DECIMALS_OF_TABLE_1
        } else {
            DECIMALS
        };
        let mut rows = Vec::with_capacity(showcased.table.len());
        for [id, rank, against, score] in &showcased.table {
            let ranking = self.ranking_by(id)?;
            let ranked = place.and_then(|place| entry(&ranking, place));
            let found = ranked.map(|ranked| match ranked.rank {
                None => "Fair".to_owned(),
                Some(rank) => rank.to_string(),
            });
            rows.push(ScoreBeside {
                definition: id.clone(),
                rank: Cell::word(rank, found),
                against: Cell::word(against, ranked.map(|ranked| self.against(ranked))),
                score: Cell::number(score, ranked.map(|r| r.assessment.score), decimals),
            });
        }
        Ok(ShownBeside {
            source: showcased.source.clone(),
            predicate: showcased.predicate.clone(),
            absent,
            rows,
            csc: self.csc(showcased, place, decimals)?,
        })
    }

    fn why_absent(&self, predicate: &str) -> &'static str {
        let without = self.audit.without_actions.iter();
        let mut without = without.map(|subgroup| self.audit.text(&subgroup.predicate));
        if without.any(|text| text == predicate) {
            "no action was mined for it here"
        } else {
            "it is not common to both groups here"
        }
    }

    fn ranking_by(&self, id: &str) -> Result<std::borrow::Cow<'_, Ranking>, Failure> {
        let known = self.report.columns.iter();
        let mut known = known.map(|column| &column.ranking);
        Ok(match known.find(|ranking| ranking.definition == id) {
            Some(ranking) => std::borrow::Cow::Borrowed(ranking),
            None => {
                let definition = definitions::parse(id)?;
                std::borrow::Cow::Owned(self.audit.rank(definition.as_ref()))
            }
        })
    }

    fn csc(
        &self,
        showcased: &Showcased,
        place: Option<usize>,
        decimals: usize,
    ) -> Result<CscBeside, Failure> {
        let ranking = self.ranking_by(&showcased.definition)?;
        let definition = definitions::parse(&showcased.definition)?;
        let ranked = place.and_then(|place| entry(&ranking, place));
        let order: Vec<usize> = (showcased.groups.iter())
            .map(|group| {
                let second = group.name == self.published.groups[1];
                self.groups[usize::from(second)]
            })
            .collect();
        let covered = showcased.groups.iter().zip(&order).map(|(group, &g)| {
            let share = place.map(|place| {
                let members = self.audit.subgroups[place].members[g];
                text::percent(Share::new(members, self.audit.groups[g].affected))
            });
            Cell::word(&group.covered, share)
        });
        Ok(CscBeside {
            definition: showcased.definition.clone(),
            against: Cell::word(&showcased.against, ranked.map(|r| self.against(r))),
            score: Cell::number(
                &showcased.score,
                ranked.map(|r| r.assessment.score),
                decimals,
            ),
            groups: showcased.groups.iter().map(|g| g.name.clone()).collect(),
            covered: covered.collect(),
            actions: self.actions(showcased, place, definition.as_ref(), &order),
        })
    }

    /// The actions that the figure or the definition lists.
    fn actions(
        &self,
        showcased: &Showcased,
        place: Option<usize>,
        definition: &dyn Definition,
        order: &[usize],
    ) -> Vec<ActionBeside> {
        let printed = |change: &str| -> Vec<Option<String>> {
            let of = |group: &published::ShowcasedGroup| {
                let found = group.actions.iter().find(|[text, _]| text == change);
                found.map(|[_, effectiveness]| effectiveness.clone())
            };
            showcased.groups.iter().map(of).collect()
        };
        let mut rows = Vec::new();
        if let Some(place) = place {
            let audit = self.audit;
            let subgroup = &audit.subgroups[place];
            for (index, action) in subgroup.actions.iter().enumerate() {
                let change = subgroup.change(index, &audit.changes).text(&audit.features);
                let paper = printed(&change);
                let listed: Vec<bool> = (order.iter())
                    .map(|&g| definition.lists(subgroup, index, g))
                    .collect();
                if paper.iter().any(Option::is_some) || listed.contains(&true) {
                    let share = |&g: &usize| {
                        let share = subgroup.effectiveness(index, g);
                        share.map(text::percent)
                    };
                    rows.push(ActionBeside {
                        change,
                        cost: Some(text::number(action.cost)),
                        paper,
                        facts: order.iter().map(share).collect(),
                        listed,
                    });
                }
            }
        }
        for [change, _] in showcased.groups.iter().flat_map(|group| &group.actions) {
            if !rows.iter().any(|row| row.change == *change) {
                rows.push(ActionBeside {
                    change: change.clone(),
                    cost: None,
                    paper: printed(change),
                    facts: vec![None; order.len()],
                    listed: vec![false; order.len()],
                });
            }
        }
        rows
    }

    fn ranking(&self) -> RankingBeside {
        let analysis = self.report.ranking_analysis();
        let by_authors = self.by_authors.as_ref().map(Tables::ranking_analysis);
        let rows = (self.published.ranking.rows.iter().zip(&analysis.rows)).enumerate();
        let rows = rows.map(|(i, (printed, found))| {
            let top = |place: usize| found.against_in_top_tenth[self.groups[place]];
            let ours = [found.rank_one, top(0), top(1)];
            let theirs = by_authors.as_ref().map(|rows| {
                let top = |place: usize| rows[i].against_in_top_tenth[self.groups[place]];
                [rows[i].rank_one, top(0), top(1)]
            });
            let cell = |k: usize| {
                let authors = theirs.map(|theirs| theirs[k] as f64);
                let paper = printed.get(k + 1).map_or("", String::as_str);
                Cell::number(paper, Some(ours[k] as f64), 0).with_authors(authors, 0)
            };
            RankingRowBeside {
                definition: found.definition.clone(),
                cells: [cell(0), cell(1), cell(2)],
            }
        });
        RankingBeside {
            source: self.published.ranking.source.clone(),
            groups: self.published.groups.clone(),
            rows: rows.collect(),
        }
    }

    fn aggregated(&self) -> AggregatedBeside {
        let found = self.report.aggregated_rankings();
        let by_authors = self.by_authors.as_ref().map(Tables::aggregated_rankings);
        let printed = &self.published.aggregated;
        let cell = |i: usize, j: usize| {
            let paper = printed.rows[i].get(j + 1).map_or("", String::as_str);
            if paper.is_empty() {
                return None;
            }
            let authors = by_authors.as_ref().and_then(|cells| cells[i][j]);
            let cell = Cell::number(paper, found.cells[i][j], DECIMALS);
            Some(cell.with_authors(authors, DECIMALS))
        };
        let all = 0..found.definitions.len();
        AggregatedBeside {
            source: printed.source.clone(),
            definitions: found.definitions.clone(),
            cells: all
                .clone()
                .map(|i| all.clone().map(|j| cell(i, j)).collect())
                .collect(),
        }
    }
}

/// A subgroup's entry in a ranking.
fn entry(ranking: &Ranking, subgroup: usize) -> Option<&Ranked> {
    (ranking.ranked.iter()).find(|ranked| ranked.subgroup == subgroup)
}
