//! Pull-backs against central differences: the test every new operation should pass.
//!
//! For a map `f` of batches, a random cotangent `R` and a random direction `V_j` per input, `⟨∂⟨R,
//! f⟩/∂x_j, V_j⟩` is compared with the derivative of `t ↦ ⟨R, f(x_j + tV_j)⟩`, by central
//! differences of two step sizes and Richardson extrapolation.

use crate::{Axis, Result, Tape, Var};
use stiefel_linalg::MatBatch;

/// The worst disagreement between pull-back and central differences over all inputs of `f`,
/// relative to the size of the terms; below `1e-7` for a correct pull-back of a smooth, well-scaled
/// map.
///
///
/// ```
/// use stiefel_autodiff::gradient_error;
/// use stiefel_linalg::MatBatch;
///
/// let x = MatBatch::from_fn(2, 3, 4, |i, r, c| (i + 2 * r + 3 * c) as f64 / 7.0);
/// let w = MatBatch::from_fn(1, 4, 2, |_, r, c| (r as f64 - c as f64) / 3.0);
/// let error = gradient_error(&[x, w], |v| v[0].matmul(v[1])?.gelu()?.softmax())?;
/// assert!(error < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gradient_error(
    inputs: &[MatBatch<f64>],
    f: impl for<'t> Fn(&[Var<'t, f64>]) -> Result<Var<'t, f64>>,
) -> Result<f64> {
    gradient_error_along(inputs, |_, _| {}, f)
}

/// [`gradient_error`] where inputs move only along directions that `project(j, direction)` leaves:
/// symmetric ones, lower triangles.
pub fn gradient_error_along(
    inputs: &[MatBatch<f64>],
    project: impl Fn(usize, &mut MatBatch<f64>),
    f: impl for<'t> Fn(&[Var<'t, f64>]) -> Result<Var<'t, f64>>,
) -> Result<f64> {
    let tape = Tape::new();
    let vars: Vec<Var<'_, f64>> = inputs.iter().map(|x| tape.parameter(x)).collect();
    let y = f(&vars)?;
    let (count, rows, cols) = y.shape();
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let cotangent = MatBatch::from_fn(count, rows, cols, |_, _, _| noise.next());
    let gradients = tape.backward(y.mul(tape.constant(&cotangent))?.sum(Axis::All)?)?;
    let mut worst = 0.0_f64;
    for (j, x) in inputs.iter().enumerate() {
        let (count, rows, cols) = x.shape();
        let mut direction = MatBatch::from_fn(count, rows, cols, |_, _, _| noise.next());
        project(j, &mut direction);
        let exact = gradients
            .get(vars[j])
            .map_or(0.0, |g| dot(g.data(), direction.data()));
        let along = |t: f64| -> Result<f64> {
            let tape = Tape::new();
            let mut moved: Vec<Var<'_, f64>> = inputs.iter().map(|x| tape.constant(x)).collect();
            moved[j] = tape.constant(&step(x, t, &direction));
            Ok(dot(f(&moved)?.value().data(), cotangent.data()))
        };
        let slope = |h: f64| -> Result<f64> { Ok((along(h)? - along(-h)?) / (2.0 * h)) };
        let h = 1e-3;
        let numeric = (4.0 * slope(h / 2.0)? - slope(h)?) / 3.0;
        let scale = 1.0_f64.max(exact.abs());
        worst = worst.max((exact - numeric).abs() / scale);
        if !numeric.is_finite() {
            worst = f64::INFINITY;
        }
    }
    Ok(worst)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn step(x: &MatBatch<f64>, t: f64, direction: &MatBatch<f64>) -> MatBatch<f64> {
    let mut moved = x.clone();
    let pairs = moved.data_mut().iter_mut().zip(direction.data());
    pairs.for_each(|(x, d)| *x += t * d);
    moved
}

/// Numbers in (−1, 1) from a linear congruential generator: directions need no better randomness.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}
