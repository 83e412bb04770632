//! The README's commands work: those of cargo xtask are parsed, those of ridgepoint are run, and others are refused. Its counts are checked.

use core::iter;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use super::{Outcome, Run, browser, counts};
use crate::arguments;
use crate::child::printed_by;

const TEST_COMMAND: &str = "cargo xtask test";

/// Beginnings of commands that the README may name, apart from our own two programs.
const TRUSTED: [&str; 3] = ["git clone ", "cd ", "cargo install --path companion"];

pub(super) fn check(job: &Run) -> anyhow::Result<Outcome> {
    let text = fs::read_to_string(job.places.root.join("README.md")).context("README.md")?;
    let examples = examples_in(&text);
    if !examples.iter().any(|example| example.command == TEST_COMMAND) {
        bail!("README.md does not name the test command `{TEST_COMMAND}`");
    }
    let ci = fs::read_to_string(job.places.root.join(".ci/run")).context(".ci/run")?;
    check_ci(&ci)?;
    let ridgepoint = browser::ridgepoint_under_test(job.places)?;
    counts::check(&text, &ridgepoint, &job.places.root)?;
    for Example { command, shown } in &examples {
        match kind_of(command)? {
            Kind::Understood => println!("understood: {command}"),
            Kind::Runnable => {
                let printed = printed_to_reader(command, &ridgepoint, &job.places.root)?;
                compare(command, shown, &printed)?;
            }
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
fn printed_to_reader(command: &str, ridgepoint: &Path, root: &Path) -> anyhow::Result<String> {
    let folder = ridgepoint.parent().context("a program lies in a folder")?.to_owned();
    let usual = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(iter::once(folder).chain(env::split_paths(&usual)))?;
    println!("$ {command}");
    printed_by(Command::new("sh").args(["-c", command]).env("PATH", path).current_dir(root))
}

/// Between parts of an output that a reader is shown.
const LEFT_OUT: char = '…';

/// Compares the output of a command with what the README shows of it, word by word, whatever the line breaks.
fn compare(command: &str, shown: &str, printed: &str) -> anyhow::Result<()> {
    if shown.trim().is_empty() {
        return Ok(());
    }
    let printed: Vec<&str> = printed.split_whitespace().collect();
    let parts: Vec<Vec<&str>> =
        shown.split(LEFT_OUT).map(|part| part.split_whitespace().collect()).collect();
    let (mut from, last) = (0, parts.len() - 1);
    for (index, part) in parts.iter().enumerate() {
        let rest = &printed[from..];
        let place = match (index, part.len()) {
            (_, 0) => Some(0),
            (0, size) => {
                rest.starts_with(part).then_some(0).filter(|_| last > 0 || rest.len() == size)
            }
            (at, size) if at == last => rest.ends_with(part).then(|| rest.len() - size),
            (_, size) => rest.windows(size).position(|words| words == part),
        };
        let Some(place) = place else {
            bail!(
                "README.md: `{command}` does not print, or not in this place:\n{}",
                part.join(" ")
            );
        };
        from += place + part.len();
    }
    Ok(())
}

/// A command of the README, and the output that it shows.
#[derive(Debug, PartialEq, Eq)]
struct Example {
    command: String,
    shown: String,
}

/// The lines of the fenced shell blocks, each with the `text` block after it; a backslash at the end continues a line, a leading `$ ` is
/// the prompt.
fn examples_in(markdown: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut language = "";
    let mut begun = String::new();
    for line in markdown.lines() {
        let trimmed = line.trim();
        if let Some(next) = trimmed.strip_prefix("```") {
            language = next;
        } else if ["sh", "bash", "shell", "console"].contains(&language) {
            let line = trimmed.strip_prefix("$ ").unwrap_or(trimmed);
            match line.strip_suffix('\\') {
                _ if line.is_empty() || line.starts_with('#') => {}
                Some(start) => begun.push_str(start),
                None => {
                    let command = core::mem::take(&mut begun) + line;
                    examples.push(Example { command, shown: String::new() });
                }
            }
        } else if let Some(example) = examples.last_mut().filter(|_| language == "text") {
            example.shown.push_str(line);
            example.shown.push('\n');
        }
    }
    examples
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
        let text = "```sh\n$ cargo xtask serve\n\n# why\nridgepoint estimate \\\n  --batch 1\n```\n```text\na  b\n…\n```\n```json\n{}\n```\ntext\n";
        let example =
            |command: &str, shown: &str| Example { command: command.into(), shown: shown.into() };
        let expected = [
            example("cargo xtask serve", ""),
            example("ridgepoint estimate --batch 1", "a  b\n…\n"),
        ];
        assert_eq!(examples_in(text), expected);
    }

    #[test]
    fn shown_output_is_that_of_the_command() {
        let printed = "ideal  87 µs\nexpected 116 µs\n{\n  \"a\": 1,\n  \"b\": 2\n}\n";
        for right in
            ["", "ideal 87 µs\n…", "…\n{ …, \"b\": 2 }", "… 116 µs { \"a\": 1, …", "ideal … }"]
        {
            let is_shown = compare("c", right, printed).is_ok();
            assert_eq!(is_shown, !right.contains("…, \"b\""), "{right}");
        }
        for wrong in ["ideal 87 µs", "…16 µs…", "… 16 µs …", "…expected … ideal…", "ideal 87 µs {…"]
        {
            assert!(compare("c", wrong, printed).is_err(), "{wrong}");
        }
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
