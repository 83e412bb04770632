//! README.md says how many devices, models, formats and measurements there are and names every verb: all of it is counted.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use crate::child::printed_by;

/// A verb that lists a catalog, and the noun of its rows in the README.
const CATALOGS: [(&str, &str); 3] =
    [("hardware", "devices"), ("models", "models"), ("formats", "storage formats")];

/// The measurements that the fit uses, one per row below the head.
const MEASUREMENTS: &str = "calc-core/validation/data/left-out.csv";

pub(super) fn check(readme: &str, ridgepoint: &Path, root: &Path) -> anyhow::Result<()> {
    for (verb, noun) in CATALOGS {
        let answer = printed_by(Command::new(ridgepoint).args([verb, "-o", "json"]))?;
        let rows: Value = serde_json::from_str(&answer).with_context(|| verb.to_owned())?;
        let count = rows.as_array().with_context(|| format!("{verb} prints no list"))?.len();
        demand(readme, &format!("{} {noun}", with_commas(count)))?;
    }
    let rows = fs::read_to_string(root.join(MEASUREMENTS)).context(MEASUREMENTS)?;
    let count = rows.lines().skip(1).count();
    demand(readme, &format!("{} published measurements", with_commas(count)))?;
    for verb in verbs(&printed_by(Command::new(ridgepoint).arg("--help"))?)? {
        if !readme.contains(&format!("`{verb}`"))
            && !readme.contains(&format!("ridgepoint {verb} "))
        {
            bail!("README.md does not name the verb `{verb}`");
        }
    }
    Ok(())
}

fn demand(readme: &str, text: &str) -> anyhow::Result<()> {
    let found = readme.match_indices(text).any(|(at, _)| {
        !readme[..at].ends_with(|before: char| before.is_ascii_digit() || before == ',')
    });
    ensure!(found, "README.md should say \"{text}\"");
    Ok(())
}

/// `1,308`, as the README writes numbers.
fn with_commas(count: usize) -> String {
    let digits = count.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

/// The first word of each line below "Commands:", but for `help`.
fn verbs(help: &str) -> anyhow::Result<Vec<&str>> {
    let (_, list) = help.split_once("Commands:\n").context("the help lists no commands")?;
    let lines = list.lines().take_while(|line| line.starts_with("  "));
    let words = lines.filter_map(|line| line.split_whitespace().next());
    Ok(words.filter(|word| *word != "help").collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_number_is_refused() {
        assert!(demand("It knows 1,308 devices.", "1,308 devices").is_ok());
        for wrong in ["It knows 83 devices.", "It knows 11,308 devices.", "1308 devices"] {
            assert!(demand(wrong, "1,308 devices").is_err(), "{wrong}");
        }
        assert!(demand("183 devices", "83 devices").is_err());
    }

    #[test]
    fn numbers_have_commas() {
        let cases = [(7, "7"), (83, "83"), (1308, "1,308"), (1_000_000, "1,000,000")];
        for (count, text) in cases {
            assert_eq!(with_commas(count), text);
        }
    }

    #[test]
    fn verbs_are_read_from_the_help() {
        let help =
            "About\n\nCommands:\n  hardware  Devices\n  help      Help\n\nOptions:\n  -h  Help\n";
        assert_eq!(verbs(help).unwrap(), ["hardware"]);
        assert!(verbs("About").is_err());
    }
}
