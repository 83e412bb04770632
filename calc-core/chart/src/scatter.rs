//! Measured against predicted times: on the diagonal they are equal. The result is a `Scene`.

use calc_core::math::exp10;

use crate::axis::{AIR, LogAxis, Range};
use crate::geometry::{Rect, Spot, clip};
use crate::label::{Anchor, Label, text_width};
use crate::mark::Mark;
use crate::scene::{Line, Scene, ScenePoint, Size};
use crate::theme::Ink;

const FONT: f64 = 11.5;
/// Room for the numbers and the name of the y axis, and of the x axis.
const LEFT: f64 = 68.0;
const BELOW: f64 = 42.0;
const MARGIN: f64 = 10.0;
/// Least room for a number of an axis.
const TICK: f64 = 52.0;
const RADIUS: f64 = 3.5;

/// One measurement with its prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dot {
    /// Identifies the dot in the program.
    pub key: usize,
    /// Time along x [s].
    pub x: f64,
    /// Time along y [s].
    pub y: f64,
    pub mark: Mark,
    /// Hollow where x is not in the interval around y.
    pub filled: bool,
}

/// Ends of an interval, as multiples of y between which x lies.
pub type Ends = (f64, f64);

/// A scatter plot of two times per dot.
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter {
    /// Names of the axes.
    pub names: [String; 2],
    /// Texts above and below the diagonal.
    pub sides: [String; 2],
    pub dots: Vec<Dot>,
    /// The region that lies in the interval of every dot.
    pub shared: Option<Ends>,
    /// The edges of the widest interval.
    pub widest: Option<Ends>,
}

/// Lays the plot out in a picture. `focus` is the key of the selected dot.
pub fn scene(scatter: &Scatter, size: Size, focus: Option<usize>) -> Scene {
    let plot = Rect {
        left: LEFT,
        top: MARGIN,
        right: (size.width - MARGIN).max(LEFT + 1.0),
        bottom: (size.height - BELOW).max(MARGIN + 1.0),
    };
    // One range for both, so that the diagonal goes from corner to corner.
    let range = Range::around(scatter.dots.iter().flat_map(|dot| [dot.x, dot.y]), AIR);
    let frame = Frame {
        plot,
        x: LogAxis { range, start: plot.left, end: plot.right },
        y: LogAxis { range, start: plot.bottom, end: plot.top },
    };
    let mut scene = Scene {
        size,
        plot,
        wash: vec![frame.wash(scatter.shared)],
        lines: Vec::new(),
        points: frame.points(&scatter.dots, focus),
        labels: Vec::new(),
    };
    frame.grid(&mut scene);
    frame.diagonals(scatter, &mut scene);
    frame.names(scatter, &mut scene);
    scene
}

struct Frame {
    plot: Rect,
    x: LogAxis,
    y: LogAxis,
}

impl Frame {
    /// The line y = x / multiple, from edge to edge.
    fn diagonal(&self, multiple: f64) -> Option<(Spot, Spot)> {
        let Range { low, high } = self.x.range;
        let end = |log: f64| Spot { x: self.x.at_log(log), y: self.y.at(exp10(log) / multiple) };
        clip(end(low), end(high), &self.plot)
    }

    fn wash(&self, shared: Option<Ends>) -> Vec<Spot> {
        let lines =
            shared.and_then(|(low, high)| Some((self.diagonal(low)?, self.diagonal(high)?)));
        let Some((upper, lower)) = lines else { return Vec::new() };
        let (plot, corner) = (self.plot, |x, y| Spot { x, y });
        // The diagonal itself ends in two corners.
        vec![
            upper.0,
            upper.1,
            corner(plot.right, plot.top),
            lower.1,
            lower.0,
            corner(plot.left, plot.bottom),
        ]
    }

    fn grid(&self, scene: &mut Scene) {
        let plot = self.plot;
        for (exponent, text) in ticks(&self.x) {
            let x = self.x.at_log(f64::from(exponent));
            let path = vec![Spot { x, y: plot.top }, Spot { x, y: plot.bottom }];
            scene.lines.push(Line { path, ink: Ink::Line, width: 1.0, dash: None });
            let half = text_width(&text, FONT) / 2.0;
            let at = Spot { x: x.min(scene.size.width - half), y: plot.bottom + 14.0 };
            scene.labels.push(Label::new(&text, at, Anchor::Middle, Ink::Muted, FONT));
        }
        for (exponent, text) in ticks(&self.y) {
            let y = self.y.at_log(f64::from(exponent));
            let path = vec![Spot { x: plot.left, y }, Spot { x: plot.right, y }];
            scene.lines.push(Line { path, ink: Ink::Line, width: 1.0, dash: None });
            let at = Spot { x: plot.left - 6.0, y };
            scene.labels.push(Label::new(&text, at, Anchor::End, Ink::Muted, FONT));
        }
    }

    fn diagonals(&self, scatter: &Scatter, scene: &mut Scene) {
        let mut line = |multiple: f64, ink, dash| {
            let ends = self.diagonal(multiple);
            let path = ends.map(|(from, to)| vec![from, to]);
            scene.lines.extend(path.map(|path| Line { path, ink, width: 1.0, dash }));
        };
        line(1.0, Ink::Main, None);
        if let Some((low, high)) = scatter.widest {
            line(low, Ink::Muted, Some((5.0, 4.0)));
            line(high, Ink::Muted, Some((5.0, 4.0)));
        }
    }

    fn points(&self, dots: &[Dot], focus: Option<usize>) -> Vec<ScenePoint> {
        let point = |dot: &Dot| {
            let at = Spot { x: self.x.at(dot.x), y: self.y.at(dot.y) };
            let focused = focus == Some(dot.key);
            ScenePoint {
                key: dot.key.to_string(),
                label: String::new(),
                mark: dot.mark,
                filled: dot.filled,
                at,
                radius: if focused { RADIUS + 1.5 } else { RADIUS },
                focused,
                ringed: false,
            }
        };
        let mut points: Vec<ScenePoint> = dots.iter().map(point).collect();
        if let Some(place) = points.iter().position(|point| point.focused) {
            points[place..].rotate_left(1); // on top
        }
        points
    }

    fn names(&self, scatter: &Scatter, scene: &mut Scene) {
        let plot = self.plot;
        let [x_name, y_name] = &scatter.names;
        let middle = Spot { x: f64::midpoint(plot.left, plot.right), y: plot.bottom + 32.0 };
        scene.labels.push(Label::new(x_name, middle, Anchor::Middle, Ink::Muted, FONT));
        let beside = Spot { x: 8.0, y: f64::midpoint(plot.top, plot.bottom) };
        scene.labels.push(Label::upright(y_name, beside, Ink::Muted, FONT));
        let [above, below] = &scatter.sides;
        let corner = Spot { x: plot.left + 8.0, y: plot.top + 12.0 };
        scene.labels.push(Label::new(above, corner, Anchor::Start, Ink::Muted, FONT));
        let corner = Spot { x: plot.right - 8.0, y: plot.bottom - 12.0 };
        scene.labels.push(Label::new(below, corner, Anchor::End, Ink::Muted, FONT));
    }
}

/// Whole decades with their names, as far as there is room.
fn ticks(axis: &LogAxis) -> Vec<(i32, String)> {
    let decade = (axis.at_log(1.0) - axis.at_log(0.0)).abs();
    let every =
        [1, 2, 3, 6].into_iter().find(|step| decade * f64::from(*step) >= TICK).unwrap_or(9);
    let shown = axis.range.decades().filter(|exponent| exponent % every == 0);
    shown.map(|exponent| (exponent, decade_of_time(exponent))).collect()
}

/// A power of ten of a second: `10 µs`.
fn decade_of_time(exponent: i32) -> String {
    let (unit, base) = match exponent {
        0.. => ("s", 0),
        -3.. => ("ms", -3),
        -6.. => ("µs", -6),
        _ => ("ns", -9),
    };
    let number = report::number_text::short(exp10(f64::from(exponent - base)), 1);
    format!("{number}{}{unit}", report::number_text::SPACE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::mark;

    fn scatter(times: &[(f64, f64)]) -> Scatter {
        let dot = |(key, &(x, y)): (usize, &(f64, f64))| Dot {
            key,
            x,
            y,
            mark: mark("fp16"),
            filled: key % 2 == 0,
        };
        Scatter {
            names: ["measured".into(), "expected".into()],
            sides: ["too slow".into(), "too fast".into()],
            dots: times.iter().enumerate().map(dot).collect(),
            shared: Some((0.9, 1.1)),
            widest: Some((0.8, 1.5)),
        }
    }

    const TIMES: [(f64, f64); 4] = [(1e-5, 1.2e-5), (3e-3, 2e-3), (3e-3, 3e-3), (4.0, 5.0)];

    #[test]
    fn everything_stays_in_the_picture_at_every_size() {
        for (width, height) in [(900.0, 400.0), (320.0, 300.0), (1.0, 1.0)] {
            let scene = scene(&scatter(&TIMES), Size { width, height }, None);
            let inside = |spot: &Spot| scene.plot.grown(0.5).contains(*spot);
            assert!(scene.lines.iter().flat_map(|line| &line.path).all(inside), "{width}");
            assert!(scene.points.iter().all(|point| inside(&point.at)), "{width}");
            assert!(scene.wash.iter().flatten().all(inside), "{width}");
        }
    }

    #[test]
    fn equal_times_are_on_the_diagonal_and_slower_ones_above() {
        let scene = scene(&scatter(&TIMES), Size { width: 500.0, height: 500.0 }, Some(0));
        let above = |key: &str| {
            let point = scene.points.iter().find(|point| point.key == key).expect("a point");
            let share = (point.at.x - scene.plot.left) / (scene.plot.right - scene.plot.left);
            let height = (scene.plot.bottom - point.at.y) / (scene.plot.bottom - scene.plot.top);
            height - share
        };
        assert!(above("0") > 0.0 && above("1") < 0.0 && above("2").abs() < 1e-9);
        assert_eq!(scene.points.last().map(|point| point.key.as_str()), Some("0"));
        assert_eq!(scene.hit(scene.points[0].at).map(|hit| &*hit.key), Some(&*scene.points[0].key));
    }

    #[test]
    fn the_region_of_the_interval_holds_what_is_inside_it() {
        let scene = scene(&scatter(&TIMES), Size { width: 500.0, height: 500.0 }, None);
        let upper = scene.wash[0][0];
        // On the upper edge the measurement is 0.9 of the prediction.
        let range = Range::around(TIMES.iter().flat_map(|&(x, y)| [x, y]), AIR);
        let log = |spot: Spot| {
            let plot = scene.plot;
            let x = (spot.x - plot.left) / (plot.right - plot.left);
            let y = (plot.bottom - spot.y) / (plot.bottom - plot.top);
            (range.high - range.low) * (x - y)
        };
        assert!((exp10(log(upper)) - 0.9).abs() < 1e-6, "{}", exp10(log(upper)));
    }

    #[test]
    fn decades_are_named_with_their_unit() {
        for (exponent, text) in [(-7, "100 ns"), (-5, "10 µs"), (-3, "1 ms"), (1, "10 s")] {
            assert_eq!(decade_of_time(exponent).replace(report::number_text::SPACE, " "), text);
        }
    }
}
