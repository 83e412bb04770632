//! Strokes of the scene: grid, roofs, drop lines, stubs at ideal rates, and the region under the roof.

use super::{Frame, Line, TIED_POINTS, highest_roof, roof_ink};
use crate::geometry::{Spot, clip};
use crate::mark::hue_of_class;
use crate::roofline::{PointInput, Roofline, Sustained};
use crate::theme::Ink;

/// Half the length of a stub.
const STUB: f64 = 5.0;

impl Frame {
    pub(super) fn grid(&self) -> Vec<Line> {
        let plot = self.plot;
        let upright = self.x.range.decades().map(|decade| {
            let x = self.x.at_log(f64::from(decade));
            let (from, to) = (Spot { x, y: plot.top }, Spot { x, y: plot.bottom });
            Line::solid(from, to, Ink::Line, 1.0)
        });
        let level = self.y.range.decades().map(|decade| {
            let y = self.y.at_log(f64::from(decade));
            let (from, to) = (Spot { x: plot.left, y }, Spot { x: plot.right, y });
            Line::solid(from, to, Ink::Line, 1.0)
        });
        upright.chain(level).collect()
    }

    pub(super) fn wash(&self, chart: &Roofline) -> Vec<Spot> {
        let bandwidth = chart.bandwidth.value.get();
        let top = highest_roof(chart);
        let Some((from, ridge)) = self.diagonal(bandwidth, top.unwrap_or(f64::MAX)) else {
            return Vec::new();
        };
        let mut outline = vec![Spot { x: from.x, y: self.plot.bottom }, from, ridge];
        if top.is_some() {
            outline.push(Spot { x: self.plot.right, y: ridge.y });
        }
        let last_x = if top.is_some() { self.plot.right } else { ridge.x };
        outline.push(Spot { x: last_x, y: self.plot.bottom });
        outline
    }

    pub(super) fn roof_lines(&self, chart: &Roofline) -> Vec<Line> {
        let bandwidth = chart.bandwidth.value.get();
        let highest = highest_roof(chart).unwrap_or(f64::MAX);
        let mut lines = Vec::new();
        if let Some(l2) = &chart.l2 {
            let l2 = l2.value.get();
            let ends = self.diagonal(l2, highest);
            lines.extend(ends.map(|(from, to)| Line::dashed(from, to, Ink::Main, 1.0)));
            // From there each compute roof goes on to where it meets the DRAM's.
            lines.extend(chart.roofs.iter().filter_map(|roof| {
                let peak = roof.peak.get();
                let (from, to) = (self.spot(peak / l2, peak), self.spot(peak / bandwidth, peak));
                let (from, to) = clip(from, to, &self.plot)?;
                Some(Line::dashed(from, to, Ink::Hue(hue_of_class(roof.class)), 1.0))
            }));
        }
        for roof in self.shown_sustained(chart) {
            let (ends, ink) = match *roof {
                Sustained::Bandwidth(value) => (self.diagonal(value.get(), highest), Ink::Main),
                Sustained::Compute(class, peak) => {
                    (self.horizontal(bandwidth, peak.get()), roof_ink(chart, class))
                }
            };
            lines.extend(ends.map(|(from, to)| Line::dashed(from, to, ink, 1.0)));
        }
        for roof in &chart.roofs {
            let ink = Ink::Hue(hue_of_class(roof.class));
            let ends = self.horizontal(bandwidth, roof.peak.get());
            lines.extend(ends.map(|(from, to)| Line::solid(from, to, ink, 2.0)));
        }
        let ends = self.diagonal(bandwidth, highest);
        lines.extend(ends.map(|(from, to)| Line::solid(from, to, Ink::Main, 2.0)));
        lines
    }

    pub(super) fn ridge_drops(&self, chart: &Roofline) -> Vec<Line> {
        let bandwidth = chart.bandwidth.value.get();
        let drop = |peak: f64| {
            let ridge = self.spot(peak / bandwidth, peak);
            let (from, to) = clip(ridge, Spot { x: ridge.x, y: self.plot.bottom }, &self.plot)?;
            Some(Line { path: vec![from, to], ink: Ink::Line, width: 1.0, dash: Some((2.0, 3.0)) })
        };
        chart.roofs.iter().filter_map(|roof| drop(roof.peak.get())).collect()
    }

    /// A stub at the ideal rate above each expected one, with a thin line between them. From a measured rate the line leads to
    /// the expected one: from all when points are few, else from the focused one.
    pub(super) fn ties(&self, chart: &Roofline, focus: Option<&str>) -> Vec<Line> {
        let few = chart.points.len() <= TIED_POINTS;
        let is_tied =
            |point: &&PointInput| point.filled || few || focus == Some(point.key.as_str());
        let tie = |point: &PointInput| {
            let x = point.intensity.get();
            let mark = self.spot(x, Self::marked(point).get());
            let other = if point.filled { point.attained } else { point.expected? };
            let (end, ink) = (self.spot(x, other.get()), Ink::Hue(point.mark.hue));
            let line =
                clip(mark, end, &self.plot).map(|(from, to)| Line::solid(from, to, ink, 1.0));
            let stub = clip(end.moved(-STUB, 0.0), end.moved(STUB, 0.0), &self.plot)
                .map(|(from, to)| Line::solid(from, to, ink, 2.0));
            Some(line.into_iter().chain(stub))
        };
        chart.points.iter().filter(is_tied).filter_map(tie).flatten().collect()
    }
}
