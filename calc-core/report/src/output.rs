//! Answers as published JSON, as sentences, as a document of lines and tables, and as formulas with their values.

pub mod accuracy;
pub mod address;
pub mod brief;
pub mod formulas;
pub mod json;
pub mod lesson;
pub mod summary;
pub mod table;
pub mod verdict;
pub mod words;
pub mod work;
