//! Operators of a model as points on the roofline: the area of a point is its share of the time.

use super::{Frame, Hollow, Scene, ScenePoint, Size};
use crate::roofline::Roofline;

/// Radius of a point that has all of the time.
const WHOLE: f64 = 26.0;
/// Radius of the smallest point.
const SMALLEST: f64 = 3.0;

impl Scene {
    /// The roofline with a point for each operator. `shares` are those of the points of the chart, from 0 to 1; a point
    /// without one is small. They may overlap, large ones below.
    pub fn of_operators(chart: &Roofline, shares: &[f64], size: Size, focus: Option<&str>) -> Self {
        let frame = Frame { hollow: Hollow::Decode, ..Frame::new(chart, size) };
        let mut points = frame.points(chart, focus);
        for point in &mut points {
            let place = chart.points.iter().position(|input| input.key == point.key);
            let share = place.and_then(|place| shares.get(place)).copied().unwrap_or(0.0);
            point.radius = (WHOLE * share.clamp(0.0, 1.0).sqrt()).max(SMALLEST);
            point.ringed = true;
        }
        let points = large_ones_first(points);
        let roofs = frame.roof_lines(chart);
        let mut lines = frame.grid();
        lines.extend(frame.ridge_drops(chart));
        lines.extend(roofs.iter().cloned());
        lines.extend(frame.ties(chart, focus));
        let mut labels = frame.axis_labels();
        labels.extend(frame.inner_labels(chart, &points, &roofs));
        Self { size, plot: frame.plot, wash: frame.wash(chart), lines, points, labels }
    }
}

/// Inserts by hand, because a sort of the standard library adds kilobytes to the page.
fn large_ones_first(points: Vec<ScenePoint>) -> Vec<ScenePoint> {
    let mut ordered: Vec<ScenePoint> = Vec::with_capacity(points.len());
    for point in points {
        let place = ordered.partition_point(|other| other.radius >= point.radius);
        ordered.insert(place, point);
    }
    ordered
}
