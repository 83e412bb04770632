//! Programs that come as a package of Debian: found, installed where root runs on a Debian-like system, else named with the command.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::child::{find_program, printed_by, run};

/// A program of a package.
pub(crate) struct Program {
    /// Names under which `PATH` may have the program, the preferred one first.
    pub(crate) names: &'static [&'static str],
    pub(crate) package: &'static str,
    /// Who needs it and what it is, such as "the browser tests need Chromium".
    pub(crate) need: &'static str,
    /// The advice where it cannot be installed, such as "install it".
    pub(crate) otherwise: &'static str,
}

impl Program {
    /// The program of `PATH`, or a freshly installed one.
    pub(crate) fn find_or_install(&self) -> anyhow::Result<PathBuf> {
        if let Some(path) = find_program(self.names) {
            return Ok(path);
        }
        self.install()?;
        let package = self.package;
        find_program(self.names)
            .with_context(|| format!("apt-get installed {package}, but PATH has no such program"))
    }

    fn install(&self) -> anyhow::Result<()> {
        let Self { package, need, otherwise, .. } = self;
        if !Path::new("/etc/debian_version").exists() || find_program(&["apt-get"]).is_none() {
            bail!("{need}: {otherwise}");
        }
        if !is_root() {
            bail!(
                "{need}, and only root can install it; run\n    \
                 sudo apt-get update && sudo apt-get install --yes --no-install-recommends {package}\n\
                 and try again; otherwise {otherwise}"
            );
        }
        run(Command::new("apt-get").arg("update"))?;
        run(Command::new("apt-get")
            .args(["install", "--yes", "--no-install-recommends", package])
            .env("DEBIAN_FRONTEND", "noninteractive"))
    }
}

fn is_root() -> bool {
    printed_by(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}
