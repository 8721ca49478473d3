//! Legends that flow into lines.

use super::svg::{Anchor, Stroke, Svg, TEXT, Tone};
use super::text::{shorten, width};

/// The sign before a name.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) enum Key {
    Marker(Option<usize>),
    Line(Stroke),
    /// A mean with its standard deviation.
    Mean,
}

/// Width a name may take.
const NAME: f64 = 190.0;
const LINE: f64 = 18.0;

/// Draws the entries from `x` on, in as many lines as they need, and gives the height used.
pub(in crate::report) fn legend(
    svg: &mut Svg,
    entries: &[(Key, String)],
    left: f64,
    top: f64,
) -> f64 {
    if entries.is_empty() {
        return 0.0;
    }
    let (mut x, mut y) = (left, top + LINE - 5.0);
    for (key, name) in entries {
        let name = shorten(name, NAME, TEXT);
        let sign = if matches!(key, Key::Marker(_)) {
            12.0
        } else {
            26.0
        };
        let room = sign + width(&name, TEXT) + 16.0;
        if x > left && x + room > svg.width {
            x = left;
            y += LINE;
        }
        let middle = y - 4.0;
        match *key {
            Key::Marker(category) => svg.marker(category, x + 4.0, middle, 3.5, ""),
            Key::Line(stroke) => svg.curve(&[(x, middle), (x + 20.0, middle)], stroke),
            Key::Mean => mean(svg, (x, x + 10.0, x + 20.0), middle),
        }
        svg.text(x + sign, y, Anchor::Start, Tone::Ink, &name);
        x += room;
    }
    y + 6.0 - top
}

/// The sign of a mean ± standard deviation.
pub(in crate::report) fn mean(svg: &mut Svg, (low, middle, high): (f64, f64, f64), y: f64) {
    let ink = Stroke {
        category: Some(6),
        width: 1.5,
        opacity: 1.0,
        dash: 0,
    };
    svg.curve(&[(low, y), (high, y)], ink);
    svg.curve(
        &[(middle, y - 5.0), (middle, y + 5.0)],
        Stroke { width: 3.0, ..ink },
    );
}
