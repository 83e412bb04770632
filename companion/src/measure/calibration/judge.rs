//! Compares a calibration with the measured times. The expected times are those that page and command line derive from the written files,
//! with all their limits, so that an error or interval here is the one that a user sees.

use calc_core::calibration::{Calibration, FactorRow, Interval, Tokens};
use calc_core::device::Device;
use calc_core::text::List;
use report::input::calibration_file::OwnRow;
use report::input::timed_kernel::{TimedPlace, expected};
use report::output::json::bench::BenchJson;

use super::fits::Fits;
use super::is_held_out;

/// Relative errors of held-out points by kernel: expected over measured time, minus 1.
#[derive(Debug, Default)]
pub(crate) struct HeldOut {
    /// Products of one token.
    pub(crate) vectors: Vec<f64>,
    /// Products of several tokens with packed weights.
    pub(crate) packed: Vec<f64>,
    /// Products of matrices.
    pub(crate) matrices: Vec<f64>,
    pub(crate) attention: Vec<f64>,
    pub(crate) norms: Vec<f64>,
}

impl HeldOut {
    /// The errors of a kernel; `None` for streams and peaks.
    fn of(&mut self, kernel: &str) -> Option<&mut Vec<f64>> {
        Some(match kernel {
            "gemv" => &mut self.vectors,
            "gemm_packed" => &mut self.packed,
            "attention" => &mut self.attention,
            "norm" => &mut self.norms,
            key if key.starts_with("gemm") => &mut self.matrices,
            _ => return None,
        })
    }
}

impl Fits<'_> {
    /// The rows with their intervals, and the errors of the held-out points.
    ///
    /// # Errors
    /// A record without an expected time on the device.
    pub(super) fn judged(self, device: &Device) -> Result<(Vec<OwnRow>, HeldOut), String> {
        let of_device =
            |factors: FactorRow| FactorRow { device: Some(device.key.clone()), ..factors };
        let (factors, about): (Vec<FactorRow>, Vec<_>) =
            self.rows.into_iter().map(|row| (of_device(row.factors), row.about)).unzip();
        let rows = List::Owned(factors.clone());
        let calibration = Calibration { rows, ..Calibration::FITTED };
        let place = TimedPlace { device, mode: None, calibration: &calibration };
        let mut held_out = HeldOut::default();
        for record in self.records.iter().filter(|record| is_held_out(record)) {
            if let Some(errors) = held_out.of(&record.kernel) {
                errors.push(1.0 / ratio(record, place)? - 1.0);
            }
        }
        let of_few: Vec<f64> = held_out.packed.iter().map(|error| 1.0 / (1.0 + error)).collect();
        // A row without a tile is what programs of before use, so it is judged without the one that takes precedence here.
        let before = factors.iter().filter(|row| row.tile.is_none()).cloned().collect();
        let before = Calibration { rows: List::Owned(before), ..Calibration::FITTED };
        let place_before = TimedPlace { calibration: &before, ..place };
        let row = |(factors, about): (FactorRow, Vec<&BenchJson>)| {
            let place = if factors.tile.is_some() { place } else { place_before };
            let own = about.iter().map(|record| ratio(record, place));
            let ratios = own.collect::<Result<Vec<f64>, String>>()?;
            let interval = match factors.tokens {
                // Its arithmetic was not measured.
                Some(Tokens::One) => None,
                // Most formats have no held-out point of few tokens, so the errors of all of them count.
                Some(Tokens::Few) => Some(around(ratios.iter().chain(&of_few))),
                Some(Tokens::Several) | None => Some(around(ratios.iter())),
            };
            let points = u32::try_from(about.len()).unwrap_or(u32::MAX);
            Ok(OwnRow { factors: FactorRow { interval, ..factors }, points })
        };
        let rows = factors.into_iter().zip(about).map(row).collect::<Result<_, String>>()?;
        Ok((rows, held_out))
    }
}

/// The measured over the expected time of a record.
fn ratio(record: &BenchJson, place: TimedPlace<'_>) -> Result<f64, String> {
    let expected = expected(&record.timed_kernel(), place)
        .map_err(|why| format!("no time of {} is expected: {why}", record.kernel))?;
    Ok(record.time_s.median / expected.time.get())
}

/// The interval that holds all ratios of measured to expected times, and 1.
fn around<'a>(ratios: impl Iterator<Item = &'a f64> + Clone) -> Interval {
    Interval {
        low: ratios.clone().fold(1.0, |low, ratio| ratio.min(low)).max(0.01),
        high: ratios.fold(1.0, |high, ratio| ratio.max(high)).min(100.0),
    }
}
