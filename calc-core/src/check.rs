//! Is this possible? A measured or claimed time against the roofs of a device, the rates that practice sustains, and the
//! expected time; and what could explain the distance, each explanation found by asking the model again.
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

use crate::error::{Error, real_in_range};
use crate::expected::Expected;
use crate::footprint::MemoryFootprint;
use crate::op::OpCost;
use crate::provenance::Fact;
use crate::quant_format::ComputeClass;
use crate::roofline::{Bound, Roofline};
use crate::units::{BytesPerSec, FlopsPerSec, Seconds, TokensPerSec};

/// From this share of the datasheet's roof on, a claim is near it; assumed.
const NEAR: f64 = 0.9;
/// A claim is above the roof from here on: a rate that is typed, or divided once more, is rounded.
const ROUNDING: f64 = 1.0 + 1e-9;

/// What was measured or claimed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claim {
    /// Time of the work.
    Time(Seconds),
    /// Tokens of decoding per second.
    Rate {
        /// How many.
        rate: TokensPerSec,
        /// Those of one sequence; otherwise of the whole batch.
        per_user: bool,
    },
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct CheckRequest<'a> {
    /// What was done.
    pub work: Work<'a>,
    /// How fast, as somebody says.
    pub claim: Claim,
}

/// Where a claim lies against the roofs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimVerdict {
    /// Below what practice sustains.
    Possible,
    /// Above what practice sustains, or nearly all that the datasheet allows.
    NearTheRoof,
    /// Faster than the datasheet allows.
    AboveTheRoof,
}

/// Where a claim lies against the expected time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Faster than the roof.
    AboveTheRoof,
    /// Faster than expected, under the roof.
    Fast,
    /// Inside the expected interval.
    AsExpected,
    /// Slower than expected.
    Slow,
}

/// Rates at which the work would have been done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Implied {
    /// DRAM traffic per time.
    pub bandwidth: BytesPerSec,
    /// Work per time.
    pub rate: FlopsPerSec,
}

/// Shares of what is attainable; above 1 where the claim is faster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Ideal time over claimed time.
    pub of_datasheet: f64,
    /// Time at the sustained ceilings over claimed time.
    pub of_sustained: f64,
}

/// What practice sustains of the two roofs that the work runs under.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sustained {
    /// Bandwidth.
    pub bandwidth: Fact<BytesPerSec>,
    /// Compute rate.
    pub peak: Fact<FlopsPerSec>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The claim as a time: of the operator, of a token of each sequence, or of the whole answer.
    pub time: Seconds,
    /// Lower bound on it.
    pub ideal: Seconds,
    /// What the user would really see.
    pub expected: Expected,
    /// Work and traffic behind it.
    pub cost: OpCost,
    /// What limits the ideal.
    pub bound: Bound,
    /// The class that matmuls compute in.
    pub class: ComputeClass,
    /// The roofs of the datasheet.
    pub datasheet: Roofline,
    /// What practice sustains of them.
    pub sustained: Sustained,
    /// Rates that the claim implies.
    pub implied: Implied,
    /// Shares of what is attainable.
    pub share: Shares,
    /// Against the roofs.
    pub verdict: ClaimVerdict,
    /// Against the expected time.
    pub pace: Pace,
    /// Memory of one device; an operator asks for none.
    pub memory: Option<MemoryFootprint>,
    /// What could explain it; empty when nothing that was tried does.
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
/// What `analyze` and `estimate` refuse; a time that is none; a link that nobody has put a number to; a rate of something that
/// gives no tokens.
pub fn check(request: &CheckRequest<'_>) -> Result<Check, Error> {
    let own = request.work.measure()?;
    let time = claimed(request)?;
    let ceilings = Ceilings::sustained(&request.work)?;
    let class = own.path.class;
    let (ideal, expected) = (own.span.ideal, own.span.expected);
    let share =
        Shares { of_datasheet: ideal / time, of_sustained: ceilings.time(&request.work)? / time };
    let pace = pace(time, ideal, &expected);
    let datasheet = Roofline { peak: own.path.peak, bandwidth: own.roofs.bandwidth };
    Ok(Check {
        time,
        ideal,
        expected,
        cost: own.cost,
        bound: own.time.bound(),
        class,
        datasheet,
        sustained: Sustained {
            bandwidth: ceilings.bandwidth,
            peak: ceilings.peaks.get(class).unwrap_or(Fact::assumed(datasheet.peak)),
        },
        implied: Implied {
            bandwidth: own.cost.traffic.total() / time,
            rate: own.cost.flops / time,
        },
        share,
        verdict: verdict(time, ideal, share),
        pace,
        memory: own.memory,
        explanations: explain::explanations(request, &own, time, pace),
    })
}

/// The claim as a time of the work.
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

/// Whether a claimed time is faster than the roof allows, by more than a rounding.
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
