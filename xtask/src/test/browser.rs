//! The browser tests: the built site, served by the real `ridgepoint serve`, in a real Chromium.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use super::{Outcome, Run};
use crate::child::{cargo, run};
use crate::lock::FolderLock;
use crate::page;
use crate::places::Places;
use crate::serve::put_in_place;
use crate::setup::{chromium, node_packages, toolchain};

/// Not the folder that `cargo xtask serve` uses, which may change while the tests run.
pub(super) fn site_under_test(places: &Places) -> PathBuf {
    places.own.join("site-under-test")
}

pub(super) fn run_all(job: &Run) -> anyhow::Result<Outcome> {
    run(&mut node(job.places, "web/tests/browser")?)?;
    Ok(Outcome::Passed)
}

/// Builds the page and prints what Lighthouse says about every place of it. It judges nothing: scores follow the machine.
pub(crate) fn lighthouse(places: &Places) -> anyhow::Result<()> {
    toolchain::ensure_target(toolchain::BROWSER)?;
    let lock = FolderLock::of_target(places)?;
    page::build(places, &site_under_test(places))?;
    drop(lock);
    run(&mut node(places, "web/tests/lighthouse")?)
}

/// The command that runs `run.mjs` of a folder on the site and the program under test.
fn node(places: &Places, tests: &str) -> anyhow::Result<Command> {
    let mut command = Command::new("node");
    command.arg(format!("{tests}/run.mjs")).current_dir(&places.root);
    command.env("CHROMIUM", chromium::find_or_install()?);
    command.env("RIDGEPOINT_NODE_MODULES", node_packages::install(places, tests)?);
    command.env("RIDGEPOINT_BIN", ridgepoint_under_test(places)?);
    command.env("RIDGEPOINT_SITE", site_under_test(places));
    Ok(command)
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
