//! One pass over an electrode in a window: extremes and runs of equal values.

/// What one pass tells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extremes {
    pub(super) low: f64,
    pub(super) high: f64,
    /// The longest run of equal values, where it is at least as long as was asked for.
    pub(super) longest: usize,
    /// The longest of those at the largest or the smallest value.
    pub(super) at_extreme: usize,
}

/// Finds the extremes of a signal and its runs of at least `least` equal values.
///
/// A run of `least` values has a pair of neighbours at one of the places `k·(least − 1)`: only
/// these are looked at.
pub(super) fn scan(x: &[f64], least: usize) -> Extremes {
    let (low, high) = range(x);
    let mut found = Extremes {
        low,
        high,
        longest: 0,
        at_extreme: 0,
    };
    let mut at = 0;
    while at + 1 < x.len() {
        let value = x[at];
        if x[at + 1] != value {
            at += least - 1;
            continue;
        }
        let before = x[..at].iter().rev().take_while(|v| **v == value).count();
        let after = x[at..].iter().take_while(|v| **v == value).count();
        let run = before + after;
        if run >= least {
            found.longest = found.longest.max(run);
            if value == low || value == high {
                found.at_extreme = found.at_extreme.max(run);
            }
        }
        at += after.next_multiple_of(least - 1);
    }
    found
}

/// Eight running extremes, so that no comparison waits for the one before.
fn range(x: &[f64]) -> (f64, f64) {
    let (mut low, mut high) = ([f64::INFINITY; 8], [f64::NEG_INFINITY; 8]);
    let (chunks, rest) = x.as_chunks::<8>();
    for chunk in chunks {
        for l in 0..8 {
            low[l] = if chunk[l] < low[l] { chunk[l] } else { low[l] };
            high[l] = if chunk[l] > high[l] {
                chunk[l]
            } else {
                high[l]
            };
        }
    }
    let low = low
        .iter()
        .chain(rest)
        .copied()
        .fold(f64::INFINITY, f64::min);
    let high = high
        .iter()
        .chain(rest)
        .copied()
        .fold(f64::NEG_INFINITY, f64::max);
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs counted one value after the other.
    fn plainly(x: &[f64], least: usize) -> Extremes {
        let low = x.iter().copied().fold(f64::INFINITY, f64::min);
        let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut longest, mut at_extreme) = (0, 0);
        for part in x.chunk_by(|a, b| a == b).filter(|p| p.len() >= least) {
            longest = longest.max(part.len());
            if part[0] == low || part[0] == high {
                at_extreme = at_extreme.max(part.len());
            }
        }
        Extremes {
            low,
            high,
            longest,
            at_extreme,
        }
    }

    #[test]
    fn every_run_is_found_wherever_it_begins() {
        let mut state = 1_u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            state >> 33
        };
        for trial in 0..2000 {
            let length = 1 + random() as usize % 60;
            let mut x = Vec::new();
            while x.len() < length {
                let (value, run) = (random() % 5, 1 + random() as usize % (1 + trial % 12));
                x.extend(std::iter::repeat_n(value as f64, run));
            }
            for least in 2..10 {
                assert_eq!(scan(&x, least), plainly(&x, least), "{x:?} {least}");
            }
        }
    }
}
