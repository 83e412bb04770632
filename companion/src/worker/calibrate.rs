//! A job that measures the points that fix this device's factors, and says what follows from them.

use std::ops::ControlFlow;

use kernels::backend::{Backend, Work};
use kernels::cpu::backend::Cpu;
use kernels::cpu::clock::SystemClock;
use kernels::measure::Stopped;
use protocol::job::CalibrateSpec;
use report::calibration_file;

use super::Voice;
use super::bench::{Pulse, SEED, backend, wire};
use crate::jobs::message::WorkerMessage;
use crate::measure::calibration::{Calibrated, PLAN, points};
use crate::measure::record;

/// What a point takes with the short plan of a calibration.
const POINT_S: f64 = 2.5;

/// Measures all points and says what they come to; false if it was told to stop.
pub(super) fn run(spec: &CalibrateSpec, voice: &Voice) -> Result<bool, String> {
    backend(spec.backend.as_deref())?;
    let mut cpu = Cpu::new(None, None);
    cpu.probe().map_err(|fault| format!("the processor cannot be measured: {fault:?}"))?;
    let points = points(cpu.cold_bytes());
    voice.say(&WorkerMessage::Plan { predicted_s: Some(POINT_S * points.len() as f64) });
    let pulse = Pulse::start(voice);
    let total = u32::try_from(points.len()).unwrap_or(u32::MAX);
    let mut records = Vec::new();
    for (done, (kernel, cache)) in (0..).zip(&points) {
        let note = kernel.key().to_owned();
        voice.say(&WorkerMessage::Progress { done, total, note: note.clone() });
        let mut go_on = |_stage| {
            pulse.feel();
            if voice.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        pulse.feel();
        let work = Work { kernel: *kernel, cache: *cache, seed: SEED };
        match record::measure_while(&SystemClock::new(), &mut cpu, &work, &PLAN, &mut go_on) {
            Ok(record) => {
                voice.say(&WorkerMessage::Result { record: Box::new(wire(record.clone())?) });
                records.push(record);
            }
            Err(Stopped::Canceled) => return Ok(false),
            Err(stopped) => return Err(format!("{note}: {stopped:?}")),
        }
    }
    voice.say(&WorkerMessage::Progress { done: total, total, note: String::new() });
    let calibrated = Calibrated::new(&records)?;
    let device = calibrated.device(&records)?;
    voice.say(&WorkerMessage::Calibration {
        calibration: calibration_file::write(&calibrated.own()),
        device: Some(format!("{device:#}\n")),
    });
    Ok(true)
}
