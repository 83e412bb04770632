//! The command line: verbs and flags in, an answer on stdout or one line on stderr out. What an answer says is in `report`.

mod analyze;
pub(crate) mod api;
mod bench;
mod calibrate;
mod catalog;
mod check;
mod compare;
mod completions;
mod doctor;
mod estimate;
mod files;
mod flags;
mod keys;
mod lines;
mod listen;
mod man;
mod merge;
mod output;
mod pair;
mod plot;
mod recommend;
mod requests;
mod schedule;
mod serve;
mod sheet;
mod socket;
mod state;
mod sweep;
mod tiling;
mod usage;
mod validate;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{ArgMatches, Command};
use report::request::RequestError;

use crate::server::interrupt;

/// Where every message of the daemon has its entry; in a checkout and in the archive of a release.
const TROUBLESHOOTING: &str = "docs/guides/troubleshooting.md";

/// Why a command ends without its answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The user asked for something that cannot be: exit code 2.
    BadInput(String),
    /// The answer is printed, and a threshold that the user gave is not met: exit code 4.
    NotMet(String),
    /// The user may not, or must not: exit code 5.
    Permission(String),
    /// There is no such device, or no driver for it: exit code 3.
    NoDevice(String),
    /// The system did not do what it should: exit code 1.
    Failed(String),
    /// Nobody reads on, as after `| head`: no failure at all.
    NobodyReads,
}

impl Failure {
    fn bad(line: impl Into<String>) -> Self {
        Self::BadInput(line.into())
    }

    /// The same, with the page that has an entry for every message of the daemon.
    fn with_page(self) -> Self {
        let with = |line: String| format!("{line} (see {TROUBLESHOOTING})");
        match self {
            Self::BadInput(line) => Self::BadInput(with(line)),
            Self::Permission(line) => Self::Permission(with(line)),
            Self::Failed(line) => Self::Failed(with(line)),
            other @ (Self::NotMet(_) | Self::NoDevice(_) | Self::NobodyReads) => other,
        }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Self::BadInput(error.to_string())
    }
}

impl From<calc_core::error::Error> for Failure {
    fn from(error: calc_core::error::Error) -> Self {
        RequestError::from(error).into()
    }
}

/// Errors of reading stdin and writing stdout; those of named files are sentences already.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::Failed(format!("cannot pass on the answer: {error}")),
        }
    }
}

/// Runs a command line.
pub(crate) fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    let done = match command().try_get_matches_from(words) {
        Ok(matches) => run(&matches),
        Err(error) => usage::answer(&error),
    };
    match done {
        Ok(()) | Err(Failure::NobodyReads) => ExitCode::SUCCESS,
        Err(Failure::BadInput(line)) => complain(&line, 2),
        Err(Failure::NoDevice(line)) => complain(&line, 3),
        Err(Failure::NotMet(line)) => complain(&line, 4),
        Err(Failure::Failed(line)) => complain(&line, 1),
        Err(Failure::Permission(line)) => complain(&line, 5),
    }
}

fn complain(line: &str, code: u8) -> ExitCode {
    // Nobody may be there to read the complaint; the exit code says it too.
    let _ = writeln!(io::stderr(), "error: {}", output::clipped(&output::one_line(line)));
    ExitCode::from(code)
}

fn command() -> Command {
    Command::new("ridgepoint")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Roofline calculator for LLM inference: time, memory and energy of operators and models on real devices")
        .after_help(
            "Example:\n  ridgepoint estimate --hardware jetson_orin_nano_8gb_super --model llama-3.1-8b \\\n    \
             --weights int4_g128 --batch 1 --prompt 512 --context 4096\n\n\
             Exit codes: 0 ok, 1 failure, 2 usage or bad input, 3 no such device, 4 threshold not met, 5 permission, 130 interrupted.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(100)
        .subcommands(vec![
            catalog::hardware(),
            catalog::models(),
            catalog::formats(),
            analyze::command(),
            estimate::command(),
            recommend::command(),
            schedule::command(),
            sweep::command(),
            merge::command(),
            tiling::command(),
            compare::command(),
            validate::command(),
            calibrate::command(),
            bench::command(),
            check::command(),
            plot::command(),
            serve::command(),
            pair::command(),
            keys::command(),
            doctor::command(),
            Command::new("worker").hide(true).about("The process of one job; the daemon starts it").after_help("Example:\n  ridgepoint worker"),
            completions::command(),
            man::command(),
        ])
}

fn run(matches: &ArgMatches) -> Result<(), Failure> {
    // The daemon ends in its own time, and tells its sessions; its workers end with it.
    if !matches!(matches.subcommand_name(), Some("serve" | "worker")) {
        interrupt::exits_with_130();
    }
    match matches.subcommand() {
        Some(("hardware", matches)) => catalog::run_hardware(matches),
        Some(("models", matches)) => catalog::run_models(matches),
        Some(("formats", matches)) => catalog::run_formats(matches),
        Some(("analyze", matches)) => requests::run(requests::Verb::Analyze, matches),
        Some(("estimate", matches)) => requests::run(requests::Verb::Estimate, matches),
        Some(("recommend", matches)) => recommend::run(matches),
        Some(("schedule", matches)) => schedule::run(matches),
        Some(("sweep", matches)) => sweep::run(matches),
        Some(("merge", matches)) => merge::run(matches),
        Some(("tiling", matches)) => tiling::run(matches),
        Some(("compare", matches)) => compare::run(matches),
        Some(("validate", matches)) => validate::run(matches),
        Some(("calibrate", matches)) => calibrate::run(matches),
        Some(("bench", matches)) => bench::run(matches),
        Some(("check", matches)) => check::run(matches),
        Some(("plot", matches)) => plot::run(matches),
        Some(("serve", matches)) => serve::exit(serve::run(matches).map_err(Failure::with_page)?),
        Some(("pair", matches)) => pair::run(matches).map_err(Failure::with_page),
        Some(("keys", matches)) => keys::run(matches).map_err(Failure::with_page),
        Some(("doctor", matches)) => doctor::run(matches),
        Some(("worker", _)) => serve::worker(),
        Some(("completions", matches)) => completions::run(matches),
        Some(("man", matches)) => man::run(matches),
        other => unreachable!("clap lets only known verbs through, not {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_do_not_contradict_each_other() {
        command().debug_assert();
    }

    #[test]
    fn keys_in_examples_exist() {
        use calc_core::catalog::{device, format, model};
        for verb in command().get_subcommands() {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            // Examples are indented, text is not.
            let examples: String = help.lines().filter(|line| line.starts_with("  ")).collect();
            for (flag, known) in [
                ("--hardware ", (|key| key == "any" || device(key).is_ok()) as fn(&str) -> bool),
                ("--model ", |key| model(key).is_ok()),
                ("--weights ", |key| format(key).is_ok()),
            ] {
                let words =
                    examples.split(flag).skip(1).filter_map(|rest| rest.split_whitespace().next());
                for key in
                    words.flat_map(|word| word.split(',')).filter(|key| !key.contains(".json"))
                {
                    assert!(known(key), "{flag}{key} in {}", verb.get_name());
                }
            }
        }
    }

    #[test]
    fn every_verb_has_an_example() {
        for verb in command().get_subcommands() {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(
                help.contains(&format!("ridgepoint {}", verb.get_name())),
                "{}",
                verb.get_name()
            );
        }
    }
}
