//! What the other jobs need on the machine: found, or installed where that is allowed, or named in the error.

pub(crate) mod chromium;
pub(crate) mod node_packages;
pub(crate) mod toolchain;
