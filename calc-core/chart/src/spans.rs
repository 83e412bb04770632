//! Times of several scenarios, one below the other on one axis: expected with its interval, and ideal. The result is a `Scene`.

use calc_core::units::Seconds;
use report::number_text;

use crate::axis::LinearAxis;
use crate::geometry::{Rect, Spot};
use crate::label::{Anchor, Label, text_width};
use crate::mark::Mark;
use crate::scene::{Line, Scene, ScenePoint, Size};
use crate::theme::Ink;

const FONT: f64 = 11.5;
/// Room for the numbers and the name of the axis.
const BELOW: f64 = 42.0;
const MARGIN: f64 = 12.0;
const RADIUS: f64 = 6.0;
/// Half the length of the stub at the ideal time.
const STUB: f64 = 7.0;
/// Share of a row above its mark, where its name is.
const MIDDLE: f64 = 0.64;

/// The times of a scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpanTime {
    /// Mark of the scheme.
    pub mark: Mark,
    pub expected: Seconds,
    /// Ends of the interval.
    pub low: Seconds,
    pub high: Seconds,
    /// Time at the roof.
    pub ideal: Seconds,
}

/// A scenario on the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Identifies the scenario in the program.
    pub key: String,
    pub label: String,
    /// Its times, or the reason why it has none.
    pub time: Result<SpanTime, String>,
}

/// Scenarios to compare.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spans {
    /// Name of the axis.
    pub time_name: String,
    /// The rows, from above.
    pub rows: Vec<Span>,
}

/// Lays the chart out in a picture. `focus` is the key of the selected scenario.
pub fn scene(spans: &Spans, size: Size, focus: Option<&str>) -> Scene {
    let plot = Rect {
        left: MARGIN,
        top: MARGIN,
        right: (size.width - 2.0 * MARGIN).max(MARGIN + 1.0),
        bottom: (size.height - BELOW).max(MARGIN + 1.0),
    };
    let times = spans.rows.iter().filter_map(|row| row.time.as_ref().ok());
    let values = times.flat_map(|time| [time.ideal, time.low, time.high, time.expected]);
    let axis = LinearAxis::over(values.map(Seconds::get), (plot.left, plot.right), true);
    let mut scene = Scene { plot, ..Scene::empty(size) };
    grid(&axis, &spans.time_name, &mut scene);
    let height = (plot.bottom - plot.top) / (spans.rows.len().max(1) as f64);
    for (place, row) in spans.rows.iter().enumerate() {
        let top = plot.top + height * place as f64;
        draw_row(row, &axis, (top, height), focus == Some(row.key.as_str()), &mut scene);
    }
    scene
}

fn grid(axis: &LinearAxis, name: &str, scene: &mut Scene) {
    let plot = scene.plot;
    for seconds in axis.ticks() {
        let x = axis.at(seconds);
        let path = vec![Spot { x, y: plot.top }, Spot { x, y: plot.bottom }];
        scene.lines.push(Line { path, ink: Ink::Line, width: 1.0, dash: None });
        let text = number_text::time(Seconds::new(seconds));
        let half = text_width(&text, FONT) / 2.0;
        let at = Spot { x: x.min(scene.size.width - half).max(half), y: plot.bottom + 14.0 };
        scene.labels.push(Label::new(&text, at, Anchor::Middle, Ink::Muted, FONT));
    }
    let middle = Spot { x: f64::midpoint(plot.left, plot.right), y: plot.bottom + 31.0 };
    scene.labels.push(Label::new(name, middle, Anchor::Middle, Ink::Muted, FONT));
}

fn draw_row(
    row: &Span,
    axis: &LinearAxis,
    (top, height): (f64, f64),
    focused: bool,
    scene: &mut Scene,
) {
    let y = top + height * MIDDLE;
    let name = Spot { x: scene.plot.left, y: y - height * 0.42 };
    let ink = if focused { Ink::Main } else { Ink::Muted };
    scene.labels.push(Label::new(&row.label, name, Anchor::Start, ink, FONT));
    let time = match &row.time {
        Ok(time) => time,
        Err(reason) => {
            let at = Spot { x: scene.plot.left, y };
            scene.labels.push(Label::new(reason, at, Anchor::Start, Ink::Muted, FONT));
            return;
        }
    };
    let spot = |time: Seconds| Spot { x: axis.at(time.get()), y };
    let ink = Ink::Hue(time.mark.hue);
    let ideal = spot(time.ideal);
    let stub = vec![ideal.moved(0.0, -STUB), ideal.moved(0.0, STUB)];
    for (path, width) in [(vec![spot(time.low), spot(time.high)], 1.5), (stub, 2.0)] {
        scene.lines.push(Line { path, ink, width, dash: None });
    }
    let at = spot(time.expected);
    scene.points.push(ScenePoint {
        key: row.key.clone(),
        label: row.label.clone(),
        mark: time.mark,
        filled: true,
        at,
        radius: if focused { RADIUS + 1.0 } else { RADIUS },
        focused,
        ringed: true,
    });
    let text = number_text::time(time.expected);
    let end = spot(time.high.max(time.expected)).moved(RADIUS + 5.0, 0.0);
    let after = Label::new(&text, end, Anchor::Start, Ink::Main, FONT);
    let label = if after.bounds.right <= scene.size.width {
        after
    } else {
        let start = spot(time.low.min(time.ideal)).moved(-RADIUS - 5.0, 0.0);
        Label::new(&text, start, Anchor::End, Ink::Main, FONT)
    };
    scene.labels.push(label);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::mark;

    fn span(key: &str, time: f64) -> Span {
        let seconds = |share: f64| Seconds::new(time * share);
        let time = SpanTime {
            mark: mark("int4_g128"),
            expected: seconds(1.0),
            low: seconds(0.9),
            high: seconds(1.2),
            ideal: seconds(0.7),
        };
        Span { key: key.into(), label: format!("scenario {key}"), time: Ok(time) }
    }

    fn some() -> Spans {
        let refused =
            Span { key: "c".into(), label: "big".into(), time: Err("does not fit".into()) };
        let rows = vec![span("a", 20.0), span("b", 11.0), refused];
        Spans { time_name: "whole answer".into(), rows }
    }

    #[test]
    fn marks_stand_at_their_times_and_rows_go_down() {
        let scene = scene(&some(), Size { width: 700.0, height: 220.0 }, Some("b"));
        let [a, b] = [&scene.points[0], &scene.points[1]];
        assert!(a.at.x > b.at.x && a.at.y < b.at.y && b.focused);
        let zero = scene.plot.left;
        assert!(((a.at.x - zero) / (b.at.x - zero) - 20.0 / 11.0).abs() < 1e-9, "from zero");
        let texts: Vec<&str> = scene.labels.iter().map(|label| label.text.as_str()).collect();
        assert!(texts.contains(&"does not fit") && texts.contains(&"scenario a"), "{texts:?}");
    }

    #[test]
    fn labels_keep_inside_and_apart() {
        for (width, height) in [(700.0, 220.0), (358.0, 200.0)] {
            let scene = scene(&some(), Size { width, height }, None);
            for (i, a) in scene.labels.iter().enumerate() {
                assert!(a.bounds.left >= -1e-9 && a.bounds.right <= width, "{}", a.text);
                for b in &scene.labels[i + 1..] {
                    assert!(!a.bounds.overlaps(&b.bounds), "{} and {}", a.text, b.text);
                }
            }
        }
    }

    #[test]
    fn nothing_to_compare_is_drawn_too() {
        for rows in [Vec::new(), vec![span("a", 0.0)], vec![span("a", 1e-6)]] {
            let spans = Spans { rows, ..Spans::default() };
            let scene = scene(&spans, Size { width: 20.0, height: 10.0 }, None);
            let finite = |spot: &Spot| spot.x.is_finite() && spot.y.is_finite();
            assert!(scene.lines.iter().flat_map(|line| &line.path).all(finite));
        }
    }
}
