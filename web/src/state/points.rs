//! The user's own points, measured elsewhere: a name, an intensity and a rate.

use calc_core::device::{Roof, RoofSet};
use calc_core::units::{FlopsPerByte, FlopsPerSec};
use chart::mark::{Mark, Shape};
use chart::roofline::{PointInput, Roofline};
use chart::theme::Hue;
use report::input::number_input;
use report::number_text;
use report::output::verdict;
use report::output::words::roofs::above_disturbed;

/// Most points; a chart with more is unreadable.
pub const MOST: usize = 40;
/// Longest name, in characters.
const LONGEST_NAME: usize = 40;
/// Separator of a point's parts in the address.
const SEPARATOR: char = '~';

/// Shapes of the marks, used in turn.
const SHAPES: [Shape; 6] =
    [Shape::Circle, Shape::Square, Shape::Diamond, Shape::Triangle, Shape::Hexagon, Shape::Star];

/// A point. Its numbers are stored as typed, so that an address restores them unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPoint {
    name: String,
    intensity: String,
    rate: String,
}

/// A row of the table of own points.
#[derive(Debug, Clone, PartialEq)]
pub struct PointRow {
    /// Key of the point in the chart.
    pub key: String,
    pub mark: Mark,
    pub name: String,
    /// Intensity and rate with their units.
    pub numbers: String,
    /// Error of a point above the roof; empty below it.
    pub warning: String,
}

impl OwnPoint {
    /// Builds a point from its parts; `None` if a number is invalid or out of range.
    fn new(name: &str, intensity: &str, rate: &str) -> Option<Self> {
        let is_usable =
            |text: &str| number_input::real(text).is_some_and(|it| (1e-9..=1e9).contains(&it));
        let plain = |letter: &char| !letter.is_control() && *letter != SEPARATOR;
        let name: String = name.trim().chars().filter(plain).take(LONGEST_NAME).collect();
        let trimmed = |text: &str| text.chars().filter(|it| !it.is_whitespace()).collect();
        (is_usable(intensity) && is_usable(rate)).then(|| Self {
            name: if name.is_empty() { "measured".to_owned() } else { name },
            intensity: trimmed(intensity),
            rate: trimmed(rate),
        })
    }

    fn numbers(&self) -> (f64, f64) {
        let number = |text: &str| number_input::real(text).unwrap_or(1.0);
        (number(&self.intensity), number(&self.rate))
    }

    fn mark(index: usize) -> Mark {
        Mark { shape: SHAPES[index % SHAPES.len()], hue: Hue::Gray }
    }

    fn key(index: usize) -> String {
        format!("own-{index}")
    }

    /// The point for the chart.
    pub fn input(&self, index: usize) -> PointInput {
        let (intensity, rate) = self.numbers();
        PointInput {
            key: Self::key(index),
            mark: Self::mark(index),
            label: self.name.clone(),
            intensity: FlopsPerByte::new(intensity),
            attained: FlopsPerSec::from_tera(rate),
            expected: None,
            filled: false,
        }
    }
}

/// The rows of the table, each compared with the chart's roofs. `disturbed` has those that something disturbed while they were measured.
pub fn rows(points: &[OwnPoint], chart: &Roofline, disturbed: RoofSet) -> Vec<PointRow> {
    let highest = chart.roofs.iter().max_by(|a, b| a.peak.get().total_cmp(&b.peak.get()));
    let peak = highest.map_or(0.0, |roof| roof.peak.get());
    let warning = |times: f64, roof: Roof| {
        let said = verdict::above_roof(times)?;
        Some(if disturbed.has(roof) { above_disturbed(times, roof) } else { said })
    };
    let row = |(index, point): (usize, &OwnPoint)| {
        let (intensity, rate) = point.numbers();
        let streamed = intensity * chart.bandwidth.value.get();
        let roof = match highest {
            Some(roof) if peak <= streamed => Roof::Peak(roof.class),
            _ => Roof::Bandwidth,
        };
        let times = rate * 1e12 / streamed.min(peak);
        PointRow {
            key: OwnPoint::key(index),
            mark: OwnPoint::mark(index),
            name: point.name.clone(),
            numbers: format!(
                "{} FLOP/B · {}{}TFLOP/s",
                number_text::plain(intensity),
                number_text::plain(rate),
                number_text::SPACE
            ),
            warning: warning(times, roof).unwrap_or_default(),
        }
    };
    points.iter().enumerate().map(row).collect()
}

/// Parses lines of `name, FLOP/B, TFLOP/s`, also with tabs or semicolons, as copied from tables. Returns the points, at most
/// `free`, and the invalid or surplus lines.
pub fn parse(text: &str, free: usize) -> (Vec<OwnPoint>, String) {
    let mut points = Vec::new();
    let mut left = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match point_of(line).filter(|_| points.len() < free) {
            Some(point) => points.push(point),
            None => left.push(line),
        }
    }
    (points, left.join("\n"))
}

fn point_of(line: &str) -> Option<OwnPoint> {
    let separator = ['\t', ';', ','].into_iter().find(|it| line.contains(*it))?;
    let (rest, rate) = line.rsplit_once(separator)?;
    let (name, intensity) = rest.rsplit_once(separator).unwrap_or(("", rest));
    OwnPoint::new(name, intensity, rate)
}

/// Encodes the points as one value of the address; `None` without points.
pub fn write(points: &[OwnPoint]) -> Option<String> {
    let parts: Vec<&str> = points
        .iter()
        .flat_map(|point| [point.name.as_str(), point.intensity.as_str(), point.rate.as_str()])
        .collect();
    (!parts.is_empty()).then(|| parts.join("~"))
}

/// Decodes the points from a value of the address; `None` if one of them is invalid.
pub fn read(value: &str) -> Option<Vec<OwnPoint>> {
    let parts: Vec<&str> = value.split(SEPARATOR).take(3 * MOST + 1).collect();
    if !parts.len().is_multiple_of(3) || parts.len() > 3 * MOST {
        return None;
    }
    parts.chunks(3).map(|it| OwnPoint::new(it[0], it[1], it[2])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::derived::derive;
    use crate::state::inputs::Inputs;

    #[test]
    fn lines_become_points_and_the_rest_stays() {
        let (points, left) = parse("mine, 3.8, 0.9\nx\nno name\t1\t2\n a,b ,1e-3,5\n1;2\n", 10);
        assert_eq!(left, "x");
        let names: Vec<&str> = points.iter().map(|point| point.name.as_str()).collect();
        assert_eq!(names, ["mine", "no name", "a,b", "measured"]);
        assert_eq!(parse("a,1,2\nb,1,2", 1).1, "b,1,2", "more than there is room for");
        for line in ["a,0,1", "a,1,-1", "a,1,1e10", "a,NaN,1", "a,1", "a", "1,2,x"] {
            assert_eq!(parse(line, 9).0, [], "{line}");
        }
    }

    #[test]
    fn the_address_brings_them_back() {
        let (points, _) = parse("my ~ kernel, 3.8, 0.9\n, 1e2, 12.50", 10);
        let value = write(&points).expect("two points");
        assert_eq!(read(&value), Some(points));
        assert_eq!(write(&[]), None);
        for bad in ["", "a", "a~1", "a~1~x", "a~1~2~b", &"a~1~2~".repeat(1000)] {
            assert_eq!(read(bad), None, "{bad:.20}");
        }
    }

    #[test]
    fn a_point_above_the_roof_is_warned_about() {
        let chart = derive(&Inputs::default()).expect("valid").chart;
        // Roof at 1 FLOP/B: 102.4 GFLOP/s.
        let (points, _) = parse("below,1,0.1\nabove,1,0.2\nhigh,1000,40", 10);
        let warnings: Vec<bool> = rows(&points, &chart, RoofSet::NONE)
            .iter()
            .map(|row| !row.warning.is_empty())
            .collect();
        assert_eq!(warnings, [false, true, true]);
        assert!(
            rows(&points, &chart, RoofSet::NONE)[1].warning.contains("cache"),
            "{:?}",
            rows(&points, &chart, RoofSet::NONE)[1]
        );
        let disturbed = RoofSet::NONE.with(Roof::Bandwidth);
        let said = rows(&points, &chart, disturbed);
        assert!(said[1].warning.contains("that roof is too low"), "{:?}", said[1]);
        assert!(said[2].warning.contains("cache"), "its roof is a peak: {:?}", said[2]);
    }
}
