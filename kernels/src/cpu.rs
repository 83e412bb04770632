//! The processor as a backend: instruction sets, pinned threads, NUMA-local memory, kernels.

mod attention;
pub mod backend;
pub mod buffer;
pub mod clock;
pub mod core_clock;
pub mod device;
mod disjoint_rows;
pub mod gemm;
pub mod gemv;
pub mod isa;
mod lanes;
pub mod launch;
pub mod peak;
mod prefetch;
pub mod rotation;
mod rows;
pub mod stream;
pub mod support;
mod task;
pub mod threads;
