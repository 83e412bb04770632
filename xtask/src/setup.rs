//! Programs that the other jobs need: found, installed where that is allowed, or named in the error.

pub(crate) mod cargo_mutants;
pub(crate) mod chromium;
pub(crate) mod cuda_compilers;
mod debian;
pub(crate) mod node_packages;
pub(crate) mod toolchain;
pub(crate) mod wheels;
