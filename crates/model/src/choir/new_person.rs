//! A person whose mean is not settled: no training trials, or a few that calibrated the model.
//!
//! ```text
//! M_v = (κ·tr(m_v)·M̄_v + Σ_{i≤t} X_i)/(κ + t),    centre = Σ_{i≤t} z_i/(1 + t)
//! ```
//!
//! The sums run over every trial. Features of earlier trials, which the centre needs again whenever
//! the frame moves, are computed from covariances that are kept: all of the first [`KEPT`], later
//! every second, every fourth, … one, so that they stay spread over the whole session and memory
//! and time are bounded. The labelled trials of a calibrated person are always kept, and `δ`
//! follows the frame.

use super::OP;
use super::calibrate::labelled_centre;
use super::features::{Frame, RowScratch, place, shrunk};
use super::model::{Choir, Person};
use super::ridge::{Rows, own};
use super::workspace::Workspace;
use crate::precondition::reference::{Prior, RunningMean};
use crate::precondition::{Adaptation, OWN_MEAN_MIN_TRIALS, Reference};
use crate::{ModelError, Result};
use stiefel_linalg::{MatBatch, MatView};

/// Unlabelled trials whose covariances are kept at most.
const KEPT: usize = 64;

/// Decisions for one person with a mean that is not settled; made by [`Choir::new_person`].
#[derive(Debug, Clone)]
pub struct NewPerson {
    policy: Adaptation,
    means: ViewMeans,
    /// How many values the views of a trial have.
    size: usize,
    /// Kept covariances, `V × n × n` each, one trial after the other, and every how many-th is.
    kept: Vec<f64>,
    stride: usize,
    unlabelled: usize,
    /// Covariances (one batch per view) and rows of a calibrated person.
    labelled: Option<(Vec<MatBatch<f64>>, Rows)>,
    frame: Frame,
    centre: Vec<f64>,
    own: Option<Vec<f64>>,
    frozen: bool,
    /// Features of the trials that are kept.
    rows: Vec<f64>,
    scratch: RowScratch,
}

/// What the trials so far come to.
struct Settled {
    frame: Frame,
    centre: Vec<f64>,
    /// Labelled rows under the frame, and the weights they give.
    labelled: Option<(MatBatch<f64>, Vec<f64>)>,
}

/// The trials that are kept once the next one is in.
struct Kept {
    /// Of those that are kept now only every second stays.
    halved: bool,
    /// How many of them stay.
    old: usize,
    /// Whether the new one is kept.
    new: bool,
}

impl NewPerson {
    pub(super) fn start(
        model: &Choir,
        person: Option<&Person>,
        seen: &[MatView<'_, f64>],
        policy: Adaptation,
    ) -> Result<Self> {
        policy.check()?;
        let (views, n) = (model.view_count(), model.channel_count());
        let count = seen.first().map_or(0, MatView::count);
        if count == 0 && person.is_none() && matches!(policy, Adaptation::OwnMean { .. }) {
            return Err(ModelError::Empty {
                op: OP,
                remedy: "own-mean whitening needs unlabelled trials of the new domain",
            });
        }
        let kappa = match policy {
            Adaptation::Pooled => model.config.kappa,
            Adaptation::OwnMean { kappa } | Adaptation::Causal { kappa } => kappa,
        };
        let mut new = Self {
            policy,
            means: ViewMeans::new(&model.typical, kappa)?,
            size: views * n * n,
            kept: Vec::new(),
            stride: 1,
            unlabelled: 0,
            labelled: None,
            frame: Frame {
                filters: Vec::new(),
            },
            centre: Vec::new(),
            own: None,
            frozen: false,
            rows: Vec::new(),
            scratch: RowScratch::default(),
        };
        if let Some(person) = person {
            let Some(trials) = &person.trials else {
                return Err(ModelError::Impossible {
                    op: OP,
                    why: "a domain of the training set has a mean of its own".into(),
                    remedy: "decide its trials without a policy",
                });
            };
            new.means.push_all(trials)?;
            new.labelled = Some((trials.clone(), person.rows.clone()));
        }
        if !matches!(policy, Adaptation::Pooled) && count > 0 {
            let places: Vec<usize> = (0..count).collect();
            let share = model.config.shrinkage;
            let shrunk: Result<Vec<_>> = (seen.iter())
                .map(|x| shrunk(*x, n, share, &places))
                .collect();
            let shrunk = shrunk?;
            for i in 0..count {
                let of = |v: usize| shrunk[v].matrix(i).iter().copied();
                let trial: Vec<f64> = (0..views).flat_map(of).collect();
                if !new.is_labelled(&trial) {
                    new.means.push(&trial)?;
                    new.enter(&trial);
                }
            }
        }
        let all = Kept {
            halved: false,
            old: new.kept.len() / new.size,
            new: false,
        };
        let means = new.means.clone();
        if let Some(settled) = new.settled(model, &means, &all, &[])? {
            new.settle(settled);
        }
        Ok(new)
    }

    /// How its mean is made.
    pub fn policy(&self) -> Adaptation {
        self.policy
    }

    /// Whether a causal mean stays as it is from now on: trials are decided with it and not taken
    /// in. The others never change.
    pub fn freeze(&mut self, frozen: bool) {
        self.frozen = frozen;
    }

    /// How many labelled trials there are of the person.
    pub fn label_count(&self) -> usize {
        self.labelled.as_ref().map_or(0, |(_, rows)| rows.len())
    }

    /// The probability of every class for one raw trial; under the causal policy it first enters
    /// the mean. A trial that is refused changes nothing.
    pub fn decide(&mut self, model: &Choir, trial: &[f64]) -> Result<Vec<f64>> {
        let mut workspace = Workspace::new(model);
        self.decide_into(model, trial, &mut workspace)?;
        Ok(workspace.probabilities)
    }

    /// The same into buffers that are used again.
    pub(crate) fn decide_into(
        &mut self,
        model: &Choir,
        trial: &[f64],
        workspace: &mut Workspace,
    ) -> Result<()> {
        workspace.take(model, trial)?;
        let enters = !self.frozen && !self.is_labelled(&workspace.shrunk);
        if let Adaptation::Causal { kappa } = self.policy {
            let found = self.means.count() + usize::from(enters);
            if kappa == 0.0 && found < OWN_MEAN_MIN_TRIALS {
                return Err(too_few(found));
            }
        }
        if matches!(self.policy, Adaptation::Causal { .. }) && enters {
            let mut means = self.means.clone();
            means.push(&workspace.shrunk)?;
            let kept = self.kept_next();
            let settled = self.settled(model, &means, &kept, &workspace.shrunk)?;
            let settled = settled.ok_or_else(|| too_few(means.count()))?;
            workspace.decide(
                model,
                &settled.frame,
                &settled.centre,
                self.weights(&settled),
            )?;
            self.settle(settled);
            self.means = means;
            self.enter(&workspace.shrunk);
            return Ok(());
        }
        let own = (self.own.as_deref(), self.label_count());
        workspace.decide(model, &self.frame, &self.centre, own)
    }

    /// Whether a shrunk trial is one of those that calibrated the model: these are in the sums, and
    /// a trial counts once.
    fn is_labelled(&self, trial: &[f64]) -> bool {
        let broad = (self.labelled.as_ref()).and_then(|(trials, _)| trials.first());
        broad.is_some_and(|x| {
            let size = x.rows() * x.cols();
            (0..x.count()).any(|i| x.matrix(i) == &trial[..size])
        })
    }

    /// The weights of a state that is not the present one yet.
    fn weights<'a>(&self, settled: &'a Settled) -> (Option<&'a [f64]>, usize) {
        let own = settled.labelled.as_ref().map(|(_, own)| &own[..]);
        (own, self.label_count())
    }

    /// What is kept after one more trial.
    fn kept_next(&self) -> Kept {
        let (count, due) = (
            self.kept.len() / self.size,
            self.unlabelled.is_multiple_of(self.stride),
        );
        let halved = due && count == KEPT;
        Kept {
            halved,
            old: if halved { count.div_ceil(2) } else { count },
            new: due && (!halved || self.unlabelled.is_multiple_of(2 * self.stride)),
        }
    }

    /// Keeps a shrunk trial that has joined the means, where its turn is.
    fn enter(&mut self, trial: &[f64]) {
        let (size, kept) = (trial.len(), self.kept_next());
        if kept.halved {
            for i in 0..kept.old {
                self.kept
                    .copy_within(2 * i * size..(2 * i + 1) * size, i * size);
            }
            self.kept.truncate(kept.old * size);
            self.stride *= 2;
        }
        if kept.new {
            self.kept.extend_from_slice(trial);
        }
        self.unlabelled += 1;
    }

    /// Returns frame, centre and own weights from these means and the trials that are kept, `trial`
    /// among them where it is not in yet; none as long as a causal mean without trust in the others
    /// has too few trials, for which `decide` asks.
    fn settled(
        &mut self,
        model: &Choir,
        means: &ViewMeans,
        kept: &Kept,
        trial: &[f64],
    ) -> Result<Option<Settled>> {
        let count = means.count();
        let unlabelled = self.unlabelled + usize::from(!trial.is_empty());
        let kappa = match self.policy {
            Adaptation::Pooled => model.config.kappa,
            Adaptation::OwnMean { kappa } | Adaptation::Causal { kappa } => kappa,
        };
        if kappa == 0.0 && count < OWN_MEAN_MIN_TRIALS {
            if matches!(self.policy, Adaptation::OwnMean { .. }) {
                return Err(too_few(count));
            }
            return Ok(None);
        }
        let frame = Frame::new(&means.means()?, &model.anchor, &model.filters())?;
        let p = model.scale.len();
        let (mut sum, mut weight) = (vec![0.0; p], 0.0);
        let together = kept.old + usize::from(kept.new);
        if together > 0 {
            let (size, square) = (self.size, model.channel_count().pow(2));
            let old = &self.kept;
            let matrix = |v: usize, i: usize| {
                let at = if kept.halved { 2 * i } else { i };
                let of = if i < kept.old {
                    &old[at * size..][..size]
                } else {
                    trial
                };
                &of[v * square..][..square]
            };
            self.rows.resize(together * p, 0.0);
            frame.rows_into(together, matrix, &mut self.rows, &mut self.scratch)?;
            // Those that are kept stand for all.
            weight = unlabelled as f64;
            let each = weight / together as f64;
            for row in self.rows.chunks_exact(p) {
                sum.iter_mut().zip(row).for_each(|(s, v)| *s += each * v);
            }
        }
        let Some((trials, rows)) = &self.labelled else {
            let centre = sum.iter().map(|s| s / (1.0 + weight)).collect();
            return Ok(Some(Settled {
                frame,
                centre,
                labelled: None,
            }));
        };
        let views: Vec<MatView<'_, f64>> = trials.iter().map(MatBatch::view).collect();
        let mut z = frame.rows(&views)?;
        let classes = model.names.classes.len();
        let centre = labelled_centre(&z, rows, classes, (&sum, weight));
        place(&mut z, &centre, &model.scale);
        let rows = Rows {
            z,
            labels: rows.labels.clone(),
            weights: rows.weights.clone(),
        };
        let own = own(&rows, &model.shared, model.config.own, classes)?;
        Ok(Some(Settled {
            frame,
            centre,
            labelled: Some((rows.z, own)),
        }))
    }

    fn settle(&mut self, settled: Settled) {
        (self.frame, self.centre) = (settled.frame, settled.centre);
        if let (Some((_, rows)), Some((z, own))) = (&mut self.labelled, settled.labelled) {
            rows.z = z;
            self.own = Some(own);
        }
    }
}

/// The means of a person's views, which trials join: `(κ·tr(m_v)·M̄_v + Σ X)/(κ + t)`. No scale of a
/// mean changes a feature.
#[derive(Debug, Clone)]
pub(super) struct ViewMeans(Vec<RunningMean>);

impl ViewMeans {
    pub(super) fn new(typical: &MatBatch<f64>, kappa: f64) -> Result<Self> {
        let n = typical.rows();
        let one = |v: usize| {
            let prior = Prior::from_unit_trace(typical.matrix(v), kappa);
            RunningMean::new(Reference::Euclidean, n, prior)
        };
        Ok(Self((0..typical.count()).map(one).collect::<Result<_>>()?))
    }

    /// Takes in the views of a shrunk trial, one after the other.
    pub(super) fn push(&mut self, trial: &[f64]) -> Result<()> {
        let size = trial.len() / self.0.len().max(1);
        let views = self.0.iter_mut().zip(trial.chunks_exact(size.max(1)));
        views.into_iter().try_for_each(|(mean, x)| mean.push(x))
    }

    /// Takes in shrunk trials, one batch per view.
    pub(super) fn push_all(&mut self, trials: &[MatBatch<f64>]) -> Result<()> {
        for (mean, x) in self.0.iter_mut().zip(trials) {
            (0..x.count()).try_for_each(|i| mean.push(x.matrix(i)))?;
        }
        Ok(())
    }

    /// Counts the trials.
    fn count(&self) -> usize {
        self.0.first().map_or(0, RunningMean::count)
    }

    pub(super) fn means(&self) -> Result<Vec<Vec<f64>>> {
        self.0.iter().map(RunningMean::mean).collect()
    }
}

fn too_few(found: usize) -> ModelError {
    ModelError::TooFewForOwnMean {
        op: OP,
        needed: OWN_MEAN_MIN_TRIALS,
        found,
    }
}
