//! Tasks for the tests of `recommend` and `schedule`.

use calc_core::calibration::Calibration;
use calc_core::catalog;
use calc_core::device::Device;
use calc_core::estimate::EstimateRequest;
use calc_core::precision::PrecisionChoice;
use calc_core::recommend::{ModelTask, Task};
use calc_core::workload::Workload;

/// A catalog model on a device, with FP16 as the baseline and all other choices open.
pub(crate) fn model_task(
    device: &'static Device,
    model: &str,
    workload: Workload,
) -> Task<'static> {
    let model = catalog::model(model).expect("catalog key");
    Task::Model(ModelTask::new(
        EstimateRequest {
            device,
            mode: None,
            memory_limit: None,
            model: &model.arch,
            precision: PrecisionChoice::weights(&catalog::formats::FP16),
            workload,
            weight_size: None,
            draft: None,
            engine: None,
            calibration: &Calibration::FITTED,
            host: None,
            cards: None,
        },
        model.stored.choice(),
    ))
}
