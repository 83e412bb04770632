//! Reading: requests from flags, JSON lines and the page; files of users. Anything wrong becomes a [`RequestError`].

pub mod calibration_file;
pub mod device_file;
pub mod error;
pub mod json_input;
pub mod model_file;
pub mod named_model;
pub mod number_input;
pub mod request;

pub use error::RequestError;
