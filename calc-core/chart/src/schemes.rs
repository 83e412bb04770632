//! Quantization schemes by expected time and loss of quality. The result is a `Scene`.

use calc_core::order::sort_short;
use report::number_text;

use crate::axis::LinearAxis;
use crate::geometry::{Rect, Spot};
use crate::label::{Anchor, LINE_HEIGHT, Label, Placer, text_width};
use crate::mark::Mark;
use crate::scene::{Line, Scene, ScenePoint, Size, strokes};
use crate::theme::{Hue, Ink};

const FONT: f64 = 11.5;
/// Room for the numbers and names of the axes.
const LEFT: f64 = 58.0;
const BELOW: f64 = 42.0;
const MARGIN: f64 = 12.0;
const RADIUS: f64 = 6.0;
/// How much nearer to a name another mark may be than its own.
const SLACK: f64 = 2.0;
/// How many of the places for a name, the best first, are near its mark.
const NEAR: usize = 5;
/// Loss beyond the limit that is still drawn, as a multiple of the limit.
const BEYOND: f64 = 1.6;

/// A scheme on the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemePoint {
    /// Identifies the scheme in the program.
    pub key: String,
    pub label: String,
    pub mark: Mark,
    /// Expected time [s], and the ends of its interval.
    pub time: f64,
    pub low: f64,
    pub high: f64,
    /// Loss of quality [%].
    pub loss: f64,
    /// True if the scheme does not meet the bounds; it is drawn in gray.
    pub refused: bool,
}

/// Schemes to compare.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schemes {
    /// Name of the x axis.
    pub time_name: String,
    pub points: Vec<SchemePoint>,
    /// Largest loss that the user allows [%].
    pub limit: Option<f64>,
    /// Schemes that no other one beats in both time and loss, fastest first, by index.
    pub front: Vec<usize>,
}

impl Schemes {
    /// The schemes that are drawn: those beyond the limit only if they are near it.
    pub fn drawn(&self) -> impl Iterator<Item = &SchemePoint> {
        let most = self.limit.map_or(f64::INFINITY, |limit| limit * BEYOND);
        self.points.iter().filter(move |point| point.loss <= most)
    }
}

/// Lays the chart out in a picture. `focus` is the key of the selected scheme.
pub fn scene(schemes: &Schemes, size: Size, focus: Option<&str>) -> Scene {
    let plot = Rect {
        left: LEFT,
        top: MARGIN,
        right: (size.width - MARGIN).max(LEFT + 1.0),
        bottom: (size.height - BELOW).max(MARGIN + 1.0),
    };
    let frame = Frame {
        plot,
        x: LinearAxis::over(
            schemes.drawn().flat_map(|point| [point.low, point.time, point.high]),
            (plot.left, plot.right),
            false,
        ),
        y: LinearAxis::over(
            schemes.drawn().map(|point| point.loss).chain(schemes.limit).chain([1.0]),
            (plot.bottom, plot.top),
            true,
        ),
    };
    let points = frame.points(schemes, focus);
    let mut scene =
        Scene { size, plot, wash: Vec::new(), lines: Vec::new(), labels: Vec::new(), points };
    frame.grid(schemes, &mut scene);
    frame.front(schemes, &mut scene);
    frame.intervals(schemes, &mut scene);
    frame.names(&mut scene);
    scene
}

struct Frame {
    plot: Rect,
    x: LinearAxis,
    y: LinearAxis,
}

impl Frame {
    fn at(&self, point: &SchemePoint) -> Spot {
        Spot { x: self.x.at(point.time), y: self.y.at(point.loss) }
    }

    fn points(&self, schemes: &Schemes, focus: Option<&str>) -> Vec<ScenePoint> {
        let point = |point: &SchemePoint| {
            let at = self.at(point);
            let focused = focus == Some(point.key.as_str());
            let gray = Mark { shape: point.mark.shape, hue: Hue::Gray };
            ScenePoint {
                key: point.key.clone(),
                label: point.label.clone(),
                mark: if point.refused { gray } else { point.mark },
                filled: true,
                at,
                radius: if focused { RADIUS + 1.0 } else { RADIUS },
                focused,
                ringed: true,
            }
        };
        let mut points: Vec<ScenePoint> = schemes.drawn().map(point).collect();
        if let Some(place) = points.iter().position(|point| point.focused) {
            points[place..].rotate_left(1); // on top
        }
        points
    }

    fn grid(&self, schemes: &Schemes, scene: &mut Scene) {
        let plot = self.plot;
        let middle = Spot { x: f64::midpoint(plot.left, plot.right), y: plot.bottom + 33.0 };
        let beside = Spot { x: 9.0, y: f64::midpoint(plot.top, plot.bottom) };
        let name = Label::new(&schemes.time_name, middle, Anchor::Middle, Ink::Muted, FONT);
        scene.labels.extend([name, Label::upright("loss of quality", beside, Ink::Muted, FONT)]);
        for seconds in self.x.ticks() {
            let text = number_text::time(calc_core::units::Seconds::new(seconds));
            let half = text_width(&text, FONT) / 2.0;
            let x = self.x.at(seconds).min(scene.size.width - half);
            let at = Spot { x, y: plot.bottom + 16.0 };
            scene.labels.push(Label::new(&text, at, Anchor::Middle, Ink::Muted, FONT));
        }
        for loss in self.y.ticks() {
            let y = self.y.at(loss);
            let path = vec![Spot { x: plot.left, y }, Spot { x: plot.right, y }];
            scene.lines.push(Line { path, ink: Ink::Line, width: 1.0, dash: None });
            let text = format!("{}{}%", number_text::short(loss, 2), number_text::SPACE);
            let at = Spot { x: plot.left - 6.0, y };
            scene.labels.push(Label::new(&text, at, Anchor::End, Ink::Muted, FONT));
        }
        if let Some(limit) = schemes.limit {
            let y = self.y.at(limit);
            let path = vec![Spot { x: plot.left, y }, Spot { x: plot.right, y }];
            scene.lines.push(Line { path, ink: Ink::Muted, width: 1.0, dash: Some((5.0, 4.0)) });
            let text = format!("limit: {}{}%", number_text::short(limit, 3), number_text::SPACE);
            let at = Spot { x: plot.right - 4.0, y: y - 9.0 };
            scene.labels.push(Label::new(&text, at, Anchor::End, Ink::Muted, FONT));
        }
    }

    /// The line through the schemes that no other one beats.
    fn front(&self, schemes: &Schemes, scene: &mut Scene) {
        let path: Vec<Spot> = schemes
            .front
            .iter()
            .filter_map(|&index| schemes.points.get(index))
            .map(|point| self.at(point))
            .collect();
        if path.len() > 1 {
            scene.lines.push(Line { path, ink: Ink::Hue(Hue::Green), width: 2.0, dash: None });
        }
    }

    fn intervals(&self, schemes: &Schemes, scene: &mut Scene) {
        for point in schemes.drawn().filter(|point| !point.refused) {
            let y = self.y.at(point.loss);
            let ends = [point.low, point.high].map(|time| Spot { x: self.x.at(time), y });
            let ink = Ink::Hue(point.mark.hue);
            scene.lines.push(Line { path: ends.to_vec(), ink, width: 1.0, dash: None });
        }
    }

    fn names(&self, scene: &mut Scene) {
        let taken = scene.points.iter().map(|point| Rect::around(point.at, point.radius + 2.0));
        let texts = scene.labels.iter().map(|label| label.bounds);
        let mut placer = Placer {
            bounds: self.plot,
            taken: taken.chain(texts).collect(),
            lines: strokes(&scene.lines),
        };
        // The selected one first, refused ones last. A name that a line would cross is left out, but for the selected one; that
        // of a refused one is near its mark.
        let mut order: Vec<&ScenePoint> = scene.points.iter().collect();
        let rank = |point: &ScenePoint| (!point.focused, point.mark.hue == Hue::Gray);
        sort_short(&mut order, |a, b| rank(a) < rank(b));
        let name = |point: &ScenePoint| {
            let is_gray = point.mark.hue == Hue::Gray;
            let mut places = beside(point);
            places.truncate(if is_gray { NEAR } else { usize::MAX });
            places.retain(|label| point.focused || is_nearest(point, &scene.points, label));
            if point.focused { placer.place(places) } else { placer.place_clear(places) }
        };
        let labels: Vec<Label> = order.into_iter().filter_map(name).collect();
        scene.labels.extend(labels);
    }
}

/// Whether no other mark is clearly nearer to a name than its own, so that a reader would take it for the name of that one.
fn is_nearest(own: &ScenePoint, points: &[ScenePoint], label: &Label) -> bool {
    let distance = |point: &ScenePoint| label.bounds.nearest(point.at).distance(point.at);
    points.iter().all(|point| distance(own) <= distance(point) + SLACK)
}

/// Candidate places for the name of a scheme, the best first.
fn beside(point: &ScenePoint) -> Vec<Label> {
    let is_gray = point.mark.hue == Hue::Gray;
    let ink = if is_gray { Ink::Muted } else { Ink::Hue(point.mark.hue) };
    let near =
        |x: f64, y: f64, anchor| Label::new(&point.label, point.at.moved(x, y), anchor, ink, FONT);
    let gap = point.radius + 5.0;
    // Between two lines that are a little more than a line of text apart.
    let tight = FONT * LINE_HEIGHT / 2.0 + 0.5;
    vec![
        near(gap, -10.0, Anchor::Start),
        near(0.0, -16.0, Anchor::Middle),
        near(-gap, -10.0, Anchor::End),
        near(gap, 11.0, Anchor::Start),
        near(-gap, 11.0, Anchor::End),
        near(gap, -tight, Anchor::Start),
        near(-gap, -tight, Anchor::End),
        near(gap, tight, Anchor::Start),
        near(-gap, tight, Anchor::End),
        near(gap, -24.0, Anchor::Start),
        near(-gap, -24.0, Anchor::End),
        near(0.0, -30.0, Anchor::Middle),
        near(gap, -38.0, Anchor::Start),
        near(-gap, -38.0, Anchor::End),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::Shape;

    fn point(key: &str, time: f64, loss: f64, refused: bool) -> SchemePoint {
        let mark = Mark { shape: Shape::Circle, hue: Hue::Orange };
        let (low, high) = (time * 0.9, time * 1.2);
        SchemePoint { key: key.into(), label: key.into(), mark, time, low, high, loss, refused }
    }

    fn some() -> Schemes {
        Schemes {
            time_name: "whole answer".into(),
            points: vec![
                point("fast", 16.4, 2.8, false),
                point("good", 22.9, 0.3, false),
                point("lossy", 15.0, 7.9, true),
                point("far", 10.0, 500.0, true),
            ],
            limit: Some(5.0),
            front: vec![0, 1],
        }
    }

    const SIZE: Size = Size { width: 800.0, height: 320.0 };

    #[test]
    fn faster_is_left_and_less_loss_is_below() {
        let scene = scene(&some(), SIZE, None);
        let at =
            |key: &str| scene.points.iter().find(|point| point.key == key).map(|point| point.at);
        let (fast, good) = (at("fast").expect("drawn"), at("good").expect("drawn"));
        assert!(fast.x < good.x && fast.y < good.y);
        assert!(scene.points.iter().all(|point| scene.plot.contains(point.at)));
        assert_eq!(at("far"), None, "it would flatten all others");
        let lossy = scene.points.iter().find(|point| point.key == "lossy");
        assert!(lossy.is_some_and(|point| point.mark.hue == Hue::Gray));
    }

    #[test]
    fn marks_stay_and_names_do_not_cover_each_other() {
        let mut schemes = some();
        schemes.points.extend(
            (0..12).map(|i| point(&format!("scheme {i}"), 16.0 + 0.1 * f64::from(i), 2.0, false)),
        );
        let scene = scene(&schemes, SIZE, Some("scheme 3"));
        assert!(scene.points.iter().all(|point| point.at == point.at));
        assert_eq!(scene.points.last().map(|point| point.key.as_str()), Some("scheme 3"));
        for (i, a) in scene.labels.iter().enumerate() {
            for b in &scene.labels[i + 1..] {
                assert!(!a.bounds.overlaps(&b.bounds), "{} and {}", a.text, b.text);
            }
        }
    }

    #[test]
    fn a_name_is_nearest_to_its_own_mark_and_no_line_goes_through_it() {
        let mut schemes = some();
        schemes.points.extend((0..30).map(|i| {
            let (time, loss) = (15.0 + 0.4 * f64::from(i), 0.3 * f64::from(i % 7));
            point(&format!("scheme {i}"), time, loss, i % 2 == 0)
        }));
        let scene = scene(&schemes, SIZE, None);
        let distance =
            |point: &ScenePoint, label: &Label| label.bounds.nearest(point.at).distance(point.at);
        let mut named = 0;
        for own in &scene.points {
            let Some(label) = scene.labels.iter().find(|label| label.text == own.label) else {
                continue;
            };
            named += 1;
            let is_nearer =
                |point: &&ScenePoint| distance(point, label) + SLACK < distance(own, label);
            assert_eq!(scene.points.iter().find(is_nearer), None, "{}", own.label);
            let crossed = strokes(&scene.lines)
                .into_iter()
                .filter(|(from, to)| crate::geometry::clip(*from, *to, &label.bounds).is_some());
            assert_eq!(crossed.count(), 0, "{}", own.label);
        }
        assert!(named >= 8, "{named}");
    }

    #[test]
    fn no_line_goes_through_a_name_between_intervals_that_lie_close_together() {
        // As eight H200 with DeepSeek V3.2 have them: four schemes of one time, a line of text apart.
        let losses = [2.0, 2.87, 3.2, 3.6];
        let points = losses.map(|loss| point(&format!("INT4 with {loss}"), 2.1, loss, false));
        let schemes = Schemes { points: points.into(), limit: Some(5.0), ..Schemes::default() };
        let scene = scene(&schemes, Size { width: 550.0, height: 300.0 }, None);
        let is_name = |label: &&Label| label.text.starts_with("INT4");
        let names: Vec<&Label> = scene.labels.iter().filter(is_name).collect();
        assert_eq!(names.len(), losses.len(), "{names:?}");
        for name in names {
            let mut lines = strokes(&scene.lines).into_iter();
            let crossed =
                lines.find(|(a, b)| crate::geometry::clip(*a, *b, &name.bounds).is_some());
            assert_eq!(crossed, None, "{}", name.text);
        }
    }

    #[test]
    fn one_scheme_or_none_is_drawn_too() {
        for points in [Vec::new(), vec![point("only", 1e-5, 0.0, false)]] {
            let schemes = Schemes { points, ..Schemes::default() };
            let scene = scene(&schemes, Size { width: 60.0, height: 40.0 }, None);
            let finite = |spot: &Spot| spot.x.is_finite() && spot.y.is_finite();
            assert!(scene.lines.iter().flat_map(|line| &line.path).all(finite));
            assert!(scene.points.iter().all(|point| finite(&point.at)));
        }
    }
}
