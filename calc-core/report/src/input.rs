//! Parsing of requests from flags, JSON lines and the page, and of users' files. Every mistake is a [`RequestError`].

pub mod calibration_file;
pub mod csv_line;
pub mod device_file;
pub mod error;
pub mod image_input;
pub mod json_input;
pub mod measurements;
pub mod model_file;
pub mod named_model;
pub mod number_input;
pub mod range;
pub mod request;
pub mod timed_kernel;
pub mod weight_file;

pub use error::RequestError;
