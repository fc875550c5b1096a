//! Hold-out: findings made among some people, tested among the others.
//!
//! The people are split at random into two parts. Subgroups and actions are mined in the first part
//! alone; the first findings of each definition are then counted and tested in the second, which had
//! no say in choosing them. What shrinks there was chance.

use std::collections::{HashMap, HashSet};

use super::stability::names;
use super::{Gathering, HeldOut, HeldOutTest, HoldOut, Tested, test};
use crate::audit::{Audit, Group, Individuals, Options, audit, audit_again};
use crate::definitions::{Assessment, Definition};
use crate::error::Error;
use crate::flips::Model;
use crate::population::Population;
use crate::ranking::Ranked;
use crate::subgroups::Predicate;
use crate::watch::Watch;

/// How a hold-out is made.
#[derive(Clone, Copy, Debug)]
pub struct HoldOutPlan<'a> {
    /// The share of the people among whom findings are made, strictly between 0 and 1.
    pub share: f64,
    /// The groups to compare: those of the audit of all people.
    pub groups: &'a [Group],
    /// The definitions.
    pub definitions: &'a [Box<dyn Definition>],
    /// The seed, α, how many findings are carried over, and how many permutations test them.
    pub gathering: &'a Gathering,
    /// How the audits are made.
    pub options: &'a Options,
    /// Counts from 1 to k − 1 are not told.
    pub suppress_below: Option<u64>,
}

/// What a hold-out gives.
#[derive(Clone, Debug)]
pub struct HoldOutResult {
    /// The findings and what the other part says of them.
    pub hold_out: HoldOut,
    /// How many findings are left out because they rest on a count that is suppressed, or because
    /// such a count could be had by subtracting.
    pub left_out: usize,
}

impl HoldOutPlan<'_> {
    /// Finds among one part of a population and tests among the other.
    pub fn hold_out<M: Model + ?Sized>(
        &self,
        population: &Population,
        model: &M,
        watch: Watch<'_>,
    ) -> Result<HoldOutResult, Error> {
        let (share, seed) = (self.share, self.gathering.seed);
        // Where rows are shared they stay so in both parts: what is told of a part, and every difference of
        // what is told, is then again about nobody or about at least k people.
        let (first, second) = match self.suppress_below {
            None => population.split(share, seed),
            Some(k) => population.split_by_rows(share, seed, k),
        };
        let wanted = self.groups.iter().map(|group| group.name.as_str());
        let least = self.suppress_below.unwrap_or(1).max(1);
        let options = (self.options.clone()).compare(wanted).min_group_size(least);
        let found = audit(&first, model, &options, watch);
        let mut found = found.map_err(|error| self.of_part(error))?;
        if let Some(k) = self.suppress_below {
            found = found.suppressed(k);
        }
        self.check_groups(&found)?;
        let carried = self.first_findings(&found);
        keep(&mut found, carried.iter().flatten().map(|f| &f.predicate));

        let again = audit_again(&second, model, &found, &options, watch);
        let (tested, individuals) = again.map_err(|error| self.of_part(error))?;
        self.check_groups(&tested)?;
        let affected = |audit: &Audit| audit.groups.iter().map(|group| group.affected).collect();
        let mut result = HoldOutResult {
            hold_out: HoldOut {
                share: self.share,
                found_among: affected(&found),
                tested_among: affected(&tested),
                findings: Vec::new(),
            },
            left_out: 0,
        };
        for (place, carried) in carried.into_iter().enumerate() {
            let of_definition = self.test(place, &carried, &tested, &individuals, watch)?;
            for (finding, tested) in carried.into_iter().zip(of_definition) {
                // Beside the audit of all people, members found tell members tested: a finding is
                // told whole or not at all.
                if tested.is_none() && self.suppress_below.is_some() {
                    result.left_out += 1;
                    continue;
                }
                let found = finding.held_out(&self.definitions[place].id(), tested);
                result.hold_out.findings.push(found);
            }
        }
        Ok(result)
    }

    /// Refuses parts in which a group has too few affected people to be compared or told of.
    fn check_groups(&self, part: &Audit) -> Result<(), Error> {
        let too_small = |group: &&Group| {
            let here = part.groups.iter().find(|here| here.name == group.name);
            here.is_none_or(|here| {
                let small = |k| (1..k).contains(&here.affected);
                self.suppress_below.is_some_and(small)
            })
        };
        match self.groups.iter().find(too_small) {
            None => Ok(()),
            Some(group) => Err(Error::PartTooSmall(group.name.clone())),
        }
    }

    /// What is wrong with a part in which a group has nobody affected is its size.
    fn of_part(&self, error: Error) -> Error {
        let Error::TooFewGroups { kept, .. } = &error else {
            return error;
        };
        let missing = self.groups.iter().find(|group| !kept.contains(&group.name));
        missing.map_or(error, |group| Error::PartTooSmall(group.name.clone()))
    }

    /// The first findings of each definition, in order.
    fn first_findings(&self, found: &Audit) -> Vec<Vec<Carried>> {
        let rankings = found.rank_all(self.definitions);
        let of_definition = |unfair: &[Ranked]| {
            let first = unfair.iter().take(self.gathering.detailed);
            first.map(|ranked| Carried::new(found, ranked)).collect()
        };
        let rankings = rankings.iter();
        rankings.map(|r| of_definition(r.unfair())).collect()
    }

    /// Tests the findings of one definition, which are one family; none for those that cannot be.
    fn test(
        &self,
        definition: usize,
        carried: &[Carried],
        tested: &Audit,
        individuals: &Individuals,
        watch: Watch<'_>,
    ) -> Result<Vec<Option<HeldOutTest>>, Error> {
        let mut family = tested.clone();
        keep(&mut family, carried.iter().map(|f| &f.predicate));
        if let Some(k) = self.suppress_below {
            family = family.suppressed(k);
        }
        let definition = &self.definitions[definition..=definition];
        let work = || test(&family, individuals, definition, self.gathering, watch);
        let tests = self.options.work(work)??;
        let tests = tests.into_iter().flat_map(|tests| tests.tested);
        let assess = |subgroup| definition.iter().find_map(|d| d.assess(subgroup));
        let by_predicate: HashMap<&Predicate, (usize, Tested, Assessment)> =
            (family.subgroups.iter().zip(tests).enumerate())
                .filter_map(|(place, (subgroup, tested))| {
                    Some((&subgroup.predicate, (place, tested?, assess(subgroup)?)))
                })
                .collect();
        let outcome = |finding: &Carried| {
            let (place, tested, assessment) = by_predicate.get(&finding.predicate)?;
            let against = names(&family, &assessment.against);
            let passes = tested.passes(self.gathering.alpha);
            Some(HeldOutTest {
                members: family.subgroups[*place].members.clone(),
                score: assessment.score,
                p: tested.p,
                source: tested.source,
                family_wise: tested.family_wise,
                confirmed: passes && against == finding.against,
                against,
            })
        };
        Ok(carried.iter().map(outcome).collect())
    }
}

/// A finding of the first part, carried over to the second.
struct Carried {
    predicate: Predicate,
    text: String,
    members: Vec<u64>,
    score: f64,
    against: Vec<String>,
}

impl Carried {
    fn new(found: &Audit, ranked: &Ranked) -> Self {
        let subgroup = &found.subgroups[ranked.subgroup];
        Self {
            predicate: subgroup.predicate.clone(),
            text: found.text(&subgroup.predicate),
            members: subgroup.members.clone(),
            score: ranked.assessment.score,
            against: names(found, &ranked.assessment.against),
        }
    }

    fn held_out(self, definition: &str, tested: Option<HeldOutTest>) -> HeldOut {
        HeldOut {
            definition: definition.to_owned(),
            predicate: self.text,
            found_members: self.members,
            found_score: self.score,
            found_against: self.against,
            tested,
        }
    }
}

/// Keeps the subgroups with these predicates alone.
fn keep<'a>(audit: &mut Audit, predicates: impl Iterator<Item = &'a Predicate>) {
    let kept: HashSet<&Predicate> = predicates.collect();
    audit.subgroups.retain(|one| kept.contains(&one.predicate));
    audit.without_actions.clear();
}
