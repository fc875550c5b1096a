//! Somebody who has everything that was written of an audit, and wants to know of fewer than k people.
//!
//! A cell is a set of people of one group: those who satisfy a conjunction of items, all of them, those whom
//! a change flips, or those of one part of a hold-out. What is known of cells is gathered from all files
//! together (`reading.rs`); what follows from it is found by solving the equations between cells: a cell is
//! the sum of its parts by the levels of any feature.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

/// Whom of those who satisfy the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Whom {
    /// All of them.
    Members,
    /// Those whom a change flips.
    Flipped(usize),
    /// Those among whom a hold-out finds.
    Found,
    /// Those among whom it tests.
    Tested,
}

/// A set of people: group, whom of it, and their items as feature and level.
pub(crate) type Cell = (usize, Whom, Vec<(usize, usize)>);

/// What is known.
#[derive(Default)]
pub(crate) struct Attacker {
    k: u64,
    groups: usize,
    /// How many levels each feature has.
    levels: Vec<usize>,
    known: HashMap<Cell, u64>,
    /// By text of a subgroup, its items; by text of a change, its number.
    subgroups: HashMap<String, Vec<(usize, usize)>>,
    changes: HashMap<String, usize>,
    /// The groups, by name.
    pub(crate) names: Vec<String>,
    /// What is being read.
    form: String,
    /// By form, how many numbers of people it told of.
    pub(crate) told: BTreeMap<String, u64>,
    /// How many systems of equations were solved, and how many were not set up because fewer than two of
    /// their cells are told.
    pub(crate) systems: (u64, u64),
    /// Numbers and columns of which it is not said whether they are about people.
    pub(crate) unknown: BTreeSet<String>,
    /// Sets of fewer than k people that were found.
    pub(crate) found: BTreeSet<String>,
}

impl Attacker {
    /// Reads a saved audit.
    pub(crate) fn of(saved: &Value, k: u64) -> Self {
        let audit = &saved["audit"];
        let features = audit["features"].as_array().unwrap();
        let levels = features.iter().map(|f| f["levels"].as_array().unwrap());
        let groups = audit["groups"].as_array().unwrap();
        let mut attacker = Self {
            k,
            groups: groups.len(),
            levels: levels.map(Vec::len).collect(),
            names: groups
                .iter()
                .map(|group| group["name"].as_str().unwrap().trim().to_owned())
                .collect(),
            ..Self::default()
        };
        attacker.form("saved audit");
        let text = |feature: usize, level: usize| {
            let feature = &features[feature];
            let label = feature["levels"][level]["label"].as_str().unwrap();
            format!("{} = {label}", feature["name"].as_str().unwrap())
        };
        let joined = |items: &[(usize, usize)]| {
            let items: Vec<String> = items.iter().map(|&(f, l)| text(f, l)).collect();
            clean(&items.join(", "))
        };
        for (place, change) in audit["changes"].as_array().unwrap().iter().enumerate() {
            attacker.changes.insert(joined(&items(change)), place);
        }
        for (g, group) in groups.iter().enumerate() {
            let affected = group["affected"].as_u64().unwrap();
            attacker.learn((g, Whom::Members, Vec::new()), affected);
        }
        for list in ["subgroups", "without_actions"] {
            for subgroup in audit[list].as_array().unwrap() {
                let predicate = items(&subgroup["predicate"]);
                attacker
                    .subgroups
                    .insert(joined(&predicate), predicate.clone());
                for g in 0..attacker.groups {
                    let members = subgroup["members"][g].as_u64().unwrap();
                    attacker.learn((g, Whom::Members, predicate.clone()), members);
                    if list == "subgroups" {
                        attacker.learn_flips(subgroup, &predicate, g, members);
                    }
                }
            }
        }
        attacker.read_json(saved);
        attacker
    }

    /// Says what is read from now on.
    pub(crate) fn form(&mut self, name: &str) {
        name.clone_into(&mut self.form);
        self.told.entry(name.to_owned()).or_default();
    }

    /// The items of a subgroup, by its text; none if the text is that of no subgroup.
    pub(crate) fn items_of(&self, text: &str) -> Option<Vec<(usize, usize)>> {
        match text.is_empty() {
            true => Some(Vec::new()),
            false => self.subgroups.get(&clean(text)).cloned(),
        }
    }

    /// The number of a change, by its text.
    pub(crate) fn change_of(&self, text: &str) -> usize {
        self.changes[&clean(text)]
    }

    /// How many people are known to be in a cell.
    pub(crate) fn told(&self, cell: &Cell) -> Option<u64> {
        self.known.get(cell).copied()
    }

    fn learn_flips(
        &mut self,
        subgroup: &Value,
        predicate: &[(usize, usize)],
        g: usize,
        members: u64,
    ) {
        let groups = self.groups;
        for (a, action) in subgroup["actions"].as_array().unwrap().iter().enumerate() {
            let change = action["change"].as_u64().unwrap() as usize;
            if let Some(flipped) = subgroup["flips"][a * groups + g].as_u64() {
                self.learn((g, Whom::Flipped(change), predicate.to_vec()), flipped);
                self.difference(Some(members), Some(flipped), "members not flipped");
            }
        }
        let reached = subgroup["reached"].as_array().unwrap();
        let mut before = Some(0);
        for level in reached.chunks(groups) {
            let now = level[g].as_u64();
            self.difference(now, before, "reached at a cost");
            self.difference(Some(members), now, "not reached at a cost");
            before = now;
        }
    }

    /// Learns how many people are in a cell. All forms must tell the same.
    pub(crate) fn learn(&mut self, cell: Cell, people: u64) {
        self.count();
        if (1..self.k).contains(&people) {
            self.found.insert(format!("{cell:?} told: {people}"));
        }
        if let Some(before) = self.known.insert(cell, people) {
            assert_eq!(before, people, "{} tells otherwise", self.form);
        }
    }

    /// Learns of some people and of a part of them.
    pub(crate) fn difference(&mut self, whole: Option<u64>, part: Option<u64>, what: &str) {
        if let (Some(whole), Some(part)) = (whole, part) {
            self.count();
            let rest = whole.abs_diff(part);
            if (1..self.k).contains(&rest) {
                let form = &self.form;
                self.found
                    .insert(format!("{form}: {what}: {whole} - {part}"));
            }
        }
    }

    fn count(&mut self) {
        match self.told.get_mut(&self.form) {
            Some(told) => *told += 1,
            None => drop(self.told.insert(self.form.clone(), 1)),
        }
    }

    /// Looks at who satisfies some items of a cell and none of its others, by inclusion and exclusion, and at
    /// who of them is not flipped, or in the other part of a hold-out.
    pub(crate) fn exclude(&mut self) {
        self.form("exclusion");
        let cells: Vec<Cell> = self.known.keys().cloned().collect();
        for (g, whom, items) in cells {
            let all = 1_usize << items.len();
            let subset = |mask: usize| -> Vec<(usize, usize)> {
                let chosen = (0..items.len()).filter(|place| mask >> place & 1 == 1);
                chosen.map(|place| items[place]).collect()
            };
            let told = |whom: Whom| -> Vec<Option<i64>> {
                let cell = |mask| self.told(&(g, whom, subset(mask)));
                (0..all).map(|mask| Some(cell(mask)? as i64)).collect()
            };
            let own = told(whom);
            let members = (whom != Whom::Members).then(|| told(Whom::Members));
            let mut seen = Vec::new();
            for kept in 0..all - 1 {
                let others = (all - 1) & !kept;
                let without = |told: &[Option<i64>]| -> Option<i64> {
                    // Every subset of the other items, none of them included.
                    let (mut sum, mut some) = (0, others);
                    loop {
                        let sign = if some.count_ones() % 2 == 0 { 1 } else { -1 };
                        sum += sign * told[kept | some]?;
                        if some == 0 {
                            return Some(sum);
                        }
                        some = (some - 1) & others;
                    }
                };
                let own_without = without(&own);
                seen.extend(own_without);
                // Those of the kept items who miss any of the others, and not all of them.
                seen.extend(own[kept].zip(own[all - 1]).map(|(a, b)| a - b));
                if let Some(members) = &members {
                    let members = without(members);
                    seen.extend(members.zip(own_without).map(|(all, own)| all - own));
                }
            }
            for people in seen {
                assert!(people >= 0, "{whom:?} of {items:?}: {people}");
                let what = format!("{whom:?} of group {g}, {items:?} but some");
                self.difference(Some(people as u64), Some(0), &what);
            }
        }
    }

    /// Solves equations one by one until nothing more follows, and looks at what is left of each.
    pub(crate) fn subtract(&mut self) {
        self.form("subtraction");
        loop {
            // Of nobody nothing more follows.
            let somebody = self.known.iter().filter(|(_, people)| **people > 0);
            let wholes: Vec<(Cell, u64)> = somebody.map(|(c, &n)| (c.clone(), n)).collect();
            let mut solved = Vec::new();
            for (whole, people) in &wholes {
                for feature in 0..self.levels.len() {
                    if whole.2.iter().all(|&(f, _)| f != feature) {
                        self.parts(whole, *people, feature, &mut solved);
                    }
                }
            }
            let before = self.known.len();
            for (cell, people) in solved {
                if !self.known.contains_key(&cell) {
                    self.learn(cell, people);
                }
            }
            if self.known.len() == before {
                return;
            }
        }
    }

    fn parts(&mut self, whole: &Cell, people: u64, feature: usize, solved: &mut Vec<(Cell, u64)>) {
        let (mut rest, mut hidden) = (people, Vec::new());
        let mut some = false;
        for level in 0..self.levels[feature] {
            let part = with(whole, feature, level);
            match self.known.get(&part) {
                Some(&known) => {
                    some = true;
                    rest -= known;
                    self.difference(Some(people), Some(known), "all but one level");
                }
                None => hidden.push(part),
            }
        }
        if some {
            self.difference(Some(rest), Some(0), "the levels that are not told");
        }
        match hidden.len() {
            1 => solved.extend(hidden.into_iter().map(|cell| (cell, rest))),
            2.. if rest == 0 => solved.extend(hidden.into_iter().map(|cell| (cell, 0))),
            _ => {}
        }
    }

    /// Solves all equations between cells of so many features together, for every choice of them.
    ///
    /// A system is set up if at least two of its cells are told. Otherwise no equation has two numbers in it,
    /// and what follows from one has been seen by [`Self::subtract`].
    pub(crate) fn solve(&mut self, together: usize) {
        self.form("equations");
        let mut told: HashMap<(usize, Whom), Vec<u64>> = HashMap::new();
        for (g, whom, items) in self.known.keys() {
            let features = items.iter().map(|&(feature, _)| 1 << feature);
            told.entry((*g, *whom)).or_default().push(features.sum());
        }
        let mut told: Vec<_> = told.into_iter().collect();
        told.sort_unstable();
        for features in choices(self.levels.len(), together) {
            let among: u64 = features.iter().map(|&feature| 1 << feature).sum();
            for ((g, whom), cells) in &told {
                let here = cells.iter().filter(|&&cell| cell & !among == 0);
                if here.take(2).count() < 2 {
                    self.systems.1 += 1;
                    continue;
                }
                self.systems.0 += 1;
                for (cell, people) in self.system(*g, *whom, &features) {
                    self.learn(cell, people);
                }
            }
        }
    }

    /// The cells that follow from the equations over these features.
    fn system(&self, g: usize, whom: Whom, features: &[usize]) -> Vec<(Cell, u64)> {
        let mut cells: Vec<Cell> = vec![(g, whom, Vec::new())];
        for &feature in features {
            for cell in cells.clone() {
                cells.extend((0..self.levels[feature]).map(|level| with(&cell, feature, level)));
            }
        }
        let told: HashMap<&Cell, u64> = cells
            .iter()
            .filter_map(|cell| Some((cell, self.told_or_nobody(cell)?)))
            .collect();
        let hidden: Vec<&Cell> = cells.iter().filter(|c| !told.contains_key(*c)).collect();
        let places: HashMap<&Cell, usize> =
            hidden.iter().enumerate().map(|(i, &c)| (c, i)).collect();
        let mut rows = Vec::new();
        for cell in &cells {
            for &feature in features {
                if cell.2.iter().any(|&(f, _)| f == feature) {
                    continue;
                }
                let mut row = Row::default();
                row.add(cell, 1, &places, &told);
                for level in 0..self.levels[feature] {
                    row.add(&with(cell, feature, level), PRIME - 1, &places, &told);
                }
                rows.push(row);
            }
        }
        let solved = eliminate(rows);
        solved
            .into_iter()
            .map(|(place, people)| {
                assert!(people < 1 << 40, "the files contradict each other");
                (hidden[place].clone(), people)
            })
            .collect()
    }

    /// How many people are in a cell, if that is told, or if nobody is in one that it is part of.
    fn told_or_nobody(&self, cell: &Cell) -> Option<u64> {
        let (g, whom, items) = cell;
        if let Some(&told) = self.known.get(cell) {
            return Some(told);
        }
        let nobody = (0..1_usize << items.len()).any(|mask| {
            let some = (0..items.len()).filter(|place| mask >> place & 1 == 1);
            let some: Vec<_> = some.map(|place| items[place]).collect();
            let whole = |whom| self.known.get(&(*g, whom, some.clone())) == Some(&0);
            whole(*whom) || whole(Whom::Members)
        });
        nobody.then_some(0)
    }
}

/// Sums are exact in the integers modulo this prime: all counts are far below it.
const PRIME: u64 = (1 << 61) - 1;

/// An equation: coefficients of hidden cells, which together with a number are 0.
#[derive(Default)]
struct Row {
    coefficients: BTreeMap<usize, u64>,
    number: u64,
}

impl Row {
    fn add(
        &mut self,
        cell: &Cell,
        factor: u64,
        places: &HashMap<&Cell, usize>,
        told: &HashMap<&Cell, u64>,
    ) {
        match places.get(cell) {
            Some(&place) => {
                self.coefficients.insert(place, factor);
            }
            None => self.number = (self.number + times(factor, told[cell])) % PRIME,
        }
    }

    /// Subtracts so much of another equation that its first cell goes.
    fn reduce(&mut self, other: &Self, place: usize) {
        let Some(&factor) = self.coefficients.get(&place) else {
            return;
        };
        let factor = PRIME - factor;
        for (&cell, &coefficient) in &other.coefficients {
            let entry = self.coefficients.entry(cell).or_insert(0);
            *entry = (*entry + times(factor, coefficient)) % PRIME;
            if *entry == 0 {
                self.coefficients.remove(&cell);
            }
        }
        self.number = (self.number + times(factor, other.number)) % PRIME;
    }

    fn scale(&mut self, factor: u64) {
        for coefficient in self.coefficients.values_mut() {
            *coefficient = times(*coefficient, factor);
        }
        self.number = times(self.number, factor);
    }
}

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}

fn inverse(mut base: u64) -> u64 {
    let (mut power, mut result) = (PRIME - 2, 1);
    while power > 0 {
        if power % 2 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        power /= 2;
    }
    result
}

/// Gauss and Jordan: the cells that have one value only, with it.
fn eliminate(rows: Vec<Row>) -> Vec<(usize, u64)> {
    let mut pivots: BTreeMap<usize, Row> = BTreeMap::new();
    for mut row in rows {
        while let Some((&first, &coefficient)) = row.coefficients.first_key_value() {
            if let Some(pivot) = pivots.get(&first) {
                row.reduce(pivot, first);
            } else {
                row.scale(inverse(coefficient));
                pivots.insert(first, row);
                break;
            }
        }
    }
    let places: Vec<usize> = pivots.keys().copied().collect();
    for &place in places.iter().rev() {
        let mut row = pivots.remove(&place).unwrap();
        for later in row.coefficients.keys().copied().skip(1).collect::<Vec<_>>() {
            if let Some(pivot) = pivots.get(&later) {
                row.reduce(pivot, later);
            }
        }
        pivots.insert(place, row);
    }
    let single = pivots
        .into_iter()
        .filter(|(_, row)| row.coefficients.len() == 1);
    single
        .map(|(place, row)| (place, (PRIME - row.number) % PRIME))
        .collect()
}

/// Every choice of so many of some features.
fn choices(features: usize, together: usize) -> Vec<Vec<usize>> {
    let mut choices = vec![Vec::new()];
    for _ in 0..together {
        let longer = choices.iter().flat_map(|choice: &Vec<usize>| {
            let next = choice.last().map_or(0, |&last| last + 1);
            (next..features).map(|feature| [&choice[..], &[feature]].concat())
        });
        choices = longer.collect();
    }
    choices
}

/// A text with single blanks: labels may begin or end with one.
fn clean(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(" ,", ",")
}

/// The part of a cell with one more item.
fn with(cell: &Cell, feature: usize, level: usize) -> Cell {
    let mut part = cell.clone();
    part.2.push((feature, level));
    part.2.sort_unstable();
    part
}

/// Items or assignments as feature and level.
fn items(value: &Value) -> Vec<(usize, usize)> {
    let number = |item: &Value, name: &str| item[name].as_u64().unwrap() as usize;
    let items = value.as_array().unwrap().iter();
    items
        .map(|item| (number(item, "feature"), number(item, "level")))
        .collect()
}

/// The fields of a line of CSV.
pub(crate) fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}
