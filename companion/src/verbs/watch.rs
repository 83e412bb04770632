//! `--watch`: readings that a verb repeats until Ctrl-C, and the forms that they can have.

use clap::{Arg, ArgAction, ArgMatches};

use crate::failure::Failure;
use crate::output::Form;

pub(super) fn argument() -> Arg {
    Arg::new("watch").long("watch").action(ArgAction::SetTrue).help(
        "Read again and again until Ctrl-C, which ends it with exit code 0; forms: table, jsonl",
    )
}

/// Whether these flags read until Ctrl-C.
pub(super) fn is_endless(matches: &ArgMatches) -> bool {
    matches.get_flag("watch")
}

/// The form of the readings.
///
/// # Errors
/// A form that has no end while readings go on.
pub(super) fn form(matches: &ArgMatches) -> Result<Form, Failure> {
    if is_endless(matches) { endless_form(matches, "--watch") } else { Ok(Form::of(matches)) }
}

/// The form of readings that have no end, which `what` asks for.
///
/// # Errors
/// A form that has no end while readings go on.
pub(super) fn endless_form(matches: &ArgMatches, what: &str) -> Result<Form, Failure> {
    match Form::of(matches) {
        form @ (Form::Table | Form::Jsonl) => Ok(form),
        _ => Err(Failure::bad(format!(
            "{what} writes a table or, with -o jsonl, a line per reading"
        ))),
    }
}
