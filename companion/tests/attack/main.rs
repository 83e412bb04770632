//! Attacks and faults against the real binary, as tables: every row states the required answer and the effects that must not
//! occur. Rows have names: O are host names and origins, T proofs and tokens, R resources, F files of the page, C clients and networks, D the daemon
//! and its storage, G workers.
//!
//! Slow and statistical rows are in `soak`, which `cargo xtask soak` runs: T13, silence beyond 45 s, the ten minutes of L1.
//!
//! Rows that are smaller than specified, with the reason:
//! - C04: the client stops reading for a while in its own thread; a stopped process would look the same from the other side.
//! - C10: 240 races between the end and a cancel, not 1,000, because each is a process.
//! - R05, R09: 10,000 orders and up to 1,000,000 frames per socket are sent, but the daemon closes a socket long before; the test
//!   checks that it does.
//! - R13 to R17 and R08, R09 run beside a well-behaved client, whose 99th percentile has the limit 250 ms in soak; single bad
//!   frames and bodies are over too soon for that, so only the client's answer afterwards is checked.
//! - D01 to D05 kill the daemon once at each place; random moments are covered by one test with two kills and one during a sweep.
//! - D11: fifteen limits on the file size, 4 KiB apart where most writes happen, not every write.
//!
//! Rows that are not tested here, with the reason:
//! - O26, the part about HTTP/2: the daemon supports HTTP/1.1 only; its preface is refused (tested).
//! - T11: the page removes the fragment, so a browser test covers it; the header `Referrer-Policy` is tested (O25).
//! - T16: the page refuses; the daemon's side is tested here: its proof is bound to one key and one handshake.
//! - C03 with the link down: needs a network namespace, which an ordinary user may not have; the half-open part of it is in soak.
//! - D06, D07: belong to output files of quantization, which does not exist yet.
//! - D12: an fsync error is simulated by a hook in the store, because a real one needs a file system of its own.
//! - D13: losing unsynced writes needs FUSE; that commits are synced is tested as a setting of the daemon's own connection, by which the
//!   simulation in `src/server/simulation.rs` decides what a loss of power leaves.
//! - G06: needs a process in uninterruptible sleep; `src/server/rest/wedged.rs` tests the daemon with a played one. G03, G09, G10 and G11
//!   are tested with a driver and a management library that the tests build, not with a GPU. Of G12 the refusal and the watchdog are
//!   tested with a memory that a hook tells.
//! - P, M, W, X except X07 and X10: concern model files and power modes, which the daemon does not have yet.

mod auth;
#[path = "../binary/mod.rs"]
mod binary;
mod calls;
mod clients;
mod devices;
mod engines;
mod expiry;
mod fair;
mod files;
mod floods;
mod harness;
mod keys;
mod log;
mod nvml;
mod origin;
mod patience;
mod pauses;
mod resources;
mod room;
mod sandbox;
mod schemas;
mod scopes;
#[path = "../../src/worker/script.rs"]
mod script;
mod sensors;
#[cfg(feature = "soak")]
mod soak;
mod socket;
mod storage;
mod sweep;
mod unix;
#[path = "../../protocol/tests/v0/messages.rs"]
mod v0;
mod workers;
