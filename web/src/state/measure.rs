//! State of the Measure view: jobs to request from a daemon, and its records beside the predictions. Loaded with the view.

pub mod answer;
pub mod chart_points;
pub mod engine;
pub mod errors;
pub mod export;
pub mod form;
pub mod grade;
pub mod job_words;
pub mod machine;
pub mod permission;
pub mod predict;
pub mod readings;
pub mod sensors;
pub mod spot;
pub mod words;
