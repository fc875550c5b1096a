//! From the sum of leaves to a probability and a class.

/// How a library adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// In 32 bits: XGBoost.
    Single,
    /// In 64 bits: LightGBM.
    Double,
}

impl Precision {
    /// The sum of two numbers of this precision.
    #[inline]
    pub(crate) fn add(self, a: f64, b: f64) -> f64 {
        self.round(a + b)
    }

    /// A number in this precision. For sums it is exact to round only once, here: 53 bits are more
    /// than twice 24.
    #[inline]
    pub(crate) fn round(self, number: f64) -> f64 {
        match self {
            Self::Single => f64::from(number as f32),
            Self::Double => number,
        }
    }

    /// The most by which one addition rounds, as a share of the sum.
    fn rounds_by(self) -> f64 {
        match self {
            Self::Single => f64::from(f32::EPSILON) / 2.0,
            Self::Double => f64::EPSILON / 2.0,
        }
    }
}

/// What the sum means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Link {
    /// Log-odds, once multiplied by `scale`.
    Logistic { scale: f64 },
    /// Above 0 is yes, without a probability.
    Sign,
}

/// How the sum of leaves becomes a probability and a class.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) precision: Precision,
    /// The sum of no tree.
    pub(crate) base: f64,
    /// What the sum is divided by: 1, or the number of trees of a random forest.
    pub(crate) divisor: f64,
    pub(crate) link: Link,
    /// The probability from which on the answer is yes. By default yes begins just above one half,
    /// as in both libraries.
    pub(crate) threshold: Option<f64>,
}

/// A sum around which the answer turns from no to yes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    at: f64,
    /// How close a sum must be for its own rounding, or that of the probability, to matter.
    doubt: f64,
}

impl Turn {
    /// The answer for a sum, unless it is so close that how it was added matters.
    #[inline]
    pub(crate) fn answer(&self, sum: f64) -> Option<bool> {
        let gap = sum - self.at;
        // False, too, for a gap that is no number.
        (gap.abs() > self.doubt).then_some(gap > 0.0)
    }
}

impl Output {
    /// The probability of yes; 0 or 1 for models that know none.
    pub(crate) fn probability(&self, sum: f64) -> f64 {
        let margin = self.precision.round(sum / self.divisor);
        match (self.link, self.precision) {
            (Link::Sign, _) => f64::from(u8::from(margin > 0.0)),
            (Link::Logistic { scale }, Precision::Double) => 1.0 / (1.0 + (-scale * margin).exp()),
            (Link::Logistic { scale }, Precision::Single) => {
                f64::from(1.0 / (1.0 + (-scale as f32 * margin as f32).exp()))
            }
        }
    }

    /// The class.
    pub(crate) fn is_yes(&self, sum: f64) -> bool {
        match self.threshold {
            Some(threshold) => self.probability(sum) >= threshold,
            None => self.probability(sum) > 0.5,
        }
    }

    /// Where the answer turns, for sums of so many trees that stay within `largest` of 0.
    pub(crate) fn turn(&self, trees: usize, largest: f64) -> Turn {
        let at = self.turns_at();
        // Each addition rounds by a share of a partial sum, which is at most this large; the
        // differences that are trusted outside the doubt are added in 64 bits, old and new.
        let largest = largest + self.base.abs();
        let adding = (self.precision.rounds_by() + 8.0 * f64::EPSILON) * 2.0;
        // The exponential is exact to a few units in the last place, which shifts the turn by that
        // share of 1 and of itself.
        let scale = match self.link {
            Link::Logistic { scale } => scale,
            Link::Sign => 1.0,
        };
        let exponential = 64.0 * self.precision.rounds_by();
        let at_finite = if at.is_finite() { at.abs() } else { 0.0 };
        Turn {
            at,
            doubt: adding * (trees + 1) as f64 * largest
                + exponential * (self.divisor / scale + at_finite),
        }
    }

    /// The least sum with a yes, by bisection over all numbers: infinite if there is none, or if
    /// all are.
    fn turns_at(&self) -> f64 {
        if self.is_yes(-f64::MAX) {
            return f64::NEG_INFINITY;
        }
        if !self.is_yes(f64::MAX) {
            return f64::INFINITY;
        }
        // Halving the difference of the bits, not of the numbers: 64 steps reach every number.
        let (mut no, mut yes) = (ordered(-f64::MAX), ordered(f64::MAX));
        while yes - no > 1 {
            let middle = no + (yes - no) / 2;
            if self.is_yes(number(middle)) {
                yes = middle;
            } else {
                no = middle;
            }
        }
        number(yes)
    }
}

/// Whole numbers in the order of the numbers they stand for.
fn ordered(number: f64) -> i128 {
    let bits = i128::from(number.abs().to_bits());
    if number.is_sign_negative() {
        -bits
    } else {
        bits
    }
}

fn number(ordered: i128) -> f64 {
    // At most 63 bits: the absolute value of a number has no sign bit.
    let magnitude = f64::from_bits(ordered.unsigned_abs() as u64);
    if ordered < 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(precision: Precision, threshold: Option<f64>) -> Output {
        Output {
            precision,
            base: 0.0,
            divisor: 1.0,
            link: Link::Logistic { scale: 1.0 },
            threshold,
        }
    }

    #[test]
    fn single_sums_are_those_of_32_bits() {
        let (mut wide, mut single) = (0.0, 0.0_f32);
        for i in 1..2000 {
            let leaf = (i as f32).sin() / 7.0;
            single += leaf;
            wide = Precision::Single.add(wide, f64::from(leaf));
            assert_eq!(wide, f64::from(single));
        }
    }

    /// Outside the doubt, the turn says what the probability says; inside, it says nothing.
    #[test]
    fn the_turn_agrees_with_the_class() {
        for precision in [Precision::Single, Precision::Double] {
            let thresholds = [
                None,
                Some(0.5),
                Some(0.01),
                Some(0.999_999),
                Some(1.0),
                Some(0.0),
            ];
            for threshold in thresholds {
                let output = output(precision, threshold);
                let turn = output.turn(100, 20.0);
                let mut decided = 0;
                for i in -40_000..40_000 {
                    let sum = precision.round(f64::from(i) / 1000.0);
                    if let Some(answer) = turn.answer(sum) {
                        decided += 1;
                        assert_eq!(answer, output.is_yes(sum), "{threshold:?} {sum}");
                    }
                }
                assert!(decided > 79_000, "{precision:?} {threshold:?} {decided}");
                assert_eq!(turn.answer(f64::NAN), None);
            }
        }
    }

    #[test]
    fn one_half_is_no_unless_it_is_the_threshold() {
        for precision in [Precision::Single, Precision::Double] {
            assert!(!output(precision, None).is_yes(0.0));
            assert!(output(precision, None).is_yes(1e-3));
            assert!(output(precision, Some(0.5)).is_yes(0.0));
        }
    }

    #[test]
    fn thresholds_that_cannot_be_missed_or_met() {
        let all = output(Precision::Double, Some(0.0));
        assert_eq!(all.turns_at(), f64::NEG_INFINITY);
        assert_eq!(all.turn(1, 1.0).answer(-5.0), Some(true));
        let none = output(Precision::Double, Some(1.5));
        assert_eq!(none.turn(1, 1.0).answer(5.0), Some(false));
    }

    #[test]
    fn a_sign_has_no_probability() {
        let sign = Output {
            link: Link::Sign,
            ..output(Precision::Single, None)
        };
        assert_eq!([sign.probability(0.0), sign.probability(0.1)], [0.0, 1.0]);
        assert!(sign.is_yes(0.1) && !sign.is_yes(0.0));
    }
}
