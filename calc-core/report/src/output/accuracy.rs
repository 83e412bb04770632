//! Errors of predictions against measurements: the same figures in the tables of the docs and on the page.

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
    /// Median absolute error over all rows.
    pub median: f64,
    /// 90th percentile of the absolute error over all rows.
    pub p90: f64,
    /// Median error: above 0 where predictions are too slow.
    pub bias: f64,
    /// Mean over the devices of each one's median absolute error.
    pub macro_median: f64,
    /// Mean over the devices of each one's 90th percentile.
    pub macro_p90: f64,
    /// Share of the measurements inside the interval.
    pub inside: f64,
}

/// Errors of rows; `None` without any.
///
/// ```
/// use report::output::accuracy::{Pair, errors};
/// let pair = |device, error| Pair { device, error, inside: true };
/// let found = errors([pair("a", 0.1), pair("a", -0.3), pair("b", 0.5)]).expect("rows");
/// assert!((found.median - 0.3).abs() < 1e-12); // of 0.1, 0.3 and 0.5
/// assert!((found.macro_median - 0.35).abs() < 1e-12); // of 0.2 on a and 0.5 on b
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
    let mut mean = |share: f64| {
        let each = of_device.iter_mut().map(|(_, errors)| percentile(errors, share));
        each.sum::<f64>() / devices as f64
    };
    Some(Errors {
        rows: signed.len(),
        devices,
        macro_median: mean(0.5),
        macro_p90: mean(0.9),
        median: percentile(&mut absolute, 0.5),
        p90: percentile(&mut absolute, 0.9),
        bias: percentile(&mut signed, 0.5),
        inside: inside as f64 / signed.len() as f64,
    })
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
