//! How an answer is drawn: the roofline as plain scene data, and one drawing of it for canvas, SVG and anything else
//! that plotters has a backend for.
//!
//! ```text
//! Roofline (what to show) -> Scene::build (where everything is) -> draw (strokes on a backend)
//! ```
//!
//! What is not here: what the numbers are (`calc-core`), their words (`report`), the browser (`web`).
#![forbid(unsafe_code)]

pub mod mark;
pub mod theme;

pub mod axis;
mod fan;
pub mod geometry;
mod label;

pub mod curves;
pub mod roofline;
pub mod scatter;
pub mod scene;

pub mod draw;
#[cfg(feature = "svg")]
pub mod svg;
