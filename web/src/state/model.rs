//! The Model view's part of the state: what is asked of a whole model.

pub mod inputs;
pub mod url;
