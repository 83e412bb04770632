//! The Trust view: published measurements against what was predicted of them when they were left out of the fit.
//! All of it comes with the view. Until then what the address asks of it is carried as text, with what is asked of a model.

pub mod answer;
pub mod filter;
pub mod rows;
pub mod words;
