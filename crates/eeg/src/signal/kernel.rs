//! The recursion of second-order sections, several rows at a time.
//!
//! A recursive filter cannot be vectorised along time: each sample waits for the one before. Rows
//! (channels) are independent, so [`LANES`] of them are interleaved and each step of the recursion is one
//! vector instruction. A lane's arithmetic does not depend on its neighbours or on the processor (no
//! fused multiply-add), so results are the same to the bit however rows are grouped.

/// Rows filtered together.
pub(crate) const LANES: usize = 16;
/// One sample of each of the rows.
pub(crate) type Lane = [f64; LANES];
/// The state of one section for each of the rows.
pub(crate) type State = [Lane; 2];
/// Interleaved samples that stay in the first-level cache while all sections pass over them.
pub(crate) const CHUNK: usize = 128;

/// A lane of zeros.
pub(crate) const ZERO: Lane = [0.0; LANES];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Backward,
}

/// Runs all sections over a chunk in place, in the given direction of time.
pub(crate) fn cascade(
    sections: &[[f64; 6]],
    states: &mut [State],
    chunk: &mut [Lane],
    direction: Direction,
) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (section, state) in sections.iter().zip(states) {
                match direction {
                    Direction::Forward => run(section, state, chunk.iter_mut()),
                    Direction::Backward => run(section, state, chunk.iter_mut().rev()),
                }
            }
        },
    );
}

#[inline(always)]
fn run<'a>(section: &[f64; 6], state: &mut State, samples: impl Iterator<Item = &'a mut Lane>) {
    let [b0, b1, b2, _, a1, a2] = *section;
    let [mut z0, mut z1] = *state;
    for lane in samples {
        for l in 0..LANES {
            let x = lane[l];
            let y = b0 * x + z0[l];
            z0[l] = b1 * x - a1 * y + z1[l];
            z1[l] = b2 * x - a2 * y;
            lane[l] = y;
        }
    }
    *state = [z0, z1];
}
