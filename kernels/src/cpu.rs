//! The processor of this machine: which instructions it has, threads that stay on their cores, and memory that they touch first.

mod ahead;
pub mod backend;
pub mod buffer;
pub mod clock;
pub mod device;
pub mod gemm;
pub mod gemv;
pub mod isa;
pub mod peak;
pub mod rotation;
pub mod speed;
pub mod stream;
mod task;
pub mod threads;
