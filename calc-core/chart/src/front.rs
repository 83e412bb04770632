//! Points by two criteria, and the front of those that no other one beats. The result is a `Scene`.

use calc_core::explore::Criterion;
use calc_core::math::{exp10, floor, log10};
use report::number_text;

use crate::axis::{LinearAxis, LogAxis, Range};
use crate::geometry::{Rect, Spot};
use crate::label::{Anchor, Label, Placer, text_width};
use crate::mark::Mark;
use crate::scene::{Line, Scene, ScenePoint, Size, strokes};
use crate::theme::{Hue, Ink};

const FONT: f64 = 11.5;
/// Room for the numbers and the name of the y axis, and of the x axis.
const LEFT: f64 = 72.0;
const BELOW: f64 = 42.0;
const MARGIN: f64 = 12.0;
/// Radius of a mark on the front, and of any other.
const RADIUS: f64 = 6.0;
const SMALL: f64 = 3.0;
/// Room beside the outermost points, as a fraction of the range.
const AIR: f64 = 0.06;
/// Least room for a number of an axis.
const TICK: [f64; 2] = [72.0, 26.0];
/// A range of fewer decades has ticks between the powers of ten.
const SHORT: f64 = 2.5;

/// A point on the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontPoint {
    /// Identifies the point in the program.
    pub key: String,
    pub label: String,
    pub mark: Mark,
    pub x: f64,
    pub y: f64,
    pub is_on_front: bool,
}

/// An axis of the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    pub name: String,
    pub criterion: Criterion,
}

impl Measure {
    /// A loss may be zero.
    fn is_log(&self) -> bool {
        self.criterion != Criterion::Quality
    }

    /// The name, without what is in parentheses where the axis is too short for all of it.
    fn name_within(&self, room: f64) -> &str {
        let brief = self.name.split(" (").next().unwrap_or_default();
        if text_width(&self.name, FONT) <= room { &self.name } else { brief }
    }

    fn text(&self, value: f64) -> String {
        number_text::criterion(self.criterion, value)
    }
}

/// Points to compare by two measures, along x and along y.
#[derive(Debug, Clone, PartialEq)]
pub struct Front {
    pub measures: [Measure; 2],
    pub points: Vec<FrontPoint>,
}

/// A part of the plot: the values along x and along y, each from the smaller to the larger one. It holds the same points in a
/// window of any size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Brush {
    pub x: (f64, f64),
    pub y: (f64, f64),
}

impl Brush {
    /// The part between two spots of the chart in a picture of this size; spots outside of the plot count as its edge.
    pub fn between(front: &Front, size: Size, from: Spot, to: Spot) -> Self {
        let Frame { plot, x, y } = Frame::of(front, size);
        let range = |scale: &Scale, from: f64, to: f64, (low, high): (f64, f64)| {
            let [a, b] = [from, to].map(|at| scale.value(at.clamp(low, high)));
            (a.min(b), a.max(b))
        };
        Self {
            x: range(&x, from.x, to.x, (plot.left, plot.right)),
            y: range(&y, from.y, to.y, (plot.top, plot.bottom)),
        }
    }

    /// Whether a point with these values is inside.
    pub fn holds(&self, x: f64, y: f64) -> bool {
        let inside = |(low, high): (f64, f64), value: f64| (low..=high).contains(&value);
        inside(self.x, x) && inside(self.y, y)
    }

    fn rect(&self, Frame { plot, x, y }: &Frame) -> Rect {
        let across = |value: f64| x.at(value).clamp(plot.left, plot.right);
        let up = |value: f64| y.at(value).clamp(plot.top, plot.bottom);
        Rect {
            left: across(self.x.0),
            right: across(self.x.1),
            top: up(self.y.1),
            bottom: up(self.y.0),
        }
    }
}

/// Lays the chart out in a picture. `focus` is the key of the selected point.
pub fn scene(front: &Front, size: Size, focus: Option<&str>, brush: Option<&Brush>) -> Scene {
    let frame = Frame::of(front, size);
    let plot = frame.plot;
    let points = frame.points(front, focus);
    let mut scene =
        Scene { size, plot, wash: Vec::new(), lines: Vec::new(), labels: Vec::new(), points };
    frame.grid(front, &mut scene);
    frame.front(front, &mut scene);
    if let Some(brush) = brush {
        scene.lines.push(outline(&brush.rect(&frame)));
    }
    frame.names(&mut scene);
    scene
}

fn outline(rect: &Rect) -> Line {
    let Rect { left, right, top, bottom } = *rect;
    let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
    let path = corners.map(|(x, y)| Spot { x, y }).to_vec();
    Line { path, ink: Ink::Main, width: 1.0, dash: Some((4.0, 3.0)) }
}

enum Scale {
    Linear(LinearAxis),
    Log(LogAxis),
}

impl Scale {
    fn over(
        measure: &Measure,
        values: impl Iterator<Item = f64>,
        (start, end): (f64, f64),
    ) -> Self {
        if !measure.is_log() {
            return Self::Linear(LinearAxis::over(values, (start, end), true));
        }
        let Range { low, high } = Range::tight(values);
        let air = (high - low) * AIR;
        Self::Log(LogAxis { range: Range { low: low - air, high: high + air }, start, end })
    }

    fn at(&self, value: f64) -> f64 {
        match self {
            Self::Linear(axis) => axis.at(value),
            Self::Log(axis) => axis.at(value),
        }
    }

    /// The value at a pixel.
    fn value(&self, at: f64) -> f64 {
        match self {
            Self::Linear(axis) => axis.value(at),
            Self::Log(axis) => axis.value(at),
        }
    }

    /// Values with a number beside them, as far as there is room.
    fn ticks(&self, room: f64) -> Vec<f64> {
        match self {
            Self::Linear(axis) => axis.ticks().collect(),
            Self::Log(axis) => log_ticks(axis, room),
        }
    }
}

/// Powers of ten; in a short range 2 and 5 times each of them, too.
fn log_ticks(axis: &LogAxis, room: f64) -> Vec<f64> {
    let Range { low, high } = axis.range;
    let decade = (axis.at_log(1.0) - axis.at_log(0.0)).abs();
    let parts: &[f64] = if high - low < SHORT { &[1.0, 2.0, 5.0] } else { &[1.0] };
    #[expect(clippy::cast_possible_truncation, reason = "logarithms of f64 are within ±324")]
    let decades = floor(low) as i32..=floor(high) as i32;
    let every = [1, 2, 3, 6].into_iter().find(|step| decade * f64::from(*step) >= room);
    let shown = decades.filter(|exponent| exponent % every.unwrap_or(9) == 0);
    let mut ticks: Vec<f64> = Vec::new();
    for value in
        shown.flat_map(|exponent| parts.iter().map(move |part| part * exp10(f64::from(exponent))))
    {
        let at = axis.at(value);
        let is_clear = ticks.last().is_none_or(|last| (at - axis.at(*last)).abs() >= room);
        if (low..=high).contains(&log10(value)) && is_clear {
            ticks.push(value);
        }
    }
    ticks
}

struct Frame {
    plot: Rect,
    x: Scale,
    y: Scale,
}

impl Frame {
    fn of(front: &Front, size: Size) -> Self {
        let plot = Rect {
            left: LEFT,
            top: MARGIN,
            right: (size.width - MARGIN).max(LEFT + 1.0),
            bottom: (size.height - BELOW).max(MARGIN + 1.0),
        };
        let [across, up] = &front.measures;
        let (x, y) =
            (front.points.iter().map(|point| point.x), front.points.iter().map(|point| point.y));
        Self {
            plot,
            x: Scale::over(across, x, (plot.left, plot.right)),
            y: Scale::over(up, y, (plot.bottom, plot.top)),
        }
    }

    fn at(&self, point: &FrontPoint) -> Spot {
        Spot { x: self.x.at(point.x), y: self.y.at(point.y) }
    }

    /// Points of the front lie above the others, the selected one above all.
    fn points(&self, front: &Front, focus: Option<&str>) -> Vec<ScenePoint> {
        let point = |point: &FrontPoint| {
            let at = self.at(point);
            let focused = focus == Some(point.key.as_str());
            let radius = if point.is_on_front { RADIUS } else { SMALL };
            ScenePoint {
                key: point.key.clone(),
                label: point.label.clone(),
                mark: point.mark,
                filled: true,
                at,
                radius: if focused { RADIUS + 1.0 } else { radius },
                focused,
                ringed: point.is_on_front || focused,
            }
        };
        let mut points: Vec<ScenePoint> = front.points.iter().map(point).collect();
        points.sort_by_key(|point| (point.focused, point.ringed));
        points
    }

    fn grid(&self, front: &Front, scene: &mut Scene) {
        let plot = self.plot;
        let [across, up] = &front.measures;
        let middle = Spot { x: f64::midpoint(plot.left, plot.right), y: plot.bottom + 33.0 };
        let beside = Spot { x: 9.0, y: f64::midpoint(plot.top, plot.bottom) };
        let (across_name, up_name) =
            (across.name_within(plot.right - plot.left), up.name_within(plot.bottom - plot.top));
        scene.labels.extend([
            Label::new(across_name, middle, Anchor::Middle, Ink::Muted, FONT),
            Label::upright(up_name, beside, Ink::Muted, FONT),
        ]);
        for value in self.x.ticks(TICK[0]) {
            let x = self.x.at(value);
            let path = vec![Spot { x, y: plot.top }, Spot { x, y: plot.bottom }];
            scene.lines.push(Line { path, ink: Ink::Line, width: 1.0, dash: None });
            let text = across.text(value);
            let half = text_width(&text, FONT) / 2.0;
            let at = Spot { x: x.min(scene.size.width - half), y: plot.bottom + 16.0 };
            scene.labels.push(Label::new(&text, at, Anchor::Middle, Ink::Muted, FONT));
        }
        for value in self.y.ticks(TICK[1]) {
            let y = self.y.at(value);
            let path = vec![Spot { x: plot.left, y }, Spot { x: plot.right, y }];
            scene.lines.push(Line { path, ink: Ink::Line, width: 1.0, dash: None });
            let at = Spot { x: plot.left - 6.0, y };
            scene.labels.push(Label::new(&up.text(value), at, Anchor::End, Ink::Muted, FONT));
        }
    }

    /// The line through the points that no other one beats.
    fn front(&self, front: &Front, scene: &mut Scene) {
        let on_front = front.points.iter().filter(|point| point.is_on_front);
        let mut path: Vec<Spot> = on_front.map(|point| self.at(point)).collect();
        path.sort_by(|a, b| a.x.total_cmp(&b.x));
        if path.len() > 1 {
            scene.lines.push(Line { path, ink: Ink::Hue(Hue::Green), width: 2.0, dash: None });
        }
    }

    /// Each name of the front once, and the one of the selected point.
    fn names(&self, scene: &mut Scene) {
        let taken = scene.points.iter().map(|point| Rect::around(point.at, point.radius + 2.0));
        let texts = scene.labels.iter().map(|label| label.bounds);
        let mut placer = Placer {
            bounds: self.plot,
            taken: taken.chain(texts).collect(),
            lines: strokes(&scene.lines),
        };
        let mut named: Vec<&str> = Vec::new();
        let mut labels = Vec::new();
        // Those with a gap around them are on the front, or selected.
        for point in scene.points.iter().rev().filter(|point| point.ringed) {
            if !named.contains(&point.label.as_str()) {
                named.push(&point.label);
                labels.extend(placer.place(beside(point)));
            }
        }
        scene.labels.extend(labels);
    }
}

/// Candidate places for the name of a point, the best first.
fn beside(point: &ScenePoint) -> Vec<Label> {
    let gap = point.radius + 5.0;
    let near = |x: f64, y: f64, anchor| {
        let ink = Ink::Hue(point.mark.hue);
        Label::new(&point.label, point.at.moved(x, y), anchor, ink, FONT)
    };
    vec![
        near(gap, -10.0, Anchor::Start),
        near(-gap, -10.0, Anchor::End),
        near(gap, 11.0, Anchor::Start),
        near(-gap, 11.0, Anchor::End),
        near(0.0, -17.0, Anchor::Middle),
        near(0.0, 18.0, Anchor::Middle),
        near(gap, -26.0, Anchor::Start),
        near(-gap, -26.0, Anchor::End),
        near(gap, 27.0, Anchor::Start),
        near(-gap, 27.0, Anchor::End),
    ]
}

#[cfg(test)]
mod tests;
