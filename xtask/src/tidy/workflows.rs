//! The workflows of CI, as far as that shows without running them: they are YAML, and the commands of ours that they name exist.

use anyhow::{Context, bail};
use yaml_rust2::{Yaml, YamlLoader};

use super::Finding;
use crate::arguments;

const FOLDER: &str = ".github/workflows/";

/// Commands of cargo that a workflow may name, apart from `cargo xtask`.
const CARGO: [&str; 2] = ["pkgid", "install"];

/// The script that runs every check.
const SCRIPT: &str = ".ci/run";

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !path.starts_with(FOLDER) {
        return Vec::new();
    }
    let commands = match commands_in(text) {
        Ok(commands) => commands,
        Err(error) => return vec![Finding::new(path, format!("{error:#}"))],
    };
    let wrong = commands.iter().filter_map(|command| check_command(command).err());
    wrong.map(|error| Finding::new(path, format!("{error:#}"))).collect()
}

/// The lines of all steps that run something.
fn commands_in(text: &str) -> anyhow::Result<Vec<String>> {
    let documents = YamlLoader::load_from_str(text).context("is no YAML")?;
    let [workflow] = documents.as_slice() else { bail!("is not one document") };
    let jobs = workflow["jobs"].as_hash().context("has no jobs")?;
    let mut commands = Vec::new();
    for (name, job) in jobs {
        let steps = job["steps"].as_vec().with_context(|| format!("{name:?} has no steps"))?;
        for step in steps {
            match (step["run"].as_str(), &step["uses"]) {
                (Some(script), Yaml::BadValue) => {
                    commands.extend(script.lines().map(|line| line.trim().to_owned()));
                }
                (None, Yaml::String(_)) => {}
                _ => bail!("a step of {name:?} must have either `run` or `uses`"),
            }
        }
    }
    Ok(commands)
}

fn check_command(command: &str) -> anyhow::Result<()> {
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    let quoted: Vec<&str> = words.iter().map(String::as_str).collect();
    match quoted.as_slice() {
        ["cargo", "xtask", ..] => arguments::parse(&words[2..]).map(drop),
        ["cargo", other, ..] if !CARGO.contains(other) => {
            bail!("`{command}`: no such command here")
        }
        [script, ..] if script.starts_with(".ci/") && *script != SCRIPT => {
            bail!("`{command}`: the script is {SCRIPT}")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(run: &str) -> usize {
        let text = format!(
            "on: push\njobs:\n  test:\n    steps:\n      - uses: a/b@v4\n      - run: {run}\n"
        );
        check(".github/workflows/a.yml", &text).len()
    }

    #[test]
    fn commands_that_exist_are_fine() {
        for run in
            [".ci/run", "cargo xtask site --out a", "|\n          cargo xtask tidy\n          ls"]
        {
            assert_eq!(findings(run), 0, "{run}");
        }
        assert!(check("README.md", "{").is_empty());
    }

    #[test]
    fn unknown_commands_and_broken_files_are_refused() {
        for run in [
            ".ci/rnu",
            "cargo xtask tset",
            "cargo tets",
            "|\n          ls\n          cargo xtask a",
        ] {
            assert_eq!(findings(run), 1, "{run}");
        }
        for text in
            ["a: [", "on: push", "jobs:\n  a:\n    steps:\n      - name: b\n", "jobs:\n  a: {}\n"]
        {
            assert_eq!(check(".github/workflows/a.yml", text).len(), 1, "{text}");
        }
    }
}
