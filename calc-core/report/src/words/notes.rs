//! What an answer should be read with: fallbacks, padding, unknowns, assumptions.

use calc_core::analysis::{Analysis, Operator};
use calc_core::calibration::Engine;
use calc_core::estimate::{Estimate, WeightSize};
use calc_core::footprint::Verdict;
use calc_core::hf_config::{AssumedField, Remark};
use calc_core::model_arch::ModelArch;
use calc_core::precision::Precision;
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
    if !answer.parts.is_empty() {
        let routed = matches!(inputs.operator, Operator::MixtureOfExperts(_));
        let precision = &answer.precision;
        let weights = if routed { precision.experts } else { precision.weights };
        notes.extend(weight_only(weights, answer.path));
        notes.extend(operator_paddings(&inputs.operator, weights));
    }
    notes.extend(engine(inputs.engine, answer.expected.provenance));
    notes
}

/// Notes to an answer of `analyze` on the command line: what of the request was not read comes first. The page offers
/// nothing of that kind, and takes [`analyze_notes`].
pub fn request_notes(inputs: &AnalyzeInputs, answer: &Analysis) -> Vec<String> {
    let unread = unread_formats(inputs, answer);
    let taken = inputs.taken.iter().cloned();
    unread.into_iter().chain(taken).chain(analyze_notes(inputs, answer)).collect()
}

/// Formats that a request names and that its operator does not use.
fn unread_formats(inputs: &AnalyzeInputs, answer: &Analysis) -> Option<String> {
    let (given, used) = (&inputs.precision, &answer.precision);
    let gemm = matches!(
        inputs.operator,
        Operator::Gemm(_) | Operator::FeedForward(_) | Operator::MixtureOfExperts(_)
    );
    let routed = matches!(inputs.operator, Operator::MixtureOfExperts(_));
    let cached = matches!(inputs.operator, Operator::Attention { .. } | Operator::KvAppend { .. });
    // New keys and values are written in the format of the cache, and only by default that is the carrier.
    let carrier = !matches!(inputs.operator, Operator::KvAppend { .. }) || given.kv_cache.is_none();
    let carries = |format: &QuantFormat| gemm || carrier && format == used.carrier;
    let activations = given.activations.filter(|format| !carries(format));
    let weights =
        Some(given.weights).filter(|format| !carries(format) && given.activations != Some(*format));
    let list: Vec<String> = [
        ("weights", weights),
        ("activations", activations),
        ("kv", given.kv_cache.filter(|_| !cached)),
        ("embedding", given.embedding),
        ("experts", given.experts.filter(|_| !routed)),
    ]
    .into_iter()
    .filter_map(|(role, format)| Some(format!("{role} {}", format?.key)))
    .collect();
    let runs = if carrier { used.carrier } else { used.kv_cache };
    let instead = if gemm { String::new() } else { format!(": it runs in {}", runs.key) };
    let op = inputs.operator.kind().key();
    (!list.is_empty()).then(|| format!("{op} does not read {}{instead}", list.join(", ")))
}

/// Notes to the answer of `estimate`.
pub fn estimate_notes(inputs: &EstimateInputs, answer: &Estimate) -> Vec<String> {
    let mut notes = Vec::new();
    let precision = &answer.precision;
    // First, because it can double every byte.
    notes.extend(data_type(inputs));
    notes.extend(inputs.taken.iter().cloned());
    notes.extend(fallbacks(answer, inputs.model.arch.moe.is_some()));
    notes.extend(weight_only(precision.weights, answer.paths.layer));
    if inputs.model.arch.moe.is_some() && precision.experts != precision.weights {
        notes.extend(weight_only(precision.experts, answer.paths.expert));
    }
    notes.extend(paddings(&inputs.model.arch.shard(inputs.workload.parallel.tensor), precision));
    if inputs.weight_size.is_none()
        && let Some(WeightSize::BitsPerWeight(bits)) = inputs.precision.file_size()
    {
        let (key, bits) = (precision.weights.key, number_text::short(bits, 4));
        notes.push(format!(
            "{key} is the file that llama.cpp writes: {bits} bits per weight on average, embeddings included"
        ));
    } else if (answer.weight_scale - 1.0).abs() > 1e-12 {
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
            "memory is that of a stage with the most layers of {}, of average layers; work and time are those of all",
            split.pipeline
        ));
    }
    if answer.link_unknown {
        notes.push(
            "nobody has published this device's link: what crosses it is unknown, and so are all expected times"
                .into(),
        );
    }
    notes.extend(import_notes(&inputs.model.assumed, &inputs.model.remarks));
    notes.extend(engine(inputs.engine, answer.decode.totals.expected.provenance));
    notes
}

/// What an import filled in, left out or rounded.
pub fn import_notes(assumed: &[AssumedField], remarks: &[Remark]) -> Vec<String> {
    assumed_fields(assumed)
        .into_iter()
        .chain(remarks.iter().map(crate::model_file::remark_text))
        .collect()
}

/// What runs on another peak than its formats ask for; parts that fall alike are said once.
fn fallbacks(answer: &Estimate, moe: bool) -> Vec<String> {
    let paths = &answer.paths;
    let mut said: Vec<ComputePath> = Vec::new();
    let mut notes = Vec::new();
    for (what, path, used) in [
        ("layer matmuls", paths.layer, true),
        ("expert matmuls", paths.expert, moe),
        ("the LM head", paths.lm_head, true),
        ("attention and everything without weights", paths.carrier, true),
    ] {
        if used && !said.contains(&path) {
            notes.extend(fallback(what, path));
            said.push(path);
        }
    }
    notes
}

/// One note for each number of inputs that fills its blocks only partly.
fn paddings(model: &ModelArch, precision: &Precision) -> Vec<String> {
    let mut padded: Vec<(u64, &QuantFormat)> = Vec::new();
    let mut look = |k: u64, format: &'static QuantFormat| {
        if format.pads(k) && !padded.contains(&(k, format)) {
            padded.push((k, format));
        }
    };
    model.matrices(&mut |matrix| {
        look(matrix.cols, if matrix.expert { precision.experts } else { precision.weights });
    });
    look(model.hidden_size, precision.embedding);
    padded.into_iter().filter_map(|(k, format)| padding(format, k)).collect()
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
    let narrower = weights.bits_per_element() < f64::from(path.wanted.width());
    let dequantized = weights.class.is_none() || (weights.class != Some(path.wanted) && narrower);
    dequantized.then(|| {
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

/// Padding of the matrices of a composite operator.
fn operator_paddings(operator: &Operator, weights: &QuantFormat) -> Vec<String> {
    let (hidden, width) = match operator {
        Operator::FeedForward(shape) => (shape.hidden, shape.intermediate),
        Operator::MixtureOfExperts(shape) => (shape.hidden, shape.expert_width),
        Operator::Gemm(_)
        | Operator::Attention { .. }
        | Operator::KvAppend { .. }
        | Operator::AddNorm { .. }
        | Operator::Norm { .. }
        | Operator::Activation { .. } => return Vec::new(),
    };
    let both = if hidden == width { vec![hidden] } else { vec![hidden, width] };
    both.into_iter().filter_map(|k| padding(weights, k)).collect()
}

/// Engines have no factors of their own yet; a fit replaces the assumed ones.
fn engine(engine: Option<Engine>, provenance: Provenance) -> Option<String> {
    let engine = engine.filter(|_| provenance == Provenance::Assumed)?;
    Some(format!(
        "no factors are known for {} here: the expected times use the assumed ones",
        engine.key()
    ))
}

/// Names of the field that says how a model is stored.
const DATA_TYPE: [&str; 2] = ["torch_dtype", "dtype"];

/// A model that does not say how it is stored, when the request does not either.
fn data_type(inputs: &EstimateInputs) -> Option<String> {
    let field = inputs.model.assumed.iter().find(|field| DATA_TYPE.contains(&field.field))?;
    (inputs.precision.weights == inputs.model.stored.weights).then(|| {
        format!(
            "the model file does not say in which format it is stored; what it does not quantize counts with {}",
            crate::model_file::assumed_text(field)
        )
    })
}

/// Everything else that the model file leaves open.
fn assumed_fields(fields: &[AssumedField]) -> Option<String> {
    let others = fields.iter().filter(|field| !DATA_TYPE.contains(&field.field));
    let list: Vec<String> = others.map(crate::model_file::assumed_text).collect();
    (!list.is_empty())
        .then(|| format!("the model file leaves open, and the import fills: {}", list.join("; ")))
}
