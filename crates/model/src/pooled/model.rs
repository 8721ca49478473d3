//! The fitted preset: whitener, filter and head in one piece.

use super::config::{HeadConfig, PooledConfig};
use super::features::{Features, features};
use super::head::{HeadRouting, RoutedHead};
use crate::anchor::discriminative_anchor;
use crate::diagnostics::{Controls, RoutingReport, balanced};
use crate::metrics::{Decisions, Scores};
use crate::precondition::UnseenPolicy;
use crate::routing_stats::routing_stats;
use crate::train::Evaluation;
use crate::{Factor, ModelError, Result, Trials, Whitener, random};
use stiefel_linalg::MatBatch;

const OP: &str = "recommended preset";

/// A fitted preset `recommended`; see the [module](super).
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::pooled::{HeadTrial, PooledConfig, PooledModel};
/// use stiefel_model::precondition::UnseenPolicy;
/// use stiefel_model::{Factor, Trials};
///
/// let x = MatBatch::from_fn(8, 3, 3, |i, r, c| if r == c { 1.0 + ((i * 3 + r) % 5) as f64 } else { 0.2 });
/// let classes = Factor::from_labels(["hand", "feet", "hand", "feet", "hand", "feet", "hand", "feet"]);
/// let domains = Factor::from_labels(["s1", "s1", "s1", "s1", "s2", "s2", "s2", "s2"]);
/// let trials = Trials::new(x, classes, domains)?;
/// let model = PooledModel::fit(&trials, &trials, &PooledConfig { filters: 2, ..PooledConfig::default() })?;
/// let evaluation = model.evaluate(&trials)?;
/// assert_eq!(evaluation.probabilities.shape(), (1, 8, 2));
///
/// // One raw covariance of a known person, and one of a stranger.
/// let covariance = [1.5, 0.2, 0.1, 0.2, 2.0, 0.0, 0.1, 0.0, 1.0];
/// let p = model.decide(&covariance, HeadTrial::Named("s2"))?;
/// assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// assert_eq!(model.decide(&covariance, HeadTrial::Unseen)?.len(), 2);
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PooledModel {
    pub(crate) config: PooledConfig,
    pub(crate) whitener: Whitener,
    /// `1 × n × k`.
    pub(crate) anchor: MatBatch<f64>,
    pub(crate) head: RoutedHead,
    pub(crate) classes: Vec<String>,
    pub(crate) domains: Vec<String>,
    pub(crate) channels: Option<Vec<String>>,
    /// Training and validation trials.
    pub(crate) trials: (usize, usize),
}

impl PooledModel {
    /// Fits whitener, filter and one head per `C` on `training`, and chooses `C` on `validation`. Exact and without a seed.
    ///
    /// With [`PooledConfig::refit`], everything is then fitted again on both with that `C`. Both are selected from one set of trials, so
    /// that names and numbers of classes and domains agree. Weights of the trials enter the head's loss, as a trial of weight 2 twice; whitening,
    /// filter and the choice of `C` count every trial once.
    pub fn fit(training: &Trials, validation: &Trials, config: &PooledConfig) -> Result<Self> {
        Self::fit_while(training, validation, config, &|| true)
    }

    /// The same for those who may want to stop it: `go_on` is asked many times a second while the head is fitted, and its `false` ends it with
    /// [`ModelError::Cancelled`].
    pub fn fit_while(
        training: &Trials,
        validation: &Trials,
        config: &PooledConfig,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Self> {
        let model = Self::choose_while(training, validation, config, go_on)?;
        if config.refit {
            return model.refit_while(training, validation, go_on);
        }
        Ok(model)
    }

    /// The second step of [`PooledModel::fit_while`]: everything again with the `C` of this model, on both parts it was fitted with.
    pub fn refit_while(
        &self,
        training: &Trials,
        validation: &Trials,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Self> {
        let both = training.joined(validation)?;
        let config = PooledConfig {
            refit: true,
            ..self.config.clone()
        };
        let chosen = PooledConfig {
            head: HeadConfig {
                candidates: vec![self.head.c()],
                ..config.head.clone()
            },
            ..config.clone()
        };
        let again = Self::choose_while(&both, &both, &chosen, go_on)?;
        Ok(Self {
            config,
            trials: self.trials,
            ..again
        })
    }

    /// The first step of [`PooledModel::fit_while`], all of it without [`PooledConfig::refit`]: a model that has not been fitted on the
    /// validation trials, so that they judge it.
    pub fn choose_while(
        training: &Trials,
        validation: &Trials,
        config: &PooledConfig,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Self> {
        config.check()?;
        let classes = training.classes().names().len();
        if classes < 2 {
            return Err(ModelError::Parameter {
                op: OP,
                name: "the number of classes",
                value: classes as f64,
                expected: "at least 2",
            });
        }
        crate::prepared::check_classes(training)?;
        let whitener = config.preconditioning.fit(training)?;
        let whitened = whitener.transform(training)?;
        let k = config.filters.min(training.channels_count());
        let anchor = discriminative_anchor(&whitened, k)?;
        let domains = training.domains().names();
        let validation_set = features(&whitener.transform(validation)?, &anchor)?;
        let training_set = features(&whitened, &anchor)?;
        let head = (config.head).fit_features(
            &training_set,
            &validation_set,
            (classes, domains.len()),
            go_on,
        )?;
        Ok(Self {
            config: PooledConfig {
                refit: false,
                ..config.clone()
            },
            whitener,
            anchor,
            head,
            classes: training.classes().names().to_vec(),
            domains: domains.to_vec(),
            channels: training.channels().map(<[String]>::to_vec),
            trials: (training.len(), validation.len()),
        })
    }

    /// Probabilities and cross-entropy of trials of known domains.
    pub fn evaluate(&self, trials: &Trials) -> Result<Evaluation> {
        let data = self.features(trials)?;
        self.evaluation(&data, HeadRouting::Domain(&data.domains))
    }

    /// Scores on labelled trials of known domains.
    pub fn score(&self, trials: &Trials) -> Result<Scores> {
        let data = self.features(trials)?;
        self.scores(&data, HeadRouting::Domain(&data.domains))
    }

    /// Probabilities of trials of known domains, `1 × N × C`.
    pub fn predict_proba(&self, trials: &Trials) -> Result<MatBatch<f64>> {
        Ok(self.evaluate(trials)?.probabilities)
    }

    /// Probabilities and cross-entropy of the trials of **one** domain without training trials: whitened under `policy`, decided by the
    /// shared weights alone. No label is used beyond the cross-entropy.
    pub fn evaluate_unseen(&self, trials: &Trials, policy: UnseenPolicy) -> Result<Evaluation> {
        self.check_classes(trials)?;
        let whitened = self.whitener.transform_unseen(trials, policy)?;
        let data = features(&whitened, &self.anchor)?;
        self.evaluation(&data, HeadRouting::Shared)
    }

    /// What the domains' own weights do on labelled test trials of known domains.
    ///
    /// The routing is hard, one expert per domain, so its entropy is zero and hard top-1 and domain-mean routing are the model itself. The
    /// K = 1 proxy has the mean of all `δ_d`, *permuted* the `δ` of another trial's domain (`seed` draws whose).
    pub fn report(&self, test: &Trials, seed: u64) -> Result<RoutingReport> {
        if test.is_empty() {
            return Err(ModelError::Empty {
                op: "routing report",
                remedy: "give at least one labelled test trial",
            });
        }
        let data = self.features(test)?;
        let scores = self.scores(&data, HeadRouting::Domain(&data.domains))?;
        if self.config.head.ratio == 0.0 {
            return Ok(RoutingReport::unrouted(scores));
        }
        let proxy = balanced(&self.scores(&data, HeadRouting::Averaged)?);
        let mut rng = random::stream(seed, "permuted routing", 0);
        let order = random::permutation(&mut rng, test.len());
        let others: Vec<usize> = order.iter().map(|&i| data.domains[i]).collect();
        let own = balanced(&scores);
        let controls = Controls {
            permuted: balanced(&self.scores(&data, HeadRouting::Domain(&others))?),
            domain_mean: own,
            hard_top1: own,
            retrained: None,
        };
        let alpha = MatBatch::from_fn(1, test.len(), self.domains.len(), |_, i, d| {
            f64::from(u8::from(data.domains[i] == d))
        });
        let stats = routing_stats(alpha.view(), &data.domains)?;
        Ok(RoutingReport::routed(scores, proxy, stats, None, controls))
    }

    /// What was decided before fitting.
    pub fn config(&self) -> &PooledConfig {
        &self.config
    }

    /// Whitening per domain.
    pub fn whitener(&self) -> &Whitener {
        &self.whitener
    }

    /// The filter, `1 × n × k`.
    pub fn anchor(&self) -> &MatBatch<f64> {
        &self.anchor
    }

    /// The head.
    pub fn head(&self) -> &RoutedHead {
        &self.head
    }

    /// Names of the classes, in the order of the probabilities.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Names of the domains.
    pub fn domains(&self) -> &[String] {
        &self.domains
    }

    /// Names of the channels, where they were known.
    pub fn channels(&self) -> Option<&[String]> {
        self.channels.as_deref()
    }

    /// How many training and validation trials it was fitted with.
    pub fn trials(&self) -> (usize, usize) {
        self.trials
    }

    pub(super) fn domain(&self, name: &str) -> Result<usize> {
        let at = self.domains.iter().position(|d| d == name);
        at.ok_or_else(|| ModelError::UnknownName {
            what: "domain",
            found: name.into(),
            known: self.domains.join(", "),
        })
    }

    fn check_classes(&self, trials: &Trials) -> Result<()> {
        let names = Factor::names(trials.classes());
        if names == self.classes {
            return Ok(());
        }
        Err(ModelError::Impossible {
            op: OP,
            why: format!(
                "the trials have the classes {names:?}, but the model has {:?}",
                self.classes
            ),
            remedy: "select training and test trials from one set",
        })
    }

    fn features(&self, trials: &Trials) -> Result<Features> {
        self.check_classes(trials)?;
        features(&self.whitener.transform(trials)?, &self.anchor)
    }

    fn evaluation(&self, data: &Features, routing: HeadRouting<'_>) -> Result<Evaluation> {
        let probabilities = self.head.probabilities(data.z.view(), routing)?;
        let rows = probabilities.data().chunks_exact(self.classes.len());
        let loss: f64 = rows.zip(&data.labels).map(|(p, &y)| -p[y].ln()).sum();
        Ok(Evaluation {
            cross_entropy: loss / data.labels.len().max(1) as f64,
            probabilities,
            alpha: None,
            queries: None,
        })
    }

    fn scores(&self, data: &Features, routing: HeadRouting<'_>) -> Result<Scores> {
        let evaluation = self.evaluation(data, routing)?;
        let decided = evaluation.predictions();
        let classes = self.classes.len();
        let values: Option<Vec<f64>> = (classes == 2).then(|| {
            let rows = evaluation.probabilities.data().chunks_exact(2);
            rows.map(|p| p[1]).collect()
        });
        Decisions {
            truth: &data.labels,
            decided: &decided,
            values: values.as_deref(),
            classes,
        }
        .scores()
    }
}
