//! Chance, without any knowledge of people's features or of subgroups: random numbers from a seed,
//! samples drawn with them, and the distributions behind exact tests and intervals.

pub(crate) mod binomial;
mod hypergeometric;
pub(crate) mod normal;
mod sampling;
mod stream;
mod two_shares;

/// The sum of a series whose terms fall, up to the first that adds nothing.
pub(crate) fn series(first: f64, terms: impl Iterator<Item = f64>) -> f64 {
    let mut sum = first;
    for term in terms {
        let more = sum + term;
        if more == sum {
            break;
        }
        sum = more;
    }
    sum
}

pub(crate) use self::hypergeometric::{Factorials, Fisher, Hypergeometric, UNHEARD_OF, UNLIKELY};
pub(crate) use self::sampling::{Resampler, draw_hypergeometric, sample_without_replacement};
pub(crate) use self::stream::Stream;
pub(crate) use self::two_shares::{Apart, Counted};
