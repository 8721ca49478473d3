//! Functions of symmetric matrices and their derivatives, from eigenvectors in lanes.

use super::product::{Laid, Product, multiply};
use crate::parts::Sums;
use crate::simd::{Lanes, V, chosen_arch};
use crate::{Result, Scalar, kernel};
use pulp::Simd;

/// `U diag(f) Uᵀ` of a group, exactly symmetric. `scratch` holds a square.
pub fn recompose<T: Scalar>(
    n: usize,
    u: &[T],
    f: &[T],
    scratch: &mut [T],
    out: &mut [T],
) -> Result<()> {
    let spectral = LaneSpectral {
        n,
        u,
        task: Spectral::Map(f),
        scratch,
        out,
    };
    spectral.run(chosen_arch()?);
    Ok(())
}

/// `U (Λ ∘ UᵀG U) Uᵀ` of a group: the derivative of a function of symmetric matrices, applied to
/// symmetric `G_i` (Daleckii and Krein). `divided` holds the lower triangles of the divided
/// differences `Λ_i`; `scratch` holds two squares.
pub fn spectral_derivative<T: Scalar>(
    n: usize,
    u: &[T],
    divided: &[T],
    g: &[T],
    scratch: &mut [T],
    out: &mut [T],
) -> Result<()> {
    let spectral = LaneSpectral {
        n,
        u,
        task: Spectral::Derivative { divided, g },
        scratch,
        out,
    };
    spectral.run(chosen_arch()?);
    Ok(())
}

/// A symmetric matrix made of eigenvectors.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spectral<'a, T> {
    /// `U diag(f) Uᵀ`.
    Map(&'a [T]),
    /// `U (Λ ∘ UᵀG U) Uᵀ`.
    Derivative {
        /// `Λ`, lower triangle.
        divided: &'a [T],
        /// `G`, both triangles.
        g: &'a [T],
    },
}

kernel! {
    pub(crate) struct LaneSpectral<'a, S, T>(
        l: Lanes<S, T>,
        n: usize,
        u: &'a [T],
        task: Spectral<'a, T>,
        scratch: &'a mut [T],
        out: &'a mut [T],
    ) {
        let simd = l.simd;
        let (shape, square) = ((n, n, n), n * n * Lanes::<S, T>::width());
        let laid = Laid::new(u, n);
        let (half, inner) = scratch.split_at_mut(square);
        match task {
            Spectral::Map(f) => {
                let f = &T::view::<S>(f)[..n];
                let rows = T::view::<S>(u).chunks_exact(n);
                for (out, row) in T::view_mut::<S>(half).chunks_exact_mut(n).zip(rows) {
                    for ((out, &u), &f) in out.iter_mut().zip(row).zip(f) {
                        *out = l.mul(u, f);
                    }
                }
            }
            Spectral::Derivative { divided, g } => {
                multiply(simd, Product::new(shape, Laid::new(g, n), laid, half));
                let inner = &mut inner[..square];
                let right = Laid::new(half, n);
                let mut lower = Product::new(shape, laid.transposed(), right, inner);
                lower.sums = Sums::Lower;
                multiply(simd, lower);
                weigh(l, n, T::view::<S>(divided), T::view_mut::<S>(inner));
                multiply(simd, Product::new(shape, laid, Laid::new(inner, n), half));
            }
        }
        let half = Laid::new(half, n);
        let mut lower = Product::new(shape, half, laid.transposed(), out);
        lower.sums = Sums::Symmetric;
        multiply(simd, lower);
    }
}

/// `x ← Λ ∘ x` for symmetric `x`, given the lower triangle of `Λ`.
#[inline(always)]
fn weigh<S: Simd, T: Scalar>(l: Lanes<S, T>, n: usize, divided: &[V<S, T>], x: &mut [V<S, T>]) {
    for r in 0..n {
        for c in 0..=r {
            let entry = l.mul(divided[r * n + c], x[r * n + c]);
            x[r * n + c] = entry;
            x[c * n + r] = entry;
        }
    }
}
