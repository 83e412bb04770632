//! The page: the user's inputs, the results derived from them, and the views.
//!
//! `state` and most of `link` are plain functions and data, tested natively; the rest is compiled for browsers only.
#![forbid(unsafe_code)]

pub mod link;
pub mod state;

#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod app;
#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod charts;
#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod chunks;
#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod components;
#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod worker;

#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub use app::start;
