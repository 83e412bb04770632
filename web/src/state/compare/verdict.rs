//! The verdict of a comparison: who wins by how much, and why.

use calc_core::lowering::Phase;
use calc_core::recommend::{Outcome, RankedPart};
use calc_core::roofline::Bound;
use calc_core::units::{Seconds, TokensPerSec};
use report::number_text as text;
use report::output::words::{advice::capital, memory};

use super::super::plan::InCards;
use super::delta::{Number, Quantity, Tone, delta, speed, times};
use super::{Column, ScenarioAnswer, rows};

/// Ratio from which a roof or a traffic is named as a reason.
const REASON: f64 = 1.05;

/// A column that runs.
#[derive(Clone, Copy)]
struct Runner<'a> {
    name: &'a str,
    answered: &'a ScenarioAnswer,
    found: &'a InCards,
}

impl Runner<'_> {
    fn outcome(&self) -> &Outcome {
        &self.found.outcome
    }

    /// The compared time: the whole answer, or of a single token its own.
    fn time(&self) -> Number {
        let outcome = self.outcome();
        let expected = if rows::new_tokens(self.answered) > 1 {
            outcome.whole
        } else {
            outcome.token.expected
        };
        let [value, low, high] = [expected.time, expected.low, expected.high].map(Seconds::get);
        Number { value, low, high }
    }
}

/// The sentence and the line below it; both empty if no column can be read.
pub(super) fn verdict(columns: &[Column]) -> (String, String) {
    let answered: Vec<(&str, &ScenarioAnswer)> = columns
        .iter()
        .filter_map(|column| Some((column.name.as_str(), &**column.answered.as_ref().ok()?)))
        .collect();
    let mut runners: Vec<Runner<'_>> = answered
        .iter()
        .filter_map(|&(name, answered)| Some(Runner { name, answered, found: answered.running()? }))
        .collect();
    let stopped = stopped(&answered);
    match (runners.as_slice(), answered.as_slice()) {
        (_, []) => (String::new(), String::new()),
        (_, [(_, single)]) => {
            (single.shown.answer.sentence.clone(), single.shown.answer.line.clone())
        }
        ([], _) => ("None of these scenarios runs.".to_owned(), stopped),
        ([only], _) => (alone(only, &answered), stopped),
        _ => {
            let first = runners[0];
            runners.sort_by(|a, b| a.time().value.total_cmp(&b.time().value));
            let (sentence, why) = race(&runners, first);
            (
                sentence,
                [why, stopped]
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        }
    }
}

/// The only column that runs, with what the others lack.
fn alone(only: &Runner<'_>, answered: &[(&str, &ScenarioAnswer)]) -> String {
    let others = answered.iter().filter(|(_, answered)| answered.running().is_none());
    let mut outcomes = others.filter_map(|(_, answered)| answered.in_cards());
    let verb = if outcomes.all(|found| found.outcome.memory > found.outcome.usable.bytes) {
        "fits"
    } else {
        "runs"
    };
    format!("Only {} {verb}: {}.", only.name, speed_of(only))
}

fn speed_of(runner: &Runner<'_>) -> String {
    let rate = runner.found.users as f64 / runner.outcome().token.expected.time.get();
    let all = if runner.found.users > 1 { " in all" } else { "" };
    format!("{}{all}", text::token_rate(TokensPerSec::new(rate)))
}

/// Why the columns without a speed have none, a sentence for each.
fn stopped(answered: &[(&str, &ScenarioAnswer)]) -> String {
    let without = answered.iter().filter(|(_, answered)| answered.running().is_none());
    let said = without.map(|(name, answered)| match answered.in_cards() {
        Some(found) if found.outcome.memory > found.outcome.usable.bytes => {
            let (needs, usable) = (found.outcome.memory, found.outcome.usable.bytes);
            format!("{} does not fit: {}.", capital(name), memory::shortage(needs - usable, usable))
        }
        Some(_) => format!("{}: {}", capital(name), answered.no_speed()),
        None => format!("{}: {}", capital(name), answered.shown.answer.line),
    });
    said.collect::<Vec<_>>().join(" ")
}

/// The fastest against the first column, or against the next one if it is the first; with its reason.
fn race(sorted: &[Runner<'_>], first: Runner<'_>) -> (String, String) {
    let users = |runner: &Runner<'_>| runner.found.users;
    if sorted.iter().any(|runner| users(runner) != users(&first)) {
        return crowd(sorted);
    }
    let fastest = sorted[0];
    let is_first = core::ptr::eq(fastest.answered, first.answered);
    let other = if is_first { sorted[1] } else { first };
    let found = delta(Quantity::Time, &other.time(), &fastest.time());
    let (a, b) = (fastest.time().value, other.time().value);
    let both = [a, b].map(|time| text::time(Seconds::new(time)));
    let what = if rows::new_tokens(fastest.answered) > 1 { "the whole answer" } else { "a token" };
    let sentence = match found {
        None => format!("{} and {} are equally fast.", capital(fastest.name), other.name),
        Some(delta) if delta.tone == Tone::Unclear => format!(
            "No clear difference between {} and {}: {} and {} for {what}, within the intervals.",
            fastest.name, other.name, both[0], both[1]
        ),
        Some(_) => format!(
            "{} is {} than {}: {} against {} for {what}.",
            capital(fastest.name),
            speed(a / b, true),
            other.name,
            both[0],
            both[1]
        ),
    };
    (sentence, why(&fastest, &other))
}

/// Scenarios with different numbers of users: the most tokens in all, and what each user gets.
fn crowd(sorted: &[Runner<'_>]) -> (String, String) {
    let rate = |runner: &Runner<'_>| {
        runner.found.users as f64 / runner.outcome().token.expected.time.get()
    };
    let mut by_rate: Vec<Runner<'_>> = sorted.to_vec();
    by_rate.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    let (most, other) = (by_rate[0], by_rate[1]);
    let each = |runner: &Runner<'_>| rate(runner) / runner.found.users as f64;
    let share = each(&other) / each(&most);
    let own = if share >= REASON {
        format!("each of them is {}", speed(share, false))
    } else {
        "each of them is no slower".to_owned()
    };
    let get = if most.found.users > 1 { "get" } else { "gets" };
    let sentence = format!(
        "{} {get} {} the tokens per second of {} in all, and {own}: {} each.",
        capital(most.name),
        times(rate(&most) / rate(&other)),
        other.name,
        text::token_rate(TokensPerSec::new(each(&most)))
    );
    (sentence, String::new())
}

/// The roof or the traffic that makes the difference, for the part that takes longest.
fn why(fastest: &Runner<'_>, other: &Runner<'_>) -> String {
    let estimate = |runner: &Runner<'_>| runner.answered.shown.model.answer.estimate.clone();
    let (fast, slow) = (estimate(fastest), estimate(other));
    let part =
        if rows::new_tokens(other.answered) > 1 { RankedPart::Whole } else { RankedPart::Decode };
    let (step, bound) = match other.outcome().longer_phase(part) {
        Phase::Prefill => ("the prompt", slow.prefill.expected_bound),
        Phase::Decode => ("decode", slow.middle.expected_bound),
    };
    if bound == Bound::Compute {
        let [a, b] = [fast.paths.layer, slow.paths.layer];
        let ratio = a.peak / b.peak;
        if ratio < REASON {
            return String::new();
        }
        return format!(
            "Most of the time {step} waits for arithmetic, which runs at up to {} instead of {} ({} as much).",
            text::published_rate(a.peak, a.class),
            text::published_rate(b.peak, b.class),
            times(ratio)
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
