//! The npm packages of the browser tests, of Lighthouse and of the protocol's clients, installed into the cache and never into the checkout.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::child::{find_program, run};
use crate::page::names::fingerprint;
use crate::places::Places;

/// The `node_modules` folder that holds exactly what the lock file in a folder of the checkout says.
pub(crate) fn install(places: &Places, tests: &str) -> anyhow::Result<PathBuf> {
    let wanted = places.root.join(tests);
    let lock_file = wanted.join("package-lock.json");
    let lock = fs::read(&lock_file).with_context(|| lock_file.display().to_string())?;
    let folder = places.cache.join("node").join(fingerprint(&lock));
    if !folder.exists() {
        install_into(&folder, &wanted)?;
    }
    Ok(folder.join("node_modules"))
}

/// Installs beside `folder` and renames at the end, so that nobody ever sees half of it.
fn install_into(folder: &Path, wanted: &Path) -> anyhow::Result<()> {
    if find_program(&["node"]).is_none() || find_program(&["npm", "npm.cmd"]).is_none() {
        bail!(
            "these tests need Node.js 20 or later with npm: install it from https://nodejs.org or your system's packages"
        );
    }
    let unfinished = folder.with_extension(std::process::id().to_string());
    fs::create_dir_all(&unfinished)?;
    for name in ["package.json", "package-lock.json", ".npmrc"] {
        fs::copy(wanted.join(name), unfinished.join(name))
            .with_context(|| wanted.join(name).display().to_string())?;
    }
    run(Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(&unfinished))?;
    match fs::rename(&unfinished, folder) {
        Err(_) if folder.exists() => Ok(fs::remove_dir_all(&unfinished)?), // another run was faster; the two are the same
        renamed => renamed.with_context(|| format!("cannot rename {}", unfinished.display())),
    }
}
