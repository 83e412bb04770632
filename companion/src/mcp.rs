//! The Model Context Protocol: programs that talk to a language model ask the questions of the command line as tools. This module has the
//! messages and the tools; one transport is `stdio`, the other is the daemon's HTTP (`server::mcp`).

mod answers;
mod message;
mod respond;
mod revision;
mod schema;
mod stdio;
mod tool;
mod tools;

pub(crate) use message::{HEADER_MISMATCH, Incoming, NO_METHOD, RpcError, parse};
pub(crate) use respond::{Context, RpcReply, Source, respond};
pub(crate) use revision::{DATED, META_VERSION, unsupported};
pub(crate) use stdio::serve;
