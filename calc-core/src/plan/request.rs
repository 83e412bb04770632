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
    /// Known size of the weights; by default the size of the file that the formats name, if they name one.
    pub weight_size: Option<WeightSize>,
    /// Draft model of speculative decoding; without one, drafts are free.
    pub draft: Option<&'a ModelArch>,
    /// Engine whose factors apply; `None` for the device's usual engine.
    pub engine: Option<Engine>,
    pub calibration: &'a Calibration,
}

impl EstimateRequest<'_> {
    /// The given size of the weights, else that of the file which the formats name, if they name one.
    pub fn size(&self) -> Option<WeightSize> {
        self.weight_size.or_else(|| self.precision.file_size())
    }
}
