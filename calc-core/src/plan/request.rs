//! The question about a model: device, model, formats, workload, engine.

use crate::calibration::{Calibration, Engine};
use crate::device::{Device, PowerMode};
use crate::model_arch::ModelArch;
use crate::precision::PrecisionChoice;
use crate::units::Bytes;
use crate::weight_size::WeightSize;
use crate::workload::Workload;

/// What to estimate.
#[derive(Debug, Clone, Copy)]
pub struct EstimateRequest<'a> {
    /// Device.
    pub device: &'a Device,
    /// Its power mode; `None` for the device's own peaks.
    pub mode: Option<&'a PowerMode>,
    /// Memory that may be used, if less than the device leaves to a model.
    pub memory_limit: Option<Bytes>,
    /// Model.
    pub model: &'a ModelArch,
    /// Formats.
    pub precision: PrecisionChoice,
    /// Sequences and tokens.
    pub workload: Workload,
    /// Known size of the weights; without it that of the file which the formats name, if they name one.
    pub weight_size: Option<WeightSize>,
    /// Draft model of speculative decoding; drafts cost nothing without one.
    pub draft: Option<&'a ModelArch>,
    /// Engine whose factors are asked for.
    pub engine: Option<Engine>,
    /// Factors.
    pub calibration: &'a Calibration,
}

impl EstimateRequest<'_> {
    /// The size of the weights: the one given, else that of the file which the formats name, if they name one.
    pub fn size(&self) -> Option<WeightSize> {
        self.weight_size.or_else(|| self.precision.file_size())
    }
}
