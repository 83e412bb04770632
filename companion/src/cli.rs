//! The command line: parses the verb and its flags, runs it, and turns a failure into one line on stderr and an exit code. Here are
//! the verbs of the daemon and of the shell; those that calculate and measure are in `verbs`.

mod completions;
mod doctor;
mod keys;
mod link;
mod listen;
mod man;
mod mcp;
mod pair;
mod serve;
mod socket;
mod state;
mod usage;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgMatches, Command};

use crate::failure::Failure;
use crate::measure::gpus;
use crate::verbs::CUDA_LIBS;
use crate::{output, verbs};

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
    // stderr may be closed; the exit code carries the failure too.
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
             Exit codes: 0 ok, 1 failure, 2 usage or bad input, 3 no such device or program, 4 threshold not met, 5 permission, 130 interrupted.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(100)
        .subcommands(verbs::commands())
        .subcommands([
            serve::command(),
            pair::command(),
            keys::command(),
            doctor::command(),
            mcp::command(),
            Command::new("worker").hide(true).about("Worker process of one job; started by the daemon").after_help("Example:\n  ridgepoint worker"),
            Command::new(gpus::VERB).hide(true).about("Lists the GPUs with CUDA; started by the daemon").after_help("Example:\n  ridgepoint list-gpus"),
            Command::new("read-engine").hide(true).about("Reads an inference server for a session; started by the daemon").after_help("Example:\n  ridgepoint read-engine"),
            completions::command(),
            man::command(),
        ])
}

fn run(matches: &ArgMatches) -> Result<(), Failure> {
    gpus::look_in(cuda_libs(matches)?);
    // The daemon shuts down by itself: it notifies its sessions, and its workers end with it.
    match matches.subcommand() {
        Some(("serve" | "worker" | "read-engine" | gpus::VERB, _)) => {}
        Some((verb, matches)) => verbs::listen_for_interrupts(verb, matches),
        None => unreachable!("clap requires a verb"),
    }
    match matches.subcommand() {
        Some(("serve", matches)) => serve::exit(serve::run(matches).map_err(Failure::with_page)?),
        Some(("pair", matches)) => pair::run(matches).map_err(Failure::with_page),
        Some(("keys", matches)) => keys::run(matches).map_err(Failure::with_page),
        Some(("doctor", matches)) => doctor::run(matches),
        Some(("mcp", matches)) => mcp::run(matches),
        Some(("worker", _)) => serve::worker(),
        Some((gpus::VERB, _)) => {
            writeln!(io::stdout(), "{}", gpus::print()).map_err(|_| Failure::NobodyReads)
        }
        Some(("read-engine", _)) => verbs::read_engine(),
        Some(("completions", matches)) => completions::run(matches),
        Some(("man", matches)) => man::run(matches),
        Some((verb, matches)) => verbs::run(verb, matches),
        None => unreachable!("clap requires a verb"),
    }
}

/// The folders of `--cuda-libs`, of whichever verb has them.
fn cuda_libs(matches: &ArgMatches) -> Result<Vec<PathBuf>, Failure> {
    let mut of_verb = matches;
    let mut folders: Vec<PathBuf> = Vec::new();
    while let Some((_, inner)) = of_verb.subcommand() {
        if let Ok(Some(given)) = inner.try_get_many::<PathBuf>(CUDA_LIBS) {
            folders = given.cloned().collect();
        }
        of_verb = inner;
    }
    let absolute = |folder: PathBuf| {
        let known = folder.canonicalize().ok().filter(|folder| folder.is_dir());
        known.ok_or_else(|| {
            Failure::bad(format!("--{CUDA_LIBS}: {} is no folder", folder.display()))
        })
    };
    folders.into_iter().map(absolute).collect()
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
            // Example lines are indented; prose lines are not.
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

    #[test]
    fn the_description_for_models_lists_every_verb() {
        let description = include_str!("../../docs/llms.txt");
        let line = description.lines().find_map(|line| line.split_once("the verbs are "));
        let (_, listed) = line.expect("a line with the verbs");
        let listed: Vec<&str> = listed.trim_end_matches('.').split(", ").collect();
        let command = super::command();
        let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
        let verbs: Vec<&str> = verbs.map(clap::Command::get_name).collect();
        assert_eq!(verbs.len(), listed.len(), "{listed:?}");
        assert!(verbs.iter().all(|verb| listed.contains(verb)), "{verbs:?} {listed:?}");
    }
}
