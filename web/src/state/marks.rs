//! Marks of formats as SVG polygons.

use chart::geometry::Spot;
use chart::mark::Shape;
use report::number_text::typed;

/// Corners of a mark around the origin, in SVG syntax; `None` for a circle.
pub fn mark_corners(shape: Shape) -> Option<String> {
    let corners = shape.corners(Spot { x: 0.0, y: 0.0 }, 1.0)?;
    let written: Vec<String> =
        corners.iter().map(|Spot { x, y }| format!("{},{}", typed(*x), typed(*y))).collect();
    Some(written.join(" "))
}
