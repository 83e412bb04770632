//! The Model view.

pub mod view;
