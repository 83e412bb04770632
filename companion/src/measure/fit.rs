//! Two numbers per format from measured points: which share of the bandwidth its kernel reaches, and what every call costs.
//!
//! ```text
//! t = V / (share · B) + floor
//! ```
//!
//! V: bytes of a call; B: bandwidth of the device. Errors count as ratios, so that small points count as much as large ones,
//! and by their absolute values, so that one disturbed point does not bend the line.

use calc_core::math::ln;
use kernels::stats::median;

/// A measured point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// Bytes of a call.
    pub(crate) bytes: f64,
    /// Seconds of a call.
    pub(crate) time: f64,
}

/// The line of a format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    /// Bytes per second of a very large call.
    pub(crate) rate: f64,
    /// Seconds that every call costs.
    pub(crate) floor: f64,
}

impl Line {
    /// The time of a call.
    pub(crate) fn time(&self, bytes: f64) -> f64 {
        bytes / self.rate + self.floor
    }

    /// Measured over predicted.
    pub(crate) fn ratio(&self, point: Point) -> f64 {
        point.time / self.time(point.bytes)
    }
}

/// Floors that are tried, as shares of the shortest time.
const STEPS: u32 = 400;

/// The line through the points. `None` without points, or if one is no time.
pub(crate) fn fit(points: &[Point]) -> Option<Line> {
    if points.iter().any(|point| !(point.time > 0.0 && point.bytes > 0.0)) {
        return None;
    }
    let shortest = points.iter().map(|point| point.time).reduce(f64::min)?;
    let lines = (0..STEPS).filter_map(|step| {
        let floor = shortest * f64::from(step) / f64::from(STEPS);
        let rates: Vec<f64> =
            points.iter().map(|point| point.bytes / (point.time - floor)).collect();
        let line = Line { rate: median(&rates)?, floor };
        Some((line, points.iter().map(|point| ln(line.ratio(*point)).abs()).sum::<f64>()))
    });
    lines.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(line, _)| line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(floor: f64, rate: f64, noise: &[f64]) -> Vec<Point> {
        let sizes = [4e6, 16e6, 32e6, 64e6, 256e6];
        let times = sizes
            .iter()
            .zip(noise)
            .map(|(bytes, noise)| Point { bytes: *bytes, time: (bytes / rate + floor) * noise });
        times.collect()
    }

    #[test]
    fn a_line_is_found_and_one_disturbed_point_does_not_bend_it() {
        for (floor, noise) in
            [(0.0, [1.0; 5]), (50e-6, [1.0; 5]), (50e-6, [1.0, 1.0, 3.0, 1.0, 1.0])]
        {
            let line = fit(&points(floor, 50e9, &noise)).unwrap();
            assert!((line.rate / 50e9 - 1.0).abs() < 0.01, "{line:?}");
            assert!((line.floor - floor).abs() < 2e-6, "{line:?}");
        }
    }

    #[test]
    fn points_that_are_no_times_have_no_line() {
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&[Point { bytes: 1.0, time: 0.0 }]), None);
        assert_eq!(fit(&[Point { bytes: 1.0, time: f64::NAN }]), None);
    }
}
