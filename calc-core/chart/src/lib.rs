//! Draws answers: the roofline as plain scene data, and one drawing of it for canvas, SVG and anything else
//! that plotters has a backend for.
//!
//! ```text
//! Roofline (data) -> Scene::build (layout in pixels) -> draw (strokes on a backend)
//! ```
//!
//! Not here: the numbers (`calc-core`), their wording (`report`), the browser (`web`).
#![forbid(unsafe_code)]

pub mod mark;
pub mod theme;

pub mod axis;
pub mod geometry;
mod label;

pub mod curves;
pub mod front;
pub mod roofline;
pub mod scatter;
pub mod scene;
pub mod schemes;
pub mod sheet;
pub mod spans;

pub mod draw;
#[cfg(feature = "svg")]
pub mod svg;
