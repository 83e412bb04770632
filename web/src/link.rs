//! The way to the daemon that measures: connection, jobs, messages. It comes with the Measure view; everything here but `live`
//! is plain functions.

pub mod address;
pub mod book;
pub mod client;
pub mod connection;
pub mod from_wire;

#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod live;
