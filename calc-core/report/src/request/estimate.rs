//! A request about a model.

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::calibration::{Calibration, Engine};
use calc_core::device::Device;
use calc_core::error::Error;
use calc_core::estimate::{Estimate, EstimateRequest, WeightSize, estimate};
use calc_core::parallel::Parallel;
use calc_core::precision::PrecisionChoice;
use calc_core::units::Bytes;
use calc_core::workload::{Speculation, Workload};

use super::{
    Fields, Library, NamedModel, RequestError, calibration_field, engine_field, in_force,
    power_mode, precision_fields,
};

/// A request about a model, with everything looked up.
#[derive(Debug, Clone)]
pub struct EstimateInputs {
    /// Device.
    pub device: Cow<'static, Device>,
    /// Name of its power mode.
    pub power_mode: Option<String>,
    /// Model.
    pub model: NamedModel,
    /// Formats.
    pub precision: PrecisionChoice,
    /// Sequences and tokens.
    pub workload: Workload,
    /// Known size of the weights.
    pub weight_size: Option<WeightSize>,
    /// Draft model.
    pub draft: Option<NamedModel>,
    /// Engine.
    pub engine: Option<Engine>,
    /// Own measurements; without them the model that was fitted on published ones.
    pub calibration: Option<Arc<Calibration>>,
    /// What was taken for names of formats that could mean several.
    pub taken: Vec<String>,
}

impl EstimateInputs {
    /// Reads the fields of `estimate`.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(mut fields: Fields, library: &Library<'_>) -> Result<Self, RequestError> {
        let device = library.device(&fields.required_text("hardware")?)?;
        let mode = fields.text("power_mode")?;
        let model = library.model(&fields.required_text("model")?)?;
        let (precision, taken) = precision_fields(&mut fields, Some(model.stored))?;
        let weight_size = weight_size(&mut fields)?;
        let workload = workload(&mut fields)?;
        let draft = fields.text("draft_model")?.map(|name| library.model(&name)).transpose()?;
        if draft.is_some() && workload.speculation.is_none() {
            return Err(Error::Conflict {
                first: "draft_model",
                second: "draft_tokens",
                needs: true,
            }
            .into());
        }
        let engine = engine_field(&mut fields)?;
        let calibration = calibration_field(&mut fields, library, &device)?;
        fields.finish()?;
        let mode = power_mode(&device, mode.as_deref())?.map(|mode| mode.name.to_string());
        Ok(Self {
            device,
            power_mode: mode,
            model,
            precision,
            workload,
            weight_size,
            draft,
            engine,
            calibration,
            taken,
        })
    }

    /// What the model is asked.
    ///
    /// # Errors
    /// A power mode that the device does not have.
    pub fn request(&self) -> Result<EstimateRequest<'_>, RequestError> {
        Ok(EstimateRequest {
            device: &self.device,
            mode: power_mode(&self.device, self.power_mode.as_deref())?,
            model: &self.model.arch,
            precision: self.precision,
            workload: self.workload,
            weight_size: self.weight_size,
            draft: self.draft.as_ref().map(|draft| &*draft.arch),
            engine: self.engine,
            calibration: in_force(self.calibration.as_ref()),
        })
    }

    /// Answers it.
    ///
    /// # Errors
    /// What the model refuses.
    pub fn estimate(&self) -> Result<Estimate, RequestError> {
        Ok(estimate(self.request()?)?)
    }
}

fn workload(fields: &mut Fields) -> Result<Workload, RequestError> {
    let batch = fields.required_count("batch")?;
    let prompt = fields.required_count("prompt")?;
    let context = fields.count("context")?.unwrap_or(prompt);
    let new_tokens = fields.count("new_tokens")?.unwrap_or(1);
    let parallel = Parallel {
        tensor: fields.count("tensor_parallel")?.unwrap_or(1),
        pipeline: fields.count("pipeline_parallel")?.unwrap_or(1),
        expert: fields.count("expert_parallel")?.unwrap_or(1),
    };
    let speculation = match (fields.count("draft_tokens")?, fields.real("acceptance")?) {
        (None, None) => None,
        (Some(draft_tokens), Some(acceptance)) => Some(Speculation { draft_tokens, acceptance }),
        (Some(_), None) => {
            return Err(Error::Conflict {
                first: "draft_tokens",
                second: "acceptance",
                needs: true,
            }
            .into());
        }
        (None, Some(_)) => {
            return Err(Error::Conflict {
                first: "acceptance",
                second: "draft_tokens",
                needs: true,
            }
            .into());
        }
    };
    Ok(Workload { batch, prompt, context, new_tokens, parallel, speculation })
}

fn weight_size(fields: &mut Fields) -> Result<Option<WeightSize>, RequestError> {
    match (fields.real("weight_gb")?, fields.real("weight_bits")?) {
        (None, None) => Ok(None),
        (Some(gb), None) => Ok(Some(WeightSize::Total(Bytes::from_gb(gb)))),
        (None, Some(bits)) => Ok(Some(WeightSize::BitsPerWeight(bits))),
        (Some(_), Some(_)) => {
            Err(Error::Conflict { first: "weight_gb", second: "weight_bits", needs: false }.into())
        }
    }
}
