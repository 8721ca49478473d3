//! What a model does and why: routing, controls, patterns on the sensors.

use super::{Decided, FittedModel, Kind, OP, each};
use crate::diagnostics::{RoutingReport, assess, balanced, traits_of};
use crate::metrics::score;
use crate::net::Routing;
use crate::train::Observer;
use crate::{ModelError, Result, Unseen};
use stiefel_data::Trials;
use stiefel_linalg::MatBatch;

impl FittedModel {
    /// The routing report on labelled test trials: does routing help, and is it routing that helps?
    pub fn report(
        &self,
        test: &Trials,
        unseen: Option<&Unseen>,
        seed: u64,
    ) -> Result<RoutingReport> {
        Ok(self.examine(test, unseen, seed)?.0)
    }

    /// The report, and the decisions it is about. Of the preset, whose routing is the domain, nothing is routed where a domain had no training trials.
    pub fn examine(
        &self,
        test: &Trials,
        unseen: Option<&Unseen>,
        seed: u64,
    ) -> Result<(RoutingReport, Decided)> {
        let test = self.accept(test)?;
        let mut decided = None;
        if !self.is_network() {
            let found = self.decide_with(&test, unseen, Routing::Learnt)?;
            let known =
                (test.domains().present().iter()).all(|&d| self.knows(test.domains().name(d)));
            let report = match &self.kind {
                Kind::Preset(preset) if known => preset.report(&self.numbered(&test)?, seed)?,
                Kind::Views(views) if known => views.report(&self.numbered(&test)?, seed)?,
                _ => {
                    let p = &found.probabilities;
                    RoutingReport::unrouted(score(&self.truth(&test)?, p.data(), p.cols())?)
                }
            };
            return Ok((report, found));
        }
        let truth = self.truth(&test)?;
        let means = each!(self, m => m.routing.as_ref(), _p => None);
        let names = test.domains();
        let place = |d: &usize| self.domains().iter().position(|n| n == names.name(*d));
        let of: Vec<Option<usize>> = names.indices().iter().map(place).collect();
        let mean = |i: usize| -> Option<&[f64]> {
            let means = means?;
            let at = of[i].filter(|&d| d < means.rows() && self.trials_of(d) > 0)?;
            let row = &means.matrix(0)[at * means.cols()..][..means.cols()];
            // Zeros stand for a domain that was adapted later and had no training trials.
            row.iter().any(|w| *w > 0.0).then_some(row)
        };
        let report = assess(
            &truth,
            names.indices(),
            &mean,
            seed,
            |routing| {
                let found = self.decide_with(&test, unseen, routing)?;
                let assessed = (found.probabilities.clone(), found.routing.clone());
                // The first are those under the router's own weights.
                decided.get_or_insert(found);
                Ok(assessed)
            },
            |alpha| each!(self, m => traits_of(m.parameters(), m.network().experts(), alpha), _p => Ok((None, None))),
        )?;
        let decided = decided.ok_or(ModelError::Empty {
            op: OP,
            remedy: "give at least one labelled test trial",
        })?;
        Ok((report, decided))
    }

    /// The control *retrained K = 1*: balanced accuracy of the same network with one expert, trained from scratch. None where nothing is routed.
    pub fn retrain_single(
        &self,
        (training, validation, test): (&Trials, &Trials, &Trials),
        unseen: Option<&Unseen>,
        observer: &mut dyn Observer,
    ) -> Result<Option<f64>> {
        let Some(config) = self.config().single() else {
            return Ok(None);
        };
        let single = Self::fit(training, validation, &config, observer)?;
        let p = single.decide(test, unseen)?.probabilities;
        let scores = score(&single.truth(test)?, p.data(), p.cols())?;
        Ok(Some(balanced(&scores)))
    }

    /// What the filters see on the sensors, `K × count × n`: of each expert, or of the one filter, the patterns along which the classes of the
    /// training trials differ most. None where there is no filter. Of the preset `recommended`, `V·L × count × n`: of every view the patterns
    /// of the shared weights ([`ViewsModel::patterns`](crate::ViewsModel::patterns)), which need no trials.
    pub fn patterns(&self, training: &Trials, count: usize) -> Result<Option<MatBatch<f64>>> {
        if let Kind::Views(views) = &self.kind {
            return views.patterns(count).map(Some);
        }
        let training = self.numbered(&self.accept(training)?)?;
        let filters =
            each!(self, m => m.filters()?.map(|f| f.cast()), p => Some(p.anchor().clone()));
        let (Some(filters), Some(whitener)) = (filters, self.whitener()) else {
            return Ok(None);
        };
        crate::diagnostics::patterns(filters.view(), whitener, &training, count).map(Some)
    }
}
