//! Rows of points on one axis: a row per method (or subject, or control), a marker per series,
//! lines between a series' markers where they belong together. Names stand to the left, so that
//! long ones need no turning.

use super::super::base::axis::{Scale, extent};
use super::super::base::legend::{Key, legend, mean};
use super::super::base::svg::{Anchor, Drawing, Stroke, Svg, TEXT, Tone, WIDTH};
use super::super::base::text::{figure, shorten, signed, width};

/// One marker per row.
#[derive(Debug)]
pub(in crate::report) struct Series {
    pub name: String,
    pub values: Vec<Option<f64>>,
    /// Colour and shape; grey where there is none.
    pub category: Option<usize>,
}

/// The chart.
#[derive(Debug)]
pub(in crate::report) struct Rows {
    pub labels: Vec<String>,
    pub series: Vec<Series>,
    /// Mean and standard deviation per row; empty for none.
    pub means: Vec<Option<(f64, f64)>>,
    pub axis: &'static str,
    /// Whether figures are differences, with a sign.
    pub differences: bool,
    /// Lines between the markers of a series.
    pub connect: bool,
    /// Vertical lines.
    pub references: Vec<(f64, String)>,
    pub legend: Vec<(Key, String)>,
    pub row_height: f64,
}

const NAMES: f64 = 190.0;
const REFERENCE_LINE: f64 = 15.0;

impl Rows {
    pub(in crate::report) fn draw(&self) -> Drawing {
        let mut svg = Svg::new(WIDTH);
        let names: Vec<String> = self
            .labels
            .iter()
            .map(|l| shorten(l, NAMES, TEXT))
            .collect();
        let widest = names.iter().map(|l| width(l, TEXT)).fold(20.0, f64::max);
        let values = if self.means.is_empty() { 14.0 } else { 54.0 };
        let (left, right) = (widest + 14.0, WIDTH - values);
        let top = 8.0 + REFERENCE_LINE * self.references.len() as f64;
        let bottom = top + self.row_height * self.labels.len().max(1) as f64;
        let scale = Scale::new(self.range(), (left + 6.0, right - 6.0));

        grid(&mut svg, &scale, (top, bottom));
        for (r, name) in names.iter().enumerate() {
            let y = self.middle(top, r);
            svg.rule("grid", [left, y, right, y], false);
            svg.text(left - 8.0, y + 4.0, Anchor::End, Tone::Ink, name);
        }
        for (i, (value, label)) in self.references.iter().enumerate() {
            let (x, y) = (scale.at(*value), 11.0 + REFERENCE_LINE * i as f64);
            svg.rule("axis", [x, top - 6.0, x, bottom], true);
            svg.text_within(x, y, Tone::Muted, label);
        }
        self.points(&mut svg, &scale, top);
        self.mean_bars(&mut svg, &scale, top);
        svg.text(
            f64::midpoint(left, right),
            bottom + 34.0,
            Anchor::Middle,
            Tone::Muted,
            self.axis,
        );
        let used = legend(&mut svg, &self.legend, 8.0, bottom + 42.0);
        svg.finish(bottom + 46.0 + used)
    }

    fn middle(&self, top: f64, row: usize) -> f64 {
        top + self.row_height * (row as f64 + 0.5)
    }

    fn range(&self) -> (f64, f64) {
        let points = self
            .series
            .iter()
            .flat_map(|s| s.values.iter().flatten().copied());
        let bars = self
            .means
            .iter()
            .flatten()
            .flat_map(|&(m, s)| [m - s, m + s]);
        let references = self.references.iter().map(|r| r.0);
        extent(points.chain(bars).chain(references))
    }

    fn points(&self, svg: &mut Svg, scale: &Scale, top: f64) {
        let stroke = |category| Stroke {
            category,
            width: 1.2,
            opacity: if self.series.len() > 20 { 0.25 } else { 0.6 },
            dash: 0,
        };
        let place = |r: usize, v: &Option<f64>| {
            let v = v.filter(|v| v.is_finite())?;
            Some((scale.at(v), self.middle(top, r)))
        };
        for series in self.series.iter().filter(|_| self.connect) {
            let places = series.values.iter().enumerate().map(|(r, v)| place(r, v));
            // A method without that unit interrupts the line.
            for run in places.collect::<Vec<_>>().split(Option::is_none) {
                let run: Vec<(f64, f64)> = run.iter().flatten().copied().collect();
                svg.curve(&run, stroke(series.category));
            }
        }
        let radius = if self.row_height < 18.0 || self.series.len() > 20 {
            3.0
        } else {
            4.0
        };
        for series in &self.series {
            for (r, (value, row)) in series.values.iter().zip(&self.labels).enumerate() {
                let Some((x, y)) = place(r, value) else {
                    continue;
                };
                let hover = format!("{row}, {}: {}", series.name, self.figure(*value));
                svg.marker(series.category, x, y, radius, &hover);
            }
        }
    }

    fn mean_bars(&self, svg: &mut Svg, scale: &Scale, top: f64) {
        for (r, bar) in self.means.iter().enumerate().take(self.labels.len()) {
            let Some((m, s)) = bar.filter(|b| b.0.is_finite() && b.1.is_finite()) else {
                continue;
            };
            let y = self.middle(top, r);
            mean(
                svg,
                (scale.at(m - s), scale.at(m), scale.at(m + s)),
                y + (self.row_height * 0.28).min(11.0),
            );
            svg.text(
                WIDTH - 4.0,
                y + 4.0,
                Anchor::End,
                Tone::Bold,
                &self.figure(Some(m)),
            );
        }
    }

    fn figure(&self, value: Option<f64>) -> String {
        if self.differences {
            signed(value, 3)
        } else {
            figure(value, 3)
        }
    }
}

/// The axis below, and its ticks as lines through all rows.
pub(super) fn grid(svg: &mut Svg, scale: &Scale, (top, bottom): (f64, f64)) {
    for (value, label) in scale.ticks(5) {
        let x = scale.at(value);
        svg.rule("grid", [x, top, x, bottom], false);
        svg.rule("axis", [x, bottom, x, bottom + 4.0], false);
        svg.text_within(x, bottom + 17.0, Tone::Muted, &label);
    }
    svg.rule(
        "axis",
        [scale.at(f64::MIN), bottom, scale.at(f64::MAX), bottom],
        false,
    );
}
