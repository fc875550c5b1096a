//! Stability: where findings stand when the audit is made in other ways.

use std::collections::HashMap;

use super::{FindingStability, Gathering, Outcome, Stability, Tests, detailed_findings};
use crate::audit::Audit;
use crate::definitions::Definition;
use crate::population::{Kind, Levels};
use crate::ranking::Ranking;
use crate::subgroups::{Item, Operator, Predicate};

/// The first findings of an audit, followed through its variants.
///
/// One variant is needed at a time: show it with [`variant`](Self::variant), then let it go.
#[derive(Debug)]
pub struct StabilityAnalysis<'a> {
    audit: &'a Audit,
    definitions: &'a [Box<dyn Definition>],
    findings: Vec<Finding>,
    variants: Vec<String>,
}

/// One finding and what became of it so far.
#[derive(Debug)]
struct Finding {
    /// The definition, by place.
    definition: usize,
    subgroup: usize,
    against: Vec<String>,
    among_first: bool,
    outcomes: Vec<Option<Outcome>>,
}

impl<'a> StabilityAnalysis<'a> {
    /// Follows the first unfair subgroups of each definition, and the first that pass these tests.
    pub fn new(
        audit: &'a Audit,
        definitions: &'a [Box<dyn Definition>],
        tests: &[Tests],
        gathering: &Gathering,
    ) -> Self {
        let rankings = audit.rank_all(definitions);
        let findings = detailed_findings(audit, definitions, tests, gathering)
            .into_iter()
            .zip(&rankings)
            .enumerate()
            .flat_map(|(definition, (first, ranking))| {
                let last = ranking.first_tenth().last().and_then(|ranked| ranked.rank);
                first.into_iter().map(move |ranked| Finding {
                    definition,
                    subgroup: ranked.subgroup,
                    against: names(audit, &ranked.assessment.against),
                    among_first: ranked.rank <= last,
                    outcomes: Vec::new(),
                })
            });
        Self {
            findings: findings.collect(),
            audit,
            definitions,
            variants: Vec::new(),
        }
    }

    /// Whether there is no finding to follow.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// Looks the findings up in a variant; without an audit, none of them is there.
    ///
    /// A finding is looked up by its predicate. Where the variant cuts a number into other bins, a bin
    /// stands for the one that holds its midpoint there. With ranges, a predicate stands for all that
    /// have its members; where another one does so in the variant, the finding is not there.
    pub fn variant(&mut self, name: impl Into<String>, audit: Option<&Audit>) {
        self.variants.push(name.into());
        let Some(audit) = audit else {
            for finding in &mut self.findings {
                finding.outcomes.push(None);
            }
            return;
        };
        let rankings = audit.rank_all(self.definitions);
        let standings: Vec<Standings<'_>> = rankings.iter().map(Standings::new).collect();
        let subgroups = audit.subgroups.iter().zip(0..);
        let places: HashMap<&Predicate, usize> = subgroups
            .map(|(subgroup, place)| (&subgroup.predicate, place))
            .collect();
        for finding in &mut self.findings {
            let predicate = &self.audit.subgroups[finding.subgroup].predicate;
            let there = translated(predicate, &self.audit.features, &audit.features);
            let place = there.and_then(|predicate| places.get(&predicate).copied());
            let outcome = place.and_then(|place| {
                standings[finding.definition].outcome(place, audit, &finding.against)
            });
            finding.outcomes.push(outcome);
        }
    }

    /// What became of the findings in all variants.
    pub fn stability(self) -> Stability {
        let finding = |finding: Finding| FindingStability {
            definition: self.definitions[finding.definition].id(),
            subgroup: finding.subgroup,
            among_first: finding.among_first,
            outcomes: finding.outcomes,
        };
        Stability {
            findings: self.findings.into_iter().map(finding).collect(),
            variants: self.variants,
        }
    }
}

/// Where the subgroups of a variant stand under one definition.
struct Standings<'a> {
    ranking: &'a Ranking,
    /// By place in the variant: the place in the ranking.
    at: HashMap<usize, usize>,
    first_tenth: usize,
}

impl<'a> Standings<'a> {
    fn new(ranking: &'a Ranking) -> Self {
        let ranked = ranking.ranked.iter().enumerate();
        Self {
            ranking,
            at: ranked.map(|(at, ranked)| (ranked.subgroup, at)).collect(),
            first_tenth: ranking.first_tenth().len(),
        }
    }

    /// What became of a finding that was against these groups; none if it is suppressed here.
    fn outcome(&self, place: usize, audit: &Audit, found: &[String]) -> Option<Outcome> {
        let at = *self.at.get(&place)?;
        let ranked = &self.ranking.ranked[at];
        let against = names(audit, &ranked.assessment.against);
        let same_groups = against == found;
        Some(Outcome {
            rank: ranked.rank,
            of: self.ranking.ranked.len(),
            score: ranked.assessment.score,
            holds: same_groups && at < self.first_tenth,
            same_groups,
            against,
        })
    }
}

/// The names of groups of an audit.
pub(super) fn names(audit: &Audit, groups: &[usize]) -> Vec<String> {
    let names = groups.iter().map(|&g| audit.groups[g].name.clone());
    names.collect()
}

/// A predicate in the terms of other levels; none if they have no such level.
fn translated(predicate: &Predicate, from: &[Levels], to: &[Levels]) -> Option<Predicate> {
    let mut items = Vec::with_capacity(predicate.items().len());
    for item in predicate.items() {
        let here = &from[item.feature as usize];
        let feature = to.iter().position(|there| there.name == here.name)?;
        items.push(Item {
            feature: feature as u32,
            operator: item.operator,
            level: level_there(here, item.level, &to[feature])?,
        });
    }
    Some(Predicate::new(closed(items)))
}

/// The level that stands for another one: of the same label, or with other bins the one that holds
/// its midpoint.
fn level_there(here: &Levels, level: u32, there: &Levels) -> Option<u32> {
    let bins = [here, there].map(|levels| matches!(levels.kind, Kind::Binned(_)));
    let known = &here.levels[level as usize];
    let midpoint = known.number.filter(|_| bins == [true, true]);
    let Some(midpoint) = midpoint.filter(|_| here.levels != there.levels) else {
        return there.find(&known.label);
    };
    let bounds = |level: usize| there.levels.get(level).and_then(|level| level.bounds);
    let holds = |&level: &usize| {
        // Bins are right-closed, with the lowest edge included.
        bounds(level).is_some_and(|(low, high)| {
            midpoint <= high && (midpoint > low || (level == 0 && midpoint == low))
        })
    };
    (0..there.levels.len())
        .find(holds)
        .map(|level| level as u32)
}

/// Two bounds that leave a single level are that level: so it is mined.
fn closed(items: Vec<Item>) -> Vec<Item> {
    let mut closed: Vec<Item> = Vec::with_capacity(items.len());
    for item in items {
        match closed.last_mut() {
            Some(bound)
                if bound.feature == item.feature
                    && bound.level == item.level
                    && bound.operator != item.operator =>
            {
                bound.operator = Operator::Is;
            }
            _ => closed.push(item),
        }
    }
    closed
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};

    use super::*;
    use crate::flips::FnModel;
    use crate::population::{Declaration, Edges, Feature, Population, Protected};
    use crate::{Options, Watch, audit, definitions};

    /// People of 20 to 79 in jobs that pay more or less; the pay decides, and women need more of it.
    fn population(bins: usize) -> Population {
        let mut rows = Vec::new();
        for age in 20..80 {
            for job in ["boss", "clerk", "smith"] {
                rows.extend([("f", job, age), ("m", job, age)]);
            }
        }
        let column = |texts: Vec<&str>| Arc::new(StringArray::from(texts)) as ArrayRef;
        let ages: Int64Array = rows.iter().map(|row| row.2).collect();
        let table = RecordBatch::try_from_iter([
            ("sex", column(rows.iter().map(|row| row.0).collect())),
            ("job", column(rows.iter().map(|row| row.1).collect())),
            ("age", Arc::new(ages) as ArrayRef),
        ]);
        Declaration::new()
            .feature(Feature::binned("age", Edges::Quantiles(bins)))
            .feature(Feature::categorical("job"))
            .protected(Protected::attribute("sex"))
            .read([table.unwrap()])
            .unwrap()
    }

    fn made(bins: usize, least: [i64; 2]) -> Audit {
        let model = FnModel::new(|rows: &RecordBatch| {
            let sexes = rows.column_by_name("sex").unwrap().as_string::<i32>();
            let jobs = rows.column_by_name("job").unwrap().as_string::<i32>();
            let ages = rows.column_by_name("age").unwrap();
            let ages = ages.as_primitive::<Int64Type>();
            let yes = |row: usize| {
                let more = match jobs.value(row) {
                    "boss" => 30,
                    "smith" => 10,
                    _ => 0,
                };
                let women = sexes.value(row) == "f";
                ages.value(row) + more >= least[usize::from(!women)]
            };
            (0..rows.num_rows()).map(yes).collect()
        });
        let options = Options::new().support("0.02".parse().unwrap());
        audit(&population(bins), &model, &options, Watch::nobody()).unwrap()
    }

    fn all() -> Vec<Box<dyn Definition>> {
        let ids = ["equal-effectiveness:micro", "equal-choice:0.5"];
        let parsed = ids.iter().map(|id| definitions::parse(id).unwrap());
        parsed.collect()
    }

    /// Looks at so many findings in detail.
    fn first(detailed: usize) -> Gathering {
        Gathering {
            detailed,
            ..Gathering::default()
        }
    }

    #[test]
    fn in_the_same_audit_every_first_finding_holds() {
        let (found, definitions) = (made(4, [70, 60]), all());
        let mut analysis = StabilityAnalysis::new(&found, &definitions, &[], &first(1));
        analysis.variant("the same", Some(&found));
        analysis.variant("failed", None);
        let stability = analysis.stability();
        assert_eq!(stability.variants, ["the same", "failed"]);
        // Of each of two definitions the first by score, and the first for people.
        assert_eq!(stability.findings.len(), 4);
        let mut by_score = 0;
        for finding in &stability.findings {
            let outcome = finding.outcomes[0].as_ref().unwrap();
            if outcome.rank != Some(1) {
                continue;
            }
            by_score += 1;
            assert!(outcome.holds);
            assert_eq!(outcome.against, ["f"]);
            assert!(outcome.of > 1 && outcome.score > 0.0);
            assert_eq!(finding.outcomes[1], None);
            assert_eq!((finding.holds(), finding.same_groups()), (1, 1));
        }
        assert!(by_score >= 2);
    }

    #[test]
    fn against_somebody_else_it_does_not_hold() {
        let (found, definitions) = (made(4, [70, 60]), all());
        let mut analysis = StabilityAnalysis::new(&found, &definitions, &[], &first(3));
        let turned = made(4, [60, 70]);
        analysis.variant("turned round", Some(&turned));
        for finding in analysis.stability().findings {
            let outcome = finding.outcomes[0].as_ref().unwrap();
            assert_eq!(outcome.against, ["m"]);
            assert!(!outcome.holds);
            assert_eq!(finding.same_groups(), 0);
        }
    }

    #[test]
    fn a_fair_or_lower_one_does_not_hold() {
        let (found, definitions) = (made(4, [70, 60]), all());
        let mut analysis = StabilityAnalysis::new(&found, &definitions, &[], &first(usize::MAX));
        analysis.variant("the same", Some(&found));
        analysis.variant("fair", Some(&made(4, [65, 65])));
        for finding in analysis.stability().findings {
            let same = finding.outcomes[0].as_ref().unwrap();
            let ranking = found.rank(definitions::parse(&finding.definition).unwrap().as_ref());
            let first = ranking.first_tenth();
            let among = first
                .iter()
                .any(|ranked| ranked.subgroup == finding.subgroup);
            assert_eq!((same.holds, finding.among_first), (among, among));
            assert!(same.same_groups);
            if let Some(fair) = &finding.outcomes[1] {
                assert_eq!((fair.rank, fair.score, fair.holds), (None, 0.0, false));
            }
        }
    }

    #[test]
    fn a_bin_is_looked_up_by_its_midpoint() {
        let (four, six) = (population(4), population(6));
        let level = |from: &Population, level, to: &Population| {
            level_there(&from.features()[0], level, &to.features()[0])
        };
        // Quarters of 20 to 79 are about 15 years wide, sixths about 10.
        assert_eq!(
            (0..4).map(|l| level(&four, l, &six)).collect::<Vec<_>>(),
            [Some(0), Some(2), Some(3), Some(5)]
        );
        assert_eq!(level(&four, 2, &four), Some(2));
        let (found, other, definitions) = (made(4, [70, 60]), made(5, [70, 60]), all());
        let mut analysis = StabilityAnalysis::new(&found, &definitions, &[], &first(5));
        analysis.variant("age in 5 quantiles", Some(&other));
        let stability = analysis.stability();
        assert!(
            stability
                .findings
                .iter()
                .any(|finding| finding.outcomes[0].is_some())
        );
    }

    #[test]
    fn what_is_not_there_or_suppressed_has_no_outcome() {
        let (found, definitions) = (made(4, [70, 60]), all());
        let mut analysis = StabilityAnalysis::new(&found, &definitions, &[], &first(2));
        analysis.variant("all suppressed", Some(&found.clone().suppressed(1000)));
        for finding in analysis.stability().findings {
            assert_eq!(finding.outcomes, [None]);
        }
    }

    #[test]
    fn two_bounds_of_one_level_are_that_level() {
        let item = |operator, level| Item {
            feature: 0,
            operator,
            level,
        };
        let range = vec![item(Operator::AtLeast, 2), item(Operator::AtMost, 2)];
        assert_eq!(closed(range), [item(Operator::Is, 2)]);
        let range = vec![item(Operator::AtLeast, 1), item(Operator::AtMost, 2)];
        assert_eq!(closed(range.clone()), range);
    }
}
