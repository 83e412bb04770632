//! Who is fastest by how much, among all columns that run.

use calc_core::units::{Joules, Seconds, TokensPerSec};
use report::number_text as text;
use report::output::words::advice::{self, capital};

use super::super::delta::{Delta, Number, Quantity, Tone, delta, speed, times};
use super::reason::{REASON, why};
use super::{Runner, listed};

/// The sentence on the times of at least two columns, and its reason.
pub(super) fn race(runners: &[Runner<'_>]) -> (String, String) {
    let users = runners[0].found.users;
    let mut sorted = runners.to_vec();
    if runners.iter().any(|runner| runner.found.users != users) {
        sorted.sort_by(|a, b| b.rate().total_cmp(&a.rate()));
        return match sorted.as_slice() {
            [most, other] => (crowd(most, other), String::new()),
            all => (crowds(all), winners(all)),
        };
    }
    sorted.sort_by(|a, b| a.time().value.total_cmp(&b.time().value));
    match sorted.as_slice() {
        [fastest, other] => {
            (duel(fastest, other), both(&[trade(fastest, other), why(fastest, other)]))
        }
        all => (field(all), winners(all)),
    }
}

fn both(parts: &[String]) -> String {
    let parts: Vec<&str> =
        parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

/// Part of the request that the times are of.
fn part(runner: &Runner<'_>) -> &'static str {
    if runner.answered.new_tokens() > 1 { "the whole answer" } else { "a token" }
}

fn time_text(runner: &Runner<'_>) -> String {
    text::time(Seconds::new(runner.time().value))
}

/// The faster of two columns against the slower one.
fn duel(fastest: &Runner<'_>, other: &Runner<'_>) -> String {
    let (own, slower) = (fastest.time(), other.time());
    let [a, b] = [fastest, other].map(time_text);
    let what = part(fastest);
    match delta(Quantity::Time, &slower, &own) {
        None => format!("{} and {} are equally fast.", capital(fastest.name), other.name),
        Some(Delta { tone: Tone::Unclear, .. }) => format!(
            "No clear difference between {} and {}: {a} and {b} for {what}, within the intervals.",
            fastest.name, other.name
        ),
        Some(_) => format!(
            "{} is {} than {}: {a} against {b} for {what}.",
            capital(fastest.name),
            speed(own.value / slower.value, true),
            other.name
        ),
    }
}

/// The less of energy that the slower of two columns takes; empty if it takes no less.
fn trade(fastest: &Runner<'_>, other: &Runner<'_>) -> String {
    let energies = (fastest.answered.energy(), other.answered.energy());
    let (Some(more), Some(less)) = energies else { return String::new() };
    match delta(Quantity::Cost, &more, &less) {
        Some(Delta { tone: Tone::Better, .. }) => format!(
            "{} takes less energy for {}: {} against {}.",
            capital(other.name),
            part(other),
            text::energy(Joules::new(less.value)),
            text::energy(Joules::new(more.value))
        ),
        _ => String::new(),
    }
}

/// The fastest of three columns or more, with the times of all of them.
fn field(sorted: &[Runner<'_>]) -> String {
    let best = sorted[0].time();
    let is_level = |runner: &&Runner<'_>| {
        let found = delta(Quantity::Time, &best, &runner.time());
        found.is_none_or(|found| found.tone == Tone::Unclear)
    };
    let level = sorted.iter().take_while(is_level).count();
    let (first, others) = sorted.split_at(level.max(1));
    let names: Vec<String> = first.iter().map(|runner| runner.name.to_owned()).collect();
    let own: Vec<String> = first.iter().map(time_text).collect();
    let (names, own, what) = (listed(&names), listed(&own), part(&sorted[0]));
    if others.is_empty() {
        return format!(
            "No clear difference between {names}: {own} for {what}, within the intervals."
        );
    }
    let behind = others.iter().map(|runner| format!("{} for {}", time_text(runner), runner.name));
    let behind = listed(&behind.collect::<Vec<_>>());
    let verb = if level > 1 { "are equally fast and ahead" } else { "is the fastest" };
    format!("{} {verb}: {own} for {what}, against {behind}.", capital(&names))
}

/// Two scenarios with different numbers of users: the most tokens in all, and what each user gets.
fn crowd(most: &Runner<'_>, other: &Runner<'_>) -> String {
    let share = each(other) / each(most);
    let own = if share >= REASON {
        format!("each of them is {}", speed(share, false))
    } else {
        "each of them is no slower".to_owned()
    };
    format!(
        "{} {} {} the tokens per second of {} in all, and {own}: {} each.",
        capital(most.name),
        get(most),
        times(most.rate() / other.rate()),
        other.name,
        text::token_rate(TokensPerSec::new(each(most)))
    )
}

/// Three scenarios or more with different numbers of users, those with the most tokens in all first.
fn crowds(sorted: &[Runner<'_>]) -> String {
    let most = &sorted[0];
    let rate = |value: f64| text::token_rate(TokensPerSec::new(value));
    let others =
        sorted[1..].iter().map(|runner| format!("{} for {}", rate(runner.rate()), runner.name));
    let others = listed(&others.collect::<Vec<_>>());
    let served = sorted.iter().max_by(|a, b| each(a).total_cmp(&each(b))).unwrap_or(most);
    format!(
        "{} {} the most tokens in all: {}, against {others}; a user gets the most with {}: {}.",
        capital(most.name),
        get(most),
        rate(most.rate()),
        served.name,
        rate(each(served))
    )
}

/// Tokens per second of one user.
fn each(runner: &Runner<'_>) -> f64 {
    runner.rate() / runner.found.users as f64
}

fn get(runner: &Runner<'_>) -> &'static str {
    if runner.found.users > 1 { "get" } else { "gets" }
}

/// The columns with the least energy and the least loss, where that is clear.
fn winners(runners: &[Runner<'_>]) -> String {
    let all_known = runners.iter().all(|runner| runner.answered.energy().is_some());
    let what = part(&runners[0]);
    let energy = match winner(runners, |runner| runner.answered.energy()) {
        Some((name, number)) => {
            let energy = text::energy(Joules::new(number.value));
            format!("Least energy for {what}: {name}, {energy}.")
        }
        None if all_known => format!("No clear winner in energy for {what}."),
        None => String::new(),
    };
    let loss = winner(runners, |runner| {
        let loss = runner.found.quality;
        Some(Number { low: loss.low, ..Number::exact(loss.high) })
    });
    let loss = loss.and_then(|(name, _)| {
        let runner = runners.iter().find(|runner| runner.name == name)?;
        Some(format!("Least loss: {name}, {}.", advice::quality(&runner.found.quality)))
    });
    both(&[energy, loss.unwrap_or_default()])
}

/// The column with the least of something, if all have it and no other one has about as little.
fn winner<'a>(
    runners: &[Runner<'a>],
    number: impl Fn(&Runner<'a>) -> Option<Number>,
) -> Option<(&'a str, Number)> {
    let mut all: Vec<(&'a str, Number)> = Vec::new();
    for runner in runners {
        all.push((runner.name, number(runner)?));
    }
    all.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let [(name, least), (_, next), ..] = all.as_slice() else { return None };
    let found = delta(Quantity::Cost, least, next)?;
    (found.tone == Tone::Worse).then(|| (*name, least.clone()))
}
