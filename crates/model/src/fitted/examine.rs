//! What a model does and why: routing, controls, patterns on the sensors.

use super::FittedModel;
use crate::diagnostics::{Carried, RoutingReport, balanced};
use crate::kind::{Decided, Examination, Picture};
use crate::metrics::score;
use crate::net::Routing;
use crate::train::Observer;
use crate::{AdaptPolicy, Result};
use stiefel_data::Trials;

impl FittedModel {
    /// The routing report on labelled test trials: does routing help, and is it routing that helps?
    pub fn report(
        &self,
        test: &Trials,
        adapt: Option<&AdaptPolicy>,
        seed: u64,
    ) -> Result<RoutingReport> {
        Ok(self.examine(test, adapt, seed)?.0)
    }

    /// Returns the report, and the decisions it is about. What routes by domain routes nothing
    /// where a domain had no training trials.
    pub fn examine(
        &self,
        test: &Trials,
        adapt: Option<&AdaptPolicy>,
        seed: u64,
    ) -> Result<(RoutingReport, Decided)> {
        let test = self.accept(test)?;
        let truth = self.truth(&test)?;
        let names = test.domains();
        let known: Vec<Option<usize>> = (names.indices().iter())
            .map(|&d| self.known(names.name(d)))
            .collect();
        let mut decided = None;
        let report = self.model.examine(&mut Examination {
            test: &test,
            truth: &truth,
            domains: &known,
            seed,
            decide: &mut |routing| {
                let found = self.decide_with(&test, adapt, routing)?;
                // The first are those under the model's own weights.
                decided.get_or_insert_with(|| found.clone());
                Ok(found)
            },
        })?;
        let decided = match decided {
            Some(decided) => decided,
            None => self.decide_with(&test, adapt, Routing::Learnt)?,
        };
        let report = if let Some(report) = report {
            report
        } else {
            let p = &decided.probabilities;
            RoutingReport::unrouted(score(&truth, p.data(), p.cols())?)
        };
        Ok((report, decided))
    }

    /// The control *retrained K = 1*: balanced accuracy of the same network with one expert,
    /// trained from scratch. None where nothing is routed.
    pub fn retrain_single(
        &self,
        (training, validation, test): (&Trials, &Trials, &Trials),
        adapt: Option<&AdaptPolicy>,
        observer: &mut dyn Observer,
    ) -> Result<Option<f64>> {
        let Some(spec) = self.spec()?.single_expert()? else {
            return Ok(None);
        };
        let single = Self::fit(training, validation, &spec, observer)?;
        let p = single.decide(test, adapt)?.probabilities;
        let scores = score(&single.truth(test)?, p.data(), p.cols())?;
        Ok(Some(balanced(&scores)))
    }

    /// Returns what the filters see on the sensors, filter by filter: the `count` patterns along
    /// which the classes of the training trials differ most; of CHOIR, of every view and score the
    /// patterns of the shared weights, which need no trials. Empty where there is no filter.
    pub fn pictures(&self, training: &Trials, count: usize) -> Result<Vec<Picture>> {
        self.model.pictures(&self.accept(training)?, count)
    }

    /// Returns which views and electrodes carry the decisions, where the model tells; with
    /// `people`, whose training trials give their means, person by person too.
    pub fn carried(&self, training: &Trials, people: bool) -> Result<Option<Carried>> {
        self.model.carried(&self.accept(training)?, people)
    }
}
