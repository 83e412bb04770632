//! The source of each crate of the workspace, read once for all checks that look into Rust code.

use std::fs;

use anyhow::Context;
use serde_json::Value;

use super::crate_modules::CrateModules;
use super::rust_file::RustFile;
use super::{Finding, layers};
use crate::places::Places;

/// A crate and what its `src` holds.
pub(super) struct CrateSource {
    name: String,
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
    packages.iter().map(|package| read_crate(places, package, paths)).collect()
}

fn read_crate(places: &Places, package: &Value, paths: &[String]) -> anyhow::Result<CrateSource> {
    let name = package["name"].as_str().context("a package has a name")?.to_owned();
    let manifest = package["manifest_path"].as_str().context("a package has a manifest")?;
    let root = places.root.to_string_lossy();
    let folder = manifest.strip_suffix("Cargo.toml").and_then(|path| path.strip_prefix(&*root));
    let folder = folder.context("a package lies in the checkout")?.trim_start_matches('/');
    let mut files = Vec::new();
    for path in paths {
        let Some(below) = path.strip_prefix(folder).and_then(|path| path.strip_prefix("src/"))
        else {
            continue;
        };
        if below.ends_with(".rs") {
            let text = fs::read_to_string(places.root.join(path)).with_context(|| path.clone())?;
            let code = RustFile::read(&text).with_context(|| path.clone())?;
            files.push((below.to_owned(), code));
        }
    }
    let modules = CrateModules::new(&name, files);
    Ok(CrateSource { name, modules })
}

impl CrateSource {
    pub(super) fn check(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if layers::covers(&self.name) {
            findings.extend(layers::check(&self.name, &self.modules));
        }
        findings
    }
}
