//! What a filter sees: its activation patterns on the sensors.
//!
//! A filter `W` (`n × k`) of whitened signals `Zx` is `F = ZᵀW` on the sensors. Its patterns (Haufe
//! et al. 2014) are the columns of `A = M F (Fᵀ M F)⁻¹`, `M` the mean covariance; where `Z` whitens
//! it, `A = M^{1/2} W`. Within the subspace a filter keeps, the basis is arbitrary: patterns are
//! those of the directions `WV` along which the classes differ, most first, with `V` the
//! eigenvectors of `Σ_c (Wᵀ(X̄_c − X̄)W)²` over whitened training trials. A pattern's sign has no
//! meaning; the largest entry is positive.

use crate::{Result, Trials, Whitener};
use stiefel_geometry::spd::{SpectralFn, spectral_map};
use stiefel_geometry::stiefel;
use stiefel_linalg::{MatBatch, MatRef, MatView, Op, congruence, eigh, peak, product};

/// The `count` leading patterns of each filter, `K × min(count, k) × n`; `M` and `Z` are those of
/// all training domains together.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::diagnostics::patterns;
/// use stiefel_model::{Factor, Preconditioning, Trials};
///
/// // The classes differ in the second of three channels.
/// let x = MatBatch::from_fn(8, 3, 3, |i, r, c| {
///     if r != c {
///         0.0
///     } else if r == 1 {
///         1.0 + (i % 2) as f64
///     } else {
///         2.0
///     }
/// });
/// let of = |names: [&str; 2]| Factor::from_labels((0..8).map(move |i| names[i % 2]));
/// let trials = Trials::new(x, of(["hand", "feet"]), Factor::from_labels(["anna"; 8]))?;
/// let whitener = Preconditioning::default().fit(&trials)?;
/// let everything = MatBatch::from_fn(1, 3, 3, |_, r, c| f64::from(u8::from(r == c)));
/// let found = patterns(everything.view(), &whitener, &trials, 1)?;
/// assert_eq!(found.shape(), (1, 1, 3));
/// assert!(found.get(0, 0, 1) > 1.0 && found.get(0, 0, 0).abs() < 1e-12);
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
pub fn patterns(
    filters: MatView<'_, f64>,
    whitener: &Whitener,
    training: &Trials,
    count: usize,
) -> Result<MatBatch<f64>> {
    let (experts, n, k) = filters.shape();
    let mean = MatRef::new(n, n, whitener.pooled_mean()).view();
    let z = MatRef::new(n, n, whitener.pooled_matrix()).view();
    let differences = class_differences(&whitener.transform(training)?);
    let bases = stiefel::orthonormal_factor(filters)?.q;
    let count = count.min(k);
    let mut all = MatBatch::zeros(experts, count, n);
    for j in 0..experts {
        let w = bases.view().single(j);
        let mut spread = MatBatch::<f64>::zeros(1, k, k);
        for difference in &differences {
            let inside = congruence(w, difference.view())?;
            let square = product(inside.view(), Op::T, inside.view(), Op::N)?;
            for (s, x) in spread.matrix_mut(0).iter_mut().zip(square.matrix(0)) {
                *s += x;
            }
        }
        let turn = eigh(spread.view())?.vectors;
        let filter = product(z, Op::T, w, Op::N)?;
        let inside = congruence(filter.view(), mean)?;
        let scale = spectral_map(SpectralFn::Pow(-1.0), inside.view())?.value;
        let scaled = product(filter.view(), Op::N, scale.view(), Op::N)?;
        let sensors = product(mean, Op::N, scaled.view(), Op::N)?;
        // Eigenvalues ascend: the last direction comes first.
        let directions = product(sensors.view(), Op::N, turn.view(), Op::N)?;
        for p in 0..count {
            let column: Vec<f64> = (0..n).map(|r| directions.get(0, r, k - 1 - p)).collect();
            let largest = peak(column.iter().copied());
            let row = &mut all.matrix_mut(j)[p * n..(p + 1) * n];
            for (out, value) in row.iter_mut().zip(column) {
                *out = value * largest.signum();
            }
        }
    }
    Ok(all)
}

/// `X̄_c − X̄` of every class with trials.
fn class_differences(trials: &Trials) -> Vec<MatBatch<f64>> {
    let x = trials.covariances();
    let n = trials.channels_count();
    let mean = |at: &[usize]| {
        let mut sum = MatBatch::<f64>::zeros(1, n, n);
        for &i in at {
            for (s, v) in sum.matrix_mut(0).iter_mut().zip(x.matrix(i)) {
                *s += v / at.len() as f64;
            }
        }
        sum
    };
    let all: Vec<usize> = (0..trials.len()).collect();
    let overall = mean(&all);
    let classes = trials.classes();
    let one = |class: usize| {
        let at: Vec<usize> = (0..trials.len())
            .filter(|&i| classes.indices()[i] == class)
            .collect();
        let mut difference = mean(&at);
        for (d, o) in difference.matrix_mut(0).iter_mut().zip(overall.matrix(0)) {
            *d -= o;
        }
        difference
    };
    classes.present().into_iter().map(one).collect()
}
