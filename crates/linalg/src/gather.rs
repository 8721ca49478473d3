//! Into lanes and out of them.

use crate::Scalar;

/// Something with one slice per lane, an array of the widths that registers have.
macro_rules! with_lanes {
    ($width:expr, $count:expr, $of:expr, |$from:ident| $what:expr) => {
        with_lanes!(@each $width, $count, $of, |$from| $what, 16 8 4 2)
    };
    (@each $width:expr, $count:expr, $of:expr, |$from:ident| $what:expr, $($lanes:literal)+) => {
        match $width {
            $($lanes => {
                let $from = &per_lane::<T, $lanes>($count, $of);
                $what
            })+
            _ => {
                let $from = &per_lane::<T, 1>($count, $of);
                $what
            }
        }
    };
}

/// `count` matrices (of any shape, all of one) into lanes: `out[e·width + lane] = of(lane)[e]`. Lanes beyond the last matrix repeat it.
///
/// # Panics
/// If there is no matrix, or `out` does not hold `width` of them.
pub fn gather<'a, T: Scalar>(
    width: usize,
    count: usize,
    of: impl Fn(usize) -> &'a [T],
    out: &mut [T],
) {
    with_lanes!(width, count, of, |from| gather_entries(from, out));
}

/// One slice per lane; the last is repeated.
fn per_lane<'a, T, const W: usize>(count: usize, of: impl Fn(usize) -> &'a [T]) -> [&'a [T]; W] {
    std::array::from_fn(|lane| of(lane.min(count - 1)))
}

fn gather_entries<T: Scalar, const W: usize>(from: &[&[T]; W], out: &mut [T]) {
    let len = out.len() / W;
    let from: [&[T]; W] = from.map(|x| &x[..len]);
    for (e, register) in out.chunks_exact_mut(W).enumerate() {
        for lane in 0..W {
            register[lane] = from[lane][e];
        }
    }
}

/// Lower triangles of symmetric `n × n` matrices into lanes, with `band` entries of every row right of the diagonal; the rest stays as it is.
///
/// # Panics
/// As [`gather`].
pub fn gather_lower<'a, T: Scalar>(
    width: usize,
    (n, band): (usize, usize),
    count: usize,
    of: impl Fn(usize) -> &'a [T],
    out: &mut [T],
) {
    with_lanes!(width, count, of, |from| gather_triangle(
        (n, band),
        from,
        out
    ));
}

fn gather_triangle<T: Scalar, const W: usize>(
    (n, band): (usize, usize),
    from: &[&[T]; W],
    out: &mut [T],
) {
    for (r, row) in out.chunks_exact_mut(n * W).take(n).enumerate() {
        let len = r + 1;
        let from: [&[T]; W] = from.map(|x| &x[r * n..][..len]);
        for (c, register) in row[..len * W].chunks_exact_mut(W).enumerate() {
            for lane in 0..W {
                register[lane] = from[lane][c];
            }
        }
    }
    for r in 0..n {
        for c in r + 1..(r + 1 + band).min(n) {
            let (above, below) = out.split_at_mut(c * n * W);
            above[(r * n + c) * W..][..W].copy_from_slice(&below[r * W..][..W]);
        }
    }
}

/// Symmetric `n × n` matrices from the rows of their upper triangles, one after the other, into lanes: entries off the diagonal are `factor` times what is given, on either side.
///
/// # Panics
/// As [`gather`].
pub fn gather_upper<'a, T: Scalar>(
    width: usize,
    (n, factor): (usize, T),
    count: usize,
    of: impl Fn(usize) -> &'a [T],
    out: &mut [T],
) {
    with_lanes!(width, count, of, |from| gather_symmetric(
        (n, factor),
        from,
        out
    ));
}

fn gather_symmetric<T: Scalar, const W: usize>(
    (n, factor): (usize, T),
    from: &[&[T]; W],
    out: &mut [T],
) {
    let mut at = 0;
    for r in 0..n {
        let from: [&[T]; W] = from.map(|x| &x[at..][..n - r]);
        for c in r..n {
            let factor = if r == c { T::ONE } else { factor };
            let mut register = [T::ZERO; W];
            for lane in 0..W {
                register[lane] = factor * from[lane][c - r];
            }
            out[(r * n + c) * W..][..W].copy_from_slice(&register);
            out[(c * n + r) * W..][..W].copy_from_slice(&register);
        }
        at += n - r;
    }
}

/// The rows of the upper triangles of symmetric `n × n` matrices out of lanes, one after the other, entries off the diagonal times `factor`; as many matrices as `out` holds.
pub fn scatter_upper<T: Scalar>(width: usize, (n, factor): (usize, T), lanes: &[T], out: &mut [T]) {
    let mut at = 0;
    for r in 0..n {
        let (diagonal, others) = lanes[(r * n + r) * width..(r + 1) * n * width].split_at(width);
        for (lane, vector) in out.chunks_exact_mut(n * (n + 1) / 2).enumerate() {
            vector[at] = diagonal[lane];
            let entries = vector[at + 1..].iter_mut();
            for (x, register) in entries.zip(others.chunks_exact(width)) {
                *x = factor * register[lane];
            }
        }
        at += n - r;
    }
}

/// Entries that are read for all lanes before the next ones: a few cache lines, which stay in the first-level cache.
const BLOCK: usize = 16;

/// `out[lane][e] = lanes[e·width + lane]` for the first matrices of a group, as many as `out` holds, each of `lanes.len() / width` entries; added to what is there where `add`.
pub fn scatter<T: Scalar>(width: usize, lanes: &[T], add: bool, out: &mut [T]) {
    let len = lanes.len() / width;
    for (block, registers) in lanes.chunks(BLOCK * width).enumerate() {
        for (lane, matrix) in out.chunks_exact_mut(len).enumerate() {
            let entries = &mut matrix[block * BLOCK..];
            let values = registers.chunks_exact(width).map(|register| register[lane]);
            if add {
                entries
                    .iter_mut()
                    .zip(values)
                    .for_each(|(x, value)| *x += value);
            } else {
                entries
                    .iter_mut()
                    .zip(values)
                    .for_each(|(x, value)| *x = value);
            }
        }
    }
}

/// The same for symmetric `n × n` matrices of which `lanes` has the lower triangle; both triangles are added to.
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
