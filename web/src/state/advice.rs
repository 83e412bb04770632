//! The adviser's answer as texts, for a single matrix product and for a whole model.

pub mod inverse;
pub mod question;

use calc_core::calibration::Engine;
use calc_core::estimate::EstimateRequest;
use calc_core::footprint::bits_per_weight;
use calc_core::precision::Precision;
use calc_core::provenance::Provenance;
use calc_core::quant_format::QuantFormat;
use calc_core::recommend::{
    Dropped, Outcome, PREFILL_ROWS, Ranked, RankedPart, RecommendRequest, Recommendation, Task,
    recommend,
};
use calc_core::scheme::{Kernels, Scheme, SchemeWeights};
use calc_core::units::Seconds;
use report::number_text as text;
use report::output::lesson;
use report::output::verdict::explain::Explanation;
use report::output::words::apply::{self, Deployment, Repositories, Serve};
use report::output::words::{advice, core_error};

use super::derived::Cell;
use super::inputs::Inputs;
use super::model::fields::Field;
use super::model::roles::Role;

/// The recommendation: the best scheme, the reasons, and the changes that would alter the ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// Name of the best scheme, or a statement that none meets the bounds.
    pub title: String,
    /// Formats of the best scheme; without one, the nearest scheme and why it fails.
    pub formats: String,
    /// Speedups, memory and quality of the best scheme.
    pub facts: Vec<AdviceFact>,
    /// Reasons for the first place, one sentence each.
    pub why: Vec<String>,
    /// Changes that would put another scheme first, one sentence each.
    pub flips: Vec<String>,
    /// Schemes that meet all bounds, best first.
    pub ranked: Vec<RankedScheme>,
    /// Schemes that were ruled out, each with the reason.
    pub dropped: Vec<DroppedScheme>,
    /// Ways to apply the best scheme.
    pub ways: Vec<ApplyCommand>,
    /// Formats of the best scheme, for "calculate with these"; `None` without a scheme.
    pub formats_taken: Option<SchemeFormats>,
}

/// Formats that the page can set in place of the chosen ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SchemeFormats {
    /// `None`: the model's published weights.
    pub weights: Option<&'static QuantFormat>,
    /// `None`: the default rule chooses.
    pub activations: Option<&'static QuantFormat>,
    /// `None`: as the weights, or as published.
    pub experts: Option<&'static QuantFormat>,
}

impl SchemeFormats {
    /// The formats of a scheme, as resolved on the device. A GGUF file fixes the others by itself.
    pub(super) fn of(scheme: &Scheme, precision: &Precision) -> Self {
        let published = matches!(scheme.weights, SchemeWeights::Published);
        let is_fixed = !published && scheme.kernels() != Kernels::LlamaCpp;
        Self {
            weights: (!published).then_some(precision.weights),
            activations: is_fixed.then_some(precision.activations),
            experts: is_fixed.then_some(precision.experts),
        }
    }

    /// Sets these formats in the Model view. KV cache and embedding stay unchanged.
    pub fn of_model(&self, inputs: &mut Inputs) {
        let model = &mut inputs.model;
        model.set_format(Role::Weights, self.weights);
        let has_experts = model.base.arch().has_experts();
        model.set_format(Role::Experts, self.experts.filter(|_| has_experts));
        model.set_format(Role::Activations, self.activations);
        model.set_text(Field::WeightBits, String::new());
    }

    /// Sets these formats in the Kernel view.
    pub fn of_operator(&self, inputs: &mut Inputs) {
        inputs.weights = self.weights.unwrap_or_else(|| inputs.half());
        inputs.activations = self.activations;
    }
}

/// A property of a scheme with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct AdviceFact {
    pub name: String,
    pub value: Cell,
}

/// A scheme that meets all bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedScheme {
    pub name: String,
    /// Expected time of the ranked part.
    pub time: String,
    /// Speedup over 16 bits in that part.
    pub speedup: String,
    pub memory: String,
    /// Range of the quality loss, and its source.
    pub loss: Cell,
}

/// A scheme that was ruled out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedScheme {
    pub name: String,
    pub reason: String,
}

/// A way to apply a scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplyCommand {
    pub tool: String,
    /// Commands or configuration.
    pub text: String,
}

/// Asks the adviser and formats its answer.
///
/// # Errors
/// Returns the reason as a sentence if the task itself is invalid.
pub fn advise(
    request: &RecommendRequest<'_>,
    repositories: Repositories<'_>,
) -> Result<Advice, String> {
    let answer = recommend(request).map_err(|error| core_error(&error))?;
    let ranked =
        answer.ranked.iter().map(|row| choice(request.part, row, &answer.baseline)).collect();
    let dropped = answer.dropped.iter().map(refusal).collect();
    let Some(first) = answer.ranked.first() else {
        let nearest = answer.dropped.iter().map(refusal).next();
        return Ok(Advice {
            title: "Nothing meets the bounds".to_owned(),
            formats: nearest
                .map_or_else(String::new, |near| format!("{}: {}", near.name, near.reason)),
            facts: Vec::new(),
            why: vec!["Every scheme is below, with what speaks against it.".to_owned()],
            flips: Vec::new(),
            ranked,
            dropped,
            ways: Vec::new(),
            formats_taken: None,
        });
    };
    Ok(Advice {
        title: advice::scheme_name(first.scheme),
        formats: formats(&first.outcome.precision, &request.task),
        facts: facts(request, &answer, first),
        why: why(request, &answer, first),
        flips: first.flips.iter().map(advice::flip).collect(),
        ranked,
        dropped,
        ways: ways(first.scheme, &first.outcome, request, repositories),
        formats_taken: Some(SchemeFormats::of(first.scheme, &first.outcome.precision)),
    })
}

fn formats(precision: &Precision, task: &Task<'_>) -> String {
    let bits = match (task, precision.weights.file) {
        (Task::Model(task), Some(_)) => bits_per_weight(task.request.model, precision),
        _ => precision.weights.bits_per_element(),
    };
    let (bits, activations) = (text::short(bits, 4), precision.activations.short_name);
    format!("weights {bits} bit, activations {activations}")
}

/// Expected time of the part that the ranking is by.
fn part_time(part: RankedPart, outcome: &Outcome) -> Seconds {
    match part {
        RankedPart::Prefill => outcome.prefill.expected.time,
        RankedPart::Decode => outcome.decode.expected.time,
        RankedPart::Whole => outcome.whole.time,
    }
}

fn facts(
    request: &RecommendRequest<'_>,
    answer: &Recommendation,
    first: &Ranked,
) -> Vec<AdviceFact> {
    let (now, base) = (&first.outcome, &answer.baseline);
    let speed = |name: &str, now: Seconds, base: Seconds| AdviceFact {
        name: name.to_owned(),
        value: Cell {
            text: format!("{} 16 bit", text::ratio(base / now)),
            explanation: Explanation {
                title: format!("{name} against 16 bits"),
                formula: "expected time in 16 bits ÷ expected time".to_owned(),
                values: format!("{} ÷ {}", text::time(base), text::time(now)),
                provenance: now_provenance(first),
                source: "both expected times of this workload".into(),
                lesson: lesson::EXPECTED,
            },
        },
    };
    let (decode, prefill) = match &request.task {
        Task::Shape(task) if request.part == RankedPart::Decode => {
            (format!("M = {}", text::count(task.shape.m)), format!("M = {PREFILL_ROWS}"))
        }
        Task::Shape(task) => ("M = 1".to_owned(), format!("M = {}", text::count(task.shape.m))),
        Task::Model(_) => ("Decode".to_owned(), "Prefill".to_owned()),
    };
    let mut facts = vec![
        speed(&decode, now.token.expected.time, base.token.expected.time),
        speed(&prefill, now.prefill.expected.time, base.prefill.expected.time),
        memory_fact(request, now, base),
    ];
    facts.push(AdviceFact { name: "Quality".to_owned(), value: loss(first) });
    facts
}

fn now_provenance(row: &Ranked) -> Provenance {
    row.outcome.decode.expected.provenance
}

fn memory_fact(request: &RecommendRequest<'_>, now: &Outcome, base: &Outcome) -> AdviceFact {
    AdviceFact {
        name: "Memory".to_owned(),
        value: Cell {
            text: text::bytes(now.memory),
            explanation: Explanation {
                title: "Memory".to_owned(),
                formula: match &request.task {
                    Task::Shape(_) => "weights + inputs + outputs".to_owned(),
                    Task::Model(_) => "weights + KV cache + activations + reserve".to_owned(),
                },
                values: format!(
                    "{} of {}; {} in 16 bits",
                    text::bytes(now.memory),
                    text::bytes(now.usable.bytes),
                    text::bytes(base.memory)
                ),
                provenance: Provenance::Derived,
                source: "the formats and the shapes; the reserve is assumed".into(),
                lesson: lesson::MEMORY,
            },
        },
    }
}

fn loss(row: &Ranked) -> Cell {
    Cell {
        text: advice::quality(&row.quality),
        explanation: Explanation {
            title: "Loss of quality".to_owned(),
            formula: String::new(),
            values: "a range for the size of the model; larger models lose less".to_owned(),
            provenance: row.quality.provenance,
            source: row.quality.source.into(),
            lesson: lesson::SCHEMES,
        },
    }
}

fn why(request: &RecommendRequest<'_>, answer: &Recommendation, first: &Ranked) -> Vec<String> {
    let mut why = vec![advice::regime(first, request.part, &answer.baseline)];
    why.extend(advice::first_by(answer.first_by, &first.standing));
    let other = match request.part {
        RankedPart::Decode | RankedPart::Whole => {
            answer.best_prefill.map(|scheme| ("prefill", scheme))
        }
        RankedPart::Prefill => answer.best_decode.map(|scheme| ("decode", scheme)),
    };
    if let Some((phase, scheme)) = other.filter(|(_, scheme)| scheme.key != first.scheme.key) {
        why.push(format!("For {phase} alone it would be {}.", advice::scheme_name(scheme)));
    }
    why
}

fn choice(part: RankedPart, row: &Ranked, baseline: &Outcome) -> RankedScheme {
    let time = part_time(part, &row.outcome);
    RankedScheme {
        name: advice::scheme_name(row.scheme),
        time: text::time(time),
        speedup: text::ratio(part_time(part, baseline) / time),
        memory: text::bytes(row.outcome.memory),
        loss: loss(row),
    }
}

fn refusal(row: &Dropped) -> DroppedScheme {
    DroppedScheme {
        name: advice::scheme_name(row.scheme),
        reason: advice::dropped(&row.reason, &row.quality),
    }
}

/// Ways to apply a scheme that needs this memory on each device.
pub(super) fn ways(
    scheme: &Scheme,
    outcome: &Outcome,
    request: &RecommendRequest<'_>,
    repositories: Repositories<'_>,
) -> Vec<ApplyCommand> {
    let (served, kv_cache) = match &request.task {
        Task::Shape(_) => (None, None),
        Task::Model(task) => {
            let EstimateRequest { model, workload, precision, .. } = &task.request;
            (Some((*model, workload)), precision.kv_cache)
        }
    };
    let device = request.task.device();
    let Outcome { memory, placement, .. } = *outcome;
    // Beside a host only llama.cpp computes.
    let engine = request.task.engine().or(placement.map(|_| Engine::LlamaCpp));
    let limit = request.task.memory_limit();
    let to =
        Deployment { repositories, device, served, kv_cache, memory, limit, engine, placement };
    let apply = apply::apply(scheme, &to);
    let way =
        |tool: &str, text: &str| ApplyCommand { tool: tool.to_owned(), text: text.to_owned() };
    let served = |serve: &Serve| way(apply::engine_name(serve.engine), &serve.text);
    let mut ways: Vec<ApplyCommand> = apply.serve.iter().map(served).collect();
    if let Some(torchao) = apply.torchao {
        ways.push(way(&format!("torchao {} or later", torchao.min_version), torchao.config));
        if !torchao.fallback.is_empty() {
            ways.push(way("Older torchao", torchao.fallback));
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::calibration::Calibration;
    use calc_core::catalog;
    use calc_core::cost::gemm::GemmShape;
    use calc_core::lowering::Phase;
    use calc_core::recommend::{Bounds, Objective, ShapeTask, run_shape};
    use calc_core::units::Bytes;

    fn request(memory_limit: Option<Bytes>) -> RecommendRequest<'static> {
        RecommendRequest {
            task: Task::Shape(ShapeTask {
                device: catalog::device("jetson_orin_nano_8gb_super").expect("catalog key"),
                mode: None,
                memory_limit,
                shape: GemmShape { m: 1, n: 4096, k: 4096 },
                phase: Phase::Decode,
                engine: None,
                calibration: &Calibration::FITTED,
                run: run_shape,
            }),
            objective: Objective::Latency,
            part: RankedPart::Decode,
            bounds: Bounds::default(),
        }
    }

    #[test]
    fn the_advice_names_what_it_brings_and_how_to_get_it() {
        let advice = advise(&request(None), Repositories::STAND_IN).expect("advice");
        assert_eq!(advice.title, "GGUF Q4_K_M");
        // A single product is in the block format, not in a file.
        assert_eq!(advice.formats, "weights 4.5 bit, activations FP16");
        let names: Vec<&str> = advice.facts.iter().map(|fact| &*fact.name).collect();
        assert_eq!(names, ["M = 1", "M = 2048", "Memory", "Quality"]);
        assert!(advice.why[0].starts_with("Decode waits for weights"), "{:?}", advice.why);
        assert!(!advice.flips.is_empty() && !advice.dropped.is_empty());
        assert!(advice.ways.iter().any(|way| way.tool == "llama.cpp"), "{:?}", advice.ways);
    }

    #[test]
    fn where_nothing_is_left_every_reason_stands() {
        let limit = Some(Bytes::from_gb(0.001));
        let advice = advise(&request(limit), Repositories::STAND_IN).expect("advice");
        assert_eq!(advice.title, "Nothing meets the bounds");
        assert!(advice.ranked.is_empty() && advice.dropped.len() > 20 && advice.ways.is_empty());
    }
}
