//! The README's commands work: those of cargo xtask are parsed, those of ridgepoint are run, and others are refused. Its counts are checked.

use core::iter;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use super::{Outcome, Run, browser, counts};
use crate::arguments;
use crate::child::run;

const TEST_COMMAND: &str = "cargo xtask test";

/// Beginnings of commands that the README may name, apart from our own two programs.
const TRUSTED: [&str; 3] = ["git clone ", "cd ", "cargo install --path companion"];

pub(super) fn check(job: &Run) -> anyhow::Result<Outcome> {
    let text = fs::read_to_string(job.places.root.join("README.md")).context("README.md")?;
    let commands = commands_in(&text);
    if !commands.iter().any(|command| command == TEST_COMMAND) {
        bail!("README.md does not name the test command `{TEST_COMMAND}`");
    }
    let ci = fs::read_to_string(job.places.root.join(".ci/run")).context(".ci/run")?;
    check_ci(&ci)?;
    let ridgepoint = browser::ridgepoint_under_test(job.places)?;
    counts::check(&text, &ridgepoint, &job.places.root)?;
    for command in &commands {
        match kind_of(command)? {
            Kind::Understood => println!("understood: {command}"),
            Kind::Runnable => run_as_reader(command, &ridgepoint, &job.places.root)?,
        }
    }
    Ok(Outcome::Passed)
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Understood,
    Runnable,
}

fn kind_of(command: &str) -> anyhow::Result<Kind> {
    if let Some(words) = command.strip_prefix("cargo xtask ") {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        arguments::parse(&words).with_context(|| format!("README.md: `{command}`"))?;
        return Ok(Kind::Understood);
    }
    if command.starts_with("ridgepoint serve")
        || TRUSTED.iter().any(|start| command.starts_with(start))
    {
        return Ok(Kind::Understood);
    }
    if command.starts_with("ridgepoint ") {
        return Ok(Kind::Runnable);
    }
    bail!("README.md: nobody checks that `{command}` works; teach xtask/src/test/readme.rs");
}

/// In a shell, so that quotes, pipes and redirections mean what they mean to the reader.
fn run_as_reader(command: &str, ridgepoint: &Path, root: &Path) -> anyhow::Result<()> {
    let folder = ridgepoint.parent().context("a program lies in a folder")?.to_owned();
    let usual = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(iter::once(folder).chain(env::split_paths(&usual)))?;
    run(Command::new("sh").args(["-c", command]).env("PATH", path).current_dir(root))
}

/// The lines of the fenced shell blocks; a backslash at the end continues a line, a leading `$ ` is the prompt.
fn commands_in(markdown: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut in_shell = false;
    let mut begun = String::new();
    for line in markdown.lines().map(str::trim) {
        if let Some(language) = line.strip_prefix("```") {
            in_shell = ["sh", "bash", "shell", "console"].contains(&language);
        } else if in_shell && !line.is_empty() && !line.starts_with('#') {
            let line = line.strip_prefix("$ ").unwrap_or(line);
            match line.strip_suffix('\\') {
                Some(start) => begun.push_str(start),
                None => commands.push(core::mem::take(&mut begun) + line),
            }
        }
    }
    commands
}

/// CI runs what a reader would run, and nothing else.
fn check_ci(script: &str) -> anyhow::Result<()> {
    let is_command = |line: &&str| {
        !line.is_empty()
            && !line.starts_with('#')
            && !line.starts_with("set ")
            && !line.starts_with("cd ")
    };
    let commands: Vec<&str> = script.lines().map(str::trim).filter(is_command).collect();
    if commands != [TEST_COMMAND] {
        bail!(".ci/run must run `{TEST_COMMAND}` and nothing else, but runs {commands:?}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_blocks_are_read_and_others_are_not() {
        let text = "```sh\n$ cargo xtask serve\n\n# why\nridgepoint estimate \\\n  --batch 1\n```\n```json\n{}\n```\ntext\n";
        assert_eq!(commands_in(text), ["cargo xtask serve", "ridgepoint estimate --batch 1"]);
    }

    #[test]
    fn commands_that_nobody_checks_are_refused() {
        assert_eq!(kind_of("cargo xtask test --quick").unwrap(), Kind::Understood);
        assert_eq!(kind_of("ridgepoint models").unwrap(), Kind::Runnable);
        for wrong in ["cargo xtask tset", "curl x | sh", "ridgepointless"] {
            assert!(kind_of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ci_may_run_only_the_test_command() {
        assert!(check_ci("#!/usr/bin/env bash\nset -euo pipefail\ncd \"$(dirname \"$0\")/..\"\ncargo xtask test\n").is_ok());
        for wrong in [
            "cargo xtask test --quick\n",
            "cargo xtask test || true\n",
            "true\ncargo xtask test\n",
            "",
        ] {
            assert!(check_ci(wrong).is_err(), "{wrong}");
        }
    }
}
