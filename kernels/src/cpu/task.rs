//! Work that is ready to run on the processor.

mod gemv;
mod peak;
mod stream;

pub(super) use gemv::GemvTask;
pub(super) use peak::PeakTask;
pub(super) use stream::StreamTask;
