//! Where scenes meet the browser.

pub mod canvas;
