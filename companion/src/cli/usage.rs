//! Turns the messages of the flag parser into one line.

use std::io::{self, Write};

use clap::error::ErrorKind;

use crate::failure::Failure;

/// Help and version go to stdout; everything else is bad input, as one line.
pub(super) fn answer(error: &clap::Error) -> Result<(), Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let mut out = io::stdout().lock();
            write!(out, "{error}")?;
            Ok(out.flush()?)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Failure::BadInput(without_verb(&error.to_string())))
        }
        _ => {
            let text = error.to_string();
            let hint = if lacks_dashes(error.kind(), &text) { DASHES } else { "" };
            Err(Failure::BadInput(format!("{}{hint}", one_line(&text))))
        }
    }
}

/// The sentence about a missing verb. `help` is what the parser shows in its place, of the program or of a verb with verbs of its own.
fn without_verb(help: &str) -> String {
    let usage = help.lines().find_map(|line| line.strip_prefix("Usage: ridgepoint ")).unwrap_or("");
    let mut command = super::command();
    let group = command.find_subcommand_mut(usage.split(' ').next().unwrap_or_default());
    let Some(group) = group.filter(|group| group.has_subcommands()) else {
        return "name a verb, such as estimate; `ridgepoint --help` lists them".to_owned();
    };
    let shown = group.get_subcommands().filter(|verb| !verb.is_hide_set());
    let verbs: Vec<&str> = shown.map(clap::Command::get_name).collect();
    let name = group.get_name();
    format!("name a verb of {name}: {}; `ridgepoint {name} --help` explains them", verbs.join(", "))
}

/// Hint that a command of `monitor` stands behind two dashes.
const DASHES: &str = "; write -- before the command, as in `ridgepoint monitor -- sleep 1`";

/// Whether `monitor` was given a command without the dashes before it, or none.
fn lacks_dashes(kind: ErrorKind, text: &str) -> bool {
    let is_word = kind == ErrorKind::UnknownArgument && !text.contains("unexpected argument '-");
    let is_command = is_word || kind == ErrorKind::MissingRequiredArgument;
    is_command && text.contains("\nUsage: ridgepoint monitor")
}

/// The message and its tips without the usage text that follows.
fn one_line(text: &str) -> String {
    let said = text
        .split("\nUsage:")
        .next()
        .unwrap_or_default()
        .split("\nFor more information")
        .next()
        .unwrap_or_default();
    let said = said.strip_prefix("error: ").unwrap_or(said);
    let mut line = String::new();
    for part in said.lines().map(str::trim).filter(|part| !part.is_empty()) {
        let joint = if line.is_empty() || line.ends_with(':') { "" } else { ";" };
        let blank = if line.is_empty() { "" } else { " " };
        line += &format!("{joint}{blank}{}", part.strip_prefix("tip: ").unwrap_or(part));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &str) -> String {
        let error =
            super::super::command().try_get_matches_from(words.split(' ')).expect_err("bad flags");
        one_line(&error.to_string())
    }

    #[test]
    fn a_misspelled_verb_suggests_the_right_one() {
        for (words, expected) in [
            (
                "ridgepoint estimate --hardwre t4",
                "unexpected argument '--hardwre' found; a similar argument exists: '--hardware'",
            ),
            (
                "ridgepoint estmate",
                "unrecognized subcommand 'estmate'; a similar subcommand exists: 'estimate'",
            ),
            (
                "ridgepoint hardware -o xml",
                "invalid value 'xml' for '--output <FORM>'; [possible values: table, json, jsonl, csv, md]",
            ),
        ] {
            assert_eq!(said(words), expected);
        }
    }
}
