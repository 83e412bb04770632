//! The processor as a backend: instruction sets, pinned threads, NUMA-local memory, kernels.

pub mod backend;
pub mod buffer;
pub mod clock;
pub mod core_clock;
pub mod device;
pub mod gemm;
pub mod gemv;
pub mod isa;
pub mod peak;
mod prefetch;
pub mod rotation;
pub mod stream;
pub mod support;
mod task;
pub mod threads;
