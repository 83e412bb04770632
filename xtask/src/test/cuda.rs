//! The CUDA kernels, compiled for every architecture without a GPU; the results stay in the cache.

use super::{Outcome, Run};
use crate::setup::cuda_compilers;

pub(super) fn check(job: &Run) -> anyhow::Result<Outcome> {
    cuda_compilers::compile(job.places)?;
    Ok(Outcome::Passed)
}
