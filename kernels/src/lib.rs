//! What is timed, and how: packed formats, kernels on a backend, f64 references, statistics and a stop rule that take the
//! clock as an argument.

pub mod backend;
pub mod job;
pub mod measure;
pub mod random;
pub mod stats;

#[cfg(not(target_family = "wasm"))]
pub mod cpu;

/// Sixteen hexadecimal digits that stand for the sources of this crate: records say by them which kernels were timed.
pub const SOURCES: &str = env!("KERNEL_SOURCES");
