//! What a report draws of a router: weights per domain, queries in the plane, angles between
//! experts, and the two leading [`pictures`](FittedModel::pictures) of each.

use crate::{Patterns, Result, RoutingRecord};
use stiefel_data::Trials;
use stiefel_geometry::stiefel;
use stiefel_linalg::{MatBatch, Op, eigh, peak, product};
use stiefel_model::diagnostics::RoutingReport;
use stiefel_model::kind::Picture;
use stiefel_model::{Decided, FittedModel, ModelError};

/// Patterns shown of each filter.
const PATTERNS: usize = 2;

/// What the filters of a model see: the leading patterns of each. Of a model on several views
/// nothing, for it has figures of its own.
pub(super) fn filters(model: &FittedModel, training: &Trials) -> Result<Vec<Patterns>> {
    if model.view_count() > 1 {
        return Ok(Vec::new());
    }
    let all = model.pictures(training, PATTERNS)?.into_iter();
    let one = |picture: Picture| Patterns {
        filter: picture.filter,
        patterns: (picture.patterns.data())
            .chunks(picture.patterns.cols().max(1))
            .map(<[f64]>::to_vec)
            .collect(),
    };
    Ok(all.map(one).collect())
}

/// Pictures of a router on its test trials. What routes by domain has one filter: there is nothing
/// to draw but its figures.
pub(super) fn pictures(
    model: &FittedModel,
    decided: &Decided,
    test: &Trials,
    report: RoutingReport,
) -> Result<RoutingRecord> {
    let experts = model.filters()?.filter(|_| model.expert_count().is_some());
    let domains = test.domains().names().len();
    Ok(RoutingRecord {
        report,
        domain_weights: match &decided.routing {
            Some(alpha) => domain_weights(alpha, test.domains().indices(), domains),
            None => Vec::new(),
        },
        queries: match &decided.queries {
            Some(queries) => plane(queries)?,
            None => Vec::new(),
        },
        angles: experts.map_or_else(|| Ok(Vec::new()), |experts| angles(&experts))?,
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
        let largest = peak(v.iter().copied());
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
    let (count, _, k) = experts.shape();
    let basis = stiefel::orthonormal_factor(experts.view())
        .map_err(ModelError::from)?
        .q;
    let mut table = vec![vec![0.0; count]; count];
    for a in 0..count {
        let first = basis.view().single(a);
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
