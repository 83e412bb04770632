//! Mean, least and largest reading of a sensor over a run.

use crate::measure::sensors::Reading;

/// Mean, least and largest of a sensor.
#[derive(Debug, Clone, Default)]
pub(super) struct Statistic {
    n: f64,
    sum: f64,
    least: Option<f64>,
    most: Option<f64>,
    missing: Option<String>,
}

impl Statistic {
    pub(super) fn take(&mut self, found: &Reading<f64>) {
        match found {
            Ok(value) => {
                self.n += 1.0;
                self.sum += value;
                self.least = Some(self.least.map_or(*value, |least| least.min(*value)));
                self.most = Some(self.most.map_or(*value, |most| most.max(*value)));
            }
            Err(why) => self.missing = Some(why.clone()),
        }
    }

    /// The mean, or why there is none.
    pub(super) fn mean(&self) -> Reading<f64> {
        let why = || self.missing.clone().unwrap_or_else(|| "there was no sample".into());
        if self.n > 0.0 { Ok(self.sum / self.n) } else { Err(why()) }
    }

    pub(super) fn least(&self) -> Reading<f64> {
        self.mean().map(|mean| self.least.unwrap_or(mean))
    }

    pub(super) fn most(&self) -> Reading<f64> {
        self.mean().map(|mean| self.most.unwrap_or(mean))
    }
}
