//! Notes on the engine of an estimate: what it cannot run, which formats it reads, and where its factors come from.

use calc_core::calibration::{Basis, Engine};
use calc_core::estimate::Estimate;
use calc_core::parallel::{NoSplit, check_split};
use calc_core::precision::Precision;
use calc_core::provenance::Provenance;
use calc_core::quant_format::ComputeClass;
use calc_core::scheme::{ExpertKernels, FormatFamily, KernelRequest, NoKernel, expert_kernels};

use crate::input::request::{EstimateInputs, Unserved};
use crate::output::words::apply;

/// Note on an engine that does not run on the device, or has no kernels for the weights there.
pub(super) fn no_build(inputs: &EstimateInputs, answer: &Estimate) -> Option<String> {
    let (engine, precision) = (answer.basis.engine, &answer.precision);
    let (weights, experts) = precision.stored();
    let lacked =
        if FormatFamily::of_format(weights) == FormatFamily::Plain { experts } else { weights };
    let (engine_key, format) = (engine.key(), lacked.key);
    let Unserved { device, reason } = inputs.served(answer).err()?;
    let device = if inputs.cards.is_some() { &*device.name } else { "this device" };
    Some(match reason {
        NoKernel::NoBuild(_) => format!("{engine_key} has no build for {device}"),
        NoKernel::OtherEngine(_) => format!("{engine_key} has no kernels for {format}"),
        NoKernel::NoPeak(_)
        | NoKernel::OldArchitecture
        | NoKernel::NoTorchKernels
        | NoKernel::OtherVendor
        | NoKernel::NoUsualEngine
        | NoKernel::NoLlamaCpp => {
            format!("{engine_key} has no kernels for {format} on {device}")
        }
    })
}

/// Note on an engine that does not split the model as asked for.
pub(super) fn no_split(inputs: &EstimateInputs, answer: &Estimate) -> Option<String> {
    let (engine, cache) = (answer.basis.engine, answer.precision.kv_cache);
    let split = (&*inputs.model.arch, &inputs.workload.parallel);
    let reason = check_split(engine, &inputs.device, split, cache).err()?;
    let shares_layers = inputs.workload.parallel.tensor * inputs.workload.parallel.expert == 1;
    let end = match reason {
        // The answer says how it cuts the layers.
        NoSplit::ByItself if inputs.cards.is_some() => return None,
        NoSplit::ByItself if shares_layers => "no option sets these stages",
        _ => "it cannot run this configuration",
    };
    let (name, reason) = (apply::engine_name(engine), apply::no_split(reason));
    Some(format!("{name} {reason}: {end}"))
}

/// Formats that the request leaves open and that its engine or GGUF file sets.
pub(super) fn engine_formats(inputs: &EstimateInputs, engine: Basis) -> Option<String> {
    let given = &inputs.precision;
    let (filled, roofs) = inputs.filled().ok()?;
    let model = &*inputs.model.arch;
    let is_file = filled.weights.file.is_some() && given.embedding.is_none();
    let file = is_file.then(|| filled.resolve_model(model, &roofs));
    let list: Vec<String> = [
        ("weights", Some(given.weights), Some(filled.weights)),
        ("experts", given.experts, filled.experts),
        ("activations", given.activations, filled.activations),
        ("embedding", given.embedding, file.map(|file| file.embedding)),
        ("LM head", None, file.map(|file| file.lm_head)),
    ]
    .into_iter()
    .filter(|(_, given, filled)| filled.is_some() && given != filled)
    .filter_map(|(role, _, filled)| Some(format!("{role} {}", filled?.key)))
    .collect();
    let usual = if engine.is_named { "" } else { ", the usual engine here," };
    let who = format!("as {}{usual} stores and computes it", engine.engine.key());
    (!list.is_empty()).then(|| format!("{who}: {}", list.join(", ")))
}

/// Note on the input format of matmuls with FP4 weights, where the device and its engines have more than one.
pub(super) fn fp4_inputs(inputs: &EstimateInputs, answer: &Estimate) -> Option<String> {
    inputs.device.peaks.get(ComputeClass::Fp4)?;
    let Precision { weights, experts, activations, .. } = answer.precision;
    if inputs.precision.activations.is_some() {
        return None;
    }
    let is_mxfp4 = FormatFamily::of(weights, experts) == FormatFamily::Mxfp4Experts;
    let kernels = expert_kernels(answer.basis.engine, &inputs.device).filter(|_| is_mxfp4);
    if let Some(ExpertKernels { inputs, request }) = kernels {
        let (experts, inputs) = (experts.short_name, inputs.short_name);
        return match request {
            KernelRequest::Default => None,
            KernelRequest::Flag(flag) => Some(format!(
                "vLLM reads inputs of {experts} experts in {inputs} with {flag}, and in 16 bits without it"
            )),
            KernelRequest::NoFlag => Some(format!(
                "vLLM reads inputs of {experts} experts in {inputs} with its CUTLASS kernels for MXFP4 on this device, and in 16 bits by default"
            )),
        };
    }
    let fp4 = [weights, experts].into_iter().find(|format| format.class == Some(ComputeClass::Fp4));
    let is_wide = activations.class.is_some_and(ComputeClass::is_carrier);
    fp4.filter(|_| is_wide).map(|format| {
        let key = format.key;
        format!("{key} is the format of weights: matmuls read inputs in {}; a checkpoint that quantizes them too has activations {key}", activations.key)
    })
}

/// Note on an engine and device for which no fitted measurements exist.
pub(super) fn engine(engine: Option<Engine>, provenance: Provenance) -> Option<String> {
    let engine = engine.filter(|_| provenance == Provenance::Assumed)?;
    Some(format!(
        "the factors of {} come from measurements on NVIDIA GPUs: none of this vendor's devices is in the fit",
        engine.key()
    ))
}
