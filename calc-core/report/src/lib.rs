//! How an answer is said: requests and published JSON, sentences, numbers as text, tables. One wording for page, command
//! line and REST. What is not here: formulas (`calc-core`), drawings (`chart`), and any input or output.

pub mod accuracy;
pub mod calibration_file;
pub mod device_file;
pub mod json;
pub mod json_input;
pub mod model_file;
pub mod named_model;
pub mod number_input;
pub mod number_text;
pub mod request;
pub mod summary;
pub mod table;
pub mod verdict;
pub mod words;
pub mod work;
