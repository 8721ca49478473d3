//! The preset `recommended`.

use serde_json::json;
use stiefel::data::split::Fold;
use stiefel::model::{ModelError, PooledConfig, PooledModel};
use stiefel::study::Dataset;

use super::{Arguments, Told};
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::output::Output;
use crate::record::{Chosen, Record};
use crate::table::of;

impl Arguments {
    pub(super) fn fit_pooled(
        &self,
        config: &PooledConfig,
        data: &Dataset,
        split: &Fold,
        output: &mut Output,
    ) -> Outcome {
        let part = |trials: &[usize]| data.trials.select(trials);
        let (training, validation) = (part(&split.train)?, part(&split.validation)?);
        let go_on = || !interrupt::asked();
        let stopped = || {
            Failure::Interrupted("interrupted before the fit was over; nothing was written".into())
        };
        let failure = |error| match error {
            ModelError::Cancelled { .. } => stopped(),
            other => other.into(),
        };
        let chosen = PooledModel::choose_while(&training, &validation, config, &go_on);
        let mut model = chosen.map_err(failure)?;
        // Judged before a second fit has seen the trials that judge.
        let validated = model.score(&validation)?;
        let mut used = Chosen::Penalty;
        if config.refit {
            let again = model.refit_while(&training, &validation, &go_on);
            model = again.map_err(failure)?;
            used = Chosen::PenaltyThenFit;
        }
        let test = match &split.test[..] {
            [] => None,
            test => Some(model.score(&part(test)?)?),
        };
        if interrupt::asked() {
            return Err(stopped());
        }
        model.save(&self.output)?;
        let record = Record::new(
            data.summary.clone(),
            (split.clone(), used),
            validated,
            test,
            output.configuration().clone(),
        );
        let c = model.head().c();
        let told = Told {
            scaling: None,
            choice: ("C", of(c, &config.head.candidates)),
            details: json!({ "model": config, "c": c }),
        };
        self.tell(&record, &told, output)
    }
}
