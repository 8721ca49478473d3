//! Where the electrodes of the 10–10 system are, on a unit sphere.
//!
//! The system divides arcs of the head. From nasion to inion over the vertex it steps by 18°: Fpz
//! AFz Fz FCz Cz CPz Pz POz Oz Iz at polar angles 72 54 36 18 0 18 36 54 72 90. Around the head,
//! 72° from the vertex, lie Fp1 AF7 F7 FT7 T7 TP7 P7 PO7 O1 in steps of 18° of azimuth. Each
//! coronal row is the circle through its left end, its midline electrode and its right end, cut
//! into quarters on either side. Electrodes 9 and 10 and the ears lie on the equator.
//!
//! Axes: `x` to the right ear, `y` to the nasion, `z` to the vertex. Source: American Clinical
//! Neurophysiology Society, Guideline 2 (2016); Oostenveld & Praamstra, Clin. Neurophysiol. 112
//! (2001).

use std::sync::LazyLock;

/// An electrode and its place on the unit sphere.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    /// Its name in the 10–10 system.
    pub name: String,
    /// `x` right, `y` front, `z` up.
    pub at: [f64; 3],
}

/// Every electrode whose place is known.
pub fn positions() -> &'static [Position] {
    static ALL: LazyLock<Vec<Position>> = LazyLock::new(build);
    &ALL
}

/// The place of an electrode, by any spelling of its name.
///
/// ```
/// use stiefel_eeg::montage::position;
/// assert_eq!(position("cz"), Some([0.0, 0.0, 1.0]));
/// assert!(position("T3").unwrap()[0] < -0.9);
/// assert_eq!(position("left thumb"), None);
/// ```
pub fn position(name: &str) -> Option<[f64; 3]> {
    let key = super::key(name);
    positions()
        .iter()
        .find(|p| p.name.eq_ignore_ascii_case(&key))
        .map(|p| p.at)
}

/// The point at polar angle `theta` and azimuth `phi` (from the nasion towards the right), in
/// degrees.
fn sphere(theta: f64, phi: f64) -> [f64; 3] {
    let (theta, phi) = (theta.to_radians(), phi.to_radians());
    [
        theta.sin() * phi.sin(),
        theta.sin() * phi.cos(),
        theta.cos(),
    ]
}

/// Coronal rows: the letters of the lateral end, of the rest, and the signed angle of the midline
/// electrode (to the front positive); the ring electrode's azimuth follows from its place in the
/// list.
const ROWS: [(&str, &str, f64); 7] = [
    ("AF", "AF", 54.0),
    ("F", "F", 36.0),
    ("FT", "FC", 18.0),
    ("T", "C", 0.0),
    ("TP", "CP", -18.0),
    ("P", "P", -36.0),
    ("PO", "PO", -54.0),
];

fn build() -> Vec<Position> {
    let mut all = Vec::new();
    let mut add = |name: String, at: [f64; 3]| all.push(Position { name, at });
    for (name, angle) in [("Nz", 90.0), ("Fpz", 72.0), ("Oz", -72.0), ("Iz", -90.0)] {
        add(name.into(), midline(angle));
    }
    for (index, (ends, inner, angle)) in ROWS.into_iter().enumerate() {
        let azimuth = 36.0 + 18.0 * index as f64;
        let middle = midline(angle);
        add(format!("{inner}z"), middle);
        for (side, odd) in [(-1.0, 1), (1.0, 0)] {
            let end = sphere(72.0, side * azimuth);
            for quarter in 1..=3 {
                add(
                    format!("{inner}{}", 2 * quarter - odd),
                    along_circle(middle, end, quarter as f64 / 4.0),
                );
            }
            add(format!("{ends}{}", 8 - odd), end);
            add(format!("{ends}{}", 10 - odd), sphere(90.0, side * azimuth));
        }
    }
    for (name, azimuth) in [("Fp1", -18.0), ("Fp2", 18.0), ("O1", -162.0), ("O2", 162.0)] {
        add(name.into(), sphere(72.0, azimuth));
    }
    for (name, azimuth) in [("A1", -90.0), ("A2", 90.0)] {
        add(name.into(), sphere(100.0, azimuth));
    }
    for (name, azimuth) in [("M1", -108.0), ("M2", 108.0)] {
        add(name.into(), sphere(100.0, azimuth));
    }
    all
}

fn midline(angle: f64) -> [f64; 3] {
    sphere(angle.abs(), if angle < 0.0 { 180.0 } else { 0.0 })
}

/// The point a part `f` of the way from `middle` to `end` on the circle through them and the mirror
/// image of `end`.
fn along_circle(middle: [f64; 3], end: [f64; 3], f: f64) -> [f64; 3] {
    // The plane of the circle holds the x direction, along which the ends lie at ±half; v leads
    // from the middle of that chord to the middle electrode.
    let v = [middle[1] - end[1], middle[2] - end[2]];
    let (height, half) = (v[0].hypot(v[1]), end[0].abs());
    let radius = (half * half + height * height) / (2.0 * height);
    let angle = f * half.atan2(radius - height);
    let (u, w) = (radius * angle.sin(), height - radius + radius * angle.cos());
    [
        u.copysign(end[0]),
        end[1] + v[0] / height * w,
        end[2] + v[1] / height * w,
    ]
}
