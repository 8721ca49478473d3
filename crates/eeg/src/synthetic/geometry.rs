//! Three-vectors and small rotations.

use super::random::Stream;

pub(crate) type Vec3 = [f64; 3];

pub(crate) fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn scale(a: Vec3, s: f64) -> Vec3 {
    a.map(|x| x * s)
}

pub(crate) fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub(crate) fn unit(a: Vec3) -> Vec3 {
    scale(a, 1.0 / dot(a, a).sqrt().max(f64::MIN_POSITIVE))
}

/// `a` turned about the direction and by the length (radians) of `rotation` (Rodrigues).
pub(crate) fn rotate(a: Vec3, rotation: Vec3) -> Vec3 {
    let angle = dot(rotation, rotation).sqrt();
    if angle == 0.0 {
        return a;
    }
    let k = scale(rotation, 1.0 / angle);
    let (s, c) = angle.sin_cos();
    let (kxa, ka) = (cross(k, a), dot(k, a));
    std::array::from_fn(|i| a[i] * c + kxa[i] * s + k[i] * ka * (1.0 - c))
}

/// A rotation about a random axis, each component normal with `degrees` of standard deviation.
pub(crate) fn small_rotation(stream: &mut Stream, degrees: f64) -> Vec3 {
    std::array::from_fn(|_| stream.normal() * degrees.to_radians())
}
