//! Damaged inputs for tests: a target has inputs that a reader accepts, and gets them whole first, then damaged, for a time.
//!
//! Only tests use this crate; the reason that it is not a fuzzer of coverage is in `docs/adr/0023-fuzz.md`. What is random comes from
//! proptest, so a failure shrinks to few damages. An input that once failed goes into the corpus of its target.

#![forbid(unsafe_code)]

mod damage;
mod limits;
mod target;

pub use target::{Case, Target, Verdict};
