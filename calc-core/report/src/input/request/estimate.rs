//! Requests of the verb `estimate`: a model on a device.

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog;
use calc_core::device::Device;
use calc_core::error::{Error, real_in_range};
use calc_core::estimate::{
    Estimate, EstimateRequest, WEIGHT_BITS, WEIGHT_GB, WeightSize, estimate,
};
use calc_core::footprint::{Pages, WeightRole};
use calc_core::hf_config::Unread;
use calc_core::image::AskedImages;
use calc_core::plan::{Behind, Cards, Plan};
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::ComputeClass;
use calc_core::roofline::Roofs;
use calc_core::scheme::{FormatFamily, NoKernel};
use calc_core::units::Bytes;
use calc_core::workload::Workload;

use serde_json::Value;

use super::beside::{self, Machine, Pictures, ToldField};
use super::cards::{ListedCards, NamedCard, SharedCards, StatedOfCards};
use super::device_count;
use super::link::ChosenLink;
use super::workload::{USUAL_VALUES, UsualValue, workload};
use super::{
    Fields, Library, NamedModel, PrecisionFields, RequestError, calibration_field, engine_field,
    host, in_force, link, memory, power_mode, precision_fields, unread_field,
};

/// Fields that state the size of the weights.
pub(super) const WEIGHT_SIZES: [&str; 3] = ["weight_gb", "weight_bits", "streamed_gb"];
/// Fields that give weights another format than that of their file.
const FORMATS_OF_WEIGHTS: [&str; 3] = ["weights", "embedding", "experts"];

/// A request about a model with device, formats and files resolved.
#[derive(Debug, Clone)]
pub struct EstimateInputs {
    pub device: Cow<'static, Device>,
    pub power_mode: Option<String>,
    /// Upper limit of the memory in use; `None` leaves the limit to the device.
    pub memory_limit: Option<Bytes>,
    pub model: NamedModel,
    /// The images as the request names them.
    pub asked_images: Option<AskedImages>,
    /// Towers for images and sound are not loaded.
    pub language_model_only: bool,
    pub precision: PrecisionChoice,
    /// Only the roles that the request names, without the formats that the model is stored in.
    pub named: PrecisionChoice,
    /// Batch, prompt, context and generated tokens.
    pub workload: Workload,
    /// Known size of the weights, which replaces the size computed from geometry and formats.
    pub weight_size: Option<WeightSize>,
    /// Draft model of speculative decoding.
    pub draft: Option<NamedModel>,
    pub engine: Option<Engine>,
    /// User's measurements; `None` uses the model fitted on published measurements.
    pub calibration: Option<Arc<Calibration>>,
    /// Machine around the card, whose memory takes what the card does not hold.
    pub host: Option<Behind>,
    /// Further cards beside the device, which share the model by layers.
    pub cards: Option<Cards>,
    /// The cards that the request lists, equal ones included, as it names them; empty for one device.
    pub listed: Vec<NamedCard>,
    /// Memory that other programs take: of the host, or of the device where there is none.
    pub reserve: Option<Bytes>,
    /// The fields about host, other programs and images as the request has them, for the address of the page.
    pub told: Vec<ToldField>,
    /// Defaults that were used; the answer names them.
    pub usual: Vec<UsualValue>,
    /// Notes on ambiguous names of devices and formats, and the one chosen for each.
    pub taken: Vec<String>,
    /// The link between the devices, if the request names one; `device` has it.
    pub link: Option<ChosenLink>,
    /// The fields that were parsed; `None` for inputs that no request gave.
    pub fields: Option<Fields>,
}

/// A device on which an engine does not serve a model.
#[derive(Debug, Clone, Copy)]
pub struct Unserved<'a> {
    pub device: &'a Device,
    pub reason: NoKernel,
}

impl EstimateInputs {
    /// Parses the fields of `estimate`.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn parse(mut fields: Fields, library: &Library<'_>) -> Result<Self, RequestError> {
        let all = fields.clone();
        let several = ListedCards::take(&mut fields, library)?;
        host::from_device_name(&mut fields)?;
        let counted = device_count::from_device_name(&mut fields);
        let asked = fields.peek_text("hardware").map(str::to_owned);
        let device = match &several {
            Some(listed) => listed.first(),
            None => memory::device(&mut fields, library)?,
        };
        let listed = several.as_ref().map_or_else(Vec::new, ListedCards::named);
        let open = asked.and_then(|name| device_left_open(&name, &device));
        let told = beside::told(&fields);
        let limit = memory::limit(&mut fields)?;
        let machine = Machine::read(&mut fields, library, (&device, limit))?;
        let mode = fields.text("power_mode")?;
        let unread = unread_field(&mut fields)?;
        let mut model = library.model(&fields.required_text("model")?, unread)?;
        let pictures = Pictures::read(&mut fields, &model.arch)?;
        if pictures.language_model_only {
            model.leave_towers_out();
        }
        let is_requantized = FORMATS_OF_WEIGHTS.iter().any(|key| fields.has(key));
        let PrecisionFields { choice: precision, named, taken } =
            precision_fields(&mut fields, Some(model.stored))?;
        if named.experts.is_some() && !model.arch.has_experts() {
            let part = "a model without experts";
            return Err(Error::Inapplicable { input: "experts", part }.into());
        }
        let in_file = model.weight_bytes.filter(|_| !is_requantized).map(|bytes| bytes.size());
        let weight_size = weight_size(&mut fields)?.or(in_file);
        let usual = USUAL_VALUES.into_iter().filter(|usual| !fields.has(usual.key)).collect();
        let has_stages = fields.has("pipeline_parallel");
        let mut workload = workload(&mut fields, pictures.images)?;
        let stated = StatedOfCards { has_stages, limit, reserve: machine.reserve };
        let shared = several.map(|listed| listed.shared(&mut workload.parallel, stated));
        let (device, cards, said_of_cards) = match shared.transpose()? {
            None => (device, None, Vec::new()),
            Some(SharedCards { first, others, said }) => (first, others, said),
        };
        let counted = counted.map(|counted| counted.said(&workload.parallel)).transpose()?;
        let (device, link) = link::device(&mut fields, device, &workload.parallel)?;
        let said = link.as_ref().map(ChosenLink::said);
        let taken = counted
            .into_iter()
            .chain(said_of_cards)
            .chain(open)
            .chain(taken)
            .chain(said)
            .chain(machine.said);
        let taken = taken.collect();
        let draft = draft_field(&mut fields, library, (&model, unread))?;
        if draft.is_some() && workload.speculation.is_none() {
            return Err(Error::Conflict {
                first: "draft_model",
                second: "draft_tokens",
                needs: true,
            }
            .into());
        }
        if let (Some(draft), Some(speculation)) = (&draft, &mut workload.speculation) {
            speculation.own_layers = draft.key == OWN_LAYERS;
        }
        let engine = engine_field(&mut fields)?;
        let calibration = calibration_field(&mut fields, library, &device)?;
        fields.finish()?;
        let mode = power_mode(&device, mode.as_deref())?.map(|mode| mode.name.to_string());
        Ok(Self {
            device,
            power_mode: mode,
            memory_limit: machine.memory_limit,
            model,
            asked_images: pictures.asked,
            language_model_only: pictures.language_model_only,
            precision,
            named,
            workload,
            weight_size,
            draft,
            engine,
            calibration,
            host: machine.host,
            cards,
            listed,
            reserve: machine.reserve,
            told,
            usual,
            taken,
            link,
            fields: Some(all),
        })
    }

    /// The device, and the unlike cards beside it in the order of their layers.
    pub fn devices(&self) -> impl Iterator<Item = &Device> {
        let others = self.cards.iter().flat_map(|cards| &cards.others);
        [&*self.device].into_iter().chain(others.map(|card| &*card.device))
    }

    /// Name of the hardware: `GeForce RTX 4090 + GeForce RTX 3090`.
    pub fn hardware_name(&self) -> String {
        self.devices().map(|device| &*device.name).collect::<Vec<_>>().join(" + ")
    }

    /// Whether a field of the request has this text.
    pub(super) fn names(&self, key: &str, text: &str) -> bool {
        self.fields.as_ref().and_then(|fields| fields.peek_text(key)) == Some(text)
    }

    /// Whether the request has a field.
    pub(super) fn has_field(&self, key: &str) -> bool {
        self.fields.as_ref().is_some_and(|fields| fields.has(key))
    }

    /// The inputs with the fields of a request that gives the same answer, so that changes of it can be tried; without them where the
    /// request is refused or gives another answer.
    #[must_use]
    pub fn asked_by(self, fields: Fields) -> Self {
        let asked = Self::parse(fields, &Library::CATALOGS).ok();
        let answers =
            asked.as_ref().and_then(|asked| asked.estimate().ok()).zip(self.estimate().ok());
        let is_same = answers.is_some_and(|(a, b)| {
            (a.ttft, a.tpot, a.end_to_end, a.memory.total())
                == (b.ttft, b.tpot, b.end_to_end, b.memory.total())
        });
        let fields = asked.and_then(|asked| asked.fields).filter(|_| is_same);
        Self { fields, ..self }
    }

    /// The request with other values of some fields, parsed again; `None` if that is refused. A null removes a field.
    pub(super) fn with_fields(&self, change: &[(&'static str, Value)]) -> Option<Self> {
        let fields = self.fields.as_ref()?.changed(change);
        Self::parse(fields, &Library::of_request(self)).ok()
    }

    /// Checks that the engine of an answer has kernels for its formats on the device, or on each card with layers.
    ///
    /// # Errors
    /// The first device on which it has none, and the reason.
    pub fn served(&self, answer: &Estimate) -> Result<(), Unserved<'_>> {
        let is_used =
            |index: usize| answer.cards.get(index).is_none_or(|load| !load.layers.is_empty());
        let mut used = self.devices().enumerate().filter(|(index, _)| is_used(*index));
        used.try_for_each(|(_, device)| {
            let found = kernels_on(device, answer);
            found.map_err(|reason| Unserved { device, reason })
        })
    }

    /// Number of tokens of text in a prompt.
    pub fn text_tokens(&self) -> u64 {
        self.workload.text()
    }

    /// The limit on the memory that the request states itself, without what it leaves to other programs.
    pub fn stated_limit(&self) -> Option<Bytes> {
        let own_reserve = self.reserve.filter(|_| self.host.is_none());
        let left = memory::limit_beside(None, own_reserve, &self.device);
        self.memory_limit.filter(|limit| Some(*limit) != left)
    }

    /// True if the size of the weights is that of the model's files.
    pub fn has_size_of_files(&self) -> bool {
        self.weight_size.is_some()
            && self.weight_size == self.model.weight_bytes.map(|bytes| bytes.size())
    }

    /// The request in the types of `calc-core`.
    ///
    /// # Errors
    /// A power mode that the device does not have.
    pub fn request(&self) -> Result<EstimateRequest<'_>, RequestError> {
        Ok(EstimateRequest {
            device: &self.device,
            mode: power_mode(&self.device, self.power_mode.as_deref())?,
            memory_limit: self.memory_limit,
            model: &self.model.arch,
            precision: self.precision,
            workload: self.workload,
            weight_size: self.weight_size,
            draft: self.draft.as_ref().map(NamedModel::draft),
            engine: self.engine,
            calibration: in_force(self.calibration.as_ref()),
            host: self.host.as_ref(),
            cards: self.cards.as_ref(),
        })
    }

    /// The formats with those that the engine sets for open roles, and the roofs of the power mode.
    ///
    /// # Errors
    /// A power mode that the device does not have, or one with unknown clocks.
    pub fn filled(&self) -> Result<(PrecisionChoice, Roofs), RequestError> {
        let mode = power_mode(&self.device, self.power_mode.as_deref())?;
        let roofs = Roofs::new(&self.device, mode)?;
        let engine = self.request()?.engine();
        let filled = self.precision.filled(Some(engine), &self.device, &self.model.arch, &roofs);
        Ok((filled, roofs))
    }

    /// Computes the estimate.
    ///
    /// # Errors
    /// Every refusal of `calc-core`.
    pub fn estimate(&self) -> Result<Estimate, RequestError> {
        Ok(estimate(self.request()?)?)
    }

    /// Bytes of the weights of one device by role, those on a host included; empty for a request that is refused.
    pub fn weight_roles(&self) -> Vec<(WeightRole, Bytes)> {
        let plan = self.request().ok().and_then(|request| Plan::new(request).ok());
        plan.map_or_else(Vec::new, |plan| plan.weight_roles())
    }

    /// The pages in which the engine allots the KV cache of the fullest device; `None` where it has none.
    pub fn pages(&self) -> Option<Pages> {
        Plan::new(self.request().ok()?).ok()?.pages()
    }
}

/// Checks that the engine of an answer has kernels for its formats on a device.
fn kernels_on(device: &Device, answer: &Estimate) -> Result<(), NoKernel> {
    let precision = &answer.precision;
    let (weights, experts) = precision.stored();
    let multiplies = |class: ComputeClass| !class.is_carrier() && device.peaks.get(class).is_some();
    let quantized = precision.activations.class.is_some_and(multiplies);
    FormatFamily::of(weights, experts).served_by(answer.basis.engine, device, quantized)
}

/// Name of the draft model that asks for the model's own layers for multi-token prediction.
pub const OWN_LAYERS: &str = "mtp";

/// The draft model: another one, or the model's own layers.
fn draft_field(
    fields: &mut Fields,
    library: &Library<'_>,
    (model, unread): (&NamedModel, Unread),
) -> Result<Option<NamedModel>, RequestError> {
    let Some(name) = fields.text("draft_model")? else { return Ok(None) };
    if !name.eq_ignore_ascii_case(OWN_LAYERS) {
        return library.model(&name, unread).map(Some);
    }
    let arch = model.arch.own_draft().ok_or(Error::Inapplicable {
        input: "draft_model mtp",
        part: "a model without a layer for multi-token prediction whose geometry is known",
    })?;
    let layers = if arch.draft_layers > 1 { "layers" } else { "layer" };
    let name = format!("the {layers} for multi-token prediction of {}", model.name);
    let key = OWN_LAYERS.into();
    Ok(Some(NamedModel { key, name, arch: Cow::Owned(arch), weight_bytes: None, ..model.clone() }))
}

fn weight_size(fields: &mut Fields) -> Result<Option<WeightSize>, RequestError> {
    let mut real = |key, (least, most)| match fields.real(key)? {
        None => Ok::<_, RequestError>(None),
        Some(value) => Ok(Some(real_in_range(key, value, least, most)?)),
    };
    let [gb, bits, streamed] = WEIGHT_SIZES;
    let sizes = [
        real(gb, WEIGHT_GB)?.map(|gb| WeightSize::Total(Bytes::from_gb(gb))),
        real(bits, WEIGHT_BITS)?.map(WeightSize::BitsPerWeight),
        real(streamed, WEIGHT_GB)?.map(|gb| WeightSize::Streamed(Bytes::from_gb(gb))),
    ];
    let mut given =
        WEIGHT_SIZES.into_iter().zip(sizes).filter_map(|(key, size)| Some((key, size?)));
    match (given.next(), given.next()) {
        (Some((first, _)), Some((second, _))) => {
            Err(Error::Conflict { first, second, needs: false }.into())
        }
        (size, _) => Ok(size.map(|(_, size)| size)),
    }
}

/// Note on a name of several devices: `A100 is taken as a100_80gb_sxm; it may also mean a100_40gb_sxm, a100_80gb_pcie`.
fn device_left_open(name: &str, found: &Device) -> Option<String> {
    let open = catalog::devices_left_open(name, found);
    let keys: Vec<&str> = open.iter().map(|device| &*device.key).collect();
    let keys = keys.join(", ");
    (!open.is_empty()).then(|| format!("{name} is taken as {}; it may also mean {keys}", found.key))
}
