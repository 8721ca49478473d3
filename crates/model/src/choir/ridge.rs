//! The weights everybody shares, and what the labelled trials of one person add: ridge regressions
//! in closed form.
//!
//! ```text
//! w_0 = (F̃ᵀF̃ + I/v_0)⁻¹ F̃ᵀ t̃,        F̃ = √ω F,  t̃ = √ω t                            ω: weights of the trials
//! δ   = v_δ F̃_lᵀ (I + v_δ F̃_l F̃_lᵀ)⁻¹ (t̃_l − F̃_l w_0)
//! scores without person p      t − (I − A_pp)⁻¹ r̃_p/√ω,   A_pp = F̃_p (F̃ᵀF̃ + I/v_0)⁻¹ F̃_pᵀ,  r̃ = t̃ − F̃ w_0
//! with δ of all their others   t_i − [N e]_i/(N_ii √ω_i),  e = (I − A_pp)⁻¹ r̃_p,  N = (I + v_δ F̃_p F̃_pᵀ)⁻¹
//! ```
//!
//! The last two lines are leave-one-out identities: nothing is fitted twice. All of them solve with
//! `I + c F Fᵀ`, through its `m × m` side or, where a person has more trials than there are
//! features, through the `p × p` one ([`Kernel`]): the work is linear in the trials.

use crate::Result;
use stiefel_linalg::sums::dot;
use stiefel_linalg::{Factored, MatBatch, Op, product, product_into};

/// Labelled rows of one person.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    /// Features, `1 × m × p`.
    pub(crate) z: MatBatch<f64>,
    /// The class of each row.
    pub(crate) labels: Vec<usize>,
    /// The weight of each row as it was given, above 0.
    pub(crate) weights: Vec<f64>,
}

/// Scores per trial: one for two classes, else one per class.
pub(super) fn scores(classes: usize) -> usize {
    if classes == 2 { 1 } else { classes }
}

/// `2·(1[y = c] − 1/C)`: ±1 for two classes, whose only score is that of class 1.
pub(super) fn target(label: usize, score: usize, classes: usize) -> f64 {
    let class = if classes == 2 { 1 } else { score };
    2.0 * (f64::from(u8::from(label == class)) - 1.0 / classes as f64)
}

/// Weights that count the classes present alike and sum to the sum of the given ones.
pub(super) fn balanced(labels: &[usize], weights: &[f64], classes: usize) -> Vec<f64> {
    let mut sums = vec![0.0; classes];
    for (&label, w) in labels.iter().zip(weights) {
        sums[label] += w;
    }
    let total: f64 = sums.iter().sum();
    let present = sums.iter().filter(|s| **s > 0.0).count();
    let level = total / present.max(1) as f64;
    let one = |(&label, w): (&usize, &f64)| w * level / sums[label];
    labels.iter().zip(weights).map(one).collect()
}

impl Rows {
    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// `√ω` of each row, the classes alike.
    fn roots(&self, classes: usize) -> Vec<f64> {
        let weights = balanced(&self.labels, &self.weights, classes);
        weights.into_iter().map(f64::sqrt).collect()
    }

    /// `F̃`.
    fn weighted(&self, roots: &[f64]) -> MatBatch<f64> {
        MatBatch::from_fn(1, self.len(), self.z.cols(), |_, i, j| {
            roots[i] * self.z.get(0, i, j)
        })
    }

    /// `t̃ − F̃ w`, `m × L`.
    fn residuals(&self, w: &MatBatch<f64>, roots: &[f64], classes: usize) -> Result<MatBatch<f64>> {
        let s = product(self.z.view(), Op::N, w.view(), Op::T)?;
        Ok(MatBatch::from_fn(1, self.len(), w.rows(), |_, i, l| {
            roots[i] * (target(self.labels[i], l, classes) - s.get(0, i, l))
        }))
    }

    /// The rows at these places.
    pub(super) fn select(&self, at: &[usize]) -> Self {
        Self {
            z: MatBatch::from_fn(1, at.len(), self.z.cols(), |_, i, j| {
                self.z.get(0, at[i], j)
            }),
            labels: at.iter().map(|&i| self.labels[i]).collect(),
            weights: at.iter().map(|&i| self.weights[i]).collect(),
        }
    }
}

/// The shared weights, and what leave-one-out needs of their fit.
pub(super) struct Shared {
    /// `1 × L × p`.
    pub(super) weights: MatBatch<f64>,
    factored: Factored,
    classes: usize,
}

impl Shared {
    pub(super) fn fit(people: &[&Rows], variance: f64, classes: usize) -> Result<Self> {
        let p = people.first().map_or(0, |rows| rows.z.cols());
        let l = scores(classes);
        let level = |_: usize, r: usize, c: usize| if r == c { 1.0 / variance } else { 0.0 };
        let mut g = MatBatch::from_fn(1, p, p, level);
        let mut b = MatBatch::zeros(1, p, l);
        for rows in people {
            let roots = rows.roots(classes);
            let f = rows.weighted(&roots);
            let t = MatBatch::from_fn(1, rows.len(), l, |_, i, s| {
                roots[i] * target(rows.labels[i], s, classes)
            });
            product_into(g.view_mut(), true, 1.0, f.view(), Op::T, f.view(), Op::N)?;
            product_into(b.view_mut(), true, 1.0, f.view(), Op::T, t.view(), Op::N)?;
        }
        let factored = Factored::new(g.view())?;
        factored.solve(&mut b)?;
        Ok(Self {
            weights: b.transposed(),
            factored,
            classes,
        })
    }

    /// `e = (I − A_pp)⁻¹ r̃_p`: the weighted residuals of a person under weights fitted on the
    /// others, `m × L`.
    pub(super) fn without(&self, rows: &Rows) -> Result<MatBatch<f64>> {
        let roots = rows.roots(self.classes);
        let mut half = rows.weighted(&roots).transposed();
        self.factored.half_solve(&mut half)?;
        let half = half.transposed();
        let mut e = rows.residuals(&self.weights, &roots, self.classes)?;
        Kernel::new(&half, -1.0)?.solve(&mut e)?;
        Ok(e)
    }
}

/// `δ` of labelled rows given the shared weights, `L × p` one row after the other.
pub(super) fn own(
    rows: &Rows,
    shared: &MatBatch<f64>,
    variance: f64,
    classes: usize,
) -> Result<Vec<f64>> {
    let roots = rows.roots(classes);
    let f = rows.weighted(&roots);
    let mut r = rows.residuals(shared, &roots, classes)?;
    Kernel::new(&f, variance)?.solve(&mut r)?;
    let mut delta = product(r.view(), Op::T, f.view(), Op::N)?;
    delta.data_mut().iter_mut().for_each(|d| *d *= variance);
    Ok(delta.into_vec())
}

/// `I + c F Fᵀ`, factored, with `F` of `m × p`. Where `m > p` it is solved by Woodbury's identity,
/// `(I + c F Fᵀ)⁻¹ = I − c F (I + c FᵀF)⁻¹ Fᵀ`.
struct Kernel<'a> {
    f: &'a MatBatch<f64>,
    c: f64,
    factored: Factored,
}

impl<'a> Kernel<'a> {
    fn new(f: &'a MatBatch<f64>, c: f64) -> Result<Self> {
        let (rows, (left, right)) = if f.rows() > f.cols() {
            (f.cols(), (Op::T, Op::N))
        } else {
            (f.rows(), (Op::N, Op::T))
        };
        let mut k = MatBatch::identity(1, rows);
        product_into(k.view_mut(), true, c, f.view(), left, f.view(), right)?;
        let factored = Factored::new(k.view())?;
        Ok(Self { f, c, factored })
    }

    /// `(I + c F Fᵀ)⁻¹ B` in the place of `B`, `m × L`.
    fn solve(&self, b: &mut MatBatch<f64>) -> Result<()> {
        if self.f.rows() <= self.f.cols() {
            return Ok(self.factored.solve(b)?);
        }
        let mut inner = product(self.f.view(), Op::T, b.view(), Op::N)?;
        self.factored.solve(&mut inner)?;
        let (f, inner) = (self.f.view(), inner.view());
        Ok(product_into(
            b.view_mut(),
            true,
            -self.c,
            f,
            Op::N,
            inner,
            Op::N,
        )?)
    }

    /// The diagonal of `(I + c F Fᵀ)⁻¹`.
    fn diagonal(&self) -> Result<Vec<f64>> {
        let m = self.f.rows();
        if m <= self.f.cols() {
            let mut inverse = MatBatch::identity(1, m);
            self.factored.solve(&mut inverse)?;
            return Ok((0..m).map(|i| inverse.get(0, i, i)).collect());
        }
        let mut half = self.f.transposed();
        self.factored.half_solve(&mut half)?;
        let half = half.transposed();
        let squares = half.data().chunks_exact(half.cols().max(1));
        Ok(squares.map(|row| 1.0 - self.c * dot(row, row)).collect())
    }
}

/// Scores of a person's rows, `m × L`, none of which knew its own label: by the weights of the
/// others, whose residuals `e` are those of [`Shared::without`], and, with `labels = Some(n)`, `δ`
/// of their first `n` rows, the classes in turn (only the remaining rows are scored); with `None`,
/// `δ` of all rows but the scored one. With the places of the rows.
pub(super) fn held_out(
    e: &MatBatch<f64>,
    rows: &Rows,
    variance: f64,
    labels: Option<usize>,
    classes: usize,
) -> Result<Option<(Vec<usize>, MatBatch<f64>)>> {
    let (m, roots) = (rows.len(), rows.roots(classes));
    let l = e.cols();
    let truth = |i: usize, s: usize| target(rows.labels[i], s, classes);
    let plain = |i: usize, s: usize| truth(i, s) - e.get(0, i, s) / roots[i];
    let Some(count) = labels else {
        // [N e]_i / N_ii.
        let f = rows.weighted(&roots);
        let kernel = Kernel::new(&f, variance)?;
        let (n, mut ne) = (kernel.diagonal()?, e.clone());
        kernel.solve(&mut ne)?;
        let found = MatBatch::from_fn(1, m, l, |_, i, s| {
            truth(i, s) - ne.get(0, i, s) / (n[i] * roots[i])
        });
        return Ok(Some(((0..m).collect(), found)));
    };
    let Some((known, rest)) = first_of_each(&rows.labels, count, classes) else {
        return Ok(None);
    };
    let mut found = MatBatch::from_fn(1, rest.len(), l, |_, i, s| plain(rest[i], s));
    if known.is_empty() {
        return Ok(Some((rest, found)));
    }
    let given = rows.select(&known);
    let own_roots = given.roots(classes);
    let f = given.weighted(&own_roots);
    let mut r = MatBatch::from_fn(1, known.len(), l, |_, i, s| {
        own_roots[i] * (truth(known[i], s) - plain(known[i], s))
    });
    Kernel::new(&f, variance)?.solve(&mut r)?;
    let others = rows.select(&rest);
    let k = product(others.z.view(), Op::N, f.view(), Op::T)?;
    product_into(
        found.view_mut(),
        true,
        variance,
        k.view(),
        Op::N,
        r.view(),
        Op::N,
    )?;
    Ok(Some((rest, found)))
}

/// `count` places, the classes in turn, each in its order, and the places that remain; none where
/// the classes have too few, or nothing remains.
fn first_of_each(
    labels: &[usize],
    count: usize,
    classes: usize,
) -> Option<(Vec<usize>, Vec<usize>)> {
    let mut of = vec![Vec::new(); classes];
    for (i, &label) in labels.iter().enumerate() {
        of[label].push(i);
    }
    of.retain(|places| !places.is_empty());
    let mut known = Vec::new();
    for turn in 0..count.div_ceil(of.len().max(1)) {
        for places in &of {
            if known.len() < count {
                known.push(*places.get(turn)?);
            }
        }
    }
    known.sort_unstable();
    let rest: Vec<usize> = (0..labels.len()).filter(|i| !known.contains(i)).collect();
    (!rest.is_empty()).then_some((known, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiefel_testkit::{assert_close, random_batch};

    fn rows(seed: u64, m: usize, p: usize) -> Rows {
        Rows {
            z: random_batch::<f64>(seed, 1, m, p),
            labels: (0..m).map(|i| i % 2).collect(),
            weights: (0..m).map(|i| 1.0 + 0.1 * (i % 3) as f64).collect(),
        }
    }

    fn scores_of(rows: &Rows, w: &MatBatch<f64>) -> Vec<f64> {
        let s = product(rows.z.view(), Op::N, w.view(), Op::T).unwrap();
        s.into_vec()
    }

    /// Both sides of a kernel against its inverse, of more rows than columns and of fewer.
    #[test]
    fn a_kernel_is_solved_through_its_smaller_side() {
        for (m, p, c) in [(9, 4, 0.7), (4, 9, 0.7), (6, 6, 0.7), (9, 4, -0.01)] {
            let f = random_batch::<f64>(7, 1, m, p);
            let kernel = Kernel::new(&f, c).unwrap();
            let mut k = MatBatch::identity(1, m);
            product_into(k.view_mut(), true, c, f.view(), Op::N, f.view(), Op::T).unwrap();
            let mut inverse = MatBatch::identity(1, m);
            kernel.solve(&mut inverse).unwrap();
            let one = product(k.view(), Op::N, inverse.view(), Op::N).unwrap();
            let expected = MatBatch::<f64>::identity(1, m);
            assert_close("K K⁻¹", one.data(), expected.data(), 1e-12);
            let expected: Vec<f64> = (0..m).map(|i| inverse.get(0, i, i)).collect();
            assert_close("diagonal", &kernel.diagonal().unwrap(), &expected, 1e-12);
        }
    }

    /// What the identities say is what fitting without the person gives, whether people have more
    /// trials than there are features or fewer.
    #[test]
    fn scores_without_a_person_are_those_of_a_fit_without_them() {
        for p in [5, 14] {
            check_without_a_person(p);
        }
    }

    fn check_without_a_person(p: usize) {
        let people: Vec<Rows> = (0..4).map(|k| rows(k, 9, p)).collect();
        let all: Vec<&Rows> = people.iter().collect();
        let shared = Shared::fit(&all, 0.3, 2).unwrap();
        for (k, person) in people.iter().enumerate() {
            let others: Vec<&Rows> = (people.iter().enumerate())
                .filter(|(j, _)| *j != k)
                .map(|(_, rows)| rows)
                .collect();
            let without = Shared::fit(&others, 0.3, 2).unwrap().weights;
            let e = shared.without(person).unwrap();
            let (at, found) = held_out(&e, person, 1.5, Some(0), 2).unwrap().unwrap();
            assert_eq!(at, (0..9).collect::<Vec<_>>());
            assert_close("shared", found.data(), &scores_of(person, &without), 1e-10);
            // And with the person's own weights from four trials.
            let (rest, found) = held_out(&e, person, 1.5, Some(4), 2).unwrap().unwrap();
            let known: Vec<usize> = (0..9).filter(|i| !rest.contains(i)).collect();
            let delta = own(&person.select(&known), &without, 1.5, 2).unwrap();
            let both: Vec<f64> = without
                .data()
                .iter()
                .zip(&delta)
                .map(|(w, d)| w + d)
                .collect();
            let both = MatBatch::from_vec(1, 1, p, both).unwrap();
            let expected = scores_of(&person.select(&rest), &both);
            assert_close("own", found.data(), &expected, 1e-10);
        }
    }

    #[test]
    fn each_trial_left_out_in_turn_is_a_fit_without_it() {
        let people: Vec<Rows> = (0..2)
            .map(|k| Rows {
                weights: vec![1.0; 8],
                ..rows(k, 8, 5)
            })
            .collect();
        let shared = Shared::fit(&[&people[0], &people[1]], 0.3, 2).unwrap();
        let without = Shared::fit(&[&people[1]], 0.3, 2).unwrap().weights;
        let person = &people[0];
        let e = shared.without(person).unwrap();
        let (_, found) = held_out(&e, person, 1.5, None, 2).unwrap().unwrap();
        for i in 0..8 {
            // The weights of the classes are those of all trials: what is left out is one row.
            let roots = person.roots(2);
            let at: Vec<usize> = (0..8).filter(|&j| j != i).collect();
            let f = MatBatch::from_fn(1, 7, 5, |_, r, c| roots[at[r]] * person.z.get(0, at[r], c));
            let r = person.residuals(&without, &roots, 2).unwrap();
            let mut r = MatBatch::from_fn(1, 7, 1, |_, k, _| r.get(0, at[k], 0));
            Kernel::new(&f, 1.5).unwrap().solve(&mut r).unwrap();
            let delta = product(r.view(), Op::T, f.view(), Op::N).unwrap();
            let z = &person.z.data()[i * 5..(i + 1) * 5];
            let score: f64 = (z.iter().zip(without.data()).zip(delta.data()))
                .map(|((z, w), d)| z * (w + 1.5 * d))
                .sum();
            assert!((found.get(0, i, 0) - score).abs() < 1e-10);
        }
    }

    #[test]
    fn classes_count_alike_whatever_their_numbers() {
        let weights = balanced(&[0, 0, 0, 1], &[1.0, 1.0, 2.0, 1.0], 3);
        assert_close("weights", &weights, &[0.625, 0.625, 1.25, 2.5], 1e-15);
        assert_eq!((target(1, 0, 2), target(0, 0, 2)), (1.0, -1.0));
        assert!((0..3).map(|s| target(1, s, 3)).sum::<f64>().abs() < 1e-15);
    }
}
