//! The drawing layer: text, colours, axes and SVG elements.

pub(super) mod axis;
pub(super) mod colour;
pub(super) mod legend;
pub(super) mod png;
pub(super) mod spline;
pub(super) mod svg;
pub(super) mod text;
