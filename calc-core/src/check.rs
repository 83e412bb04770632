//! Plausibility of a time: a measured or claimed time against the roofs of a device, the rates sustained in practice, and
//! the expected time; and possible explanations of the difference, each verified by evaluating the model again.
//! Derivation: `docs/theory/check.md`.

mod ceilings;
mod explain;
mod explanation;
mod variants;
mod work;

pub use ceilings::Ceilings;
pub use explanation::{Drafts, Explanation};
pub use work::{MAX_SUMMED, Work};

use alloc::vec::Vec;

use crate::device::Device;
use crate::error::{Error, real_in_range};
use crate::expected::Expected;
use crate::footprint::MemoryFootprint;
use crate::op::OpCost;
use crate::provenance::{Fact, Provenance};
use crate::quant_format::{ComputeClass, QuantFormat};
use crate::roofline::{Bound, Roofline};
use crate::units::{Bytes, BytesPerSec, FlopsPerSec, Seconds, TokensPerSec};

/// Share of the datasheet's roof from which a claim is near it; assumed.
const NEAR: f64 = 0.9;
/// Tolerance above the roof: a rate that was typed, or computed by another division, is rounded.
const ROUNDING: f64 = 1.0 + 1e-9;

/// A measured or claimed performance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claim {
    Time(Seconds),
    /// Decode rate in token/s.
    Rate {
        rate: TokensPerSec,
        /// True for the rate of one sequence, false for that of the whole batch.
        per_user: bool,
    },
}

/// The inputs of a check.
#[derive(Debug, Clone, Copy)]
pub struct CheckRequest<'a> {
    /// The work that was done.
    pub work: Work<'a>,
    pub claim: Claim,
}

/// Position of a claim relative to the roofs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimVerdict {
    /// Below the sustained rates.
    Possible,
    /// Above the sustained rates, or close to the datasheet's roof.
    NearTheRoof,
    /// Faster than the datasheet's roof.
    AboveTheRoof,
}

/// Position of a claim relative to the expected time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Faster than the datasheet's roof.
    AboveTheRoof,
    /// Faster than the expected interval, below the roof.
    Fast,
    /// Within the expected interval.
    AsExpected,
    /// Slower than the expected interval.
    Slow,
}

/// Rates at which the work would have been done in the claimed time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Implied {
    /// DRAM traffic of the device over time.
    pub bandwidth: BytesPerSec,
    /// Work over time.
    pub rate: FlopsPerSec,
}

/// Ratios of attainable to claimed time; above 1 if the claim is faster than attainable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Ideal time over claimed time.
    pub of_datasheet: f64,
    /// Time at the sustained ceilings over claimed time.
    pub of_sustained: f64,
}

/// Where the two roofs that limit the work come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoofOrigin {
    pub bandwidth: Provenance,
    pub peak: Provenance,
}

/// Sustained ceilings of the two roofs that limit the work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sustained {
    pub bandwidth: Fact<BytesPerSec>,
    /// Compute rate.
    pub peak: Fact<FlopsPerSec>,
}

/// Bandwidth of a host's memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostBandwidth {
    /// False where the card computes with copies of the weights, so that next to nothing of the work is done there.
    pub computes: bool,
    /// Traffic of the operators that it computes, over the claimed time.
    pub implied: BytesPerSec,
    pub datasheet: Fact<BytesPerSec>,
    pub sustained: Fact<BytesPerSec>,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The claim as a time: of the operator, of one token of each sequence, or of the whole answer.
    pub time: Seconds,
    /// Lower bound on the time.
    pub ideal: Seconds,
    pub expected: Expected,
    /// Work and traffic of the claimed work.
    pub cost: OpCost,
    /// Limiting resource at the roof.
    pub bound: Bound,
    /// Storage format of the weights.
    pub weights: &'static QuantFormat,
    /// Compute class of the matmuls.
    pub class: ComputeClass,
    /// Roofs of the device: those of its datasheet, unless `origin` says otherwise.
    pub datasheet: Roofline,
    pub origin: RoofOrigin,
    pub sustained: Sustained,
    pub implied: Implied,
    /// The memory of the host, if the model has one.
    pub host: Option<HostBandwidth>,
    pub share: Shares,
    /// Against the roofs.
    pub verdict: ClaimVerdict,
    pub pace: Pace,
    /// Memory of one device; `None` for an operator.
    pub memory: Option<MemoryFootprint>,
    /// Number of devices that the memory is needed on; 1 for an operator, and for unlike cards, of which the fullest counts.
    pub devices: u64,
    /// Possible explanations; empty if no tried one explains the claim.
    pub explanations: Vec<Explanation>,
}

/// Judges a claim.
///
/// ```text
/// share of the datasheet   = ideal time / claimed time                      above 1: above the roof
/// share of the sustained   = time at the sustained ceilings / claimed time
/// ```
///
/// ```
/// use calc_core::{analysis::{AnalyzeRequest, Operator}, calibration::Calibration, catalog, units::Seconds};
/// use calc_core::check::{check, CheckRequest, Claim, ClaimVerdict, Work};
/// use calc_core::{cost::gemm::GemmShape, precision::PrecisionChoice};
/// let answer = check(&CheckRequest {
///     work: Work::Operator(AnalyzeRequest {
///         device: catalog::device("jetson_orin_nano_8gb_super").unwrap(),
///         mode: None,
///         operator: Operator::Gemm(GemmShape { m: 1, n: 4096, k: 4096 }),
///         precision: PrecisionChoice::weights(catalog::format("int4_g128").unwrap()),
///         engine: None,
///         calibration: &Calibration::FITTED,
///     }),
///     claim: Claim::Time(Seconds::new(43.6e-6)),
/// }).unwrap();
/// assert_eq!(answer.verdict, ClaimVerdict::AboveTheRoof);
/// assert!((answer.share.of_datasheet - 2.0).abs() < 1e-3); // 87.2 / 43.6 µs
/// assert!((answer.implied.bandwidth.get() - 204.8e9).abs() < 1e8); // 8.929 MB in 43.6 µs
/// ```
///
/// # Errors
/// The errors of `analyze` and `estimate`; a time that is not positive; a link of unknown bandwidth; a rate of work that
/// gives no tokens.
pub fn check(request: &CheckRequest<'_>) -> Result<Check, Error> {
    let own = request.work.measure()?;
    let time = claimed(request)?;
    let ceilings = Ceilings::sustained(&request.work)?;
    let class = own.path.class;
    let (ideal, expected) = (own.span.ideal, own.span.expected);
    let at_ceilings = ceilings.time(&request.work, &own)?;
    let share = Shares { of_datasheet: ideal / time, of_sustained: at_ceilings / time };
    let pace = pace(time, ideal, &expected);
    let there = own.host.as_ref().map_or(Bytes::ZERO, |host| host.bytes);
    let behind = request.work.model().and_then(|model| model.host);
    let host = own.host.as_ref().zip(behind).map(|(host, behind)| HostBandwidth {
        computes: there > own.cost.traffic.total() * 0.01,
        implied: host.bytes / time,
        datasheet: behind.host.bandwidth,
        sustained: host.sustained.host.bandwidth,
    });
    let datasheet = Roofline { peak: own.path.peak, bandwidth: own.roofs.bandwidth };
    Ok(Check {
        time,
        ideal,
        expected,
        cost: own.cost,
        bound: own.time.bound(),
        weights: own.precision.weights,
        class,
        datasheet,
        origin: origin(request.work.device(), class),
        sustained: Sustained {
            bandwidth: ceilings.bandwidth_of(&request.work, &own),
            peak: ceilings.peaks.get(class).unwrap_or(Fact::assumed(datasheet.peak)),
        },
        implied: Implied {
            bandwidth: (own.cost.traffic.total() - there) / time,
            rate: own.cost.flops / time,
        },
        host,
        share,
        verdict: verdict(time, ideal, share),
        pace,
        memory: own.memory,
        devices: request.work.model().map_or(1, |model| match model.cards {
            None => model.workload.parallel.devices(),
            Some(_) => 1,
        }),
        explanations: explain::explanations(request, &own, time, pace),
    })
}

fn origin(device: &Device, class: ComputeClass) -> RoofOrigin {
    let bandwidth = device.bandwidth.provenance;
    let peak = device.peaks.get(class).map_or(Provenance::Derived, |peak| peak.provenance);
    RoofOrigin { bandwidth, peak }
}

impl Check {
    /// Where the roof comes from that limits the work.
    pub const fn limiting_origin(&self) -> Provenance {
        match self.bound {
            Bound::Memory => self.origin.bandwidth,
            Bound::Compute => self.origin.peak,
        }
    }
}

/// Converts the claim to a time of the work.
fn claimed(request: &CheckRequest<'_>) -> Result<Seconds, Error> {
    let time = match (request.claim, &request.work) {
        (Claim::Time(time), _) => time,
        (Claim::Rate { rate, per_user: true }, Work::Token(_)) => Seconds::new(1.0 / rate.get()),
        (Claim::Rate { rate, per_user: false }, Work::Token(request)) => {
            Seconds::new(request.workload.batch as f64 / rate.get())
        }
        (Claim::Rate { .. }, Work::Operator(_) | Work::Answer(_)) => {
            return Err(Error::Conflict {
                first: "tokens_per_s",
                second: "a step of a model",
                needs: true,
            });
        }
    };
    real_in_range("time", time.get(), 1e-15, 1e15).map(Seconds::new)
}

/// True if a claimed time is faster than the roof by more than a rounding error.
fn is_above(time: Seconds, ideal: Seconds) -> bool {
    time * ROUNDING < ideal
}

fn verdict(time: Seconds, ideal: Seconds, share: Shares) -> ClaimVerdict {
    if is_above(time, ideal) {
        ClaimVerdict::AboveTheRoof
    } else if share.of_sustained > 1.0 || share.of_datasheet > NEAR {
        ClaimVerdict::NearTheRoof
    } else {
        ClaimVerdict::Possible
    }
}

fn pace(time: Seconds, ideal: Seconds, expected: &Expected) -> Pace {
    if is_above(time, ideal) {
        Pace::AboveTheRoof
    } else if time * ROUNDING < expected.low {
        Pace::Fast
    } else if time <= expected.high * ROUNDING {
        Pace::AsExpected
    } else {
        Pace::Slow
    }
}
