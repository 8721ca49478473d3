//! Comparisons and finite differences.

use stiefel_linalg::Scalar;

/// `‖a − b‖₂ / max(‖b‖₂, tiny)`; infinite where the lengths differ or a value is not finite.
pub fn relative_error<T: Scalar, U: Scalar>(a: &[T], b: &[U]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let (mut diff, mut norm) = (0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (x.to_f64(), y.to_f64());
        if !x.is_finite() {
            return f64::INFINITY;
        }
        diff += (x - y) * (x - y);
        norm += y * y;
    }
    diff.sqrt()
        / norm
            .sqrt()
            .max(1e-300)
            .max(if norm == 0.0 { 1.0 } else { 0.0 })
}

/// Panics with the figure where `actual` is farther than `tolerance` (relative, 2-norm) from
/// `expected`.
#[track_caller]
pub fn assert_close<T: Scalar, U: Scalar>(
    what: &str,
    actual: &[T],
    expected: &[U],
    tolerance: f64,
) {
    let error = relative_error(actual, expected);
    assert!(
        error <= tolerance,
        "{what}: relative error {error:e} above {tolerance:e} ({} against {} values)",
        actual.len(),
        expected.len()
    );
}

/// The derivative of `f` at `x` along `direction`, by central differences with two step sizes and
/// Richardson extrapolation: error of order `h⁴`.
pub fn central_difference(x: &[f64], direction: &[f64], h: f64, f: impl Fn(&[f64]) -> f64) -> f64 {
    let at = |t: f64| {
        let moved: Vec<f64> = x.iter().zip(direction).map(|(a, d)| a + t * d).collect();
        f(&moved)
    };
    let slope = |h: f64| (at(h) - at(-h)) / (2.0 * h);
    (4.0 * slope(h / 2.0) - slope(h)) / 3.0
}
