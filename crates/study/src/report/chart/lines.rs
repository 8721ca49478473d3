//! Curves over epochs in panels one above the other, which share the horizontal axis.

use super::super::base::axis::{Scale, extent};
use super::super::base::legend::{Key, legend};
use super::super::base::svg::{Anchor, Drawing, Stroke, Svg, Tone};

/// A curve.
#[derive(Debug)]
pub(in crate::report) struct Line {
    pub points: Vec<(f64, f64)>,
    pub stroke: Stroke,
    /// Whether each point has a marker.
    pub dots: bool,
}

/// Curves with a common vertical axis.
#[derive(Debug)]
pub(in crate::report) struct Panel {
    pub title: &'static str,
    pub lines: Vec<Line>,
    pub legend: Vec<(Key, String)>,
}

const WIDTH: f64 = 340.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 330.0;
const HEIGHT: f64 = 110.0;

/// The panels, one above the other; those without a curve are left out.
pub(in crate::report) fn draw(panels: &[Panel], axis: &str) -> Drawing {
    let mut svg = Svg::new(WIDTH);
    let panels: Vec<&Panel> = panels.iter().filter(|p| !p.lines.is_empty()).collect();
    let points = || panels.iter().flat_map(|p| &p.lines).flat_map(|l| &l.points);
    let last = points()
        .map(|p| p.0)
        .filter(|x| x.is_finite())
        .fold(1.0, f64::max);
    let across = Scale::new((0.0, last), (LEFT, RIGHT));
    let mut top = 4.0;
    for panel in &panels {
        svg.text(LEFT, top + 10.0, Anchor::Start, Tone::Bold, panel.title);
        let used = legend(&mut svg, &panel.legend, LEFT, top + 12.0);
        top += 20.0 + used;
        let values = panel.lines.iter().flat_map(|l| &l.points).map(|p| p.1);
        let up = Scale::new(extent(values), (top + HEIGHT, top));
        for (value, label) in up.ticks(4) {
            let y = up.at(value);
            svg.rule("grid", [LEFT, y, RIGHT, y], false);
            svg.text(LEFT - 6.0, y + 4.0, Anchor::End, Tone::Muted, &label);
        }
        svg.rule("axis", [LEFT, top, LEFT, top + HEIGHT], false);
        svg.rule("axis", [LEFT, top + HEIGHT, RIGHT, top + HEIGHT], false);
        for line in &panel.lines {
            // A value that does not exist interrupts the curve.
            for run in line.points.split(|p| !p.1.is_finite()) {
                let run: Vec<(f64, f64)> =
                    run.iter().map(|p| (across.at(p.0), up.at(p.1))).collect();
                svg.curve(&run, line.stroke);
                for &(x, y) in run.iter().filter(|_| line.dots) {
                    svg.marker(line.stroke.category, x, y, 3.4, "");
                }
            }
        }
        top += HEIGHT + 12.0;
    }
    for (value, label) in across.ticks(6).into_iter().filter(|t| t.0.fract() == 0.0) {
        let x = across.at(value);
        svg.rule("axis", [x, top - 12.0, x, top - 8.0], false);
        svg.text_within(x, top + 5.0, Tone::Muted, &label);
    }
    svg.text(
        f64::midpoint(LEFT, RIGHT),
        top + 22.0,
        Anchor::Middle,
        Tone::Muted,
        axis,
    );
    svg.finish(top + 28.0)
}
