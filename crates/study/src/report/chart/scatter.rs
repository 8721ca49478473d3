//! Points in the plane, coloured by group; a unit is as long across as up, so that distances can be
//! compared.

use super::super::base::axis::{Scale, extent};
use super::super::base::legend::{Key, legend};
use super::super::base::svg::{Anchor, Drawing, Svg, Tone};
use super::super::base::text::escape;

/// The chart.
#[derive(Debug)]
pub(in crate::report) struct Scatter {
    /// Points and their groups.
    pub points: Vec<([f64; 2], usize)>,
    /// The names of the groups that have points.
    pub groups: Vec<(usize, String)>,
    pub axes: [&'static str; 2],
}

/// More groups than this have no legend.
pub(in crate::report) const LEGEND: usize = 14;
const WIDTH: f64 = 440.0;
const SIDE: f64 = 350.0;
const LEFT: f64 = 62.0;
const TOP: f64 = 8.0;

impl Scatter {
    pub(in crate::report) fn draw(&self) -> Drawing {
        let mut svg = Svg::new(WIDTH);
        let points = || {
            self.points
                .iter()
                .filter(|p| p.0.iter().all(|v| v.is_finite()))
        };
        let ranges = [0, 1].map(|axis| extent(points().map(|p| p.0[axis])));
        let half = ranges.iter().map(|r| (r.1 - r.0) / 2.0).fold(0.0, f64::max);
        let square = ranges.map(|r| {
            let middle = f64::midpoint(r.0, r.1);
            (middle - half, middle + half)
        });
        let across = Scale::new(square[0], (LEFT, LEFT + SIDE));
        let up = Scale::new(square[1], (TOP + SIDE, TOP));
        for (value, label) in across.ticks(5) {
            let x = across.at(value);
            svg.rule("grid", [x, TOP, x, TOP + SIDE], false);
            svg.text_within(x, TOP + SIDE + 15.0, Tone::Muted, &label);
        }
        for (value, label) in up.ticks(5) {
            let y = up.at(value);
            svg.rule("grid", [LEFT, y, LEFT + SIDE, y], false);
            svg.text(LEFT - 6.0, y + 4.0, Anchor::End, Tone::Muted, &label);
        }
        // Group after group in the markup, so that a group's name needs saying once.
        for (group, name) in &self.groups {
            svg.raw(&format!("<g><title>{}</title>", escape(name)));
            for ([x, y], _) in points().filter(|p| p.1 == *group) {
                svg.marker(Some(*group), across.at(*x), up.at(*y), 3.0, "");
            }
            svg.raw("</g>");
        }
        let bottom = TOP + SIDE + 32.0;
        let axes = format!("across: {} · up: {}", self.axes[0], self.axes[1]);
        svg.text(
            LEFT + SIDE / 2.0,
            bottom,
            Anchor::Middle,
            Tone::Muted,
            &axes,
        );
        let entries: Vec<(Key, String)> = self
            .groups
            .iter()
            // Nobody finds one of so many signs in a legend; the groups say their names under the
            // pointer.
            .filter(|_| self.groups.len() <= LEGEND)
            .map(|(group, name)| (Key::Marker(Some(*group)), name.clone()))
            .collect();
        let used = legend(&mut svg, &entries, 8.0, bottom + 6.0);
        svg.finish(bottom + 12.0 + used)
    }
}
