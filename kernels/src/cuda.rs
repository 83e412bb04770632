//! CUDA: the kernels of `kernels/cuda` as calls on given buffers, plain data that a GPU and the processor of the tests run alike, and the
//! backend that runs them on a GPU. No library of CUDA is needed to build it; at run time they are looked for.

pub mod call;
pub mod errors;
pub mod facts;
pub mod prebuilt;
pub mod sources;

#[cfg(target_os = "linux")]
mod answer;
#[cfg(target_os = "linux")]
pub mod backend;
#[cfg(target_os = "linux")]
mod cublaslt;
#[cfg(target_os = "linux")]
pub(crate) mod gpu;
#[cfg(not(target_family = "wasm"))]
pub mod libraries;
#[cfg(target_os = "linux")]
mod problem;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(not(target_family = "wasm"))]
pub mod support;
#[cfg(target_os = "linux")]
mod task;
