//! Into lanes and out of them.

use crate::simd::{Lanes, V, chosen_arch, instruction_set};
use crate::{Result, Scalar, kernel};
use pulp::Simd;
use pulp::bytemuck::{cast_slice, cast_slice_mut};

/// Lanes of the widest register of the narrowest numbers.
const MOST: usize = 16;

/// Matrices into lanes, with the chosen instruction set.
fn into_lanes<'a, T: Scalar>(
    count: usize,
    of: impl Fn(usize) -> &'a [T],
    form: Form<T>,
    out: &mut [T],
) -> Result<()> {
    IntoLanes::new(count, of, form, out).run(chosen_arch()?);
    Ok(())
}

/// One slice per lane; the last matrix is repeated.
fn per_lane<'a, T>(count: usize, of: impl Fn(usize) -> &'a [T]) -> [&'a [T]; MOST] {
    std::array::from_fn(|lane| of(lane.min(count - 1)))
}

/// `count` matrices (of any shape, all of one) into lanes: `out[e·width + lane] = of(lane)[e]`.
/// Lanes beyond the last matrix repeat it.
///
/// # Panics
/// If there is no matrix, or `out` does not hold as many as there are lanes.
pub fn gather<'a, T: Scalar>(
    count: usize,
    of: impl Fn(usize) -> &'a [T],
    out: &mut [T],
) -> Result<()> {
    into_lanes(count, of, Form::Whole, out)
}

/// Lower triangles of symmetric `n × n` matrices into lanes, with `band` entries of every row right
/// of the diagonal; what stands beyond is of no meaning.
///
/// # Panics
/// As [`gather`].
pub fn gather_lower<'a, T: Scalar>(
    (n, band): (usize, usize),
    count: usize,
    of: impl Fn(usize) -> &'a [T],
    out: &mut [T],
) -> Result<()> {
    into_lanes(count, of, Form::Lower(n, band), out)
}

/// Symmetric `n × n` matrices from the rows of their upper triangles, one after the other, into
/// lanes: entries off the diagonal are `factor` times what is given, on either side.
///
/// # Panics
/// As [`gather`].
pub fn gather_upper<'a, T: Scalar>(
    (n, factor): (usize, T),
    count: usize,
    of: impl Fn(usize) -> &'a [T],
    out: &mut [T],
) -> Result<()> {
    into_lanes(count, of, Form::Upper(n, factor), out)
}

/// `out[lane][e] = lanes[e·width + lane]` for the first matrices of a group, as many as `out`
/// holds; added to what is there where `add`.
pub fn scatter<T: Scalar>(lanes: &[T], add: bool, out: &mut [T]) -> Result<()> {
    let entries = lanes.len() / instruction_set()?.lanes::<T>();
    out_of_lanes(lanes, entries, add, None, out)
}

/// The rows of the upper triangles of symmetric `n × n` matrices out of lanes, one after the other,
/// entries off the diagonal times `factor`; as many matrices as `out` holds.
pub fn scatter_upper<T: Scalar>((n, factor): (usize, T), lanes: &[T], out: &mut [T]) -> Result<()> {
    out_of_lanes(lanes, n * (n + 1) / 2, false, Some((n, factor)), out)
}

/// What of a matrix there is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form<T> {
    /// All entries.
    Whole,
    /// The lower triangle of so many rows, and a band right of it.
    Lower(usize, usize),
    /// The rows of the upper triangle, one after the other; what is off the diagonal has this
    /// factor.
    Upper(usize, T),
}

kernel! {
    /// Rows of matrices into lanes.
    pub(crate) struct IntoLanes<'a, S, T>(
        l: Lanes<S, T>,
        from: [&'a [T]; MOST],
        form: Form<T>,
        out: &'a mut [T],
    ) {
        let (from, out) = (&from, T::view_mut::<S>(out));
        match form {
            Form::Whole => row_into(l, from, (0, out.len()), out),
            Form::Lower(n, band) => {
                let together = Lanes::<S, T>::TOGETHER;
                for r in 0..n {
                    // Up to what goes together: a few entries more cost less than some of them one by one.
                    let len = (r + 1).next_multiple_of(together).min(n);
                    row_into(l, from, (r * n, len), &mut out[r * n..][..len]);
                }
                for r in 0..n {
                    for c in r + 1..(r + 1 + band).min(n) {
                        out[r * n + c] = out[c * n + r];
                    }
                }
            }
            Form::Upper(n, factor) => {
                let (mut at, factor) = (0, l.splat(factor));
                for r in 0..n {
                    let (len, own) = (n - r, r * n + r);
                    row_into(l, from, (at, len), &mut out[own..][..len]);
                    for c in r + 1..n {
                        let entry = l.mul(out[r * n + c], factor);
                        out[r * n + c] = entry;
                        out[c * n + r] = entry;
                    }
                    at += len;
                }
            }
        }
    }
}

impl<'a, T: Scalar> IntoLanes<'a, T> {
    pub(crate) fn new<'b: 'a>(
        count: usize,
        of: impl Fn(usize) -> &'b [T],
        form: Form<T>,
        out: &'a mut [T],
    ) -> Self {
        let from = per_lane(count, of);
        Self { from, form, out }
    }
}

/// `out[c]_lane = from[lane][start + c]`.
#[inline(always)]
fn row_into<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    from: &[&[T]; MOST],
    (start, len): (usize, usize),
    out: &mut [V<S, T>],
) {
    let width = Lanes::<S, T>::width();
    let mut rows: [&[T]; MOST] = [&[]; MOST];
    for lane in 0..width {
        rows[lane] = &from[lane][start..][..len];
    }
    let done = match Lanes::<S, T>::TOGETHER {
        4 => quarters_into::<S, T, 4>(l, &rows, out),
        2 => quarters_into::<S, T, 2>(l, &rows, out),
        _ => 0,
    };
    for c in done..len {
        let register = cast_slice_mut::<_, T>(&mut out[c..=c]);
        for lane in 0..width {
            register[lane] = rows[lane][c];
        }
    }
}

/// The same `P` entries at a time, as far as there are so many; gives how far that is.
#[inline(always)]
fn quarters_into<S: Simd, T: Scalar, const P: usize>(
    l: Lanes<S, T>,
    rows: &[&[T]; MOST],
    out: &mut [V<S, T>],
) -> usize {
    let mut stretches: [&[[T; P]]; MOST] = [&[]; MOST];
    for lane in 0..4 * P {
        stretches[lane] = rows[lane].as_chunks().0;
    }
    let whole = out.len() / P;
    for (at, out) in out.chunks_exact_mut(P).enumerate() {
        let mut x = [l.splat(T::ZERO); 4];
        for q in 0..P {
            x[q] = l.quarters([
                &stretches[q][at],
                &stretches[P + q][at],
                &stretches[2 * P + q][at],
                &stretches[3 * P + q][at],
            ]);
        }
        let x = l.turn(x);
        for (out, x) in out.iter_mut().zip(x) {
            *out = x;
        }
    }
    whole * P
}

kernel! {
    /// Lanes into rows of matrices, which begin `stride` numbers after each other; with `upper`, the
    /// upper triangle of so many rows alone, entries off the diagonal times a factor.
    fn out_of_lanes<'a, S, T>(
        l: Lanes<S, T>,
        lanes: &'a [T],
        stride: usize,
        add: bool,
        upper: Option<(usize, T)>,
        out: &'a mut [T],
    ) {
        let lanes = T::view::<S>(lanes);
        let Some((n, factor)) = upper else {
            row_out_of(l, lanes, (T::ONE, T::ONE), add, (0, stride), out);
            return;
        };
        let mut at = 0;
        for r in 0..n {
            let row = &lanes[r * n + r..(r + 1) * n];
            row_out_of(l, row, (T::ONE, factor), add, (at, stride), out);
            at += row.len();
        }
    }
}

/// `out[lane·stride + start + c] = [… +] factor · row[c]_lane`, for as many lanes as `out` holds;
/// the first entry has a factor of its own.
#[inline(always)]
fn row_out_of<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    row: &[V<S, T>],
    (first, others): (T, T),
    add: bool,
    (start, stride): (usize, usize),
    out: &mut [T],
) {
    let done = match Lanes::<S, T>::TOGETHER {
        4 => quarters_out_of::<S, T, 4>(l, row, (first, others), add, (start, stride), out),
        2 => quarters_out_of::<S, T, 2>(l, row, (first, others), add, (start, stride), out),
        _ => 0,
    };
    for (c, register) in row.iter().enumerate().skip(done) {
        let factor = if c == 0 { first } else { others };
        let register = cast_slice::<_, T>(std::slice::from_ref(register));
        for (matrix, &x) in out.chunks_exact_mut(stride).zip(register) {
            let x = factor * x;
            let place = &mut matrix[start + c];
            *place = if add { *place + x } else { x };
        }
    }
}

/// The same `P` entries at a time, as far as there are so many; gives how far that is.
#[inline(always)]
fn quarters_out_of<S: Simd, T: Scalar, const P: usize>(
    l: Lanes<S, T>,
    row: &[V<S, T>],
    (first, others): (T, T),
    add: bool,
    (start, stride): (usize, usize),
    out: &mut [T],
) -> usize {
    let matrices = out.len() / stride.max(1);
    let mut scale = l.splat(first);
    for (at, entries) in row.chunks_exact(P).enumerate() {
        let mut x = [l.splat(T::ZERO); 4];
        for q in 0..P {
            x[q] = l.mul(entries[q], scale);
            scale = l.splat(others);
        }
        let x = l.turn(x);
        let begin = start + at * P;
        for q in 0..P {
            let register = [x[q]];
            let quarters = cast_slice::<_, T>(&register).as_chunks::<P>().0;
            for p in 0..4 {
                let lane = p * P + q;
                if lane < matrices {
                    let place = &mut out[lane * stride + begin..][..P];
                    for i in 0..P {
                        place[i] = if add {
                            place[i] + quarters[p][i]
                        } else {
                            quarters[p][i]
                        };
                    }
                }
            }
        }
    }
    row.len() / P * P
}

/// Symmetric `n × n` matrices of which `lanes` has the lower triangle, out of lanes: both triangles
/// are added to.
pub fn scatter_lower<T: Scalar>(width: usize, n: usize, lanes: &[T], out: &mut [T]) {
    for (lane, matrix) in out.chunks_exact_mut(n * n).enumerate() {
        for r in 0..n {
            for c in 0..r {
                let x = lanes[(r * n + c) * width + lane];
                matrix[r * n + c] += x;
                matrix[c * n + r] += x;
            }
            matrix[r * n + r] += lanes[(r * n + r) * width + lane];
        }
    }
}
