//! Chance, without any knowledge of people's features or of subgroups: random numbers from a seed,
//! samples drawn with them, and the distributions behind exact tests and intervals.

pub(crate) mod binomial;
mod hypergeometric;
pub(crate) mod normal;
mod sampling;
mod stream;

pub(crate) use self::hypergeometric::{Factorials, Fisher, Hypergeometric, UNHEARD_OF, UNLIKELY};
pub(crate) use self::sampling::{Resampler, draw_hypergeometric, sample_without_replacement};
pub(crate) use self::stream::Stream;
