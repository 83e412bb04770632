//! The messages between the page and the daemon: versioned, as tagged enums. Opening sockets is left to the callers.
//!
//! Decoding a client's message is strict: an unknown field is refused. Decoding a daemon's message is lenient: fields, events,
//! jobs and messages of a later version spoil nothing else ([`tolerant`]). Start at [`client::Ask`] and [`server::Say`]; the proofs of a shared key are in [`proof`].

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod ability;
pub mod bench;
pub mod client;
pub mod close;
pub mod device;
pub mod engine;
pub mod fault;
pub mod hex;
pub mod job;
pub mod limits;
pub mod proof;
pub mod scope;
pub mod server;
pub mod sizes;
pub mod telemetry;
pub mod tolerant;

/// Version of the messages; a change that an older side cannot read increases it.
pub const VERSION: u32 = 1;

/// WebSocket subprotocol that a client names when it opens the socket.
pub const SUBPROTOCOL: &str = "ridgepoint.v1";
