//! From Rust source to WebAssembly and the JavaScript that loads it.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Context;
use wasm_bindgen_cli_support::Bindgen;

use crate::child::{cargo, run};
use crate::places::Places;
use crate::setup::toolchain::BROWSER;

/// Compiles the crate `web` and returns the WebAssembly file, which is not yet fit for a browser.
pub(crate) fn compile(places: &Places) -> anyhow::Result<PathBuf> {
    let arguments = ["build", "--profile", "page", "--target", BROWSER, "--package", "web"];
    run(cargo(places).args(arguments).env("RUSTFLAGS", neutral_paths()))?;
    Ok(places.target.join(BROWSER).join("page/web.wasm"))
}

/// Panic messages name the files of dependencies: as `registry/…`, not by the folder of whoever built the page.
fn neutral_paths() -> String {
    let home =
        env::var("CARGO_HOME").or_else(|_| env::var("HOME").map(|home| format!("{home}/.cargo")));
    home.map_or_else(
        |_| String::new(),
        |home| format!("--remap-path-prefix={home}/registry/src=registry"),
    )
}

/// Writes `web.js` and `web_bg.wasm` into an emptied `out`. Names and tool versions are left out: they are half the size and nobody reads them.
pub(crate) fn bind(wasm: &Path, out: &Path) -> anyhow::Result<()> {
    if out.exists() {
        fs::remove_dir_all(out)?;
    }
    let mut bindgen = Bindgen::new();
    bindgen.input_path(wasm).out_name("web").typescript(false);
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.web(true)?.generate(out).with_context(|| format!("wasm-bindgen on {}", wasm.display()))
}
