//! Calibrates a device from its user's measurements, from a file or taken now: the factors that `calibrate` writes to a file.
//!
//! Rows about the same kernels, from the same engine, give one row of factors. A fixed time is separated from the rates only if
//! the measurements are many and far apart; the interval results from predicting each measurement from the others.

use calc_core::calibration::{Calibration, Engine, FactorRow, Interval};
use calc_core::math::ln;
use calc_core::op::OpKind;
use calc_core::text::Text;
use calc_core::units::Seconds;
use report::input::calibration_file::OwnRow;
use report::output::accuracy::percentile;

use crate::predict::{Prepared, TimedPart};
use crate::row::Work;

/// Number of measurements from which a fixed time and an interval are fitted.
const MANY: usize = 5;
/// Minimum ratio of the longest to the shortest time at which a fixed time is fitted.
const SPAN: f64 = 8.0;
/// Slowdown of a good kernel relative to the roof, used where the measurements leave it open.
const USUAL_MEMORY: f64 = 1.2;
const USUAL_COMPUTE: f64 = 1.6;
/// Range of the shares of the roofs in a file.
const SHARES: (f64, f64) = (1e-4, 10.0);

/// The kernels that a row of factors applies to.
#[derive(Debug, Clone, Copy, PartialEq)]
struct About {
    engine: Option<Engine>,
    format: &'static str,
    op: OpKind,
    in_step: bool,
}

/// The factors from measurements of one device, in the order of their first measurements.
pub fn rows(device: &str, measured: &[Prepared<'_>]) -> Vec<OwnRow> {
    let mut groups: Vec<(About, Vec<Point>)> = Vec::new();
    for row in measured.iter().filter(|row| row.row.device.key == device) {
        let about = about(row);
        let part = row.part(&Calibration::FITTED, &|counted| {
            counted.format.key == about.format
                && (counted.kind == about.op
                    || about.op == OpKind::Gemm && counted.shape.product().is_some())
        });
        let point = Point { part, tokens: None, measured: row.row.measured.get() };
        match groups.iter_mut().find(|(known, _)| *known == about) {
            Some((_, points)) => points.push(point),
            None => groups.push((about, vec![point])),
        }
    }
    groups.iter().filter_map(|(about, points)| own_row(device, about, points)).collect()
}

fn about(row: &Prepared<'_>) -> About {
    let (op, in_step) = match &row.row.work {
        Work::Step(_) => (OpKind::Gemm, true),
        Work::Operator(work) => (work.inputs.operator.kind(), false),
    };
    About { engine: row.row.engine, format: row.weights(), op, in_step }
}

fn own_row(device: &str, about: &About, points: &[Point]) -> Option<OwnRow> {
    let found = Fit::of(points)?;
    let share =
        |slowdown: Option<f64>| slowdown.map(|slowdown| (1.0 / slowdown).clamp(SHARES.0, SHARES.1));
    let factors = FactorRow {
        device: Some(Text::Owned(device.to_owned())),
        engine: about.engine,
        format: Some(Text::Borrowed(about.format)),
        op: Some(about.op),
        in_step: about.in_step,
        eta_memory: share(found.memory),
        eta_compute: share(found.compute),
        floor: found.floor.map(Seconds::new),
        interval: interval(points),
        ..FactorRow::OPEN
    };
    Some(OwnRow { factors, points: u32::try_from(points.len()).unwrap_or(u32::MAX) })
}

/// Interval of measured over predicted times that contains 80 % of the points, each predicted from the others.
fn interval(points: &[Point]) -> Option<Interval> {
    if points.len() < MANY {
        return None;
    }
    let mut ratios = Vec::new();
    for left_out in 0..points.len() {
        let mut others = points.to_vec();
        let point = others.remove(left_out);
        ratios.push(point.measured / Fit::of(&others)?.time(&point));
    }
    let [low, high] = [0.1, 0.9].map(|share| percentile(&mut ratios, share));
    Some(Interval { low: low.clamp(0.01, 1.0), high: high.clamp(1.0, 100.0) })
}

/// A measurement and the model's times of its parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Ideal times of its kernels.
    pub part: TimedPart,
    /// Number of tokens (M), if the extra tokens of a matmul are fitted, too.
    pub tokens: Option<f64>,
    /// Measured time [s].
    pub measured: f64,
}

/// Slowdowns relative to the roofs, and the fixed time of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// Slowdown relative to the bandwidth; `None` if no point is memory-bound.
    pub memory: Option<f64>,
    /// Slowdown relative to the peak in the limit of many tokens.
    pub compute: Option<f64>,
    /// Extra tokens that a matmul computes.
    pub extra: Option<f64>,
    /// Fixed time of a kernel [s]; `None` keeps the model's.
    pub floor: Option<f64>,
}

impl Fit {
    /// Fits the smallest sum of logarithmic errors; `None` if no point has such kernels. A fixed time is fitted only if the
    /// measurements are many and far apart.
    pub fn of(points: &[Point]) -> Option<Self> {
        let times = points.iter().map(|point| point.measured);
        let span = times.clone().fold(0.0, f64::max) / times.fold(f64::INFINITY, f64::min);
        Self::with_floor(points, points.len() >= MANY && span >= SPAN)
    }

    /// Fits points that were selected to separate a fixed time from a rate, or to have no fixed time.
    pub fn with_floor(points: &[Point], has_floor: bool) -> Option<Self> {
        let by = |of: fn(&TimedPart) -> f64| {
            points.iter().map(move |point| (point.measured - point.part.rest) / of(&point.part))
        };
        let usable = points.iter().any(|point| point.part.count > 0.0);
        let memory = points.iter().any(|point| point.part.memory >= point.part.compute);
        let compute = points.iter().any(|point| point.part.compute > point.part.memory);
        let has_extra = compute && points.iter().all(|point| point.tokens.is_some());
        let floor = by(|part| part.count).fold(f64::INFINITY, f64::min).max(1e-9);
        let floors: &[f64] = if has_floor { &[0.01, 0.3, 0.8] } else { &[0.0] };
        let extras: &[f64] = if has_extra { &[1.0, 10.0, 100.0] } else { &[0.0] };
        let starts = floors.iter().flat_map(|share| extras.iter().map(move |extra| (share, extra)));
        let best = starts.map(|(share, extra)| {
            let start = Self {
                memory: memory.then_some(USUAL_MEMORY),
                compute: compute.then_some(USUAL_COMPUTE),
                extra: has_extra.then_some(*extra),
                floor: has_floor.then_some(floor * share),
            };
            let found = start.descend(points);
            // The fixed time can fall to zero while the rates are still wrong, so it restarts.
            let again = Self { extra: start.extra, floor: start.floor, ..found.0 };
            [found, again.descend(points)].into_iter()
        });
        let best = best.flatten();
        best.filter(|_| usable).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(fit, _)| fit)
    }

    /// The time of these kernels and of the rest of the measurement [s].
    pub fn time(&self, point: &Point) -> f64 {
        let part = &point.part;
        let more = self.extra.zip(point.tokens).map_or(0.0, |(extra, tokens)| extra / tokens);
        let memory = self.memory.map_or(0.0, |slower| slower * part.memory);
        let compute = self.compute.map_or(0.0, |slower| slower * part.compute * (1.0 + more));
        let floors = self.floor.map_or(part.floors, |floor| floor * part.count);
        memory.max(compute) + floors + part.rest
    }

    /// The usual slowdown has a third of the weight of a measurement, so it decides only where measurements do not.
    fn cost(&self, points: &[Point]) -> f64 {
        let errors = points.iter().map(|point| ln(self.time(point) / point.measured).abs());
        let usual = [(self.memory, USUAL_MEMORY), (self.compute, USUAL_COMPUTE)];
        let unusual = usual
            .iter()
            .map(|(slower, usual)| slower.map_or(0.0, |slower| ln(slower / usual).abs()));
        errors.sum::<f64>() + unusual.sum::<f64>() / 3.0
    }

    /// Descends with halving steps along every parameter, and along directions that make small points slower and large ones
    /// faster, because a sum of absolute errors has valleys across the axes.
    fn descend(mut self, points: &[Point]) -> (Self, f64) {
        let mut cost = self.cost(points);
        let mut step = 0.5_f64;
        while step > 1e-4 {
            let before = cost;
            let up = 1.0 + step;
            for factor in [up, 1.0 / up] {
                for [rates, rest] in [[factor, 1.0], [1.0, factor], [factor, 1.0 / factor]] {
                    for next in self.neighbors(rates, rest) {
                        let found = next.cost(points);
                        if found < cost {
                            (self, cost) = (next, found);
                        }
                    }
                }
            }
            if cost >= before {
                step /= 2.0;
            }
        }
        (self, cost)
    }

    /// One of the two rates times a factor, and one of the other parameters times another.
    fn neighbors(self, rate: f64, beside: f64) -> [Self; 4] {
        let times = |value: Option<f64>, factor: f64| value.map(|value| value * factor);
        let memory = Self { memory: times(self.memory, rate), ..self };
        let compute = Self { compute: times(self.compute, rate), ..self };
        [
            Self { floor: times(self.floor, beside), ..memory },
            Self { floor: times(self.floor, beside), ..compute },
            Self { extra: times(self.extra, beside), ..memory },
            Self { extra: times(self.extra, beside), ..compute },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(truth: &Fit, noise: f64) -> Vec<Point> {
        (0..24)
            .map(|i| {
                let size = f64::from(1_u32 << (i % 12));
                let (memory, compute) =
                    if i < 12 { (size, 0.1 * size) } else { (0.2 * size, size) };
                let part = TimedPart { memory, compute, count: 1.0, floors: 9.0, rest: 0.5 };
                let wobble = if i % 2 == 0 { 1.0 + noise } else { 1.0 - noise };
                let point = Point { part, tokens: None, measured: 0.0 };
                Point { measured: truth.time(&point) * wobble, ..point }
            })
            .collect()
    }

    #[test]
    fn what_made_the_times_is_found_again() {
        for truth in [
            Fit { memory: Some(1.1), compute: Some(2.0), extra: None, floor: Some(0.8) },
            Fit { memory: Some(1.9), compute: Some(1.2), extra: None, floor: Some(0.01) },
        ] {
            let points = points(&truth, 0.0);
            let found = Fit::of(&points).expect("a fit");
            for point in &points {
                let off = found.time(point) / point.measured - 1.0;
                assert!(off.abs() < 0.01, "{found:?} {point:?} {off}");
            }
        }
    }

    #[test]
    fn the_interval_is_as_wide_as_the_noise() {
        let truth = Fit { memory: Some(1.3), compute: Some(1.5), extra: None, floor: Some(0.4) };
        let Interval { low, high } = interval(&points(&truth, 0.1)).expect("many points");
        assert!((0.8..0.95).contains(&low) && (1.05..1.25).contains(&high), "{low} {high}");
        assert_eq!(interval(&points(&truth, 0.1)[..4]), None);
    }

    #[test]
    fn tokens_beside_those_of_the_product_are_found_and_one_disturbed_point_does_not_bend_them() {
        let truth = Fit { memory: None, compute: Some(1.7), extra: Some(40.0), floor: None };
        for slower in [1.0, 3.0] {
            let point = |tokens: f64| {
                let part =
                    TimedPart { memory: 0.0, compute: tokens, count: 1.0, floors: 0.0, rest: 0.0 };
                let point = Point { part, tokens: Some(tokens), measured: 0.0 };
                let noise = if tokens > 60.0 && tokens < 70.0 { slower } else { 1.0 };
                Point { measured: truth.time(&point) * noise, ..point }
            };
            let points: Vec<Point> = [16.0, 32.0, 64.0, 128.0, 512.0].map(point).into();
            let found = Fit::with_floor(&points, false).expect("a fit");
            assert!((found.extra.expect("more tokens") / 40.0 - 1.0).abs() < 0.02, "{found:?}");
            assert!((found.compute.expect("a share") / 1.7 - 1.0).abs() < 0.02, "{found:?}");
        }
    }

    #[test]
    fn few_points_leave_the_floor_to_the_model() {
        let truth = Fit { memory: Some(1.3), compute: None, extra: None, floor: None };
        let few: Vec<Point> = points(&truth, 0.0).into_iter().skip(10).take(2).collect();
        let found = Fit::of(&few).expect("a fit");
        assert_eq!((found.floor, found.compute), (None, None));
        assert!((found.memory.expect("a share") - 1.3).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn nothing_of_these_kernels_gives_nothing() {
        let part = TimedPart { memory: 0.0, compute: 0.0, count: 0.0, floors: 0.0, rest: 1.0 };
        assert_eq!(Fit::of(&[Point { part, tokens: None, measured: 2.0 }]), None);
        assert_eq!(Fit::of(&[]), None);
    }
}
