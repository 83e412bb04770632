//! Variants of some work: in other formats, in another power mode, or on the units that a fallback uses.

use alloc::vec::Vec;

use crate::analysis::Operator;
use crate::catalog::formats as f;
use crate::catalog::schemes::SCHEMES;
use crate::device::{Device, Peaks, PowerMode};
use crate::estimate::EstimateRequest;
use crate::footprint::bits_per_weight;
use crate::op::OpKind;
use crate::precision::PrecisionChoice;
use crate::quant_format::{ComputeClass, QuantFormat};
use crate::roofline::Roofs;
use crate::scheme::{FormatFamily, Scheme, SchemeWeights};

use super::work::{Measure, Work};

/// Formats for a KV cache, widest first.
static CACHES: [&QuantFormat; 7] =
    [&f::FP32, &f::FP16, &f::GGUF_Q8_0, &f::FP8_E4M3, &f::INT8, &f::NVFP4, &f::GGUF_Q4_0];

/// The work in other formats.
pub(super) struct StoredWork<'a> {
    /// Format of most of the data that the work reads.
    pub(super) format: &'static QuantFormat,
    /// Format of the activations, if they are quantized too.
    pub(super) activations: Option<&'static QuantFormat>,
    /// Bits per element, or per weight of a file that mixes formats.
    pub(super) bits: f64,
    /// Whether the same software has kernels for it as for the formats of the work itself.
    pub(super) is_kin: bool,
    pub(super) work: Work<'a>,
}

/// The work in every other possible format: those of the recommended schemes that the named engine runs; and FP32, if the
/// weights are not quantized.
pub(super) fn stored<'a>(work: &Work<'a>, own: &Measure) -> Vec<StoredWork<'a>> {
    let role = match work {
        Work::Token(_) | Work::Answer(_) => Role::Weights,
        Work::Operator(request) => role(&request.operator),
    };
    let precision = work.precision();
    let plain = |format: &'static QuantFormat, choice| StoredWork {
        format,
        activations: None,
        bits: format.bits_per_element(),
        is_kin: true,
        work: work.stored(choice, None),
    };
    let all: Vec<StoredWork<'a>> = match role {
        Role::Cache => CACHES
            .iter()
            .map(|format| plain(format, PrecisionChoice { kv_cache: Some(*format), ..precision }))
            .collect(),
        Role::Carrier => [&f::FP32, own.roofs.half()]
            .into_iter()
            .map(|format| plain(format, PrecisionChoice::weights(format)))
            .collect(),
        Role::Weights => {
            let schemes = SCHEMES.iter().filter_map(|scheme| of_scheme(work, own, scheme));
            let single = PrecisionChoice {
                kv_cache: precision.kv_cache,
                ..PrecisionChoice::weights(&f::FP32)
            };
            let is_plain = precision.family() == FormatFamily::Plain;
            schemes.chain(is_plain.then(|| plain(&f::FP32, single))).collect()
        }
    };
    all.into_iter().filter(|other| differs(&other.work, work, own)).collect()
}

/// The role whose format an operator's traffic depends on.
enum Role {
    Weights,
    Cache,
    Carrier,
}

const fn role(operator: &Operator) -> Role {
    match operator {
        Operator::Gemm(_) | Operator::FeedForward(_) | Operator::MixtureOfExperts(_) => {
            Role::Weights
        }
        Operator::Attention { .. } | Operator::KvAppend { .. } => Role::Cache,
        Operator::AddNorm { .. } | Operator::Norm { .. } | Operator::Activation { .. } => {
            Role::Carrier
        }
    }
}

/// The work in a scheme, if kernels for it exist and support its shapes.
fn of_scheme<'a>(work: &Work<'a>, own: &Measure, scheme: &Scheme) -> Option<StoredWork<'a>> {
    let format = match scheme.weights {
        SchemeWeights::Published => return None,
        SchemeWeights::Half => own.roofs.half(),
        SchemeWeights::Format(format) => format,
    };
    if work.named_engine().is_some_and(|engine| !scheme.family().is_of(engine)) {
        return None;
    }
    scheme.runs_on(work.device(), &own.roofs).ok()?;
    match (work.model(), work) {
        (Some(request), _) => scheme.takes_model(request.model).ok()?,
        (None, Work::Operator(request)) => {
            if let Operator::Gemm(shape) = request.operator {
                scheme.takes(OpKind::Gemm, shape.n, shape.k).ok()?;
            }
        }
        (None, Work::Token(_) | Work::Answer(_)) => {}
    }
    let asked = work.precision();
    let choice = scheme.choice(&own.roofs, &asked, &asked);
    let bits = match (work.model(), format.file) {
        (Some(EstimateRequest { device, model, engine, .. }), Some(_)) => {
            let filled = choice.filled(*engine, device, model, &own.roofs);
            bits_per_weight(model, &filled.resolve_model(model, &own.roofs))
        }
        _ => format.bits_per_element(),
    };
    let is_kin = scheme.kernels() == asked.family().kernels();
    let work = work.stored(choice, None);
    Some(StoredWork { format, activations: scheme.activations, bits, is_kin, work })
}

/// Whether the formats or the stated size differ from those of the work itself.
fn differs(other: &Work<'_>, work: &Work<'_>, own: &Measure) -> bool {
    let size = |work: &Work<'_>| work.model().and_then(|request| request.weight_size);
    other.resolved(&own.roofs) != own.precision || size(other) != size(work)
}

/// The other power modes with known clocks, and the device's own peaks if a mode was named.
pub(super) fn modes<'a>(work: &Work<'a>) -> impl Iterator<Item = Option<&'a PowerMode>> {
    let (device, current) = (work.device(), work.mode());
    let known = |mode: &&PowerMode| Roofs::new(device, Some(mode)).is_ok();
    let name = |mode: Option<&PowerMode>| mode.map(|mode| mode.name.clone());
    let all = device.power_modes.iter().filter(known).map(Some);
    all.chain([None]).filter(move |mode| name(*mode) != name(current))
}

/// The device with fewer peaks: without the narrow class that the work runs on, and with only FP32 and FP64.
pub(super) fn without_units(device: &Device, class: ComputeClass) -> [Device; 2] {
    use ComputeClass::{Fp32, Fp64};
    let mut narrower = device.peaks;
    if class.width() < 16 {
        narrower.0[class.index()] = None;
    }
    let mut wide = Peaks::NONE;
    for class in [Fp64, Fp32] {
        if let Some(peak) = device.peaks.get(class) {
            wide = wide.with(class, peak);
        }
    }
    [Device { peaks: narrower, ..device.clone() }, Device { peaks: wide, ..device.clone() }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Calibration, Engine};
    use crate::catalog;
    use crate::workload::Workload;

    #[test]
    fn a_variant_that_equals_the_work_through_the_defaults_of_its_engine_is_not_offered() {
        for (engine, weights, device) in [
            (Some(Engine::LlamaCpp), &f::GGUF_Q4_K, "rtx_4090"),
            (None, &f::GGUF_Q4_K, "rtx_4090"),
            (Some(Engine::Vllm), &f::NVFP4, "b200"),
        ] {
            let work = Work::Token(EstimateRequest {
                device: catalog::device(device).expect("catalog key"),
                mode: None,
                memory_limit: None,
                model: &catalog::model("llama-3.1-8b").expect("catalog key").arch,
                precision: PrecisionChoice::weights(weights),
                workload: Workload::new(1, 512),
                weight_size: None,
                draft: None,
                engine,
                calibration: &Calibration::FITTED,
                host: None,
                cards: None,
            });
            let own = work.measure().expect("valid");
            let others = stored(&work, &own);
            assert!(!others.is_empty(), "{}", weights.key);
            for other in others {
                let found = other.work.measure().expect("valid");
                let is_same = found.precision == own.precision && found.memory == own.memory;
                assert!(!is_same, "{engine:?}: {} is offered as another format", other.format.key);
            }
        }
    }
}
