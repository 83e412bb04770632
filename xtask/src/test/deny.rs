//! Licenses, bans and sources of all dependencies, as deny.toml allows them.
//!
//! cargo-deny reads the same file in CI and checks advisories too. It is not run here, because building it takes longer than
//! these checks are worth on every machine; a key that only cargo-deny would understand is refused, so that none is ignored.

use std::fs;

use anyhow::{Context, bail};
use serde_json::Value;
use toml::Table;

use super::{Outcome, Run};
use crate::child::{cargo, printed_by};
use crate::setup::toolchain;

pub(super) fn check(job: &Run) -> anyhow::Result<Outcome> {
    let text = fs::read_to_string(job.places.root.join("deny.toml")).context("deny.toml")?;
    let rules = Rules::read(&text).context("deny.toml")?;
    let mut command = cargo(job.places);
    command.args(["metadata", "--locked", "--format-version", "1"]);
    command.args(["--filter-platform", toolchain::BROWSER, "--filter-platform", &host()?]);
    let metadata: Value =
        serde_json::from_str(&printed_by(&mut command)?).context("what cargo metadata printed")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let complaints: Vec<String> =
        packages.iter().flat_map(|package| rules.complaints(package)).collect();
    if !complaints.is_empty() {
        bail!("{}", complaints.join("\n"));
    }
    println!("{} packages are allowed by deny.toml", packages.len());
    Ok(Outcome::Passed)
}

/// This machine as rustc names it.
fn host() -> anyhow::Result<String> {
    let about = printed_by(std::process::Command::new("rustc").arg("-vV"))?;
    let line = about.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).context("rustc -vV names no host")
}

/// The part of deny.toml that is checked here.
struct Rules {
    licenses: Vec<String>,
    banned: Vec<String>,
    registries: Vec<String>,
}

impl Rules {
    fn read(text: &str) -> anyhow::Result<Self> {
        let file: Table = text.parse()?;
        let section = |name: &str| {
            file.get(name).and_then(toml::Value::as_table).with_context(|| format!("no [{name}]"))
        };
        let (licenses, bans, sources) =
            (section("licenses")?, section("bans")?, section("sources")?);
        know(licenses, &["allow"], &[])?;
        let fixed = [("multiple-versions", "allow"), ("wildcards", "deny")];
        know(bans, &["deny", "allow-wildcard-paths"], &fixed)?;
        let fixed = [("unknown-registry", "deny"), ("unknown-git", "deny")];
        know(sources, &["allow-registry", "allow-git"], &fixed)?;
        if !strings(sources, "allow-git")?.is_empty() {
            bail!("allow-git must be empty: a version of a git repository is not published");
        }
        Ok(Self {
            licenses: strings(licenses, "allow")?,
            banned: strings(bans, "deny")?,
            registries: strings(sources, "allow-registry")?,
        })
    }

    /// Every rule that a package of `cargo metadata` breaks; our own packages have no source.
    fn complaints(&self, package: &Value) -> Vec<String> {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let name = text("name");
        let wildcards =
            package["dependencies"].as_array().into_iter().flatten().filter(|on| {
                on["req"] == "*" && on["path"].is_null() && package["source"].is_null()
            });
        let mut found: Vec<String> = wildcards
            .map(|on| format!("{name}: any version of {} would do; name one", on["name"]))
            .collect();
        if package["source"].is_null() {
            return found;
        }
        let license = text("license");
        if !is_allowed(license, &self.licenses) {
            found.push(format!("{name}: the license `{license}` is not among {:?}", self.licenses));
        }
        if self.banned.iter().any(|banned| banned == name) {
            found
                .push(format!("{name}: is banned; `cargo tree --invert {name}` says who wants it"));
        }
        let source = text("source");
        let registry = source.strip_prefix("registry+").unwrap_or(source);
        if !self.registries.iter().any(|allowed| allowed == registry) {
            found.push(format!("{name}: comes from {source}, which is not allowed"));
        }
        found
    }
}

/// Refuses keys that are not read here, and values other than those that are implemented.
fn know(section: &Table, read: &[&str], fixed: &[(&str, &str)]) -> anyhow::Result<()> {
    for (key, value) in section {
        let implemented = fixed.iter().find(|(name, _)| name == key);
        match implemented {
            Some((_, only)) if value.as_str() == Some(only) => {}
            Some((_, only)) => bail!("xtask checks {key} = \"{only}\" only"),
            None if read.contains(&key.as_str()) => {}
            None => bail!("xtask does not check `{key}`; teach xtask/src/test/deny.rs"),
        }
    }
    Ok(())
}

/// A list of strings, or of tables with the key `crate`.
fn strings(section: &Table, key: &str) -> anyhow::Result<Vec<String>> {
    let list = section.get(key).and_then(toml::Value::as_array);
    let list = list.with_context(|| format!("{key} is no list"))?;
    let text = |entry: &toml::Value| {
        let text = entry.as_str().or_else(|| entry.get("crate").and_then(toml::Value::as_str));
        text.map(str::to_owned).with_context(|| format!("{key}: {entry:?} is no name"))
    };
    list.iter().map(text).collect()
}

/// Whether a license expression of SPDX can be met by the allowed licenses; `/` is the old way of writing OR.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    either(&mut rest, allowed) == Some(true) && rest.is_empty()
}

/// Terms with OR between them.
fn either(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let mut met = both(words, allowed)?;
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        met |= both(words, allowed)?;
    }
    Some(met)
}

/// Terms with AND between them.
fn both(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let mut met = term(words, allowed)?;
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        met &= term(words, allowed)?;
    }
    Some(met)
}

/// A license, one with an exception, or an expression in parentheses; `None` if there is none of them.
fn term(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let name;
    (name, *words) = match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let met = either(words, allowed)?;
            let [")", rest @ ..] = *words else { return None };
            *words = rest;
            return Some(met);
        }
        [")" | "OR" | "AND", ..] | [] => return None,
        [license, "WITH", exception, rest @ ..] => (format!("{license} WITH {exception}"), rest),
        [license, rest @ ..] => ((*license).to_owned(), rest),
    };
    Some(allowed.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "[licenses]\nallow = [\"MIT\", \"Zlib\"]\n\
        [bans]\nmultiple-versions = \"allow\"\nwildcards = \"deny\"\ndeny = [{ crate = \"bad\" }]\n\
        [sources]\nunknown-git = \"deny\"\nallow-registry = [\"https://a.example\"]\nallow-git = []\n";

    #[test]
    fn expressions_are_met_by_what_is_allowed() {
        let allowed = ["MIT".to_owned(), "Zlib".to_owned(), "A WITH B".to_owned()];
        for fine in
            ["MIT", "GPL-3.0 OR MIT", "MIT/GPL-3.0", "(GPL-3.0 OR MIT) AND Zlib", "A WITH B"]
        {
            assert!(is_allowed(fine, &allowed), "{fine}");
        }
        for wrong in
            ["", "GPL-3.0", "MIT AND GPL-3.0", "A", "A WITH C", "(MIT", "MIT)", "MIT Zlib", "OR"]
        {
            assert!(!is_allowed(wrong, &allowed), "{wrong}");
        }
    }

    #[test]
    fn the_rules_of_this_project_are_read() {
        let rules = Rules::read(include_str!("../../../deny.toml")).unwrap();
        assert!(rules.licenses.iter().any(|license| license == "MIT"));
        assert!(!rules.banned.is_empty() && rules.registries.len() == 1);
    }

    #[test]
    fn each_broken_rule_is_named() {
        let rules = Rules::read(RULES).unwrap();
        let complaints = |package: &str| rules.complaints(&serde_json::from_str(package).unwrap());
        let registry = r#""source":"registry+https://a.example""#;
        let fine = format!(r#"{{"name":"a","license":"MIT",{registry}}}"#);
        assert!(complaints(&fine).is_empty());
        assert!(complaints(r#"{"name":"ours","license":null,"source":null}"#).is_empty());
        for package in [
            fine.replace("MIT", "GPL-3.0"),
            fine.replace("\"MIT\"", "null"),
            fine.replace("\"a\"", "\"bad\""),
            fine.replace("registry+https", "git+https"),
            r#"{"name":"ours","source":null,"dependencies":[{"name":"a","req":"*"}]}"#.to_owned(),
        ] {
            assert_eq!(complaints(&package).len(), 1, "{package}");
        }
    }

    #[test]
    fn a_rule_that_would_be_ignored_is_refused() {
        for (from, to) in [
            ("deny = [{", "skip = []\ndeny = [{"),
            ("wildcards = \"deny\"", "wildcards = \"warn\""),
            ("allow-git = []", "allow-git = [\"https://a.example/b\"]"),
            ("[licenses]", "[license]"),
        ] {
            assert!(Rules::read(&RULES.replace(from, to)).is_err(), "{to}");
        }
    }
}
