//! `completions`: shell scripts that complete verbs, flags and keys.

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::output;

pub(super) fn command() -> Command {
    Command::new("completions")
        .about("Print the completions of verbs, flags and keys for a shell")
        .arg(
            Arg::new("shell")
                .value_name("SHELL")
                .value_parser(value_parser!(Shell))
                .required(true)
                .help("Shell"),
        )
        .after_help("Example:\n  ridgepoint completions bash > ~/.local/share/bash-completion/completions/ridgepoint")
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let Some(shell) = matches.get_one::<Shell>("shell") else { unreachable!("clap requires it") };
    let mut script = Vec::new();
    clap_complete::generate(*shell, &mut super::command(), "ridgepoint", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}
