//! The same population with other people: drawn again, or in two parts.
//!
//! Groups, levels and bins stay those of the whole population, so that a predicate means the same in
//! each; only how many people stand behind each profile changes.

use std::collections::BTreeMap;

use super::Population;
use crate::chance::{Resampler, Stream, sample_without_replacement};
use crate::rows::Rows;

/// Draws so many rows of several kinds without replacement: how many of each kind, of which so many are
/// there. The same seed and the same purpose draw the same.
pub fn draw(kinds: &[u64], taken: u64, seed: u64, purpose: &str) -> Vec<u64> {
    sample_without_replacement(kinds, taken, Stream::new(seed).named(purpose))
}

impl Population {
    /// A bootstrap sample of the population: its people drawn with replacement inside each group, so
    /// that every group keeps its size. The same seed draws the same people.
    pub fn resampled(&self, seed: u64) -> Self {
        let stream = Stream::new(seed).named("population drawn again");
        let mut people = vec![0; self.profiles()];
        let mut drawn = Vec::new();
        for (profiles, g) in self.profiles_by_group().iter().zip(0..) {
            let weights = profiles.iter().map(|&profile| self.people[profile]);
            Resampler::new(weights.collect()).resample(stream.substream(g), &mut drawn);
            for (&profile, &drawn) in profiles.iter().zip(&drawn) {
                people[profile] = drawn;
            }
        }
        self.with_people(&people)
    }

    /// The population in two parts: people are drawn at random inside each group, this share of
    /// them (rounded, but nobody's group is left empty that has two people) into the first part. The
    /// same seed draws the same people.
    pub fn split(&self, share: f64, seed: u64) -> (Self, Self) {
        self.parted(&self.first_part(share, seed))
    }

    /// The population in two parts of about this share, in both of which at least `least` people share a
    /// row: of each profile a part has nobody or at least so many. A row that each group has often enough is
    /// divided at random; another one goes whole into one part, with the people of all groups who have it, so
    /// that which part it is has nothing to do with a group. The same seed draws the same people.
    pub fn split_by_rows(&self, share: f64, seed: u64, least: u64) -> (Self, Self) {
        let mut first = self.first_part(share, seed);
        let mut rows: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
        for profile in 0..self.profiles() {
            let row = self.row(profile).iter().enumerate();
            let describing = row.filter(|(column, _)| !self.protected.contains(column));
            let row = describing.map(|(_, &code)| code).collect();
            rows.entry(row).or_default().push(profile);
        }
        // By their first profile, because codes go by the order of rows; and then at random.
        let mut rows: Vec<Vec<usize>> = rows.into_values().collect();
        rows.sort_unstable();
        let stream = Stream::new(seed).named("rows in two parts");
        let places = (0..).zip(rows);
        let mut rows: Vec<(u64, Vec<usize>)> = places
            .map(|(place, row)| (stream.draw(place), row))
            .collect();
        rows.sort_unstable();
        let (mut so_far, mut taken) = (0, 0);
        for (_, row) in rows {
            if row.iter().all(|&p| self.people[p] / 2 >= least) {
                for profile in row {
                    first[profile] = first[profile].clamp(least, self.people[profile] - least);
                }
                continue;
            }
            // Where what was taken stays nearest to the share.
            let people: u64 = row.iter().map(|&profile| self.people[profile]).sum();
            so_far += people;
            let goes_first = (taken + people / 2) as f64 <= share * so_far as f64;
            for profile in row {
                first[profile] = if goes_first { self.people[profile] } else { 0 };
            }
            taken += if goes_first { people } else { 0 };
        }
        self.parted(&first)
    }

    /// How many people of each profile are drawn into the first part.
    fn first_part(&self, share: f64, seed: u64) -> Vec<u64> {
        let stream = Stream::new(seed).named("population in two parts");
        let mut first = vec![0; self.profiles()];
        for (profiles, g) in self.profiles_by_group().iter().zip(0..) {
            let weights: Vec<u64> = profiles.iter().map(|&p| self.people[p]).collect();
            let all: u64 = weights.iter().sum();
            let mut taken = ((all as f64 * share).round() as u64).min(all);
            if all > 1 {
                taken = taken.clamp(1, all - 1);
            }
            let taken = sample_without_replacement(&weights, taken, stream.substream(g));
            for (&profile, taken) in profiles.iter().zip(taken) {
                first[profile] = taken;
            }
        }
        first
    }

    /// Those people, and the others.
    fn parted(&self, first: &[u64]) -> (Self, Self) {
        let both = self.people.iter().zip(first);
        let second: Vec<u64> = both.map(|(all, first)| all - first).collect();
        (self.with_people(first), self.with_people(&second))
    }

    /// The population with some profiles added as the model would see them if they belonged to another
    /// group: nothing but the protected attributes differs, which take the values that most people of
    /// that group hold. Nobody stands behind a profile that is new. Also where each lies.
    pub(crate) fn seen_as(&self, profiles: &[usize], group: usize) -> (Self, Vec<usize>) {
        let mut values: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        for (profile, &g) in self.group_of.iter().enumerate() {
            if g as usize == group {
                let row = self.row(profile);
                let held = self.protected.iter().map(|&column| row[column]).collect();
                *values.entry(held).or_insert(0) += self.people[profile];
            }
        }
        // The first in order of text of several that are as common; codes go by the order of rows.
        let text = |codes: &[u32]| -> Vec<String> {
            let values = self.protected.iter().zip(codes);
            values
                .map(|(&column, &code)| self.columns[column].values()[code as usize].label())
                .collect()
        };
        let common = values.into_iter().max_by(|a, b| {
            let by_text = || text(&b.0).cmp(&text(&a.0));
            a.1.cmp(&b.1).then_with(by_text)
        });
        let common = common.map_or_else(Vec::new, |(values, _)| values);
        let mut seen = self.clone();
        let places = profiles.iter().map(|&profile| {
            let mut row = self.row(profile).to_vec();
            for (&column, &value) in self.protected.iter().zip(&common) {
                row[column] = value;
            }
            let (place, new) = seen.profiles.insert(&row);
            if new {
                seen.people.push(0);
                seen.group_of.push(group as u32);
                for levels in &mut seen.levels_of {
                    levels.push(levels[profile]);
                }
            }
            place
        });
        let places = places.collect();
        (seen, places)
    }

    /// The profiles of each group, in order.
    fn profiles_by_group(&self) -> Vec<Vec<usize>> {
        let mut by_group = vec![Vec::new(); self.groups.len()];
        for (profile, &g) in self.group_of.iter().enumerate() {
            by_group[g as usize].push(profile);
        }
        by_group
    }

    /// The population with so many people behind each profile; profiles with nobody drop out.
    fn with_people(&self, people: &[u64]) -> Self {
        let kept: Vec<usize> = (0..people.len()).filter(|&p| people[p] > 0).collect();
        let mut profiles = Rows::new(self.columns.len());
        for &profile in &kept {
            profiles.insert(self.profiles.row(profile));
        }
        let mut summary = self.summary.clone();
        summary.people = people.iter().sum();
        let levels_of = self.levels_of.iter();
        Self {
            columns: self.columns.clone(),
            column_of: self.column_of.clone(),
            features: self.features.clone(),
            profiles,
            people: kept.iter().map(|&p| people[p]).collect(),
            group_of: kept.iter().map(|&p| self.group_of[p]).collect(),
            levels_of: levels_of
                .map(|levels| kept.iter().map(|&p| levels[p]).collect())
                .collect(),
            typical: self.typical.clone(),
            groups: self.groups.clone(),
            protected: self.protected.clone(),
            summary,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};

    use super::*;
    use crate::population::{Declaration, Edges, Feature, Protected};

    /// Ages 20 to 59 in each group; group b has each of them twice, and c one person.
    fn population() -> Population {
        let mut rows: Vec<(&str, i64, i64)> = Vec::new();
        for age in 20..60 {
            rows.push(("a", age, 1));
            rows.push(("b", age, 2));
        }
        rows.push(("c", 90, 1));
        let group: StringArray = rows.iter().map(|row| Some(row.0)).collect();
        let age: Int64Array = rows.iter().map(|row| row.1).collect();
        let people: Int64Array = rows.iter().map(|row| row.2).collect();
        let table = RecordBatch::try_from_iter([
            ("group", Arc::new(group) as ArrayRef),
            ("age", Arc::new(age)),
            ("people", Arc::new(people)),
        ]);
        Declaration::new()
            .feature(Feature::binned("age", Edges::Quantiles(4)))
            .protected(Protected::attribute("group"))
            .weight("people")
            .read([table.unwrap()])
            .unwrap()
    }

    /// How many people of each group hold which row.
    fn people(population: &Population) -> BTreeMap<(usize, Vec<u32>), u64> {
        let profiles = 0..population.profiles();
        let rows = profiles.map(|p| {
            let row = (population.group(p), population.row(p).to_vec());
            (row, population.people(p))
        });
        rows.collect()
    }

    fn sizes(population: &Population) -> Vec<u64> {
        let mut sizes = vec![0; population.groups().len()];
        for profile in 0..population.profiles() {
            assert!(population.people(profile) > 0);
            sizes[population.group(profile)] += population.people(profile);
        }
        sizes
    }

    #[test]
    fn groups_keep_their_sizes_and_levels_their_meaning() {
        let whole = population();
        let again = whole.resampled(7);
        assert_eq!(sizes(&again), [40, 80, 1]);
        assert_eq!(again.summary().people, 121);
        assert_eq!(again.features()[0].levels, whole.features()[0].levels);
        let known = people(&whole);
        assert!(people(&again).keys().all(|row| known.contains_key(row)));
        for profile in 0..again.profiles() {
            let row = (0..whole.profiles()).find(|&p| whole.row(p) == again.row(profile));
            assert_eq!(whole.level(0, row.unwrap()), again.level(0, profile));
        }
    }

    #[test]
    fn people_can_be_seen_as_others() {
        let whole = population();
        let of_a: Vec<usize> = (0..whole.profiles())
            .filter(|&p| whole.group(p) == 0)
            .collect();
        let (seen, places) = whole.seen_as(&of_a, 1);
        // Group b has somebody of each age, so nobody is new.
        assert_eq!(seen.profiles(), whole.profiles());
        let (seen, alone) = whole.seen_as(&of_a, 2);
        assert_eq!(seen.profiles(), whole.profiles() + of_a.len());
        assert_eq!(people(&seen).values().sum::<u64>(), 121);
        for ((&profile, &there), &alone) in of_a.iter().zip(&places).zip(&alone) {
            assert_eq!((seen.group(there), seen.group(alone)), (1, 2));
            assert_eq!((seen.people(there), seen.people(alone)), (2, 0));
            assert_eq!(seen.level(0, alone), whole.level(0, profile));
            let differ = (whole.row(profile).iter())
                .zip(seen.row(alone))
                .filter(|(a, b)| a != b);
            assert_eq!(differ.count(), 1);
        }
    }

    #[test]
    fn people_are_drawn_by_the_seed() {
        let whole = population();
        assert_eq!(people(&whole.resampled(7)), people(&whole.resampled(7)));
        assert_ne!(people(&whole.resampled(7)), people(&whole.resampled(8)));
        // Of 40 people drawn 40 times, about 1 in e is never drawn.
        let kept: usize = (0..100).map(|seed| whole.resampled(seed).profiles()).sum();
        let expected =
            100.0 * (40.0 * (1.0 - 0.975_f64.powi(40)) + 40.0 * (1.0 - 0.975_f64.powi(80)) + 1.0);
        assert!(
            (kept as f64 - expected).abs() < 0.02 * expected,
            "{kept}, not {expected}"
        );
    }

    /// Rows of 3 to 9 people of one group or of both, split so that each part has 3 of a row or nobody.
    #[test]
    fn two_parts_share_their_rows() {
        let mut rows: Vec<(&str, i64, i64)> = Vec::new();
        for age in 0..40 {
            rows.extend((age % 3 > 0).then_some(("a", age, 3 + age % 7)));
            rows.extend((age % 3 < 2).then_some(("b", age, 3 + age % 5)));
        }
        let group: StringArray = rows.iter().map(|row| Some(row.0)).collect();
        let age: Int64Array = rows.iter().map(|row| row.1).collect();
        let count: Int64Array = rows.iter().map(|row| row.2).collect();
        let table = RecordBatch::try_from_iter([
            ("group", Arc::new(group) as ArrayRef),
            ("age", Arc::new(age)),
            ("people", Arc::new(count)),
        ]);
        let whole = Declaration::new()
            .feature(Feature::binned("age", Edges::Quantiles(4)))
            .protected(Protected::attribute("group"))
            .weight("people")
            .read([table.unwrap()])
            .unwrap();
        let all = people(&whole);
        let age_of = |row: &[u32]| -> Vec<u32> {
            let columns = row.iter().enumerate();
            let age = columns.filter(|(column, _)| !whole.protected.contains(column));
            age.map(|(_, &code)| code).collect()
        };
        let (mut in_first, mut divided, mut alone) = (0, 0, 0);
        for seed in 0..50 {
            let (first, second) = whole.split_by_rows(0.5, seed, 3);
            let (first, second) = (people(&first), people(&second));
            in_first += first.values().sum::<u64>();
            let mut parts_of: BTreeMap<Vec<u32>, Vec<(bool, bool)>> = BTreeMap::new();
            for (row, &both) in &all {
                let of = |part: &BTreeMap<_, u64>| part.get(row).copied().unwrap_or(0);
                let (here, there) = (of(&first), of(&second));
                assert_eq!(here + there, both);
                assert!(
                    here != 1 && here != 2 && there != 1 && there != 2,
                    "{here} and {there}"
                );
                let parts = parts_of.entry(age_of(&row.1)).or_default();
                parts.push((here > 0, there > 0));
            }
            for parts in parts_of.values() {
                // In which part a row is has nothing to do with a group.
                assert!(parts.iter().all(|part| *part == parts[0]), "{parts:?}");
                divided += u64::from(parts[0] == (true, true));
                alone += u64::from(parts[0] != (true, true));
            }
            let (again, _) = whole.split_by_rows(0.5, seed, 3);
            assert_eq!(people(&again), first);
        }
        assert!(divided > 0 && alone > 0, "{divided} and {alone}");
        let share = in_first as f64 / (50 * all.values().sum::<u64>()) as f64;
        assert!((0.48..0.52).contains(&share), "{share}");
    }

    #[test]
    fn two_parts_make_the_whole() {
        let whole = population();
        for (share, sizes_of_first) in
            [(0.5, [20, 40, 1]), (0.3, [12, 24, 0]), (0.999, [39, 79, 1])]
        {
            let (first, second) = whole.split(share, 3);
            assert_eq!(sizes(&first), sizes_of_first);
            let mut both = people(&first);
            for (row, people) in people(&second) {
                *both.entry(row).or_insert(0) += people;
            }
            assert_eq!(both, people(&whole));
        }
        assert_ne!(
            people(&whole.split(0.5, 3).0),
            people(&whole.split(0.5, 4).0)
        );
        // A profile of two people may be in both parts.
        let (first, second) = whole.split(0.5, 3);
        let (first, second) = (people(&first), people(&second));
        assert!(first.keys().any(|row| second.contains_key(row)));
    }
}
