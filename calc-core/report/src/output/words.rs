//! Sentences of refusals, verdicts and notes, worded once for page, CLI and REST.

pub mod advice;
pub mod apply;
mod basis;
mod bench;
pub mod cards;
pub mod catalog;
pub mod check;
pub mod layers;
pub mod measured;
pub mod memory;
mod notes;
pub mod placement;
pub mod progress;
pub mod remedies;
pub mod roofs;
pub mod towers;
pub mod weights;

pub use crate::refusal_text::{core_error, nearest_text};
pub use basis::factors_source;
pub use bench::{
    ThresholdReach, bench_flag, bench_sizes, could_find, padded, threshold_reach, too_few_samples,
    two_runs,
};
pub use notes::request::notes as model_request_notes;
pub use notes::{
    analyze_notes, context_note, estimate_notes, first_token, mean_over, rate_at_context,
    request_notes, split_notes, too_long, without_hand_over, without_link,
};

use calc_core::compare::Fit;
use calc_core::device::Device;
use calc_core::plan::{Limit, PhaseEstimate, Resource, StepTotals};
use calc_core::provenance::Fact;
use calc_core::roofline::Bound;
use calc_core::units::Seconds;

use crate::input::request::link::ChosenLink;
use crate::number_text;

/// Basis of the energy in an estimate.
pub const ENERGY_BASIS: &str = "estimate: idle + (TDP - idle) * ideal / expected";

/// Reason why an energy is unknown.
pub const ENERGY_UNKNOWN: &str =
    "unknown: the power of this device, or of the link that it waits for, is not published";

/// Bound as a word.
pub const fn bound(bound: Bound) -> &'static str {
    match bound {
        Bound::Memory => "memory",
        Bound::Compute => "compute",
    }
}

/// The resource that limits an operator or a step, in tables: `host memory` where the host computes most of the time, and
/// `host link` where its weights are copied.
pub fn bound_of(totals: &StepTotals, bound: Bound) -> &'static str {
    resource(totals.resource(bound))
}

/// Name of a resource in tables.
pub const fn resource(resource: Resource) -> &'static str {
    match resource {
        Resource::Memory => bound(Bound::Memory),
        Resource::Compute => bound(Bound::Compute),
        Resource::HostMemory => "host memory",
        Resource::HostCompute => "host compute",
        Resource::HostLink => "host link",
        Resource::HostSsd => "SSD",
        Resource::Launch => "launch",
        Resource::Links => "link",
    }
}

/// Behind a limit of the expected time that the ideal time does not have; empty where both agree, or where no roof is the limit.
pub fn other_limit(phase: &PhaseEstimate) -> &'static str {
    match (phase.totals.limit(), phase.bound) {
        (Limit::Compute, Bound::Memory) => " as kernels run, and memory-bound at the roof",
        (Limit::Memory, Bound::Compute) => " as kernels run, and compute-bound at the roof",
        _ => "",
    }
}

/// Limit of the expected time of a step as the end of a sentence: `Decode is memory-bound`.
pub fn limit(phase: &PhaseEstimate) -> String {
    let totals = &phase.totals;
    let other = other_limit(phase);
    match totals.limit() {
        Limit::Memory => format!("is memory-bound{other}"),
        Limit::Compute => format!("is compute-bound{other}"),
        Limit::Launch => {
            let share = number_text::percent(totals.floors / totals.expected.time);
            format!("waits for launches of kernels, {share} of its time")
        }
        Limit::Links => "waits for the links between devices".into(),
        Limit::Host => "waits for the host".into(),
    }
}

/// The link between several of a device: `NVLink4 900 GB/s: 450 GB/s per direction, 5.00 µs per hop (derived)`.
pub fn link(device: &Device) -> String {
    device.link.as_ref().map_or_else(
        || "unknown: nobody published it".to_owned(),
        |Fact { value, provenance }| {
            let figures = ChosenLink::named_figures(&device.interconnect, value);
            format!("{}: {figures} ({})", device.interconnect, provenance.key())
        },
    )
}

/// Behind a rate at the roof of devices that exchange data: the roof has no links.
pub fn roof_leaves_out(phase: &PhaseEstimate) -> &'static str {
    if phase.totals.links > Seconds::ZERO { ", which leaves out the links" } else { "" }
}

/// Verdict on a comparison of theory and measurement; `faster` when the device beat the prediction on average.
pub const fn fit(fit: Fit, faster: bool) -> &'static str {
    match fit {
        Fit::Excellent => "excellent: the mean error is under 10 %",
        Fit::Fair => "fair: the mean error is under 20 %",
        Fit::Poor if faster => {
            "poor: the mean error is 20 % or more, on the fast side. Likely causes: the timed loop reads from cache \
             instead of DRAM; the device, its clocks or its power mode are not the ones named; the timer stops early"
        }
        Fit::Poor => {
            "poor: the mean error is 20 % or more, on the slow side. Likely causes: dequantization is not fused; the \
             timer includes launches; the power mode or clocks are lower than named; the kernel is far from the roof \
             for this shape"
        }
    }
}
