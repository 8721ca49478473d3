//! Small damage to files, by fixed random numbers: a failure can be repeated by its seed.
#![allow(dead_code, reason = "each program uses its own part")]

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// A position, more often in the header or at the end than in between.
fn place(random: &mut Random, len: usize) -> usize {
    match random.below(4) {
        0 => random.below(len),
        1 => len - 1 - random.below(len.min(128)),
        2 => random.below(len.min(256)),
        _ => random.below(len.min(2048)),
    }
}

/// Changes one place: a bit, a byte, a run, a number, digits, something dropped, copied or moved,
/// the end.
pub(crate) fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let at = place(random, bytes.len());
    let run = (1 + random.below(8)).min(bytes.len() - at);
    match random.below(9) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.next() as u8,
        2 => bytes[at..at + run].fill([0, 0xff, 0x7f, 0x80, b' ', b'9', b'0'][random.below(7)]),
        3 => {
            let number = [
                0,
                1,
                0x7fff_ffff,
                0xffff_ffff,
                0x0100_0000,
                0xffff,
                1 << 40,
                u64::MAX,
            ][random.below(8)];
            let number = if random.below(2) == 0 {
                number.to_le_bytes()
            } else {
                number.to_be_bytes()
            };
            bytes[at..at + run].copy_from_slice(&number[..run]);
        }
        4 => {
            let digits = random.below(100_000_000).to_string();
            let len = digits.len().min(bytes.len() - at);
            bytes[at..at + len].copy_from_slice(&digits.as_bytes()[..len]);
        }
        5 => drop(bytes.drain(at..at + run)),
        6 => {
            let copy = bytes[at..at + run].to_vec();
            let to = place(random, bytes.len());
            bytes.splice(to..to, copy);
        }
        7 => {
            let to = place(random, bytes.len());
            let len = run.min(bytes.len() - to);
            bytes.copy_within(at..at + len, to);
        }
        _ => bytes.truncate(at),
    }
}
