//! Errors of predictions against measurements: the same figures in the tables of the docs and on the page.

use crate::number_text as n;

/// Fewest rows that have percentiles: of fewer, a single row is the 90th.
const FEWEST: usize = 10;

/// Error of one prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair<'a> {
    pub device: &'a str,
    /// Predicted over measured, less 1.
    pub error: f64,
    /// The measurement lies in the interval of the prediction.
    pub inside: bool,
}

/// Errors of a group of rows, as shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    pub rows: usize,
    pub devices: usize,
    /// Percentiles over all rows; `None` of fewer than ten.
    pub percentiles: Option<Percentiles>,
    /// Largest absolute error.
    pub largest: f64,
    /// Mean over the devices of each one's median absolute error.
    pub macro_median: f64,
    /// Mean over the devices of each one's 90th percentile, or largest error of fewer than ten rows.
    pub macro_p90: f64,
    /// Share of the measurements inside the interval.
    pub inside: f64,
}

/// Percentiles of the errors of at least ten rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentiles {
    /// Median absolute error.
    pub median: f64,
    /// 90th percentile of the absolute error.
    pub p90: f64,
    /// Median error: above 0 where predictions are too slow.
    pub bias: f64,
}

impl Errors {
    /// Number of rows and largest error: the words for rows that have no percentiles.
    ///
    /// `1 measurement, 6 % off`, or `7 measurements, the largest error 12 %`
    pub fn largest_in_words(&self) -> String {
        let largest = n::percent(self.largest);
        match self.rows {
            1 => format!("1 measurement, {largest} off"),
            rows => format!("{} measurements, the largest error {largest}", n::count(rows as u64)),
        }
    }
}

/// Errors of rows; `None` without any.
///
/// ```
/// use report::output::accuracy::{Pair, errors};
/// let pair = |device, error| Pair { device, error, inside: true };
/// let found = errors([pair("a", 0.1), pair("a", -0.3), pair("b", 0.5)]).expect("rows");
/// assert!((found.macro_median - 0.35).abs() < 1e-12); // of 0.2 on a and 0.5 on b
/// assert!(found.percentiles.is_none() && found.largest == 0.5); // three rows have no percentiles
/// let many = errors((1..=11).map(|tenths| pair("a", f64::from(tenths) / 10.0))).expect("rows");
/// assert!((many.percentiles.expect("eleven rows").median - 0.6).abs() < 1e-12); // of 0.1, 0.2, ... 1.1
/// ```
pub fn errors<'a>(pairs: impl IntoIterator<Item = Pair<'a>>) -> Option<Errors> {
    let (mut signed, mut inside) = (Vec::new(), 0);
    let mut of_device: Vec<(&str, Vec<f64>)> = Vec::new();
    for pair in pairs {
        signed.push(pair.error);
        inside += usize::from(pair.inside);
        let absolute = pair.error.abs();
        match of_device.iter_mut().find(|(device, _)| *device == pair.device) {
            Some((_, errors)) => errors.push(absolute),
            None => of_device.push((pair.device, vec![absolute])),
        }
    }
    if signed.is_empty() {
        return None;
    }
    let mut absolute: Vec<f64> = signed.iter().map(|error| error.abs()).collect();
    of_device.sort_unstable_by_key(|(device, _)| *device); // the sums below have one order
    let devices = of_device.len();
    let mut mean = |of: &dyn Fn(&mut [f64]) -> f64| {
        let each = of_device.iter_mut().map(|(_, errors)| of(errors));
        each.sum::<f64>() / devices as f64
    };
    let p90_or_largest = |errors: &mut [f64]| {
        if has_percentiles(errors) { percentile(errors, 0.9) } else { largest(errors) }
    };
    Some(Errors {
        rows: signed.len(),
        devices,
        macro_median: mean(&|errors| percentile(errors, 0.5)),
        macro_p90: mean(&p90_or_largest),
        largest: largest(&absolute),
        percentiles: has_percentiles(&absolute).then(|| Percentiles {
            median: percentile(&mut absolute, 0.5),
            p90: percentile(&mut absolute, 0.9),
            bias: percentile(&mut signed, 0.5),
        }),
        inside: inside as f64 / signed.len() as f64,
    })
}

/// The absolute error that stands for several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Typical {
    Median(f64),
    /// Of fewer than ten errors.
    Largest(f64),
}

impl Typical {
    /// The one of some errors, whose signs are dropped.
    pub fn of(errors: impl IntoIterator<Item = f64>) -> Self {
        let mut absolute: Vec<f64> = errors.into_iter().map(f64::abs).collect();
        if has_percentiles(&absolute) {
            Self::Median(percentile(&mut absolute, 0.5))
        } else {
            Self::Largest(largest(&absolute))
        }
    }

    /// Name of the statistic in a sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Median(_) => "median error",
            Self::Largest(_) => "largest error",
        }
    }

    /// Its size.
    pub const fn error(self) -> f64 {
        match self {
            Self::Median(error) | Self::Largest(error) => error,
        }
    }
}

const fn has_percentiles(errors: &[f64]) -> bool {
    errors.len() >= FEWEST
}

/// The largest of absolute errors; not a number without any.
fn largest(absolute: &[f64]) -> f64 {
    absolute.iter().copied().fold(f64::NAN, f64::max)
}

/// The value below which a share of the values lies, interpolated linearly.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let at = share * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the slice")]
    let below = at.floor() as usize;
    let above = (below + 1).min(last);
    values[below] + (values[above] - values[below]) * (at - below as f64)
}
