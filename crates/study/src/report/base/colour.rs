//! Colours that a colour-blind reader tells apart.
//!
//! Categories: Okabe & Ito (2008) without yellow (too faint on paper), with the ink itself as the
//! seventh; a marker's shape says the same once more. Ordered values: lightness rising evenly in
//! OKLab (Ottosson 2020), hue from violet over blue and green to yellow, like viridis. Signed
//! values: blue and vermilion arms of equal lightness that meet in a near-white.

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    pub(in crate::report) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// Relative luminance of sRGB (WCAG 2).
    fn luminance(self) -> f64 {
        let [r, g, b] = [self.0, self.1, self.2].map(|v| linear(f64::from(v) / 255.0));
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// Black or white, whichever reads better on it.
    pub(in crate::report) fn ink(self) -> &'static str {
        // Contrast (L + 0.05)/(0.05) with black against 1.05/(L + 0.05) with white: equal at L =
        // 0.179.
        if self.luminance() > 0.179 {
            "#000000"
        } else {
            "#ffffff"
        }
    }
}

/// How many categories have a colour of their own.
pub(in crate::report) const CATEGORIES: usize = 7;

/// The colour of a category; the seventh is the ink, which the dark style sheet turns white (class
/// `s6`).
pub(in crate::report) fn category(i: usize) -> Rgb {
    const OKABE_ITO: [Rgb; CATEGORIES] = [
        Rgb(0x00, 0x72, 0xb2),
        Rgb(0xd5, 0x5e, 0x00),
        Rgb(0x00, 0x9e, 0x73),
        Rgb(0xcc, 0x79, 0xa7),
        Rgb(0x56, 0xb4, 0xe9),
        Rgb(0xe6, 0x9f, 0x00),
        Rgb(0x1a, 0x1a, 0x1a),
    ];
    OKABE_ITO[i % CATEGORIES]
}

/// The colour of an ordered value in `[0, 1]`: dark violet to light yellow.
pub(in crate::report) fn ordered(t: f64) -> Rgb {
    let t = unit(t);
    let lightness = 0.28 + 0.64 * t;
    let hue = (310.0 - 205.0 * t).to_radians();
    // As strong as the screen can show along this path: beyond, clipping would put steps into the
    // scale.
    let chroma = 0.12 - 0.12 * t + 0.16 * t * t;
    oklab(lightness, chroma * hue.cos(), chroma * hue.sin())
}

/// The colour of a signed value in `[−1, 1]`: blue, near-white at zero, vermilion.
pub(in crate::report) fn signed(t: f64) -> Rgb {
    let t = if t.is_finite() {
        t.clamp(-1.0, 1.0)
    } else {
        0.0
    };
    let hue = if t < 0.0 { 245.0_f64 } else { 45.0 }.to_radians();
    let strength = t.abs();
    let chroma = 0.145 * strength;
    oklab(
        0.97 - 0.47 * strength,
        chroma * hue.cos(),
        chroma * hue.sin(),
    )
}

fn unit(t: f64) -> f64 {
    if t.is_finite() {
        t.clamp(0.0, 1.0)
    } else {
        0.0
    }
}

fn linear(v: f64) -> f64 {
    if v <= 0.04045 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    }
}

fn oklab(l: f64, a: f64, b: f64) -> Rgb {
    let cube = |a_part: f64, b_part: f64| (l + a_part * a + b_part * b).powi(3);
    let x = cube(0.396_337_777_4, 0.215_803_757_3);
    let y = cube(-0.105_561_345_8, -0.063_854_172_8);
    let z = cube(-0.089_484_177_5, -1.291_485_548_0);
    let byte = |v: f64| {
        let v = v.clamp(0.0, 1.0);
        let v = if v <= 0.003_130_8 {
            12.92 * v
        } else {
            1.055 * v.powf(1.0 / 2.4) - 0.055
        };
        (255.0 * v).round() as u8
    };
    Rgb(
        byte(4.076_741_662_1 * x - 3.307_711_591_3 * y + 0.230_969_929_2 * z),
        byte(-1.268_438_004_6 * x + 2.609_757_401_1 * y - 0.341_319_396_5 * z),
        byte(-0.004_196_086_3 * x - 0.703_418_614_7 * y + 1.707_614_701_0 * z),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linear sRGB as a dichromat sees it (Machado, Oliveira & Fernandes 2009, severity 1).
    const DEFICIENCIES: [[[f64; 3]; 3]; 2] = [
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    ];

    fn lab(rgb: Rgb, seen: &[[f64; 3]; 3]) -> [f64; 3] {
        let v = [rgb.0, rgb.1, rgb.2].map(|v| linear(f64::from(v) / 255.0));
        let v = seen.map(|row| (row[0] * v[0] + row[1] * v[1] + row[2] * v[2]).clamp(0.0, 1.0));
        let l = (0.412_221_470_8 * v[0] + 0.536_332_536_3 * v[1] + 0.051_445_992_9 * v[2]).cbrt();
        let m = (0.211_903_498_2 * v[0] + 0.680_699_545_1 * v[1] + 0.107_396_956_6 * v[2]).cbrt();
        let s = (0.088_302_461_9 * v[0] + 0.281_718_837_6 * v[1] + 0.629_978_700_5 * v[2]).cbrt();
        [
            0.210_454_255_3 * l + 0.793_617_785_0 * m - 0.004_072_046_8 * s,
            1.977_998_495_1 * l - 2.428_592_205_0 * m + 0.450_593_709_9 * s,
            0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766_0 * s,
        ]
    }

    #[test]
    fn oklab_gives_known_colours() {
        assert_eq!(oklab(1.0, 0.0, 0.0), Rgb(255, 255, 255));
        assert_eq!(oklab(0.627_955, 0.224_863, 0.125_846), Rgb(255, 0, 0));
        assert_eq!(oklab(0.0, 0.0, 0.0), Rgb(0, 0, 0));
    }

    #[test]
    fn categories_stay_apart_for_dichromats() {
        for seen in &DEFICIENCIES {
            for i in 0..CATEGORIES {
                for j in 0..i {
                    let (a, b) = (lab(category(i), seen), lab(category(j), seen));
                    let d = (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f64>().sqrt();
                    assert!(d > 0.06, "{i} and {j}: {d}");
                }
            }
        }
    }

    #[test]
    fn the_ordered_map_has_no_steps() {
        const SIGHT: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let at = |i: u32| lab(ordered(f64::from(i) / 40.0), &SIGHT);
        let step = |i| {
            let (a, b) = (at(i), at(i + 1));
            (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f64>().sqrt()
        };
        let steps: Vec<f64> = (0..40).map(step).collect();
        let (least, most) = steps
            .iter()
            .fold((1.0_f64, 0.0_f64), |(l, m), &s| (l.min(s), m.max(s)));
        assert!(most < 1.8 * least, "{least} to {most}");
    }

    #[test]
    fn maps_rise_in_lightness_for_everyone() {
        let rise = |from: &dyn Fn(f64) -> Rgb| {
            for seen in &DEFICIENCIES {
                for i in 0..40 {
                    let (a, b) = (f64::from(i) / 40.0, f64::from(i + 1) / 40.0);
                    assert!(lab(from(b), seen)[0] > lab(from(a), seen)[0] - 1e-3, "{i}");
                }
            }
        };
        rise(&ordered);
        rise(&|t| signed(1.0 - t));
        rise(&|t| signed(t - 1.0));
        for i in 0..=10 {
            let t = f64::from(i) / 10.0;
            let (a, b) = (signed(t).luminance(), signed(-t).luminance());
            assert!((a - b).abs() < 0.08, "{t}: {a} {b}");
        }
        assert_eq!(signed(f64::NAN), signed(0.0));
    }
}
