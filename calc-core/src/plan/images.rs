//! Images of a prompt: the time of the encoder before the first token, and its memory.

use super::{Plan, StepTotals};
use crate::calibration::machine::Setting;
use crate::image::ImageWork;
use crate::lowering::Encoder;
use crate::units::Bytes;
use crate::workload::Workload;

/// The encoder of all images of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Encoded {
    pub(super) totals: StepTotals,
    /// The largest working set of a single operator.
    pub(super) activations: Bytes,
}

/// The images of one prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImageEstimate {
    /// Number of images.
    pub count: u64,
    /// The work of one image.
    pub work: ImageWork,
    /// The time of the encoder for all images of a request; `None` if its layers are not known.
    pub encoder: Option<StepTotals>,
}

impl Plan<'_> {
    /// The images of a prompt, with the time of the encoder; `None` without images.
    pub fn images(&self) -> Option<ImageEstimate> {
        let images = self.request.workload.images?;
        let encoder = self.encoded(&self.request.workload).map(|encoded| encoded.totals);
        Some(ImageEstimate { count: images.count(), work: images.work(), encoder })
    }

    /// The encoder for the images of a request, or of all prompts of a static batch; `None` without images, or if its layers are
    /// not known.
    pub(super) fn encoded(&self, workload: &Workload) -> Option<Encoded> {
        let images = workload.images?;
        let prompts = if workload.static_batch { workload.batch } else { 1 };
        let tower = self.request.model.vision_tower().filter(|tower| tower.has_layers())?;
        let encoder = Encoder { tower, carrier: self.precision.carrier };
        let (mut totals, mut activations) = (StepTotals::nothing(), Bytes::ZERO);
        let setting = Setting::Step { batch: 1.0, prefill: true };
        images.lower(&encoder, prompts, &mut |op| {
            totals.add(&self.times_scaled(&op, setting, 1.0), op.count as f64);
            activations = activations.max(op.cost.traffic.activations);
        });
        Some(Encoded { totals, activations })
    }
}
