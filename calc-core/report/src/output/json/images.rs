//! JSON of the images of a prompt.

use calc_core::estimate::Estimate;
use serde::Serialize;

use super::ExpectedJson;
use crate::input::request::EstimateInputs;

/// The images of a prompt, which `workload.prompt` includes; the encoder is null if its layers are not known.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct ImagesJson {
    count: u64,
    width: u32,
    height: u32,
    tokens_per_image: u64,
    tokens_stated: bool,
    tiles_per_image: u64,
    positions_per_tile: u64,
    text_tokens: u64,
    encoder: Option<EncoderJson>,
}

/// The time of the encoder for all images of a request.
#[derive(Debug, Clone, Copy, Serialize)]
struct EncoderJson {
    flops: f64,
    bytes: f64,
    ideal_s: f64,
    expected: ExpectedJson,
}

impl ImagesJson {
    pub(super) fn new(inputs: &EstimateInputs, answer: &Estimate) -> Option<Self> {
        let (images, asked) = (answer.images?, inputs.asked_images?);
        let work = images.work;
        Some(Self {
            count: images.count,
            width: asked.size.width,
            height: asked.size.height,
            tokens_per_image: work.tokens,
            tokens_stated: asked.stated_tokens.is_some(),
            tiles_per_image: work.tiles,
            positions_per_tile: work.positions,
            text_tokens: inputs.text_tokens(),
            encoder: images.encoder.map(|totals| EncoderJson {
                flops: totals.cost.flops.get(),
                bytes: totals.cost.traffic.total().get(),
                ideal_s: totals.ideal.get(),
                expected: totals.expected.into(),
            }),
        })
    }
}
