//! The verdict of a comparison: which columns run, and who wins by how much.

mod reason;
mod speeds;

use calc_core::recommend::Outcome;
use calc_core::units::TokensPerSec;
use report::number_text as text;
use report::output::words::{
    advice::{capital, scheme_name},
    memory,
};

use super::super::plan::CardScheme;
use super::delta::ComparedNumber;
use super::room::UserRoom;
use super::{CompareColumn, ScenarioAnswer, schemes};

/// A column that runs.
#[derive(Clone, Copy)]
struct RunningColumn<'a> {
    name: &'a str,
    answered: &'a ScenarioAnswer,
    found: &'a CardScheme,
}

impl RunningColumn<'_> {
    fn outcome(&self) -> &Outcome {
        &self.found.outcome
    }

    /// The compared time; a column that runs has one.
    fn time(&self) -> ComparedNumber {
        self.answered.time().unwrap_or(ComparedNumber::exact(f64::INFINITY))
    }

    /// Tokens per second of all users.
    fn rate(&self) -> f64 {
        self.found.users as f64 / self.outcome().token.expected.time.get()
    }
}

/// The sentence and the line below it; both empty if no column can be read.
pub(super) fn verdict(columns: &[CompareColumn]) -> (String, String) {
    let answered: Vec<(&str, &ScenarioAnswer)> = columns
        .iter()
        .filter_map(|column| Some((column.name.as_str(), &**column.answered.as_ref().ok()?)))
        .collect();
    let running: Vec<RunningColumn<'_>> = answered
        .iter()
        .filter_map(|&(name, answered)| {
            Some(RunningColumn { name, answered, found: answered.running()? })
        })
        .collect();
    let stopped = stopped(&answered);
    match (running.as_slice(), answered.as_slice()) {
        (_, []) => (String::new(), String::new()),
        (_, [(_, single)]) => {
            (single.shown.answer.sentence.clone(), single.shown.answer.line.clone())
        }
        ([], _) => ("None of these scenarios runs.".to_owned(), stopped),
        ([only], _) => (alone(only, &answered), stopped),
        _ => {
            let (sentence, why) = speeds::speeds(&running);
            let (sentence, taken) = with_schemes(sentence, &running);
            let line: Vec<String> =
                [taken, why, stopped].into_iter().filter(|part| !part.is_empty()).collect();
            (sentence, line.join(" "))
        }
    }
}

/// The sentence, and which scheme each column takes, if the columns did not ask for different ones.
fn with_schemes(sentence: String, running: &[RunningColumn<'_>]) -> (String, String) {
    let answered: Vec<&ScenarioAnswer> = running.iter().map(|column| column.answered).collect();
    if !schemes::differ(&answered) {
        return (sentence, String::new());
    }
    let sentence = sentence.strip_suffix('.').unwrap_or(&sentence);
    let taken = running.iter().map(|column| {
        let scheme = scheme_name(column.found.scheme);
        format!("{} with {scheme}", column.name)
    });
    (
        format!("{sentence}, each in the scheme that is best for it."),
        format!("{}.", capital(&listed(&taken.collect::<Vec<_>>()))),
    )
}

/// The only column that runs, after those that do not.
fn alone(only: &RunningColumn<'_>, answered: &[(&str, &ScenarioAnswer)]) -> String {
    let others: Vec<&(&str, &ScenarioAnswer)> =
        answered.iter().filter(|(_, answered)| answered.running().is_none()).collect();
    let names: Vec<String> = others.iter().map(|(name, _)| (*name).to_owned()).collect();
    let verb = if others.iter().all(|(_, answered)| answered.is_short()) { "fit" } else { "run" };
    let many = names.len() > 1 || is_plural(&names[0]);
    let (not, does) = (
        if many { "do not" } else { "does not" },
        if is_plural(only.name) { "do" } else { "does" },
    );
    format!("{} {not} {verb}, {} {does}: {}.", capital(&listed(&names)), only.name, speed_of(only))
}

/// True for a name such as `16 users`.
fn is_plural(name: &str) -> bool {
    name.ends_with("users")
}

/// Names or phrases in a row: `a, b and c`.
fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

fn speed_of(column: &RunningColumn<'_>) -> String {
    let all = if column.found.users > 1 { " in all" } else { "" };
    format!("{}{all}", text::token_rate(TokensPerSec::new(column.rate())))
}

/// Why the columns without a speed have none, a sentence for each.
fn stopped(answered: &[(&str, &ScenarioAnswer)]) -> String {
    let without = answered.iter().filter(|(_, answered)| answered.running().is_none());
    let said = without.map(|(name, answered)| {
        let name = capital(name);
        match (answered.in_cards(), answered.room) {
            (Some(found), _) if answered.is_short() => {
                let (needs, usable) = (found.outcome.memory, found.outcome.usable.bytes);
                let verb = if is_plural(&name) { "do" } else { "does" };
                format!("{name} {verb} not fit: {}.", memory::shortage(needs - usable, usable))
            }
            (Some(_), _) => format!("{name}: {}.", answered.no_speed()),
            (None, Some(room)) if answered.is_short() => {
                format!("{} {}", most_users(answered, room), answered.shown.answer.line)
            }
            (None, _) => format!("{name}: {}", answered.shown.answer.line),
        }
    });
    said.collect::<Vec<_>>().join(" ")
}

/// How many users fit at the length of a scenario.
fn most_users(answered: &ScenarioAnswer, UserRoom { users, scheme }: UserRoom) -> String {
    let tokens = text::count(answered.shown.model.answer.memory.workload.longest());
    let user = if users == 1 { "user" } else { "users" };
    format!(
        "{} has room for {} {user} with {tokens} tokens each.",
        scheme_name(scheme),
        text::count(users)
    )
}
