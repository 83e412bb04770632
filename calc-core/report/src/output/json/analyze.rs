//! JSON answer of `analyze`.

use calc_core::analysis::{Analysis, Operator, OperatorPart};
use calc_core::model_arch::Reach;
use calc_core::roofline::Bound;
use serde::Serialize;

use super::{ExpectedJson, FactorsJson, HardwareJson, SCHEMA};
use crate::input::request::AnalyzeInputs;
use crate::output::words;

/// Analysis of one operator on one device.
#[derive(Debug, Clone, Serialize)]
pub struct AnalyzeJson {
    schema: u32,
    hardware: HardwareJson,
    op: &'static str,
    shape: ShapeJson,
    precision: PrecisionJson,
    flops: f64,
    bytes: f64,
    bytes_by_role: RolesJson,
    intensity_flop_per_byte: f64,
    ridge_flop_per_byte: f64,
    peak_flop_per_s: f64,
    bandwidth_byte_per_s: f64,
    time_memory_s: f64,
    time_compute_s: f64,
    ideal_s: f64,
    expected: ExpectedJson,
    factors: FactorsJson,
    bound: Bound,
    expected_bound: Bound,
    half_the_bytes_save: f64,
    attainable_flop_per_s: f64,
    /// Kernels of a composite operator; empty for others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartJson>,
    notes: Vec<String>,
}

/// Dimensions of an operator, with the keys of its request.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum ShapeJson {
    Gemm {
        /// Tokens.
        m: u64,
        /// Output features.
        n: u64,
        /// Input features.
        k: u64,
    },
    Attention {
        batch: u64,
        /// Query heads.
        heads: u64,
        kv_heads: u64,
        /// Elements of a query or key head.
        head_dim: u64,
        /// Elements of a value head.
        v_dim: u64,
        new: u64,
        cached: u64,
        /// Sliding window [tokens].
        window: Option<u64>,
        /// Scores stay on the chip.
        fused: bool,
    },
    FeedForward {
        tokens: u64,
        hidden: u64,
        /// Intermediate size.
        width: u64,
        gated: bool,
    },
    MixtureOfExperts {
        tokens: u64,
        hidden: u64,
        /// Intermediate size of one expert.
        width: u64,
        n_experts: u64,
        /// Experts per token.
        per_token: u64,
        gated: bool,
        /// Intermediate size of the shared expert; 0 without one.
        shared_width: u64,
    },
    /// Operators over rows, such as norms and activations.
    Rows {
        tokens: u64,
        /// Elements per token.
        width: u64,
    },
}

impl From<Operator> for ShapeJson {
    fn from(operator: Operator) -> Self {
        match operator {
            Operator::Gemm(shape) => Self::Gemm { m: shape.m, n: shape.n, k: shape.k },
            Operator::Attention { shape, fused } => Self::Attention {
                batch: shape.batch,
                heads: shape.heads,
                kv_heads: shape.kv_heads,
                head_dim: shape.qk_dim,
                v_dim: shape.v_dim,
                new: shape.new,
                cached: shape.cached,
                window: match shape.reach {
                    Reach::All => None,
                    Reach::Window(window)
                    | Reach::Chunk(window)
                    | Reach::Compressed { window, .. } => Some(window),
                },
                fused,
            },
            Operator::KvAppend { elements, tokens } => Self::Rows { tokens, width: elements },
            Operator::AddNorm { tokens, hidden } | Operator::Norm { tokens, hidden } => {
                Self::Rows { tokens, width: hidden }
            }
            Operator::Activation { tokens, width, .. } => Self::Rows { tokens, width },
            Operator::FeedForward(shape) => Self::FeedForward {
                tokens: shape.tokens,
                hidden: shape.hidden,
                width: shape.intermediate,
                gated: shape.gated,
            },
            Operator::MixtureOfExperts(shape) => Self::MixtureOfExperts {
                tokens: shape.tokens,
                hidden: shape.hidden,
                width: shape.expert_width,
                n_experts: shape.experts,
                per_token: shape.per_token,
                gated: shape.gated,
                shared_width: shape.shared_width,
            },
        }
    }
}

#[derive(Debug, Clone, Serialize)]
struct PrecisionJson {
    weights: Option<&'static str>,
    activations: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kv: Option<&'static str>,
    compute: &'static str,
}

/// Traffic of an operator by role [byte].
#[derive(Debug, Clone, Copy, Serialize)]
struct RolesJson {
    weights: f64,
    activations: f64,
    /// Attention only.
    #[serde(skip_serializing_if = "Option::is_none")]
    kv_cache: Option<f64>,
}

/// The answer to a request as a file, or its refusal.
pub fn pretty(inputs: &AnalyzeInputs) -> String {
    let written = match inputs.analyze() {
        Ok(answer) => serde_json::to_string_pretty(&AnalyzeJson::new(inputs, &answer)),
        Err(error) => {
            serde_json::to_string_pretty(&serde_json::json!({ "error": error.to_string() }))
        }
    };
    written.unwrap_or_default() + "\n" // text keys and memory: writing them cannot fail
}

impl AnalyzeJson {
    /// Converts an analysis.
    pub fn new(inputs: &AnalyzeInputs, answer: &Analysis) -> Self {
        let has_weights = inputs.operator.has_weights();
        let traffic = answer.cost.traffic;
        Self {
            schema: SCHEMA,
            hardware: HardwareJson::new(&inputs.device, inputs.power_mode.as_deref()),
            op: inputs.operator.kind().key(),
            shape: inputs.operator.into(),
            precision: PrecisionJson {
                weights: has_weights.then_some(answer.precision.weights.key),
                activations: if has_weights {
                    answer.precision.activations.key
                } else {
                    answer.precision.carrier.key
                },
                kv: (traffic.kv_cache.get() > 0.0).then_some(answer.precision.kv_cache.key),
                compute: answer.path.class.key(),
            },
            flops: answer.cost.flops.get(),
            bytes: traffic.total().get(),
            bytes_by_role: RolesJson {
                weights: traffic.weights.get(),
                activations: traffic.activations.get(),
                kv_cache: (traffic.kv_cache.get() > 0.0).then_some(traffic.kv_cache.get()),
            },
            intensity_flop_per_byte: answer.cost.intensity().get(),
            ridge_flop_per_byte: answer.roofline.ridge().get(),
            peak_flop_per_s: answer.roofline.peak.get(),
            bandwidth_byte_per_s: answer.roofline.bandwidth.get(),
            time_memory_s: answer.time.memory.get(),
            time_compute_s: answer.time.compute.get(),
            ideal_s: answer.ideal.get(),
            expected: answer.expected.into(),
            factors: FactorsJson::new(answer.expected.provenance, &answer.basis),
            bound: answer.time.bound(),
            expected_bound: answer.reached().bound(),
            half_the_bytes_save: answer.half_bytes_save(),
            attainable_flop_per_s: answer.attainable.get(),
            parts: answer.parts.iter().map(PartJson::new).collect(),
            notes: words::request_notes(inputs, answer),
        }
    }
}

/// Kernel of a composite operator.
#[derive(Debug, Clone, Copy, Serialize)]
struct PartJson {
    name: &'static str,
    compute: &'static str,
    flops: f64,
    bytes: f64,
    time_memory_s: f64,
    time_compute_s: f64,
    ideal_s: f64,
    expected: ExpectedJson,
    bound: Bound,
}

impl PartJson {
    fn new(part: &OperatorPart) -> Self {
        Self {
            name: part.kind.key(),
            compute: part.path.class.key(),
            flops: part.cost.flops.get(),
            bytes: part.cost.traffic.total().get(),
            time_memory_s: part.time.memory.get(),
            time_compute_s: part.time.compute.get(),
            ideal_s: part.time.ideal().get(),
            expected: part.expected.into(),
            bound: part.time.bound(),
        }
    }
}
