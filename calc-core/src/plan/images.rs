//! Images of a prompt: the time of the encoder before the first token, and its memory.

use super::{Plan, StepTotals};
use crate::calibration::machine::Setting;
use crate::error::{Error, in_range};
use crate::image::{AskedImages, ImageWork, MAX_IMAGE_TOKENS};
use crate::lowering::Encoder;
use crate::model_arch::ModelArch;
use crate::units::Bytes;
use crate::workload::Workload;

/// Images in each prompt of a workload, all of the same size; their tokens are part of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Images {
    /// Number of images per sequence.
    count: u32,
    tiles: u32,
    positions: u32,
    tokens: u32,
    encode: EncodeImages,
}

/// The function that computes the encoder. A program whose workloads have no images leaves it out, as the page does.
#[derive(Debug, Clone, Copy)]
struct EncodeImages(fn(&Plan<'_>, &Images, u64) -> Option<Encoded>);

/// Every workload with images has the same function.
impl PartialEq for EncodeImages {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for EncodeImages {}

/// The encoder of all images of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encoded {
    pub totals: StepTotals,
    /// The largest working set of a single operator.
    pub activations: Bytes,
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

impl Images {
    /// The images that a request names, for a model.
    ///
    /// # Errors
    /// [`Error::Inapplicable`] for a model without a tower for images, and the errors of [`crate::image::ImageRule::work`].
    pub fn new(model: &ModelArch, asked: &AskedImages) -> Result<Self, Error> {
        let Some(tower) = model.vision_tower() else {
            let part = "a model without a tower for images";
            return Err(Error::Inapplicable { input: "image", part });
        };
        let work = tower.images.work(asked)?;
        let small = |what, value: u64| {
            let value = in_range(what, value, 1, 1000 * MAX_IMAGE_TOKENS)?;
            Ok::<_, Error>(u32::try_from(value).unwrap_or(u32::MAX))
        };
        Ok(Self {
            count: small("images", asked.count)?,
            tiles: small("tiles of an image", work.tiles)?,
            positions: small("positions of an image", work.positions)?,
            tokens: small("tokens of an image", work.tokens)?,
            encode: EncodeImages(encode),
        })
    }

    /// The work of one image.
    pub fn work(&self) -> ImageWork {
        let [tiles, positions, tokens] = [self.tiles, self.positions, self.tokens].map(u64::from);
        ImageWork { tiles, positions, tokens }
    }

    /// Number of images per sequence.
    pub fn count(&self) -> u64 {
        self.count.into()
    }

    /// Number of tokens of all images of a sequence.
    pub fn tokens(&self) -> u64 {
        self.count() * self.work().tokens
    }
}

/// Computes the encoder for the images of this many prompts; `None` if its layers are not known.
fn encode(plan: &Plan<'_>, images: &Images, prompts: u64) -> Option<Encoded> {
    let tower = plan.request.model.vision_tower().filter(|tower| tower.has_layers())?;
    let encoder = Encoder { tower, carrier: plan.precision.carrier };
    let (mut totals, mut activations) = (StepTotals::nothing(), Bytes::ZERO);
    let setting = Setting::Step { batch: 1.0, prefill: true };
    encoder.images(&images.work(), images.count() * prompts, &mut |op| {
        totals.add(&plan.times_scaled(&op, setting, 1.0), op.count as f64);
        activations = activations.max(op.cost.traffic.activations);
    });
    Some(Encoded { totals, activations })
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
        (images.encode.0)(self, &images, prompts)
    }
}
