//! `ridgepoint attach` against a real llama.cpp server, which a package of Python carries.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;

use super::{Outcome, Run, browser};
use crate::child::run;
use crate::places::Places;
use crate::setup::wheels;

/// The list of the package.
const LIST: &str = "companion/tests/llama_cpp.txt";

/// Python, and the folder of the package.
pub(super) fn find_or_fetch(places: &Places) -> anyhow::Result<(PathBuf, PathBuf)> {
    let (python, folder) = wheels::find_or_fetch(places, LIST, "llama-cpp")?;
    let listed = wheels::listed(places, LIST)?;
    let package = listed.first().with_context(|| format!("{LIST} has no package"))?;
    Ok((python, folder.join(&package.version)))
}

pub(super) fn attach(job: &Run) -> anyhow::Result<Outcome> {
    let (python, package) = find_or_fetch(job.places)?;
    let ridgepoint = browser::ridgepoint_under_test(job.places)?;
    let mut script = Command::new(python);
    script.arg(job.places.root.join("companion/tests/attach_llama.py")).arg(ridgepoint);
    // Any device will do: its rates are compared with each other alone.
    script.args(["--hardware", "epyc_9334"]);
    script.env("PYTHONPATH", package).env("PYTHONDONTWRITEBYTECODE", "1");
    run(&mut script)?;
    Ok(Outcome::Passed)
}
