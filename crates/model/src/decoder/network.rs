//! The networks without a tape: one pre-conditioned trial through frozen parameters.
//!
//! ```text
//! query    q = W₂ gelu(W₁ [x̃; Emb(d)] + b₁) + b₂,   x̃ = upper(log X) P
//! routing  α = softmax(q Eᵀ/√m)                      (of the p best experts alone under top-p routing)
//! filter   W = R(W_base + Σ_j α_j Δ_j)               (and other kinds of experts; one fixed W for the baseline, which needs no query)
//! norm     batch normalisation of X or of WᵀXW, where the network has it
//! tail     z = upper(log max(Wᵀ X W, ε)),  scores = w z + b   (routed head: (w + Σ_j α_j δ_j) z + b)
//! views    a filter and a tail for each, their z one after the other, one head; the query sees the broad view
//! ```
//!
//! `X` is `n × n`; its logarithm and the encoder are in f64 as at training, the rest in the precision of the network.

use super::experts::Experts;
use super::filter::point;
use super::kernel::{Spectrum, linear, multiply, probabilities};
use super::norm::{Norm, Whose};
use crate::model::Architecture;
use crate::net::sparse::masked_softmax;
use crate::net::{DaspConfig, NormPosition};
use crate::{DspEncoder, Model, ModelError, Parameters, Result};
use stiefel_geometry::spd::SpectralFn;
use stiefel_linalg::{MatBatch, Op, Scalar, gelu, softmax, symmetrise};

/// The row of the embedding a trial is decoded with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    /// The network has no embedding.
    Absent,
    /// Zeros.
    Zero,
    /// A row.
    At(usize),
    /// A row that is not in the table: the one last given to [`Frozen::set_own`].
    Own,
}

/// Whose weights the experts have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weights<'a> {
    /// The router's own.
    Learnt,
    /// `1/K` each.
    Uniform,
    /// One for the router's winner, zero for the others.
    HardTop1,
    /// Given ones, `K` of them.
    Given(&'a [f64]),
}

/// A frozen network with all the buffers a trial needs.
#[derive(Debug)]
pub(super) struct Frozen<T> {
    n: usize,
    k: usize,
    router: Option<Router<T>>,
    x: Vec<T>,
    /// The filters of all views, one after the other.
    w: Vec<T>,
    xw: Vec<T>,
    y: Vec<T>,
    spectrum: Spectrum<T>,
    rectified_log: SpectralFn<T>,
    features: Vec<T>,
    head: (Vec<T>, Vec<T>),
    /// `δ_j` of a routed head, `K·C × p`, and room for what each expert says.
    own: Option<(Vec<T>, Vec<T>)>,
    scores: Vec<T>,
    norm: Option<Norm<T>>,
}

/// Everything in front of the filter.
#[derive(Debug)]
struct Router<T> {
    log: Spectrum<f64>,
    tangent: Vec<f64>,
    encoder: Option<DspEncoder>,
    encoded: Vec<f64>,
    embedding: Option<MatBatch<T>>,
    /// A new domain's own row.
    own: Vec<T>,
    input: Vec<T>,
    hidden: Vec<T>,
    query: Vec<T>,
    layers: [(Vec<T>, Vec<T>); 2],
    keys: MatBatch<T>,
    /// The weights of the experts; where every view has its own, one view after the other.
    alpha: Vec<T>,
    /// How many experts a view has, `K`.
    each: usize,
    /// How many of them a trial keeps, where not all.
    kept: Option<usize>,
    order: Vec<usize>,
    /// The pool of every view.
    experts: Vec<Experts<T>>,
}

impl<T: Scalar> Frozen<T> {
    pub(super) fn new(model: &Model<T>) -> Result<Self> {
        let (p, n) = (&model.parameters, model.sizes.channels);
        let (k, epsilon, router, norm) = match &model.config.architecture {
            Architecture::Dasp(c) => {
                let router = Router::new(model, c)?;
                (c.filters, c.epsilon, Some(router), c.batch_norm)
            }
            Architecture::Spdnet(c) => (c.filters, c.epsilon, None, c.batch_norm),
        };
        let norm = match norm {
            Some(config) => Some(Norm::new(p, &config)?),
            None => None,
        };
        let views = model.sizes.views;
        let w = match &router {
            Some(_) => vec![T::ZERO; views * n * k],
            None => point(p, "filter")?.into_vec(),
        };
        let head = weights(p, "head.w", "head.b")?;
        Ok(Self {
            n,
            k,
            router,
            x: vec![T::ZERO; n * n],
            w,
            xw: vec![T::ZERO; n * k],
            y: vec![T::ZERO; k * k],
            spectrum: Spectrum::new(k),
            rectified_log: SpectralFn::ReLog(T::from_f64(epsilon)),
            features: vec![T::ZERO; views * k * (k + 1) / 2],
            scores: vec![T::ZERO; head.1.len()],
            head,
            own: p.get("head.own").map(|own| {
                let (experts, classes, _) = own.value.shape();
                (own.value.data().to_vec(), vec![T::ZERO; experts * classes])
            }),
            norm,
        })
    }

    /// Whether the query sees an embedding of the domain.
    pub(super) fn has_embedding(&self) -> bool {
        self.router.as_ref().is_some_and(|r| r.embedding.is_some())
    }

    /// The width of the embedding; 0 where there is none.
    pub(super) fn embedding_width(&self) -> usize {
        self.router.as_ref().map_or(0, |r| r.own.len())
    }

    /// The row that [`Row::Own`] stands for; of the embedding's width.
    pub(super) fn set_own(&mut self, row: &[f64]) {
        if let Some(router) = &mut self.router {
            for (own, &value) in router.own.iter_mut().zip(row) {
                *own = T::from_f64(value);
            }
        }
    }

    /// The number of experts, where trials are routed.
    pub(super) fn experts(&self) -> Option<usize> {
        self.router.as_ref().map(|r| r.alpha.len())
    }

    /// The query of the last routed trial.
    pub(super) fn query(&self) -> Option<Vec<f64>> {
        let router = self.router.as_ref()?;
        Some(router.query.iter().map(|q| q.to_f64()).collect())
    }

    /// Batch normalisation, where the network has it.
    pub(super) fn norm(&self) -> Option<&Norm<T>> {
        self.norm.as_ref()
    }

    /// The matrix that enters batch normalisation for a pre-conditioned trial, in f64; empty where the network has none.
    pub(super) fn norm_input(&mut self, whitened: &[f64], row: Row) -> Result<Vec<f64>> {
        let position = self.norm.as_ref().map(|n| n.position);
        let matrix = match position {
            None => return Ok(Vec::new()),
            Some(NormPosition::Before) => return Ok(whitened.to_vec()),
            Some(NormPosition::After) => {
                self.choose_filter(whitened, row, Weights::Learnt)?;
                self.load(whitened);
                self.filter(0)?;
                &self.y
            }
        };
        let matrix = matrix.iter().map(|v| v.to_f64()).collect();
        let mut matrix = MatBatch::from_vec(1, self.k, self.k, matrix)?;
        // Symmetric to the rounding of the network's numbers alone; means in f64 want more.
        symmetrise(&mut matrix.view_mut())?;
        Ok(matrix.into_vec())
    }

    /// The filters of a trial, into `w`; the whitened broad view routes.
    fn choose_filter(&mut self, broad: &[f64], row: Row, weights: Weights<'_>) -> Result<()> {
        if let Some(router) = &mut self.router {
            router.weigh(broad, row, weights)?;
            let each = router.each;
            let routings = router.alpha.len() / each;
            let views = router
                .experts
                .iter_mut()
                .zip(self.w.chunks_exact_mut(self.n * self.k));
            for (v, (experts, w)) in views.enumerate() {
                let from = if routings > 1 { v * each } else { 0 };
                experts.filter_into(&router.alpha[from..][..each], w)?;
            }
        }
        Ok(())
    }

    fn load(&mut self, whitened: &[f64]) {
        for (x, &value) in self.x.iter_mut().zip(whitened) {
            *x = T::from_f64(value);
        }
    }

    /// `Y = WᵀXW` with the filter of a view.
    fn filter(&mut self, view: usize) -> Result<()> {
        let (tall, square, k) = ((self.n, self.k), (self.n, self.n), self.k);
        let w = &self.w[view * self.n * k..][..self.n * k];
        let xw = (&mut self.xw[..], tall);
        multiply(xw, false, (&self.x, square, Op::N), (w, tall, Op::N))?;
        let y = (&mut self.y[..], (k, k));
        multiply(y, false, (w, tall, Op::T), (&self.xw, tall, Op::N))
    }

    /// Decodes a pre-conditioned trial, its views one after the other, into class probabilities and, where there are any, routing weights.
    pub(super) fn run(
        &mut self,
        whitened: &[f64],
        (row, whose): (Row, Whose<'_>),
        weights: Weights<'_>,
        probability: &mut [f64],
        routing: &mut [f64],
    ) -> Result<()> {
        let square = self.n * self.n;
        self.choose_filter(&whitened[..square], row, weights)?;
        if let Some(router) = &self.router {
            let alpha = routing.iter_mut().zip(&router.alpha);
            alpha.for_each(|(out, a)| *out = a.to_f64());
        }
        let each = self.k * (self.k + 1) / 2;
        for (view, x) in whitened.chunks_exact(square).enumerate() {
            self.load(x);
            if let Some(norm) = &mut self.norm
                && norm.position == NormPosition::Before
            {
                norm.apply(&mut self.x, whose)?;
            }
            self.filter(view)?;
            if let Some(norm) = &mut self.norm
                && norm.position == NormPosition::After
            {
                norm.apply(&mut self.y, whose)?;
            }
            let features = &mut self.features[view * each..][..each];
            (self.spectrum).vector(self.rectified_log, &self.y, features)?;
        }
        linear(&mut self.scores, &self.head.0, &self.head.1, &self.features)?;
        if let (Some((weights, said)), Some(router)) = (&mut self.own, &self.router) {
            let z = (&self.features[..], (1, self.features.len()), Op::N);
            let rows = (said.len(), self.features.len());
            multiply((said, (1, rows.0)), false, z, (weights, rows, Op::T))?;
            for (said, &a) in said.chunks_exact(self.scores.len()).zip(&router.alpha) {
                let scores = self.scores.iter_mut().zip(said);
                scores.for_each(|(score, &s)| *score += a * s);
            }
        }
        if let Some(bad) = self.scores.iter().find(|s| !Scalar::is_finite(**s)) {
            return Err(ModelError::NotFinite {
                op: super::OP,
                what: "a class score",
                trial: 0,
                value: bad.to_f64(),
            });
        }
        probabilities(&self.scores, probability);
        Ok(())
    }
}

impl<T: Scalar> Router<T> {
    fn new(model: &Model<T>, config: &DaspConfig) -> Result<Self> {
        let (p, n, views) = (&model.parameters, model.sizes.channels, model.sizes.views);
        let encoder = model.frontend.encoder.as_ref();
        let pools: Result<Vec<Experts<T>>> = (0..views)
            .map(|v| Experts::new(&p.of_view(v, views)?, config))
            .collect();
        let layers = [
            weights(p, "query.w1", "query.b1")?,
            weights(p, "query.w2", "query.b2")?,
        ];
        let tangent = n * (n + 1) / 2;
        let encoded = encoder.map_or(tangent, DspEncoder::outputs);
        let embedding = p.get("embedding").map(|e| e.value.clone());
        let width = encoded + embedding.as_ref().map_or(0, MatBatch::cols);
        let keys = point(p, "keys")?;
        Ok(Self {
            log: Spectrum::new(n),
            tangent: vec![0.0; tangent],
            encoded: vec![0.0; if encoder.is_some() { encoded } else { 0 }],
            encoder: encoder.cloned(),
            own: vec![T::ZERO; width - encoded],
            embedding,
            input: vec![T::ZERO; width],
            hidden: vec![T::ZERO; layers[0].1.len()],
            query: vec![T::ZERO; layers[1].1.len()],
            layers,
            alpha: vec![T::ZERO; keys.rows()],
            kept: config.routing.kept(config.experts),
            order: Vec::with_capacity(config.experts),
            each: config.experts,
            keys,
            experts: pools?,
        })
    }

    /// The weights of the experts, into `alpha`.
    fn weigh(&mut self, whitened: &[f64], row: Row, weights: Weights<'_>) -> Result<()> {
        match weights {
            Weights::Learnt => self.route(whitened, row)?,
            Weights::Uniform => {
                let share = T::ONE / T::from_f64(self.each as f64);
                self.alpha.fill(share);
            }
            Weights::HardTop1 => {
                self.route(whitened, row)?;
                for alpha in self.alpha.chunks_exact_mut(self.each) {
                    let winner = stiefel_linalg::argmax(alpha);
                    alpha.fill(T::ZERO);
                    alpha[winner] = T::ONE;
                }
            }
            Weights::Given(given) if given.len() == self.alpha.len() => {
                let given = self.alpha.iter_mut().zip(given);
                given.for_each(|(a, &g)| *a = T::from_f64(g));
            }
            Weights::Given(given) => {
                return Err(ModelError::Count {
                    op: super::OP,
                    what: "routing weights",
                    expected: self.alpha.len(),
                    found: given.len(),
                });
            }
        }
        Ok(())
    }

    /// Routing weights of a pre-conditioned trial, into `alpha`.
    fn route(&mut self, whitened: &[f64], row: Row) -> Result<()> {
        self.log
            .vector(SpectralFn::Log, whitened, &mut self.tangent)?;
        let code = match &self.encoder {
            None => &self.tangent,
            Some(encoder) => {
                let (p, r) = (encoder.inputs(), encoder.outputs());
                let projection = (encoder.projection().data(), (p, r), Op::N);
                let tangent = (&self.tangent[..], (1, p), Op::N);
                multiply((&mut self.encoded, (1, r)), false, tangent, projection)?;
                &self.encoded
            }
        };
        let (input, embedded) = self.input.split_at_mut(code.len());
        for (x, &value) in input.iter_mut().zip(code) {
            *x = T::from_f64(value);
        }
        match (&self.embedding, row) {
            (Some(table), Row::At(d)) => {
                embedded.copy_from_slice(&table.data()[d * table.cols()..][..table.cols()]);
            }
            (Some(_), Row::Own) => embedded.copy_from_slice(&self.own),
            _ => embedded.fill(T::ZERO),
        }
        let [first, second] = &self.layers;
        linear(&mut self.hidden, &first.0, &first.1, &self.input)?;
        gelu(&mut self.hidden);
        linear(&mut self.query, &second.0, &second.1, &self.hidden)?;
        let (experts, m) = (self.keys.rows(), self.keys.cols());
        let query = (&self.query[..], (1, m), Op::N);
        let keys = (self.keys.data(), (experts, m), Op::T);
        multiply((&mut self.alpha, (1, experts)), false, query, keys)?;
        let scale = T::from_f64(1.0 / (m as f64).sqrt());
        self.alpha.iter_mut().for_each(|a| *a *= scale);
        for alpha in self.alpha.chunks_exact_mut(self.each) {
            match self.kept {
                None => {
                    softmax(alpha);
                }
                Some(p) => masked_softmax(alpha, p, &mut self.order),
            }
        }
        Ok(())
    }
}

/// Weights and bias of a linear layer.
fn weights<T: Scalar>(
    p: &Parameters<T>,
    w: &'static str,
    b: &'static str,
) -> Result<(Vec<T>, Vec<T>)> {
    Ok((point(p, w)?.into_vec(), point(p, b)?.into_vec()))
}
