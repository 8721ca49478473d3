//! SVG elements written to a string. Colours are attributes, so that any program shows the light
//! version; the style sheet turns classes dark where the reader's screen is.

use super::colour;
use super::text::{escape, width};
use std::fmt::Write;

/// Size of the text in figures.
pub(in crate::report) const TEXT: f64 = 11.0;

/// How much a figure may shrink. Figures are at most [`WIDTH`] wide where their content allows it,
/// and 360 px is what a phone leaves to them.
const LEAST: f64 = 0.75;

/// How wide most figures are: two stand side by side on a screen and on paper, one fits a phone.
pub(in crate::report) const WIDTH: f64 = 480.0;

/// What figures look like in the dark; part of the page and of every file.
pub(in crate::report) const DARK_RULES: &str = ".ink{fill:#e8e8e8}.muted{fill:#b0b4b8}.axis{stroke:#9a9ea3}.grid{stroke:#3a3f44}.s6{color:#\
     e8e8e8}.head{stroke:#d0d0d0}.band{fill:#e8e8e8}.paper-bg{fill:#16191c}.on-paper{stroke:#\
     16191c}";

/// What figures share in any light.
pub(in crate::report) const RULES: &str = "svg.figure text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu \
     Sans',sans-serif;font-size:11px}svg.figure .bold{font-weight:600}svg.figure \
     .small{font-size:8.5px}";

/// Size of small text.
pub(in crate::report) const SMALL: f64 = 8.5;

/// Where a text hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Anchor {
    Start,
    Middle,
    End,
}

/// The colour of a text.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) enum Tone {
    Ink,
    Bold,
    Muted,
    /// On a coloured field.
    Fixed(&'static str),
    /// Small, on a picture: dark with a light seam in any light.
    Label,
    /// Small, on the paper, with a seam of its colour.
    Small,
}

/// A finished drawing.
#[derive(Debug, Clone)]
pub(in crate::report) struct Drawing {
    width: f64,
    height: f64,
    body: String,
}

/// A drawing in the making.
#[derive(Debug)]
pub(in crate::report) struct Svg {
    pub width: f64,
    body: String,
}

/// A number as an attribute: two decimals at most, never `NaN`.
pub(in crate::report) fn n(x: f64) -> String {
    let x = if x.is_finite() { x } else { 0.0 };
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".into()
    } else {
        text.to_owned()
    }
}

impl Svg {
    pub(in crate::report) fn new(width: f64) -> Self {
        let body = String::new();
        Self { width, body }
    }

    pub(in crate::report) fn finish(self, height: f64) -> Drawing {
        Drawing {
            width: self.width,
            height,
            body: self.body,
        }
    }

    fn add(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.body.write_fmt(arguments);
    }

    pub(in crate::report) fn text(
        &mut self,
        x: f64,
        y: f64,
        anchor: Anchor,
        tone: Tone,
        text: &str,
    ) {
        self.write_text((x, y), anchor, tone, text, false);
    }

    fn write_text(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        tone: Tone,
        text: &str,
        upward: bool,
    ) {
        if text.trim().is_empty() {
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (class, fill) = match tone {
            Tone::Ink => ("ink", "#1a1a1a"),
            Tone::Bold => ("ink bold", "#1a1a1a"),
            Tone::Muted => ("muted", "#5a5f66"),
            Tone::Fixed(colour) => ("", colour),
            Tone::Label => ("small", "#111111"),
            Tone::Small => ("ink small on-paper", "#1a1a1a"),
        };
        let class = if class.is_empty() {
            String::new()
        } else {
            format!(" class=\"{class}\"")
        };
        let (size, seam) = match tone {
            Tone::Label => (
                SMALL,
                " stroke=\"#ffffff\" stroke-opacity=\"0.75\" stroke-width=\"2\" \
                 paint-order=\"stroke\" stroke-linejoin=\"round\"",
            ),
            Tone::Small => (
                SMALL,
                " stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\" \
                 stroke-linejoin=\"round\"",
            ),
            _ => (TEXT, ""),
        };
        let turn = if upward {
            format!(" transform=\"rotate(-90 {} {})\"", n(x), n(y))
        } else {
            String::new()
        };
        self.add(format_args!(
            "<text x=\"{}\" y=\"{}\"{anchor}{class}{seam}{turn} fill=\"{fill}\" \
             font-size=\"{}\">{}</text>",
            n(x),
            n(y),
            n(size),
            escape(text)
        ));
    }

    /// A text that is read upwards and starts at the place.
    pub(in crate::report) fn text_up(&mut self, x: f64, y: f64, tone: Tone, text: &str) {
        self.write_text((x, y), Anchor::Start, tone, text, true);
    }

    /// A text that stays within the drawing, as near to the middle `x` as it can.
    pub(in crate::report) fn text_within(&mut self, x: f64, y: f64, tone: Tone, text: &str) {
        let half = width(text, TEXT) / 2.0;
        let x = x.min(self.width - half - 1.0).max(half + 1.0);
        self.text(x, y, Anchor::Middle, tone, text);
    }

    /// A line of the axes (`axis`) or of the grid behind (`grid`).
    pub(in crate::report) fn rule(&mut self, class: &str, [x1, y1, x2, y2]: [f64; 4], dash: bool) {
        let stroke = if class == "grid" {
            "#dcdfe3"
        } else {
            "#6a6f76"
        };
        let dash = if dash {
            " stroke-dasharray=\"4 3\""
        } else {
            ""
        };
        self.add(format_args!(
            "<path class=\"{class}\" stroke=\"{stroke}\"{dash} fill=\"none\" d=\"M{} {}L{} {}\"/>",
            n(x1),
            n(y1),
            n(x2),
            n(y2)
        ));
    }

    pub(in crate::report) fn rect(&mut self, [x, y, w, h]: [f64; 4], fill: &str) {
        self.add(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"/>",
            n(x),
            n(y),
            n(w.max(0.0)),
            n(h.max(0.0))
        ));
    }

    /// An empty field: its frame alone.
    pub(in crate::report) fn frame(&mut self, [x, y, w, h]: [f64; 4]) {
        self.add(format_args!(
            "<rect class=\"grid\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" \
             stroke=\"#dcdfe3\"/>",
            n(x),
            n(y),
            n(w.max(0.0)),
            n(h.max(0.0))
        ));
    }

    /// A polyline in the colour of a category.
    pub(in crate::report) fn curve(&mut self, points: &[(f64, f64)], style: Stroke) {
        if points.len() < 2 {
            return;
        }
        let mut d = String::new();
        for (i, &(x, y)) in points.iter().enumerate() {
            let _ = write!(d, "{}{} {}", if i == 0 { 'M' } else { 'L' }, n(x), n(y));
        }
        let dash = if style.dash == 0 {
            String::new()
        } else {
            format!(" stroke-dasharray=\"{} 3\"", 2 * style.dash)
        };
        self.add(format_args!(
            "<path{} stroke=\"currentColor\" stroke-width=\"{}\" stroke-opacity=\"{}\" \
             stroke-linejoin=\"round\"{dash} fill=\"none\" d=\"{d}\"/>",
            paint(style.category),
            n(style.width),
            n(style.opacity)
        ));
    }

    /// A marker; its shape follows the category too.
    pub(in crate::report) fn marker(
        &mut self,
        category: Option<usize>,
        x: f64,
        y: f64,
        r: f64,
        hover: &str,
    ) {
        let shape = marker_path(category.unwrap_or(0), x, y, r);
        let hover = if hover.is_empty() {
            "/>".to_owned()
        } else {
            format!("><title>{}</title></path>", escape(hover))
        };
        self.add(format_args!(
            "<path{} {} d=\"{shape}\"{hover}",
            paint(category),
            filling(category.unwrap_or(0))
        ));
    }

    /// Anything else, already written.
    pub(in crate::report) fn raw(&mut self, element: &str) {
        self.body.push_str(element);
    }
}

/// How a curve looks.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) struct Stroke {
    /// Grey where there is none.
    pub category: Option<usize>,
    pub width: f64,
    pub opacity: f64,
    /// 0 is a full line.
    pub dash: usize,
}

/// Class and colour of a category.
fn paint(category: Option<usize>) -> String {
    match category {
        Some(i) => format!(
            " class=\"s{}\" color=\"{}\"",
            i % colour::CATEGORIES,
            colour::category(i).hex()
        ),
        None => " color=\"#7d838a\"".into(),
    }
}

/// Full markers for the first 56 categories (each pair of a colour and a shape once), hollow ones
/// for the next 56.
fn filling(category: usize) -> &'static str {
    if (category / 56).is_multiple_of(2) {
        "fill=\"currentColor\" fill-opacity=\"0.85\""
    } else {
        "fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.2\""
    }
}

/// Eight shapes, which share no divisor with the seven colours.
fn marker_path(category: usize, x: f64, y: f64, r: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let mut d = String::new();
        for (i, (dx, dy)) in corners.iter().enumerate() {
            let _ = write!(
                d,
                "{}{} {}",
                if i == 0 { 'M' } else { 'L' },
                n(x + dx * r),
                n(y + dy * r)
            );
        }
        d + "Z"
    };
    match category % 8 {
        0 => format!(
            "M{} {}a{r} {r} 0 1 0 {} 0a{r} {r} 0 1 0 {} 0Z",
            n(x - r),
            n(y),
            n(2.0 * r),
            n(-2.0 * r),
            r = n(r)
        ),
        1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => polygon(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        3 => polygon(&[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)]),
        4 => polygon(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
        5 => polygon(&[
            (-0.4, -1.2),
            (0.4, -1.2),
            (0.4, -0.4),
            (1.2, -0.4),
            (1.2, 0.4),
            (0.4, 0.4),
            (0.4, 1.2),
            (-0.4, 1.2),
            (-0.4, 0.4),
            (-1.2, 0.4),
            (-1.2, -0.4),
            (-0.4, -0.4),
        ]),
        6 => polygon(&[(-1.2, -0.45), (1.2, -0.45), (1.2, 0.45), (-1.2, 0.45)]),
        _ => polygon(&[(-0.45, -1.2), (0.45, -1.2), (0.45, 1.2), (-0.45, 1.2)]),
    }
}

impl Drawing {
    /// How much of a line on paper it takes.
    pub(in crate::report) fn size(&self) -> &'static str {
        match self.width {
            ..260.0 => "small",
            260.0..450.0 => "medium",
            _ => "large",
        }
    }

    /// As part of a page, whose style sheet has the rules.
    pub(in crate::report) fn inline(&self, title: &str, alt: &str) -> String {
        // On a narrow screen a figure shrinks before it has to be scrolled; smaller, its text could
        // not be read.
        let least = format!(" style=\"min-width:{}px\"", n((LEAST * self.width).floor()));
        self.element(&least, title, alt, "")
    }

    /// As a file of its own.
    pub(in crate::report) fn standalone(&self, title: &str, alt: &str) -> String {
        let style = format!(
            "<style>{RULES}@media screen and \
             (prefers-color-scheme:dark){{{DARK_RULES}}}</style><rect class=\"paper-bg\" \
             width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
        );
        self.element(" xmlns=\"http://www.w3.org/2000/svg\"", title, alt, &style)
    }

    fn element(&self, attributes: &str, title: &str, alt: &str, style: &str) -> String {
        let (w, h) = (n(self.width.ceil()), n(self.height.ceil()));
        let (title, alt) = (escape(title), escape(alt));
        format!(
            "<svg{attributes} class=\"figure\" role=\"img\" aria-label=\"{title}. {alt}\" \
             width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} \
             {h}\"><title>{title}</title><desc>{alt}</desc>{style}{}</svg>",
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_finite() {
        assert_eq!(n(1.0), "1");
        assert_eq!(n(1.2345), "1.23");
        assert_eq!(n(-0.001), "0");
        assert_eq!(n(100.0), "100");
        assert_eq!(n(f64::NAN), "0");
    }

    #[test]
    fn a_hundred_categories_do_not_repeat() {
        let mut seen = std::collections::HashSet::new();
        for i in 0..100 {
            assert!(
                seen.insert((paint(Some(i)), filling(i), marker_path(i, 0.0, 0.0, 3.0))),
                "{i}"
            );
        }
    }
}
