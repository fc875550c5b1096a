//! What an action makes of a person, in the model's own terms.

use super::case::{Cell, Kind, ModelRow, ModelSees, MoveRule};
use super::population::{Bin, Individual, Population};
use super::validity::differing;

/// The person after the change: the assignments that differ from what the person holds are
/// written into the row that the model sees; everything else stays.
pub fn moved(population: &Population, person: &Individual, change: &[(usize, usize)]) -> ModelRow {
    let mut row = person.seen.clone();
    for (feature, to) in differing(person, change) {
        let levels = &population.features[feature];
        row.cells[feature] = match &population.case.features[feature].kind {
            Kind::Categorical | Kind::Ordinal { .. } => Cell::Text(levels.raw_texts[to].clone()),
            Kind::NumericExact { .. } => Cell::Number(levels.numbers[to]),
            Kind::NumericBinned {
                model_sees: ModelSees::Label,
                ..
            } => Cell::Text(levels.labels[to].clone()),
            Kind::NumericBinned {
                integer, move_rule, ..
            } => Cell::Number(moved_number(
                population, person, feature, to, *integer, *move_rule,
            )),
        };
    }
    row
}

/// The raw number inside the target bin:
/// - linear: the person's place in the source bin, mapped linearly onto the target bin;
/// - median: the median of the unaffected in the target bin;
/// - nearest: the observed value of the target bin closest to the person's own.
///
/// Somebody whose number is missing gets the median. Integers are rounded, halves away from zero.
fn moved_number(
    population: &Population,
    person: &Individual,
    feature: usize,
    to: usize,
    integer: bool,
    rule: MoveRule,
) -> f64 {
    let bins = &population.features[feature].bins;
    let target = bins[to];
    let number = match (rule, population.number(person, feature)) {
        (MoveRule::Linear, Some(own)) => linear(own, bins[person.levels[feature]], target),
        (MoveRule::Nearest, Some(own)) => nearest(population, feature, to, own),
        (MoveRule::Median, _) | (_, None) => median(population, feature, to),
    };
    inside(number, target, integer)
}

/// `target.low + (own − source.low) · target.width / source.width`, open ends standing at the
/// observed minimum and maximum. A source bin without width maps onto the target's upper edge.
fn linear(own: f64, source: Bin, target: Bin) -> f64 {
    let width = source.closed_high - source.closed_low;
    if width == 0.0 {
        return target.closed_high;
    }
    let target_width = target.closed_high - target.closed_low;
    target.closed_low + (own - source.closed_low) * target_width / width
}

fn nearest(population: &Population, feature: usize, to: usize, own: f64) -> f64 {
    let mut closest = f64::INFINITY;
    for person in &population.people {
        if person.levels[feature] == to
            && let Some(number) = population.number(person, feature)
            && (number - own).abs() < (closest - own).abs()
        {
            closest = number;
        }
    }
    closest
}

/// The middle value of the unaffected people in the bin, or the mean of the two middle ones.
fn median(population: &Population, feature: usize, to: usize) -> f64 {
    let mut values: Vec<f64> = Vec::new();
    for person in &population.people {
        if person.favourable && person.levels[feature] == to {
            let number = population.number(person, feature);
            values.extend((0..person.weight).filter_map(|_| number));
        }
    }
    values.sort_by(f64::total_cmp);
    super::population::quantile(&values, 1, 2)
}

/// The number clamped inside the bin; in a column of integers, to the integers of the bin.
fn inside(number: f64, bin: Bin, integer: bool) -> f64 {
    let (least, greatest) = if integer {
        let least = if bin.lowest {
            bin.low.ceil()
        } else {
            bin.low.floor() + 1.0
        };
        (least, bin.high.floor())
    } else if bin.lowest {
        (bin.low, bin.high)
    } else {
        (bin.low.next_up(), bin.high)
    };
    // Integers know no −0.
    let number = if integer {
        number.round() + 0.0
    } else {
        number
    };
    number.max(least).min(greatest)
}
