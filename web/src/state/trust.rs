//! State of the Trust view: published measurements against predictions by fits that left them out. Loaded with the view; until
//! then the address's filter is stored as text, together with the Model view's inputs.

pub mod answer;
pub mod filter;
pub mod rows;
pub mod words;
