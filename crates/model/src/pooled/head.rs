//! The routed head: `score = (w_0 + δ_d)·(z − z̄) + b`, fitted exactly.

use super::config::HeadConfig;
use super::features::{Features, centred};
use super::newton::minimise;
use super::regression::{Regression, loss};
use crate::metrics::Confusion;
use crate::{ModelError, Result};
use stiefel_linalg::{MatBatch, MatView, MatViewMut, Op, argmax, product, product_into};

const OP: &str = "routed head";

/// Whose weights a trial is decided with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadRouting<'a> {
    /// Its domain's, `w_0 + δ_d`; `w_0` alone for a domain without training trials.
    Domain(&'a [usize]),
    /// `w_0 + mean_d δ_d`: the K = 1 proxy.
    Averaged,
    /// `w_0` alone.
    Shared,
}

/// A fitted head on `p` features.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutedHead {
    pub(crate) classes: usize,
    pub(crate) c: f64,
    /// The training mean of the features, `p`.
    pub(crate) centre: Vec<f64>,
    /// `w_0`, `1 × L × p`.
    pub(crate) shared: MatBatch<f64>,
    /// `δ`, `L × p` for each domain with weights of its own.
    pub(crate) own: MatBatch<f64>,
    /// Where a domain's weights are, of all domains.
    pub(crate) rows: Vec<Option<usize>>,
    /// `b`, `L`.
    pub(crate) intercept: Vec<f64>,
}

impl HeadConfig {
    /// Fits one head per candidate `C` on the training features and keeps the best on the validation features: balanced accuracy,
    /// ties by log-loss. Features are `N × 1 × p` or `1 × N × p`, with a class and a domain for each.
    ///
    /// ```
    /// use stiefel_linalg::MatBatch;
    /// use stiefel_model::pooled::{HeadConfig, HeadRouting};
    ///
    /// // Class 1 is up in domain 0 and down in domain 1: no head for both can know.
    /// let (labels, domains) = ([0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 0, 0, 1, 1, 1, 1]);
    /// let z = MatBatch::from_fn(8, 1, 1, |i, _, _| [-1.0, 1.0, -1.1, 0.9, 1.0, -1.0, 0.8, -1.2][i]);
    /// let head = HeadConfig::default().fit(&z, &labels, &domains, &z, &labels, &domains, (2, 2))?;
    /// let p = head.probabilities(z.view(), HeadRouting::Domain(&domains))?;
    /// assert!((0..8).all(|i| (p.get(0, i, 1) > 0.5) == (labels[i] == 1)));
    /// # Ok::<(), stiefel_model::ModelError>(())
    /// ```
    pub fn fit(
        &self,
        training: &MatBatch<f64>,
        labels: &[usize],
        domains: &[usize],
        validation: &MatBatch<f64>,
        validation_labels: &[usize],
        validation_domains: &[usize],
        (classes, domain_count): (usize, usize),
    ) -> Result<RoutedHead> {
        let set = |z: &MatBatch<f64>, labels: &[usize], domains: &[usize]| {
            let (count, rows, p) = z.shape();
            let n = count * rows;
            check("classes", n, labels, classes)?;
            check("domains", n, domains, domain_count)?;
            z.view().check_finite(OP)?;
            Ok::<_, ModelError>(Features {
                z: MatBatch::from_vec(1, n, p, z.data().to_vec())?,
                labels: labels.to_vec(),
                domains: domains.to_vec(),
                weights: None,
            })
        };
        let training = set(training, labels, domains)?;
        let validation = set(validation, validation_labels, validation_domains)?;
        self.fit_features(&training, &validation, (classes, domain_count), &|| true)
    }

    pub(super) fn fit_features(
        &self,
        training: &Features,
        validation: &Features,
        (classes, domains): (usize, usize),
        go_on: &dyn Fn() -> bool,
    ) -> Result<RoutedHead> {
        self.check()?;
        if validation.labels.is_empty() {
            return Err(ModelError::Empty {
                op: OP,
                remedy: "C is chosen on the validation trials: give at least one",
            });
        }
        if let Some(class) = (0..classes).find(|c| !training.labels.contains(c)) {
            return Err(ModelError::Impossible {
                op: OP,
                why: format!("class {class} has no training trial"),
                remedy: "leave the class out of the list of names, or give it training trials",
            });
        }
        let centre = training.mean()?;
        let z = centred(&training.z, &centre);
        let mut best: Option<(f64, f64, RoutedHead)> = None;
        let mut guess: Option<Vec<f64>> = None;
        // From the strongest penalty on, each minimum is a good first guess for the next.
        let mut candidates = self.candidates.clone();
        candidates.sort_by(f64::total_cmp);
        for c in candidates {
            let problem = Regression::new(training, &z, classes, self.variances(c));
            let start = guess.unwrap_or_else(|| vec![0.0; problem.len()]);
            let x = minimise(&problem, start, go_on)?;
            let head = RoutedHead::from_point(&problem, &x, classes, c, (centre.clone(), domains));
            let (accuracy, log_loss) = head.validate(validation)?;
            let better = (best.as_ref())
                .is_none_or(|(a, l, _)| accuracy > *a || (accuracy == *a && log_loss < *l));
            if better {
                best = Some((accuracy, log_loss, head));
            }
            guess = Some(x);
        }
        // `check` has seen at least one candidate.
        best.map(|b| b.2).ok_or(ModelError::Empty {
            op: OP,
            remedy: "give at least one C",
        })
    }
}

impl RoutedHead {
    fn from_point(
        problem: &Regression,
        x: &[f64],
        classes: usize,
        c: f64,
        (centre, domains): (Vec<f64>, usize),
    ) -> Self {
        let (l, p) = (problem.scores, problem.width());
        let mut rows = vec![None; domains];
        let mut own = Vec::new();
        for (g, (domain, _)) in problem.groups.iter().enumerate() {
            if let Some(range) = problem.own_range(g) {
                rows[*domain] = Some(g);
                own.extend_from_slice(&x[range]);
            }
        }
        let own = MatBatch::from_fn(own.len() / (l * p), l, p, |g, s, j| {
            own[(g * l + s) * p + j]
        });
        Self {
            classes,
            c,
            centre,
            shared: MatBatch::from_fn(1, l, p, |_, s, j| x[s * (p + 1) + j]),
            own,
            rows,
            intercept: (0..l).map(|s| x[s * (p + 1) + p]).collect(),
        }
    }

    /// The inverse penalty that was chosen.
    pub fn c(&self) -> f64 {
        self.c
    }

    /// `w_0`, `1 × L × p` (`L` is 1 for two classes).
    pub fn shared(&self) -> &MatBatch<f64> {
        &self.shared
    }

    /// `δ_d`, `L × p`; `None` for a domain without weights of its own, which `w_0` decides alone.
    pub fn own(&self, domain: usize) -> Option<&[f64]> {
        let row = self.rows.get(domain).copied().flatten()?;
        Some(self.own.matrix(row))
    }

    /// `b`, one per score.
    pub fn intercept(&self) -> &[f64] {
        &self.intercept
    }

    /// The scores of features `1 × N × p` or `N × 1 × p`: `1 × N × L`.
    pub fn decision_values(
        &self,
        z: MatView<'_, f64>,
        routing: HeadRouting<'_>,
    ) -> Result<MatBatch<f64>> {
        let (count, rows, p) = z.shape();
        let (n, l) = (count * rows, self.intercept.len());
        if p != self.centre.len() {
            return Err(ModelError::Count {
                op: OP,
                what: "features",
                expected: self.centre.len(),
                found: p,
            });
        }
        if let HeadRouting::Domain(domains) = routing {
            check("domains", n, domains, self.rows.len())?;
        }
        let rows = MatBatch::from_fn(1, n, p, |_, i, j| z.data()[i * p + j] - self.centre[j]);
        let weights = match routing {
            HeadRouting::Averaged => self.averaged(),
            HeadRouting::Domain(_) | HeadRouting::Shared => self.shared.clone(),
        };
        let mut scores = product(rows.view(), Op::N, weights.view(), Op::T)?;
        let each = scores.data_mut().chunks_exact_mut(l);
        for (i, (row, z)) in each.zip(rows.data().chunks_exact(p)).enumerate() {
            let domain = match routing {
                HeadRouting::Domain(domains) => Some(domains[i]),
                HeadRouting::Averaged | HeadRouting::Shared => None,
            };
            self.add_own(row, z, domain);
        }
        Ok(scores)
    }

    /// Adds `b`, and `δ_d·z` of a domain with weights of its own, to the scores of one centred row.
    fn add_own(&self, scores: &mut [f64], z: &[f64], domain: Option<usize>) {
        for (v, b) in scores.iter_mut().zip(&self.intercept) {
            *v += b;
        }
        let Some(own) = domain.and_then(|d| self.own(d)) else {
            return;
        };
        for (v, own) in scores.iter_mut().zip(own.chunks_exact(z.len())) {
            *v += own.iter().zip(z).map(|(w, z)| w * z).sum::<f64>();
        }
    }

    /// The probabilities of one row of `p` features, which is centred in place; `scores` has a place for each score. Nothing is allocated.
    pub(super) fn probabilities_into(
        &self,
        z: &mut [f64],
        domain: Option<usize>,
        scores: &mut [f64],
        out: &mut [f64],
    ) -> Result<()> {
        if let Some(domain) = domain {
            check("domains", 1, &[domain], self.rows.len())?;
        }
        for (v, c) in z.iter_mut().zip(&self.centre) {
            *v -= c;
        }
        let (p, l) = (z.len(), scores.len());
        let row = MatViewMut::new(1, 1, l, scores)?;
        let features = MatView::new(1, 1, p, z)?;
        product_into(row, false, 1.0, features, Op::N, self.shared.view(), Op::T)?;
        self.add_own(scores, z, domain);
        loss(scores, 0);
        match scores {
            [one] => out.copy_from_slice(&[1.0 - *one, *one]),
            all => out.copy_from_slice(all),
        }
        Ok(())
    }

    /// The probability of every class, `1 × N × C`.
    pub fn probabilities(
        &self,
        z: MatView<'_, f64>,
        routing: HeadRouting<'_>,
    ) -> Result<MatBatch<f64>> {
        let mut scores = self.decision_values(z, routing)?;
        let (n, l) = (scores.rows(), self.intercept.len());
        for row in scores.data_mut().chunks_exact_mut(l) {
            loss(row, 0);
        }
        if l > 1 {
            return Ok(scores);
        }
        Ok(MatBatch::from_fn(1, n, 2, |_, i, c| {
            let p = scores.get(0, i, 0);
            if c == 1 { p } else { 1.0 - p }
        }))
    }

    /// `w_0 + mean_d δ_d` over the domains with weights of their own.
    fn averaged(&self) -> MatBatch<f64> {
        let count = self.own.count();
        let mut mean = self.shared.clone();
        for (e, v) in mean.data_mut().iter_mut().enumerate() {
            let sum: f64 = (0..count).map(|g| self.own.matrix(g)[e]).sum();
            *v += sum / count.max(1) as f64;
        }
        mean
    }

    /// Balanced accuracy and mean log-loss.
    fn validate(&self, data: &Features) -> Result<(f64, f64)> {
        let routing = HeadRouting::Domain(&data.domains);
        let mut scores = self.decision_values(data.z.view(), routing)?;
        let l = self.intercept.len();
        let mut sum = 0.0;
        let mut decided = Vec::with_capacity(data.labels.len());
        for (row, &label) in scores.data_mut().chunks_exact_mut(l).zip(&data.labels) {
            decided.push(if l == 1 {
                usize::from(row[0] > 0.0)
            } else {
                argmax(row)
            });
            sum += loss(row, label);
        }
        let confusion = Confusion::new(&data.labels, &decided, self.classes)?;
        let accuracy = confusion.balanced_accuracy().value().unwrap_or(0.0);
        Ok((accuracy, sum / data.labels.len() as f64))
    }
}

/// One index per row, each below `count`.
fn check(what: &'static str, expected: usize, indices: &[usize], count: usize) -> Result<()> {
    if indices.len() != expected {
        return Err(ModelError::Count {
            op: OP,
            what,
            expected,
            found: indices.len(),
        });
    }
    match indices.iter().position(|&i| i >= count) {
        None => Ok(()),
        Some(trial) => Err(ModelError::IndexOutOfRange {
            op: OP,
            what,
            trial,
            index: indices[trial],
            count,
        }),
    }
}
