//! What the model does and why: does routing the head by person help, and which electrodes of which
//! view carry the decision?
//!
//! The routing is hard, one expert per person. The K = 1 proxy has `w_0 + mean δ`, *permuted* the
//! `δ` of another trial's person.
//!
//! **Patterns.** The weights of a view are a symmetric matrix, `w_v·z_v = ⟨Ω_v, log β(U_vᵀ X
//! U_v)⟩`: its eigenvectors `q_j` are source directions, its eigenvalues `λ_j` say whether power
//! along them speaks for class 1 (or, with more classes, for the class of the score) or against it.
//! The activation pattern of `U_v q_j` on the sensors is `M_v U_v q_j` (Haufe et al. 2014; `U_vᵀ
//! M_v U_v = I`), here times `√|λ_j|·sign λ_j`, its largest entry having the sign of `λ_j`.

use super::features::{Frame, mean, shrunk};
use super::link::Link;
use super::model::{Choir, Person};
use super::ridge::Rows;
use crate::diagnostics::{Controls, RoutingReport, balanced};
use crate::metrics::score;
use crate::routing_stats::routing_stats;
use crate::{ModelError, Result, Trials, random};
use stiefel_geometry::spd::from_upper;
use stiefel_linalg::{MatBatch, MatRef, Op, eigh, peak, product};

impl Choir {
    /// Judges the people's own weights on test trials of known domains, whose classes and domains
    /// are numbered as in the model.
    pub fn report(
        &self,
        test: &Trials,
        (truth, domains): (&[usize], &[usize]),
        seed: u64,
    ) -> Result<RoutingReport> {
        if test.is_empty() {
            return Err(ModelError::Empty {
                op: "routing report",
                remedy: "give at least one labelled test trial",
            });
        }
        let mut rows = Vec::with_capacity(test.len());
        let mut trial = Vec::new();
        for (i, &d) in domains.iter().enumerate() {
            let person = self.known(d)?;
            trial.clear();
            test.matrices()
                .iter()
                .for_each(|x| trial.extend_from_slice(x.matrix(i)));
            let row = self.row(&person.frame, &person.centre, &trial);
            rows.push(row.map_err(|error| error.at_trial(i))?);
        }
        let classes = self.names.classes.len();
        // The scores under the own weights that each trial is given.
        let judged = |own: &[Option<&[f64]>]| {
            let one = |(i, z): (usize, &Vec<f64>)| {
                let labels = self.person(domains[i]).map_or(0, Person::label_count);
                Link::probabilities(&self.scores(z, own[i]), self.link.slope(labels))
            };
            let p: Vec<f64> = rows.iter().enumerate().flat_map(one).collect();
            score(truth, &p, classes)
        };
        let of = |&d: &usize| self.person(d).map(Person::own);
        let own: Vec<Option<&[f64]>> = domains.iter().map(of).collect();
        let scores = judged(&own)?;
        if self.config.own == 0.0 {
            return Ok(RoutingReport::unrouted(scores));
        }
        let average = self.average();
        let proxy = balanced(&judged(&vec![Some(&average[..]); test.len()])?);
        let mut rng = random::stream(seed, "permuted routing", 0);
        let order = random::permutation(&mut rng, test.len());
        let others: Vec<Option<&[f64]>> = order.iter().map(|&i| own[i]).collect();
        let permuted = balanced(&judged(&others)?);
        let controls = Controls {
            permuted,
            domain_mean: balanced(&scores),
            hard_top1: balanced(&scores),
            retrained: None,
        };
        let count = self.names.domains.len();
        let alpha = MatBatch::from_fn(1, test.len(), count, |_, i, d| {
            f64::from(u8::from(domains[i] == d))
        });
        let stats = routing_stats(alpha.view(), domains)?;
        Ok(RoutingReport::routed(scores, proxy, stats, None, controls))
    }

    /// `mean δ` over the people.
    fn average(&self) -> Vec<f64> {
        let people: Vec<&[f64]> = (self.people.iter().flatten()).map(Person::own).collect();
        let mean = |e: usize| people.iter().map(|own| own[e]).sum::<f64>() / people.len() as f64;
        (0..self.shared.data().len()).map(mean).collect()
    }

    /// The patterns of the shared weights on the sensors of a typical person, `V·L × count × n`:
    /// for every view, and in it for every score, most important first.
    pub fn patterns(&self, count: usize) -> Result<MatBatch<f64>> {
        let means: Vec<Vec<f64>> = (0..self.view_count())
            .map(|v| self.typical.matrix(v).to_vec())
            .collect();
        let frame = Frame::new(&means, &self.anchor, &self.filters())?;
        self.patterns_of(&frame, &means, self.shared.data(), count)
    }

    /// The same of one domain's own weights, `w_0 + δ`; its training trials give its means.
    pub fn own_patterns(
        &self,
        domain: usize,
        trials: &Trials,
        count: usize,
    ) -> Result<MatBatch<f64>> {
        let person = self.known(domain)?;
        let at: Vec<usize> = (0..trials.len()).collect();
        let n = self.channel_count();
        let share = self.config.shrinkage;
        let means: Result<Vec<Vec<f64>>> = (trials.matrices().into_iter())
            .map(|x| Ok(mean(&shrunk(x, n, share, &at)?)))
            .collect();
        self.patterns_of(&person.frame, &means?, &self.weights_of(person), count)
    }

    fn patterns_of(
        &self,
        frame: &Frame,
        means: &[Vec<f64>],
        weights: &[f64],
        count: usize,
    ) -> Result<MatBatch<f64>> {
        let (n, p) = (self.channel_count(), self.scale.len());
        let l = weights.len() / p;
        let least = self.filters().into_iter().min().unwrap_or(0);
        let count = count.min(least);
        let mut all = MatBatch::zeros(self.view_count() * l, count, n);
        for (v, range) in self.ranges().into_iter().enumerate() {
            let m = MatRef::new(n, n, &means[v]).view();
            let sensors = product(m, Op::N, frame.filters[v].view(), Op::N)?;
            for s in 0..l {
                let block: Vec<f64> = (range.clone())
                    .map(|j| weights[s * p + j] * self.scale[j])
                    .collect();
                let omega = from_upper(MatRef::new(1, block.len(), &block).view())?;
                let eigen = eigh(omega.view())?;
                let k = omega.rows();
                let mut order: Vec<usize> = (0..k).collect();
                order.sort_by(|a, b| eigen.values[*b].abs().total_cmp(&eigen.values[*a].abs()));
                for (place, &j) in order.iter().take(count).enumerate() {
                    let q = |r: usize| eigen.vectors.get(0, r, j);
                    let column: Vec<f64> = (0..n)
                        .map(|c| (0..k).map(|r| sensors.get(0, c, r) * q(r)).sum())
                        .collect();
                    let lambda = eigen.values[j];
                    let factor = peak(column.iter().copied()).signum()
                        * lambda.signum()
                        * lambda.abs().sqrt();
                    let out = &mut all.matrix_mut(v * l + s)[place * n..(place + 1) * n];
                    out.iter_mut()
                        .zip(column)
                        .for_each(|(o, c)| *o = factor * c);
                }
            }
        }
        Ok(all)
    }

    /// How much of the shared decision comes from each view: the variance of its part of the score
    /// over the training people's rows, as shares of their sum.
    pub fn shares(&self) -> Vec<f64> {
        let trained = self.people.iter().flatten();
        let rows = trained.filter(|p| !p.is_calibrated()).map(|p| &p.rows);
        self.shares_of(self.shared.data(), rows)
    }

    /// The same of one domain's own weights, `w_0 + δ`, over its own rows.
    ///
    /// ```
    /// # use stiefel_linalg::MatBatch;
    /// # use stiefel_model::choir::{ChoirConfig, Choir};
    /// # use stiefel_model::{Factor, Trials};
    /// # let x = |shift: usize| MatBatch::from_fn(8, 3, 3, |i, r, c| if r == c { 1.0 + ((i * 3 + r + shift) % 5) as f64 } else { 0.2 });
    /// # let classes = Factor::from_labels(["hand", "feet", "hand", "feet", "hand", "feet", "hand", "feet"]);
    /// # let people = Factor::from_labels(["s1", "s1", "s1", "s1", "s2", "s2", "s2", "s2"]);
    /// let trials = Trials::new(x(0), classes, people)?.with_view(x(1))?;
    /// let model = Choir::fit(&trials, &ChoirConfig::default())?;
    /// let shares = model.own_shares(1)?;
    /// assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12 && shares.len() == 2);
    /// # Ok::<(), stiefel_model::ModelError>(())
    /// ```
    pub fn own_shares(&self, domain: usize) -> Result<Vec<f64>> {
        let person = self.known(domain)?;
        let weights = self.weights_of(person);
        Ok(self.shares_of(&weights, std::iter::once(&person.rows)))
    }

    /// `w_0 + δ` of a person.
    fn weights_of(&self, person: &Person) -> Vec<f64> {
        let pairs = self.shared.data().iter().zip(&person.own);
        pairs.map(|(w, d)| w + d).collect()
    }

    /// Zeros where the weights decide nothing.
    fn shares_of<'a>(&self, weights: &[f64], people: impl Iterator<Item = &'a Rows>) -> Vec<f64> {
        let p = self.scale.len();
        let ranges = self.ranges();
        let mut parts = vec![0.0; ranges.len()];
        for rows in people {
            for z in rows.z.data().chunks_exact(p) {
                for w in weights.chunks_exact(p) {
                    for (part, range) in parts.iter_mut().zip(&ranges) {
                        let (w, z) = (&w[range.clone()], &z[range.clone()]);
                        // Rows are centred person by person: a mean square is a variance.
                        *part += w.iter().zip(z).map(|(w, z)| w * z).sum::<f64>().powi(2);
                    }
                }
            }
        }
        let total: f64 = parts.iter().sum();
        let share = |part: &f64| if total > 0.0 { part / total } else { 0.0 };
        parts.iter().map(share).collect()
    }
}
