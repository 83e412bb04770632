//! From Rust source to WebAssembly and the JavaScript that loads it.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Context;
use wasm_bindgen_cli_support::Bindgen;

use super::strip::strip_folder;
use super::{chunks, import_names};
use crate::child::{cargo, run};
use crate::places::Places;
use crate::setup::toolchain::BROWSER;

/// Compiles the page's program and returns its WebAssembly file, which is not yet fit for a browser. It keeps its relocations,
/// by which it can be split.
pub(crate) fn compile(places: &Places) -> anyhow::Result<PathBuf> {
    let what = ["--package", "web", "--bin", "web", "--features", "lazy"];
    let how = ["--profile", "page", "--target", BROWSER, "--", "-Clink-args=--emit-relocs"];
    run(cargo(places).arg("rustc").args(what).args(how).env("RUSTFLAGS", flags()))?;
    Ok(places.target.join(BROWSER).join("page").join("web.wasm"))
}

/// Views of one type instead of one type per view, which is 1 % smaller. And panic messages name the files of dependencies
/// by package, not by the folder of whoever built the page.
fn flags() -> String {
    let home =
        env::var("CARGO_HOME").or_else(|_| env::var("HOME").map(|home| format!("{home}/.cargo")));
    let sources = home.map(|home| PathBuf::from(home).join("registry/src"));
    let registries = sources.ok().and_then(|sources| fs::read_dir(sources).ok());
    let registries = registries.into_iter().flatten().flatten().map(|entry| entry.path());
    let remaps = registries.map(|path| format!(" --remap-path-prefix={}=", path.display()));
    remaps.fold("--cfg=erase_components".to_owned(), |flags, remap| flags + &remap)
}

/// Writes `web.js`, `web_bg.wasm`, the chunks and their loader into an emptied `out`.
pub(crate) fn bind(linked: &Path, out: &Path) -> anyhow::Result<()> {
    if out.exists() {
        fs::remove_dir_all(out)?;
    }
    let program = linked.with_file_name("web-without-chunks.wasm");
    chunks::split(linked, &program, out)?;
    bind_program(&program, out)?;
    strip_folder(out)?;
    import_names::shorten(out, "web")
}

/// Names and tool versions are left out: they are half the size and nobody reads them. The chunks import the table of functions
/// and the memory, which would not be exported otherwise.
fn bind_program(wasm: &Path, out: &Path) -> anyhow::Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(wasm).out_name("web").typescript(false).keep_lld_exports(true);
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.web(true)?.generate(out).with_context(|| format!("wasm-bindgen on {}", wasm.display()))
}
