//! Operators of a model as points on rooflines, one for each phase: the area of a point is its share of the time.

use super::{BELOW, Frame, LEFT, MARGIN, Scene, ScenePoint, Size, ranges};
use crate::geometry::Rect;
use crate::roofline::Roofline;

/// Radius of a point that has all of the time.
const WHOLE: f64 = 22.0;
/// Radius of the smallest point.
const SMALLEST: f64 = 3.0;
/// Room for the name of a panel.
const HEAD: f64 = 20.0;
/// Space between two panels beside each other, and for the numbers below one that stands above another.
const BESIDE: f64 = 28.0;
const BENEATH: f64 = 26.0;
/// Width over height from which the panels stand beside each other.
const WIDE: f64 = 1.25;

/// The operators of a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatorPanel {
    /// Name of the phase.
    pub name: &'static str,
    pub chart: Roofline,
    /// Shares of the time of the phase, from 0 to 1, in the order of the points.
    pub shares: Vec<f64>,
}

impl Scene {
    /// A roofline for each phase with a point for each operator, on the same axes. A point without a share is small. Points may
    /// overlap, large ones below.
    pub fn of_operators(panels: &[OperatorPanel; 2], size: Size, focus: Option<&str>) -> Self {
        let axes = ranges(panels.iter().map(|panel| &panel.chart));
        let is_wide = size.width >= WIDE * size.height;
        let mut scene = Self::empty(size);
        scene.plot = whole(size);
        for (place, panel) in panels.iter().enumerate() {
            let frame = Frame::within(size, part(size, is_wide, place), axes);
            if place == 0 || !is_wide {
                scene.labels.extend(frame.y_numbers());
                scene.labels.push(frame.y_name());
            }
            if place == 0 {
                scene.labels.push(frame.x_name(&scene.plot));
            }
            scene.draw_panel(&frame, panel, focus);
        }
        scene
    }

    fn draw_panel(&mut self, frame: &Frame, panel: &OperatorPanel, focus: Option<&str>) {
        let chart = &panel.chart;
        let mut points = frame.points(chart, focus);
        for point in &mut points {
            let place = chart.points.iter().position(|input| input.key == point.key);
            let share = place.and_then(|place| panel.shares.get(place)).copied().unwrap_or(0.0);
            point.radius = (WHOLE * share.clamp(0.0, 1.0).sqrt()).max(SMALLEST);
            point.ringed = true;
        }
        let points = large_ones_first(points);
        let mut lines = frame.grid();
        lines.extend(frame.ridge_drops(chart));
        lines.extend(frame.roof_lines(chart));
        lines.extend(frame.ties(chart, focus));
        self.wash.push(frame.wash(chart));
        self.labels.push(frame.heading(panel.name));
        self.labels.extend(frame.x_numbers());
        self.labels.extend(frame.inner_labels(chart, &points, &lines));
        self.lines.extend(lines);
        self.points.extend(points);
    }
}

/// The part of the picture inside the outermost axes.
fn whole(size: Size) -> Rect {
    Rect {
        left: LEFT,
        top: MARGIN + HEAD,
        right: (size.width - MARGIN).max(LEFT + 2.0 + BESIDE),
        bottom: (size.height - BELOW).max(MARGIN + 2.0 * HEAD + BENEATH + 2.0),
    }
}

/// The plot of a panel: the left or the upper one, or the other.
fn part(size: Size, is_wide: bool, place: usize) -> Rect {
    let all = whole(size);
    if is_wide {
        let width = (all.right - all.left - BESIDE) / 2.0;
        let left = all.left + place as f64 * (width + BESIDE);
        Rect { left, right: left + width, ..all }
    } else {
        let height = (all.bottom - all.top - BENEATH - HEAD) / 2.0;
        let top = all.top + place as f64 * (height + BENEATH + HEAD);
        Rect { top, bottom: top + height, ..all }
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
