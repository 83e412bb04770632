//! Images of a prompt: their tokens, and the time of the encoder before the first token.

use super::{Plan, StepTotals};
use crate::calibration::machine::Setting;
use crate::error::Error;
use crate::image::ImageWork;
use crate::lowering::{Encoder, OpInstances};
use crate::model_arch::ModelArch;
use crate::units::Bytes;
use crate::workload::Workload;

/// The images of one prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImageEstimate {
    /// Number of images.
    pub count: u64,
    /// The work of one image.
    pub work: ImageWork,
    /// Number of tokens per image that the request states.
    pub is_stated: bool,
    /// The time of the encoder for all images of a request; `None` if its layers are not known.
    pub encoder: Option<StepTotals>,
}

/// The work of one image of a workload.
///
/// # Errors
/// [`Error::Inapplicable`] for a model without a tower for images, and the errors of [`crate::image::ImageRule::work`].
pub fn image_work(model: &ModelArch, workload: &Workload) -> Result<Option<ImageWork>, Error> {
    let Some(images) = &workload.images else { return Ok(None) };
    let Some(tower) = model.vision_tower() else {
        let part = "a model without a tower for images";
        return Err(Error::Inapplicable { input: "image", part });
    };
    tower.images.work(images).map(Some)
}

impl Plan<'_> {
    /// The images of a prompt, with the time of the encoder; `None` without images.
    pub fn images(&self) -> Option<ImageEstimate> {
        let images = self.request.workload.images?;
        let work = self.image_work?;
        let encoder = self.encoder_time();
        Some(ImageEstimate {
            count: images.count,
            work,
            is_stated: images.stated_tokens.is_some(),
            encoder,
        })
    }

    /// The time of the encoder for the images of a request, or of all prompts of a static batch.
    pub(super) fn encoder_time(&self) -> Option<StepTotals> {
        let mut totals = StepTotals::nothing();
        let setting = Setting::Step { batch: 1.0, prefill: true };
        let found = self.encoder(&self.request.workload, &mut |op| {
            totals.add(&self.times_scaled(&op, setting, 1.0), op.count as f64);
        });
        found.then_some(totals)
    }

    /// Visits the operators of the encoder; false without images, or if its layers are not known.
    fn encoder(&self, workload: &Workload, visit: &mut impl FnMut(OpInstances)) -> bool {
        let (Some(images), Some(work)) = (workload.images, self.image_work) else { return false };
        let tower = self.request.model.vision_tower().filter(|tower| tower.has_layers());
        let Some(tower) = tower else { return false };
        let prompts = if workload.static_batch { workload.batch } else { 1 };
        let encoder = Encoder { tower, carrier: self.precision.carrier };
        encoder.images(&work, images.count * prompts, visit);
        true
    }

    /// The largest working set of a single operator of the encoder.
    pub(super) fn encoder_activations(&self, workload: &Workload) -> Bytes {
        let mut largest = Bytes::ZERO;
        self.encoder(workload, &mut |op| {
            largest = largest.max(op.cost.traffic.activations);
        });
        largest
    }
}
