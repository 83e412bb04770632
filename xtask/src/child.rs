//! Running other programs: each is shown before it runs, and a failure says how to repeat it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::{Context, bail};

use crate::places::Places;

/// The cargo that runs us, in the checkout, building into the cache.
pub(crate) fn cargo(places: &Places) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(&places.root).env("CARGO_TARGET_DIR", &places.target);
    command
}

/// Shows the command, runs it with our input and output, and fails if it fails.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    println!("$ {}", short_line(command));
    let status = command.status().with_context(|| cannot_start(command))?;
    fail_unless_ok(command, status)
}

/// Runs the command quietly and returns what it printed.
pub(crate) fn printed_by(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| cannot_start(command))?;
    if !output.status.success() {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
    }
    fail_unless_ok(command, output.status)?;
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{}` printed something else than UTF-8", short_line(command)))
}

/// The first of these programs that `PATH` has.
pub(crate) fn find_program(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let candidates = names.iter().flat_map(|name| {
        folders.iter().map(move |folder| folder.join(format!("{name}{}", env::consts::EXE_SUFFIX)))
    });
    candidates.into_iter().find(|candidate| candidate.is_file())
}

fn fail_unless_ok(command: &Command, status: ExitStatus) -> anyhow::Result<()> {
    if !status.success() {
        bail!("a command failed ({status}); to repeat it:\n    {}", full_line(command));
    }
    Ok(())
}

fn cannot_start(command: &Command) -> String {
    format!(
        "`{}` could not be started; is it installed and in PATH?",
        command.get_program().to_string_lossy()
    )
}

/// The command as a reader would type it.
pub(crate) fn short_line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = core::iter::once(program).chain(command.get_args());
    words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// The command with its folder and settings, to be pasted into a shell.
fn full_line(command: &Command) -> String {
    let folder = command
        .get_current_dir()
        .map(|folder| format!("cd {} && ", quoted(&folder.to_string_lossy())));
    let settings = command.get_envs().filter_map(|(name, value)| {
        let value = value?;
        Some(format!("{}={} ", name.to_string_lossy(), quoted(&value.to_string_lossy())))
    });
    format!("{}{}{}", folder.unwrap_or_default(), settings.collect::<String>(), short_line(command))
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,@+".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_how_to_repeat_it() {
        let mut command = Command::new("false");
        command.args(["a b", "it's"]).env("X", "1 2").current_dir("/");
        let message = run(&mut command).unwrap_err().to_string();
        assert!(message.contains(r"cd / && X='1 2' false 'a b' 'it'\''s'"), "{message}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&mut Command::new("no-such-program")).unwrap_err();
        assert!(format!("{error:#}").contains("`no-such-program` could not be started"));
    }
}
