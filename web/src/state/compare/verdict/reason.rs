//! Why one column is faster than another: the roof or the traffic that makes the difference.

use calc_core::estimate::Estimate;
use calc_core::lowering::Phase;
use calc_core::plan::Limit;
use calc_core::recommend::RankedPart;
use calc_core::roofline::Bound;
use report::number_text as text;

use super::super::delta::times;
use super::RunningColumn;

/// Ratio from which a roof or a traffic is named as a reason.
pub(super) const REASON: f64 = 1.05;

/// The roof or the traffic that makes the difference, for the part that takes longest.
pub(super) fn why(fastest: &RunningColumn<'_>, other: &RunningColumn<'_>) -> String {
    let estimate = |column: &RunningColumn<'_>| column.answered.shown.model.answer.estimate.clone();
    let (fast, slow) = (estimate(fastest), estimate(other));
    let part = if other.answered.new_tokens() > 1 { RankedPart::Whole } else { RankedPart::Decode };
    let (step, phase) = match other.outcome().longer_phase(part) {
        Phase::Prefill => ("the prompt", &slow.prefill),
        Phase::Decode => ("decode", &slow.middle),
    };
    if phase.totals.limit() == Limit::Host {
        let host = "the host of the card, on which a part of the model lies";
        return format!("Most of the time {step} waits for {host}.");
    }
    let bound = phase.expected_bound;
    if bound == Bound::Compute {
        let [a, b] = [fast.paths.layer, slow.paths.layer];
        let ratio = a.peak / b.peak;
        let used = |estimate: &Estimate| match step {
            "decode" => estimate.middle.mfu,
            _ => estimate.prefill.mfu,
        };
        let [used, less] = [&fast, &slow].map(&used);
        let mut reasons = Vec::new();
        if ratio >= REASON {
            reasons.push(format!(
                "it runs at up to {} instead of {} ({} as much)",
                text::published_rate(a.peak, a.class),
                text::published_rate(b.peak, b.class),
                times(ratio)
            ));
        }
        if used / less >= REASON {
            reasons.push(format!(
                "{} of the peak is expected to be reached instead of {}",
                text::percent(used),
                text::percent(less)
            ));
        }
        if reasons.is_empty() {
            return String::new();
        }
        return format!(
            "Most of the time {step} waits for arithmetic: {}.",
            reasons.join(", and ")
        );
    }
    let mut reasons = Vec::new();
    let ratio = fast.bandwidth / slow.bandwidth;
    if ratio >= REASON {
        reasons.push(format!(
            "which gives {} instead of {} ({} as much)",
            text::published_bandwidth(fast.bandwidth),
            text::published_bandwidth(slow.bandwidth),
            times(ratio)
        ));
    }
    let [reads, more] = [&fast, &slow].map(|estimate| estimate.middle.totals.cost.traffic.total());
    if step == "decode" && more / reads >= REASON {
        reasons.push(format!(
            "and a step reads {} instead of {}",
            text::bytes(reads),
            text::bytes(more)
        ));
    }
    if reasons.is_empty() {
        return String::new();
    }
    format!("Most of the time {step} waits for memory, {}.", reasons.join(", "))
}
