//! Values at electrodes as maps of the head, seen from above, nose up: azimuthal equidistant projection (the polar angle is the
//! distance from the vertex, 90° at the outline), interpolated by spherical splines, drawn only within 30° of an electrode.

use super::super::base::colour;
use super::super::base::png::data_url;
use super::super::base::spline::Spline;
use super::super::base::svg::{Anchor, Drawing, Svg, Tone, n};
use super::matrix::colour_bar;
use std::fmt::Write;

/// One head: its values at the electrodes of the chart.
#[derive(Debug)]
pub(in crate::report) struct Head {
    pub values: Vec<f64>,
}

/// Groups of heads, each with a name.
#[derive(Debug)]
pub(in crate::report) struct Scalps {
    pub electrodes: Vec<[f64; 3]>,
    pub groups: Vec<(String, Vec<Head>)>,
    pub scale: &'static str,
}

const SIDE: usize = 64;
const LEVELS: usize = 63;
const RADIUS: f64 = 33.0;
const HEAD: f64 = 82.0;
const PER_LINE: usize = 8;
/// Farther than this from every electrode nothing is drawn.
const REACH: f64 = 30.0;

impl Scalps {
    /// Nothing where there is no electrode or no head.
    pub(in crate::report) fn draw(&self) -> Option<Drawing> {
        let per_group = self
            .groups
            .iter()
            .map(|g| g.1.len())
            .max()
            .filter(|&heads| heads > 0)?;
        let (pixels, points) = self.pixels();
        let spline = Spline::new(&self.electrodes, &points)?;
        let columns = (PER_LINE / per_group).clamp(1, self.groups.len());
        let group_width = HEAD * per_group as f64 + 10.0;
        let mut svg = Svg::new((group_width * columns as f64 + 4.0).max(220.0));
        let line = HEAD + 26.0;
        for (i, (name, heads)) in self.groups.iter().enumerate() {
            let x = 2.0 + group_width * (i % columns) as f64;
            let y = 4.0 + line * (i / columns) as f64;
            svg.text(x + 4.0, y + 11.0, Anchor::Start, Tone::Bold, name);
            for (j, head) in heads.iter().enumerate() {
                let centre = (x + HEAD * (j as f64 + 0.5), y + 22.0 + HEAD / 2.0);
                self.head(&mut svg, centre, head, &pixels, &spline);
            }
        }
        let bottom = 8.0 + line * self.groups.len().div_ceil(columns) as f64;
        let map = |t: f64| colour::signed(2.0 * t - 1.0);
        let used = colour_bar(&mut svg, bottom, (-1.0, 1.0), map, self.scale, 0);
        Some(svg.finish(bottom + used))
    }

    /// The pixels to be coloured, and their places on the sphere.
    fn pixels(&self) -> (Vec<usize>, Vec<[f64; 3]>) {
        let reach = REACH.to_radians().cos();
        let place = |pixel: usize| {
            let across = |i: usize| (i as f64 + 0.5) / SIDE as f64 * 2.0 - 1.0;
            let (x, y) = (across(pixel % SIDE), -across(pixel / SIDE));
            let r = x.hypot(y);
            let theta = r * std::f64::consts::FRAC_PI_2;
            let ring = if r > 0.0 { theta.sin() / r } else { 0.0 };
            let at = [x * ring, y * ring, theta.cos()];
            let near = |e: &[f64; 3]| e[0] * at[0] + e[1] * at[1] + e[2] * at[2] >= reach;
            (r <= 1.0 && self.electrodes.iter().any(near)).then_some((pixel, at))
        };
        (0..SIDE * SIDE).filter_map(place).unzip()
    }

    fn head(
        &self,
        svg: &mut Svg,
        (cx, cy): (f64, f64),
        head: &Head,
        pixels: &[usize],
        spline: &Spline,
    ) {
        let largest = head.values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let relative: Vec<f64> = head.values.iter().map(|v| v / unit).collect();
        let mut indices = vec![0u8; SIDE * SIDE];
        for (&pixel, value) in pixels.iter().zip(spline.apply(&relative)) {
            let level = f64::midpoint(value.clamp(-1.0, 1.0), 1.0) * (LEVELS - 1) as f64;
            indices[pixel] = 1 + level.round() as u8;
        }
        let palette: Vec<colour::Rgb> = (0..LEVELS)
            .map(|i| colour::signed(2.0 * i as f64 / (LEVELS - 1) as f64 - 1.0))
            .collect();
        let mut out = format!(
            "<image x=\"{}\" y=\"{}\" width=\"{d}\" height=\"{d}\" href=\"{}\"/>",
            n(cx - RADIUS),
            n(cy - RADIUS),
            data_url(SIDE, &indices, &palette),
            d = n(2.0 * RADIUS)
        );
        out.push_str(&outline(cx, cy));
        let mut dots = String::new();
        for e in &self.electrodes {
            let theta = e[2].clamp(-1.0, 1.0).acos();
            let ring = e[0].hypot(e[1]);
            let r = if ring > 0.0 {
                theta / std::f64::consts::FRAC_PI_2 * RADIUS / ring
            } else {
                0.0
            };
            let _ = write!(dots, "M{} {}h0", n(cx + r * e[0]), n(cy - r * e[1]));
        }
        let _ = write!(
            out,
            "<path d=\"{dots}\" stroke=\"#000000\" stroke-opacity=\"0.55\" stroke-width=\"1.6\" stroke-linecap=\"round\" fill=\"none\"/>"
        );
        svg.raw(&out);
    }
}

/// The head with nose and ears.
fn outline(cx: f64, cy: f64) -> String {
    let (r, top) = (n(RADIUS), cy - RADIUS);
    let ear = |side: f64| {
        let x = cx + side * RADIUS;
        format!(
            "M{} {}q{} 1 {} 8q{} 8 {} 7",
            n(x),
            n(cy - 8.0),
            n(side * 5.0),
            n(side * 4.0),
            n(0.0),
            n(side * -4.0)
        )
    };
    format!(
        "<path class=\"head\" fill=\"none\" stroke=\"#333333\" stroke-width=\"1.2\" d=\"M{} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0ZM{} {}L{} {}L{} {}{}{}\"/>",
        n(cx - RADIUS),
        n(cy),
        n(cx - 6.0),
        n(top + 0.6),
        n(cx),
        n(top - 6.5),
        n(cx + 6.0),
        n(top + 0.6),
        ear(-1.0),
        ear(1.0),
        d = n(2.0 * RADIUS)
    )
}
