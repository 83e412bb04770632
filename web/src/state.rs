//! What the reader chose (`inputs`), what follows from it (`derived`), and how both are kept in the address (`url`).
//! Everything here but `session`, `program` and `colors` is plain functions.

pub mod advice;
pub mod check;
pub mod decimal;
pub mod derived;
pub mod editor;
pub mod explore;
pub mod export;
pub mod export_kinds;
pub mod files;
pub mod fragment;
pub mod goal;
pub mod inputs;
pub mod marks;
pub mod measure;
pub mod model;
pub mod operator;
pub mod picker;
pub mod place;
pub mod points;
pub mod presets;
pub mod roving;
#[cfg(test)]
mod style_sheet;
pub mod trust;
pub mod url;

#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod colors;
#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod program;
#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod session;
#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod take_over;
