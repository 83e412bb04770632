//! The browser tests: the built site, served by the real `ridgepoint serve`, in a real Chromium.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use super::{Outcome, Run};
use crate::child::{cargo, run};
use crate::lock::FolderLock;
use crate::places::Places;
use crate::serve::put_in_place;
use crate::setup::{chromium, node_packages};

/// Not the folder that `cargo xtask serve` uses, which may change while the tests run.
pub(super) fn site_under_test(places: &Places) -> PathBuf {
    places.own.join("site-under-test")
}

pub(super) fn run_all(job: &Run) -> anyhow::Result<Outcome> {
    let mut command = Command::new("node");
    command.arg("web/tests/browser/run.mjs").current_dir(&job.places.root);
    command.env("CHROMIUM", chromium::find_or_install()?);
    command.env("RIDGEPOINT_NODE_MODULES", node_packages::install(job.places)?);
    command.env("RIDGEPOINT_BIN", ridgepoint_under_test(job.places)?);
    command.env("RIDGEPOINT_SITE", site_under_test(job.places));
    run(&mut command)?;
    Ok(Outcome::Passed)
}

/// The binary as the other tests built it, copied so that the next build cannot change it.
pub(super) fn ridgepoint_under_test(places: &Places) -> anyhow::Result<PathBuf> {
    let _lock = FolderLock::of_target(places)?;
    run(cargo(places).args(["build", "--package", "companion"]))?;
    let folder = places.own.join("under-test");
    std::fs::create_dir_all(&folder)?;
    let copy = folder.join(format!("ridgepoint{}", env::consts::EXE_SUFFIX));
    put_in_place(&places.built_program("debug", "ridgepoint"), &copy)?;
    Ok(copy)
}
