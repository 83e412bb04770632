//! Notes to answers of a model that is split over devices.

use calc_core::estimate::Estimate;
use calc_core::parallel::Parallel;

/// Note on the memory of a stage where the layers of a file differ.
const STAGE_FORMATS: &str = "layers of the file have different formats; the fullest device is counted with as many bytes as it can have";

/// The note on the memory of stages, and of unlike cards, where the layers of a file differ.
pub(super) fn stage_formats(parallel: &Parallel, answer: &Estimate) -> Option<String> {
    let cards = answer.cards.iter().filter(|card| !card.layers.is_empty()).count();
    let has_stages = parallel.pipeline.stages() > 1 || cards > 1;
    let is_bound = has_stages && answer.precision.mixture.differs_by_layer();
    is_bound.then(|| STAGE_FORMATS.to_owned())
}

/// Notes that tell numbers of one device of a group from numbers of the whole group.
pub fn split_notes(parallel: &Parallel) -> Vec<String> {
    let (devices, sharing) = (parallel.devices(), parallel.tensor * parallel.expert);
    let note = match (sharing > 1, parallel.pipeline.stages()) {
        (false, 1) => return Vec::new(),
        (true, 1) => format!(
            "work, traffic and memory are per device, {devices} devices; energy and power are those of all"
        ),
        (false, stages) => format!(
            "memory is that of the fullest of {stages} stages; work, time and energy are those of all"
        ),
        (true, stages) => format!(
            "memory is that of one device of the fullest of {stages} stages; work and traffic are those of one device of each \
             stage, added up; time, energy and power are those of all {devices} devices"
        ),
    };
    vec![note]
}
