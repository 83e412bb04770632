//! Who is fastest by how much, among all columns that run.

use calc_core::units::{Joules, Seconds, TokensPerSec};
use report::number_text as text;
use report::output::words::advice::{self, capital};

use super::super::delta::{ComparedNumber, Delta, Quantity, Tone, delta, speed, times};
use super::reason::{REASON, why};
use super::{RunningColumn, listed};

/// The sentence on the times of at least two columns, and its reason.
pub(super) fn speeds(running: &[RunningColumn<'_>]) -> (String, String) {
    let users = running[0].found.users;
    let mut sorted = running.to_vec();
    if running.iter().any(|column| column.found.users != users) {
        sorted.sort_by(|a, b| b.rate().total_cmp(&a.rate()));
        return match sorted.as_slice() {
            [most, other] => (two_throughputs(most, other), String::new()),
            all => (throughputs(all), winners(all)),
        };
    }
    sorted.sort_by(|a, b| a.time().value.total_cmp(&b.time().value));
    match sorted.as_slice() {
        [fastest, other] => {
            (two_times(fastest, other), both(&[trade(fastest, other), why(fastest, other)]))
        }
        all => (all_times(all), winners(all)),
    }
}

fn both(parts: &[String]) -> String {
    let parts: Vec<&str> =
        parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

/// Part of the request that the times are of.
fn part(column: &RunningColumn<'_>) -> &'static str {
    if column.answered.new_tokens() > 1 { "the whole answer" } else { "a token" }
}

fn time_text(column: &RunningColumn<'_>) -> String {
    text::time(Seconds::new(column.time().value))
}

/// The faster of two columns against the slower one.
fn two_times(fastest: &RunningColumn<'_>, other: &RunningColumn<'_>) -> String {
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
fn trade(fastest: &RunningColumn<'_>, other: &RunningColumn<'_>) -> String {
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
fn all_times(sorted: &[RunningColumn<'_>]) -> String {
    let best = sorted[0].time();
    let is_level = |column: &&RunningColumn<'_>| {
        let found = delta(Quantity::Time, &best, &column.time());
        found.is_none_or(|found| found.tone == Tone::Unclear)
    };
    let level = sorted.iter().take_while(is_level).count();
    let (first, others) = sorted.split_at(level.max(1));
    let names: Vec<String> = first.iter().map(|column| column.name.to_owned()).collect();
    let own: Vec<String> = first.iter().map(time_text).collect();
    let (names, own, what) = (listed(&names), listed(&own), part(&sorted[0]));
    if others.is_empty() {
        return format!(
            "No clear difference between {names}: {own} for {what}, within the intervals."
        );
    }
    let behind = others.iter().map(|column| format!("{} for {}", time_text(column), column.name));
    let behind = listed(&behind.collect::<Vec<_>>());
    let verb = if level > 1 { "are ahead and cannot be told apart" } else { "is the fastest" };
    format!("{} {verb}: {own} for {what}, against {behind}.", capital(&names))
}

/// Two scenarios with different numbers of users: the most tokens in all, and what each user gets.
fn two_throughputs(most: &RunningColumn<'_>, other: &RunningColumn<'_>) -> String {
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
fn throughputs(sorted: &[RunningColumn<'_>]) -> String {
    let most = &sorted[0];
    let rate = |value: f64| text::token_rate(TokensPerSec::new(value));
    let others =
        sorted[1..].iter().map(|column| format!("{} for {}", rate(column.rate()), column.name));
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
fn each(column: &RunningColumn<'_>) -> f64 {
    column.rate() / column.found.users as f64
}

fn get(column: &RunningColumn<'_>) -> &'static str {
    if column.found.users > 1 { "get" } else { "gets" }
}

/// The columns with the least energy and the least loss, where that is clear.
fn winners(running: &[RunningColumn<'_>]) -> String {
    let all_known = running.iter().all(|column| column.answered.energy().is_some());
    let what = part(&running[0]);
    let energy = match winner(running, |column| column.answered.energy()) {
        Some((name, number)) => {
            let energy = text::energy(Joules::new(number.value));
            format!("Least energy for {what}: {name}, {energy}.")
        }
        None if all_known => format!("No clear winner in energy for {what}."),
        None => String::new(),
    };
    let loss = winner(running, |column| {
        let loss = column.found.quality;
        Some(ComparedNumber { low: loss.low, ..ComparedNumber::exact(loss.high) })
    });
    let loss = loss.and_then(|(name, _)| {
        let column = running.iter().find(|column| column.name == name)?;
        Some(format!("Least loss: {name}, {}.", advice::quality(&column.found.quality)))
    });
    both(&[energy, loss.unwrap_or_default()])
}

/// The column with the least of something, if all have it and no other one has about as little.
fn winner<'a>(
    running: &[RunningColumn<'a>],
    number: impl Fn(&RunningColumn<'a>) -> Option<ComparedNumber>,
) -> Option<(&'a str, ComparedNumber)> {
    let mut all: Vec<(&'a str, ComparedNumber)> = Vec::new();
    for column in running {
        all.push((column.name, number(column)?));
    }
    all.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let [(name, least), (_, next), ..] = all.as_slice() else { return None };
    let found = delta(Quantity::Cost, least, next)?;
    (found.tone == Tone::Worse).then(|| (*name, least.clone()))
}
