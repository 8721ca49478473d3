//! The baseline: the single-stage SPDNet, one BiMap for everybody and the same tail (Huang & Van
//! Gool 2017).
//!
//! ```text
//! z = [upper(log max(W_vᵀ X_v W_v, ε))]_v,   scores = z·wᵀ + b          one filter n × k per view, one head over all of them
//! ```

use super::batch_norm::{self, Norm};
use super::bound::{Bound, Points};
use super::config::{InitialAnchor, SpdNetConfig, check_tail, check_views};
use super::layout::Layout;
use super::tail::{Filter, Head, Tail};
use super::{
    Derived, FilterSlots, Layers, Losses, Network, NormPosition, Outputs, PerView, Routing,
};
use super::{pool, start};
use crate::parameters::Slot;
use crate::sizes::Sizes;
use crate::{Batch, Parameters, Prepared, Result};
use smallvec::SmallVec;
use stiefel_autodiff::{Tape, Var};
use stiefel_data::settings;
use stiefel_linalg::Scalar;

/// `upper(log max(WᵀXW, ε))·wᵀ + b`; with several views, one filter for each and their features
/// side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct SpdNet {
    sizes: Sizes,
    config: SpdNetConfig,
    layout: Layout,
    filter: Slot,
    tail: Tail,
    head: Head,
}

impl SpdNet {
    /// An architecture, or what does not fit.
    pub fn new(sizes: Sizes, config: SpdNetConfig) -> Result<Self> {
        settings::check("spdnet", &config)?;
        check_tail(&sizes, config.filters)?;
        check_views(
            &sizes,
            &[
                ("batch normalisation", config.batch_norm.is_some()),
                (
                    "a discriminative start",
                    config.initial_anchor == InitialAnchor::Discriminative,
                ),
            ],
        )?;
        let (views, n, k) = (sizes.views, sizes.channels, config.filters);
        let features = views * k * (k + 1) / 2;
        let mut layout = Layout::default();
        let filter = pool::points(&mut layout, "filter", (views, n, k), config.orthogonality);
        let head = Head::new(&mut layout, (features, sizes.classes), None);
        let norm = (config.batch_norm)
            .map(|norm| Norm::new(&mut layout, norm, norm.size(n, k), sizes.domains));
        Ok(Self {
            sizes,
            config,
            filter,
            tail: Tail {
                epsilon: config.epsilon,
                norm,
            },
            head,
            layout,
        })
    }

    /// What the data fixed.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The options.
    pub fn config(&self) -> &SpdNetConfig {
        &self.config
    }

    fn filters<'t, T: Scalar>(p: &Points<'t, '_, T>) -> Result<PerView<Filter<'t, T>>> {
        let one = |&mark| Ok(Filter::Ready(p.var(mark)?));
        p.derived().filters.iter().map(one).collect()
    }
}

impl<T: Scalar> Layers<T> for SpdNet {
    fn derive(&self, p: &Points<'_, '_, T>) -> Result<Derived> {
        let views = self.sizes.views;
        let one = |view| Ok(p.of_view(self.filter, view, views)?.mark());
        Ok(Derived {
            filters: (0..views).map(one).collect::<Result<_>>()?,
            norm: self.tail.norm.map(|norm| norm.values(p)).transpose()?,
            ..Derived::default()
        })
    }

    fn norm_input<'t>(
        &self,
        tape: &'t Tape<T>,
        parameters: &Bound,
        batch: &Batch<'_, T>,
        position: NormPosition,
    ) -> Result<Var<'t, T>> {
        let p = parameters.on(tape);
        // Batch normalisation has one view.
        Self::filters(&p)?[0].entering(&p, batch, position)
    }

    fn norm(&self) -> Option<&Norm> {
        self.tail.norm.as_ref()
    }

    fn filter_slots(&self) -> FilterSlots {
        FilterSlots::Shared(self.filter)
    }
}

impl<T: Scalar> Network<T> for SpdNet {
    fn name(&self) -> &'static str {
        match self.config.batch_norm {
            Some(_) => "spdnet+bn",
            None => "spdnet",
        }
    }

    fn initial(&self, seed: u64) -> Parameters<T> {
        self.layout.initial(seed)
    }

    fn initial_for(&self, seed: u64, training: &Prepared<T>) -> Result<Parameters<T>> {
        let mut parameters = self.layout.initial(seed);
        if self.config.initial_anchor == InitialAnchor::Discriminative {
            let basis = start::discriminative(training)?;
            start::place(&mut parameters, self.filter, &[basis]);
        }
        batch_norm::start_statistics(self, &mut parameters, training)?;
        Ok(parameters)
    }

    fn forward<'t>(
        &self,
        tape: &'t Tape<T>,
        parameters: &Bound,
        batch: &Batch<'_, T>,
        _: Routing<'_, T>,
    ) -> Result<Outputs<'t, T>> {
        super::check_views(batch, self.sizes.views)?;
        let p = parameters.on(tape);
        let (z, state) = self.tail.forward(&p, batch, &Self::filters(&p)?)?;
        Ok(Outputs {
            state,
            logits: self.head.forward(&p, z, None)?,
            routed: None,
            further: SmallVec::new(),
            weights: None,
            penalties: Vec::new(),
        })
    }

    fn losses<'t>(&self, outputs: &Outputs<'t, T>, labels: &[usize]) -> Result<Losses<'t, T>> {
        Losses::cross_entropy(outputs, labels)
    }

    fn expert_count(&self) -> usize {
        1
    }
}
