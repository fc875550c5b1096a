//! Variants of an audit: other supports, other cost weights, other bins, other samples of the people.

use facts_engine::evidence::{sample_seed, weight_draws};
use facts_engine::population::{Bins, Edges, Feature, Kind, Population};
use facts_engine::{Audit, Error, Options, Support};

use super::Evidenced;

/// How many variants there are.
pub(super) const VARIANTS: usize = 20;

/// Pairs of draws of the cost weights.
const WEIGHT_PAIRS: usize = 4;

/// What a lowered and a raised cost weight are multiplied by.
const LOWERED: f64 = 0.5;
const RAISED: f64 = 1.5;

/// By how many the numbers of bins differ, in each variant that has others.
const MORE_BINS: [isize; 4] = [-1, 1, -2, 2];

/// One way in which an audit can be made otherwise.
#[derive(Debug)]
pub(super) struct Variant {
    /// What is different, as one reads it.
    pub(super) name: String,
    other: Other,
}

#[derive(Debug)]
enum Other {
    Support(f64),
    Features(Vec<Feature>),
    People { seed: u64 },
}

impl Variant {
    /// The population, if it is another one, and the options of the variant.
    pub(super) fn apply(
        &self,
        evidenced: &Evidenced<'_>,
        options: Options,
    ) -> Result<(Option<Population>, Options), Error> {
        Ok(match &self.other {
            Other::Support(support) => (None, options.support(Support::try_from(*support)?)),
            Other::Features(features) => {
                let declaration = evidenced
                    .declaration
                    .clone()
                    .with_features(features.clone());
                let (population, _) = declaration.population(&evidenced.people.table)?;
                (Some(population), options)
            }
            Other::People { seed } => (Some(evidenced.people.population.resampled(*seed)), options),
        })
    }
}

/// The variants of an audit, always as many: what cannot be varied makes room for more samples of the
/// people.
pub(super) fn variants(
    features: &[Feature],
    audit: &Audit,
    seed: u64,
    notes: &mut Vec<String>,
) -> Vec<Variant> {
    let mut variants = supports(audit.settings.support);
    variants.extend(weights(features, seed));
    variants.extend(bins(features));
    let kept = kept_bins(features);
    if !kept.is_empty() {
        notes.push(format!(
            "every variant keeps the bins of {}: the model sees them, or they have names",
            kept.join(", ")
        ));
    }
    for sample in 1..=(VARIANTS - variants.len()) as u64 {
        variants.push(Variant {
            name: format!("people drawn again ({sample})"),
            other: Other::People {
                seed: sample_seed(seed, sample),
            },
        });
    }
    variants
}

/// Half the support, and twice as much.
fn supports(support: Support) -> Vec<Variant> {
    let support = support.get().to_f64();
    [support / 2.0, (support * 2.0).min(1.0)]
        .map(|support| Variant {
            name: format!("support {support}"),
            other: Other::Support(support),
        })
        .into()
}

/// Some cost weights lowered and the others raised. What never changes has no cost to weigh.
fn weights(features: &[Feature], seed: u64) -> Vec<Variant> {
    let costly: Vec<&str> = (features.iter())
        .filter(|feature| feature.can_change())
        .map(Feature::name)
        .collect();
    let draws = weight_draws(costly.len(), WEIGHT_PAIRS, seed);
    let variant = |lowered: Vec<bool>| {
        let drawn = |wanted: bool| -> Vec<&str> {
            let drawn = costly.iter().zip(&lowered);
            let drawn = drawn.filter(|(_, lowered)| **lowered == wanted);
            drawn.map(|(name, _)| *name).collect()
        };
        let (down, up) = (drawn(true), drawn(false));
        let (few, by, others) = if down.len() <= up.len() {
            (&down, LOWERED, RAISED)
        } else {
            (&up, RAISED, LOWERED)
        };
        let name = format!(
            "cost weights ×{by}: {}; ×{others}: the rest",
            few.join(", ")
        );
        let features = features.iter().map(|feature| {
            let times = match down.contains(&feature.name()) {
                true => LOWERED,
                false => RAISED,
            };
            feature.clone().heavier(times)
        });
        Variant {
            name,
            other: Other::Features(features.collect()),
        }
    };
    draws.into_iter().map(variant).collect()
}

/// All features that are cut into a number of bins, in more or fewer.
fn bins(features: &[Feature]) -> Vec<Variant> {
    let mut variants: Vec<Variant> = Vec::new();
    for more in MORE_BINS {
        let rebinned: Vec<Option<Feature>> = features
            .iter()
            .map(|feature| feature.rebinned(more))
            .collect();
        let changed: Vec<&Feature> = rebinned.iter().flatten().collect();
        let name = name_of_bins(&changed);
        // Two bins cannot become fewer, and three only once.
        if changed.is_empty() || variants.iter().any(|variant| variant.name == name) {
            continue;
        }
        let all = rebinned.iter().zip(features);
        let all = all.map(|(other, feature)| other.as_ref().unwrap_or(feature).clone());
        variants.push(Variant {
            other: Other::Features(all.collect()),
            name,
        });
    }
    variants
}

/// `age in 4 quantiles, hours in 4`: how they are cut is said again only where it changes.
fn name_of_bins(features: &[&Feature]) -> String {
    let mut names = Vec::new();
    let mut before = "";
    for feature in features {
        let Some((count, how)) = number_of_bins(feature) else {
            continue;
        };
        let name = feature.name();
        names.push(if how == before {
            format!("{name} in {count}")
        } else {
            format!("{name} in {count} {how}")
        });
        before = how;
    }
    names.join(", ")
}

/// How many bins were asked for, and how they are cut.
fn number_of_bins(feature: &Feature) -> Option<(usize, &'static str)> {
    match feature.kind() {
        Kind::Binned(Bins { edges, .. }) => match edges {
            Edges::Quantiles(count) => Some((*count, "quantiles")),
            Edges::EqualWidth(count) => Some((*count, "bins of equal width")),
            Edges::At(_) => None,
        },
        _ => None,
    }
}

/// The features cut into a number of bins that no variant changes.
fn kept_bins(features: &[Feature]) -> Vec<&str> {
    let kept = |feature: &&Feature| {
        number_of_bins(feature).is_some()
            && MORE_BINS
                .iter()
                .all(|&more| feature.rebinned(more).is_none())
    };
    features.iter().filter(kept).map(Feature::name).collect()
}
