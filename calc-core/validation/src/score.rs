//! How far predictions are from measurements.

use std::collections::BTreeMap;

use crate::row::{Row, Set, Tier};

/// A prediction beside its measurement.
#[derive(Debug, Clone, Copy)]
pub struct Scored<'a> {
    /// The row.
    pub row: &'a Row,
    /// Predicted time [s].
    pub predicted: f64,
    /// Fast and slow end of the interval [s].
    pub interval: (f64, f64),
    /// The measurement is faster than the roof.
    pub above_roof: bool,
}

impl Scored<'_> {
    /// Predicted over measured, less 1.
    pub fn error(&self) -> f64 {
        self.predicted / self.row.measured.get() - 1.0
    }

    /// The measurement lies in the interval.
    pub fn is_inside(&self) -> bool {
        let measured = self.row.measured.get();
        self.interval.0 <= measured && measured <= self.interval.1
    }
}

/// Errors of a group of rows, as shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// Rows.
    pub rows: usize,
    /// Devices.
    pub devices: usize,
    /// Median absolute error over all rows.
    pub median: f64,
    /// 90th percentile of it.
    pub p90: f64,
    /// Median error: above 0 where predictions are too slow.
    pub bias: f64,
    /// Mean over the devices of each one's median absolute error.
    pub macro_median: f64,
    /// The same of the 90th percentile.
    pub macro_p90: f64,
    /// Share of the measurements that lie in the interval.
    pub inside: f64,
}

/// Errors of rows; `None` without any.
pub fn errors<'a>(scored: impl Iterator<Item = &'a Scored<'a>>) -> Option<Errors> {
    let scored: Vec<&Scored<'_>> = scored.collect();
    if scored.is_empty() {
        return None;
    }
    let mut signed: Vec<f64> = scored.iter().map(|row| row.error()).collect();
    let mut absolute: Vec<f64> = signed.iter().map(|error| error.abs()).collect();
    let mut of_device: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in &scored {
        of_device.entry(&row.row.device.key).or_default().push(row.error().abs());
    }
    let devices = of_device.len();
    let mean = |share: f64, groups: &mut BTreeMap<&str, Vec<f64>>| {
        groups.values_mut().map(|errors| percentile(errors, share)).sum::<f64>() / devices as f64
    };
    let inside = scored.iter().filter(|row| row.is_inside()).count();
    Some(Errors {
        rows: scored.len(),
        devices,
        median: percentile(&mut absolute, 0.5),
        p90: percentile(&mut absolute, 0.9),
        bias: percentile(&mut signed, 0.5),
        macro_median: mean(0.5, &mut of_device),
        macro_p90: mean(0.9, &mut of_device),
        inside: inside as f64 / scored.len() as f64,
    })
}

/// The value below which a share of the values lies, between neighbors on a straight line.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let at = share * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the slice")]
    let below = at.floor() as usize;
    let above = (below + 1).min(last);
    values[below] + (values[above] - values[below]) * (at - below as f64)
}

/// A line of a table of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    set: Set,
    clean: bool,
}

impl Group {
    /// In the order of the tables.
    pub fn all() -> impl Iterator<Item = Self> {
        Set::ALL.into_iter().flat_map(|set| {
            let clean = matches!(set, Set::DecodeOne | Set::DecodeMany);
            let all = Self { set, clean: false };
            core::iter::once(all).chain(clean.then_some(Self { set, clean: true }))
        })
    }

    /// Its name.
    pub fn name(self) -> String {
        let tiers = if self.clean { ", tiers A and B" } else { "" };
        format!("{}{tiers}", self.set.name())
    }

    /// Whether a row counts.
    pub fn holds(self, row: &Row) -> bool {
        row.set() == self.set && !(self.clean && row.tier == Tier::C)
    }
}
