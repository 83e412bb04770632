//! Kernels and measurement: packed formats, kernels on a backend, f64 references, statistics, and a stop rule that takes the
//! clock as an argument.

pub mod activation;
pub mod backend;
pub mod compare;
#[cfg(not(target_family = "wasm"))]
pub mod cpu;
pub mod cuda;
#[cfg(not(target_family = "wasm"))]
pub mod devices;
#[cfg(not(target_family = "wasm"))]
mod distinct;
pub mod job;
pub mod measure;
pub mod mutants;
pub mod pack;
pub mod random;
pub mod reference;
#[cfg(not(target_family = "wasm"))]
pub mod rotation;
pub mod stats;

/// Hash of this crate's sources, 16 hexadecimal digits; records identify the timed code by it.
pub const SOURCES: &str = env!("KERNEL_SOURCES");

/// Target and optimization level of this build.
pub const BUILD: &str = env!("KERNEL_BUILD");
