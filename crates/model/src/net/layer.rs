//! The routed layer by itself, for engines that keep a graph of their own, as PyTorch does: a
//! forward pass now, its pull-back later.
//!
//! ```text
//! q = MLP([x̃; Emb(d)]),  α = softmax(q Eᵀ/√m),  W_i from α_i as the options say       (`experts`, `layers`)
//! value     z_i = upper(log max(W_iᵀ X_i W_i, ε))     where covariances are given, B × 1 × k(k+1)/2
//!           W_i                                       else, B × n × k
//! weights   α, 1 × B × K
//! loss      the weighted losses of the router and its pool, 1 × 1 × 1
//! ```
//!
//! All of it is one recording, so that the engine around it has one operation to call and one to
//! pull back. Somebody new has no embedding: zeros.

use super::bound::{Bound, Points};
use super::{DaspConfig, DaspNet, Losses, Router, Routing, Sizes};
use crate::error::check_count;
use crate::{ModelError, Result};
use stiefel_autodiff::{Arena, Covariances, Mark, Shape, Tape, Var};
use stiefel_geometry::spd::check_symmetric;
use stiefel_linalg::{MatBatch, MatView, Scalar};

const OP: &str = "routed layer";

/// The layer: sizes and options, no numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutedLayer {
    network: DaspNet,
    parameters: Vec<(&'static str, Shape)>,
}

/// A batch for a forward pass.
#[derive(Debug, Clone, Copy)]
pub struct LayerInput<'a, T> {
    /// The parameters, in the order of [`RoutedLayer::parameters`], each a value and whether its
    /// gradient is wanted.
    pub parameters: &'a [(MatView<'a, T>, bool)],
    /// What the query sees of every sample, `1 × B × r`, and whether its gradient is wanted.
    pub rows: (MatView<'a, T>, bool),
    /// The domain of every sample, `None` for somebody new.
    pub domains: &'a [Option<usize>],
    /// Covariances `B × n × n`, and whether their gradient is wanted. `None` asks for the filters.
    pub covariances: Option<(MatView<'a, T>, bool)>,
    /// The weights to use.
    pub routing: Routing<'a, T>,
}

/// What a forward pass gives.
#[derive(Debug, Clone)]
pub struct LayerOutput<T> {
    /// Features or filters.
    pub value: MatBatch<T>,
    /// The weights of the experts.
    pub weights: MatBatch<T>,
    /// The losses beside the one of the task.
    pub loss: T,
}

/// A forward pass, kept for its pull-back.
#[derive(Debug)]
pub struct Recorded<T: Scalar> {
    tape: Tape<T>,
    /// Parameters, rows and covariances, where a gradient is wanted.
    inputs: Vec<Option<Mark>>,
    /// Value, weights and loss.
    outputs: [Mark; 3],
}

impl RoutedLayer {
    /// The layer of a routed network; its head and its batch normalisation are left out.
    pub fn new(sizes: Sizes, config: DaspConfig) -> Result<Self> {
        let network = DaspNet::new(sizes, config)?;
        let (_, own) = network.layer();
        let parameters = own.iter().map(|spec| (spec.name, spec.shape)).collect();
        Ok(Self {
            network,
            parameters,
        })
    }

    /// Names and shapes of its parameters, in order.
    pub fn parameters(&self) -> &[(&'static str, Shape)] {
        &self.parameters
    }

    /// The forward pass, and what gives its pull-back. Buffers come from the arena.
    pub fn forward<T: Scalar>(
        &self,
        input: &LayerInput<'_, T>,
        arena: &Arena<T>,
    ) -> Result<(LayerOutput<T>, Recorded<T>)> {
        self.check(input)?;
        let tape = Tape::with_arena(arena.clone());
        let (inputs, outputs, output) = self.record(&tape, input)?;
        Ok((
            output,
            Recorded {
                tape,
                inputs,
                outputs,
            },
        ))
    }

    #[allow(clippy::type_complexity, reason = "the parts of what is kept")]
    fn record<T: Scalar>(
        &self,
        tape: &Tape<T>,
        input: &LayerInput<'_, T>,
    ) -> Result<(Vec<Option<Mark>>, [Mark; 3], LayerOutput<T>)> {
        let leaf = |(value, wanted): (MatView<'_, T>, bool)| {
            if wanted {
                tape.parameter(value)
            } else {
                tape.constant(value)
            }
        };
        let points: Vec<_> = (self.parameters.iter().zip(input.parameters))
            .map(|(&(name, _), &given)| leaf(given).named(name))
            .collect();
        let rows = leaf(input.rows).named("rows of the query");
        let mut inputs: Vec<Var<'_, T>> = points.iter().copied().chain([rows]).collect();
        let mut bound = Bound::from_points(points.iter().map(Var::mark).collect());
        bound.derived = self.network.derive_layer(&bound.on(tape))?;
        let p = bound.on(tape);
        let (router, _) = self.network.layer();
        let query = query(router, &p, rows, input.domains)?;
        let mut views = self.network.route(&p, query, input.routing)?;
        // The layer has one view.
        let (routed, filter) = views.remove(0);
        let value = match input.covariances {
            None => filter.point()?,
            Some((x, wanted)) => {
                let (filters, retract) = filter.for_tail()?;
                let covariances = if wanted {
                    let x = tape.parameter(x).named("covariances");
                    inputs.push(x);
                    Covariances::Value(x)
                } else {
                    Covariances::Read(x, None)
                };
                let epsilon = self.network.config().epsilon;
                tape.filtered_log_vectors(filters, covariances, retract, epsilon)?
            }
        };
        let none = Losses {
            total: tape.scalar(0.0),
            terms: Vec::new(),
        };
        let loss = self.network.add_losses(none, &[routed])?.total;
        let output = LayerOutput {
            value: value.value().to_owned(),
            weights: routed.alpha.value().to_owned(),
            loss: loss.value().data()[0],
        };
        let wanted = |x: &Var<'_, T>| x.wants_gradient().then(|| x.mark());
        let outputs = [value, routed.alpha, loss].map(|x| x.mark());
        Ok((inputs.iter().map(wanted).collect(), outputs, output))
    }

    fn check<T: Scalar>(&self, input: &LayerInput<'_, T>) -> Result<()> {
        let (n, samples) = (self.network.sizes().channels, input.domains.len());
        let shape = |what: &str, expected: Shape, found: Shape| {
            if expected == found {
                return Ok(());
            }
            Err(ModelError::Impossible {
                op: OP,
                why: format!("{what} has shape {found:?}, not {expected:?}"),
                remedy: "give values of the shapes that the sizes of the layer say",
            })
        };
        let (expected, found) = (self.parameters.len(), input.parameters.len());
        check_count(OP, "parameters", expected, found)?;
        for (&(name, own), (x, _)) in self.parameters.iter().zip(input.parameters) {
            shape(name, own, x.shape())?;
        }
        let rows = (1, samples, self.network.sizes().encoded);
        shape("the input of the query", rows, input.rows.0.shape())?;
        if let Some((x, _)) = input.covariances {
            shape("the batch of covariances", (samples, n, n), x.shape())?;
        }
        if let Routing::Given(weights) = input.routing {
            let own = (1, samples, self.network.config().experts);
            shape("the table of weights", own, weights.shape())?;
        }
        if let Some((x, _)) = input.covariances {
            check_symmetric(OP, x)?;
        }
        Ok(())
    }
}

/// The queries of rows whose domains may be new.
fn query<'t, T: Scalar>(
    router: &Router,
    p: &Points<'t, '_, T>,
    rows: Var<'t, T>,
    domains: &[Option<usize>],
) -> Result<Var<'t, T>> {
    let Some(embedding) = router.embedding() else {
        return router.query_of(p, rows, None);
    };
    let known: Vec<usize> = domains.iter().map(|d| d.unwrap_or(0)).collect();
    let mut found = p.at(embedding)?.gather_rows(&known)?;
    if domains.contains(&None) {
        let one = |i: usize| T::from_f64(f64::from(u8::from(domains[i].is_some())));
        let mask = MatBatch::from_fn(1, domains.len(), 1, |_, i, _| one(i));
        found = found.mul(p.tape().constant(&mask))?;
    }
    router.query_of(p, rows, Some(found))
}

impl<T: Scalar> Recorded<T> {
    /// The gradients of a number in the parameters, the rows and, where theirs were wanted, the
    /// covariances, in that order, given its gradients in value, weights and loss; `None` where
    /// none was wanted, and where the number does not depend on it.
    pub fn pull_back(
        &self,
        value: Option<MatView<'_, T>>,
        weights: Option<MatView<'_, T>>,
        loss: Option<MatView<'_, T>>,
    ) -> Result<Vec<Option<MatBatch<T>>>> {
        let given = self.outputs.iter().zip([value, weights, loss]);
        let given: Vec<_> = given
            .filter_map(|(&mark, g)| Some((self.tape.marked(mark)?, g?)))
            .collect();
        let gradients = self.tape.backward_from(&given)?;
        let one = |mark: &Option<Mark>| {
            let input = self.tape.marked((*mark)?)?;
            Some(gradients.get(input)?.to_owned())
        };
        Ok(self.inputs.iter().map(one).collect())
    }
}
