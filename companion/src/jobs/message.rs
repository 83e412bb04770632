//! The messages of a worker on its stdout, one JSON object per line. The daemon checks each of them.

use protocol::bench::BenchRecord;
use protocol::device::DeviceName;
use protocol::job::ProgressUnit;
use report::input::calibration_file;
use report::input::device_file;
use serde::{Deserialize, Serialize};

use crate::sandbox::Locks;

/// Longest line of a worker, in bytes. Reports come in parts, a message for each point; tests hold the longest of them against this.
pub(crate) const LINE: usize = 256 * 1024;

/// Begin of the line of a log about a point that was left out; the store counts these lines.
pub(crate) const LEFT_OUT: &str = "left out: ";

/// A message of a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum WorkerMessage {
    /// The first message: what the kernel keeps the worker from.
    Locked { locks: Locks },
    /// Heartbeat: the worker is alive without progress to report.
    Beat {},
    Plan {
        /// Predicted duration, in s.
        predicted_s: Option<f64>,
        /// The device that it opened.
        device: Option<DeviceName>,
    },
    Progress {
        done: u64,
        total: u64,
        unit: ProgressUnit,
        /// The point that is measured now.
        note: String,
    },
    /// The record of one point.
    Result { record: Box<BenchRecord> },
    /// The result of a calibration.
    Calibration {
        /// Text of a calibration file.
        calibration: String,
        /// Text of a device file.
        device: Option<String>,
        /// Text of the whole calibration file, where the first one lacks rows.
        whole: Option<String>,
        /// Text of the whole device file, where the first one lacks what older programs refuse.
        whole_device: Option<String>,
    },
    /// The roofs of a device.
    Device {
        /// Text of a device file.
        file: String,
        /// Text of the whole device file, where the first one lacks what older programs refuse.
        whole: Option<String>,
    },
    /// A line of the worker's log.
    Log { line: String },
    /// The last message of a finished job.
    Done {},
    /// The last message of a canceled job.
    Stopped {},
    /// The last message of a failed job.
    Failed { message: String },
}

/// The reason why a calibration file cannot be read, if there is one.
pub(crate) fn unreadable(text: &str) -> Option<String> {
    calibration_file::parse(text).err().map(|error| error.to_string())
}

/// The reason why a device file cannot be read, if there is one.
pub(crate) fn unreadable_device(text: &str) -> Option<String> {
    device_file::parse(text).err().map(|error| error.to_string())
}

/// The contradiction between the figures of a record, if there is one.
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
