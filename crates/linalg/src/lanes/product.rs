//! `C = α Σ_s A_s B_s` over a group of matrices in lanes, in blocks whose sums stay in registers.

use crate::parts::{Sums, Terms};
use crate::simd::{Lanes, V, chosen_arch, store};
use crate::{Result, Scalar, kernel};
use pulp::Simd;

/// A matrix in lanes with its strides: entry `(i, j)` is register `row·i + col·j`.
#[derive(Debug, Clone, Copy)]
pub struct Laid<'a, T> {
    data: &'a [T],
    row: usize,
    col: usize,
}

impl<'a, T> Laid<'a, T> {
    /// Row after row, `cols` registers each.
    pub fn new(data: &'a [T], cols: usize) -> Self {
        Self {
            data,
            row: cols,
            col: 1,
        }
    }

    /// Rows are columns.
    pub fn transposed(self) -> Self {
        Self {
            row: self.col,
            col: self.row,
            ..self
        }
    }
}

/// Entries right of the diagonal that a symmetric left factor must have.
pub const BAND: usize = ROWS - 1;

/// A product over a group of matrices.
#[derive(Debug)]
pub struct Product<'a, T> {
    /// `C` is `m × n`, sums have `k` terms.
    pub shape: (usize, usize, usize),
    /// `A` and `B`.
    pub factors: (Laid<'a, T>, Laid<'a, T>),
    /// A second pair whose product is added.
    pub more: Option<(Laid<'a, T>, Laid<'a, T>)>,
    /// Which terms there are, in both pairs.
    pub terms: Terms,
    /// `α`.
    pub scale: T,
    /// Which sums are wanted.
    pub sums: Sums,
    /// `C`, row after row. It is overwritten.
    pub out: &'a mut [T],
}

impl<'a, T: Scalar> Product<'a, T> {
    /// `C = A B` with all terms.
    pub fn new(
        shape: (usize, usize, usize),
        a: Laid<'a, T>,
        b: Laid<'a, T>,
        out: &'a mut [T],
    ) -> Self {
        Self {
            shape,
            factors: (a, b),
            more: None,
            terms: Terms::All,
            scale: T::ONE,
            sums: Sums::All,
            out,
        }
    }
}

/// Rows computed together.
const ROWS: usize = 4;
/// Columns computed together at most: with [`ROWS`], as many sums as registers hold.
const COLUMNS: usize = 3;
/// The same where there are 32 registers.
const MORE_COLUMNS: usize = 6;

/// A factor as registers.
#[derive(Clone, Copy)]
struct Registers<'a, X> {
    data: &'a [X],
    row: usize,
    col: usize,
}

#[inline(always)]
fn registers<'a, S: Simd, T: Scalar>(x: &Laid<'a, T>) -> Registers<'a, V<S, T>> {
    Registers {
        data: T::view::<S>(x.data),
        row: x.row,
        col: x.col,
    }
}

/// `C_i = α Σ A_i B_i` of a group, see [`Product`].
///
/// # Panics
/// If a slice is shorter than its shape says.
pub fn product<T: Scalar>(product: Product<'_, T>) -> Result<()> {
    Multiply { product }.run(chosen_arch()?);
    Ok(())
}

/// Computes a product inside another kernel.
#[inline(always)]
pub(super) fn multiply<S: Simd, T: Scalar>(simd: S, product: Product<'_, T>) {
    simd.vectorize(Multiply { product });
}

kernel! {
    struct Multiply<'a, S, T>(l: Lanes<S, T>, product: Product<'a, T>) {
        run(l, product);
    }
}

/// Blocks of at most [`ROWS`] rows, and of columns as even as they come: no entry is computed
/// twice, and of a symmetric product hardly one above the diagonal.
#[inline(always)]
fn run<S: Simd, T: Scalar>(l: Lanes<S, T>, product: Product<'_, T>) {
    let (_, n, _) = product.shape;
    let Product {
        shape,
        factors,
        more,
        terms,
        scale,
        sums,
        out,
    } = product;
    let sum = Sum {
        shape,
        first: (registers::<S, T>(&factors.0), registers::<S, T>(&factors.1)),
        second: match &more {
            Some((a, b)) => Some((registers::<S, T>(a), registers::<S, T>(b))),
            None => None,
        },
        terms,
        scale: l.splat(scale),
        plain: scale == T::ONE,
        // A mirrored triangle has both.
        wanted: if sums == Sums::Upper {
            Sums::Symmetric
        } else {
            sums
        },
    };
    let most = match terms {
        // Of a block on the diagonal of a triangular factor a part is zeros: the fewer columns, the
        // smaller it is.
        Terms::UpperRight | Terms::LowerRight => COLUMNS,
        _ if Lanes::<S, T>::WIDE => MORE_COLUMNS,
        _ => COLUMNS,
    };
    let out = T::view_mut::<S>(out);
    // Column by column of blocks: the block of B stays in the first-level cache.
    let count = n.div_ceil(most);
    for block in 0..count {
        let (c, end) = (block * n / count, (block + 1) * n / count);
        if Lanes::<S, T>::WIDE {
            match end - c {
                6 => column::<S, T, 6>(l, &sum, c, out),
                5 => column::<S, T, 5>(l, &sum, c, out),
                4 => column::<S, T, 4>(l, &sum, c, out),
                3 => column::<S, T, 3>(l, &sum, c, out),
                2 => column::<S, T, 2>(l, &sum, c, out),
                _ => column::<S, T, 1>(l, &sum, c, out),
            }
        } else {
            match end - c {
                3 => column::<S, T, 3>(l, &sum, c, out),
                2 => column::<S, T, 2>(l, &sum, c, out),
                _ => column::<S, T, 1>(l, &sum, c, out),
            }
        }
    }
}

struct Sum<'a, X> {
    shape: (usize, usize, usize),
    first: (Registers<'a, X>, Registers<'a, X>),
    second: Option<(Registers<'a, X>, Registers<'a, X>)>,
    terms: Terms,
    scale: X,
    plain: bool,
    wanted: Sums,
}

/// `C` columns from `c` on, from the diagonal down where the product is symmetric.
#[inline(always)]
fn column<S: Simd, T: Scalar, const C: usize>(
    l: Lanes<S, T>,
    sum: &Sum<'_, V<S, T>>,
    c: usize,
    out: &mut [V<S, T>],
) {
    let (m, n, _) = sum.shape;
    let symmetric = sum.wanted != Sums::All;
    let diagonal = if symmetric { c + C } else { 0 };
    let mut r = if symmetric { c } else { 0 };
    if symmetric && C > ROWS {
        block::<S, T, ROWS, ROWS, true>(l, sum, r, c, out);
        r += ROWS;
    }
    while r < m {
        // Rows of the diagonal's block by themselves.
        let left = if r < diagonal { diagonal - r } else { m - r };
        if left >= ROWS {
            block::<S, T, ROWS, C, false>(l, sum, r, c, out);
            r += ROWS;
        } else if left >= 2 {
            block::<S, T, 2, C, false>(l, sum, r, c, out);
            r += 2;
        } else {
            block::<S, T, 1, C, false>(l, sum, r, c, out);
            r += 1;
        }
    }
    if sum.wanted == Sums::Symmetric {
        for r in c..c + C {
            for c in r + 1..c + C {
                out[r * n + c] = out[c * n + r];
            }
        }
    }
}

/// `R × C` sums; with `LOWER`, in every row those up to the column of its number alone.
#[inline(always)]
fn block<S: Simd, T: Scalar, const R: usize, const C: usize, const LOWER: bool>(
    l: Lanes<S, T>,
    sum: &Sum<'_, V<S, T>>,
    r: usize,
    c: usize,
    out: &mut [V<S, T>],
) {
    let (_, n, k) = sum.shape;
    let (from, to) = match sum.terms {
        Terms::All => (0, k),
        Terms::UpperRight => (0, (c + C).min(k)),
        Terms::LowerRight => (c, k),
        Terms::LowerLeft => (0, (r + R).min(k)),
        Terms::SymmetricLeft => (0, r + R),
    };
    let mut sums = [[l.splat(T::ZERO); C]; R];
    let (a, b) = sum.first;
    sums = accumulate::<S, T, R, C, LOWER>(l, sums, (a, r), (b, c), from, to);
    if sum.terms == Terms::SymmetricLeft {
        let mirrored = Registers {
            row: a.col,
            col: a.row,
            ..a
        };
        sums = accumulate::<S, T, R, C, LOWER>(l, sums, (mirrored, r), (b, c), to, k);
    }
    if let Some((a, b)) = sum.second {
        sums = accumulate::<S, T, R, C, LOWER>(l, sums, (a, r), (b, c), from, to);
    }
    if !sum.plain {
        for row in &mut sums {
            for x in row {
                *x = l.mul(*x, sum.scale);
            }
        }
    }
    for i in 0..R {
        store(&mut out[(r + i) * n + c..], &sums[i]);
    }
    if sum.wanted == Sums::Symmetric && r >= c + C {
        // From registers: what was just written need not be read again.
        let above = &mut out[c * n + r..];
        for j in 0..C {
            for i in 0..R {
                above[j * n + i] = sums[i][j];
            }
        }
    }
}

/// Adds terms `from..to` of `R × C` sums. They come and go by value, so that they stay in
/// registers.
#[inline(always)]
fn accumulate<S: Simd, T: Scalar, const R: usize, const C: usize, const LOWER: bool>(
    l: Lanes<S, T>,
    mut sums: [[V<S, T>; C]; R],
    (a, r): (Registers<'_, V<S, T>>, usize),
    (b, c): (Registers<'_, V<S, T>>, usize),
    from: usize,
    to: usize,
) -> [[V<S, T>; C]; R] {
    if from >= to {
        return sums;
    }
    // One check for all terms: the largest index of either factor.
    let last = to - 1;
    let (a_end, b_end) = (
        (r + R - 1) * a.row + last * a.col,
        (c + C - 1) * b.col + last * b.row,
    );
    let (a_data, b_data) = (&a.data[..=a_end], &b.data[..=b_end]);
    let mut left = r * a.row + from * a.col;
    let mut right = c * b.col + from * b.row;
    for _ in from..to {
        let mut y = [l.splat(T::ZERO); C];
        for j in 0..C {
            y[j] = b_data[right + j * b.col];
        }
        for i in 0..R {
            let x = a_data[left + i * a.row];
            for j in 0..C {
                if !LOWER || j <= i {
                    sums[i][j] = l.mul_add(x, y[j], sums[i][j]);
                }
            }
        }
        left += a.col;
        right += b.row;
    }
    sums
}
