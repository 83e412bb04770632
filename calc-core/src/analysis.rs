//! Analyzes one operator on one device: the entry point for everything that is not a whole model.

mod composite;
mod stream;

pub use composite::{FeedForwardShape, MAX_EXPERTS, MoeShape};
pub use stream::{StreamRequest, stream};

use alloc::vec::Vec;

use composite::CompositeKernel;

use crate::calibration::machine::{Kernel, Setting};
use crate::calibration::{Basis, Calibration, Engine, Factors, Tuned};
use crate::cost::attention::{AttentionShape, fused, kv_append, unfused};
use crate::cost::elementwise::{add_norm, gated_activation, norm, plain_activation};
use crate::cost::gemm::{GemmFormats, GemmShape, gemm};
use crate::device::{Device, PowerMode};
use crate::error::{Error, in_range};
use crate::expected::{Expected, reached};
use crate::model_arch::Reach;
use crate::op::{OpCost, OpKind, Path, Shape};
use crate::precision::{Precision, PrecisionChoice};
use crate::quant_format::QuantFormat;
use crate::roofline::{ComputePath, KernelTime, Roofline, Roofs};
use crate::units::{FlopsPerSec, Seconds};

/// Largest dimension of a shape.
pub const MAX_DIMENSION: u64 = 1_000_000_000;

/// An operator with its shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operator {
    /// A matrix multiplication with weights; a GEMV if m = 1.
    Gemm(GemmShape),
    /// Attention over a KV cache.
    Attention {
        shape: AttentionShape,
        /// The scores stay on chip.
        fused: bool,
    },
    /// Appends new keys and values to the cache.
    KvAppend {
        /// Elements per token: 2 g d.
        elements: u64,
        tokens: u64,
    },
    /// Residual addition and norm.
    AddNorm {
        tokens: u64,
        hidden: u64,
    },
    Norm {
        tokens: u64,
        hidden: u64,
    },
    /// Activation function of an MLP.
    Activation {
        tokens: u64,
        /// Intermediate size of the MLP.
        width: u64,
        gated: bool,
    },
    /// Gate and up, activation, down: several kernels in sequence.
    FeedForward(FeedForwardShape),
    /// Router and experts: several kernels in sequence.
    MixtureOfExperts(MoeShape),
}

impl Operator {
    /// Kind of the operator.
    pub const fn kind(&self) -> OpKind {
        match self {
            Self::Gemm(_) => OpKind::Gemm,
            Self::Attention { .. } => OpKind::Attention,
            Self::KvAppend { .. } => OpKind::KvAppend,
            Self::AddNorm { .. } => OpKind::AddNorm,
            Self::Norm { .. } => OpKind::Norm,
            Self::Activation { .. } => OpKind::Activation,
            Self::FeedForward(_) => OpKind::FeedForward,
            Self::MixtureOfExperts(_) => OpKind::MixtureOfExperts,
        }
    }

    /// True if it reads weights in a format that the user chooses.
    pub const fn has_weights(&self) -> bool {
        matches!(self, Self::Gemm(_) | Self::FeedForward(_) | Self::MixtureOfExperts(_))
    }

    /// Checks every dimension against its range.
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
            Self::FeedForward(shape) => shape.check()?,
            Self::MixtureOfExperts(shape) => shape.check()?,
        }
        Ok(())
    }

    /// The kernels of a composite operator; empty for a single kernel.
    fn kernels(&self, p: &Precision) -> Vec<CompositeKernel> {
        match self {
            Self::FeedForward(shape) => shape.kernels(p),
            Self::MixtureOfExperts(shape) => shape.kernels(p),
            Self::Gemm(_)
            | Self::Attention { .. }
            | Self::KvAppend { .. }
            | Self::AddNorm { .. }
            | Self::Norm { .. }
            | Self::Activation { .. } => Vec::new(),
        }
    }

    /// The shape from which the expected time of the kernel follows.
    pub fn shape(&self, p: &Precision) -> Shape {
        match self {
            Self::Gemm(shape) => Shape::Product(shape.product(p.weights)),
            Self::Attention { shape, .. } => shape.kernel(),
            Self::KvAppend { .. }
            | Self::AddNorm { .. }
            | Self::Norm { .. }
            | Self::Activation { .. }
            | Self::FeedForward(_)
            | Self::MixtureOfExperts(_) => Shape::Stream,
        }
    }

    /// The cost of a single kernel; zero for a composite operator.
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
            Self::FeedForward(_) | Self::MixtureOfExperts(_) => OpCost::default(),
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
    match shape.reach {
        Reach::All => {}
        Reach::Window(window) | Reach::Chunk(window) => {
            in_range("window", window, 1, MAX_DIMENSION)?;
        }
        Reach::Compressed { window, ratio, .. } => {
            in_range("window", window, 1, MAX_DIMENSION)?;
            in_range("ratio", ratio, 1, MAX_DIMENSION)?;
        }
    }
    Ok(())
}

/// The inputs of an analysis.
#[derive(Debug, Clone, Copy)]
pub struct AnalyzeRequest<'a> {
    pub device: &'a Device,
    /// `None` for the device's own peaks.
    pub mode: Option<&'a PowerMode>,
    pub operator: Operator,
    pub precision: PrecisionChoice,
    /// Engine whose factors apply; `None` for the device's usual engine.
    pub engine: Option<Engine>,
    pub calibration: &'a Calibration,
}

/// The analysis of one operator on one device.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    pub precision: Precision,
    /// Peak it runs on.
    pub path: ComputePath,
    pub roofline: Roofline,
    /// Total work and traffic.
    pub cost: OpCost,
    /// Ideal times of memory and arithmetic; for a composite operator, sums over its parts.
    pub time: KernelTime,
    /// Lower bound on the time: the longer of the two; for a composite operator, the sum of the lower bounds of its parts.
    pub ideal: Seconds,
    /// Time expected in practice, with its interval.
    pub expected: Expected,
    /// Correction factors of the expected time; for a composite operator, those of its first kernel.
    pub factors: Factors,
    /// Basis of the expected time.
    pub basis: Basis,
    /// Highest compute rate at this intensity.
    pub attainable: FlopsPerSec,
    /// The kernels of a composite operator in order; empty for a single kernel.
    pub parts: Vec<OperatorPart>,
}

/// One kernel of a composite operator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperatorPart {
    pub kind: OpKind,
    /// Peak it runs on.
    pub path: ComputePath,
    /// Total work and traffic.
    pub cost: OpCost,
    /// Ideal times of memory and arithmetic.
    pub time: KernelTime,
    /// Time expected in practice, with its interval.
    pub expected: Expected,
    /// Correction factors of the expected time.
    pub factors: Factors,
}

impl Analysis {
    /// The compute rate at the ideal time; at the roof for one kernel, below it if the parts have different bounds.
    pub fn ideal_rate(&self) -> FlopsPerSec {
        self.cost.flops / self.ideal
    }

    /// Memory and compute times at the shares that kernels reach; for a composite operator, sums over its parts.
    pub fn reached(&self) -> KernelTime {
        let times = self.kernels().map(|(time, factors)| reached(time, factors));
        times.fold(KernelTime::ZERO, KernelTime::plus)
    }

    /// Fraction of the expected time saved by halving the bytes.
    pub fn half_bytes_save(&self) -> f64 {
        let half = |(time, factors)| Expected::with_half_the_bytes(time, factors);
        1.0 - self.kernels().map(half).sum::<Seconds>() / self.expected.time
    }

    /// Ideal times and factors of every kernel.
    fn kernels(&self) -> impl Iterator<Item = (KernelTime, &Factors)> {
        let own = self.parts.is_empty().then_some((self.time, &self.factors));
        own.into_iter().chain(self.parts.iter().map(|part| (part.time, &part.factors)))
    }
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
///     calibration: &Calibration::FITTED,
/// }).unwrap();
/// assert!((answer.time.ideal().get() - 87.2e-6).abs() < 1e-12); // 8.929 MB at 102.4 GB/s
/// ```
///
/// # Errors
/// A dimension out of range, activations without a compute class, a power mode with unknown clocks.
pub fn analyze(request: &AnalyzeRequest<'_>) -> Result<Analysis, Error> {
    request.operator.check()?;
    let roofs = Roofs::new(request.device, request.mode)?;
    let precision = request.precision.resolve(&roofs);
    let path = compute_path(&roofs, &request.operator, &precision)?;
    let roofline = Roofline { peak: path.peak, bandwidth: roofs.bandwidth };
    let kernels = request.operator.kernels(&precision);
    let tuned =
        request.calibration.tuned(request.device, request.mode, request.engine, precision.stored());
    let parts = parts(&tuned, &roofs, &precision, &kernels)?;
    let (cost, time, ideal, expected, factors) = if parts.is_empty() {
        let cost = request.operator.cost(&precision);
        let time = roofline.op_time(&cost);
        let format = streamed_format(&request.operator, &precision);
        let factors = tuned.factors(
            request.operator.kind(),
            &Kernel {
                shape: &request.operator.shape(&precision),
                cost: &cost,
                path: &path,
                time,
                format,
                setting: Setting::Alone,
            },
        );
        (cost, time, time.ideal(), Expected::of(time, &factors), factors)
    } else {
        summed(&parts)
    };
    Ok(Analysis {
        precision,
        path,
        roofline,
        cost,
        time,
        ideal,
        expected,
        factors,
        basis: tuned.basis,
        attainable: roofline.attainable(cost.intensity()),
        parts,
    })
}

/// Sums over the kernels of a composite operator, and the factors of the first.
fn summed(parts: &[OperatorPart]) -> (OpCost, KernelTime, Seconds, Expected, Factors) {
    let cost = parts.iter().fold(OpCost::default(), |sum, part| sum.plus(&part.cost));
    let time = parts.iter().map(|part| part.time).fold(KernelTime::ZERO, KernelTime::plus);
    let ideal = parts.iter().map(|part| part.time.ideal()).sum();
    let expected = parts.iter().fold(Expected::ZERO, |sum, part| sum.then(part.expected));
    let factors = parts.first().map_or(Factors::ASSUMED, |part| part.factors);
    (cost, time, ideal, expected, factors)
}

/// The kernels of a composite operator with their times.
fn parts(
    tuned: &Tuned<'_>,
    roofs: &Roofs,
    p: &Precision,
    kernels: &[CompositeKernel],
) -> Result<Vec<OperatorPart>, Error> {
    let part = |kernel: &CompositeKernel| {
        let path = match kernel.path {
            Path::Layer => roofs.compute_path(p.weights, p.layer_inputs())?,
            Path::Expert => roofs.compute_path(p.experts, p.activations)?,
            Path::LmHead => roofs.compute_path(p.lm_head, p.carrier)?,
            Path::Carrier => roofs.compute_path(p.carrier, p.carrier)?,
        };
        let roofline = Roofline { peak: path.peak, bandwidth: roofs.bandwidth };
        let time = roofline.op_time(&kernel.cost);
        let factors = tuned.factors(
            kernel.kind,
            &Kernel {
                shape: &kernel.shape,
                cost: &kernel.cost,
                path: &path,
                time,
                format: kernel.format,
                setting: Setting::Alone,
            },
        );
        let expected = Expected::of(time, &factors);
        Ok(OperatorPart { kind: kernel.kind, path, cost: kernel.cost, time, expected, factors })
    };
    kernels.iter().map(part).collect()
}

fn compute_path(roofs: &Roofs, operator: &Operator, p: &Precision) -> Result<ComputePath, Error> {
    // Activations without a compute class are refused for every operator, even where they are not read.
    let matmul = roofs.compute_path(p.weights, p.activations)?;
    match operator {
        Operator::Gemm(_) | Operator::FeedForward(_) => Ok(matmul),
        Operator::MixtureOfExperts(_) => roofs.compute_path(p.experts, p.activations),
        Operator::Attention { .. }
        | Operator::KvAppend { .. }
        | Operator::AddNorm { .. }
        | Operator::Norm { .. }
        | Operator::Activation { .. } => roofs.compute_path(p.carrier, p.carrier),
    }
}

/// The format of most of the data that an operator streams.
pub fn streamed_format(operator: &Operator, p: &Precision) -> &'static QuantFormat {
    match operator {
        Operator::Gemm(_) | Operator::FeedForward(_) => p.weights,
        Operator::MixtureOfExperts(_) => p.experts,
        Operator::Attention { .. } | Operator::KvAppend { .. } => p.kv_cache,
        Operator::AddNorm { .. } | Operator::Norm { .. } | Operator::Activation { .. } => p.carrier,
    }
}
