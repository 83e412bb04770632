//! The source of each crate of the workspace, read once for all checks that look into Rust code.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use super::crate_modules::CrateModules;
use super::documents::Member;
use super::rust_file::RustFile;
use super::source::is_rust;
use super::{Finding, docs, layers, type_names};
use crate::places::Places;

/// A crate and the modules in its `src`.
pub(super) struct CrateSource {
    name: String,
    /// In the checkout, with a slash at the end.
    folder: String,
    modules: CrateModules,
}

/// Reads the crates that `cargo metadata --no-deps` lists; `paths` are the files of the project.
pub(super) fn read(
    places: &Places,
    metadata: &str,
    paths: &[String],
) -> anyhow::Result<Vec<CrateSource>> {
    let metadata: Value = serde_json::from_str(metadata).context("what cargo metadata printed")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let folders = packages.iter().map(|package| folder_of(places, package));
    let folders = folders.collect::<anyhow::Result<Vec<String>>>()?;
    let crates = packages.iter().zip(&folders);
    let crates = crates.map(|(package, folder)| {
        let is_own = |path: &&String| {
            let owner =
                folders.iter().filter(|folder| path.starts_with(*folder)).max_by_key(|f| f.len());
            owner == Some(folder) && is_rust(path)
        };
        let files: Vec<&String> = paths.iter().filter(is_own).collect();
        let name = package["name"].as_str().context("a package has a name")?;
        read_crate(places, name, folder, &files)
    });
    crates.collect()
}

/// The folder of a package in the checkout, with a slash at the end.
fn folder_of(places: &Places, package: &Value) -> anyhow::Result<String> {
    let manifest = package["manifest_path"].as_str().context("a package has a manifest")?;
    let folder = Path::new(manifest).parent().context("a manifest lies in a folder")?;
    let folder = folder.strip_prefix(&places.root).context("a package lies in the checkout")?;
    Ok(format!("{}/", folder.to_string_lossy()))
}

fn read_crate(
    places: &Places,
    name: &str,
    folder: &str,
    files: &[&String],
) -> anyhow::Result<CrateSource> {
    let mut code = Vec::new();
    for path in files {
        let text = fs::read_to_string(places.root.join(path)).with_context(|| (*path).clone())?;
        if let Some(below) = path.strip_prefix(&format!("{folder}src/")) {
            let file = RustFile::read(&text).with_context(|| (*path).clone())?;
            code.push((below.to_owned(), file));
        }
    }
    Ok(CrateSource {
        name: name.to_owned(),
        folder: folder.to_owned(),
        modules: CrateModules::new(name, code),
    })
}

impl CrateSource {
    pub(super) fn check(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if layers::covers(&self.name) {
            findings.extend(layers::check(&self.name, &self.modules));
        }
        findings.extend(docs::check(&self.name, &self.modules));
        findings.extend(type_names::check(&self.name, &self.modules));
        findings
    }

    pub(super) fn member(&self) -> Member {
        Member { name: self.name.clone(), folder: self.folder.clone() }
    }

    pub(super) fn print_uses(&self) {
        println!("## {}", self.name);
        for ((from, to), names) in self.modules.uses() {
            println!("{from} -> {to}: {}", names.into_iter().collect::<Vec<_>>().join(", "));
        }
    }
}
