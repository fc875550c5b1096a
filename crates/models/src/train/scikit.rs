//! scikit-learn's stratified split, row for row.
//!
//! Whoever fitted a model in Python with `train_test_split(…, stratify=y, random_state=seed)` can have
//! the very same test part here. That takes numpy's old generator: the Mersenne Twister, its way of
//! drawing a number up to a bound, and its shuffle. All three have been frozen since numpy 1.17, so the
//! rows that belong to a seed do not change any more.

/// The rows of the train part and of the test part, each in scikit-learn's order.
///
/// The unfavourable class counts as scikit-learn's first: it is the one that is coded 0.
pub(super) fn train_test_split(
    favourable: &[bool],
    test_percent: u8,
    seed: u32,
) -> (Vec<usize>, Vec<usize>) {
    let test_rows = (f64::from(test_percent) / 100.0 * favourable.len() as f64).ceil() as usize;
    let train_rows = favourable.len() - test_rows;
    let classes = [false, true].map(|class| -> Vec<usize> {
        let is_in = |row: &usize| favourable[*row] == class;
        (0..favourable.len()).filter(is_in).collect()
    });
    let mut random = RandomState::new(seed);
    let sizes = classes.each_ref().map(Vec::len);
    let to_train = proportional(sizes, train_rows, &mut random);
    let left = [0, 1].map(|class| sizes[class] - to_train[class]);
    let to_test = proportional(left, test_rows, &mut random);
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (class, rows) in classes.iter().enumerate() {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        random.shuffle(&mut order);
        let rows = order.into_iter().map(|place| rows[place]);
        let mut rows = rows.take(to_train[class] + to_test[class]);
        train.extend(rows.by_ref().take(to_train[class]));
        test.extend(rows);
    }
    random.shuffle(&mut train);
    random.shuffle(&mut test);
    (train, test)
}

/// So many draws shared out in proportion to the classes: rounded down, and what is then missing goes to
/// the largest remainders, equal ones by lot.
fn proportional(sizes: [usize; 2], draws: usize, random: &mut RandomState) -> [usize; 2] {
    let all = (sizes[0] + sizes[1]) as f64;
    // In this order of operations, as the remainders are compared exactly.
    let shares = sizes.map(|size| size as f64 / all * draws as f64);
    let mut counts = shares.map(|share| share.floor() as usize);
    let remainders = shares.map(|share| share - share.floor());
    let missing = draws.saturating_sub(counts[0] + counts[1]);
    if missing == 0 {
        return counts;
    }
    let mut order = [0, 1];
    if remainders[0] == remainders[1] {
        random.shuffle(&mut order);
    } else if remainders[1] > remainders[0] {
        order.swap(0, 1);
    }
    for &class in order.iter().take(missing) {
        counts[class] += 1;
    }
    counts
}

/// numpy's `RandomState`: the Mersenne Twister MT19937.
struct RandomState {
    state: [u32; Self::WORDS],
    next: usize,
}

impl RandomState {
    const WORDS: usize = 624;
    const MIDDLE: usize = 397;

    fn new(seed: u32) -> Self {
        let mut state = [seed; Self::WORDS];
        for i in 1..Self::WORDS {
            let previous = state[i - 1] ^ (state[i - 1] >> 30);
            state[i] = previous.wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        Self {
            state,
            next: Self::WORDS,
        }
    }

    fn twist(&mut self) {
        for i in 0..Self::WORDS {
            let following = self.state[(i + 1) % Self::WORDS];
            let joined = (self.state[i] & 0x8000_0000) | (following & 0x7fff_ffff);
            let odd = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + Self::MIDDLE) % Self::WORDS] ^ (joined >> 1) ^ odd;
        }
        self.next = 0;
    }

    fn next(&mut self) -> u32 {
        if self.next == Self::WORDS {
            self.twist();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// A number of at most `most`: as many bits as it needs, drawn again while they are too large.
    fn up_to(&mut self, most: u32) -> u32 {
        let bits = u32::MAX.checked_shr(most.leading_zeros()).unwrap_or(0);
        loop {
            let draw = self.next() & bits;
            if draw <= most {
                return draw;
            }
        }
    }

    fn shuffle(&mut self, values: &mut [usize]) {
        for last in (1..values.len()).rev() {
            // Tables have fewer than four thousand million rows.
            let other = self.up_to(last as u32) as usize;
            values.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_mersenne_twister() {
        // The first outputs for seed 5489 are published with the generator.
        let mut random = RandomState::new(5489);
        assert_eq!([random.next(), random.next()], [3_499_211_612, 581_869_302]);
    }

    #[test]
    fn a_permutation_is_numpys() {
        // numpy.random.RandomState(131313).permutation(10)
        let mut values: Vec<usize> = (0..10).collect();
        RandomState::new(131_313).shuffle(&mut values);
        assert_eq!(values, [2, 8, 5, 0, 1, 6, 4, 9, 7, 3]);
    }

    #[test]
    fn rows_are_scikit_learns() {
        // train_test_split(range(n), test_size=0.3, stratify=y, random_state=seed) of scikit-learn 1.9.1
        let outcomes: Vec<bool> = (0..30).map(|i| i % 3 == 0 || i % 7 == 0).collect();
        let (train, test) = train_test_split(&outcomes, 30, 131_313);
        assert_eq!(test, [23, 21, 6, 1, 16, 2, 29, 0, 14]);
        assert_eq!(
            train,
            [
                7, 22, 20, 3, 28, 24, 9, 18, 4, 15, 13, 8, 12, 19, 26, 27, 5, 17, 10, 25, 11
            ]
        );
        // Two classes of five: which of them gives the odd row is drawn.
        let halves: Vec<bool> = (0..10).map(|i| i >= 5).collect();
        let (_, test) = train_test_split(&halves, 30, 131_313);
        assert_eq!(test, [5, 6, 3]);
        let (train, test) = train_test_split(&halves, 30, 7);
        assert_eq!(
            (train.as_slice(), test.as_slice()),
            (&[7, 6, 1, 2, 3, 0, 5][..], &[8, 9, 4][..])
        );
    }
}
