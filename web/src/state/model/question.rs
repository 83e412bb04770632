//! Parsed inputs of the Model view: a model with workload and formats on a device.

use std::borrow::Cow;

use calc_core::calibration::Engine;
use calc_core::catalog::models::CatalogModel;
use calc_core::device::Device;
use calc_core::error::Error;
use calc_core::estimate::{Draft, Estimate, EstimateRequest, PartBytes, WeightSize, estimate};
use calc_core::model_arch::ModelArch;
use calc_core::parallel::Parallel;

use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::QuantFormat;
use calc_core::units::Bytes;
use calc_core::workload::{Speculation, Workload};
use report::input::request::RequestError;

use super::beside::{Erased, QuestionParts};
use super::fields::{Field, ModelFault, count, real};
use super::geometry;
use super::inputs::ModelInputs;
use super::roles::{Formats, Role};
use crate::state::place::Place;

/// A question to the core.
#[derive(Debug, Clone)]
pub struct ModelQuestion<'a> {
    pub place: Place<'a>,
    /// The device with the link that the user chose.
    pub device: Cow<'a, Device>,
    /// Geometry of the model.
    pub arch: ModelArch,
    /// Formats, with the user's choices applied to the stored ones.
    pub precision: PrecisionChoice,
    stored: PrecisionChoice,
    formats: Formats,
    pub workload: Workload,
    /// Size of the weights, if the user states their mean bits, or their files state it.
    pub weight_size: Option<WeightSize>,
    /// Bytes of the weights as stored, if they are known from files.
    pub files: Option<PartBytes>,
    /// Draft model; `None` without speculation.
    pub drafter: Option<&'static CatalogModel>,
    /// Engine of the expected times; `None`: the usual one of the device.
    pub engine: Option<Engine>,
    /// The user's limit on the usable memory.
    pub limit: Option<Bytes>,
    /// Host of the card, other programs and images.
    pub beside: Option<Erased>,
}

impl<'a> ModelQuestion<'a> {
    /// Parses the inputs.
    ///
    /// # Errors
    /// Returns all invalid fields.
    pub fn read(inputs: &ModelInputs, place: Place<'a>) -> Result<Self, Vec<ModelFault>> {
        let mut faults = Vec::new();
        let arch = geometry::changed(inputs).map_err(|wrong| faults.extend(wrong)).ok();
        let mut whole = |field| {
            count(field, inputs.text(field)).map_err(|fault| faults.push(fault)).ok().flatten()
        };
        let batch = whole(Field::Batch);
        let prompt = whole(Field::Prompt);
        let context = whole(Field::Context).or(prompt);
        let new_tokens = whole(Field::Generate);
        let split = [Field::Tensor, Field::Pipeline, Field::Expert].map(&mut whole);
        let draft = whole(Field::Draft).filter(|tokens| *tokens > 0);
        let mut part = |field| {
            real(field, inputs.text(field)).map_err(|fault| faults.push(fault)).ok().flatten()
        };
        let (limit, bits) = (part(Field::Memory), part(Field::WeightBits));
        let acceptance = part(Field::Acceptance);
        let (Some(arch), Some(batch), Some(prompt), Some(context), Some(new_tokens)) =
            (arch, batch, prompt, context, new_tokens)
        else {
            return Err(faults);
        };
        let ([Some(tensor), Some(pipeline), Some(expert)], Some(acceptance)) = (split, acceptance)
        else {
            return Err(faults);
        };
        if !faults.is_empty() {
            return Err(faults);
        }
        let files = inputs.file_parts().copied();
        let is_requantized = inputs.formats.changes_weights(&inputs.base.stored());
        let parallel = Parallel { tensor, pipeline, expert };
        let speculation =
            draft.map(|draft_tokens| Speculation { draft_tokens, acceptance, own_layers: false });
        let mut question = Self {
            place,
            device: match &inputs.link {
                Some(link) => Cow::Owned(link.on(place.device.clone())),
                None => Cow::Borrowed(place.device),
            },
            arch,
            precision: inputs.formats.over(&inputs.base.stored()),
            stored: inputs.base.stored(),
            formats: inputs.formats,
            workload: Workload {
                context,
                new_tokens,
                parallel,
                speculation,
                ..Workload::new(batch, prompt)
            },
            weight_size: bits
                .map(WeightSize::BitsPerWeight)
                .or(files.filter(|_| !is_requantized).map(WeightSize::Parts)),
            files,
            drafter: inputs.drafter.filter(|_| speculation.is_some()),
            engine: inputs.engine,
            limit: limit.map(Bytes::from_gb),
            beside: None,
        };
        if let Some(beside) = &inputs.beside {
            let parts = QuestionParts {
                device: &question.device,
                arch: &mut question.arch,
                workload: &mut question.workload,
                limit: &mut question.limit,
                follows: inputs.text(Field::Context).trim().is_empty(),
            };
            let read = beside.apply(parts);
            question.beside = Some(read.map_err(|text| vec![ModelFault { field: None, text }])?);
        }
        Ok(question)
    }

    /// Changes the format of a role.
    pub fn choose(&mut self, role: Role, format: &'static QuantFormat) {
        self.formats.set(role, Some(format));
        if role.is_of_weights() {
            self.weight_size = None;
        }
        self.precision = self.formats.over(&self.stored);
    }

    /// The formats that the form names, without those that the model is stored in.
    pub fn named(&self) -> PrecisionChoice {
        self.formats.named(self.stored.weights)
    }

    /// The formats with a role reset to its default.
    pub fn without(&self, role: Role) -> PrecisionChoice {
        let mut formats = self.formats;
        formats.set(role, None);
        formats.over(&self.stored)
    }

    /// The core's request, with another workload.
    pub fn request(&self, workload: Workload) -> EstimateRequest<'_> {
        EstimateRequest {
            device: &self.device,
            mode: self.place.mode,
            memory_limit: self.limit,
            model: &self.arch,
            precision: self.precision,
            workload,
            weight_size: self.weight_size,
            draft: self.drafter.map(|model| Draft { model: &model.arch, files: None }),
            engine: self.engine,
            calibration: self.place.calibration(),
            host: self.beside.as_ref().and_then(Erased::host),
            cards: None,
        }
    }

    /// The core's answer.
    ///
    /// # Errors
    /// Returns the core's error.
    pub fn estimate(&self) -> Result<Estimate, Error> {
        estimate(self.request(self.workload))
    }
}

/// An error of the core, attributed to its field.
pub fn fault(error: &Error) -> ModelFault {
    let named = |what: &str| match what {
        "tensor_parallel" => Some(Field::Tensor),
        "pipeline_parallel" => Some(Field::Pipeline),
        "expert_parallel" => Some(Field::Expert),
        "weight_bits" => Some(Field::WeightBits),
        "num_attention_heads" => Some(Field::Heads),
        "num_key_value_heads" => Some(Field::KvHeads),
        "num_experts_per_tok" => Some(Field::ExpertsPerToken),
        _ => None,
    };
    let field = match error {
        Error::OutOfRange { what, .. } => named(what),
        Error::UnevenSplit { parallel: input, .. } | Error::Inapplicable { input, .. } => {
            named(input)
        }
        _ => None,
    };
    let text = RequestError::Core(error.clone()).to_string();
    ModelFault { field, text: format!("{text}.") }
}
