//! Curves over one quantity on two panels, side by side or, where there is little room, one above the other; with the point
//! where memory ends, and the one where the bound changes. The result is a `Scene`.

use calc_core::math::exp10;
use report::number_text;

use crate::axis::{AIR_ABOVE_ROOF, LogAxis, Range, decade_text};
use crate::geometry::{Rect, Spot, clip};
use crate::label::{Anchor, Label, Placer, text_width};
use crate::mark::{Mark, Shape};
use crate::scene::{Line, Scene, ScenePoint, Size};
use crate::theme::{Hue, Ink};

const FONT: f64 = 11.5;
/// Below this width the panels stand one above the other.
const NARROW: f64 = 560.0;
/// Room for the numbers of the y axis, for those of the x axis, above a panel for its name, and between the panels.
const LEFT: f64 = 58.0;
const BELOW: f64 = 42.0;
const ABOVE: f64 = 24.0;
const BETWEEN: f64 = 16.0;
/// Radius of the mark of a value.
const RADIUS: f64 = 2.5;

/// A curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Text at its end.
    pub name: String,
    /// Its values over x, both positive, with rising x.
    pub points: Vec<(f64, f64)>,
    /// Dashed for an ideal.
    pub dashed: bool,
}

/// Curves over one y axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The quantity with its unit.
    pub name: String,
    /// The last one has marks at its values.
    pub curves: Vec<Curve>,
}

/// A named value of x.
#[derive(Debug, Clone, PartialEq)]
pub struct Marker {
    pub at: f64,
    pub label: String,
}

/// Curves on two panels over one x.
#[derive(Debug, Clone, PartialEq)]
pub struct Curves {
    /// The quantity of the x axis.
    pub x_name: String,
    pub panels: [Panel; 2],
    /// Largest x that fits memory; 0 when none does.
    pub limit: Option<Marker>,
    /// The x from which on another resource limits.
    pub crossing: Option<Marker>,
    /// The current value.
    pub here: Option<usize>,
}

/// Lays the curves out in a picture. `focus` is the selected value. The key of a mark is the number of its value,
/// and both panels have the same ones.
pub fn scene(curves: &Curves, size: Size, focus: Option<usize>) -> Scene {
    let xs =
        || curves.panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
    let range = Range::tight(xs().map(|point| point.0));
    let [first, second] = boxes(size);
    let axis = |plot: Rect| LogAxis { range, start: plot.left, end: plot.right };
    let frame = |plot: Rect, panel: &Panel| {
        let values = panel.curves.iter().flat_map(|curve| &curve.points).map(|point| point.1);
        let y = LogAxis {
            range: Range::around(values, AIR_ABOVE_ROOF),
            start: plot.bottom,
            end: plot.top,
        };
        Frame { plot, x: axis(plot), y }
    };
    let [left, right] = &curves.panels;
    let frames = [(frame(first, left), left), (frame(second, right), right)];
    let focus = focus.or(curves.here);
    let mut scene = Scene {
        size,
        plot: first,
        wash: Vec::new(),
        lines: Vec::new(),
        points: Vec::new(),
        labels: Vec::new(),
    };
    for (frame, panel) in &frames {
        frame.grid(&mut scene);
        frame.markers(curves, &mut scene);
        frame.curves(curves, panel, &mut scene);
        frame.points(curves, panel, focus, &mut scene);
        frame.labels(curves, panel, &mut scene);
    }
    scene
}

fn boxes(size: Size) -> [Rect; 2] {
    let plot = |left: f64, top: f64, right: f64, bottom: f64| Rect {
        left: left + LEFT,
        top: top + ABOVE,
        right: (right - 8.0).max(left + LEFT + 1.0),
        bottom: (bottom - BELOW).max(top + ABOVE + 1.0),
    };
    let (width, height) = (size.width, size.height);
    if width < NARROW {
        let middle = height / 2.0;
        [plot(0.0, 0.0, width, middle), plot(0.0, middle, width, height)]
    } else {
        let middle = width / 2.0;
        [
            plot(0.0, 0.0, middle - BETWEEN / 2.0, height),
            plot(middle + BETWEEN / 2.0, 0.0, width, height),
        ]
    }
}

struct Frame {
    plot: Rect,
    x: LogAxis,
    y: LogAxis,
}

impl Frame {
    fn spot(&self, (x, y): (f64, f64)) -> Spot {
        Spot { x: self.x.at(x), y: self.y.at(y) }
    }

    fn grid(&self, scene: &mut Scene) {
        let plot = self.plot;
        for (value, text) in ticks(&self.x, 44.0) {
            let x = self.x.at(value);
            let path = vec![Spot { x, y: plot.top }, Spot { x, y: plot.bottom }];
            scene.lines.push(Line { path, ink: Ink::Line, width: 1.0, dash: None });
            let half = text_width(&text, FONT) / 2.0;
            let at = Spot { x: x.min(scene.size.width - half), y: plot.bottom + 14.0 };
            scene.labels.push(Label::new(&text, at, Anchor::Middle, Ink::Muted, FONT));
        }
        for (value, text) in ticks(&self.y, 20.0) {
            let y = self.y.at(value);
            let path = vec![Spot { x: plot.left, y }, Spot { x: plot.right, y }];
            scene.lines.push(Line { path, ink: Ink::Line, width: 1.0, dash: None });
            let at = Spot { x: plot.left - 6.0, y };
            scene.labels.push(Label::new(&text, at, Anchor::End, Ink::Muted, FONT));
        }
    }

    /// Vertical lines: solid where memory ends, dotted where another resource begins to limit.
    fn markers(&self, curves: &Curves, scene: &mut Scene) {
        let lines = [(&curves.limit, None), (&curves.crossing, Some((2.0, 3.0)))];
        for (marker, dash) in lines {
            let Some(x) = marker.as_ref().and_then(|marker| self.inside(marker.at)) else {
                continue;
            };
            let path = vec![Spot { x, y: self.plot.top }, Spot { x, y: self.plot.bottom }];
            scene.lines.push(Line { path, ink: Ink::Muted, width: 1.0, dash });
        }
    }

    /// Pixel of a marker; `None` outside the panel.
    fn inside(&self, at: f64) -> Option<f64> {
        let x = self.x.at(at.max(f64::MIN_POSITIVE));
        (self.plot.left..=self.plot.right).contains(&x).then_some(x)
    }

    /// Full color up to the end of memory, muted beyond.
    fn curves(&self, curves: &Curves, panel: &Panel, scene: &mut Scene) {
        let end = curves.limit.as_ref().map_or(f64::INFINITY, |limit| limit.at);
        for curve in &panel.curves {
            for pair in curve.points.windows(2) {
                let &[from, to] = pair else { continue };
                let fits = to.0 <= end;
                let Some((start, stop)) = clip(self.spot(from), self.spot(to), &self.plot) else {
                    continue;
                };
                scene.lines.push(Line {
                    path: vec![start, stop],
                    ink: if curve.dashed || !fits { Ink::Muted } else { Ink::Main },
                    width: if curve.dashed { 1.0 } else { 2.0 },
                    dash: curve.dashed.then_some((5.0, 4.0)),
                });
            }
        }
    }

    fn points(&self, curves: &Curves, panel: &Panel, focus: Option<usize>, scene: &mut Scene) {
        let Some(curve) = panel.curves.last() else { return };
        let end = curves.limit.as_ref().map_or(f64::INFINITY, |limit| limit.at);
        for (index, point) in curve.points.iter().enumerate() {
            let focused = focus == Some(index);
            let hue = if point.0 <= end { Hue::Green } else { Hue::Gray };
            let at = self.spot(*point);
            scene.points.push(ScenePoint {
                key: index.to_string(),
                label: number_text::plain(point.1),
                mark: Mark { shape: Shape::Circle, hue },
                filled: true,
                at,
                radius: if focused { RADIUS + 1.5 } else { RADIUS },
                focused,
                ringed: false,
            });
        }
    }

    /// The names of panel, x axis and markers, and the focused value. Names of curves stand at their ends.
    fn labels(&self, curves: &Curves, panel: &Panel, scene: &mut Scene) {
        let plot = self.plot;
        let name_at = Spot { x: plot.left, y: plot.top - 12.0 };
        scene.labels.push(Label::new(&panel.name, name_at, Anchor::Start, Ink::Main, FONT));
        let middle = Spot { x: f64::midpoint(plot.left, plot.right), y: plot.bottom + 32.0 };
        scene.labels.push(Label::new(&curves.x_name, middle, Anchor::Middle, Ink::Muted, FONT));
        let mut placer = Placer {
            bounds: plot,
            taken: Vec::new(),
            lines: panel
                .curves
                .iter()
                .flat_map(|curve| curve.points.windows(2))
                .map(|pair| (self.spot(pair[0]), self.spot(pair[1])))
                .collect(),
        };
        let focused = scene.points.iter().rev().find(|point| point.focused);
        if let Some(point) = focused {
            placer.taken.push(Rect::around(point.at, RADIUS + 4.0));
            let places = [
                (9.0, -11.0, Anchor::Start),
                (-9.0, -11.0, Anchor::End),
                (9.0, 12.0, Anchor::Start),
                (-9.0, 12.0, Anchor::End),
            ];
            let label = placer.place(places.map(|(x, y, anchor)| {
                Label::new(&point.label, point.at.moved(x, y), anchor, Ink::Main, FONT)
            }));
            scene.labels.extend(label);
        }
        let strokes = placer.lines.len();
        for marker in [&curves.limit, &curves.crossing].into_iter().flatten() {
            let ends = self
                .inside(marker.at)
                .map(|x| (Spot { x, y: plot.top }, Spot { x, y: plot.bottom }));
            placer.lines.extend(ends);
        }
        for marker in [&curves.limit, &curves.crossing].into_iter().flatten() {
            let Some(x) = self.inside(marker.at) else { continue };
            let rows = [plot.bottom - 9.0, plot.top + 9.0, plot.bottom - 24.0, plot.top + 24.0];
            let label = placer.place(rows.into_iter().flat_map(|y| {
                [(4.0, Anchor::Start), (-4.0, Anchor::End)].map(|(gap, anchor)| {
                    Label::new(&marker.label, Spot { x: x + gap, y }, anchor, Ink::Muted, FONT)
                })
            }));
            scene.labels.extend(label);
        }
        placer.lines.truncate(strokes); // names of curves may cross the upright lines
        for curve in panel.curves.iter().rev() {
            let beside = [
                (-4.0, -10.0, Anchor::End),
                (6.0, 11.0, Anchor::Start),
                (6.0, -11.0, Anchor::Start),
                (-4.0, 12.0, Anchor::End),
            ];
            let places = curve.points.iter().rev().flat_map(|point| {
                let at = self.spot(*point);
                beside.map(|(x, y, anchor)| {
                    Label::new(&curve.name, at.moved(x, y), anchor, Ink::Muted, FONT)
                })
            });
            scene.labels.extend(placer.place(places));
        }
    }
}

/// Values with their texts: decades, and within short ranges 2 and 5 of each, as far as there is room.
fn ticks(axis: &LogAxis, room: f64) -> Vec<(f64, String)> {
    let decade = (axis.at_log(1.0) - axis.at_log(0.0)).abs();
    let fine = decade * 0.3 >= room;
    let every =
        [1, 2, 3, 5].into_iter().find(|step| decade * f64::from(*step) >= room).unwrap_or(10);
    let mut ticks = Vec::new();
    let (low, high) = (axis.range.low, axis.range.high);
    for exponent in (Range { low: low - 1.0, high }).decades() {
        let power = exp10(f64::from(exponent));
        let mut add = |factor: f64, log: f64, text: String| {
            if (low..=high).contains(&(f64::from(exponent) + log)) {
                ticks.push((power * factor, text));
            }
        };
        if exponent % every == 0 {
            add(1.0, 0.0, decade_text(exponent));
        }
        if fine {
            add(2.0, core::f64::consts::LOG10_2, number_text::short(2.0 * power, 1));
            add(5.0, 1.0 - core::f64::consts::LOG10_2, number_text::short(5.0 * power, 1));
        }
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves(values: &[(f64, f64)]) -> Curves {
        let panel = |name: &str| Panel {
            name: name.to_owned(),
            curves: vec![
                Curve {
                    name: "ideal".into(),
                    points: values.iter().map(|(x, y)| (*x, 2.0 * y)).collect(),
                    dashed: true,
                },
                Curve { name: "expected".into(), points: values.to_vec(), dashed: false },
            ],
        };
        Curves {
            x_name: "batch".into(),
            panels: [panel("token/s"), panel("ms")],
            limit: Some(Marker { at: 20.0, label: "memory ends".into() }),
            crossing: Some(Marker { at: 8.0, label: "compute limits".into() }),
            here: Some(0),
        }
    }

    const VALUES: [(f64, f64); 4] = [(1.0, 30.0), (4.0, 100.0), (16.0, 300.0), (64.0, 700.0)];

    #[test]
    fn everything_stays_in_the_picture_at_every_size() {
        for (width, height) in [(900.0, 260.0), (500.0, 420.0), (280.0, 380.0), (1.0, 1.0)] {
            let scene = scene(&curves(&VALUES), Size { width, height }, None);
            let inside = |spot: &Spot| {
                spot.x >= -1.0
                    && spot.x <= width.max(60.0)
                    && spot.y >= -1.0
                    && spot.y <= height.max(90.0)
            };
            assert!(scene.lines.iter().flat_map(|line| &line.path).all(inside), "{width}");
            assert!(scene.points.iter().all(|point| inside(&point.at)), "{width}");
        }
    }

    #[test]
    fn a_mark_is_hit_on_both_panels_and_behind_the_limit_it_is_gray() {
        let scene = scene(&curves(&VALUES), Size { width: 900.0, height: 260.0 }, Some(2));
        assert_eq!(scene.points.len(), 2 * VALUES.len());
        for point in &scene.points {
            assert_eq!(scene.hit(point.at).map(|hit| hit.key.as_str()), Some(point.key.as_str()));
            assert_eq!(point.mark.hue == Hue::Gray, point.key == "3");
            assert_eq!(point.focused, point.key == "2");
        }
        let texts: Vec<&str> = scene.labels.iter().map(|label| label.text.as_str()).collect();
        for text in ["token/s", "ms", "memory ends", "compute limits", "expected", "300"] {
            assert!(texts.contains(&text), "{text} of {texts:?}");
        }
    }

    #[test]
    fn a_short_range_has_ticks_too() {
        let axis = LogAxis { range: Range { low: 2.1, high: 2.9 }, start: 200.0, end: 0.0 };
        let texts: Vec<String> = ticks(&axis, 20.0).into_iter().map(|tick| tick.1).collect();
        assert_eq!(texts, ["200", "500"]);
    }

    #[test]
    fn nothing_to_draw_is_drawn() {
        let scene = scene(&curves(&[]), Size { width: 900.0, height: 260.0 }, None);
        assert!(scene.points.is_empty());
    }
}
