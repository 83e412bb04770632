//! Tasks of the processor: allocated kernels with their reference results.

mod floats;
mod gemm;
mod gemv;
mod peak;
mod stream;

pub(super) use gemm::GemmTask;
pub(super) use gemv::{DISTINCT, GemvTask};
pub(super) use peak::PeakTask;
pub(super) use stream::{PAGE, StreamTask};
