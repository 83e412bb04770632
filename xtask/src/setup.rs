//! Programs that the other jobs need: found, installed where that is allowed, or named in the error.

pub(crate) mod cargo_mutants;
pub(crate) mod chromium;
pub(crate) mod node_packages;
pub(crate) mod toolchain;
