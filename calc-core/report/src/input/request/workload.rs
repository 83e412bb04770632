//! The workload of a request: prompt, batch, answer, split over devices, drafts.

use calc_core::error::{Error, in_range};
use calc_core::lowering::Images;
use calc_core::parallel::Parallel;
use calc_core::workload::{Speculation, Workload};

use super::{Fields, RequestError};

/// Default of a field that a request leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsualValue {
    pub key: &'static str,
    pub value: u64,
}

/// Defaults of batch and prompt.
pub const USUAL_VALUES: [UsualValue; 2] =
    [UsualValue { key: "batch", value: 1 }, UsualValue { key: "prompt", value: 512 }];

/// Reads the workload; the tokens of images are added to the prompt.
pub(super) fn workload(
    fields: &mut Fields,
    images: Option<Images>,
) -> Result<Workload, RequestError> {
    let [batch, prompt] = USUAL_VALUES;
    let batch = fields.count(batch.key)?.unwrap_or(batch.value);
    let text = fields.count(prompt.key)?.unwrap_or(prompt.value);
    let in_images = images.map_or(0, |images| images.tokens());
    let prompt = text.saturating_add(in_images);
    let cached_prefix = fields.count("cached_prefix")?.unwrap_or(0);
    let inner_chunk = fields.flag("inner_chunk")?;
    let context = fields.count("context")?;
    if let Some(context) = context {
        in_range("cached_prefix", cached_prefix, 0, context)?;
    }
    let context = context.unwrap_or(prompt.saturating_add(cached_prefix));
    let new_tokens = fields.count("new_tokens")?.unwrap_or(1);
    let parallel = Parallel {
        tensor: fields.count("tensor_parallel")?.unwrap_or(1),
        pipeline: fields.count("pipeline_parallel")?.unwrap_or(1),
        expert: fields.count("expert_parallel")?.unwrap_or(1),
    };
    let speculation = speculation(fields)?;
    let static_batch = fields.flag("static_batch")?;
    Ok(Workload {
        images,
        cached_prefix,
        inner_chunk,
        static_batch,
        context,
        new_tokens,
        parallel,
        speculation,
        ..Workload::new(batch, prompt)
    })
}

/// Reads speculative decoding; its two fields need each other.
fn speculation(fields: &mut Fields) -> Result<Option<Speculation>, RequestError> {
    let alone = |first, second| Err(Error::Conflict { first, second, needs: true }.into());
    match (fields.count("draft_tokens")?, fields.real("acceptance")?) {
        (None, None) => Ok(None),
        (Some(draft_tokens), Some(acceptance)) => {
            Ok(Some(Speculation { draft_tokens, acceptance, own_layers: false }))
        }
        (Some(_), None) => alone("draft_tokens", "acceptance"),
        (None, Some(_)) => alone("acceptance", "draft_tokens"),
    }
}
