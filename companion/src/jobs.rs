//! Jobs: stored before they are acknowledged, run one at a time, each in a worker process, and reported by numbered events.

mod admit;
mod child;
mod environment;
mod inspect;
mod journal;
mod limits;
mod memory;
pub(crate) mod message;
pub(crate) mod order;
pub(crate) mod predicted;
mod queue;
mod readings;
mod store;
mod tables;
mod wedged;

pub(crate) use admit::{device, has_room, is_possible};
#[cfg(all(test, debug_assertions))]
pub(crate) use child::{Cast, Played};
pub(crate) use child::{Workers, line, program};
pub(crate) use inspect::{Inspected, inspect};
pub(crate) use journal::{EventText, Journal, serialize};
pub(crate) use queue::Jobs;
pub(crate) use store::{Desk, Store};
pub(crate) use tables::{Listed, Wanted};
