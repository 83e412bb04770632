//! Takes what is needed later out of the page's program: chunks, which share code, memory and tables with the program.
//!
//! A function of the crate `web` marked by `wasm_split` starts a chunk. What only it needs goes into the chunk.

use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};
use wasm_split_cli_support::{Options, transform};

use super::streams;

/// Loads the chunks. The program's script imports it, and it imports the program's script.
pub(crate) const LOADER: &str = "loader.js";

/// Splits `linked`, which needs its relocations, into a `program` that is ready for wasm-bindgen, and the chunks and their
/// loader in `out`.
pub(crate) fn split(linked: &Path, program: &Path, out: &Path) -> anyhow::Result<()> {
    let input = fs::read(linked).with_context(|| linked.display().to_string())?;
    let input = streams::leave_out(&input).with_context(|| linked.display().to_string())?;
    let (link_name, main_module) = (format!("./{LOADER}"), "./web.js");
    let mut options = Options::new(&input);
    options.output_dir = out;
    options.main_out_path = program;
    options.link_name = &link_name;
    options.main_module = main_module;
    transform(options)
        .map(drop)
        .map_err(|error| anyhow!("{error:#}"))
        .with_context(|| format!("chunks of {}", linked.display()))
}
