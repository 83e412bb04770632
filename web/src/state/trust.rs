//! State of the Trust view: published measurements against predictions by fits that left them out. Loaded with the view; until
//! then the address's filter is stored as text, together with the Model view's inputs.

pub mod answer;
pub mod filter;
pub mod rows;
pub mod words;

/// Keys of the row filter in the address: set, device, engine, format, tier, left-out group.
pub const FILTER_KEYS: [&str; 6] = ["fs", "fd", "fe", "ff", "ft", "fl"];
