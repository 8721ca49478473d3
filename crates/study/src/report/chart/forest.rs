//! Differences between two methods, person by person, largest first, each with its interval, and
//! their mean: a row per person where there are few, a column per person where there are many.

use super::super::base::axis::{Scale, extent};
use super::super::base::svg::{Anchor, Drawing, Stroke, Svg, TEXT, Tone, WIDTH, n};
use super::super::base::text::{count, shorten, signed, width};

/// One person.
#[derive(Debug)]
pub(in crate::report) struct Difference {
    pub name: String,
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

/// The chart; people come sorted.
#[derive(Debug)]
pub(in crate::report) struct Forest {
    pub people: Vec<Difference>,
    pub mean: f64,
    pub interval: Option<(f64, f64)>,
    pub axis: String,
}

/// Up to so many people have a row with their name.
const NAMED: usize = 16;
const ROW: f64 = 17.0;
const NAMES: f64 = 120.0;
const HEIGHT: f64 = 250.0;

/// Gains and losses have the colours and shapes of the first two categories.
fn category(value: f64) -> usize {
    usize::from(value < 0.0)
}

fn whisker(value: f64) -> Stroke {
    Stroke {
        category: Some(category(value)),
        width: 1.3,
        opacity: 0.6,
        dash: 0,
    }
}

impl Forest {
    pub(in crate::report) fn draw(&self) -> Drawing {
        if self.people.len() <= NAMED {
            self.rows()
        } else {
            self.columns()
        }
    }

    fn range(&self) -> (f64, f64) {
        let of = |value: f64, interval: Option<(f64, f64)>| {
            let (low, high) = interval.unwrap_or((value, value));
            [value, low, high]
        };
        let people = self.people.iter().flat_map(|p| of(p.value, p.interval));
        extent(people.chain(of(self.mean, self.interval)).chain([0.0]))
    }

    /// The mean's band, behind everything.
    fn band(svg: &mut Svg, [x, y, w, h]: [f64; 4]) {
        svg.raw(&format!(
            "<rect class=\"band\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#1a1a1a\" \
             fill-opacity=\"0.09\"/>",
            n(x),
            n(y),
            n(w.max(0.0)),
            n(h.max(0.0))
        ));
    }

    fn hover(person: &Difference) -> String {
        let interval = person.interval.map_or(String::new(), |(low, high)| {
            format!(" ({} to {})", signed(low, 3), signed(high, 3))
        });
        format!("{}: {}{interval}", person.name, signed(person.value, 3))
    }

    fn rows(&self) -> Drawing {
        let mut svg = Svg::new(WIDTH);
        let names = self.people.iter().map(|p| shorten(&p.name, NAMES, TEXT));
        let names: Vec<String> = names.collect();
        let widest = names
            .iter()
            .map(|l| width(l, TEXT))
            .fold(width("mean", TEXT) + 4.0, f64::max);
        let (left, right) = (widest + 14.0, WIDTH - 54.0);
        let top = 8.0;
        let bottom = top + ROW * (self.people.len() + 1) as f64 + 6.0;
        let scale = Scale::new(self.range(), (left + 4.0, right - 4.0));
        let at = |v: f64| scale.at(v);
        if let Some((low, high)) = self.interval {
            Self::band(&mut svg, [at(low), top, at(high) - at(low), bottom - top]);
        }
        for (value, label) in scale.ticks(5) {
            svg.rule("grid", [at(value), top, at(value), bottom], false);
            svg.text_within(at(value), bottom + 15.0, Tone::Muted, &label);
        }
        svg.rule("axis", [at(0.0), top, at(0.0), bottom], false);
        svg.rule("axis", [left, bottom, right, bottom], false);
        for (r, (person, name)) in self.people.iter().zip(&names).enumerate() {
            let y = top + ROW * (r as f64 + 0.5);
            svg.text(left - 8.0, y + 4.0, Anchor::End, Tone::Ink, name);
            if let Some((low, high)) = person.interval {
                svg.curve(&[(at(low), y), (at(high), y)], whisker(person.value));
            }
            let hover = Self::hover(person);
            svg.marker(
                Some(category(person.value)),
                at(person.value),
                y,
                3.6,
                &hover,
            );
            let figure = signed(person.value, 3);
            svg.text(WIDTH - 4.0, y + 4.0, Anchor::End, Tone::Muted, &figure);
        }
        let y = bottom - ROW / 2.0;
        svg.text(left - 8.0, y + 4.0, Anchor::End, Tone::Bold, "mean");
        self.mean_line(&mut svg, |v| (at(v), y), true);
        svg.text(
            WIDTH - 4.0,
            y + 4.0,
            Anchor::End,
            Tone::Bold,
            &signed(self.mean, 3),
        );
        let axis = shorten(&self.axis, WIDTH - 8.0, TEXT);
        svg.text_within(
            f64::midpoint(left, right),
            bottom + 33.0,
            Tone::Muted,
            &axis,
        );
        svg.finish(bottom + 40.0)
    }

    /// The mean and its interval, along a line or as a cross of it.
    fn mean_line(&self, svg: &mut Svg, place: impl Fn(f64) -> (f64, f64), flat: bool) {
        let ink = Stroke {
            category: Some(6),
            width: 2.4,
            opacity: 1.0,
            dash: 0,
        };
        if let Some((low, high)) = self.interval {
            svg.curve(&[place(low), place(high)], ink);
        }
        let (x, y) = place(self.mean);
        let (dx, dy) = if flat { (0.0, 6.0) } else { (6.0, 0.0) };
        svg.curve(
            &[(x - dx, y - dy), (x + dx, y + dy)],
            Stroke { width: 3.2, ..ink },
        );
    }

    fn columns(&self) -> Drawing {
        let mut svg = Svg::new(WIDTH);
        let (left, right, top) = (44.0, WIDTH - 66.0, 10.0);
        let bottom = top + HEIGHT;
        let up = Scale::new(self.range(), (bottom - 2.0, top + 2.0));
        if let Some((low, high)) = self.interval {
            let height = up.at(low) - up.at(high);
            Self::band(&mut svg, [left, up.at(high), right - left, height]);
        }
        for (value, label) in up.ticks(6) {
            let y = up.at(value);
            svg.rule("grid", [left, y, right, y], false);
            svg.text(left - 6.0, y + 4.0, Anchor::End, Tone::Muted, &label);
        }
        svg.rule("axis", [left, up.at(0.0), right, up.at(0.0)], false);
        svg.rule("axis", [left, top, left, bottom], false);
        let step = (right - left) / self.people.len().max(1) as f64;
        let radius = (0.42 * step).clamp(1.0, 3.4);
        for (i, person) in self.people.iter().enumerate() {
            let x = left + step * (i as f64 + 0.5);
            if let Some((low, high)) = person.interval {
                let stroke = Stroke {
                    width: (0.4 * step).clamp(0.7, 1.6),
                    ..whisker(person.value)
                };
                svg.curve(&[(x, up.at(low)), (x, up.at(high))], stroke);
            }
            let hover = Self::hover(person);
            svg.marker(
                Some(category(person.value)),
                x,
                up.at(person.value),
                radius,
                &hover,
            );
        }
        self.mean_line(&mut svg, |v| (right + 8.0, up.at(v)), false);
        svg.text(
            WIDTH - 2.0,
            up.at(self.mean) + 4.0,
            Anchor::End,
            Tone::Bold,
            &signed(self.mean, 3),
        );
        let people = format!(
            "{}, largest difference first",
            count(self.people.len(), "subject")
        );
        svg.text_within(
            f64::midpoint(left, right),
            bottom + 16.0,
            Tone::Muted,
            &people,
        );
        let axis = shorten(&format!("up: {}", self.axis), WIDTH - 8.0, TEXT);
        svg.text_within(
            f64::midpoint(left, right),
            bottom + 33.0,
            Tone::Muted,
            &axis,
        );
        svg.finish(bottom + 40.0)
    }
}
