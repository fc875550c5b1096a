//! Somebody who has everything that was written of an audit, and wants to know of fewer than k people.
//!
//! A cell is a set of people of one group: those who satisfy a conjunction of items, all of them or those whom
//! a change flips. What is known of cells is gathered from all files together; what follows from it is found
//! by solving the equations between cells: a cell is the sum of its parts by the levels of any feature.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

/// A set of people: group, the change that flips them if any, and their items as feature and level.
type Cell = (usize, Option<usize>, Vec<(usize, usize)>);

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
    names: Vec<String>,
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
        let text = |feature: usize, level: usize| {
            let feature = &features[feature];
            let label = feature["levels"][level]["label"].as_str().unwrap();
            format!("{} = {label}", feature["name"].as_str().unwrap())
        };
        let joined = |items: &[(usize, usize)]| {
            let items: Vec<String> = items.iter().map(|&(f, l)| text(f, l)).collect();
            items.join(", ")
        };
        for (place, change) in audit["changes"].as_array().unwrap().iter().enumerate() {
            attacker.changes.insert(joined(&items(change)), place);
        }
        for (g, group) in groups.iter().enumerate() {
            attacker.learn((g, None, Vec::new()), group["affected"].as_u64().unwrap());
            attacker.difference(
                group["people"].as_u64(),
                group["affected"].as_u64(),
                "accepted",
            );
        }
        for list in ["subgroups", "without_actions"] {
            for subgroup in audit[list].as_array().unwrap() {
                let predicate = items(&subgroup["predicate"]);
                attacker
                    .subgroups
                    .insert(joined(&predicate), predicate.clone());
                for g in 0..attacker.groups {
                    let members = subgroup["members"][g].as_u64().unwrap();
                    attacker.learn((g, None, predicate.clone()), members);
                    if list == "subgroups" {
                        attacker.learn_flips(subgroup, &predicate, g, members);
                    }
                }
            }
        }
        attacker.read_numbers(saved);
        attacker
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
                self.learn((g, Some(change), predicate.to_vec()), flipped);
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

    /// Every number of people that is told elsewhere in the saved audit: each is a set of people, and so is
    /// what it leaves of a total beside it.
    fn read_numbers(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                if let (Some(part), Some(whole)) = (fields.get("part"), fields.get("whole")) {
                    self.difference(part.as_u64(), Some(0), "a part");
                    self.difference(whole.as_u64(), part.as_u64(), "the rest of a part");
                }
                for name in [
                    "people", "affected", "refused", "excluded", "dropped", "left_out",
                ] {
                    let told = fields.get(name).and_then(Value::as_u64);
                    self.difference(told, Some(0), name);
                }
                fields.values().for_each(|field| self.read_numbers(field));
            }
            Value::Array(values) => values.iter().for_each(|value| self.read_numbers(value)),
            _ => {}
        }
    }

    /// Reads the sheet of all subgroups and actions.
    pub(crate) fn read_actions(&mut self, sheet: &str) {
        let mut lines = sheet.lines().map(fields);
        let header = lines.next().unwrap();
        let place = |name: &str| header.iter().position(|column| column == name).unwrap();
        let (subgroup, change) = (place("subgroup"), place("change"));
        for line in lines {
            let items = self.subgroups[&line[subgroup]].clone();
            let change = self.changes[&line[change]];
            for g in 0..self.groups {
                let name = self.names[g].clone();
                for (column, change) in [("members", None), ("flips", Some(change))] {
                    let cell = &line[place(&format!("{column} {name}"))];
                    if let Ok(people) = cell.parse() {
                        self.learn((g, change, items.clone()), people);
                    }
                }
            }
        }
    }

    /// Reads a text: wherever it says `78 of 6,612`, those 78 and the others are sets of people.
    pub(crate) fn read_text(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |word: &str| -> Option<u64> {
            let digits = word.trim_matches(|c: char| !c.is_ascii_digit());
            digits.replace(',', "").parse().ok()
        };
        for window in words.windows(3) {
            if window[0].starts_with('(') && window[1] == "of" && window[2].contains(')') {
                let (part, whole) = (number(window[0]), number(window[2]));
                self.difference(part, Some(0), "told in words");
                self.difference(whole, part, "the rest of what is told in words");
            }
        }
    }

    fn learn(&mut self, cell: Cell, people: u64) {
        if (1..self.k).contains(&people) {
            self.found.insert(format!("{cell:?} told: {people}"));
        }
        self.known.insert(cell, people);
    }

    fn difference(&mut self, whole: Option<u64>, part: Option<u64>, what: &str) {
        if let (Some(whole), Some(part)) = (whole, part) {
            let rest = whole.abs_diff(part);
            if (1..self.k).contains(&rest) {
                self.found.insert(format!("{what}: {whole} - {part}"));
            }
        }
    }

    /// Solves equations one by one until nothing more follows, and looks at what is left of each.
    pub(crate) fn subtract(&mut self) {
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

    /// Solves all equations between cells of a few features together.
    pub(crate) fn solve(&mut self, features: &[usize]) {
        let mut changes: BTreeSet<Option<usize>> = [None].into();
        if self.known.len() < 20_000 {
            changes.extend(self.known.keys().map(|cell| cell.1));
        }
        for g in 0..self.groups {
            for &change in &changes {
                let system = self.system(g, change, features);
                for (cell, people) in system {
                    self.learn(cell, people);
                }
            }
        }
    }

    /// The cells that follow from the equations over these features.
    fn system(&self, g: usize, change: Option<usize>, features: &[usize]) -> Vec<(Cell, u64)> {
        let mut cells: Vec<Cell> = vec![(g, change, Vec::new())];
        for &feature in features {
            for cell in cells.clone() {
                cells.extend((0..self.levels[feature]).map(|level| with(&cell, feature, level)));
            }
        }
        let hidden: Vec<&Cell> = cells
            .iter()
            .filter(|c| !self.known.contains_key(*c))
            .collect();
        let places: HashMap<&Cell, usize> =
            hidden.iter().enumerate().map(|(i, &c)| (c, i)).collect();
        let mut rows = Vec::new();
        for cell in &cells {
            for &feature in features {
                if cell.2.iter().any(|&(f, _)| f == feature) {
                    continue;
                }
                let mut row = Row::default();
                row.add(cell, 1, &places, &self.known);
                for level in 0..self.levels[feature] {
                    row.add(&with(cell, feature, level), PRIME - 1, &places, &self.known);
                }
                rows.push(row);
            }
        }
        let solved = eliminate(rows);
        solved
            .into_iter()
            .map(|(place, people)| (hidden[place].clone(), people))
            .collect()
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
        known: &HashMap<Cell, u64>,
    ) {
        match places.get(cell) {
            Some(&place) => {
                self.coefficients.insert(place, factor);
            }
            None => self.number = (self.number + times(factor, known[cell])) % PRIME,
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
fn fields(line: &str) -> Vec<String> {
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
