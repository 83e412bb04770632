//! From Rust source to WebAssembly and the JavaScript that loads it.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Context;
use wasm_bindgen_cli_support::Bindgen;

use crate::child::{cargo, run};
use crate::places::Places;
use crate::setup::toolchain::BROWSER;

/// Compiles the programs of the crate `web` and returns the folder with their WebAssembly files, which are not yet fit for a browser.
pub(crate) fn compile(places: &Places) -> anyhow::Result<PathBuf> {
    let arguments = ["build", "--profile", "page", "--target", BROWSER, "--package", "web"];
    run(cargo(places).args(arguments).env("RUSTFLAGS", flags()))?;
    Ok(places.target.join(BROWSER).join("page"))
}

/// Views of one type instead of one type per view, which is 1 % smaller. And panic messages name the files of dependencies
/// as `registry/…`, not by the folder of whoever built the page.
fn flags() -> String {
    let home =
        env::var("CARGO_HOME").or_else(|_| env::var("HOME").map(|home| format!("{home}/.cargo")));
    let remap = home.map_or_else(
        |_| String::new(),
        |home| format!("--remap-path-prefix={home}/registry/src=registry"),
    );
    format!("--cfg=erase_components {remap}")
}

/// The page, and the program that reads files for it.
const PROGRAMS: [&str; 2] = ["web", "reader"];

/// Writes `web.js`, `web_bg.wasm` and the same of the reader into an emptied `out`. Names and tool versions are left out: they
/// are half the size and nobody reads them.
pub(crate) fn bind(compiled: &Path, out: &Path) -> anyhow::Result<()> {
    if out.exists() {
        fs::remove_dir_all(out)?;
    }
    PROGRAMS.iter().try_for_each(|name| bind_one(&compiled.join(format!("{name}.wasm")), name, out))
}

fn bind_one(wasm: &Path, name: &str, out: &Path) -> anyhow::Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(wasm).out_name(name).typescript(false);
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.web(true)?.generate(out).with_context(|| format!("wasm-bindgen on {}", wasm.display()))
}
