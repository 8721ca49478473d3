//! A peer that has learnt, and its part of a model file.

use super::engine::PeerEngine;
use super::mdm::Means;
use super::tangent_lr::Regressions;
use super::{Front, PeerKind, PeerSettings, Rule};
use crate::file::{Archive, Found, inconsistent};
use crate::kind::{Balance, Describe, Engine, Kind, Model, Names, Start, settings};
use crate::precondition::{Reference, Tikhonov, Whitener};
use crate::{ModelError, Result, Trials};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use stiefel_geometry::spd::upper_len;
use stiefel_linalg::MatBatch;

/// A fitted peer.
#[derive(Debug, Clone)]
pub struct Peer {
    pub(super) kind: &'static PeerKind,
    pub(super) names: Names,
    pub(super) settings: PeerSettings,
    /// One per view; where covariances are only loaded, it tells what is familiar.
    pub(super) whiteners: Vec<Whitener>,
    pub(super) decider: Decider,
    /// Classes with training trials, ascending; at least two.
    pub(super) class_places: Vec<usize>,
    /// Domains with labelled trials that came after the fit.
    pub(super) calibrated: Vec<Calibrated>,
}

/// The rule that has learnt.
#[derive(Debug, Clone)]
pub(super) enum Decider {
    Tangent(Regressions),
    Nearest(Means),
}

/// A few labelled trials of a domain.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Calibrated {
    pub(super) domain: usize,
    /// Positions of their classes among those with training trials.
    pub(super) labels: Vec<usize>,
    /// Raw covariances, one batch per view.
    #[serde(skip)]
    pub(super) trials: Vec<MatBatch<f64>>,
}

/// What is not a number of the model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    settings: PeerSettings,
    class_places: Vec<usize>,
    /// Training trials of each domain of the fit.
    domain_trials: Vec<usize>,
    regressions: Option<Regressions>,
    calibrated: Vec<Calibrated>,
}

impl Peer {
    /// Returns the labelled trials of a domain that came after the fit.
    pub(super) fn calibrated(&self, domain: usize) -> Option<&Calibrated> {
        self.calibrated.iter().find(|c| c.domain == domain)
    }

    /// Counts the training trials of a domain.
    pub(super) fn trained(&self, domain: usize) -> usize {
        self.whiteners.first().map_or(0, |w| w.trial_count(domain))
    }

    /// Returns rows of probabilities of the classes with training trials, widened to all.
    pub(super) fn widen_into(&self, probabilities: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (&place, &p) in self.class_places.iter().zip(probabilities) {
            out[place] = p;
        }
    }

    pub(super) fn read(kind: &'static PeerKind, names: Names, file: &mut Archive) -> Found<Self> {
        let mut header = Header::default();
        file.text("model", &mut header)?;
        header.check(kind, &names).map_err(|e| inconsistent(&e))?;
        let config = kind.preconditioning(&header.settings);
        let fitted = Names {
            domains: names.domains[..header.domain_trials.len()].to_vec(),
            ..names.clone()
        };
        let mut whiteners = Vec::new();
        for view in 0..names.view_count {
            let trials = &header.domain_trials;
            whiteners.push(Whitener::read(&config, &fitted, trials, view, file)?);
        }
        let decider = match header.regressions {
            Some(regressions) => Decider::Tangent(regressions),
            None => Decider::Nearest(Means::default()),
        };
        let mut model = Self {
            kind,
            names,
            settings: header.settings,
            whiteners,
            decider,
            class_places: header.class_places,
            calibrated: header.calibrated,
        };
        model.numbers(file)?;
        Ok(model)
    }

    /// Writes or reads everything but the whitening.
    fn numbers(&mut self, file: &mut Archive) -> Found<()> {
        let (n, views) = (self.names.channel_count, self.names.view_count);
        let classes = self.class_places.len();
        match &mut self.decider {
            Decider::Nearest(means) => means.numbers(classes, n, file)?,
            Decider::Tangent(regressions) => {
                let m = if classes == 2 { 1 } else { classes };
                regressions.numbers((m, views * upper_len(n)), file)?;
            }
        }
        for of in &mut self.calibrated {
            of.trials.resize_with(views, MatBatch::default);
            for (v, x) in of.trials.iter_mut().enumerate() {
                let name = format!("calibrated.{}.trials.{v}", of.domain);
                file.batch(&name, (of.labels.len(), n, n), x)?;
                file.check_spd(&name, x)?;
            }
        }
        Ok(())
    }
}

impl Header {
    fn check(&self, kind: &PeerKind, names: &Names) -> Result<()> {
        let wrong = |why: &str| {
            Err(ModelError::Impossible {
                op: "model file",
                why: why.into(),
                remedy: "train again",
            })
        };
        self.settings.preconditioning.check()?;
        let (classes, domains) = (names.classes.len(), names.domains.len());
        let ascending = |all: &[usize]| all.windows(2).all(|w| w[0] < w[1]);
        let places = &self.class_places;
        if places.len() < 2 || !ascending(places) || places.last().is_none_or(|c| *c >= classes) {
            return wrong("its classes with training trials are not among its classes");
        }
        if self.domain_trials.len() > domains {
            return wrong("it has more domains with training trials than domains");
        }
        if self.regressions.is_some() == (kind.rule == Rule::Nearest) {
            return wrong("its regressions are not those of its kind");
        }
        if self.regressions.iter().any(|r| !r.is_sound(domains)) {
            return wrong("its regressions are not by its domains");
        }
        let of: Vec<usize> = self.calibrated.iter().map(|c| c.domain).collect();
        let labels = self.calibrated.iter().flat_map(|c| &c.labels);
        let labelled = labels.max().is_none_or(|l| *l < places.len());
        if !ascending(&of) || of.last().is_some_and(|d| *d >= domains) || !labelled {
            return wrong("its labelled trials are not of its domains and classes");
        }
        let some = self.calibrated.iter().all(|c| !c.labels.is_empty());
        if !some || names.view_count > 1 && !kind.bank {
            return wrong("its views or labelled trials are not those of its kind");
        }
        Ok(())
    }
}

impl Model for Peer {
    fn kind(&self) -> &'static dyn Kind {
        self.kind
    }

    fn settings(&self) -> Result<Value> {
        settings::tree(&self.settings)
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn trial_count(&self, domain: usize) -> usize {
        let labelled = self.calibrated(domain).map_or(0, |c| c.labels.len());
        self.trained(domain) + labelled
    }

    fn start(self: Arc<Self>, start: &Start<'_>) -> Result<Box<dyn Engine>> {
        Ok(Box::new(PeerEngine::start(&self, start)?))
    }

    fn write(&self, file: &mut Archive) -> Found<()> {
        let first = self.whiteners.first();
        let fitted = first.map_or(0, |w| w.domains().len());
        let mut header = Header {
            settings: self.settings,
            class_places: self.class_places.clone(),
            domain_trials: (0..fitted).map(|d| self.trained(d)).collect(),
            regressions: match &self.decider {
                Decider::Tangent(regressions) => Some(regressions.clone()),
                Decider::Nearest(_) => None,
            },
            calibrated: self.calibrated.clone(),
        };
        // Numbers are tensors; what is compared is what was written as text.
        header.strip();
        file.text("model", &mut header)?;
        for (view, whitener) in self.whiteners.iter().enumerate() {
            whitener.clone().numbers(view, file)?;
        }
        self.clone().numbers(file)
    }

    fn domain_mean(&self, domain: usize) -> Option<Cow<'_, [f64]>> {
        self.whiteners.first()?.mean_of(domain).map(Cow::Borrowed)
    }

    fn loading(&self) -> Tikhonov {
        self.settings.preconditioning.tikhonov
    }

    fn has_arithmetic_means(&self) -> bool {
        self.kind.preconditioning(&self.settings).reference == Reference::Euclidean
    }

    fn describe(&self) -> Vec<Describe> {
        let front = match self.kind.front {
            Front::Loaded => "covariances as they are, diagonally loaded",
            Front::Whitened => "whitened by domain",
            Front::Recentred => "recentred at each domain's Riemannian mean",
        };
        let trials: usize = (0..self.names.domains.len()).map(|d| self.trained(d)).sum();
        let mut lines = vec![
            Describe::line("peer", self.kind.about()),
            Describe::line("sees", front),
            Describe::line("training", format!("{trials} trials")),
        ];
        let choices = self.choices().into_iter();
        lines.extend(choices.map(|choice| Describe::line("chosen", choice)));
        lines
    }

    fn calibrate(&self, trials: &Trials) -> Result<Arc<dyn Model>> {
        if !self.kind.calibrates(self.class_places.len()) {
            let why = match self.decider {
                Decider::Nearest(_) => "no weights that labelled trials could move",
                Decider::Tangent(_) => "a regression of more than two classes, which is not moved",
            };
            return Err(ModelError::Impossible {
                op: "calibration",
                why: format!("{} has {why}", self.kind.name),
                remedy: "train a model that can be calibrated, such as choir",
            });
        }
        let mut model = self.clone();
        for d in trials.domains().present() {
            let own = trials.select(&trials.of_domain(d))?;
            model.calibrate_one(trials.domains().name(d), &own)?;
        }
        Ok(Arc::new(model))
    }

    fn is_calibrated(&self, domain: usize) -> bool {
        self.trained(domain) == 0 && self.calibrated(domain).is_some()
    }

    fn balance(&self, domain: usize) -> Option<Balance> {
        let labels = &self.calibrated(domain)?.labels;
        let count = |c: usize| {
            let place = self.class_places.iter().position(|p| *p == c);
            labels.iter().filter(|l| Some(**l) == place).count()
        };
        let classes = self.names.classes.iter().enumerate();
        Some(Balance {
            domain: self.names.domains.get(domain)?.clone(),
            counts: classes.map(|(c, name)| (name.clone(), count(c))).collect(),
        })
    }

    fn choices(&self) -> Vec<String> {
        let missing: Vec<&str> = (self.names.classes.iter().enumerate())
            .filter(|(c, _)| !self.class_places.contains(c))
            .map(|(_, name)| name.as_str())
            .collect();
        let mut said = match &self.decider {
            Decider::Tangent(regressions) => regressions.choices(),
            Decider::Nearest(_) => Vec::new(),
        };
        if !missing.is_empty() {
            let missing = missing.join(", ");
            said.push(format!(
                "Never decided, because it has no training trials: {missing}."
            ));
        }
        said
    }
}

impl Peer {
    fn calibrate_one(&mut self, name: &str, trials: &Trials) -> Result<()> {
        let place = |c: usize| self.class_places.iter().position(|p| *p == c);
        let classes = self.names.class_of_each(trials)?;
        let labels: Option<Vec<usize>> = classes.iter().map(|&c| place(c)).collect();
        let labels = labels.ok_or(ModelError::Impossible {
            op: "calibration",
            why: "a class of the labelled trials had no training trials".into(),
            remedy: "calibrate with trials of the classes that the model decides",
        })?;
        let known = self.names.domain(name);
        let domain = known.unwrap_or(self.names.domains.len());
        if known.is_none() {
            self.names.domains.push(name.to_owned());
        }
        let x: Vec<MatBatch<f64>> = (0..trials.views())
            .map(|v| trials.view(v).clone())
            .collect();
        match self.calibrated.binary_search_by_key(&domain, |c| c.domain) {
            Ok(at) => self.calibrated[at].extend(&labels, &x)?,
            Err(at) => {
                let new = Calibrated {
                    domain,
                    labels,
                    trials: x,
                };
                self.calibrated.insert(at, new);
            }
        }
        let all = self.calibrated(domain).map_or(&[][..], |c| &c.labels);
        if (0..2).all(|c| all.contains(&c)) {
            return Ok(());
        }
        Err(ModelError::Impossible {
            op: "calibration",
            why: format!("the labelled trials of \"{name}\" belong to one class"),
            remedy: "give at least two labelled trials of a domain, of two classes",
        })
    }
}

impl Calibrated {
    fn extend(&mut self, labels: &[usize], more: &[MatBatch<f64>]) -> Result<()> {
        self.labels.extend(labels);
        for (x, more) in self.trials.iter_mut().zip(more) {
            let data = [x.data(), more.data()].concat();
            *x = MatBatch::from_vec(self.labels.len(), x.rows(), x.cols(), data)?;
        }
        Ok(())
    }
}

impl Header {
    /// Drops the numbers that are tensors.
    fn strip(&mut self) {
        self.calibrated.iter_mut().for_each(|c| c.trials.clear());
        if let Some(regressions) = &mut self.regressions {
            regressions.strip();
        }
    }
}
