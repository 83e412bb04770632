//! A legend beside the plot, for pictures that nobody can point at: it names every point when names beside them do not fit.

use super::{RADIUS, Scene, ScenePoint, Size};
use crate::geometry::Spot;
use crate::label::{Anchor, Label, text_width};
use crate::roofline::Roofline;
use crate::theme::Ink;

const FONT: f64 = 11.5;
/// Height of a row.
const ROW: f64 = 18.0;
/// Distances from the edge of a column to the mark, and from the mark to the name.
const BEFORE: f64 = 16.0;
const GAP: f64 = 10.0;
/// Largest share of the width that the legend may take.
const MOST: f64 = 0.4;

/// Number of columns, rows in each, and width of one.
struct Columns {
    rows: usize,
    count: usize,
    width: f64,
}

impl Scene {
    /// The picture with every point named: beside its mark where there is room for all names, else in a legend.
    pub fn with_legend(chart: &Roofline, size: Size) -> Self {
        let scene = Self::build(chart, size, None);
        let is_named = |label: &str| scene.labels.iter().any(|other| other.text == label);
        if chart.points.iter().all(|point| is_named(&point.label)) {
            return scene;
        }
        let columns = columns(chart, size);
        let taken = columns.count as f64 * columns.width;
        let plot = Size { width: size.width - taken, ..size };
        let mut scene = Self::build(chart, plot, None);
        scene.size = size;
        scene.add_legend(chart, &columns, plot.width);
        scene
    }

    fn add_legend(&mut self, chart: &Roofline, columns: &Columns, left: f64) {
        let room = columns.rows * columns.count;
        let shown = if chart.points.len() > room { room - 1 } else { chart.points.len() };
        let place = |index: usize| Spot {
            x: left + (index / columns.rows) as f64 * columns.width + BEFORE,
            y: self.plot.top + ((index % columns.rows) as f64 + 0.5) * ROW,
        };
        let name = |text: &str, at: Spot| {
            let at = at.moved(RADIUS + GAP, 0.0);
            Label::new(&fitting(text, columns.width), at, Anchor::Start, Ink::Main, FONT)
        };
        for (index, point) in chart.points.iter().take(shown).enumerate() {
            let at = place(index);
            self.points.push(ScenePoint {
                ringed: false,
                key: point.key.clone(),
                label: point.label.clone(),
                mark: point.mark,
                filled: point.filled,
                at,
                radius: RADIUS,
                focused: false,
            });
            self.labels.push(name(&point.label, at));
        }
        let more = chart.points.len() - shown;
        if more > 0 {
            self.labels.push(name(&format!("and {more} more"), place(shown)));
        }
    }
}

fn columns(chart: &Roofline, size: Size) -> Columns {
    let longest =
        chart.points.iter().map(|point| text_width(&point.label, FONT)).fold(0.0, f64::max);
    let most = size.width * MOST;
    let width = (longest + BEFORE + RADIUS + 2.0 * GAP).min(most);
    let rows = floor((size.height - ROW) / ROW).max(1);
    let count = chart.points.len().div_ceil(rows).min(floor(most / width).max(1));
    Columns { rows, count, width }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts from floats saturate, and pictures are small"
)]
fn floor(value: f64) -> usize {
    value as usize
}

/// The name, shortened to the width of a column.
fn fitting(text: &str, width: f64) -> String {
    let room = width - BEFORE - RADIUS - GAP;
    if text_width(text, FONT) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    for letter in text.chars() {
        if text_width(&short, FONT) + text_width("m…", FONT) > room {
            break;
        }
        short.push(letter);
    }
    short + "…"
}
