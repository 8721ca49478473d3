//! The recursion of second-order sections, several rows at a time.
//!
//! A recursive filter cannot be vectorised along time: each sample waits for the one before. Rows
//! (channels) are independent, so [`LANES`] of them are interleaved and each step of the recursion
//! is one vector instruction. A lane's arithmetic does not depend on its neighbours or on the
//! processor (no fused multiply-add), so results are the same to the bit however rows are grouped.

/// Rows filtered together.
pub(crate) const LANES: usize = 8;
/// One sample of each of the rows.
pub(crate) type Lane = [f64; LANES];
/// The state of one section for each of the rows.
pub(crate) type State = [Lane; 2];
/// Interleaved samples that stay in the first-level cache while all sections pass over them.
pub(crate) const CHUNK: usize = 64;

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
    pulp::Arch::new().dispatch(Cascade {
        sections,
        states,
        chunk,
        direction,
    });
}

/// The arguments of [`cascade`]: a struct, because its method is certain to be compiled for the
/// processor's vector width, which a closure is not.
struct Cascade<'a> {
    sections: &'a [[f64; 6]],
    states: &'a mut [State],
    chunk: &'a mut [Lane],
    direction: Direction,
}

impl pulp::WithSimd for Cascade<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        match self.direction {
            Direction::Forward => sweep::<false>(self.sections, self.states, self.chunk),
            Direction::Backward => sweep::<true>(self.sections, self.states, self.chunk),
        }
    }
}

/// Sections two by two: while one waits for its last sample the other has work to do.
#[inline(always)]
fn sweep<const BACKWARD: bool>(sections: &[[f64; 6]], states: &mut [State], chunk: &mut [Lane]) {
    let n = chunk.len();
    let mut pairs = sections.chunks_exact(2);
    let mut pair_states = states.chunks_exact_mut(2);
    for (pair, state) in pairs.by_ref().zip(pair_states.by_ref()) {
        let (mut first, mut second) = (state[0], state[1]);
        for i in 0..n {
            let lane = &mut chunk[if BACKWARD { n - 1 - i } else { i }];
            *lane = step(&pair[1], &mut second, step(&pair[0], &mut first, *lane));
        }
        (state[0], state[1]) = (first, second);
    }
    for (section, state) in pairs.remainder().iter().zip(pair_states.into_remainder()) {
        let mut z = *state;
        for i in 0..n {
            let lane = &mut chunk[if BACKWARD { n - 1 - i } else { i }];
            *lane = step(section, &mut z, *lane);
        }
        *state = z;
    }
}

#[inline(always)]
fn step(&[b0, b1, b2, _, a1, a2]: &[f64; 6], [z0, z1]: &mut State, x: Lane) -> Lane {
    let mut out = ZERO;
    for l in 0..LANES {
        let y = b0 * x[l] + z0[l];
        // Grouped so that only one product and one difference wait for y.
        z0[l] = (b1 * x[l] + z1[l]) - a1 * y;
        z1[l] = b2 * x[l] - a2 * y;
        out[l] = y;
    }
    out
}
