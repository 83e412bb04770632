//! Answers of `recommend` by latency with the usual bounds, and their rows by key.

use calc_core::catalog;
use calc_core::device::Device;
use calc_core::recommend::{
    Bounds, Objective, Ranked, RankedPart, RecommendRequest, Recommendation, Task, recommend,
};

pub(crate) fn device(key: &str) -> &'static Device {
    catalog::device(key).expect("catalog key")
}

pub(crate) fn request(task: &Task<'static>, part: RankedPart) -> RecommendRequest<'static> {
    RecommendRequest { task: *task, objective: Objective::Latency, part, bounds: Bounds::default() }
}

pub(crate) fn answer(task: &Task<'static>, part: RankedPart) -> Recommendation {
    recommend(&request(task, part)).expect("a recommendation")
}

pub(crate) fn ranked<'a>(answer: &'a Recommendation, key: &str) -> &'a Ranked {
    let row = answer.ranked.iter().find(|row| row.scheme.key == key);
    row.unwrap_or_else(|| panic!("{key} is not ranked"))
}
