//! What crosses the wire between the page and the daemon: versioned messages as tagged enums, and nothing that opens a socket.
//!
//! Messages of clients are strict: an unknown field is refused. Messages of the daemon are lenient: a client passes over what a
//! later version added. Start at [`client::Ask`] and [`server::Say`]; the proofs of a shared key are in [`proof`].

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod bench;
pub mod client;
pub mod close;
pub mod fault;
pub mod hex;
pub mod job;
pub mod limits;
pub mod proof;
pub mod scope;
pub mod server;
pub mod telemetry;

/// The version of the messages; a change that an older side cannot read raises it.
pub const VERSION: u32 = 1;

/// The subprotocol that a client names when it opens the socket.
pub const SUBPROTOCOL: &str = "ridgepoint.v1";
