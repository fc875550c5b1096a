//! What `report.html` carries for its script, read number by number as the explorer reads it
//! (`crates/serve/web/src/offline/payload.ts`), to the last byte.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::attacker::{Attacker, Whom};

/// Whole numbers of seven bits a byte.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn next(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = self.0.split_first().unwrap();
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }

    fn list(&mut self, length: usize) -> Vec<u64> {
        (0..length).map(|_| self.next()).collect()
    }
}

fn size(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// Reads it.
pub(crate) fn read(attacker: &mut Attacker, bytes: &[u8]) {
    let (length, rest) = bytes.split_first_chunk::<4>().unwrap();
    let (header, numbers) = rest.split_at(u32::from_le_bytes(*length) as usize);
    let header: Value = serde_json::from_slice(header).unwrap();
    // Level by level, what the server answers; what refers to the numbers is read with them.
    for part in ["session", "overview", "stories", "groups"] {
        attacker.read_json(&header[part]);
    }
    let mut numbers = Numbers(numbers);
    let subgroups = size(&header["subgroups"]);
    let (ranked, members) = predicates(attacker, &header, &mut numbers, subgroups);
    predicates(
        attacker,
        &header,
        &mut numbers,
        size(&header["without_actions"]),
    );

    let counts = numbers.list(subgroups);
    let actions: usize = counts.iter().map(|&count| count as usize).sum();
    let changes = numbers.list(actions);
    let costs = numbers.list(actions);
    let starts: Vec<usize> = counts
        .iter()
        .scan(0, |start, &count| {
            let own = *start;
            *start += count as usize;
            Some(own)
        })
        .collect();
    let change_texts: Vec<usize> = list(&header["changes"])
        .iter()
        .map(|change| {
            let pairs = list(change).iter();
            let text = pairs.map(|pair| {
                format!(
                    "{} = {}",
                    pair[0].as_str().unwrap(),
                    pair[1].as_str().unwrap()
                )
            });
            attacker.change_of(&text.collect::<Vec<_>>().join(", "))
        })
        .collect();
    // By how many members, which parts of them some change flips: their intervals come later.
    let mut shares: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (g, members) in members.iter().enumerate() {
        for (s, &all) in members.iter().enumerate() {
            let of_members = shares.entry(all).or_default();
            for action in starts[s]..starts[s] + counts[s] as usize {
                // 0 is suppressed; what is known comes one higher.
                let Some(flips) = numbers.next().checked_sub(1) else {
                    continue;
                };
                of_members.insert(flips);
                let change = change_texts[changes[action] as usize];
                attacker.learn((g, Whom::Flipped(change), ranked[s].clone()), flips);
                attacker.difference(Some(all), Some(flips), "members not flipped");
            }
        }
    }
    distributions(attacker, &mut numbers, &members, &|s| {
        let own = &costs[starts[s]..starts[s] + counts[s] as usize];
        own.iter().filter(|&&cost| cost % 2 == 1).count()
    });
    if !header["intervals"].is_null() {
        let ends: usize = shares.values().map(BTreeSet::len).sum();
        numbers.list(2 * ends);
    }
    for sentence in sentences(&mut numbers, &header["gaps"], subgroups) {
        attacker.read_text(&sentence);
    }
    if header["told"] == true {
        numbers.list(2 * subgroups);
    }
    for column in list(&header["columns"]) {
        read_column(attacker, column, &mut numbers, &members);
    }
    assert!(
        numbers.0.is_empty(),
        "{} bytes are not read",
        numbers.0.len()
    );
}

/// Items of a predicate, as feature and level.
type Items = Vec<(usize, usize)>;

/// Predicates, and the members of each by group.
fn predicates(
    attacker: &mut Attacker,
    header: &Value,
    numbers: &mut Numbers<'_>,
    length: usize,
) -> (Vec<Items>, Vec<Vec<u64>>) {
    let lengths = numbers.list(length);
    let predicates: Vec<Items> = lengths
        .iter()
        .map(|&items| {
            let items = numbers.list(items as usize).into_iter();
            let texts = items.map(|item| {
                let item = list(&header["items"][item as usize]).iter();
                let words: Vec<&str> = item.map(|word| word.as_str().unwrap()).collect();
                words.join(" ")
            });
            let text = texts.collect::<Vec<_>>().join(", ");
            attacker.items_of(&text).unwrap()
        })
        .collect();
    let groups = 0..list(&header["groups"]).len();
    let members: Vec<Vec<u64>> = groups.map(|_| numbers.list(length)).collect();
    for (g, members) in members.iter().enumerate() {
        for (items, &people) in predicates.iter().zip(members) {
            attacker.learn((g, Whom::Members, items.clone()), people);
        }
    }
    (predicates, members)
}

/// The members reached at each cost, each by their own action and by one for all.
fn distributions(
    attacker: &mut Attacker,
    numbers: &mut Numbers<'_>,
    members: &[Vec<u64>],
    levels: &dyn Fn(usize) -> usize,
) {
    let mut micro = Vec::new();
    for members in members {
        for (s, &all) in members.iter().enumerate() {
            let mut before = Some(0);
            for stored in numbers.list(levels(s)) {
                let reached = stored.checked_sub(1);
                attacker.difference(reached, before, "reached at a cost");
                attacker.difference(Some(all), reached, "not reached at a cost");
                before = reached;
                micro.push((all, stored));
            }
        }
    }
    for (all, own) in micro {
        // 0 is the same as of those who choose for themselves, otherwise one higher.
        let stored = numbers.next().checked_sub(1).unwrap_or(own);
        let reached = stored.checked_sub(1);
        attacker.difference(reached, Some(0), "reached by one action at a cost");
        attacker.difference(Some(all), reached, "not reached by one action at a cost");
    }
}

/// Sentences whose numbers stand apart from their texts.
fn sentences(numbers: &mut Numbers<'_>, texts: &Value, length: usize) -> Vec<String> {
    let parts = |place: u64| match place {
        0 => &[][..],
        _ => list(&texts[place as usize - 1]),
    };
    let text = |part: &Value| part.as_str().unwrap().to_owned();
    let places = numbers.list(length);
    let first = places.iter().map(|&place| parts(place).first());
    let mut sentences: Vec<String> = first
        .map(|part| part.map_or_else(String::new, text))
        .collect();
    let most = list(texts).iter().map(|text| list(text).len()).max();
    for slot in 1..most.unwrap_or(0) {
        let having = (0..length).filter(|&s| parts(places[s]).len() > slot);
        let having: Vec<usize> = having.collect();
        let decimals = numbers.list(having.len());
        for (s, decimals) in having.into_iter().zip(decimals) {
            let after = decimals as usize;
            let digits = format!("{:0>width$}", numbers.next(), width = after + 1);
            let (whole, behind) = digits.split_at(digits.len() - after);
            let point = if after > 0 { "." } else { "" };
            let next = text(&parts(places[s])[slot]);
            sentences[s] += &format!("{whole}{point}{behind}{next}");
        }
    }
    sentences
}

/// What one definition compares, and the rest of what is sent about it.
fn read_column(
    attacker: &mut Attacker,
    column: &Value,
    numbers: &mut Numbers<'_>,
    members: &[Vec<u64>],
) {
    let subgroups = members[0].len();
    let ranks = numbers.list(subgroups);
    let ranked: Vec<usize> = (0..subgroups).filter(|&s| ranks[s] > 0).collect();
    let unfair = ranked.iter().filter(|&&s| ranks[s] > 2).count();
    // Against whom.
    numbers.list(ranked.len());
    for members in members {
        let values = numbers.list(ranked.len());
        if column["values"].is_null() {
            for (&s, part) in ranked.iter().zip(values) {
                attacker.difference(Some(part), Some(0), "compared");
                attacker.difference(Some(members[s]), Some(part), "the rest of what is compared");
            }
        }
    }
    if column["tested"] == true {
        numbers.list(ranked.len());
    }
    if column["lists_all"] == false {
        for _ in 0..members.len() * subgroups {
            let runs = numbers.next() as usize;
            numbers.list(runs);
        }
    }
    let tests = &column["evidence"];
    if !tests.is_null() {
        let stands = numbers.list(unfair);
        let tested = stands.iter().filter(|&&stands| stands < 8).count();
        numbers.list(3 * tested + ranked.len());
        for sentence in sentences(numbers, &tests["least_texts"], size(&tests["least"])) {
            attacker.read_text(&sentence);
        }
    }
    // In the order for people.
    numbers.list(unfair);
    for (name, said) in column.as_object().unwrap() {
        if matches!(name.as_str(), "close" | "pairs" | "evidence_words") {
            attacker.read_json(said);
        }
    }
}
