//! From covariances to features: means, frames, `upper(log β(Uᵀ X U))`.

use super::OP;
use crate::kernel::Spectrum;
use crate::precondition::{check_single, scale_of, trace_and_square};
use crate::{ModelError, Result};
use std::collections::BTreeMap;
use stiefel_geometry::spd::{SpectralFn, check_spectrum, spectral_map, upper_into, upper_len};
use stiefel_linalg::{
    EigenWorkspace, MatBatch, MatRef, MatView, MatViewMut, Op, Wanted, congruence, product,
    product_into, sums, symmetrise,
};

/// `(1−s)X + s·(tr X/n)·I` of one matrix, in place.
pub(super) fn shrink(x: &mut [f64], n: usize, share: f64) {
    let level = share * x.iter().step_by(n + 1).sum::<f64>() / n as f64;
    sums::scale(x, 1.0 - share);
    for v in x.iter_mut().step_by(n + 1) {
        *v += level;
    }
}

/// The same of every matrix of a batch, each checked: size, finite values, symmetry, a positive
/// trace. Errors name the trials at these places.
pub(super) fn shrunk(
    x: MatView<'_, f64>,
    n: usize,
    share: f64,
    places: &[usize],
) -> Result<MatBatch<f64>> {
    if (x.rows(), x.cols()) != (n, n) {
        return Err(ModelError::Channels {
            op: OP,
            expected: n,
            found: x.rows(),
        });
    }
    let mut out = x.to_owned();
    for (i, &place) in places.iter().enumerate() {
        check(x.matrix(i), n, place)?;
        shrink(out.matrix_mut(i), n, share);
    }
    Ok(out)
}

/// Size, finite values, symmetry and a positive trace of the trial at this place.
pub(super) fn check(x: &[f64], n: usize, place: usize) -> Result<()> {
    check_single(n, x, place).map_err(|error| error.at_trial(place))?;
    let (trace, square) = trace_and_square(x, n);
    scale_of(place, trace, square)?;
    Ok(())
}

/// The matrices at these places, shrunk; they have been checked. A copy of one person's trials of
/// one view stays in the cache, a copy of everybody's does not.
pub(super) fn shrunk_at(x: &MatBatch<f64>, at: &[usize], share: f64) -> MatBatch<f64> {
    let mut out = x.select(at);
    let n = out.rows();
    for i in 0..out.count() {
        shrink(out.matrix_mut(i), n, share);
    }
    out
}

/// The mean matrix.
pub(super) fn mean(x: &MatBatch<f64>) -> Vec<f64> {
    let mut sum = vec![0.0; x.rows() * x.cols()];
    for i in 0..x.count() {
        sums::add_scaled(&mut sum, 1.0, x.matrix(i));
    }
    for s in &mut sum {
        *s /= x.count().max(1) as f64;
    }
    sum
}

/// `β(Zᵀ X Z)` of a batch.
pub(super) fn scaled(filter: MatView<'_, f64>, x: MatView<'_, f64>) -> Result<MatBatch<f64>> {
    let mut y = congruence(filter, x)?;
    let k = y.rows();
    for i in 0..y.count() {
        let (trace, square) = trace_and_square(y.matrix(i), k);
        let scale = scale_of(i, trace, square)?;
        sums::scale(y.matrix_mut(i), scale);
    }
    Ok(y)
}

/// What turns the views of one person's trials into features: `U_v`, `n × k_v` each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    pub(crate) filters: Vec<MatBatch<f64>>,
}

impl Frame {
    /// The frame of a person with these means, `n × n` each.
    pub(super) fn new(means: &[Vec<f64>], anchor: &MatBatch<f64>, k: &[usize]) -> Result<Self> {
        let n = anchor.rows();
        let of = |source| ModelError::Reference {
            of: "the trials of a person".into(),
            source,
        };
        let inv_sqrt = |m: MatView<'_, f64>| match spectral_map(SpectralFn::InvSqrt, m) {
            Ok(root) => Ok(root.value),
            Err(source) => Err(of(source)),
        };
        let root = inv_sqrt(MatRef::new(n, n, &means[0]).view())?;
        let whole = product(root.view(), Op::N, anchor.view(), Op::N)?;
        let one = |(mean, &k): (&Vec<f64>, &usize)| {
            let v = crate::anchor::first_columns(&whole, k);
            let inside = congruence(v.view(), MatRef::new(n, n, mean).view())?;
            let root = inv_sqrt(inside.view())?;
            Ok(product(v.view(), Op::N, root.view(), Op::N)?)
        };
        let filters: Result<Vec<_>> = means.iter().zip(k).map(one).collect();
        Ok(Self { filters: filters? })
    }

    /// Numbers of a row of features, of each view.
    pub(super) fn lengths(&self) -> Vec<usize> {
        let each = self.filters.iter();
        each.map(|u| upper_len(u.cols())).collect()
    }

    /// `upper(log β(Uᵀ X U))` of shrunk covariances, one batch per view: rows of `p` numbers,
    /// neither centred nor scaled.
    pub(super) fn rows(&self, views: &[MatView<'_, f64>]) -> Result<MatBatch<f64>> {
        let count = views.first().map_or(0, MatView::count);
        let mut out = MatBatch::zeros(1, count, self.lengths().iter().sum());
        let matrix = |v: usize, i: usize| views[v].matrix(i);
        self.rows_into(count, matrix, out.data_mut(), &mut RowScratch::default())?;
        Ok(out)
    }

    /// The same of matrices that are made view by view: none has to be kept while the next one is
    /// at work.
    pub(super) fn rows_of(
        &self,
        count: usize,
        of: impl Fn(usize) -> MatBatch<f64>,
    ) -> Result<MatBatch<f64>> {
        let lengths = self.lengths();
        let p = lengths.iter().sum();
        let mut out = MatBatch::zeros(1, count, p);
        let (mut scratch, mut from) = (RowScratch::default(), 0);
        for (v, length) in lengths.into_iter().enumerate() {
            let x = of(v);
            scratch.logarithms(&self.filters[v..=v], count, |_, i| x.matrix(i))?;
            scratch.write(self.filters[v].cols(), (count, p, from), out.data_mut());
            from += length;
        }
        Ok(out)
    }

    /// The same of `count` trials, the matrix of view `v` of trial `i` being `matrix(v, i)`. Of
    /// several trials, views of as many directions are decomposed together; a single one is
    /// decomposed along its rows, and nothing is allocated for it.
    pub(super) fn rows_into<'a>(
        &self,
        count: usize,
        matrix: impl Fn(usize, usize) -> &'a [f64],
        out: &mut [f64],
        scratch: &mut RowScratch,
    ) -> Result<()> {
        let p = out.len() / count.max(1);
        let (mut first, mut from) = (0, 0);
        while let Some(k) = self.filters.get(first).map(MatBatch::cols) {
            let rest = &self.filters[first..];
            let length = upper_len(k);
            if count == 1 {
                scratch.single(&rest[0], matrix(first, 0), &mut out[from..from + length])?;
                (first, from) = (first + 1, from + length);
                continue;
            }
            let alike = rest.iter().take_while(|u| u.cols() == k).count();
            let own = |v: usize, i: usize| matrix(first + v, i);
            scratch.logarithms(&rest[..alike], count, own)?;
            scratch.write(k, (count, p, from), out);
            (first, from) = (first + alike, from + alike * length);
        }
        Ok(())
    }
}

/// Buffers of [`Frame::rows_into`].
#[derive(Debug, Clone, Default)]
pub(super) struct RowScratch {
    half: Vec<f64>,
    inside: Vec<f64>,
    logs: Vec<f64>,
    values: Vec<f64>,
    eigen: EigenWorkspace<f64>,
    /// Of single matrices, by their size.
    spectra: BTreeMap<usize, Spectrum<f64>>,
}

impl RowScratch {
    /// `upper(log β(Uᵀ X U))` of one matrix.
    fn single(&mut self, u: &MatBatch<f64>, x: &[f64], out: &mut [f64]) -> Result<()> {
        let k = u.cols();
        self.inside.resize(k * k, 0.0);
        inside(u, x, 0, &mut self.half, &mut self.inside)?;
        let spectrum = self.spectra.entry(k).or_insert_with(|| Spectrum::new(k));
        spectrum.vector(SpectralFn::Log, &self.inside, out)
    }

    /// The upper vectors of what [`logarithms`](Self::logarithms) left, into rows of `p` numbers,
    /// from number `from` on.
    fn write(&self, k: usize, (count, p, from): (usize, usize, usize), out: &mut [f64]) {
        let length = upper_len(k);
        for (place, log) in self.logs.chunks_exact((k * k).max(1)).enumerate() {
            let (v, i) = (place / count, place % count);
            upper_into(k, log, &mut out[i * p + from + v * length..][..length]);
        }
    }

    /// `log β(U_vᵀ X U_v)` of every trial under every filter, all `n × k`: view by view into
    /// `logs`.
    fn logarithms<'a>(
        &mut self,
        filters: &[MatBatch<f64>],
        count: usize,
        matrix: impl Fn(usize, usize) -> &'a [f64],
    ) -> Result<()> {
        let Some(k) = filters.first().map(MatBatch::cols) else {
            return Ok(());
        };
        let total = filters.len() * count;
        self.inside.resize(total * k * k, 0.0);
        self.logs.resize(total * k * k, 0.0);
        self.values.resize(total * k, 0.0);
        for (place, y) in self.inside.chunks_exact_mut((k * k).max(1)).enumerate() {
            let (v, i) = (place / count, place % count);
            inside(&filters[v], matrix(v, i), i, &mut self.half, y)?;
        }
        let inside = MatView::new(total, k, k, &self.inside)?;
        let wanted = Wanted::Map(&f64::ln, &mut self.logs);
        self.eigen.decompose(inside, &mut self.values, wanted)?;
        for of_view in self.values.chunks_exact((count * k).max(1)) {
            check_spectrum("log", k, of_view)?;
        }
        Ok(())
    }
}

/// `β(Uᵀ X U)` of trial `i` into `y`, `k × k`.
fn inside(
    u: &MatBatch<f64>,
    x: &[f64],
    i: usize,
    half: &mut Vec<f64>,
    y: &mut [f64],
) -> Result<()> {
    let (_, n, k) = u.shape();
    half.resize(n * k, 0.0);
    let (u, x) = (u.view(), MatRef::new(n, n, x).view());
    let xu = MatViewMut::one(n, k, half);
    product_into(xu, false, 1.0, x, Op::N, u, Op::N)?;
    let xu = MatRef::new(n, k, half).view();
    let uxu = MatViewMut::one(k, k, y);
    product_into(uxu, false, 1.0, u, Op::T, xu, Op::N)?;
    symmetrise(&mut MatViewMut::one(k, k, y))?;
    let (trace, square) = trace_and_square(y, k);
    let scale = scale_of(i, trace, square)?;
    for v in y.iter_mut() {
        *v *= scale;
    }
    Ok(())
}

/// The weighted mean row.
pub(super) fn centre(rows: &MatBatch<f64>, weights: &[f64]) -> Vec<f64> {
    let p = rows.cols();
    let mut sum = vec![0.0; p];
    for (row, w) in rows.data().chunks_exact(p.max(1)).zip(weights) {
        sum.iter_mut().zip(row).for_each(|(s, v)| *s += w * v);
    }
    let total: f64 = weights.iter().sum();
    for s in &mut sum {
        *s /= total;
    }
    sum
}

/// `(row − centre)·scale` of every row, in place.
pub(super) fn place(rows: &mut MatBatch<f64>, centre: &[f64], scale: &[f64]) {
    let p = rows.cols();
    for row in rows.data_mut().chunks_exact_mut(p.max(1)) {
        for ((v, c), s) in row.iter_mut().zip(centre).zip(scale) {
            *v = (*v - c) * s;
        }
    }
}
