//! Work that is ready to run on the processor.

mod peak;
mod stream;

pub(super) use peak::PeakTask;
pub(super) use stream::StreamTask;
