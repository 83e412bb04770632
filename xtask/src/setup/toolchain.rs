//! Parts of the Rust toolchain: the standard library for other targets, rustfmt and clippy.

use std::path::Path;
use std::process::Command;

use anyhow::bail;

use crate::child::{find_program, printed_by, run};

pub(crate) const BROWSER: &str = "wasm32-unknown-unknown";
pub(crate) const BARE: &str = "x86_64-unknown-none";
pub(crate) const WASI: &str = "wasm32-wasip1";

/// Makes sure that code can be compiled for `target`.
pub(crate) fn ensure_target(target: &str) -> anyhow::Result<()> {
    let libraries =
        printed_by(Command::new("rustc").args(["--print", "target-libdir", "--target", target]))?;
    if Path::new(libraries.trim()).is_dir() {
        return Ok(());
    }
    add_by_rustup(&["target", "add", target])
}

/// Makes sure that `cargo fmt` or `cargo clippy` runs.
pub(crate) fn ensure_component(program: &str, component: &str) -> anyhow::Result<()> {
    let works =
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if works { Ok(()) } else { add_by_rustup(&["component", "add", component]) }
}

fn add_by_rustup(arguments: &[&str]) -> anyhow::Result<()> {
    if find_program(&["rustup"]).is_none() {
        bail!(
            "this Rust toolchain lacks `{}` and there is no rustup to add it; install Rust from https://rustup.rs and try again",
            arguments[2]
        );
    }
    run(Command::new("rustup").args(arguments))
}
