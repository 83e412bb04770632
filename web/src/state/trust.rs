//! The Trust view: published measurements against what was predicted of them when they were left out of the fit.
//! Only `asked` is there from the start; the rest, and the rows, come with the view.

pub mod answer;
pub mod asked;
pub mod filter;
pub mod rows;
pub mod words;
