//! The browser that the page is tested in. Installed only by root on a Debian-like system; otherwise the command is printed.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::child::{find_program, printed_by, run};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The Chromium that `CHROMIUM` names or `PATH` has, or a freshly installed one.
pub(crate) fn find_or_install() -> anyhow::Result<PathBuf> {
    if let Some(path) = env::var_os("CHROMIUM") {
        return Ok(path.into());
    }
    if let Some(path) = find_program(&NAMES) {
        return Ok(path);
    }
    install()?;
    find_program(&NAMES).context("apt-get installed chromium, but PATH has none")
}

fn install() -> anyhow::Result<()> {
    if !Path::new("/etc/debian_version").exists() || find_program(&["apt-get"]).is_none() {
        bail!(
            "the browser tests need Chromium: install it, or set CHROMIUM to the path of Chromium or Chrome"
        );
    }
    if !is_root() {
        bail!(
            "the browser tests need Chromium, and only root can install it; run\n    \
             sudo apt-get update && sudo apt-get install --yes --no-install-recommends chromium\n\
             and try again, or set CHROMIUM to the path of Chromium or Chrome"
        );
    }
    run(Command::new("apt-get").arg("update"))?;
    run(Command::new("apt-get")
        .args(["install", "--yes", "--no-install-recommends", "chromium"])
        .env("DEBIAN_FRONTEND", "noninteractive"))
}

fn is_root() -> bool {
    printed_by(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}
