//! Notes to answers: fallbacks, padding, unknown values, assumptions.

mod engine;
pub(super) mod request;
mod split;

pub use split::split_notes;

use calc_core::analysis::{Analysis, Operator};
use calc_core::calibration::Engine;
use calc_core::estimate::Estimate;
use calc_core::footprint::{MemoryVerdict, bits_per_weight};
use calc_core::gguf_file::row_format;
use calc_core::hf_config::Remark;
use calc_core::model_arch::ModelArch;
use calc_core::plan::Chunks;
use calc_core::precision::Precision;
use calc_core::provenance::Provenance;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::roofline::ComputePath;
use calc_core::tiers::{HostFactors, Placement};
use calc_core::workload::Workload;

use crate::input::model_file::{assumed_text, data_type_field, import_notes};
use crate::input::request::{AnalyzeInputs, EstimateInputs};
use crate::number_text;
use crate::output::verdict::badge;

/// Notes to an analysis.
pub fn analyze_notes(inputs: &AnalyzeInputs, answer: &Analysis) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(super::roofs::disturbed(&inputs.device));
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
    notes.extend(engine::engine(inputs.engine, answer.expected.provenance));
    notes
}

/// Notes to an analysis on the command line, unused fields of the request first. The page offers no unused fields and
/// takes [`analyze_notes`].
pub fn request_notes(inputs: &AnalyzeInputs, answer: &Analysis) -> Vec<String> {
    let unread = unread_formats(inputs, answer);
    let taken = inputs.taken.iter().cloned();
    unread.into_iter().chain(taken).chain(analyze_notes(inputs, answer)).collect()
}

/// Formats of a request that its operator does not use.
fn unread_formats(inputs: &AnalyzeInputs, answer: &Analysis) -> Option<String> {
    let (given, used) = (&inputs.precision, &answer.precision);
    let gemm = matches!(
        inputs.operator,
        Operator::Gemm(_) | Operator::FeedForward(_) | Operator::MixtureOfExperts(_)
    );
    let routed = matches!(inputs.operator, Operator::MixtureOfExperts(_));
    let cached = matches!(inputs.operator, Operator::Attention { .. } | Operator::KvAppend { .. });
    // New keys and values are written in the cache's format, which is the carrier only by default.
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

/// Notes to an estimate.
pub fn estimate_notes(inputs: &EstimateInputs, answer: &Estimate) -> Vec<String> {
    let mut notes = request::notes(inputs);
    if inputs.listed.is_empty() {
        notes.extend(super::roofs::disturbed(&inputs.device));
    } else {
        notes.extend(super::cards::disturbed_roofs(inputs));
    }
    let precision = &answer.precision;
    // Near the top, because it can double every byte.
    notes.extend(data_type(inputs));
    let missing = engine::no_build(inputs, answer);
    if missing.is_none() {
        notes.extend(engine::engine_formats(inputs, answer.basis));
    }
    notes.extend(engine::fp4_inputs(inputs, answer));
    notes.extend(missing);
    notes.extend(fallbacks(answer, inputs.model.arch.has_experts()));
    notes.extend(weight_only(precision.weights, answer.paths.layer));
    if inputs.model.arch.has_experts() && precision.experts != precision.weights {
        notes.extend(weight_only(precision.experts, answer.paths.expert));
    }
    notes.extend(paddings(&inputs.model.arch.shard(inputs.workload.parallel.tensor), precision));
    let file = inputs.precision.weights.file;
    if let (Some(file), None) = (file, inputs.weight_size) {
        let bits = number_text::short(bits_per_weight(&inputs.model.arch, precision), 4);
        notes.push(format!(
            "{} is the {} file that llama.cpp writes: {bits} bits per weight on average, embeddings included",
            inputs.precision.weights.key,
            file.name()
        ));
    } else if inputs.has_size_of_files() {
        notes.extend(super::weights::estimate_notes(&inputs.model));
    } else if (answer.weight_scale - 1.0).abs() > 1e-12 {
        let ratio = number_text::ratio(answer.weight_scale);
        notes.push(format!(
            "weight bytes are scaled by {ratio} to the size given, over all weights alike"
        ));
    }
    if let MemoryVerdict::DoesNotFit { missing } = answer.memory.verdict() {
        let short = super::memory::shortage(missing, answer.memory.both().1.bytes);
        notes.push(format!(
            "it does not fit: {short}; the times assume a device with enough memory"
        ));
    }
    notes.extend(super::memory::tables_on_host(inputs, answer));
    notes.extend(super::towers::place(inputs, answer));
    notes.extend(super::memory::notes(&inputs.device, answer.memory.usable));
    notes.extend(super::towers::draft_layers(inputs, answer));
    if answer.placement.is_some_and(|placement| placement.is_split()) {
        notes.push(super::placement::BASIS.to_owned());
        notes.push(super::placement::ENERGY.to_owned());
    }
    notes.extend(context_note(inputs));
    notes.extend(chunk(inputs, answer));
    notes.extend(larger_steps(inputs, answer));
    if answer.cards.is_empty() {
        notes.extend(split_notes(&inputs.workload.parallel));
    }
    notes.extend(split::stage_formats(&inputs.workload.parallel, answer));
    notes.extend(super::cards::notes(inputs, answer));
    notes.extend(engine::no_split(inputs, answer));
    if answer.link_unknown {
        notes.push(super::advice::WITHOUT_LINK.trim_end_matches('.').to_owned());
    } else if inputs.device.link.is_none() && inputs.workload.parallel.pipeline.stages() > 1 {
        notes.push(HAND_OVER_UNKNOWN.into());
    }
    let mut remarks = inputs.model.remarks.clone();
    // The request's notes have this one.
    remarks.retain(|remark| !matches!(remark, Remark::NameSaysFormat { .. }));
    notes.extend(import_notes(&inputs.model.assumed, &remarks));
    notes.extend(engine::engine(inputs.engine, answer.decode.totals.expected.provenance));
    notes
}

/// The note to times of stages whose link nobody published.
const HAND_OVER_UNKNOWN: &str = "the bandwidth of this device's link is not published: the hand-over between stages is left out \
                                 of all times until a link is named";

/// The rates of devices whose link nobody published: that of the roof, and the expected one without what they exchange.
pub fn without_link(answer: &Estimate) -> String {
    format!(
        "at most {}; {} expected without the link between the devices, which nobody published",
        number_text::token_rate(answer.mean.ideal_throughput()),
        number_text::token_rate(answer.mean.throughput())
    )
}

/// The part that a rate of stages leaves out where nobody published their link, after the rate; empty for others.
pub fn without_hand_over(inputs: &EstimateInputs) -> &'static str {
    if inputs.device.link.is_none() && inputs.workload.parallel.pipeline.stages() > 1 {
        " without the hand-over between the stages, whose link nobody published"
    } else {
        ""
    }
}

/// Sentence above the verdict on a context beyond the model's limit.
pub fn too_long(inputs: &EstimateInputs) -> Option<String> {
    context_note(inputs).map(|note| format!("The model does not serve this: {note}."))
}

/// Note on a context beyond the model's limit.
pub fn context_note(inputs: &EstimateInputs) -> Option<String> {
    let longest = inputs.workload.longest();
    let max = inputs.model.arch.max_context.filter(|max| longest > *max)?;
    Some(format!("{longest} tokens exceed the model's limit of {max}"))
}

/// Schedule of the prefill behind TTFT; `None` where one sequence is prefilled in one step.
///
/// `of one request: 8 chunks of 512 tokens, 31 sequences decode beside it`
pub fn first_token(workload: &Workload, answer: &Estimate) -> Option<String> {
    if workload.static_batch {
        let batch = workload.batch;
        return (batch > 1).then(|| format!("of {batch} prompts computed together"));
    }
    let Chunks { tokens, steps, riders } = answer.chunks;
    let chunks = (steps > 1).then(|| format!("in {steps} chunks of {tokens} tokens"));
    let beside = match riders {
        0 => None,
        1 => Some("while 1 sequence decodes".to_owned()),
        many => Some(format!("while {many} sequences decode")),
    };
    let said: Vec<String> = chunks.into_iter().chain(beside).collect();
    (!said.is_empty()).then(|| format!("of one request, {}", said.join(", ")))
}

/// Extent of a mean over an answer, behind a rate: ` over 128 new tokens`; empty for a single token.
pub fn mean_over(workload: &Workload) -> String {
    match workload.new_tokens {
        1 => String::new(),
        many => format!(" over {} new tokens", number_text::count(many)),
    }
}

/// Behind the mean rate of an answer whose request names the context of another step: where the mean is taken, and the rate there.
///
/// ` from 512 cached tokens on, 123 token/s at context 131 072`
pub fn rate_at_context(workload: &Workload, answer: &Estimate) -> String {
    let (context, first) = (workload.context, workload.filled());
    if workload.new_tokens == 1 || (first..first + workload.new_tokens).contains(&context) {
        return String::new();
    }
    let (first, context) = (number_text::count(first), number_text::count(context));
    let rate = number_text::token_rate(answer.throughput);
    format!(" from {first} cached tokens on, {rate} at context {context}")
}

/// Note on the chunk size behind TTFT and its provenance.
fn chunk(inputs: &EstimateInputs, answer: &Estimate) -> Option<String> {
    let how = first_token(&inputs.workload, answer)?;
    if inputs.workload.static_batch {
        return Some(format!("TTFT is the time {how}"));
    }
    let (engine, chunk) = (answer.basis.engine.key(), answer.chunk);
    let size = chunk.tokens.map_or_else(
        || format!("{engine} prefills a prompt in one step"),
        |tokens| {
            format!("{engine} prefills {} tokens of a prompt per step", number_text::count(tokens))
        },
    );
    let sure = match chunk.provenance {
        Provenance::Read => String::new(),
        other => format!(", {}", badge(other)),
    };
    Some(format!("TTFT is the time {how}: {size} ({}{sure})", chunk.source))
}

/// Largest step of a prompt that is worth an offer: llama.cpp keeps its logits and activations on the card [tokens].
const LARGER_STEP: u64 = 2048;

/// Note on larger steps of a prompt whose weights are copied to the card in each of them.
fn larger_steps(inputs: &EstimateInputs, answer: &Estimate) -> Option<String> {
    let placement =
        answer.placement.filter(|placement| placement.is_split() && placement.copies)?;
    let prompt = inputs.workload.prompt;
    if answer.chunks.steps < 2 || placement.cache || answer.chunks.riders > 0 {
        return None;
    }
    let whole = if prompt <= LARGER_STEP {
        let time = number_text::time(answer.prefill.totals.expected.time);
        format!(": the whole prompt in one step takes {time}")
    } else {
        String::new()
    };
    let copied = copied_part(&placement, &inputs.model.arch, answer.basis.engine);
    Some(format!(
        "every step of a prompt copies weights to the card again: {copied}; -ub {LARGER_STEP} -b {LARGER_STEP} makes steps of up to {} tokens{whole}; they need more memory on the card",
        number_text::count(LARGER_STEP)
    ))
}

/// The weights that a step of a prompt copies: `those on the host`, or a part of the experts.
fn copied_part(placement: &Placement, model: &ModelArch, engine: Engine) -> String {
    let share = HostFactors::of(engine).map_or(1.0, |factors| factors.experts);
    if !model.has_experts() || placement.feed_forward == 0 || share >= 1.0 {
        return "those on the host".into();
    }
    let share = number_text::percent(share);
    let of = format!("{share} of the experts that its tokens would read if each chose at random");
    if placement.layers > 0 { format!("those on the host, but only {of}") } else { of }
}

/// Notes on operators that run at another peak than their formats name; operators with the same fallback share a note.
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

/// Notes on numbers of inputs that do not fill whole blocks, one per number.
fn paddings(model: &ModelArch, precision: &Precision) -> Vec<String> {
    let mut padded: Vec<(u64, &'static QuantFormat)> = Vec::new();
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
    // Engines run BF16 checkpoints in FP16 on such devices; the model takes formats literally.
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

fn padding(weights: &'static QuantFormat, k: u64) -> Option<String> {
    let instead = match row_format(weights, k) {
        None => "the last block of a row is stored whole".to_owned(),
        Some(stored) if stored == weights => return None,
        Some(stored) => format!("a GGUF file stores such rows in {}", stored.key),
    };
    let (key, block) = (weights.key, weights.block);
    Some(format!("k = {k} is not a multiple of the block of {key} ({block}): {instead}"))
}

/// Padding of the matrices of a composite operator.
fn operator_paddings(operator: &Operator, weights: &'static QuantFormat) -> Vec<String> {
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

/// Note on a model file without a data type, when the request names none either.
fn data_type(inputs: &EstimateInputs) -> Option<String> {
    let field = data_type_field(&inputs.model.assumed)?;
    (inputs.precision.weights == inputs.model.stored.weights).then(|| {
        format!(
            "the model file does not name a data type; tensors that it does not quantize are counted with {}",
            assumed_text(field)
        )
    })
}
