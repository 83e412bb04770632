//! The roofline as a scene: every line, mark and label with its place, and nothing drawn yet.

use calc_core::math::log10;
use calc_core::quant_format::ComputeClass;
use calc_core::units::FlopsPerSec;

use crate::axis::{AIR, AIR_ABOVE_ROOF, LogAxis, Range};
use crate::geometry::{Rect, Spot, clip};
use crate::mark::{Mark, hue_of_class};
use crate::roofline::{PointInput, Roofline, Sustained};
use crate::theme::Ink;

mod labels;
mod legend;
mod lines;
mod operators;

pub use crate::label::{Anchor, Label};
pub use operators::OperatorPanel;

/// Largest number of points that all have their names beside them; with more, only the focused one has.
pub const NAMED_POINTS: usize = 4;
/// Largest number of measured points that are all tied to their expected rates, and legible together.
pub const TIED_POINTS: usize = 20;
/// Radius of a mark.
const RADIUS: f64 = 6.0;
/// Distance below which marks count as at one place, because one would hide the other.
const SAME: f64 = 7.0;
/// Radii of marks at one place: of the uppermost, how much more each below it has, and of the lowest at most.
const UPPERMOST: f64 = 4.4;
const STEP: f64 = 3.4;
const LOWEST: f64 = 11.0;
/// Width below which details are left out.
const NARROW: f64 = 480.0;
/// Distance from a mark up to which a pointer selects it.
const REACH: f64 = 16.0;
/// Room for the numbers and names of the axes.
const LEFT: f64 = 58.0;
const BELOW: f64 = 46.0;
const MARGIN: f64 = 10.0;

/// Width and height of a picture in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    pub width: f64,
    pub height: f64,
}

/// A stroke from spot to spot.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub path: Vec<Spot>,
    pub ink: Ink,
    pub width: f64,
    /// Lengths drawn and skipped, alternately; `None` is solid.
    pub dash: Option<(f64, f64)>,
}

impl Line {
    fn solid(from: Spot, to: Spot, ink: Ink, width: f64) -> Self {
        Self { path: vec![from, to], ink, width, dash: None }
    }

    fn dashed(from: Spot, to: Spot, ink: Ink, width: f64) -> Self {
        Self { path: vec![from, to], ink, width, dash: Some((5.0, 4.0)) }
    }
}

/// The strokes of lines other than those of the grid, which a text may cross.
pub(crate) fn strokes(lines: &[Line]) -> Vec<(Spot, Spot)> {
    let mut strokes = Vec::new();
    for line in lines.iter().filter(|line| line.ink != Ink::Line) {
        strokes.extend(line.path.windows(2).map(|pair| (pair[0], pair[1])));
    }
    strokes
}

/// A point with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenePoint {
    /// Identifies the point in the program.
    pub key: String,
    pub label: String,
    pub mark: Mark,
    /// Filled for a prediction, hollow for a measurement.
    pub filled: bool,
    /// The place of its intensity and rate, where it is drawn.
    pub at: Spot,
    pub radius: f64,
    /// The point is selected.
    pub focused: bool,
    /// A thin gap separates it from the points below it.
    pub ringed: bool,
}

/// A chart, ready to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    pub size: Size,
    /// The area inside the axes.
    pub plot: Rect,
    /// Corners of the region under the roof, in each panel.
    pub wash: Vec<Vec<Spot>>,
    /// Grid, drop lines, roofs, stubs and ties, in the order of drawing.
    pub lines: Vec<Line>,
    /// Points, the focused one last.
    pub points: Vec<ScenePoint>,
    pub labels: Vec<Label>,
}

impl Scene {
    /// Lays the chart out in a picture. `focus` is the key of the selected point.
    pub fn build(chart: &Roofline, size: Size, focus: Option<&str>) -> Self {
        let frame = Frame::new(chart, size);
        let points = frame.points(chart, focus);
        let mut lines = frame.grid();
        lines.extend(frame.ridge_drops(chart));
        lines.extend(frame.roof_lines(chart));
        lines.extend(frame.ties(chart, focus));
        let mut labels = frame.axis_labels();
        labels.extend(frame.inner_labels(chart, &points, &lines));
        Self { size, plot: frame.plot, wash: vec![frame.wash(chart)], lines, points, labels }
    }

    /// An empty picture.
    pub fn empty(size: Size) -> Self {
        let plot = Rect { left: 0.0, top: 0.0, right: size.width, bottom: size.height };
        Self {
            size,
            plot,
            wash: Vec::new(),
            lines: Vec::new(),
            points: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// The point that a pointer at this spot selects.
    pub fn hit(&self, spot: Spot) -> Option<&ScenePoint> {
        let distance = |point: &ScenePoint| point.at.distance(spot);
        // The last point is drawn uppermost; where several marks are equally near, it is the one that is selected.
        self.points
            .iter()
            .rev()
            .filter(|point| distance(point) <= REACH)
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

/// The axes, and the roofs that follow from them.
struct Frame {
    size: Size,
    plot: Rect,
    x: LogAxis,
    y: LogAxis,
}

impl Frame {
    fn new(chart: &Roofline, size: Size) -> Self {
        let plot = Rect {
            left: LEFT,
            top: MARGIN,
            right: (size.width - MARGIN).max(LEFT + 1.0),
            bottom: (size.height - BELOW).max(MARGIN + 1.0),
        };
        Self::within(size, plot, ranges([chart]))
    }

    /// Axes of these ranges along the edges of a part of the picture.
    fn within(size: Size, plot: Rect, (x, y): (Range, Range)) -> Self {
        Self {
            size,
            plot,
            x: LogAxis { range: x, start: plot.left, end: plot.right },
            y: LogAxis { range: y, start: plot.bottom, end: plot.top },
        }
    }

    /// The rate where a point has its mark: the expected one of a prediction.
    fn marked(point: &PointInput) -> FlopsPerSec {
        if point.filled { point.expected.unwrap_or(point.attained) } else { point.attained }
    }

    /// A narrow picture has room for the datasheet's compute roofs only.
    fn shown_sustained<'a>(
        &self,
        chart: &'a Roofline,
    ) -> impl Iterator<Item = &'a Sustained> + use<'a> {
        let narrow = self.plot.right - self.plot.left < NARROW;
        chart
            .sustained
            .iter()
            .filter(move |roof| !narrow || matches!(roof, Sustained::Bandwidth(_)))
    }

    fn spot(&self, intensity: f64, rate: f64) -> Spot {
        Spot { x: self.x.at(intensity), y: self.y.at(rate) }
    }

    /// The diagonal from the left edge up to a rate.
    fn diagonal(&self, bandwidth: f64, up_to: f64) -> Option<(Spot, Spot)> {
        let start = self.x.range.low;
        let from = Spot { x: self.x.at_log(start), y: self.y.at_log(start + log10(bandwidth)) };
        clip(from, self.spot(up_to / bandwidth, up_to), &self.plot)
    }

    /// The horizontal from the diagonal to the right edge.
    fn horizontal(&self, bandwidth: f64, peak: f64) -> Option<(Spot, Spot)> {
        let ridge = self.spot(peak / bandwidth, peak);
        clip(ridge, Spot { x: self.plot.right, y: ridge.y }, &self.plot)
    }

    fn points(&self, chart: &Roofline, focus: Option<&str>) -> Vec<ScenePoint> {
        let usable = chart.points.iter().filter(|point| {
            let is_positive = |value: f64| value.is_finite() && value > 0.0;
            is_positive(point.intensity.get()) && is_positive(point.attained.get())
        });
        let mut points: Vec<ScenePoint> = usable
            .map(|point| {
                let at = self.spot(point.intensity.get(), Self::marked(point).get());
                ScenePoint {
                    key: point.key.clone(),
                    label: point.label.clone(),
                    mark: point.mark,
                    filled: point.filled,
                    at,
                    radius: RADIUS,
                    focused: focus == Some(point.key.as_str()),
                    ringed: false,
                }
            })
            .collect();
        // The focused one lies on top. (A rotation, because a sort is some kilobytes of page.)
        if let Some(place) = points.iter().position(|point| point.focused) {
            points[place..].rotate_left(1);
        }
        nest(&mut points);
        points
    }
}

/// Marks at one place stay there: each is smaller than the one below it, with a gap around it.
fn nest(points: &mut [ScenePoint]) {
    for place in 0..points.len() {
        let at = points[place].at;
        let is_here = |other: &&ScenePoint| other.at.distance(at) < SAME;
        let above = points[place + 1..].iter().filter(is_here).count();
        let below = points[..place].iter().filter(is_here).count();
        if above + below > 0 {
            points[place].radius = (UPPERMOST + STEP * above as f64).min(LOWEST);
            points[place].ringed = true;
        }
    }
}

/// A measured roof has the color of the datasheet roof that it belongs to.
fn roof_ink(chart: &Roofline, class: ComputeClass) -> Ink {
    let own = chart.roofs.iter().find(|roof| roof.class == class);
    Ink::Hue(hue_of_class(own.map_or(class, |roof| roof.class)))
}

fn highest_roof(chart: &Roofline) -> Option<f64> {
    chart.roofs.iter().map(|roof| roof.peak.get()).reduce(f64::max)
}

/// Values that both ranges must show. Half a FLOP per byte, which is a matrix times a vector in 32 bits, is always in sight: it
/// keeps the slope on the picture, and the ranges where they are while a shape grows.
fn ranges<'a>(charts: impl IntoIterator<Item = &'a Roofline>) -> (Range, Range) {
    let mut values = (Vec::new(), Vec::new());
    for chart in charts {
        let bandwidth = chart.bandwidth.value.get();
        let peaks = || chart.roofs.iter().map(|roof| roof.peak.get());
        let points = || chart.points.iter();
        values.0.extend(
            points()
                .map(|point| point.intensity.get())
                .chain(peaks().map(|peak| peak / bandwidth))
                .chain([0.5]),
        );
        values.1.extend(
            points()
                .flat_map(|point| [Some(point.attained), point.expected])
                .flatten()
                .map(FlopsPerSec::get)
                .chain(peaks())
                .chain([0.4 * bandwidth]),
        );
    }
    (Range::around(values.0, AIR), Range::around(values.1, AIR_ABOVE_ROOF))
}
