//! `cargo xtask tidy`: rules that no compiler checks. Every finding is reported before the run fails.

use core::fmt::{self, Display};
use std::fs;
use std::process::Command;

use anyhow::{Context, bail};

use crate::child::{cargo, printed_by};
use crate::places::Places;

mod circles;
mod comments;
mod components;
mod crate_modules;
mod docs;
mod documents;
mod edges;
mod layers;
mod leftovers;
pub(crate) mod locks;
mod rust_file;
mod source;
mod sources;
mod tracked;
mod type_names;
mod workflows;

/// A broken rule and its place.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    place: String,
    what: String,
}

impl Finding {
    fn new(place: impl Display, what: impl Into<String>) -> Self {
        Self { place: place.to_string(), what: what.into() }
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Prints the uses of each crate's modules.
pub(crate) fn print_tables(places: &Places) -> anyhow::Result<()> {
    let sources = sources::read(places, &metadata(places)?, &files_of_the_project(places)?)?;
    for source in &sources {
        source.print_uses();
    }
    Ok(())
}

fn metadata(places: &Places) -> anyhow::Result<String> {
    printed_by(cargo(places).args(["metadata", "--format-version", "1", "--no-deps"]))
}

pub(crate) fn check_tree(places: &Places) -> anyhow::Result<()> {
    let metadata = metadata(places)?;
    let mut findings = edges::check(&metadata)?;
    let paths = files_of_the_project(places)?;
    for path in &paths {
        findings.extend(tracked::check_path(path));
        let bytes = fs::read(places.root.join(path)).with_context(|| path.clone())?;
        if let Ok(text) = String::from_utf8(bytes) {
            findings.extend(check_text(path, &text));
        }
    }
    let sources = sources::read(places, &metadata, &paths)?;
    findings.extend(sources.iter().flat_map(sources::CrateSource::check));
    findings.extend(check_documents(places, &sources, &paths)?);
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("findings of tidy: {}", findings.len());
    }
    println!("tidy: {} files, no findings", paths.len());
    Ok(())
}

fn check_documents(
    places: &Places,
    sources: &[sources::CrateSource],
    paths: &[String],
) -> anyhow::Result<Vec<Finding>> {
    let read = |path: &str| fs::read_to_string(places.root.join(path)).context(path.to_owned());
    let (readme, architecture) = (read("README.md")?, read("docs/architecture.md")?);
    let members: Vec<documents::Member> =
        sources.iter().map(sources::CrateSource::member).collect();
    let mut findings = documents::check(&readme, &architecture, &members, &edges::table());
    findings.extend(documents::missing_files("docs/architecture.md", &architecture, paths));
    findings.extend(documents::missing_files("README.md", &readme, paths));
    Ok(findings)
}

fn check_text(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = tracked::check_text(path, text);
    findings.extend(source::check(path, text));
    findings.extend(comments::check(path, text));
    findings.extend(components::check(path, text));
    findings.extend(leftovers::check(path, text));
    findings.extend(locks::check(path, text));
    findings.extend(workflows::check(path, text));
    findings
}

/// Tracked files and those that could be: a file is checked before its first commit.
fn files_of_the_project(places: &Places) -> anyhow::Result<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(&places.root);
    let listed = printed_by(&mut git).context("tidy asks git which files belong to the project")?;
    let there = |path: &&str| places.root.join(path).is_file();
    Ok(listed.split_terminator('\0').filter(there).map(str::to_owned).collect())
}
