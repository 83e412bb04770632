//! Attacks and faults against the real binary, as tables: every row has the answer that it must get, and what must not have
//! happened after it. Rows have names: O are names and origins, T proofs and tokens, R resources, C clients and networks, D the
//! daemon and its storage, G workers.
//!
//! Slow and statistical rows are in `soak`, which `cargo xtask soak` runs: T13, silence beyond 45 s, the ten minutes of L1.
//!
//! Rows that are not tested here, and why:
//! - O26, the part about HTTP/2: the daemon speaks HTTP/1.1 only; its preface is refused (tested).
//! - T11: the fragment is removed by the page, so a browser test has it; the header `Referrer-Policy` is tested (O25).
//! - T16: the refusal is the page's; here the daemon's side is tested, that its proof fits one key and one handshake only.
//! - C03 with the link down: needs a network namespace, which an ordinary user may not have; the half-open part of it is in soak.
//! - D06, D07: belong to output files of quantization, which does not exist yet.
//! - D12: an error of fsync is a hook in the store, because a real one needs a file system of its own.
//! - D13: losing unsynced writes needs FUSE; that commits are synced is tested as a setting of the database.
//! - G03, G06, G09, G10, G11, G12: need a GPU, its driver, or a process in uninterruptible sleep.

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
#[cfg(feature = "soak")]
mod soak;
mod socket;
mod storage;
mod sweep;
mod unix;
mod workers;
