//! Mutants: inputs that are nearly right. The same number gives the same mutant on every machine, so that an
//! input that brings a target down is found again by its number alone.

/// A stream of numbers from a seed (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Numbers(u64);

impl Numbers {
    /// The stream of a mutant.
    pub(crate) fn new(seed: u64, mutant: u64) -> Self {
        let mut numbers = Self(seed ^ mutant.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        numbers.next();
        numbers
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, or 0 if there is none.
    fn below(&mut self, end: usize) -> usize {
        if end == 0 {
            0
        } else {
            (self.next() % end as u64) as usize
        }
    }

    /// A piece of at most `longest` of so many bytes.
    fn piece(&mut self, length: usize, longest: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let end = start + self.below((length - start).min(longest) + 1);
        start..end
    }
}

/// Numbers at which readers go wrong.
const EDGES: [i64; 16] = [
    0,
    1,
    -1,
    7,
    127,
    128,
    255,
    256,
    32_767,
    65_535,
    1 << 24,
    i32::MAX as i64,
    i32::MIN as i64,
    1 << 56,
    i64::MAX,
    i64::MIN,
];

/// Words that mean something in many formats.
const WORDS: [&str; 26] = [
    "NaN", "inf", "-inf", "null", "true", "-0", "1e400", "0.1", "\"", "\"\"", "'", ",", "\n",
    "\r\n", "\n\n", "=", "[", "]", "{", "}", "\\", "\u{feff}", "\u{202e}", "\0", " ", "é",
];

/// The longest mutant: what is longer takes time and finds little more.
const LONGEST: usize = 1 << 15;

/// A mutant of one of the seeds, of which there must be one.
pub fn mutant(seeds: &[Vec<u8>], seed: u64, number: u64) -> Vec<u8> {
    let mut numbers = Numbers::new(seed, number);
    let mut bytes = seeds[numbers.below(seeds.len())].clone();
    // Few changes keep most of it right, so that readers get far; sometimes there are many.
    let most = if numbers.below(4) == 0 { 16 } else { 3 };
    let changes = 1 + numbers.below(most);
    for _ in 0..changes {
        change(&mut bytes, seeds, &mut numbers);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], numbers: &mut Numbers) {
    let at = numbers.below(bytes.len());
    match numbers.below(11) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << numbers.below(8),
        1 if !bytes.is_empty() => bytes[at] = numbers.next() as u8,
        2 => {
            let piece = numbers.piece(bytes.len(), 64);
            bytes.drain(piece);
        }
        3 => {
            let piece = numbers.piece(bytes.len(), 64);
            let copy = bytes[piece].to_vec();
            let times = 1 + numbers.below(8);
            bytes.splice(at..at, copy.repeat(times));
        }
        4 => {
            let word = WORDS[numbers.below(WORDS.len())].as_bytes();
            let end = at + numbers.below((bytes.len() - at).min(8) + 1);
            bytes.splice(at..end, word.iter().copied());
        }
        5 => write_number(bytes, at, numbers),
        6 => bytes.truncate(at),
        7 => {
            let other = &seeds[numbers.below(seeds.len())];
            let piece = numbers.piece(other.len(), 256);
            let end = at + numbers.below((bytes.len() - at).min(64) + 1);
            bytes.splice(at..end, other[piece].iter().copied());
        }
        8 | 9 => swap_tokens(bytes, seeds, numbers),
        _ => {
            let edge = EDGES[numbers.below(EDGES.len())].to_string();
            let token = token(bytes, numbers);
            bytes.splice(token, edge.into_bytes());
        }
    }
}

/// A number at which readers go wrong, as bytes of either order.
fn write_number(bytes: &mut [u8], at: usize, numbers: &mut Numbers) {
    let edge = EDGES[numbers.below(EDGES.len())];
    let width = [1, 2, 4, 8][numbers.below(4)].min(bytes.len() - at);
    let mut written = edge.to_le_bytes();
    if numbers.below(2) == 0 {
        written[..width].reverse();
    }
    bytes[at..at + width].copy_from_slice(&written[..width]);
}

/// A token takes the place of another one, of this input or of another seed.
fn swap_tokens(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], numbers: &mut Numbers) {
    let from = if numbers.below(2) == 0 {
        bytes.clone()
    } else {
        seeds[numbers.below(seeds.len())].clone()
    };
    let taken = token(&from, numbers);
    let place = token(bytes, numbers);
    bytes.splice(place, from[taken].iter().copied());
}

/// Where a run of letters and digits lies that begins somewhere near a place at random.
fn token(bytes: &[u8], numbers: &mut Numbers) -> std::ops::Range<usize> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let start = numbers.below(bytes.len());
    let begin = bytes[start..].iter().position(is_part);
    let begin = begin.map_or(bytes.len(), |skipped| start + skipped);
    let length = bytes[begin..]
        .iter()
        .take_while(|byte| is_part(byte))
        .count();
    begin..begin + length.min(64)
}
