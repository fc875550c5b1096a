//! Who is audited, at which levels they stand, and what the model says of them.

use super::SlowError;
use super::case::{Binning, Case, Cell, Feature, Kind, Missing, ModelRow, ModelSees};

/// The label of the level of those whose value is missing.
pub const MISSING: &str = "missing";

/// The people under audit: rows of positive weight, with all protected values, and without a
/// missing value in a feature that drops them. Levels, bins, ranges and raw texts are taken from
/// these people.
#[derive(Debug, Clone)]
pub struct Population<'a> {
    pub case: &'a Case,
    pub features: Vec<Levels>,
    pub people: Vec<Individual>,
    pub left_out: LeftOut,
}

/// A row under audit.
#[derive(Debug, Clone)]
pub struct Individual {
    /// The row's place in the case.
    pub row: usize,
    pub weight: u64,
    pub group: String,
    /// For each feature, an index into its `Levels::labels`.
    pub levels: Vec<usize>,
    /// The row as the model sees it.
    pub seen: ModelRow,
    /// The predicted outcome; the affected are those for whom it is false.
    pub favourable: bool,
}

/// Rows, and the people they stand for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub rows: u64,
    pub people: u64,
}

impl Tally {
    fn add(&mut self, weight: u64) {
        self.rows += 1;
        self.people += weight;
    }
}

/// What is not audited. Each row is counted once in the first three, in this order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Rows of weight 0.
    pub weightless_rows: u64,
    /// Rows with a missing protected value.
    pub unprotected: Tally,
    /// Rows with a missing value in a feature that drops them.
    pub dropped: Tally,
    /// For each feature, the dropped rows that miss a value in it.
    pub dropped_by_feature: Vec<Tally>,
}

/// The levels of one feature.
#[derive(Debug, Clone, Default)]
pub struct Levels {
    /// In order for ordered features, else in code point order; then `missing`, if it is a level.
    pub labels: Vec<String>,
    /// The index of `missing`.
    pub missing: Option<usize>,
    pub ordered: bool,
    /// What a level stands at, for numbers: its value, or the midpoint of its bin.
    pub numbers: Vec<f64>,
    /// The bins, for binned numbers.
    pub bins: Vec<Bin>,
    /// Least and greatest observed number.
    pub observed: Option<(f64, f64)>,
    /// For texts: the raw text that an action into the level writes.
    pub raw_texts: Vec<String>,
}

impl Levels {
    /// How many levels have a place in the order (all but `missing`).
    pub fn ranks(&self) -> usize {
        self.labels.len() - usize::from(self.missing.is_some())
    }

    pub fn is_missing(&self, level: usize) -> bool {
        self.missing == Some(level)
    }

    /// `max − min` over the population.
    pub fn span(&self) -> f64 {
        self.observed
            .map_or(0.0, |(least, greatest)| greatest - least)
    }
}

/// `(low, high]`, or `[low, high]` for the lowest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    pub low: f64,
    pub high: f64,
    pub lowest: bool,
    /// The edges, with the observed minimum and maximum in place of infinite ones.
    pub closed_low: f64,
    pub closed_high: f64,
}

impl Bin {
    pub fn holds(&self, number: f64) -> bool {
        number <= self.high && (number > self.low || (self.lowest && number == self.low))
    }
}

impl<'a> Population<'a> {
    /// Reads the case and asks the model about everybody.
    pub fn judged(case: &'a Case) -> Result<Population<'a>, SlowError> {
        let mut population = Population::unjudged(case)?;
        for person in &mut population.people {
            person.favourable = case.model.favourable(&person.seen);
        }
        Ok(population)
    }

    /// Reads the case; nobody is favoured yet.
    pub fn unjudged(case: &'a Case) -> Result<Population<'a>, SlowError> {
        let mut left_out = LeftOut {
            dropped_by_feature: vec![Tally::default(); case.features.len()],
            ..LeftOut::default()
        };
        let mut kept: Vec<usize> = Vec::new();
        for (row, person) in case.people.iter().enumerate() {
            if person.weight == 0 {
                left_out.weightless_rows += 1;
                continue;
            }
            if person.protected.iter().any(Option::is_none) {
                left_out.unprotected.add(person.weight);
                continue;
            }
            let mut dropped = false;
            for (f, feature) in case.features.iter().enumerate() {
                if is_missing(feature, &person.cells[f]) {
                    match feature.missing {
                        Missing::Drop => {
                            left_out.dropped_by_feature[f].add(person.weight);
                            dropped = true;
                        }
                        Missing::Level => {}
                        Missing::Error => {
                            return Err(SlowError::MissingValue {
                                feature: feature.name.clone(),
                            });
                        }
                    }
                }
            }
            if dropped {
                left_out.dropped.add(person.weight);
                continue;
            }
            kept.push(row);
        }
        if kept.is_empty() {
            return Err(SlowError::NoRows);
        }

        let features = (0..case.features.len())
            .map(|f| levels(case, f, &kept))
            .collect::<Result<Vec<_>, _>>()?;

        let mut people = Vec::new();
        for row in kept {
            let person = &case.people[row];
            let mut held = Vec::new();
            let mut cells = Vec::new();
            for (f, feature) in case.features.iter().enumerate() {
                let cell = &person.cells[f];
                let level = level_of(case, feature, &features[f], cell)?;
                held.push(level);
                cells.push(seen_cell(feature, &features[f], cell, level));
            }
            let protected: Vec<String> = person.protected.iter().flatten().cloned().collect();
            people.push(Individual {
                row,
                weight: person.weight,
                group: group_name(case, &protected),
                levels: held,
                seen: ModelRow { cells, protected },
                favourable: false,
            });
        }
        Ok(Population {
            case,
            features,
            people,
            left_out,
        })
    }

    /// The raw number of a person, unless it is missing.
    pub fn number(&self, person: &Individual, feature: usize) -> Option<f64> {
        if self.features[feature].is_missing(person.levels[feature]) {
            return None;
        }
        match &self.case.people[person.row].cells[feature] {
            Cell::Number(number) => Some(*number),
            Cell::Null | Cell::Text(_) => None,
        }
    }

    pub fn unaffected_weight(&self) -> u64 {
        let unaffected = self.people.iter().filter(|person| person.favourable);
        unaffected.map(|person| person.weight).sum()
    }
}

/// Null, or one of the declared codes (without surrounding blanks where labels are trimmed).
fn is_missing(feature: &Feature, cell: &Cell) -> bool {
    match cell {
        Cell::Null => true,
        Cell::Number(_) => feature.missing_codes.contains(cell),
        // Blanks around a code do not count, whether labels are trimmed or not.
        Cell::Text(text) => (feature.missing_codes.iter())
            .any(|code| matches!(code, Cell::Text(code) if code.trim() == text.trim())),
    }
}

fn label_of<'t>(case: &Case, text: &'t str) -> &'t str {
    if case.trim_labels { text.trim() } else { text }
}

/// The protected values crossed: joined by `" & "` in attribute order, or the merged group's name.
fn group_name(case: &Case, protected: &[String]) -> String {
    let name = protected.join(" & ");
    let merged = case.merge.iter().find(|group| group.values.contains(&name));
    merged.map_or(name, |group| group.name.clone())
}

/// The levels of a feature over the kept rows.
fn levels(case: &Case, f: usize, kept: &[usize]) -> Result<Levels, SlowError> {
    let feature = &case.features[f];
    let mut found = match &feature.kind {
        Kind::Categorical => {
            let mut labels: Vec<String> = Vec::new();
            for (text, _) in texts(case, f, kept)? {
                labels.push(label_of(case, text).to_string());
            }
            labels.sort();
            labels.dedup();
            Levels {
                labels,
                ..Levels::default()
            }
        }
        Kind::Ordinal { order } => Levels {
            labels: order.clone(),
            ordered: true,
            ..Levels::default()
        },
        Kind::NumericExact { integer } => {
            let mut values: Vec<f64> = numbers(case, f, kept)?.iter().map(|one| one.0).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            Levels {
                labels: values.iter().map(|v| number_text(*v, *integer)).collect(),
                ordered: true,
                observed: values.first().copied().zip(values.last().copied()),
                numbers: values,
                ..Levels::default()
            }
        }
        Kind::NumericBinned { binning, .. } => {
            let numbers = numbers(case, f, kept)?;
            if numbers.is_empty() {
                return Err(SlowError::NothingToBin {
                    feature: feature.name.clone(),
                });
            }
            binned(&numbers, binning)
        }
    };
    if matches!(feature.kind, Kind::Categorical | Kind::Ordinal { .. }) {
        let texts = texts(case, f, kept)?;
        for label in &found.labels {
            found.raw_texts.push(most_frequent(case, label, &texts));
        }
    }
    if feature.missing == Missing::Level {
        found.missing = Some(found.labels.len());
        found.labels.push(MISSING.to_string());
    }
    Ok(found)
}

/// The raw text of most weight among those with the label; the smallest in code point order when
/// several tie.
fn most_frequent(case: &Case, label: &str, texts: &[(&str, u64)]) -> String {
    let mut raw: Vec<&str> = texts
        .iter()
        .map(|(text, _)| *text)
        .filter(|text| label_of(case, text) == label)
        .collect();
    raw.sort();
    raw.dedup();
    let mut best = (label, 0);
    for text in raw {
        let same = texts.iter().filter(|other| other.0 == text);
        let weight: u64 = same.map(|other| other.1).sum();
        if weight > best.1 {
            best = (text, weight);
        }
    }
    best.0.to_string()
}

/// The texts of the kept rows that are not missing, with their weights.
fn texts<'c>(case: &'c Case, f: usize, kept: &[usize]) -> Result<Vec<(&'c str, u64)>, SlowError> {
    let mut found = Vec::new();
    for row in kept {
        let person = &case.people[*row];
        if is_missing(&case.features[f], &person.cells[f]) {
            continue;
        }
        match &person.cells[f] {
            Cell::Text(text) => found.push((text.as_str(), person.weight)),
            Cell::Null | Cell::Number(_) => {
                return Err(SlowError::NotAText {
                    feature: case.features[f].name.clone(),
                });
            }
        }
    }
    Ok(found)
}

/// The numbers of the kept rows that are not missing, with their weights.
fn numbers(case: &Case, f: usize, kept: &[usize]) -> Result<Vec<(f64, u64)>, SlowError> {
    let mut found = Vec::new();
    for row in kept {
        let person = &case.people[*row];
        if is_missing(&case.features[f], &person.cells[f]) {
            continue;
        }
        match &person.cells[f] {
            Cell::Number(number) if number.is_finite() => found.push((*number, person.weight)),
            _ => {
                return Err(SlowError::NotANumber {
                    feature: case.features[f].name.clone(),
                });
            }
        }
    }
    Ok(found)
}

fn level_of(
    case: &Case,
    feature: &Feature,
    levels: &Levels,
    cell: &Cell,
) -> Result<usize, SlowError> {
    if is_missing(feature, cell) {
        return Ok(levels.missing.expect("rows that miss a value were dropped"));
    }
    match cell {
        Cell::Text(text) => {
            let label = label_of(case, text);
            let place = levels.labels[..levels.ranks()]
                .iter()
                .position(|l| l == label);
            place.ok_or_else(|| SlowError::UnknownLabel {
                feature: feature.name.clone(),
                label: label.to_string(),
            })
        }
        Cell::Number(number) => {
            let place = if levels.bins.is_empty() {
                levels.numbers.iter().position(|value| value == number)
            } else {
                levels.bins.iter().position(|bin| bin.holds(*number))
            };
            place.ok_or_else(|| SlowError::OutsideBins {
                feature: feature.name.clone(),
                number: *number,
            })
        }
        Cell::Null => unreachable!("null is always missing"),
    }
}

/// The cell in the model's terms: the label where the model was trained on bins, else as it is.
fn seen_cell(feature: &Feature, levels: &Levels, cell: &Cell, level: usize) -> Cell {
    let by_label = matches!(
        feature.kind,
        Kind::NumericBinned {
            model_sees: ModelSees::Label,
            ..
        }
    );
    match cell {
        Cell::Number(number) if by_label && levels.is_missing(level) => {
            Cell::Text(number.to_string())
        }
        Cell::Number(_) if by_label => Cell::Text(levels.labels[level].clone()),
        other => other.clone(),
    }
}

/// The label of an exact number: `3` in a column of integers, `3.0` otherwise.
fn number_text(number: f64, integer: bool) -> String {
    if integer {
        format!("{number}")
    } else {
        format!("{number:?}")
    }
}

/// The bins of a number.
fn binned(numbers: &[(f64, u64)], binning: &Binning) -> Levels {
    let mut people: Vec<f64> = Vec::new();
    for (number, weight) in numbers {
        for _ in 0..*weight {
            people.push(*number);
        }
    }
    people.sort_by(f64::total_cmp);
    let observed = people.first().copied().zip(people.last().copied());

    let edges = match (binning, observed) {
        (Binning::Edges { edges, .. }, _) => edges.clone(),
        (_, None) => Vec::new(),
        (Binning::Quantiles(parts), Some(_)) => {
            (0..=*parts).map(|i| quantile(&people, i, *parts)).collect()
        }
        (Binning::EqualWidth(parts), Some((least, greatest))) => (0..=*parts)
            .map(|i| match i == *parts {
                true => greatest,
                false => least + (greatest - least) / *parts as f64 * i as f64,
            })
            .collect(),
    };
    let mut edges = edges;
    edges.dedup();
    // A column with one value has one bin, from one below it.
    if edges.len() == 1 {
        edges.insert(0, edges[0] - 1.0);
    }

    let mut bins: Vec<Bin> = Vec::new();
    for pair in edges.windows(2) {
        let (low, high) = (pair[0], pair[1]);
        let (least, greatest) = observed.unwrap_or((low, high));
        bins.push(Bin {
            low,
            high,
            lowest: bins.is_empty(),
            closed_low: if low.is_infinite() { least } else { low },
            closed_high: if high.is_infinite() { greatest } else { high },
        });
    }
    let labels = match binning {
        Binning::Edges {
            labels: Some(labels),
            ..
        } => labels.clone(),
        _ => printed_bins(&edges, binning),
    };
    let middle = |bin: &Bin| (bin.closed_low + bin.closed_high) / 2.0;
    Levels {
        labels,
        ordered: true,
        numbers: bins.iter().map(middle).collect(),
        bins,
        observed,
        ..Levels::default()
    }
}

/// The quantile `part / parts` of sorted values, with linear interpolation: the place is
/// `(n − 1) · part / parts`, kept as a whole number and a remainder.
pub fn quantile(sorted: &[f64], part: usize, parts: usize) -> f64 {
    let place = (sorted.len() - 1) * part;
    let (below, rest) = (place / parts, place % parts);
    if rest == 0 {
        return sorted[below];
    }
    sorted[below] + (sorted[below + 1] - sorted[below]) * (rest as f64 / parts as f64)
}

/// Bins as pandas prints them: at least three decimals, more where two edges would print alike;
/// the lowest printed edge is lowered by one unit of that precision (quantiles) or by 0.1 % of
/// the range (equal width).
fn printed_bins(edges: &[f64], binning: &Binning) -> Vec<String> {
    if edges.is_empty() {
        return Vec::new();
    }
    let mut edges = edges.to_vec();
    if let Binning::EqualWidth(_) = binning {
        edges[0] -= (edges[edges.len() - 1] - edges[0]) * 0.001;
    }
    let alike = |precision: i32| {
        let printed: Vec<f64> = edges.iter().map(|edge| rounded(*edge, precision)).collect();
        printed.windows(2).any(|pair| pair[0] == pair[1])
    };
    let precision = (3..20).find(|precision| !alike(*precision)).unwrap_or(3);
    let mut printed: Vec<f64> = edges.iter().map(|edge| rounded(*edge, precision)).collect();
    if let Binning::Quantiles(_) = binning {
        printed[0] -= 10_f64.powi(-precision);
    }
    printed
        .windows(2)
        .map(|pair| format!("({:?}, {:?}]", pair[0], pair[1]))
        .collect()
}

/// Pandas' rounding of an edge: `precision` decimals, or as many significant digits below 1.
fn rounded(edge: f64, precision: i32) -> f64 {
    if edge == 0.0 || !edge.is_finite() {
        return edge;
    }
    let digits = if edge.trunc() == 0.0 {
        precision - 1 - edge.abs().log10().floor() as i32
    } else {
        precision
    };
    let unit = 10_f64.powi(digits);
    (edge * unit).round_ties_even() / unit
}
