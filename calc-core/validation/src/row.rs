//! A published measurement, with keys of the catalog in place of texts.

use std::borrow::Cow;

use calc_core::analysis::Operator;
use calc_core::calibration::Engine;
use calc_core::device::{Device, PowerMode};
use calc_core::estimate::WeightSize;
use calc_core::lowering::Phase;
use calc_core::model_arch::ModelArch;
use calc_core::precision::PrecisionChoice;
use calc_core::units::{Bytes, Seconds};

/// How clean a source is: A single-stream and official, B official but less clean, C community.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "see above")]
pub enum Tier {
    A,
    B,
    C,
}

/// A row of a file.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its own name.
    pub id: String,
    /// Line of the file.
    pub line: u64,
    /// How clean the source is; operators are all A.
    pub tier: Tier,
    /// Device, with the bandwidth of the card that was measured.
    pub device: Cow<'static, Device>,
    /// Power mode.
    pub mode: Option<PowerMode>,
    /// Engine of the profile.
    pub engine: Option<Engine>,
    /// Engine as published.
    pub engine_text: String,
    /// Rows of one board, model and engine, which never part.
    pub group: String,
    /// What was timed.
    pub work: Work,
    /// How long it took.
    pub measured: Seconds,
    /// Address of the source.
    pub source: String,
}

/// What was timed.
#[derive(Debug, Clone)]
pub enum Work {
    /// A step of a model.
    Step(Box<StepWork>),
    /// An operator alone.
    Operator(OperatorWork),
}

/// A step of a model.
#[derive(Debug, Clone)]
pub struct StepWork {
    /// Key of the model.
    pub model: &'static str,
    /// Its geometry.
    pub arch: &'static ModelArch,
    /// Key of the weights' format, as published.
    pub format: String,
    /// Formats.
    pub precision: PrecisionChoice,
    /// Size of the weights where the source says it.
    pub weight_size: Option<WeightSize>,
    /// What a token reads of them where the source says it.
    pub streamed: Option<Bytes>,
    /// Phase.
    pub phase: Phase,
    /// Sequences.
    pub batch: u64,
    /// New tokens per sequence.
    pub new: u64,
    /// Tokens in the cache.
    pub cached: u64,
    /// The step has no LM head.
    pub without_head: bool,
}

/// An operator alone.
#[derive(Debug, Clone)]
pub struct OperatorWork {
    /// The operator.
    pub operator: Operator,
    /// Key of the format, as published.
    pub format: String,
    /// Formats.
    pub precision: PrecisionChoice,
    /// Scales of 128 x 128 blocks, whose kernels are launched from the host.
    pub block_scaled: bool,
}

/// What a row counts among.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say what each is")]
pub enum Set {
    DecodeOne,
    DecodeMany,
    Prefill,
    PrefillC,
    Gemm,
    AttentionDecode,
    AttentionPrefill,
}

impl Set {
    /// In the order of the tables.
    pub const ALL: [Self; 7] = [
        Self::DecodeOne,
        Self::DecodeMany,
        Self::Prefill,
        Self::PrefillC,
        Self::Gemm,
        Self::AttentionDecode,
        Self::AttentionPrefill,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DecodeOne => "decode, batch 1",
            Self::DecodeMany => "decode, batch > 1",
            Self::Prefill => "prefill, tiers A and B",
            Self::PrefillC => "prefill, tier C",
            Self::Gemm => "GEMM",
            Self::AttentionDecode => "attention, decode",
            Self::AttentionPrefill => "attention, prefill",
        }
    }

    /// It is of operators alone.
    pub const fn is_alone(self) -> bool {
        matches!(self, Self::Gemm | Self::AttentionDecode | Self::AttentionPrefill)
    }
}

impl Row {
    /// What it counts among.
    pub fn set(&self) -> Set {
        match &self.work {
            Work::Step(step) => match step.phase {
                Phase::Decode if step.batch == 1 => Set::DecodeOne,
                Phase::Decode => Set::DecodeMany,
                Phase::Prefill if self.tier == Tier::C => Set::PrefillC,
                Phase::Prefill => Set::Prefill,
            },
            Work::Operator(work) => match work.operator {
                Operator::Attention { shape, .. } if shape.new == 1 => Set::AttentionDecode,
                Operator::Attention { .. } => Set::AttentionPrefill,
                _ => Set::Gemm,
            },
        }
    }

    /// Its model has experts.
    pub fn has_experts(&self) -> bool {
        matches!(&self.work, Work::Step(step) if step.arch.moe.is_some())
    }

    /// Key of the model, or the shape of an operator.
    pub fn model(&self) -> String {
        match &self.work {
            Work::Step(step) => step.model.to_owned(),
            Work::Operator(work) => match work.operator {
                Operator::Gemm(shape) => format!("{} x {}", shape.n, shape.k),
                _ => "attention".to_owned(),
            },
        }
    }

    /// Key of the format, as published.
    pub fn format(&self) -> &str {
        match &self.work {
            Work::Step(step) => &step.format,
            Work::Operator(work) => &work.format,
        }
    }
}
