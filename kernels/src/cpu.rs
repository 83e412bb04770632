//! The processor of this machine: which instructions it has, threads that stay on their cores, and memory that they touch first.

pub mod buffer;
pub mod gemm;
pub mod gemv;
pub mod isa;
pub mod stream;
pub mod threads;
