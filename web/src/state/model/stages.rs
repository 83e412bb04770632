//! Stages of a pipeline. What cuts a model into stages comes with the chunks in which their number can be entered.

use std::sync::OnceLock;

use calc_core::parallel::Pipeline;

static LOADED: OnceLock<fn(u64) -> Pipeline> = OnceLock::new();

/// Makes pipelines of several stages available. Every chunk in which their number can be entered calls this first.
pub fn load() {
    LOADED.get_or_init(|| Pipeline::of);
}

/// A pipeline; `None` for several stages before their chunk is there. Without the feature `lazy` it always is.
pub fn pipeline(stages: u64) -> Option<Pipeline> {
    if stages == 1 {
        return Some(Pipeline::ONE);
    }
    if cfg!(feature = "lazy") { Some(LOADED.get()?(stages)) } else { Some(Pipeline::of(stages)) }
}
