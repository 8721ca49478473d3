//! The pull-back of the fused tail, in lanes.

use super::groups::{Groups, Parts};
use super::{FilterTail, Saved};
use crate::{Context, Gradient, OpResult, PullBack};
use std::ops::Range;
use stiefel_linalg::lanes::{self, Laid, Logarithms, Product, Sums, Terms};
use stiefel_linalg::{MatView, Scalar};

pub(super) fn run<T: Scalar>(
    op: &FilterTail<T>,
    saved: &Saved<T>,
    pass: &mut PullBack<'_, '_, T>,
) -> OpResult {
    let (inputs, g, context) = (pass.inputs, pass.g, pass.context);
    let groups = saved.groups;
    let Groups { width, n, k, .. } = groups;
    let (of_filters, of_data) = pass.gradients.split_at_mut(op.filter_inputs());
    let wants_filters = of_filters.iter().any(Option::is_some);
    // What is computed beside the place of the gradient: a filter that all samples share gets a
    // sum, group by group, its parts in the order of the groups, whoever computed them; a
    // mixture's parts get sums of the gradients of the filters, which stay in lanes.
    let beside = match (wants_filters, op.mixed, saved.shared) {
        (true, true, _) => groups.count() * groups.tall(),
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
    let (mut d_a, mut d_x) = (Parts::from_slice(d_a), Parts::from_slice(d_x));
    let mut d_weights_parts = Parts::new(&mut d_weights);
    let mut tasks: Vec<Task<'_, T>> = (0..groups.count())
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
    // The last groups were the last ones of the forward pass: more of them is still in the cache.
    // With several threads, each takes the groups that it had there.
    if groups.threads() == 1 {
        tasks.reverse();
    }
    groups.run(tasks, |task| task.run(op, g, context))?;
    if beside.is_empty() {
        return Ok(());
    }
    let [of_first, rest @ ..] = of_filters else {
        return Ok(());
    };
    if !op.mixed {
        if let Some(sum) = of_first {
            add_rows(sum, &beside);
        }
        return Ok(());
    }
    if let Some(of_weights) = of_first {
        let per_sample = &d_weights[..groups.samples * experts];
        of_weights.add(per_sample);
    }
    let [of_directions, of_base] = rest else {
        return Ok(());
    };
    mixed_gradient(
        &groups,
        inputs[0],
        &beside,
        (of_directions, of_base),
        context,
    )
}

/// `G_Δ,j = Σ_i α_ij G_A,i` and `G_B = Σ_i G_A,i`. Directions go together, as many as there are
/// lanes, or fewer where every thread then has some: a direction's sum does not depend on the
/// others.
fn mixed_gradient<T: Scalar>(
    groups: &Groups,
    weights: MatView<'_, T>,
    d_a: &[T],
    (of_directions, of_base): (&mut Option<Gradient<'_, T>>, &mut Option<Gradient<'_, T>>),
    context: &Context<'_, T>,
) -> OpResult {
    let (experts, len) = (weights.cols(), groups.n * groups.k);
    let together = experts.div_ceil(groups.threads()).clamp(1, groups.width);
    let (place, add) = of_directions
        .as_mut()
        .map(Gradient::place)
        .unwrap_or_default();
    let (mut place, mut base) = (Parts::from_slice(place), of_base.as_mut());
    let mut tasks: Vec<DirectionTask<'_, '_, T>> = Vec::new();
    for first in (0..experts).step_by(together) {
        let directions = first..(first + together).min(experts);
        let leaves_a_lane = directions.end == experts && !experts.is_multiple_of(groups.width);
        tasks.push(DirectionTask {
            d_directions: place.next(directions.len() * len),
            add,
            d_base: if leaves_a_lane { base.take() } else { None },
            directions,
        });
    }
    if base.is_some() {
        tasks.push(DirectionTask {
            directions: 0..0,
            d_directions: &mut [],
            add,
            d_base: base,
        });
    }
    groups.run(tasks, |task| task.run(groups, weights, d_a, context))
}

/// Some directions, with their gradients; and the base, whose gradient is that of one more
/// direction with ones for weights where a lane is left for it.
struct DirectionTask<'a, 'g, T: Scalar> {
    directions: Range<usize>,
    d_directions: &'a mut [T],
    /// Whether to add to what is in `d_directions`.
    add: bool,
    d_base: Option<&'a mut Gradient<'g, T>>,
}

impl<T: Scalar> DirectionTask<'_, '_, T> {
    fn run(
        self,
        groups: &Groups,
        weights: MatView<'_, T>,
        d_a: &[T],
        context: &Context<'_, T>,
    ) -> OpResult {
        let (width, count) = (groups.width, self.directions.len());
        match self.d_base {
            Some(d_base) if count == 0 => {
                let mut total = context.buffer(groups.n * groups.k);
                lanes::totals(groups.samples, d_a, &mut total)?;
                d_base.add(&total);
                return Ok(());
            }
            None if self.d_directions.is_empty() => return Ok(()),
            _ => {}
        }
        let square = width * width;
        let mut own = context.buffer(groups.count() * square);
        own.fill(T::ZERO);
        // A register per sample of a group; what is left of the last group stays zero.
        for (i, row) in own.chunks_exact_mut(width).take(groups.samples).enumerate() {
            let of_sample = &weights.data()[i * weights.cols()..][..weights.cols()];
            row[..count].copy_from_slice(&of_sample[self.directions.clone()]);
            if let Some(one) = row.get_mut(count) {
                *one = T::ONE;
            }
        }
        let mut sums = context.buffer(groups.tall());
        let of_groups = d_a
            .chunks_exact(groups.tall())
            .zip(own.chunks_exact(square));
        for (group, (d_a, own)) in of_groups.enumerate() {
            lanes::weighted_sums(own, d_a, group > 0, &mut sums)?;
        }
        if !self.d_directions.is_empty() {
            lanes::scatter(&sums, self.add, self.d_directions)?;
        }
        if let Some(d_base) = self.d_base {
            d_base.add_each(|e| sums[e * width + count]);
        }
        Ok(())
    }
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

        from_upper_gradient(&groups, groups.samples_in(at), g, g_z)?;
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
        if self.wants_filters {
            let y = &saved.y[at * square..][..square];
            let l_inv = saved.l_inv.as_deref();
            let l_inv = l_inv.map(|l_inv| &l_inv[filter * square..][..square]);
            let filtered = Filtered { xw, w, y, l_inv };
            let buffers = (g_z, divided, scratch);
            if let Some(directions) = self.directions {
                filter_gradient(&groups, &filtered, g_y, buffers, self.d_a)?;
                let mut weights = context.buffer(width * directions.count());
                lanes::inner_products(self.d_a, directions.data(), &mut weights)?;
                lanes::scatter(&weights, false, self.d_weights)?;
            } else {
                let mut wide = context.buffer(tall);
                filter_gradient(&groups, &filtered, g_y, buffers, &mut wide)?;
                if saved.shared {
                    lanes::totals(groups.samples_in(at).len(), &wide, self.d_a)?;
                } else {
                    lanes::scatter(&wide, self.add, self.d_a)?;
                }
            }
        }
        if !self.d_x.is_empty() {
            let mut of_x = context.buffer(n * n * width);
            let mut wide = context.buffer(tall);
            lanes::product(Product::new((n, k, k), w, Laid::new(g_y, k), &mut wide))?;
            lanes::product(Product {
                sums: Sums::Symmetric,
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

/// `2 X W G_Y`, and where `W = qf(A)` its pull-back `X W B + W C` with `B = 2 G_Y R⁻ᵀ`, `C = low(M)
/// R⁻ᵀ`.
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
        sums: Sums::Symmetric,
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

/// The symmetric gradients of matrices from those of their upper vectors, into lanes: off-diagonals
/// carry `√2/2` on either side.
pub(super) fn from_upper_gradient<T: Scalar>(
    groups: &Groups,
    samples: std::ops::Range<usize>,
    g: MatView<'_, T>,
    out: &mut [T],
) -> OpResult {
    let share = (groups.k, T::from_f64(std::f64::consts::FRAC_1_SQRT_2));
    let of = |i| g.matrix(samples.start + i);
    Ok(lanes::gather_upper(share, samples.len(), of, out)?)
}
