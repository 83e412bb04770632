//! The calibration job: measures the points that determine this device's factors, and sends the calibration file.

use kernels::backend::{Kernel, Work};
use kernels::pack::Layout;
use report::input::calibration_file;

use super::WorkerChannel;
use super::bench::{SEED, find, measure, open, quick_plan};
use crate::hooks::Hooks;
use crate::jobs::message::WorkerMessage;
use crate::measure::calibration::{Calibrated, PLAN, is_of_waves, points};
use crate::measure::device::{self, MeasuredRoofs};

/// Estimated time of a point with the calibration's plan [s].
const POINT_S: f64 = 2.5;

/// Measures all points and sends the calibration. Returns false if the daemon stopped it.
pub(super) fn run(device: &str, channel: &WorkerChannel, hooks: &Hooks) -> Result<bool, String> {
    let found = find(device, hooks)?;
    let mut device = open(&found)?;
    let named = |(kernel, cache): (Kernel, _)| {
        (kernel.key().to_owned(), Work { kernel, cache, seed: SEED })
    };
    let mut points = points(&device.support())
        .map_err(|why| format!("{} ({}) cannot be calibrated: {why}", found.id, found.name))?;
    if hooks.quick_plan().is_some() {
        points.retain(|(kernel, _)| is_in_quick_plan(kernel));
    }
    let plan = quick_plan(PLAN, hooks);
    let points: Vec<(String, Work)> = points.into_iter().map(named).collect();
    let Some(records) = measure(&mut *device, &points, 0, &plan, POINT_S, channel)? else {
        return Ok(false);
    };
    let calibrated = Calibrated::new(&records, &found, None)?;
    let roofs = MeasuredRoofs::calibrated(calibrated.read, &records)?;
    let device = device::file(&roofs, &found, None)?;
    let (device, whole_device) = device::texts(device);
    let own = calibrated.own();
    let before = own.for_older_programs();
    channel.send(&WorkerMessage::Calibration {
        calibration: calibration_file::write(&before),
        whole: (before.rows.len() < own.rows.len()).then(|| calibration_file::write(&own)),
        device: Some(device),
        whole_device,
    });
    Ok(true)
}

/// Fewest points that make a calibration: the roofs, two products per format, and one held out.
fn is_in_quick_plan(kernel: &Kernel) -> bool {
    match kernel {
        Kernel::Gemv(it) => {
            let judges = matches!(it.layout, Layout::Fp32) && it.n == 5120;
            let is_few = it.m > 1;
            it.n == it.k
                && if is_few { matches!(it.layout, Layout::Fp32) } else { it.n <= 4096 || judges }
        }
        Kernel::Gemm(it) => !is_of_waves(it),
        _ => true,
    }
}
