//! A seeded random stream: numbers that depend on a seed and on what they are for, and on nothing else.
//!
//! A number is a hash of the seed and of where it is used, so that no thread waits for another, and
//! whoever asks in whatever order gets the same.

/// A stream of random numbers, each found by its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    key: u64,
}

impl Stream {
    /// The stream of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { key: mix(seed) }
    }

    /// An independent stream for one use: a permutation, a resample, a variant.
    pub(crate) fn substream(self, use_: u64) -> Self {
        Self {
            key: mix(self.key ^ use_.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        }
    }

    /// An independent stream for one use, by the name of that use.
    pub(crate) fn named(self, use_: &str) -> Self {
        let bytes = use_.bytes();
        bytes.fold(self, |stream, byte| stream.substream(byte.into()))
    }

    /// The number at a place.
    pub(crate) fn draw(self, place: u64) -> u64 {
        mix(self
            .key
            .wrapping_add(place.wrapping_mul(0xd134_2543_de82_ef95)))
    }

    /// The number at a place, uniform below `bound`, which must not be 0.
    pub(crate) fn below(self, place: u64, bound: u64) -> u64 {
        // The high word of a product: its bias is below bound / 2⁶⁴.
        ((u128::from(self.draw(place)) * u128::from(bound)) >> 64) as u64
    }

    /// The number at a place, uniform from 0 up to 1.
    pub(crate) fn uniform(self, place: u64) -> f64 {
        // As many digits as a float has.
        (self.draw(place) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit of the input moves every bit
/// of the output.
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
