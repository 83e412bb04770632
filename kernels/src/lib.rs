//! What is timed, and how: packed formats, kernels on a backend, f64 references, statistics and a stop rule that take the
//! clock as an argument.

pub mod activation;
pub mod backend;
pub mod compare;
#[cfg(not(target_family = "wasm"))]
pub mod cpu;
pub mod job;
pub mod measure;
pub mod mutants;
pub mod pack;
pub mod random;
pub mod reference;
pub mod stats;

/// Sixteen hexadecimal digits that stand for the sources of this crate: records say by them which kernels were timed.
pub const SOURCES: &str = env!("KERNEL_SOURCES");

/// For which target these kernels were compiled, and how far they were optimized.
pub const BUILD: &str = env!("KERNEL_BUILD");
