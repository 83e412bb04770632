//! Requests of the verbs `recommend` and `schedule`, and their evaluation.

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::analysis::MAX_DIMENSION;
use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog;
use calc_core::cost::gemm::GemmShape;
use calc_core::device::Device;
use calc_core::error::{Error, in_range};
use calc_core::estimate::EstimateRequest;
use calc_core::lowering::Phase;
use calc_core::recommend::{
    Bounds, ModelTask, Objective, RankedPart, RecommendRequest, Recommendation, ShapeTask, Task,
    USUAL_QUALITY, recommend, run_shape,
};
use calc_core::schedule::{Schedule, ScheduleRequest, schedule};
use calc_core::units::{Bytes, Seconds, TokensPerSec, Watts};

use super::{
    EstimateInputs, Fields, Library, NamedModel, RequestError, calibration_field, engine_field,
    in_force, memory, power_mode,
};

/// Number of rows M from which a single shape counts as prefill where the request names no phase.
const PROMPT_ROWS: u64 = 256;
/// Value of `hardware` that asks for the smallest device that meets the bounds.
const ANY: &str = "any";
/// Device of a request with `hardware: any`; the ranking replaces it by each device of the catalog.
const STAND_IN: &str = "h100_sxm";
/// Largest batch of a schedule where the request sets none.
const USUAL_MAX_BATCH: u64 = 256;

/// Keys of `recommend` whose values `schedule` searches; the batch from 1 to `max_batch`.
pub const SEARCHED: [&str; 7] =
    ["power_mode", "weights", "activations", "experts", "weight_gb", "weight_bits", "batch"];

/// Subject of a recommendation: a single matrix product or a model.
#[derive(Debug, Clone)]
pub enum Subject {
    Shape {
        shape: GemmShape,
        /// Phase whose time is ranked.
        phase: Phase,
        /// Upper limit of the memory in use; `None` leaves the limit to the device.
        memory_limit: Option<Bytes>,
        engine: Option<Engine>,
        /// User's measurements; `None` uses the model fitted on published measurements.
        calibration: Option<Arc<Calibration>>,
    },
    Model(Box<EstimateInputs>),
}

/// A request for a recommendation with device, model, formats and files resolved.
#[derive(Debug, Clone)]
pub struct RecommendInputs {
    pub device: Cow<'static, Device>,
    /// `hardware: any`: the devices are ranked, and `device` is only a stand-in.
    pub any_device: bool,
    pub power_mode: Option<String>,
    pub subject: Subject,
    /// Quantity by which the schemes are ranked.
    pub objective: Objective,
    /// RankedPart of the request whose time is ranked: prefill, decode or the whole.
    pub part: RankedPart,
    /// Limits on time, memory, power and loss that every ranked scheme meets.
    pub bounds: Bounds,
    /// Format of weights that the request names; the answer gives its rank.
    pub asked_weights: Option<String>,
    /// The fields that were parsed; `None` for inputs that no request gave.
    pub fields: Option<Fields>,
}

impl RecommendInputs {
    /// Parses the fields of `recommend`.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn parse(mut fields: Fields, library: &Library<'_>) -> Result<Self, RequestError> {
        let all = fields.clone();
        let objective = word(&mut fields, "objective", &Objective::ALL)?;
        let asked_part = word(&mut fields, "phase", &RankedPart::ALL)?;
        let bounds = bounds(&mut fields)?;
        let any_device =
            fields.peek_text("hardware").is_some_and(|key| key.eq_ignore_ascii_case(ANY));
        let of_one_device = ["memory_gb", "link", "host"].into_iter().find(|key| fields.has(key));
        if let (true, Some(first)) = (any_device, of_one_device) {
            return Err(Error::Conflict { first, second: "hardware any", needs: false }.into());
        }
        if any_device {
            fields.replace_text("hardware", STAND_IN);
        }
        let key =
            |name: &str| catalog::format(name).map_or(name.to_owned(), |it| it.key.to_owned());
        let asked_weights = fields.peek_text("weights").map(key);
        let (device, power_mode, subject, part) = if fields.has("model") {
            let inputs = EstimateInputs::parse(fields, library)?;
            if inputs.cards.is_some() {
                let name = all.peek_text("hardware").unwrap_or_default().trim().to_owned();
                return Err(RequestError::SeveralCards { name });
            }
            // A workload that no scheme and no device can run is an error, not an empty list.
            inputs.workload.check()?;
            inputs.workload.parallel.check(&inputs.model.arch)?;
            let part = asked_part.unwrap_or(RankedPart::usual(&inputs.workload));
            let (device, mode) = (inputs.device.clone(), inputs.power_mode.clone());
            (device, mode, Subject::Model(Box::new(inputs)), part)
        } else {
            shape(fields, library, asked_part)?
        };
        Ok(Self {
            device,
            any_device,
            power_mode,
            subject,
            objective: objective.unwrap_or(Objective::Latency),
            part,
            bounds,
            asked_weights,
            fields: Some(all),
        })
    }

    /// Upper limit of the memory in use; `None` leaves the limit to the device.
    pub const fn memory_limit(&self) -> Option<Bytes> {
        match &self.subject {
            Subject::Shape { memory_limit, .. } => *memory_limit,
            Subject::Model(inputs) => inputs.memory_limit,
        }
    }

    /// Whether the devices exchange data over a link that nobody published.
    pub fn lacks_link(&self) -> bool {
        match &self.subject {
            Subject::Model(model) => {
                self.device.link.is_none() && model.workload.parallel.exchanges()
            }
            Subject::Shape { .. } => false,
        }
    }

    /// The request in the types of `calc-core`.
    ///
    /// # Errors
    /// A workload or power mode that `calc-core` refuses.
    pub fn request(&self) -> Result<RecommendRequest<'_>, RequestError> {
        let mode = power_mode(&self.device, self.power_mode.as_deref())?;
        let task = match &self.subject {
            Subject::Shape { shape, phase, memory_limit, engine, calibration } => {
                Task::Shape(ShapeTask {
                    device: &self.device,
                    mode,
                    memory_limit: *memory_limit,
                    shape: *shape,
                    phase: *phase,
                    engine: *engine,
                    calibration: in_force(calibration.as_ref()),
                    run: run_shape,
                })
            }
            Subject::Model(inputs) => Task::Model(
                ModelTask::new(
                    EstimateRequest {
                        device: &self.device,
                        mode,
                        memory_limit: inputs.memory_limit,
                        model: &inputs.model.arch,
                        precision: inputs.named,
                        workload: inputs.workload,
                        weight_size: None,
                        draft: inputs.draft.as_ref().map(NamedModel::draft),
                        // Beside a host only llama.cpp computes, so a scheme without its kernels is dropped as one of it.
                        engine: inputs.engine.or(inputs.host.as_ref().map(|_| Engine::LlamaCpp)),
                        calibration: in_force(inputs.calibration.as_ref()),
                        host: inputs.host.as_ref(),
                        cards: None,
                    },
                    inputs.model.stored,
                )
                .with_files(inputs.model.file_parts()),
            ),
        };
        let Self { objective, part, bounds, .. } = *self;
        Ok(RecommendRequest { task, objective, part, bounds })
    }

    /// Computes the ranking.
    ///
    /// # Errors
    /// Every refusal of `calc-core`.
    pub fn recommend(&self) -> Result<Recommendation, RequestError> {
        Ok(recommend(&self.request()?)?)
    }
}

fn shape(
    mut fields: Fields,
    library: &Library<'_>,
    part: Option<RankedPart>,
) -> Result<(Cow<'static, Device>, Option<String>, Subject, RankedPart), RequestError> {
    let device = memory::device(&mut fields, library)?;
    let memory_limit = memory::limit(&mut fields)?;
    let mode = fields.text("power_mode")?;
    let (m, n, k) =
        (fields.required_count("m")?, fields.required_count("n")?, fields.required_count("k")?);
    for (key, side) in [("m", m), ("n", n), ("k", k)] {
        in_range(key, side, 1, MAX_DIMENSION)?;
    }
    for key in ["weights", "activations"] {
        super::format_field(&mut fields, key)?;
    }
    let engine = engine_field(&mut fields)?;
    let calibration = calibration_field(&mut fields, library, &device)?;
    fields.finish()?;
    let phase = match part {
        Some(RankedPart::Prefill) => Phase::Prefill,
        Some(RankedPart::Whole) | None if m >= PROMPT_ROWS => Phase::Prefill,
        Some(RankedPart::Decode | RankedPart::Whole) | None => Phase::Decode,
    };
    let part = match phase {
        Phase::Prefill => RankedPart::Prefill,
        Phase::Decode => RankedPart::Decode,
    };
    let mode = power_mode(&device, mode.as_deref())?.map(|mode| mode.name.to_string());
    let shape = GemmShape { m, n, k };
    let subject = Subject::Shape { shape, phase, memory_limit, engine, calibration };
    Ok((device, mode, subject, part))
}

fn word<T: Copy>(
    fields: &mut Fields,
    key: &'static str,
    words: &[(&'static str, T)],
) -> Result<Option<T>, RequestError> {
    let Some(given) = fields.text(key)? else { return Ok(None) };
    let found = words.iter().find(|(name, _)| name.eq_ignore_ascii_case(&given));
    found.map(|(_, value)| Some(*value)).ok_or_else(|| RequestError::NotOneOf {
        key,
        value: given,
        allowed: words.iter().map(|(name, _)| *name).collect(),
    })
}

fn bounds(fields: &mut Fields) -> Result<Bounds, RequestError> {
    let milliseconds = |value: Option<f64>| value.map(|value| Seconds::new(value * 1e-3));
    Ok(Bounds {
        quality: fields.real("max_quality_loss")?.unwrap_or(USUAL_QUALITY),
        tpot: milliseconds(fields.real("max_tpot_ms")?),
        ttft: milliseconds(fields.real("max_ttft_ms")?),
        rate: fields.real("min_tokens_per_s")?.map(TokensPerSec::new),
    })
}

/// A request for a schedule with device, model, formats and files resolved.
#[derive(Debug, Clone)]
pub struct ScheduleInputs {
    /// Fields shared with `recommend`; its batch and power mode are searched.
    pub recommend: RecommendInputs,
    pub power_cap: Option<Watts>,
    /// Largest batch in the search.
    pub max_batch: u64,
}

impl ScheduleInputs {
    /// Parses the fields of `schedule`.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn parse(mut fields: Fields, library: &Library<'_>) -> Result<Self, RequestError> {
        let power_cap = fields.real("power_cap_w")?.map(Watts::new);
        let max_batch = fields.count("max_batch")?.unwrap_or(USUAL_MAX_BATCH);
        if let Some(first) = SEARCHED.into_iter().find(|key| fields.has(key)) {
            return Err(Error::Conflict { first, second: "schedule", needs: false }.into());
        }
        if fields.has("model") {
            fields.replace_text("batch", "1");
        }
        let recommend = RecommendInputs::parse(fields, library)?;
        Ok(Self { recommend, power_cap, max_batch })
    }

    /// Computes the schedule.
    ///
    /// # Errors
    /// Every refusal of `calc-core`.
    pub fn schedule(&self) -> Result<Schedule, RequestError> {
        let RecommendRequest { task, objective, part, bounds } = self.recommend.request()?;
        let (power_cap, max_batch) = (self.power_cap, self.max_batch);
        Ok(schedule(&ScheduleRequest { task, objective, part, bounds, power_cap, max_batch })?)
    }
}
