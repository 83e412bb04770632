//! The page, from Rust source to a folder that any plain HTTP server can serve.
//!
//! The documents beside the page are rendered by `book`. `compile` makes WebAssembly and its JavaScript,
//! `streams` and `strip` leave out what nobody needs, `chunks` takes out what is needed later, `loader` fetches that, `import_names` shortens what program and script call each other, `first_answer` writes the text that needs no program, `offline` keeps the site in a browser, `markup` reads web/index.html, `site` puts a folder together (`squeeze` leaves comments out), `wire_size` says what a visitor transfers.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::Context;

use crate::places::Places;
use crate::{book, lock::FolderLock, setup::toolchain};

mod chunks;
mod compile;
mod first_answer;
mod import_names;
mod loader;
mod markup;
pub(crate) mod names;
mod offline;
mod site;
pub(crate) mod squeeze;
mod staging;
pub(crate) mod stand_in;
mod streams;
mod strip;
mod wire_size;

/// Builds the site into `out`, says how large it is, and fails if it is too large.
pub(crate) fn publish(places: &Places, out: &Path) -> anyhow::Result<()> {
    toolchain::ensure_target(toolchain::BROWSER)?;
    let lock = FolderLock::of_target(places)?;
    build(places, out)?;
    drop(lock);
    println!("the site is in {}", out.display());
    wire_size::report(out)
}

/// Builds the site into `out`. The caller holds the lock of the target folder.
pub(crate) fn build(places: &Places, out: &Path) -> anyhow::Result<()> {
    let start = Instant::now();
    let documents = book::render(&places.root)?;
    let compiled = compile::compile(places)?;
    let bound = places.target.join("bound");
    compile::bind(&compiled, &bound)?;
    fs::write(bound.join(first_answer::FILE), first_answer::compute(places)?)?;
    site::assemble(&places.root.join("web"), &bound, &documents, out)
        .with_context(|| format!("the site in {}", out.display()))?;
    println!("page built in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}
