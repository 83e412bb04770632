//! The processor of this machine: which instructions it has, threads that stay on their cores, and memory that they touch first.

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
mod task;
pub mod threads;
