//! The official clients of the Model Context Protocol against `ridgepoint mcp` and the daemon.

use std::process::Command;

use super::{Outcome, Run, browser};
use crate::child::run;
use crate::setup::node_packages;

/// Folder of the tests and of their npm packages.
pub(super) const TESTS: &str = "companion/tests/mcp";

pub(super) fn run_clients(job: &Run) -> anyhow::Result<Outcome> {
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=spec"]).arg(format!("{TESTS}/run.mjs"));
    node.current_dir(&job.places.root);
    node.env("RIDGEPOINT_NODE_MODULES", node_packages::install(job.places, TESTS)?);
    node.env("RIDGEPOINT_BIN", browser::ridgepoint_under_test(job.places)?);
    run(&mut node)?;
    Ok(Outcome::Passed)
}
