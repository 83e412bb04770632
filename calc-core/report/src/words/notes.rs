//! What an answer should be read with: fallbacks, padding, unknowns, assumptions.

use calc_core::analysis::{Analysis, Operator};
use calc_core::calibration::Engine;
use calc_core::estimate::Estimate;
use calc_core::footprint::Verdict;
use calc_core::hf_config::AssumedField;
use calc_core::provenance::Provenance;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::roofline::ComputePath;

use crate::number_text;
use crate::request::{AnalyzeInputs, EstimateInputs};

/// Notes to the answer of `analyze`.
pub fn analyze_notes(inputs: &AnalyzeInputs, answer: &Analysis) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(fallback("the product", answer.path));
    if let Operator::Gemm(shape) = inputs.operator {
        notes.extend(padding(answer.precision.weights, shape.k));
        notes.extend(weight_only(answer.precision.weights, answer.path));
    }
    notes.extend(engine(inputs.engine, answer.expected.provenance));
    notes
}

/// Notes to the answer of `estimate`.
pub fn estimate_notes(inputs: &EstimateInputs, answer: &Estimate) -> Vec<String> {
    let mut notes = Vec::new();
    let precision = &answer.precision;
    notes.extend(fallback("layer matmuls", answer.paths.layer));
    if answer.paths.lm_head.wanted != answer.paths.layer.wanted {
        notes.extend(fallback("the LM head", answer.paths.lm_head));
    }
    notes.extend(weight_only(precision.weights, answer.paths.layer));
    notes.extend(padding(precision.weights, inputs.model.arch.hidden_size));
    if (answer.weight_scale - 1.0).abs() > 1e-12 {
        let ratio = number_text::ratio(answer.weight_scale);
        notes.push(format!(
            "weight bytes are scaled by {ratio} to the size given, over all weights alike"
        ));
    }
    if let Verdict::DoesNotFit { missing } = answer.memory.verdict() {
        let missing = number_text::bytes(missing);
        notes.push(format!("it does not fit: {missing} are missing; the times assume that it did"));
    }
    if let Some(max) = inputs.model.arch.max_context
        && inputs.workload.longest() > max
    {
        let longest = inputs.workload.longest();
        notes.push(format!("{longest} tokens exceed the {max} that the model is made for"));
    }
    let split = &inputs.workload.parallel;
    let sharing = split.tensor * split.expert;
    if sharing > 1 {
        notes.push(format!(
            "work, traffic, memory and energy are those of one of {sharing} devices"
        ));
    }
    if split.pipeline > 1 {
        notes.push(format!(
            "memory is that of the fullest of {} stages; work and time are those of all",
            split.pipeline
        ));
    }
    if answer.link_unknown {
        notes.push(
            "nobody has published this device's link: the expected times leave out what crosses it"
                .into(),
        );
    }
    notes.extend(assumed_fields(&inputs.model.assumed));
    notes.extend(inputs.model.remarks.iter().map(crate::model_file::remark_text));
    notes.extend(engine(inputs.engine, answer.decode.totals.expected.provenance));
    notes
}

fn fallback(what: &str, path: ComputePath) -> Option<String> {
    let (wanted, class) = (path.wanted.key(), path.class.key());
    // Engines run BF16 checkpoints in FP16 on such devices; the model takes formats by their word.
    let hint =
        if path.wanted == ComputeClass::Bf16 { "; name fp16 for what engines do here" } else { "" };
    (path.class != path.wanted).then(|| {
        format!("{what} would compute in {wanted}, which this device lacks: {class} instead{hint}")
    })
}

fn weight_only(weights: &QuantFormat, path: ComputePath) -> Option<String> {
    (weights.class != Some(path.wanted)
        && weights.bits_per_element() < f64::from(path.wanted.width()))
    .then(|| {
        format!(
            "{} saves bytes, not arithmetic: weights are dequantized and multiplied in {}",
            weights.name,
            path.class.key()
        )
    })
}

fn padding(weights: &QuantFormat, k: u64) -> Option<String> {
    weights.pads(k).then(|| {
        format!("k = {k} is not a multiple of the block of {} ({}): the last block of a row is stored whole", weights.key, weights.block)
    })
}

/// Engines have no factors of their own yet; a fit replaces the assumed ones.
fn engine(engine: Option<Engine>, provenance: Provenance) -> Option<String> {
    let engine = engine.filter(|_| provenance == Provenance::Assumed)?;
    Some(format!(
        "no factors are known for {} here: the expected times use the assumed ones",
        engine.key()
    ))
}

fn assumed_fields(fields: &[AssumedField]) -> Option<String> {
    if fields.is_empty() {
        return None;
    }
    let list: Vec<String> = fields.iter().map(crate::model_file::assumed_text).collect();
    Some(format!("the model file leaves open, and the import fills: {}", list.join("; ")))
}
