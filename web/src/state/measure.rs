//! The Measure view: what is asked of a daemon, and what its records say beside the prediction. All of it comes with the view.

pub mod answer;
pub mod crowd;
pub mod errors;
pub mod export;
pub mod form;
pub mod machine;
pub mod predict;
pub mod sensors;
pub mod words;
