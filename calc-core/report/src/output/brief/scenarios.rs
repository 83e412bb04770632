//! A comparison of scenarios in a sentence: which is the fastest, and whether the intervals tell them apart.

use calc_core::estimate::Estimate;
use calc_core::expected::Expected;
use calc_core::plan::MeanToken;

use super::{Brief, factors, limit, rate, rated, subject, timed};
use crate::input::request::Scenario;
use crate::number_text as n;
use crate::output::words::memory;

/// A comparison: the fastest scenario that fits, and a line for each.
pub fn scenarios(scenarios: &[Scenario]) -> Brief {
    let mut running: Vec<&Scenario> = scenarios.iter().filter(|row| runs(row)).collect();
    let speed = |row: &Scenario| row.answer.mean.throughput().get();
    running.sort_by(|a, b| speed(b).total_cmp(&speed(a)));
    let sentence = match running.as_slice() {
        [] => {
            "None of these scenarios has a speed: they do not fit, or a link is unknown.".to_owned()
        }
        [only] => format!("Only {} runs: {}.", name(only), rated(&only.answer.mean)),
        [first, second, ..] => compared(first, second),
    };
    let mut lines: Vec<String> = scenarios.iter().map(line).collect();
    let factors_of =
        |row: &&Scenario| factors(row.answer.mean.expected.provenance, &row.answer.basis);
    let mut told: Vec<String> = running.iter().map(factors_of).collect();
    told.dedup();
    lines.extend(told);
    Brief { sentence, lines }
}

fn runs(row: &Scenario) -> bool {
    row.answer.memory.verdict().may_fit() && !row.answer.link_unknown
}

fn name(row: &Scenario) -> String {
    let batch = row.inputs.workload.batch;
    let users = if batch == 1 { String::new() } else { format!(", batch {batch}") };
    format!("{}{users}", subject(&row.inputs, &row.answer))
}

/// The fastest scenario against the next one.
fn compared(first: &Scenario, second: &Scenario) -> String {
    let (own, other) = (&first.answer.mean, &second.answer.mean);
    let numbers = format!("{} against {}", rated(own), rated(other));
    let times = own.throughput().get() / other.throughput().get();
    if overlap(own, other) {
        return format!(
            "No clear difference in rate between {} and {}: {numbers}, within the intervals. {}",
            name(first),
            name(second),
            latencies(first, second)
        );
    }
    format!(
        "{} has the highest rate, {} times that of {}: {numbers}. {}",
        name(first),
        n::short(times, 3),
        name(second),
        latencies(first, second)
    )
}

/// The times of two scenarios in the order of their rates: to the first token and, of several tokens, to the last.
fn latencies(first: &Scenario, second: &Scenario) -> String {
    let both = |of: fn(&Estimate) -> &Expected| {
        [first, second].map(|row| timed(of(&row.answer))).join(" against ")
    };
    let whole = if [first, second].iter().all(|row| row.inputs.workload.new_tokens > 1) {
        format!(" Whole answer after {}.", both(|answer| &answer.end_to_end))
    } else {
        String::new()
    };
    format!("First token after {}.{whole}", both(|answer| &answer.ttft))
}

/// True if the intervals of two rates share a value.
fn overlap(a: &MeanToken, b: &MeanToken) -> bool {
    let rates = |token: &MeanToken| {
        [token.expected.high, token.expected.low].map(|time| rate(token, time).get())
    };
    let ([a_low, a_high], [b_low, b_high]) = (rates(a), rates(b));
    a_low <= b_high && b_low <= a_high
}

fn line(row: &Scenario) -> String {
    let fit = memory::fit_of(&row.inputs, &row.answer);
    let speed = if runs(row) {
        format!(" {}.", rated(&row.answer.mean))
    } else if row.answer.link_unknown {
        " The link between the devices is unknown.".to_owned()
    } else {
        String::new()
    };
    format!("{}: {}{fit}{speed}", name(row), limit(&row.inputs))
}
