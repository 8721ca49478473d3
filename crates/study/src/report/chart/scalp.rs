//! Values at electrodes as maps of the head, seen from above, nose up: azimuthal equidistant
//! projection (the polar angle is the distance from the vertex, 90° at the outline), interpolated
//! by spherical splines, drawn only within 30° of an electrode.

use super::super::base::colour;
use super::super::base::png::data_url;
use super::super::base::spline::Spline;
use super::super::base::svg::{Anchor, Drawing, SMALL, Svg, TEXT, Tone, WIDTH, n};
use super::super::base::text::{shorten, width};
use super::matrix::colour_bar;
use std::fmt::Write;

/// An electrode: its name and its place on the unit sphere.
pub(in crate::report) type Electrode = (String, [f64; 3]);

/// Groups of heads, each with a name; a head has a value for each electrode.
#[derive(Debug, Default)]
pub(in crate::report) struct Scalps {
    pub electrodes: Vec<Electrode>,
    pub groups: Vec<(String, Vec<Vec<f64>>)>,
    pub scale: &'static str,
}

const SIDE: usize = 64;
const LEVELS: usize = 63;
const RADIUS: f64 = 40.0;
const HEAD: f64 = 108.0;
/// Farther than this from every electrode nothing is drawn.
const REACH: f64 = 30.0;
/// Electrodes named on a map: those with the largest values.
const STRONGEST: usize = 3;
/// The head on which every electrode has its name.
const LARGE: f64 = 140.0;

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
        let places: Vec<[f64; 3]> = self.electrodes.iter().map(|e| e.1).collect();
        let spline = Spline::new(&places, &points)?;
        let group_width = HEAD * per_group as f64 + 4.0;
        let columns = ((WIDTH / group_width) as usize).clamp(1, self.groups.len());
        let mut svg = Svg::new((group_width * columns as f64 + 4.0).max(230.0));
        let line = HEAD + 22.0;
        for (i, (name, heads)) in self.groups.iter().enumerate() {
            let x = 2.0 + group_width * (i % columns) as f64;
            let y = 4.0 + line * (i / columns) as f64;
            let name = shorten(name, group_width - 8.0, TEXT);
            svg.text(x + 4.0, y + 11.0, Anchor::Start, Tone::Bold, &name);
            for (j, head) in heads.iter().enumerate() {
                let centre = (x + HEAD * (j as f64 + 0.5), y + 20.0 + HEAD / 2.0);
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
            let near = |(_, e): &Electrode| e[0] * at[0] + e[1] * at[1] + e[2] * at[2] >= reach;
            (r <= 1.0 && self.electrodes.iter().any(near)).then_some((pixel, at))
        };
        (0..SIDE * SIDE).filter_map(place).unzip()
    }

    fn head(
        &self,
        svg: &mut Svg,
        (cx, cy): (f64, f64),
        values: &[f64],
        pixels: &[usize],
        spline: &Spline,
    ) {
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let relative: Vec<f64> = values.iter().map(|v| v / unit).collect();
        let mut indices = vec![0u8; SIDE * SIDE];
        for (&pixel, value) in pixels.iter().zip(spline.apply(&relative)) {
            let level = f64::midpoint(value.clamp(-1.0, 1.0), 1.0) * (LEVELS - 1) as f64;
            indices[pixel] = 1 + level.round() as u8;
        }
        let palette: Vec<colour::Rgb> = (0..LEVELS)
            .map(|i| colour::signed(2.0 * i as f64 / (LEVELS - 1) as f64 - 1.0))
            .collect();
        svg.raw(&format!(
            "<image x=\"{}\" y=\"{}\" width=\"{d}\" height=\"{d}\" href=\"{}\"/>",
            n(cx - RADIUS),
            n(cy - RADIUS),
            data_url(SIDE, &indices, &palette),
            d = n(2.0 * RADIUS)
        ));
        svg.raw(&outline((cx, cy), RADIUS));
        let at: Vec<(f64, f64)> = (self.electrodes.iter())
            .map(|e| place(e.1, (cx, cy), RADIUS))
            .collect();
        dots(svg, at.iter().copied());
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| values[*b].abs().total_cmp(&values[*a].abs()));
        let room = [
            cx - HEAD / 2.0,
            cy - HEAD / 2.0,
            cx + HEAD / 2.0,
            cy + HEAD / 2.0,
        ];
        let strongest = order.into_iter().take(STRONGEST);
        let wanted = strongest.map(|e| (e, (at[e].0, at[e].1 - 3.0)));
        self.names(svg, Tone::Label, wanted, room);
    }

    /// Writes the names of electrodes centred at their places, those first that come first; a name
    /// that would cover another is left out. Gives the electrodes that have none.
    fn names(
        &self,
        svg: &mut Svg,
        tone: Tone,
        wanted: impl Iterator<Item = (usize, (f64, f64))>,
        [left, top, right, bottom]: [f64; 4],
    ) -> Vec<usize> {
        let mut taken: Vec<[f64; 4]> = Vec::new();
        let mut without = Vec::new();
        for (e, (x, y)) in wanted {
            let name = shorten(&self.electrodes[e].0, 60.0, SMALL);
            let half = width(&name, SMALL) / 2.0;
            let x = x.clamp(left + half, (right - half).max(left + half));
            let y = y.clamp(top + SMALL, bottom - 2.0);
            let own = [x - half, y - SMALL, x + half, y + 2.5];
            let over =
                |b: &[f64; 4]| own[0] < b[2] && b[0] < own[2] && own[1] < b[3] && b[1] < own[3];
            if taken.iter().any(over) {
                without.push(e);
                continue;
            }
            taken.push(own);
            svg.text(x, y, Anchor::Middle, tone, &name);
        }
        without
    }
}

/// A head with the name of every electrode; where names would cover each other, a dot stands for
/// the later one.
pub(in crate::report) fn electrodes(electrodes: &[Electrode]) -> Drawing {
    let side = 2.0 * (1.32 * LARGE);
    let mut svg = Svg::new(side);
    let centre = (side / 2.0, side / 2.0);
    svg.raw(&outline(centre, LARGE));
    let at: Vec<(f64, f64)> = (electrodes.iter())
        .map(|e| place(e.1, centre, LARGE))
        .collect();
    let scalps = Scalps {
        electrodes: electrodes.to_vec(),
        groups: Vec::new(),
        scale: "",
    };
    let wanted = at.iter().enumerate().map(|(e, (x, y))| (e, (*x, *y + 3.0)));
    let room = [1.0, 1.0, side - 1.0, side - 1.0];
    let without = scalps.names(&mut svg, Tone::Small, wanted, room);
    dots(&mut svg, without.into_iter().map(|e| at[e]));
    svg.finish(side)
}

/// The place of an electrode on a head.
fn place(e: [f64; 3], (cx, cy): (f64, f64), radius: f64) -> (f64, f64) {
    let theta = e[2].clamp(-1.0, 1.0).acos();
    let ring = e[0].hypot(e[1]);
    let r = if ring > 0.0 {
        theta / std::f64::consts::FRAC_PI_2 * radius / ring
    } else {
        0.0
    };
    (cx + r * e[0], cy - r * e[1])
}

fn dots(svg: &mut Svg, places: impl Iterator<Item = (f64, f64)>) {
    let mut d = String::new();
    for (x, y) in places {
        let _ = write!(d, "M{} {}h0", n(x), n(y));
    }
    if !d.is_empty() {
        svg.raw(&format!(
            "<path class=\"dots\" d=\"{d}\" stroke=\"#000000\" stroke-opacity=\"0.55\" \
             stroke-width=\"1.6\" stroke-linecap=\"round\" fill=\"none\"/>"
        ));
    }
}

/// The head with nose and ears.
fn outline((cx, cy): (f64, f64), radius: f64) -> String {
    let (r, top, unit) = (n(radius), cy - radius, radius / 33.0);
    let ear = |side: f64| {
        let x = cx + side * radius;
        format!(
            "M{} {}q{} {} {} {}q0 {} {} {}",
            n(x),
            n(cy - 8.0 * unit),
            n(side * 5.0 * unit),
            n(unit),
            n(side * 4.0 * unit),
            n(8.0 * unit),
            n(8.0 * unit),
            n(side * -4.0 * unit),
            n(7.0 * unit)
        )
    };
    format!(
        "<path class=\"head\" fill=\"none\" stroke=\"#333333\" stroke-width=\"1.2\" d=\"M{} \
         {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0ZM{} {}L{} {}L{} {}{}{}\"/>",
        n(cx - radius),
        n(cy),
        n(cx - 6.0 * unit),
        n(top + 0.6 * unit),
        n(cx),
        n(top - 6.5 * unit),
        n(cx + 6.0 * unit),
        n(top + 0.6 * unit),
        ear(-1.0),
        ear(1.0),
        d = n(2.0 * radius)
    )
}
