//! `G = L Lᵀ` and `L X = B`, `Lᵀ X = B`, by halves:
//!
//! ```text
//! G = [G₁₁ ·  ]    G₁₁ = L₁₁ L₁₁ᵀ,    L₁₁ L₂₁ᵀ = G₂₁ᵀ,    G₂₂ − L₂₁ L₂₁ᵀ = L₂₂ L₂₂ᵀ
//!     [G₂₁ G₂₂]
//! ```
//!
//! so that nearly all of the work is products of matrices. Few rows are done one by one.

use crate::gemm::{Gemm, Strided};
use crate::parts::Sums;
use crate::sums::dot;
use crate::{Result, kernel};

/// Rows that are not halved any more.
const FEW: usize = 8;

/// The rows of the first half: whole tiles of a product.
fn half(n: usize) -> usize {
    (n / 2).next_multiple_of(FEW)
}

/// `L` in the place of the lower triangle of `G`, `n` rows that are `ld` apart; `Ok(Err(pivot))`
/// where a pivot is not positive. `room` holds `n²/4` numbers and what rounding to whole tiles
/// adds.
pub(super) fn factor(
    g: &mut [f64],
    ld: usize,
    n: usize,
    room: &mut [f64],
) -> Result<std::result::Result<(), usize>> {
    if n <= FEW {
        return Ok(factor_few(g, ld, n));
    }
    let first = half(n);
    let rest = n - first;
    if let Err(pivot) = factor(g, ld, first, room)? {
        return Ok(Err(pivot));
    }
    // L₂₁ᵀ, whose rows are long, in a place of its own.
    let turned = &mut room[..first * rest];
    for r in 0..rest {
        for (c, &x) in g[(first + r) * ld..][..first].iter().enumerate() {
            turned[c * rest + r] = x;
        }
    }
    let lower = Strided::rows(&*g, ld);
    solve_lower(lower, first, turned, rest)?;
    for r in 0..rest {
        for (c, x) in g[(first + r) * ld..][..first].iter_mut().enumerate() {
            *x = turned[c * rest + r];
        }
    }
    let (own, turned) = (&mut g[first * ld + first..], Strided::rows(&*turned, rest));
    Gemm {
        count: 1,
        shape: (rest, rest, first),
        add: true,
        alpha: -1.0,
        sums: Sums::Lower,
        a: (turned.transposed(), 0),
        b: (turned, 0),
        c: (own, ld, 0),
    }
    .run()?;
    let own = &mut g[first * ld + first..];
    Ok(factor(own, ld, rest, room)?.map_err(|pivot| first + pivot))
}

/// Entry by entry.
fn factor_few(g: &mut [f64], ld: usize, n: usize) -> std::result::Result<(), usize> {
    for r in 0..n {
        for c in 0..=r {
            let sum: f64 = (0..c).map(|t| g[r * ld + t] * g[c * ld + t]).sum();
            let left = g[r * ld + c] - sum;
            if c < r {
                g[r * ld + c] = left / g[c * ld + c];
            } else if left > 0.0 {
                g[r * ld + r] = left.sqrt();
            } else {
                return Err(r);
            }
        }
    }
    Ok(())
}

/// `L⁻¹ B` in the place of `B`, `n × m`.
pub(super) fn solve_lower(l: Strided<'_, f64>, n: usize, b: &mut [f64], m: usize) -> Result<()> {
    if n <= FEW {
        substitute(l, n, b, m, false);
        return Ok(());
    }
    if m == 1 {
        for r in 0..n {
            let row = &l.data[r * l.row..][..=r];
            b[r] = (b[r] - dot(&row[..r], &b[..r])) / row[r];
        }
        return Ok(());
    }
    let first = half(n);
    let (above, below) = b.split_at_mut(first * m);
    solve_lower(l, first, above, m)?;
    subtract(l.from(first, 0), above, below, (n - first, m, first))?;
    solve_lower(l.from(first, first), n - first, below, m)
}

/// `L⁻ᵀ B` in the place of `B`, `n × m`.
pub(super) fn solve_upper(l: Strided<'_, f64>, n: usize, b: &mut [f64], m: usize) -> Result<()> {
    if n <= FEW {
        substitute(l, n, b, m, true);
        return Ok(());
    }
    let first = half(n);
    let (above, below) = b.split_at_mut(first * m);
    solve_upper(l.from(first, first), n - first, below, m)?;
    let turned = l.from(first, 0).transposed();
    subtract(turned, below, above, (first, m, n - first))?;
    solve_upper(l, first, above, m)
}

/// `C ← C − A B`.
fn subtract(
    a: Strided<'_, f64>,
    b: &[f64],
    c: &mut [f64],
    shape: (usize, usize, usize),
) -> Result<()> {
    let m = shape.1;
    Gemm {
        count: 1,
        shape,
        add: true,
        alpha: -1.0,
        sums: Sums::All,
        a: (a, 0),
        b: (Strided::rows(b, m), 0),
        c: (c, m, 0),
    }
    .run()
}

kernel! {
    /// Row after row of `B`: downwards with `L`, upwards with `Lᵀ`.
    fn substitute<'a, S, T>(
        _simd: S,
        l: Strided<'a, T>,
        n: usize,
        b: &'a mut [T],
        m: usize,
        upwards: bool,
    ) {
        if m == 0 {
            return;
        }
        for step in 0..n {
            let r = if upwards { n - 1 - step } else { step };
            let (above, rest) = b.split_at_mut(r * m);
            let (row, below) = rest.split_at_mut(m);
            let (first, others) = if upwards {
                (r + 1, &*below)
            } else {
                (0, &*above)
            };
            for (i, other) in others.chunks_exact(m).take(step).enumerate() {
                let c = first + i;
                let at = if upwards { (c, r) } else { (r, c) };
                let factor = l.data[at.0 * l.row + at.1];
                for (x, &y) in row.iter_mut().zip(other) {
                    *x -= factor * y;
                }
            }
            let pivot = l.data[r * l.row + r];
            for x in row {
                *x /= pivot;
            }
        }
    }
}
