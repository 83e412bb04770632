//! Work that is ready to run on the processor.

mod floats;
mod gemm;
mod gemv;
mod peak;
mod stream;

pub(super) use gemm::GemmTask;
pub(super) use gemv::{DISTINCT, GemvTask};
pub(super) use peak::PeakTask;
pub(super) use stream::{PAGE, StreamTask};
