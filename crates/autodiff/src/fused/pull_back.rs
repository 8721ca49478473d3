//! The pull-back of the fused tail, in lanes.

use super::groups::{Groups, Parts};
use super::{FilterTail, Saved};
use crate::{Context, Gradient, OpResult};
use stiefel_linalg::lanes::{self, Laid, Logarithms, Product, Terms};
use stiefel_linalg::{MatView, MatViewMut, Op, Scalar, product_into};

pub(super) fn run<T: Scalar>(
    op: &FilterTail<T>,
    saved: &Saved<T>,
    inputs: &[MatView<'_, T>],
    g: MatView<'_, T>,
    gradients: &mut [Option<Gradient<'_, T>>],
    context: &Context<'_, T>,
) -> OpResult {
    let groups = saved.groups;
    let Groups { width, n, k, .. } = groups;
    let (of_filters, of_data) = gradients.split_at_mut(op.filter_inputs());
    let wants_filters = of_filters.iter().any(Option::is_some);
    // What is computed beside the place of the gradient: a filter that all samples share gets a sum, group by group, its parts in the order of the groups, whoever
    // computed them; a mixture's parts get sums of the gradients of the filters.
    let beside = match (wants_filters, op.mixed, saved.shared) {
        (true, true, _) => groups.samples * n * k,
        (true, false, true) => groups.count() * n * k,
        _ => 0,
    };
    let mut beside = context.buffer(beside);
    let (d_a, add) = match &mut of_filters[0] {
        _ if !beside.is_empty() => (&mut beside[..], false),
        Some(place) => place.place(),
        None => (&mut [][..], false),
    };
    let experts = if op.mixed { inputs[0].cols() } else { 0 };
    let mut d_weights = context.buffer(groups.count() * width * experts);
    let d_x = of_data.first_mut().and_then(Option::as_mut);
    let d_x = d_x.map_or(&mut [][..], Gradient::accumulator);
    let per_group = if saved.shared { n * k } else { width * n * k };
    let (mut d_a, mut d_x) = (Parts::of(d_a), Parts::of(d_x));
    let mut d_weights_parts = Parts::new(&mut d_weights);
    let tasks: Vec<Task<'_, T>> = (0..groups.count())
        .map(|group| Task {
            saved,
            group,
            add,
            wants_filters,
            directions: op.mixed.then(|| inputs[1]),
            d_a: d_a.next(per_group),
            d_weights: d_weights_parts.next(width * experts),
            d_x: d_x.next(width * n * n),
        })
        .collect();
    groups.run(tasks, |task| task.run(op, g, context))?;
    if beside.is_empty() {
        return Ok(());
    }
    let [of_first, rest @ ..] = of_filters else {
        return Ok(());
    };
    if !op.mixed {
        let sum = of_first.as_mut();
        sum.into_iter().for_each(|sum| add_rows(sum, &beside));
        return Ok(());
    }
    if let Some(of_weights) = of_first {
        let per_sample = &d_weights[..groups.samples * experts];
        of_weights.add(per_sample);
    }
    if let Some(of_directions) = &mut rest[0] {
        let samples = groups.samples;
        let weights = MatView::new(1, samples, experts, inputs[0].data())?;
        let d_a = MatView::new(1, samples, n * k, &beside)?;
        let (data, add) = of_directions.place();
        let out = MatViewMut::new(1, experts, n * k, data)?;
        product_into(out, add, T::ONE, weights, Op::T, d_a, Op::N)?;
    }
    if let Some(of_base) = &mut rest[1] {
        add_rows(of_base, &beside);
    }
    Ok(())
}

/// Adds the sum of rows, in their order.
fn add_rows<T: Scalar>(sum: &mut Gradient<'_, T>, rows: &[T]) {
    let sum = sum.accumulator();
    for row in rows.chunks_exact(sum.len()) {
        sum.iter_mut().zip(row).for_each(|(d, &x)| *d += x);
    }
}

/// One group, with its part of the gradients.
struct Task<'a, T: Scalar> {
    saved: &'a Saved<T>,
    group: usize,
    /// Whether to add to what is in `d_a`.
    add: bool,
    wants_filters: bool,
    /// What the filters are mixed of.
    directions: Option<MatView<'a, T>>,
    d_a: &'a mut [T],
    /// Sample by sample.
    d_weights: &'a mut [T],
    d_x: &'a mut [T],
}

impl<T: Scalar> Task<'_, T> {
    fn run(self, op: &FilterTail<T>, g: MatView<'_, T>, context: &Context<'_, T>) -> OpResult {
        let (saved, at) = (self.saved, self.group);
        let groups = saved.groups;
        let Groups { width, n, k, .. } = groups;
        let (tall, square, row) = (groups.tall(), groups.square(), groups.row());
        let mut buffer = context.buffer(5 * square);
        let (g_y, rest) = buffer.split_at_mut(square);
        let (g_z, rest) = rest.split_at_mut(square);
        let (divided, scratch) = rest.split_at_mut(square);

        from_upper_gradient(&groups, groups.of(at), g, g_z);
        let (high, low) = saved.logarithms[2 * at * row..][..2 * row].split_at(row);
        let logarithms = Logarithms {
            epsilon: op.epsilon,
            high,
            low,
        };
        lanes::log_differences(k, &saved.values[at * row..][..row], &logarithms, divided)?;
        let u = &saved.u[at * square..][..square];
        lanes::spectral_derivative(k, u, divided, g_z, scratch, g_y)?;

        let filter = if saved.shared { 0 } else { at };
        let w = Laid::new(&saved.w[filter * tall..][..tall], k);
        let xw = Laid::new(&saved.xw[at * tall..][..tall], k);
        let mut wide = context.buffer(tall);
        if self.wants_filters {
            let y = &saved.y[at * square..][..square];
            let l_inv = saved.l_inv.as_deref();
            let l_inv = l_inv.map(|l_inv| &l_inv[filter * square..][..square]);
            filter_gradient(
                &groups,
                &Filtered { xw, w, y, l_inv },
                g_y,
                (g_z, divided, scratch),
                &mut wide,
            )?;
            let count = groups.of(at).len();
            if let Some(directions) = self.directions {
                let mut weights = context.buffer(self.d_weights.len());
                lanes::inner_products(&wide, directions.data(), &mut weights)?;
                lanes::scatter(width, &weights, false, self.d_weights);
            }
            if saved.shared {
                sum_lanes(width, count, &wide, self.d_a);
            } else {
                lanes::scatter(width, &wide, self.add, self.d_a);
            }
        }
        if !self.d_x.is_empty() {
            let mut of_x = context.buffer(n * n * width);
            lanes::product(Product::new((n, k, k), w, Laid::new(g_y, k), &mut wide))?;
            lanes::product(Product {
                symmetric: true,
                ..Product::new((n, n, k), Laid::new(&wide, k), w.transposed(), &mut of_x)
            })?;
            lanes::scatter_lower(width, n, &of_x, self.d_x);
        }
        Ok(())
    }
}

/// What a group's filters made of its data.
struct Filtered<'a, T> {
    xw: Laid<'a, T>,
    w: Laid<'a, T>,
    y: &'a [T],
    l_inv: Option<&'a [T]>,
}

/// `2 X W G_Y`, and where `W = qf(A)` its pull-back `X W B + W C` with `B = 2 G_Y R⁻ᵀ`, `C = low(M) R⁻ᵀ`.
fn filter_gradient<T: Scalar>(
    groups: &Groups,
    filtered: &Filtered<'_, T>,
    g_y: &[T],
    (b, low, scratch): (&mut [T], &mut [T], &mut [T]),
    out: &mut [T],
) -> OpResult {
    let Groups { n, k, .. } = *groups;
    let (two, square) = (T::from_f64(2.0), (k, k, k));
    let g_y = Laid::new(g_y, k);
    let Filtered { xw, w, y, l_inv } = *filtered;
    let Some(l_inv) = l_inv else {
        lanes::product(Product {
            scale: two,
            ..Product::new((n, k, k), xw, g_y, out)
        })?;
        return Ok(());
    };
    // low(M) is symmetric, and made of the upper triangle of M = 2 Y G_Y: the lower one of 2 G_Y Y.
    lanes::product(Product {
        scale: -two,
        symmetric: true,
        ..Product::new(square, g_y, Laid::new(y, k), low)
    })?;
    let l_inv = Laid::new(l_inv, k);
    lanes::product(Product {
        scale: two,
        terms: Terms::LowerRight,
        ..Product::new(square, g_y, l_inv, b)
    })?;
    let c = &mut scratch[..groups.square()];
    lanes::product(Product {
        terms: Terms::LowerRight,
        ..Product::new(square, Laid::new(low, k), l_inv, c)
    })?;
    lanes::product(Product {
        more: Some((w, Laid::new(c, k))),
        ..Product::new((n, k, k), xw, Laid::new(b, k), out)
    })?;
    Ok(())
}

/// The symmetric gradients of matrices from those of their upper vectors, into lanes: off-diagonals carry `√2/2` on either side.
pub(super) fn from_upper_gradient<T: Scalar>(
    groups: &Groups,
    samples: std::ops::Range<usize>,
    g: MatView<'_, T>,
    out: &mut [T],
) {
    let Groups { width, k, .. } = *groups;
    let half_root = T::from_f64(std::f64::consts::FRAC_1_SQRT_2);
    let last = samples.len() - 1;
    let mut at = 0;
    for r in 0..k {
        for c in r..k {
            let factor = if r == c { T::ONE } else { half_root };
            let register = &mut out[(r * k + c) * width..][..width];
            for (lane, x) in register.iter_mut().enumerate() {
                *x = factor * g.matrix(samples.start + lane.min(last))[at];
            }
            if r != c {
                let (upper, lower) = out.split_at_mut(c * k * width);
                let register = &upper[(r * k + c) * width..][..width];
                lower[r * width..][..width].copy_from_slice(register);
            }
            at += 1;
        }
    }
}

/// The sum over the first `count` lanes, in their order.
fn sum_lanes<T: Scalar>(width: usize, count: usize, lanes: &[T], out: &mut [T]) {
    for (out, register) in out.iter_mut().zip(lanes.chunks_exact(width)) {
        *out = register[..count].iter().copied().sum();
    }
}
