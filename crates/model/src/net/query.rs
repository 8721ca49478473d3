//! The query of a sample, and the routing weights it gives the experts.
//!
//! ```text
//! query     q = W₂ gelu(W₁ [x̃; Emb(d)] + b₁) + b₂       one hidden layer of 2m, exact GELU
//! routing   α = softmax(q Eᵀ/√m)                        of the p best experts alone under top-p
//! ```
//!
//! Shapes: rows `x̃` of the data `1 × B × r`, queries `1 × B × m`, keys `1 × K × m`, one set of keys
//! for every routing of a trial.

use super::bound::Points;
use super::layout::{Initial, Layout};
use super::sparse;
use super::{PerView, Routing, RoutingRule};
use crate::parameters::Slot;
use crate::prepared::Row;
use crate::{Batch, ModelError, Result};
use stiefel_autodiff::{Mark, Var};
use stiefel_linalg::{MatBatch, Scalar};

/// `y = W x + b`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Linear {
    weights: Slot,
    bias: Slot,
}

impl Linear {
    pub(super) fn new(
        layout: &mut Layout,
        (weights, bias): (&'static str, &'static str),
        (inputs, outputs): (usize, usize),
    ) -> Self {
        let initial = Initial::Uniform { fan_in: inputs };
        Self {
            weights: layout.free(weights, (1, outputs, inputs), initial),
            bias: layout.free(bias, (1, 1, outputs), initial),
        }
    }

    /// Applies the layer to inputs that stand side by side.
    pub(super) fn forward<'t, T: Scalar>(
        &self,
        p: &Points<'t, '_, T>,
        x: Var<'t, T>,
        beside: Option<Var<'t, T>>,
    ) -> Result<Var<'t, T>> {
        Ok(x.linear(beside.as_slice(), p.at(self.weights)?, p.at(self.bias)?)?)
    }
}

/// The embedding of the domains, the query and the keys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Router {
    embedding: Option<Slot>,
    /// Columns of the query's input.
    width: usize,
    hidden: Linear,
    output: Linear,
    keys: Slot,
    routings: usize,
    experts: usize,
    rule: RoutingRule,
    /// Whether the keys learn from the alignment loss alone.
    decoupled: bool,
}

/// The sizes and options of a [`Router`].
#[derive(Debug, Clone, Copy)]
pub(super) struct RouterConfig {
    /// Columns of the data's rows, and of queries and keys.
    pub(super) widths: (usize, usize),
    /// Domains of the embedding, where there is one.
    pub(super) domains: Option<usize>,
    pub(super) routings: usize,
    pub(super) experts: usize,
    pub(super) rule: RoutingRule,
    pub(super) decoupled: bool,
}

/// The weights of the experts and where they come from.
#[derive(Clone, Copy)]
pub(super) struct Weighed<'t, T: Scalar> {
    pub(super) query: Var<'t, T>,
    pub(super) keys: Var<'t, T>,
    pub(super) scores: Var<'t, T>,
    pub(super) soft: Var<'t, T>,
    pub(super) alpha: Var<'t, T>,
}

impl Router {
    pub(super) fn new(layout: &mut Layout, config: &RouterConfig) -> Self {
        let (encoded, m) = config.widths;
        let normal = Initial::Normal;
        let embedding = (config.domains).map(|d| layout.free("embedding", (1, d, m), normal));
        let width = encoded + embedding.map_or(0, |_| m);
        let (hidden, output) = (("query.w1", "query.b1"), ("query.w2", "query.b2"));
        let count = config.routings * config.experts;
        Self {
            embedding,
            width,
            hidden: Linear::new(layout, hidden, (width, 2 * m)),
            output: Linear::new(layout, output, (2 * m, m)),
            keys: layout.free("keys", (1, count, m), normal),
            routings: config.routings,
            experts: config.experts,
            rule: config.rule,
            decoupled: config.decoupled,
        }
    }

    /// Returns the place of the embedding, where there is one.
    pub(crate) fn embedding(&self) -> Option<Slot> {
        self.embedding
    }

    /// Counts the columns of the query's input, those of the embedding among them.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Counts the experts of a routing.
    pub(crate) fn expert_count(&self) -> usize {
        self.experts
    }

    /// Returns the keys of every routing.
    pub(super) fn keys<T: Scalar>(&self, p: &Points<'_, '_, T>) -> Result<PerView<Mark>> {
        let all = p.at(self.keys)?;
        if self.routings == 1 {
            return Ok(PerView::from_slice(&[all.mark()]));
        }
        let own = |r: usize| {
            let rows: Vec<usize> = (r * self.experts..(r + 1) * self.experts).collect();
            Ok(all.gather_rows(&rows)?.mark())
        };
        (0..self.routings).map(own).collect()
    }

    /// Returns the queries of a batch.
    pub(super) fn query<'t, T: Scalar>(
        &self,
        p: &Points<'t, '_, T>,
        batch: &Batch<'_, T>,
    ) -> Result<Var<'t, T>> {
        let embedded = match self.embedding {
            None => None,
            Some(table) => Some(embedded(p, p.at(table)?, batch)?),
        };
        self.query_of(p, batch.rows(p.tape()), embedded)
    }

    /// Returns the queries of rows `x̃`, or `[x̃; Emb(d)]`.
    pub(super) fn query_of<'t, T: Scalar>(
        &self,
        p: &Points<'t, '_, T>,
        rows: Var<'t, T>,
        embedded: Option<Var<'t, T>>,
    ) -> Result<Var<'t, T>> {
        let hidden = self.hidden.forward(p, rows, embedded)?.gelu()?;
        self.output.forward(p, hidden, None)
    }

    /// Returns the scores of all keys for rows `[x̃; Emb(d)]` of the query's input, `1 × B × K`.
    pub(crate) fn scores<'t, T: Scalar>(
        &self,
        p: &Points<'t, '_, T>,
        rows: Var<'t, T>,
        embedded: Var<'t, T>,
    ) -> Result<Var<'t, T>> {
        scores(self.query_of(p, rows, Some(embedded))?, p.at(self.keys)?)
    }

    /// Returns the weights of a routing from the queries and its keys; `first` is its first column
    /// among the weights that are given.
    pub(super) fn weigh<'t, T: Scalar>(
        &self,
        query: Var<'t, T>,
        keys: Var<'t, T>,
        routing: Routing<'_, T>,
        first: usize,
    ) -> Result<Weighed<'t, T>> {
        let seen = if self.decoupled { keys.detach() } else { keys };
        let scores = scores(query, seen)?;
        let soft = scores.softmax()?;
        let learnt = sparse::weights(self.rule, scores, soft)?;
        Ok(Weighed {
            query,
            keys,
            scores,
            soft,
            alpha: reroute(learnt, routing, first),
        })
    }
}

/// `q Eᵀ/√m`.
fn scores<'t, T: Scalar>(query: Var<'t, T>, keys: Var<'t, T>) -> Result<Var<'t, T>> {
    let scale = 1.0 / (keys.shape().2 as f64).sqrt();
    Ok(query.matmul_nt(keys)?.scale(scale)?)
}

/// Returns the weights that a pass uses in place of the learnt ones.
fn reroute<'t, T: Scalar>(learnt: Var<'t, T>, routing: Routing<'_, T>, first: usize) -> Var<'t, T> {
    let (shape, tape) = (learnt.shape(), learnt.tape());
    let (_, samples, experts) = shape;
    let table = |of: &dyn Fn(usize, usize) -> T| {
        tape.constant(&MatBatch::from_fn(1, samples, experts, |_, i, j| of(i, j)))
    };
    match routing {
        Routing::Learnt => learnt,
        Routing::Given(weights) => table(&|i, j| weights.get(0, i, first + j)),
        Routing::Uniform => table(&|_, _| T::ONE / T::from_f64(experts as f64)),
        Routing::HardTop1 => {
            let winners = learnt.argmax();
            table(&|i, j| if winners[i] == j { T::ONE } else { T::ZERO })
        }
    }
}

/// Returns what stands for the domain of every sample.
fn embedded<'t, T: Scalar>(
    p: &Points<'t, '_, T>,
    table: Var<'t, T>,
    batch: &Batch<'_, T>,
) -> Result<Var<'t, T>> {
    let (count, m) = (batch.len(), table.shape().2);
    let Some(new) = batch.new else {
        return Ok(table.gather_rows(&batch.domains())?);
    };
    let row: &[T] = match &new.row {
        Row::At(domain) => {
            return Ok(table.gather_rows(&super::few(count, |_| *domain))?);
        }
        Row::Given(row) if row.len() == m => row,
        Row::Zero => &[],
        Row::Absent | Row::Given(_) => {
            return Err(ModelError::Impossible {
                op: "network",
                why: "the handle was made for another network".into(),
                remedy: "make it with this decoder's adapt_domain",
            });
        }
    };
    let rows = p.tape().constant_with((1, count, m), |values| {
        for values in values.chunks_exact_mut(m.max(1)) {
            match row {
                [] => values.fill(T::ZERO),
                row => values.copy_from_slice(row),
            }
        }
    });
    Ok(rows)
}
