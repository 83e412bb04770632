//! The page: what the reader chose, what follows from it, and how it is shown.
//!
//! `state` is plain functions and data, tested natively; everything else needs a browser and is compiled for one only.
#![forbid(unsafe_code)]

pub mod state;

#[cfg(target_arch = "wasm32")]
pub mod app;
#[cfg(target_arch = "wasm32")]
pub mod charts;
#[cfg(target_arch = "wasm32")]
pub mod components;
#[cfg(target_arch = "wasm32")]
pub mod lazy;

#[cfg(target_arch = "wasm32")]
pub use app::start;
