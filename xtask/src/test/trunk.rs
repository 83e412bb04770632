//! The page must also build with plain Trunk, from the same files. Trunk is optional; without it this stage says that it did not run.

use std::env;
use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context, bail};

use super::{Outcome, Run};
use crate::child::{find_program, run};
use crate::lock::FolderLock;
use crate::page::stand_in;

pub(super) fn build(job: &Run) -> anyhow::Result<Outcome> {
    if find_program(&["trunk"]).is_none() {
        return Ok(Outcome::NotRun("trunk is not installed".to_owned()));
    }
    let _lock = FolderLock::of_target(job.places)?;
    let out = job.places.own.join("trunk");
    let mut command = Command::new("trunk");
    command.args(["build", "--dist"]).arg(&out).current_dir(job.places.root.join("web"));
    command.env("CARGO_TARGET_DIR", &job.places.target).env("PATH", path_with_stand_in(job)?);
    command.env_remove("NO_COLOR"); // Trunk 0.21 takes the usual `NO_COLOR=1` for a wrong value of its own option
    run(&mut command)?;
    let page = std::fs::read_to_string(out.join("index.html")).context("what Trunk built")?;
    if page.contains("<link data-trunk") || !page.contains("_bg.wasm") {
        bail!("Trunk left {} unfinished", out.join("index.html").display());
    }
    Ok(Outcome::Passed)
}

fn path_with_stand_in(job: &Run) -> anyhow::Result<OsString> {
    let own = stand_in::install(job.places)?;
    let usual = env::var_os("PATH").unwrap_or_default();
    Ok(env::join_paths([own].into_iter().chain(env::split_paths(&usual)))?)
}
