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
    #[inline(always)]
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

    /// The numbers [`below`](Self::below) a bound at the next places from the first on.
    pub(crate) fn fill_below(self, first: u64, bound: u32, numbers: &mut [u32]) {
        fill_below(self, first, bound, numbers);
    }

    /// The number at a place, uniform from 0 up to 1.
    pub(crate) fn uniform(self, place: u64) -> f64 {
        // As many digits as a float has.
        (self.draw(place) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// As many numbers at a time as the processor takes.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512dq",
    "x86_64+avx2+bmi1+bmi2",
    "aarch64+neon"
))]
fn fill_below(stream: Stream, first: u64, bound: u32, numbers: &mut [u32]) {
    let bound = u64::from(bound);
    for (number, place) in numbers.iter_mut().zip(first..) {
        let drawn = stream.draw(place);
        // The high word of the product, by halves: none of the sums exceeds 64 bits.
        let low = ((drawn & u64::from(u32::MAX)) * bound) >> 32;
        *number = (((drawn >> 32) * bound + low) >> 32) as u32;
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit of the input moves every bit
/// of the output.
#[inline(always)]
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::Stream;

    #[test]
    fn many_numbers_below_a_bound_are_those_drawn_one_by_one() {
        let stream = Stream::new(7).named("people");
        for bound in [1, 2, 1000, 65_536, u32::MAX] {
            let mut numbers = [0; 200];
            stream.fill_below(30, bound, &mut numbers);
            for (number, place) in numbers.into_iter().zip(30..) {
                assert_eq!(u64::from(number), stream.below(place, bound.into()));
            }
        }
    }
}
