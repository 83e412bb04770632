//! The question about a model: device, model, formats, workload, engine.

use crate::calibration::{Calibration, Engine};
use crate::device::{Device, PowerMode};
use crate::model_arch::ModelArch;
use crate::precision::PrecisionChoice;
use crate::units::Bytes;
use crate::weight_size::WeightSize;
use crate::workload::Workload;

/// The inputs of an estimate.
#[derive(Debug, Clone, Copy)]
pub struct EstimateRequest<'a> {
    pub device: &'a Device,
    /// `None` for the device's own peaks.
    pub mode: Option<&'a PowerMode>,
    /// Memory that may be used, if less than the device leaves to a model.
    pub memory_limit: Option<Bytes>,
    pub model: &'a ModelArch,
    pub precision: PrecisionChoice,
    pub workload: Workload,
    /// Known size of the weights, which replaces the size computed from geometry and formats.
    pub weight_size: Option<WeightSize>,
    /// Draft model of speculative decoding; without one, drafts are free.
    pub draft: Option<&'a ModelArch>,
    /// Engine whose factors apply; `None` for the device's usual engine.
    pub engine: Option<Engine>,
    pub calibration: &'a Calibration,
}
