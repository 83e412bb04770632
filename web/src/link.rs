//! Client of the measuring daemon: connection, jobs, messages. It is loaded with the Measure view. Only `live` needs a browser.

pub mod address;
pub mod client;
pub mod connection;
pub mod from_wire;
pub mod jobs;
pub mod readings;
pub mod session;

#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod daemon_link;
pub mod engine;
