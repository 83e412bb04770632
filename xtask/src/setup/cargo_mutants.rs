//! The program that changes code to see whether a test notices, in one version, installed into the cache.

use std::path::PathBuf;

use crate::child::{cargo, run};
use crate::places::Places;

const VERSION: &str = "27.1.0";

/// The cargo-mutants of the cache, or a freshly installed one.
pub(crate) fn find_or_install(places: &Places) -> anyhow::Result<PathBuf> {
    let folder = places.cache.join("tools").join(format!("cargo-mutants-{VERSION}"));
    let program = folder.join("bin").join(format!("cargo-mutants{}", std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        println!("installing cargo-mutants {VERSION} into {}", folder.display());
        let version = format!("={VERSION}");
        run(cargo(places)
            .args(["install", "--locked", "cargo-mutants", "--version", &version, "--root"])
            .arg(&folder))?;
    }
    Ok(program)
}
