//! State of the page: the user's inputs (`inputs`), the results derived from them (`derived`) and their encoding in the address
//! (`url`). All modules except `session`, `program`, `colors`, `tab` and `take_over` are plain functions.

pub mod advice;
pub mod check;
pub mod chunks;
pub mod claim;
pub mod compare;
pub mod computed_style;
pub mod derived;
pub mod editor;
pub mod explore;
pub mod export;
pub mod export_kinds;
pub mod files;
pub mod first_answer;
pub mod fragment;
pub mod goal;
pub mod history;
pub mod inputs;
pub mod legend;
pub mod marks;
pub mod measure;
pub mod model;
pub mod operator;
pub mod picker;
pub mod pins;
pub mod place;
pub mod plan;
pub mod points;
pub mod presets;
pub mod roving;
pub mod scenario;
pub mod several_cards;
pub mod slider;
pub mod stale;
#[cfg(test)]
mod style_sheet;
pub mod this_machine;
pub mod trust;
pub mod url;
pub mod weights;

#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod colors;
#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod program;
#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod session;
#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod tab;
#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod take_over;
