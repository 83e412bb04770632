//! What a worker says on its stdout, one JSON object per line. The daemon believes none of it unseen.

use protocol::bench::BenchRecord;
use report::{calibration_file, device_file};
use serde::{Deserialize, Serialize};

/// A line of a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum WorkerMessage {
    /// It lives and works.
    Beat {},
    /// How long it will take.
    Plan {
        /// Seconds, as far as it knows.
        predicted_s: Option<f64>,
    },
    /// It came further.
    Progress {
        /// Points that are done.
        done: u32,
        /// Of so many.
        total: u32,
        /// What it does now.
        note: String,
    },
    /// A point is measured.
    Result {
        /// Its record.
        record: Box<BenchRecord>,
    },
    /// What all points say together.
    Calibration {
        /// Text of a calibration file.
        calibration: String,
        /// Text of a device file.
        device: Option<String>,
    },
    /// A line for people.
    Log {
        /// The line.
        line: String,
    },
    /// Its last word: all is done.
    Done {},
    /// Its last word: it stopped because it was told to.
    Stopped {},
    /// Its last word: it could not.
    Failed {
        /// Why.
        message: String,
    },
}

/// Why texts are not the files that they should be.
pub(crate) fn unreadable(calibration: &str, device: Option<&str>) -> Option<String> {
    let calibration = calibration_file::parse(calibration).err().map(|error| error.to_string());
    let device =
        || device.and_then(|text| device_file::parse(text).err().map(|error| error.to_string()));
    calibration.or_else(device)
}

/// Why a record cannot be true; what a worker measures must at least agree with itself.
pub(crate) fn contradiction(record: &BenchRecord) -> Option<&'static str> {
    let time = record.time_s;
    let ordered = 0.0 < time.low && time.low <= time.median && time.median <= time.high;
    let rate = |amount: f64, rate: Option<f64>| match rate {
        Some(rate) => amount > 0.0 && (rate * time.median - amount).abs() <= 0.01 * amount,
        None => amount == 0.0,
    };
    if !ordered || !time.high.is_finite() {
        return Some("its times are not in order");
    }
    if !rate(record.bytes, record.byte_per_s) || !rate(record.flops, record.flop_per_s) {
        return Some("its rates are not its amounts by its time");
    }
    record.energy_j.is_some_and(|energy| energy <= 0.0).then_some("its energy is not positive")
}
