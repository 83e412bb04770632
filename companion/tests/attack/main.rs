//! Attacks and faults against the real binary, as tables: every row has the answer that it must get, and what must not have
//! happened after it. Rows have names: O are names and origins, T proofs and tokens, R resources, C clients and networks, D the
//! daemon and its storage, G workers.
//!
//! Slow and statistical rows are in `soak`, which `cargo xtask soak` runs: T13, silence beyond 45 s, the ten minutes of L1.
//!
//! Rows that are smaller than they could be, and why:
//! - C04: the client stops reading for a while in its own thread; a stopped process would look the same from the other side.
//! - C10: 240 races between the end and a cancel, not 1,000, because each is a process.
//! - R05, R09: what is sent is 10,000 orders and up to 1,000,000 frames per socket, but the daemon ends a socket long before, and
//!   that is what is tested.
//! - R13 to R17 and R08, R09 have a client that behaves beside them, whose 99th percentile is held against 250 ms in soak; single bad
//!   frames and bodies are over too soon for one, and only its answer afterwards is looked at.
//! - D01 to D05 die once at each place; repeats at random moments are one test with two kills, and one amid a real sweep.
//! - D11: fifteen limits on the size of files, 4 KiB apart where most writes fall, not every write.
//!
//! Rows that are not tested here, and why:
//! - O26, the part about HTTP/2: the daemon speaks HTTP/1.1 only; its preface is refused (tested).
//! - T11: the fragment is removed by the page, so a browser test has it; the header `Referrer-Policy` is tested (O25).
//! - T16: the refusal is the page's; here the daemon's side is tested, that its proof fits one key and one handshake only.
//! - C03 with the link down: needs a network namespace, which an ordinary user may not have; the half-open part of it is in soak.
//! - D06, D07: belong to output files of quantization, which does not exist yet.
//! - D12: an error of fsync is a hook in the store, because a real one needs a file system of its own.
//! - D13: losing unsynced writes needs FUSE; that commits are synced is tested as a setting of the database.
//! - G03, G06, G09, G10, G11: need a GPU, its driver, or a process in uninterruptible sleep. Of G12 the refusal is tested, the
//!   watchdog is not there.
//! - P, M, W, X but for X07 and X10: belong to files of models and to power modes, which the daemon does not have yet.

mod auth;
#[path = "../binary/mod.rs"]
mod binary;
mod clients;
mod floods;
mod harness;
mod keys;
mod log;
mod origin;
mod resources;
#[path = "../../src/worker/script.rs"]
mod script;
#[cfg(feature = "soak")]
mod soak;
mod socket;
mod storage;
mod sweep;
mod unix;
mod workers;
