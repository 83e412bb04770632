//! One operator on one device: the front door for everything that is not a whole model.

use crate::calibration::{Calibration, Engine, Subject};
use crate::cost::attention::{AttentionShape, fused, kv_append, unfused};
use crate::cost::elementwise::{add_norm, gated_activation, norm, plain_activation};
use crate::cost::gemm::{GemmFormats, GemmShape, gemm};
use crate::device::{Device, PowerMode};
use crate::error::{Error, in_range};
use crate::expected::Expected;
use crate::op::{OpCost, OpKind};
use crate::precision::{Precision, PrecisionChoice};
use crate::quant_format::QuantFormat;
use crate::roofline::{ComputePath, KernelTime, Roofline, Roofs};
use crate::units::FlopsPerSec;

/// Largest dimension of a shape.
pub const MAX_DIMENSION: u64 = 1_000_000_000;

/// An operator with its shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operator {
    /// A matrix product with weights; a GEMV with m = 1.
    Gemm(GemmShape),
    /// Attention over a KV cache.
    Attention {
        /// Shape.
        shape: AttentionShape,
        /// Scores stay on the chip.
        fused: bool,
    },
    /// Write of new keys and values: `elements` per token.
    KvAppend {
        /// Elements per token: 2 g d.
        elements: u64,
        /// Tokens.
        tokens: u64,
    },
    /// Residual and norm.
    AddNorm {
        /// Tokens.
        tokens: u64,
        /// Hidden size.
        hidden: u64,
    },
    /// Norm.
    Norm {
        /// Tokens.
        tokens: u64,
        /// Hidden size.
        hidden: u64,
    },
    /// Activation function of an MLP.
    Activation {
        /// Tokens.
        tokens: u64,
        /// Intermediate size.
        width: u64,
        /// With a gate.
        gated: bool,
    },
}

impl Operator {
    /// Its name.
    pub const fn kind(&self) -> OpKind {
        match self {
            Self::Gemm(_) => OpKind::Gemm,
            Self::Attention { .. } => OpKind::Attention,
            Self::KvAppend { .. } => OpKind::KvAppend,
            Self::AddNorm { .. } => OpKind::AddNorm,
            Self::Norm { .. } => OpKind::Norm,
            Self::Activation { .. } => OpKind::Activation,
        }
    }

    /// Checks every dimension.
    fn check(&self) -> Result<(), Error> {
        let dimension = |what, value| in_range(what, value, 1, MAX_DIMENSION);
        match *self {
            Self::Gemm(GemmShape { m, n, k }) => {
                dimension("m", m)?;
                dimension("n", n)?;
                dimension("k", k)?;
            }
            Self::Attention { shape, .. } => check_attention(&shape)?,
            Self::KvAppend { elements, tokens } => {
                dimension("kv_heads * head_dim", elements)?;
                dimension("tokens", tokens)?;
            }
            Self::AddNorm { tokens, hidden } | Self::Norm { tokens, hidden } => {
                dimension("tokens", tokens)?;
                dimension("hidden", hidden)?;
            }
            Self::Activation { tokens, width, .. } => {
                dimension("tokens", tokens)?;
                dimension("width", width)?;
            }
        }
        Ok(())
    }

    fn cost(&self, p: &Precision) -> OpCost {
        match *self {
            Self::Gemm(shape) => gemm(
                shape,
                GemmFormats { weights: p.weights, input: p.activations, output: p.carrier },
            ),
            Self::Attention { shape, fused: true } => fused(&shape, p.carrier, p.kv_cache),
            Self::Attention { shape, fused: false } => unfused(&shape, p.carrier, p.kv_cache),
            Self::KvAppend { elements, tokens } => kv_append(elements, tokens, p.kv_cache),
            Self::AddNorm { tokens, hidden } => add_norm(tokens, hidden, p.carrier),
            Self::Norm { tokens, hidden } => norm(tokens, hidden, p.carrier),
            Self::Activation { tokens, width, gated: true } => {
                gated_activation(tokens, width, p.carrier)
            }
            Self::Activation { tokens, width, gated: false } => {
                plain_activation(tokens, width, p.carrier)
            }
        }
    }
}

fn check_attention(shape: &AttentionShape) -> Result<(), Error> {
    in_range("batch", shape.batch, 1, crate::workload::MAX_BATCH)?;
    in_range("heads", shape.heads, 1, 65_536)?;
    in_range("kv_heads", shape.kv_heads, 1, shape.heads)?;
    crate::model_arch::shares("kv_heads", shape.kv_heads, shape.heads)?;
    in_range("head_dim", shape.qk_dim, 1, 65_536)?;
    in_range("v_dim", shape.v_dim, 1, 65_536)?;
    in_range("new", shape.new, 1, crate::workload::MAX_TOKENS)?;
    in_range("cached", shape.cached, 0, crate::workload::MAX_TOKENS)?;
    in_range("window", shape.window.unwrap_or(1), 1, MAX_DIMENSION)?;
    Ok(())
}

/// What to analyze.
#[derive(Debug, Clone, Copy)]
pub struct AnalyzeRequest<'a> {
    /// Device.
    pub device: &'a Device,
    /// Its power mode.
    pub mode: Option<&'a PowerMode>,
    /// Operator.
    pub operator: Operator,
    /// Formats.
    pub precision: PrecisionChoice,
    /// Engine whose factors are asked for.
    pub engine: Option<Engine>,
    /// Factors.
    pub calibration: &'a Calibration,
}

/// One operator on one device.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Format of every role.
    pub precision: Precision,
    /// Peak it runs on.
    pub path: ComputePath,
    /// The roofs.
    pub roofline: Roofline,
    /// Work and traffic.
    pub cost: OpCost,
    /// Times that memory and arithmetic need.
    pub time: KernelTime,
    /// What the user will really see.
    pub expected: Expected,
    /// Highest compute rate at this intensity.
    pub attainable: FlopsPerSec,
}

/// Analyzes one operator on one device.
///
/// ```
/// use calc_core::{analysis::{analyze, AnalyzeRequest, Operator}, calibration::Calibration, catalog};
/// use calc_core::{cost::gemm::GemmShape, precision::PrecisionChoice};
/// let answer = analyze(&AnalyzeRequest {
///     device: catalog::device("jetson_orin_nano_8gb_super").unwrap(),
///     mode: None,
///     operator: Operator::Gemm(GemmShape { m: 1, n: 4096, k: 4096 }),
///     precision: PrecisionChoice::weights(catalog::format("int4_g128").unwrap()),
///     engine: None,
///     calibration: &Calibration::ASSUMED,
/// }).unwrap();
/// assert!((answer.time.ideal().get() - 87.2e-6).abs() < 1e-12); // 8.929 MB at 102.4 GB/s
/// ```
///
/// # Errors
/// A dimension out of range, a format that nothing computes in, a power mode with unknown clocks.
pub fn analyze(request: &AnalyzeRequest<'_>) -> Result<Analysis, Error> {
    request.operator.check()?;
    let roofs = Roofs::new(request.device, request.mode)?;
    let precision = request.precision.resolve(&roofs);
    let path = compute_path(&roofs, &request.operator, &precision)?;
    let roofline = Roofline { peak: path.peak, bandwidth: roofs.bandwidth };
    let cost = request.operator.cost(&precision);
    let time = roofline.op_time(&cost);
    let factors = request.calibration.factors(&Subject {
        device: &request.device.key,
        class: request.device.class,
        format: streamed_format(&request.operator, &precision).key,
        op: request.operator.kind(),
        engine: request.engine,
    });
    let expected = Expected::of(time, &factors);
    Ok(Analysis {
        precision,
        path,
        roofline,
        cost,
        time,
        expected,
        attainable: roofline.attainable(cost.intensity()),
    })
}

fn compute_path(roofs: &Roofs, operator: &Operator, p: &Precision) -> Result<ComputePath, Error> {
    // Activations that nothing computes in are refused for every operator, also where they are not read.
    let matmul = roofs.compute_path(p.weights, p.activations)?;
    match operator {
        Operator::Gemm(_) => Ok(matmul),
        Operator::Attention { .. }
        | Operator::KvAppend { .. }
        | Operator::AddNorm { .. }
        | Operator::Norm { .. }
        | Operator::Activation { .. } => roofs.compute_path(p.carrier, p.carrier),
    }
}

fn streamed_format(operator: &Operator, p: &Precision) -> &'static QuantFormat {
    match operator {
        Operator::Gemm(_) => p.weights,
        Operator::Attention { .. } | Operator::KvAppend { .. } => p.kv_cache,
        Operator::AddNorm { .. } | Operator::Norm { .. } | Operator::Activation { .. } => p.carrier,
    }
}
