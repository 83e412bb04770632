//! Matrix products for the adviser.

use calc_core::calibration::Calibration;
use calc_core::cost::gemm::GemmShape;
use calc_core::device::Device;
use calc_core::lowering::Phase;
use calc_core::recommend::{ShapeTask, Task, run_shape};

/// A product with 4096 outputs and inputs.
pub(crate) fn shape_task(device: &'static Device, m: u64, phase: Phase) -> Task<'static> {
    Task::Shape(ShapeTask {
        device,
        mode: None,
        memory_limit: None,
        shape: GemmShape { m, n: 4096, k: 4096 },
        phase,
        engine: None,
        calibration: &Calibration::FITTED,
        run: run_shape,
    })
}
