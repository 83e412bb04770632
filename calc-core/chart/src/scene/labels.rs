//! Texts of the scene: numbers and names of the axes, and labels of roofs, ridges and points.

use report::number_text;

use super::{Frame, Line, MARGIN, NAMED_POINTS, ScenePoint, highest_roof, roof_ink, strokes};
use crate::axis::{LogAxis, decade_text};
use crate::geometry::{Rect, Spot};
use crate::label::{Anchor, Label, Placer, text_width};
use crate::mark::hue_of_class;
use crate::roofline::{ComputeRoof, Roofline, Sustained};
use crate::theme::Ink;

const FONT: f64 = 11.5;
/// Least distance of two numbers on one line, so that they do not read as one.
const AIR: f64 = 8.0;

/// Drops labels that come too near to the one before.
fn apart(labels: impl Iterator<Item = Label>) -> Vec<Label> {
    let mut kept: Vec<Label> = Vec::new();
    for label in labels {
        if kept.last().is_none_or(|before| before.bounds.right + AIR <= label.bounds.left) {
            kept.push(label);
        }
    }
    kept
}

/// Decades from one number of an axis to the next, so that each has room.
fn every(room: f64, axis: &LogAxis) -> i32 {
    let decade = (axis.at_log(1.0) - axis.at_log(0.0)).abs();
    let steps = [1, 2, 3, 5, 10];
    steps.into_iter().find(|step| decade * f64::from(*step) >= room).unwrap_or(20)
}

impl Frame {
    pub(super) fn axis_labels(&self) -> Vec<Label> {
        let names = [self.x_name(&self.plot), self.y_name()];
        self.x_numbers().into_iter().chain(self.y_numbers()).chain(names).collect()
    }

    pub(super) fn x_numbers(&self) -> Vec<Label> {
        let x_step = every(46.0, &self.x);
        let on_x = self.x.range.decades().filter(|decade| decade % x_step == 0).map(|decade| {
            let text = decade_text(decade);
            let half = text_width(&text, FONT) / 2.0;
            let x = self.x.at_log(f64::from(decade)).min(self.plot.right + MARGIN - half);
            let at = Spot { x, y: self.plot.bottom + 16.0 };
            Label::new(&text, at, Anchor::Middle, Ink::Muted, FONT)
        });
        apart(on_x)
    }

    pub(super) fn y_numbers(&self) -> Vec<Label> {
        let y_step = every(18.0, &self.y);
        let on_y = self.y.range.decades().filter(|decade| decade % y_step == 0).map(|decade| {
            let at = Spot { x: self.plot.left - 8.0, y: self.y.at_log(f64::from(decade)) };
            Label::new(&decade_text(decade - 12), at, Anchor::End, Ink::Muted, FONT)
        });
        on_y.collect()
    }

    /// Name of the x axis at the foot of the picture, below the middle of this part of it.
    pub(super) fn x_name(&self, plot: &Rect) -> Label {
        let middle = Spot { x: f64::midpoint(plot.left, plot.right), y: self.size.height - 9.0 };
        let long = "arithmetic intensity, FLOP per byte of DRAM traffic";
        let fits = text_width(long, FONT) <= plot.right - plot.left;
        let name = if fits { long } else { "FLOP per byte of DRAM traffic" };
        Label::new(name, middle, Anchor::Middle, Ink::Muted, FONT)
    }

    pub(super) fn y_name(&self) -> Label {
        let beside = Spot { x: 9.0, y: f64::midpoint(self.plot.top, self.plot.bottom) };
        Label::upright("TFLOP/s, TOP/s", beside, Ink::Muted, FONT)
    }

    /// Name of the panel above its plot.
    pub(super) fn heading(&self, name: &str) -> Label {
        let at = Spot { x: self.plot.left, y: self.plot.top - 10.0 };
        Label::new(name, at, Anchor::Start, Ink::Main, FONT)
    }

    pub(super) fn inner_labels(
        &self,
        chart: &Roofline,
        points: &[ScenePoint],
        lines: &[Line],
    ) -> Vec<Label> {
        let mut placer = Placer {
            bounds: self.plot,
            taken: points.iter().map(|point| Rect::around(point.at, point.radius + 2.0)).collect(),
            lines: strokes(lines),
        };
        let mut labels = Vec::new();
        let named = |point: &&ScenePoint| point.focused || points.len() <= NAMED_POINTS;
        for point in points.iter().rev().filter(named) {
            let name = placer.place(beside_point(point));
            placer.taken.extend(name.as_ref().map(widened));
            labels.extend(name);
        }
        let steepest = chart.l2.as_ref().unwrap_or(&chart.bandwidth).value.get();
        for roof in &chart.roofs {
            let ends = self.horizontal(steepest, roof.peak.get());
            let ink = Ink::Hue(hue_of_class(roof.class));
            // Where the whole label has no clear place, the one without its unit, which the axis has too, may have one.
            let brief = roof
                .label
                .rsplit_once(number_text::SPACE)
                .map_or(roof.label.as_str(), |(before, _)| before);
            labels.extend(ends.and_then(|ends| {
                let clear = placer.place_clear(along_roof(&roof.label, ends, ink));
                let clear = clear.or_else(|| placer.place_clear(along_roof(brief, ends, ink)));
                clear.or_else(|| placer.place(along_roof(&roof.label, ends, ink)))
            }));
        }
        let highest = highest_roof(chart).unwrap_or(f64::MAX);
        for roof in core::iter::once(&chart.bandwidth).chain(&chart.l2) {
            let ends = self.diagonal(roof.value.get(), highest);
            // Where the whole label has no room, its first part has.
            let brief = roof.label.split('·').next().unwrap_or_default().trim_end();
            labels.extend(ends.and_then(|ends| {
                let whole = placer.place(along_diagonal(&roof.label, ends));
                whole.or_else(|| placer.place(along_diagonal(brief, ends)))
            }));
        }
        labels.extend(self.ridge_labels(chart, &mut placer));
        for roof in self.shown_sustained(chart) {
            let Sustained::Compute(class, peak) = *roof else { continue };
            let text = format!("measured {}", number_text::short(peak.get() / 1e12, 4));
            let ends = self.horizontal(chart.bandwidth.value.get(), peak.get());
            let ink = roof_ink(chart, class);
            labels.extend(ends.and_then(|ends| placer.place_clear(along_roof(&text, ends, ink))));
        }
        labels
    }

    /// Where the roofs meet the diagonal, in numbers at the foot of the drop lines; the main one first.
    pub(super) fn ridge_labels(&self, chart: &Roofline, placer: &mut Placer) -> Vec<Label> {
        let is_main = |roof: &&ComputeRoof| chart.main == Some(roof.class);
        let others = chart.roofs.iter().filter(|roof| !is_main(roof));
        let mut labels = Vec::new();
        for (index, roof) in chart.roofs.iter().filter(is_main).chain(others).enumerate() {
            let ridge = (roof.peak / chart.bandwidth.value).get();
            let number = number_text::short(ridge, 3);
            let text = if index == 0 { format!("ridge {number}") } else { number };
            let y = self.plot.bottom - 9.0;
            let x = self.x.at(ridge);
            let at = |x: f64, anchor| Label::new(&text, Spot { x, y }, anchor, Ink::Muted, FONT);
            let places =
                [at(x, Anchor::Middle), at(x + 4.0, Anchor::Start), at(x - 4.0, Anchor::End)];
            if let Some(label) = placer.place(places) {
                placer.taken.push(widened(&label));
                labels.push(label);
            }
        }
        labels
    }
}

/// The box of a label with the air that a text beside it leaves.
fn widened(label: &Label) -> Rect {
    Rect { left: label.bounds.left - AIR, right: label.bounds.right + AIR, ..label.bounds }
}

/// Candidate places for the name of a point, the best first.
fn beside_point(point: &ScenePoint) -> Vec<Label> {
    let ink = Ink::Hue(point.mark.hue);
    let gap = point.radius + 5.0;
    let near =
        |x: f64, y: f64, anchor| Label::new(&point.label, point.at.moved(x, y), anchor, ink, FONT);
    let mut places = Vec::new();
    for far in [1.0, 1.8, 2.4] {
        let (right, down) = (gap * far, 13.0 * far);
        places.push(near(right, 3.0 * far, Anchor::Start));
        places.push(near(right * 0.6, down, Anchor::Start));
        places.push(near(0.0, down, Anchor::Middle));
        places.push(near(-right, -3.0 * far, Anchor::End));
        places.push(near(-right * 0.6, -down, Anchor::End));
        places.push(near(0.0, -down, Anchor::Middle));
        places.push(near(-right, 3.0 * far, Anchor::End));
    }
    places
}

/// Candidate places along a horizontal roof: at its end above it, then below it, then further to the left, then beyond its left
/// end, where no roof is.
fn along_roof(text: &str, (from, to): (Spot, Spot), ink: Ink) -> Vec<Label> {
    let width = text_width(text, FONT);
    let room = ((to.x - from.x) - width).max(0.0);
    let mut places = Vec::new();
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        for y in [-9.0, 10.0] {
            let at = to.moved(-2.0 - room * share, y);
            places.push(Label::new(text, at, Anchor::End, ink, FONT));
        }
    }
    for (x, y) in [(-14.0, -2.0), (-6.0, -9.0), (-24.0, 6.0)] {
        places.push(Label::new(text, from.moved(x, y), Anchor::End, ink, FONT));
    }
    for y in [-24.0, -38.0] {
        places.push(Label::new(text, to.moved(-2.0, y), Anchor::End, ink, FONT));
    }
    places
}

/// Candidate places along the diagonal: left of it, where no roof is; then right of it.
fn along_diagonal(text: &str, (from, to): (Spot, Spot)) -> Vec<Label> {
    let on = |share: f64| from.moved((to.x - from.x) * share, (to.y - from.y) * share);
    let shares = [0.62, 0.7, 0.54, 0.78, 0.46, 0.86, 0.94, 0.38, 0.3, 0.2];
    let left = shares
        .iter()
        .map(|share| Label::new(text, on(*share).moved(-8.0, -8.0), Anchor::End, Ink::Main, FONT));
    let right = shares.iter().map(|share| {
        Label::new(text, on(*share).moved(10.0, 10.0), Anchor::Start, Ink::Main, FONT)
    });
    left.chain(right).collect()
}
