//! What a report draws of a router: weights per domain, queries in the plane, angles between experts, spatial patterns.
//!
//! A filter `W` of whitened signals is `F = M^{-1/2} W` on the sensors, `M` the mean covariance. Its activation patterns (Haufe et al. 2014)
//! are `A = M F (Fᵀ M F)⁻¹ = M^{1/2} W (Wᵀ W)⁻¹`. Within the subspace an expert keeps, the basis is arbitrary: patterns are shown of the
//! two directions along which the classes differ most, the leading eigenvectors of `Σ_c (Wᵀ(X̄_c − X̄)W)²` over whitened training trials.

use crate::{Result, RoutingRecord};
use stiefel_geometry::{spd, stiefel};
use stiefel_linalg::{MatBatch, MatView, Op, Scalar, eigh, product};
use stiefel_model::diagnostics::RoutingReport;
use stiefel_model::train::Evaluation;
use stiefel_model::{Frontend, ModelError, Parameters, Prepared, Trials};

/// Patterns shown of each expert.
const PATTERNS: usize = 2;

pub(super) fn pictures<T: Scalar>(
    parameters: &Parameters<T>,
    evaluation: &Evaluation,
    test: &Prepared<T>,
    frontend: &Frontend,
    training: &Trials,
    report: RoutingReport,
) -> Result<RoutingRecord> {
    let experts: Option<MatBatch<f64>> = match parameters.get("experts") {
        Some(experts) => Some(experts.point()?.cast()),
        None => None,
    };
    let (angles, patterns) = match &experts {
        Some(w) => (angles(w)?, patterns(w, frontend, training)?),
        None => (Vec::new(), Vec::new()),
    };
    let domains = training.domains().names().len();
    Ok(RoutingRecord {
        report,
        domain_weights: match &evaluation.alpha {
            Some(alpha) => domain_weights(alpha, test.domains(), domains),
            None => Vec::new(),
        },
        queries: match &evaluation.queries {
            Some(queries) => plane(queries)?,
            None => Vec::new(),
        },
        angles,
        patterns,
    })
}

fn domain_weights(alpha: &MatBatch<f64>, of: &[usize], domains: usize) -> Vec<Vec<f64>> {
    let one = |domain: usize| {
        let at: Vec<usize> = (0..of.len()).filter(|&i| of[i] == domain).collect();
        if at.is_empty() {
            return Vec::new();
        }
        let mean = |j| at.iter().map(|&i| alpha.get(0, i, j)).sum::<f64>() / at.len() as f64;
        (0..alpha.cols()).map(mean).collect()
    };
    (0..domains).map(one).collect()
}

/// Rows on their first two principal axes; the sign of an axis makes its largest entry positive.
fn plane(rows: &MatBatch<f64>) -> Result<Vec<[f64; 2]>> {
    let (count, m) = (rows.rows(), rows.cols());
    let mean: Vec<f64> = (0..m)
        .map(|c| (0..count).map(|r| rows.get(0, r, c)).sum::<f64>() / count as f64)
        .collect();
    let centred = MatBatch::from_fn(1, count, m, |_, r, c| rows.get(0, r, c) - mean[c]);
    let scatter =
        product(centred.view(), Op::T, centred.view(), Op::N).map_err(ModelError::from)?;
    let eigen = eigh(scatter.view()).map_err(ModelError::from)?;
    let axis = |back: usize| -> Vec<f64> {
        if back > m {
            return vec![0.0; m];
        }
        let v: Vec<f64> = (0..m).map(|r| eigen.vectors.get(0, r, m - back)).collect();
        let largest = v
            .iter()
            .fold(0.0_f64, |a, x| if x.abs() > a.abs() { *x } else { a });
        v.into_iter().map(|x| x * largest.signum()).collect()
    };
    let axes = [axis(1), axis(2)];
    let on = |r: usize, a: &[f64]| (0..m).map(|c| centred.get(0, r, c) * a[c]).sum::<f64>();
    Ok((0..count)
        .map(|r| [on(r, &axes[0]), on(r, &axes[1])])
        .collect())
}

/// Mean principal angle of every pair of experts, degrees.
fn angles(experts: &MatBatch<f64>) -> Result<Vec<Vec<f64>>> {
    let (count, n, k) = experts.shape();
    let basis = stiefel::orthonormal_factor(experts.view())
        .map_err(ModelError::from)?
        .q;
    let mut table = vec![vec![0.0; count]; count];
    for a in 0..count {
        let first = MatView::new(1, n, k, basis.matrix(a)).map_err(ModelError::from)?;
        let found = stiefel::principal_angles(first, basis.view()).map_err(ModelError::from)?;
        for b in 0..count {
            if a != b {
                let mean = found.matrix(b).iter().sum::<f64>() / k as f64;
                table[a][b] = mean.to_degrees();
            }
        }
    }
    Ok(table)
}

fn patterns(
    experts: &MatBatch<f64>,
    frontend: &Frontend,
    training: &Trials,
) -> Result<Vec<Vec<Vec<f64>>>> {
    let (count, n, k) = experts.shape();
    let mean = MatView::new(1, n, n, frontend.whitener.pooled_mean()).map_err(ModelError::from)?;
    let root = spd::sqrt(mean).map_err(ModelError::from)?;
    let whitened = frontend.whitener.transform(training)?;
    let differences = class_differences(&whitened);
    let basis = stiefel::orthonormal_factor(experts.view())
        .map_err(ModelError::from)?
        .q;
    let mut all = Vec::with_capacity(count);
    for j in 0..count {
        let w = MatView::new(1, n, k, basis.matrix(j)).map_err(ModelError::from)?;
        let mut spread = MatBatch::<f64>::zeros(1, k, k);
        for d in &differences {
            let half = product(d.view(), Op::N, w, Op::N).map_err(ModelError::from)?;
            let inside = product(w, Op::T, half.view(), Op::N).map_err(ModelError::from)?;
            let square =
                product(inside.view(), Op::T, inside.view(), Op::N).map_err(ModelError::from)?;
            for (s, x) in spread.matrix_mut(0).iter_mut().zip(square.matrix(0)) {
                *s += x;
            }
        }
        let eigen = eigh(spread.view()).map_err(ModelError::from)?;
        let sensors = product(root.view(), Op::N, w, Op::N).map_err(ModelError::from)?;
        let pattern = |back: usize| -> Vec<f64> {
            let at = |r: usize| {
                (0..k)
                    .map(|c| sensors.get(0, r, c) * eigen.vectors.get(0, c, k - back))
                    .sum::<f64>()
            };
            let v: Vec<f64> = (0..n).map(at).collect();
            let largest = v
                .iter()
                .fold(0.0_f64, |a, x| if x.abs() > a.abs() { *x } else { a });
            v.into_iter().map(|x| x * largest.signum()).collect()
        };
        all.push((1..=PATTERNS.min(k)).map(pattern).collect());
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
