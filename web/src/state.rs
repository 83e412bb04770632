//! What the reader chose (`inputs`), what follows from it (`derived`), and how both are kept in the address (`url`).
//! Everything here but `session`, `history` and `colors` is plain functions.

pub mod advice;
pub mod derived;
pub mod files;
pub mod inputs;
pub mod model;
pub mod names;
pub mod picker;
pub mod roving;
#[cfg(test)]
mod style_sheet;
pub mod url;

#[cfg(target_arch = "wasm32")]
pub mod colors;
#[cfg(target_arch = "wasm32")]
pub mod session;
