//! A matrix of coloured fields with its colour scale.

use super::super::base::axis::Scale;
use super::super::base::colour::Rgb;
use super::super::base::svg::{Anchor, Drawing, Svg, TEXT, Tone};
use super::super::base::text::{escape, figure, shorten, width};

/// The chart.
#[derive(Debug)]
pub(in crate::report) struct Matrix {
    pub row_title: &'static str,
    pub column_title: &'static str,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// Rows of values; what does not exist is left empty.
    pub values: Vec<Vec<Option<f64>>>,
    /// What the fields say, line by line; empty for nothing.
    pub texts: Vec<Vec<Vec<String>>>,
    pub cell: (f64, f64),
    /// The values of the ends of the colour scale.
    pub range: (f64, f64),
    pub colour: fn(f64) -> Rgb,
    /// What the colours mean; empty where the fields say it themselves.
    pub scale: String,
    pub digits: usize,
}

/// Names of rows and columns are cut beyond this.
const NAMES: f64 = 230.0;
const BAR: f64 = 140.0;
/// Columns whose names do not fit side by side into this have them upright.
const ACROSS: f64 = 330.0;

impl Matrix {
    pub(in crate::report) fn draw(&self) -> Drawing {
        let (mut w, h) = self.cell;
        let heads: Vec<String> = (self.columns.iter())
            .map(|l| shorten(l, NAMES, TEXT))
            .collect();
        let longest = heads.iter().map(|l| width(l, TEXT)).fold(0.0, f64::max);
        let flat = longest + 6.0 <= w || (longest + 6.0) * heads.len() as f64 <= ACROSS;
        if flat {
            w = w.max(longest + 6.0);
        }
        // Narrow columns cannot have names at all.
        let named = w >= TEXT + 1.0;
        let names: Vec<String> = self.rows.iter().map(|l| shorten(l, NAMES, TEXT)).collect();
        let widest = names
            .iter()
            .map(|l| width(l, TEXT))
            .fold(width(self.row_title, TEXT), f64::max);
        let left = widest + 12.0;
        let right = left + w * self.columns.len() as f64;
        let title = left + width(self.column_title, TEXT);
        let bar = match self.scale.as_str() {
            "" => 0.0,
            scale => (BAR + 60.0).max(width(scale, TEXT) + 10.0),
        };
        let mut svg = Svg::new(right.max(title).max(bar) + 8.0);
        let top = match (named, flat) {
            (true, false) => 26.0 + longest,
            (true, true) => 38.0,
            (false, _) => 22.0,
        };
        svg.text(left, 12.0, Anchor::Start, Tone::Muted, self.column_title);
        let beside = if named { top - 8.0 } else { 12.0 };
        svg.text(left - 8.0, beside, Anchor::End, Tone::Muted, self.row_title);
        for (c, name) in heads.iter().enumerate().filter(|_| named) {
            let x = left + w * (c as f64 + 0.5);
            if flat {
                svg.text(x, top - 8.0, Anchor::Middle, Tone::Ink, name);
            } else {
                svg.text_up(x + 4.0, top - 5.0, Tone::Ink, name);
            }
        }
        for (r, name) in names.iter().enumerate() {
            let y = top + h * r as f64;
            svg.text(left - 8.0, y + h / 2.0 + 4.0, Anchor::End, Tone::Ink, name);
            for c in 0..self.columns.len() {
                let place = [left + w * c as f64, y, w, h];
                if named {
                    self.field(&mut svg, r, c, place);
                } else {
                    let hover = format!("<g><title>{}</title>", escape(&self.columns[c]));
                    svg.raw(&hover);
                    self.field(&mut svg, r, c, place);
                    svg.raw("</g>");
                }
            }
        }
        let bottom = top + h * self.rows.len().max(1) as f64;
        if self.scale.is_empty() {
            return svg.finish(bottom + 4.0);
        }
        let used = colour_bar(
            &mut svg,
            bottom + 14.0,
            self.range,
            self.colour,
            &self.scale,
            self.digits,
        );
        svg.finish(bottom + 14.0 + used)
    }

    fn field(&self, svg: &mut Svg, r: usize, c: usize, [x, y, w, h]: [f64; 4]) {
        let value = self
            .values
            .get(r)
            .and_then(|row| row.get(c).copied().flatten());
        let place = [x + 0.5, y + 0.5, w - 1.0, h - 1.0];
        let Some(value) = value.filter(|v| v.is_finite()) else {
            svg.frame(place);
            return;
        };
        let (low, high) = self.range;
        let fill = (self.colour)((value - low) / (high - low));
        svg.rect(place, &fill.hex());
        let lines = self.texts.get(r).and_then(|row| row.get(c));
        let Some(lines) = lines else { return };
        let first = y + h / 2.0 + 4.0 - 7.0 * (lines.len().max(1) - 1) as f64;
        for (i, line) in lines.iter().enumerate() {
            let line = shorten(line, w - 2.0, TEXT);
            let tone = Tone::Fixed(fill.ink());
            svg.text(
                x + w / 2.0,
                first + 14.0 * i as f64,
                Anchor::Middle,
                tone,
                &line,
            );
        }
    }
}

/// A horizontal colour scale with the values of its ends and middle; gives the height used.
pub(in crate::report) fn colour_bar(
    svg: &mut Svg,
    y: f64,
    (low, high): (f64, f64),
    colour: fn(f64) -> Rgb,
    label: &str,
    digits: usize,
) -> f64 {
    const STEPS: usize = 28;
    let left = 28.0;
    svg.text(4.0, y + 9.0, Anchor::Start, Tone::Muted, label);
    let step = BAR / STEPS as f64;
    for i in 0..STEPS {
        let t = (i as f64 + 0.5) / STEPS as f64;
        let place = [left + step * i as f64, y + 16.0, step, 10.0];
        svg.rect(place, &colour(t).hex());
    }
    let scale = Scale::new((low, high), (left, left + BAR));
    for value in [low, f64::midpoint(low, high), high] {
        let x = scale.at(value);
        svg.text(
            x,
            y + 39.0,
            Anchor::Middle,
            Tone::Muted,
            &figure(value, digits),
        );
    }
    46.0
}
