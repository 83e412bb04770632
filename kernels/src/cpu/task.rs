//! Tasks of the processor: allocated kernels with their reference results.

mod attention;
mod embedding;
mod floats;
mod gemm;
mod gemv;
mod peak;
mod rows;
mod stream;

pub(super) use attention::AttentionTask;
pub(super) use embedding::EmbeddingTask;
pub(super) use gemm::GemmTask;
pub(super) use gemv::GemvTask;
pub(super) use peak::PeakTask;
pub(super) use rows::RowTask;
pub(super) use stream::StreamTask;
