//! Where scenes meet the browser.

mod backend;
pub mod canvas;
