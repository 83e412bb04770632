//! The expected time of a kernel that was timed, from its key, sizes and formats in a record: for products and kernels of a layer from
//! the core with a calibration, for streams and peaks from the roof that bounds them.

use std::collections::BTreeMap;

use calc_core::analysis::{Analysis, AnalyzeRequest, Operator, StreamRequest, analyze, stream};
use calc_core::calibration::Calibration;
use calc_core::catalog;
use calc_core::cost::attention::AttentionShape;
use calc_core::cost::elementwise::{embedding, rotary};
use calc_core::cost::gemm::GemmShape;
use calc_core::device::{Device, PowerMode, Roof};
use calc_core::error::Error;
use calc_core::expected::Expected;
use calc_core::model_arch::Reach;
use calc_core::op::{OpCost, OpKind};
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Provenance;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::roofline::{Bound, Roofs};
use calc_core::units::{Flops, FlopsPerSec, Seconds};

use super::RequestError;

/// A kernel as a record names it.
#[derive(Debug, Clone, Copy)]
pub struct TimedKernel<'a> {
    /// Key in records, such as `attention`.
    pub key: &'a str,
    /// Shape of a product.
    pub shape: Option<GemmShape>,
    /// Sizes by name, of kernels of a layer beside its products.
    pub sizes: &'a BTreeMap<String, u64>,
    /// Keys of the formats: what is stored, and the input or output beside it.
    pub formats: Option<(&'a str, &'a str)>,
    /// Bytes of one call.
    pub bytes: f64,
    /// Operations of one call.
    pub flops: f64,
}

/// The device of an expectation.
#[derive(Debug, Clone, Copy)]
pub struct TimedPlace<'a> {
    pub device: &'a Device,
    pub mode: Option<&'a PowerMode>,
    pub calibration: &'a Calibration,
}

/// Expected time of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedTime {
    pub time: Seconds,
    /// Interval of the time; `None` for a roof.
    pub range: Option<(Seconds, Seconds)>,
    /// Time at the roof.
    pub ideal: Seconds,
    /// Work of the kernel.
    pub flops: Flops,
    /// Source of the calibration factors; `None` for a roof.
    pub factors: Option<Provenance>,
    /// The roof behind `ideal`, if something disturbed it while it was measured: it may be too low.
    pub disturbed: Option<Roof>,
}

impl ExpectedTime {
    const fn of(ideal: Seconds, expected: &Expected, flops: Flops) -> Self {
        let &Expected { time, low, high, provenance } = expected;
        let (range, factors) = (Some((low, high)), Some(provenance));
        Self { time, range, ideal, flops, factors, disturbed: None }
    }

    /// This time with the roof behind it, if that was disturbed.
    fn under(self, roof: Roof, device: &Device) -> Self {
        Self { disturbed: Some(roof).filter(|roof| device.disturbed_roofs().has(*roof)), ..self }
    }

    /// The expected rate.
    pub fn rate(&self) -> FlopsPerSec {
        self.flops / self.time
    }

    /// Relative error beside a measured time; above 0 where the expectation is too slow.
    pub fn error(&self, measured: Seconds) -> f64 {
        self.time / measured - 1.0
    }
}

/// Expected time of a kernel on a device.
///
/// # Errors
/// Returns the reason as a sentence if there is no expectation.
pub fn expected(kernel: &TimedKernel<'_>, place: TimedPlace<'_>) -> Result<ExpectedTime, String> {
    match (kernel.shape, kernel.formats) {
        (Some(shape), Some((weights, activations))) => {
            let weights = PrecisionChoice::weights(format(weights)?);
            let precision = PrecisionChoice { activations: Some(format(activations)?), ..weights };
            operator(Operator::Gemm(shape), precision, place)
        }
        (None, Some(formats)) if !kernel.sizes.is_empty() => layer(kernel, formats, place),
        (Some(_), None) => Err("it has no formats".to_owned()),
        (None, _) => roof(kernel, place),
    }
}

fn refusal(error: Error) -> String {
    RequestError::Core(error).to_string()
}

fn format(key: &str) -> Result<&'static QuantFormat, String> {
    catalog::format(key).map_err(refusal)
}

fn operator(
    operator: Operator,
    precision: PrecisionChoice,
    place: TimedPlace<'_>,
) -> Result<ExpectedTime, String> {
    let TimedPlace { device, mode, calibration } = place;
    let found =
        analyze(&AnalyzeRequest { device, mode, operator, precision, engine: None, calibration });
    let of = |found: Analysis| {
        let roof = match found.time.bound() {
            Bound::Memory => Roof::Bandwidth,
            Bound::Compute => Roof::Peak(found.path.class),
        };
        ExpectedTime::of(found.ideal, &found.expected, found.cost.flops).under(roof, device)
    };
    found.map(of).map_err(refusal)
}

/// A kernel of a layer beside its products, by its sizes.
fn layer(
    kernel: &TimedKernel<'_>,
    (stored, carrier): (&str, &str),
    place: TimedPlace<'_>,
) -> Result<ExpectedTime, String> {
    let size = |name: &str| {
        kernel.sizes.get(name).copied().ok_or_else(|| format!("it has no size {name}"))
    };
    let (stored, carrier) = (format(stored)?, format(carrier)?);
    let carried =
        PrecisionChoice { activations: Some(carrier), ..PrecisionChoice::weights(carrier) };
    let streamed = |kind, cost: OpCost| streamed(kind, cost, (stored, carrier), place);
    match kernel.key {
        "attention" => {
            let (new, head_dim) = (size("new")?, size("head_dim")?);
            let shape = AttentionShape {
                batch: size("batch")?,
                heads: size("heads")?,
                kv_heads: size("kv_heads")?,
                qk_dim: head_dim,
                v_dim: head_dim,
                new,
                cached: size("context")?.saturating_sub(new),
                reach: Reach::All,
            };
            let attention = Operator::Attention { shape, fused: true };
            operator(attention, PrecisionChoice { kv_cache: Some(stored), ..carried }, place)
        }
        "norm" => {
            let norm = Operator::AddNorm { tokens: size("tokens")?, hidden: size("width")? };
            operator(norm, carried, place)
        }
        "gate" => {
            let (tokens, width) = (size("tokens")?, size("width")?);
            operator(Operator::Activation { tokens, width, gated: true }, carried, place)
        }
        "rope" => {
            let width = size("heads")?.saturating_mul(size("head_dim")?);
            streamed(OpKind::Rotary, rotary(size("tokens")?, width, carrier))
        }
        "embedding" => {
            let cost = embedding(size("tokens")?, size("width")?, stored, carrier);
            streamed(OpKind::Embedding, cost)
        }
        _ => Err("there is no formula for it".to_owned()),
    }
}

fn streamed(
    kind: OpKind,
    cost: OpCost,
    (format, carrier): (&'static QuantFormat, &'static QuantFormat),
    place: TimedPlace<'_>,
) -> Result<ExpectedTime, String> {
    let TimedPlace { device, mode, calibration } = place;
    let found = stream(&StreamRequest { device, mode, kind, cost, format, carrier, calibration });
    let of = |(ideal, expected)| {
        ExpectedTime::of(ideal, &expected, cost.flops).under(Roof::Bandwidth, device)
    };
    found.map(of).map_err(refusal)
}

/// The compute class whose peak a kernel without a shape measures, by its key in records; `None` for other kernels.
pub fn peak_class(key: &str) -> Option<ComputeClass> {
    Some(match key {
        "fma_fp32" => ComputeClass::Fp32,
        "dot_int8" | "mma_int8" => ComputeClass::Int8,
        "mma_tf32" => ComputeClass::Tf32,
        "mma_fp16" => ComputeClass::Fp16,
        "mma_bf16" => ComputeClass::Bf16,
        "mma_fp8_e4m3" => ComputeClass::Fp8,
        _ => return None,
    })
}

/// Time at the roof of the device: bytes over bandwidth, or FLOP over the peak of the kernel's arithmetic.
fn roof(kernel: &TimedKernel<'_>, place: TimedPlace<'_>) -> Result<ExpectedTime, String> {
    let class = match kernel.key {
        "read" | "copy" | "triad" => None,
        key => Some(peak_class(key).ok_or("it has no shape")?),
    };
    let roofs = Roofs::new(place.device, place.mode).map_err(refusal)?;
    let seconds = match class {
        None => kernel.bytes / roofs.bandwidth.get(),
        Some(class) => {
            let name = class.key().to_ascii_uppercase();
            let missing = || format!("no {name} peak of this device is known");
            kernel.flops / roofs.peak(class).ok_or_else(missing)?.get()
        }
    };
    let (time, flops) = (Seconds::new(seconds), Flops::new(kernel.flops));
    let found =
        ExpectedTime { time, range: None, ideal: time, flops, factors: None, disturbed: None };
    Ok(found.under(class.map_or(Roof::Bandwidth, Roof::Peak), place.device))
}
