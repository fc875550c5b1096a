//! How far a share of the same people moved from one model to the next, person by person.

use super::answer::wilson;
use super::decimal::Share;
use std::collections::BTreeMap;

/// One row: how many people it stands for, which kind of person that is, and whether they had a way and have one.
pub struct Fare<K> {
    pub weight: u64,
    pub kind: K,
    pub had: bool,
    pub has: bool,
}

/// By how much the share moved, and how far below and above that the truth may lie.
#[derive(Debug, Clone, Copy)]
pub struct Move {
    pub by: f64,
    pub below: f64,
    pub above: f64,
}

/// Newcombe's interval for a difference of two shares of the same people: of those who gained and those who lost,
/// whose correlation is counted out. People of one kind gain or lose together, and are drawn together.
pub fn moved<K: Ord>(fares: &[Fare<K>], z: f64) -> Move {
    let mut people: Vec<(f64, f64)> = Vec::new();
    let mut kinds: BTreeMap<&K, u64> = BTreeMap::new();
    for fare in fares {
        let number = |is: bool| f64::from(u8::from(is));
        let (gained, lost) = (number(fare.has && !fare.had), number(fare.had && !fare.has));
        people.extend((0..fare.weight).map(|_| (gained, lost)));
        if fare.had != fare.has {
            *kinds.entry(&fare.kind).or_insert(0) += fare.weight;
        }
    }
    let n = people.len() as f64;
    let gained = people.iter().filter(|person| person.0 > 0.0).count();
    let lost = people.iter().filter(|person| person.1 > 0.0).count();
    let (g, l) = (gained as f64 / n, lost as f64 / n);
    let covariance = people.iter().map(|&(a, b)| (a - g) * (b - l)).sum::<f64>() / n;
    let spread = |p: f64| (p * (1.0 - p)).sqrt();
    let correlation = if spread(g) * spread(l) > 0.0 {
        covariance / (spread(g) * spread(l))
    } else {
        0.0
    };
    let squares: u64 = kinds.values().map(|people| people * people).sum();
    let changed: u64 = kinds.values().sum();
    let together = if changed == 0 {
        1.0
    } else {
        squares as f64 / changed as f64
    };
    let z = z * together.sqrt();
    let share = |part: usize| {
        wilson(
            Share {
                flipped: part as u64,
                members: people.len() as u64,
            },
            z,
        )
    };
    let (of_gained, of_lost) = (share(gained), share(lost));
    let side = |a: f64, b: f64| (a * a + b * b - 2.0 * correlation * a * b).max(0.0).sqrt();
    Move {
        by: g - l,
        below: side(g - of_gained.0, of_lost.1 - l),
        above: side(of_gained.1 - g, l - of_lost.0),
    }
}
