//! CHOIR among the kinds of models.

use super::config::ChoirConfig;
use super::model::{Choir, Person};
use super::new_person::NewPerson;
use super::workspace::Workspace;
use crate::decoder::Decision;
use crate::diagnostics::{Carried, CarriedBy, RoutedBy, RoutingReport};
use crate::file::{Archive, Found};
use crate::kind::{
    Balance, DataSizes, Describe, Engine, Examination, Fit, Kind, Model, ModelSpec, Names, Picture,
    Start, settings,
};
use crate::net::Routing;
use crate::precondition::{Adaptation, Tikhonov};
use crate::train::Flow;
use crate::{Result, Trials};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;
use stiefel_data::settings::schema_of;
use stiefel_linalg::{MatBatch, argmax};

/// The kind `choir`.
#[derive(Debug)]
pub struct ChoirKind;

/// Patterns of everybody's weights and of one person's that a report shows.
const PATTERNS: (usize, usize) = (2, 1);

impl Kind for ChoirKind {
    fn name(&self) -> &'static str {
        "choir"
    }

    fn about(&self) -> &'static str {
        "Riemannian features of all views, weights partly everybody's and partly each domain's own"
    }

    fn defaults(&self, _: Option<&str>, _: &Value, _: DataSizes) -> Result<Value> {
        settings::tree(&ChoirConfig::default())
    }

    fn schema(&self) -> &'static Value {
        schema_of::<ChoirConfig>()
    }

    fn takes_views(&self) -> bool {
        true
    }

    fn routed_by(&self) -> RoutedBy {
        RoutedBy::Domain
    }

    fn calibrates(&self, _: usize) -> bool {
        true
    }

    fn refits(&self, settings: &Value) -> bool {
        config(settings).is_ok_and(|config| config.refit)
    }

    fn fit(&'static self, settings: &Value, fit: Fit<'_>) -> Result<Arc<dyn Model>> {
        fit.refuse_start()?;
        let observer = RefCell::new(fit.observer);
        let go_on = || observer.borrow_mut().step(0) == Flow::Continue;
        let model = Choir::fit_while(fit.training, &config(settings)?, &go_on)?;
        Ok(Arc::new(model))
    }

    fn read(&'static self, names: Names, file: &mut Archive) -> Found<Arc<dyn Model>> {
        Ok(Arc::new(Choir::read(names, file)?))
    }
}

fn config(settings: &Value) -> Result<ChoirConfig> {
    settings::parse("choir", settings)
}

impl From<ChoirConfig> for ModelSpec {
    fn from(config: ChoirConfig) -> Self {
        Self::from_settings(&ChoirKind, &config)
    }
}

impl Model for Choir {
    fn kind(&self) -> &'static dyn Kind {
        &ChoirKind
    }

    fn settings(&self) -> Result<Value> {
        settings::tree(&self.config)
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn trial_count(&self, domain: usize) -> usize {
        self.person(domain).map_or(0, Person::label_count)
    }

    fn start(self: Arc<Self>, start: &Start<'_>) -> Result<Box<dyn Engine>> {
        let state = match (start.known, start.adapt) {
            (Some(domain), None) => State::Known(domain),
            (known, _) => {
                let policy = start.policy()?.whitening;
                State::New(Box::new(self.new_person(known, start.seen, policy)?))
            }
        };
        Ok(Box::new(ChoirEngine {
            workspace: Workspace::new(&self),
            state,
            model: self,
        }))
    }

    fn write(&self, file: &mut Archive) -> Found<()> {
        Self::write(self, file)
    }

    fn domain_mean(&self, domain: usize) -> Option<Cow<'_, [f64]>> {
        let kept = 1.0 - self.config.shrinkage;
        let mean = self.person(domain)?.mean.iter();
        Some(mean.map(|m| m / kept).collect())
    }

    fn loading(&self) -> Tikhonov {
        let share = self.config.shrinkage;
        Tikhonov::Relative(share / (1.0 - share))
    }

    fn describe(&self) -> Vec<Describe> {
        let config = &self.config;
        let filters: Vec<String> = self.filters().iter().map(usize::to_string).collect();
        let own = if config.own > 0.0 {
            format!(
                "shared weights (variance {}) and each domain's own (variance {})",
                config.shared, config.own
            )
        } else {
            format!(
                "the same weights for everybody (variance {})",
                config.shared
            )
        };
        let slopes: Vec<String> = (self.link.slopes.iter())
            .map(|(labels, slope)| format!("{slope:.2} from {labels} labelled trials on"))
            .collect();
        let mut lines = vec![
            Describe::line(
                "filters",
                format!("{} directions by view", filters.join(", ")),
            ),
            Describe::line("head", own),
            Describe::line("slopes", slopes.join(", ")),
            Describe::line("training", format!("{} trials", self.trial_count)),
        ];
        let met: Vec<String> = (self.names.domains.iter().enumerate())
            .filter(|(d, _)| Model::is_calibrated(self, *d))
            .map(|(d, name)| format!("{name} ({})", Model::trial_count(self, d)))
            .collect();
        if !met.is_empty() {
            lines.push(Describe::line("calibrated", met.join(", ")));
        }
        lines
    }

    fn calibrate(&self, trials: &Trials) -> Result<Arc<dyn Model>> {
        Ok(Arc::new(Self::calibrate(self, trials)?))
    }

    fn is_calibrated(&self, domain: usize) -> bool {
        self.person(domain).is_some_and(Person::is_calibrated)
    }

    fn balance(&self, domain: usize) -> Option<Balance> {
        Self::balance(self, domain)
    }

    fn filters(&self) -> Result<Option<MatBatch<f64>>> {
        Ok(Some(self.anchor.clone()))
    }

    fn examine(&self, exam: &mut Examination<'_>) -> Result<Option<RoutingReport>> {
        let domains: Option<Vec<usize>> = exam.domains.iter().copied().collect();
        let report =
            |domains: Vec<usize>| self.report(exam.test, (exam.truth, &domains), exam.seed);
        domains.map(report).transpose()
    }

    fn pictures(&self, _: &Trials, count: usize) -> Result<Vec<Picture>> {
        let all = self.patterns(count)?;
        let (scores, classes) = (self.shared.rows(), &self.names.classes);
        let name = |s: usize| match (scores, classes.get(s)) {
            (1, _) | (_, None) => "filter".to_owned(),
            (_, Some(class)) => class.clone(),
        };
        let view = |v: usize| match self.view_count() {
            1 => String::new(),
            _ => format!("view {v}, "),
        };
        let one = |i: usize| Picture {
            filter: format!("{}{}", view(i / scores), name(i % scores)),
            patterns: all.single(i),
        };
        Ok((0..all.count()).map(one).collect())
    }

    fn carried(&self, training: &Trials, people: bool) -> Result<Option<Carried>> {
        let views = self.view_count();
        if views == 1 {
            return Ok(None);
        }
        let recipe = training.preparation().recipe();
        let name = |v: usize| {
            let view = recipe.and_then(|r| r.views.get(v));
            view.map_or_else(|| format!("view {v}"), ToString::to_string)
        };
        let shared = CarriedBy {
            name: "everybody".into(),
            shares: self.shares(),
            patterns: by_view(&self.patterns(PATTERNS.0)?, views),
        };
        let mut own = Vec::new();
        for d in training.domains().present().into_iter().filter(|_| people) {
            let name = training.domains().name(d);
            let Some(at) = self.names.domain(name) else {
                continue;
            };
            let trials = training.select(&training.of_domain(d))?;
            own.push(CarriedBy {
                name: name.to_owned(),
                shares: self.own_shares(at)?,
                patterns: by_view(&self.own_patterns(at, &trials, PATTERNS.1)?, views),
            });
        }
        Ok(Some(Carried {
            views: (0..views).map(name).collect(),
            shared,
            people: own,
        }))
    }
}

/// Returns the patterns of every view's first score.
fn by_view(found: &MatBatch<f64>, views: usize) -> Vec<Vec<Vec<f64>>> {
    let scores = found.count() / views.max(1);
    let rows = |v: usize| found.matrix(v * scores).chunks(found.cols());
    (0..views)
        .map(|v| rows(v).map(<[f64]>::to_vec).collect())
        .collect()
}

#[derive(Debug)]
struct ChoirEngine {
    model: Arc<Choir>,
    state: State,
    workspace: Workspace,
}

#[derive(Debug)]
enum State {
    Known(usize),
    New(Box<NewPerson>),
}

impl Engine for ChoirEngine {
    fn decide(&mut self, covariances: &[f64], _: Routing<'_, f64>) -> Result<Decision<'_>> {
        match &mut self.state {
            State::Known(domain) => {
                self.model
                    .decide_into(*domain, covariances, &mut self.workspace)?;
            }
            State::New(new) => new.decide_into(&self.model, covariances, &mut self.workspace)?,
        }
        let probabilities = &self.workspace.probabilities;
        Ok(Decision {
            class: argmax(probabilities),
            probabilities,
            routing: None,
        })
    }

    fn freeze(&mut self, frozen: bool) {
        if let State::New(new) = &mut self.state {
            new.freeze(frozen);
        }
    }

    fn contributions(&self) -> Option<&[f64]> {
        Some(&self.workspace.contributions)
    }

    fn adaptation(&self) -> Option<Adaptation> {
        match &self.state {
            State::Known(_) => None,
            State::New(new) => Some(new.policy()),
        }
    }

    fn remarks(&self) -> Vec<String> {
        match &self.state {
            // Better than nothing of their own, and worse than all there is.
            State::Known(domain) => {
                let person = self.model.person(*domain).filter(|p| p.is_calibrated());
                let remark = |person: &Person| {
                    format!(
                        "whitened by the mean of its {} labelled trials alone; under own-mean or \
                         causal whitening its unlabelled trials join them",
                        person.label_count()
                    )
                };
                person.map(remark).into_iter().collect()
            }
            State::New(new) if new.label_count() > 0 => vec![format!(
                "decided by the weights everybody shares and those of {} labelled trials",
                new.label_count()
            )],
            State::New(_) => vec!["decided by the weights everybody shares".into()],
        }
    }
}
