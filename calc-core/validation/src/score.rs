//! Errors of predictions relative to measurements.

use report::output::accuracy::{self, Pair};
pub use report::output::accuracy::{Errors, Percentiles, percentile};

use crate::row::{PublishedRow, Set, Tier};

/// A prediction with its measurement.
#[derive(Debug, Clone, Copy)]
pub struct Scored<'a> {
    pub row: &'a PublishedRow,
    /// Predicted time [s].
    pub predicted: f64,
    /// Fast and slow end of the interval [s].
    pub interval: (f64, f64),
    /// True if the measurement is faster than the roof.
    pub above_roof: bool,
}

impl Scored<'_> {
    /// Relative error: predicted over measured, minus 1.
    pub fn error(&self) -> f64 {
        self.predicted / self.row.measured.get() - 1.0
    }

    /// True if the measurement is within the interval.
    pub fn is_inside(&self) -> bool {
        let measured = self.row.measured.get();
        self.interval.0 <= measured && measured <= self.interval.1
    }
}

/// Error statistics of rows; `None` without rows.
pub fn errors<'a>(scored: impl Iterator<Item = &'a Scored<'a>>) -> Option<Errors> {
    accuracy::errors(scored.map(|row| Pair {
        device: &row.row.device.key,
        error: row.error(),
        inside: row.is_inside(),
    }))
}

/// A line of a table of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    set: Set,
    clean: bool,
}

impl Group {
    /// All groups in the order of the tables.
    pub fn all() -> impl Iterator<Item = Self> {
        Set::ALL.into_iter().flat_map(|set| {
            let clean = matches!(set, Set::DecodeOne | Set::DecodeMany);
            let all = Self { set, clean: false };
            core::iter::once(all).chain(clean.then_some(Self { set, clean: true }))
        })
    }

    /// Name in tables.
    pub fn name(self) -> String {
        let tiers = if self.clean { ", tiers A and B" } else { "" };
        format!("{}{tiers}", self.set.name())
    }

    /// True for a row of this set.
    pub fn holds(self, row: &PublishedRow) -> bool {
        row.set() == self.set && !(self.clean && row.tier == Tier::C)
    }
}
