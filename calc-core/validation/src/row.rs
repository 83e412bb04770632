//! A published measurement, with catalog keys in place of texts.

use std::borrow::Cow;

use calc_core::analysis::Operator;
use calc_core::calibration::Engine;
use calc_core::device::{Device, PowerMode};
use calc_core::lowering::{Phase, Step};
use calc_core::units::Seconds;
use report::input::request::{AnalyzeInputs, EstimateInputs};

/// Quality of a source: A official and single-stream, B official but less clean, C community.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "see above")]
pub enum Tier {
    A,
    B,
    C,
}

/// A row of a file.
#[derive(Debug, Clone)]
pub struct PublishedRow {
    /// Name of the row, or its line.
    pub id: String,
    /// Line number in the file.
    pub line: u64,
    /// Quality of the source; operators are all A.
    pub tier: Tier,
    /// The device, with the bandwidth of the measured card.
    pub device: Cow<'static, Device>,
    /// Power mode with known clocks.
    pub mode: Option<PowerMode>,
    /// Engine whose factors apply.
    pub engine: Option<Engine>,
    /// Engine as published.
    pub engine_text: String,
    /// Board, model and engine; rows of one group are always held out together.
    pub group: String,
    /// The request as flags of `estimate` or `analyze`, without the bandwidth of a card that differs from the catalog's.
    pub request: Vec<(&'static str, String)>,
    pub work: Work,
    pub measured: Seconds,
    /// URL of the source.
    pub source: String,
}

/// The work that was timed.
#[derive(Debug, Clone)]
pub enum Work {
    Step(Box<StepWork>),
    /// An operator timed alone.
    Operator(Box<OperatorWork>),
}

/// A step of a model.
#[derive(Debug, Clone)]
pub struct StepWork {
    /// The request for `estimate`.
    pub inputs: EstimateInputs,
    /// Key of the weights' format, as published.
    pub format: String,
    /// The phase that was timed.
    pub phase: Phase,
}

impl StepWork {
    /// The step that was timed.
    pub const fn step(&self) -> Step {
        let workload = &self.inputs.workload;
        match self.phase {
            Phase::Prefill => workload.prefill_step(),
            Phase::Decode => Step::decode(workload.batch, workload.context),
        }
    }
}

/// An operator timed alone.
#[derive(Debug, Clone)]
pub struct OperatorWork {
    /// The request for `analyze`.
    pub inputs: AnalyzeInputs,
    /// Key of the format, as published.
    pub format: String,
}

/// Sets for which errors are reported.
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
    /// All sets in the order of the tables.
    pub const ALL: [Self; 7] = [
        Self::DecodeOne,
        Self::DecodeMany,
        Self::Prefill,
        Self::PrefillC,
        Self::Gemm,
        Self::AttentionDecode,
        Self::AttentionPrefill,
    ];

    /// Name in tables.
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

    /// True for the sets of operators timed alone.
    pub const fn is_alone(self) -> bool {
        matches!(self, Self::Gemm | Self::AttentionDecode | Self::AttentionPrefill)
    }
}

impl PublishedRow {
    /// The set that the row belongs to.
    pub fn set(&self) -> Set {
        match &self.work {
            Work::Step(step) => match step.phase {
                Phase::Decode if step.inputs.workload.batch == 1 => Set::DecodeOne,
                Phase::Decode => Set::DecodeMany,
                Phase::Prefill if self.tier == Tier::C => Set::PrefillC,
                Phase::Prefill => Set::Prefill,
            },
            Work::Operator(work) => match work.inputs.operator {
                Operator::Attention { shape, .. } if shape.new == 1 => Set::AttentionDecode,
                Operator::Attention { .. } => Set::AttentionPrefill,
                _ => Set::Gemm,
            },
        }
    }

    /// True if its model has experts.
    pub fn has_experts(&self) -> bool {
        matches!(&self.work, Work::Step(step) if step.inputs.model.arch.has_experts())
    }

    /// Key of the model, or the shape of an operator.
    pub fn model(&self) -> String {
        match &self.work {
            Work::Step(step) => step.inputs.model.key.clone(),
            Work::Operator(work) => match work.inputs.operator {
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
