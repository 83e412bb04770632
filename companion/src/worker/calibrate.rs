//! A job that measures the points that fix this device's factors, and says what follows from them.

use kernels::backend::Work;
use protocol::job::CalibrateSpec;
use report::calibration_file;

use super::Voice;
use super::bench::{SEED, measure, processor};
use crate::jobs::message::WorkerMessage;
use crate::measure::calibration::{Calibrated, PLAN, points};
use crate::measure::device;

/// What a point takes with the short plan of a calibration.
const POINT_S: f64 = 2.5;

/// Measures all points and says what they come to; false if it was told to stop.
pub(super) fn run(spec: &CalibrateSpec, voice: &Voice) -> Result<bool, String> {
    let mut cpu = processor(spec.backend.as_deref())?;
    let named = |(kernel, cache): (kernels::backend::Kernel, _)| {
        (kernel.key().to_owned(), Work { kernel, cache, seed: SEED })
    };
    let points: Vec<(String, Work)> = points(cpu.cold_bytes()).into_iter().map(named).collect();
    let Some(records) = measure(&mut cpu, &points, &PLAN, POINT_S, voice)? else {
        return Ok(false);
    };
    let calibrated = Calibrated::new(&records)?;
    let device = device::file(&calibrated, &records, None)?;
    voice.say(&WorkerMessage::Calibration {
        calibration: calibration_file::write(&calibrated.own()),
        device: Some(format!("{device:#}\n")),
    });
    Ok(true)
}
