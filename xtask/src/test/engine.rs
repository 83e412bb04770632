//! `ridgepoint attach` against a real llama.cpp server, which a package of Python carries, on a model that another one writes.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;

use super::{Outcome, Run, browser};
use crate::child::run;
use crate::places::Places;
use crate::setup::wheels;

/// The list of the packages.
const LIST: &str = "companion/tests/llama_cpp.txt";

/// Python, and the path on which it finds the packages.
pub(super) fn find_or_fetch(places: &Places) -> anyhow::Result<(PathBuf, OsString)> {
    let (python, folder) = wheels::find_or_fetch(places, LIST, "llama-cpp")?;
    let listed = wheels::listed(places, LIST)?;
    let path = env::join_paths(listed.iter().map(|package| folder.join(&package.version)))
        .context("the path of the cache folder has a colon")?;
    Ok((python, path))
}

pub(super) fn attach(job: &Run) -> anyhow::Result<Outcome> {
    let (python, path) = find_or_fetch(job.places)?;
    let ridgepoint = browser::ridgepoint_under_test(job.places)?;
    let mut script = Command::new(python);
    script.arg(job.places.root.join("companion/tests/attach_llama.py")).arg(ridgepoint);
    // Any device will do: its rates are compared with each other alone.
    script.args(["--hardware", "epyc_9334"]);
    script.env("PYTHONPATH", path).env("PYTHONDONTWRITEBYTECODE", "1");
    run(&mut script)?;
    Ok(Outcome::Passed)
}
