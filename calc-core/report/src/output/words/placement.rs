//! Sentences about a model on a card and its host: what lies where, and the options of llama.cpp that put it there.

use calc_core::calibration::Engine;
use calc_core::footprint::HostMemory;
use calc_core::model_arch::ModelArch;
use calc_core::tiers::{Placement, feed_forward_layers, first_layers};
use calc_core::units::Bytes;
use calc_core::workload::Workload;

use crate::number_text as n;

/// The parts that lie on the host: `the experts of the first 26 of 36 layers lie on the host`.
pub fn places(placement: &Placement, model: &ModelArch) -> String {
    let Placement { layers, feed_forward, cache, .. } = *placement;
    let (all, all_parts) = (model.n_layers, feed_forward_layers(model));
    let part = if model.has_experts() { "experts" } else { "MLPs" };
    let apart = feed_forward > Placement::of_layers(layers, model).feed_forward;
    let mut parts = Vec::new();
    if layers > 0 {
        parts.push(format!("the first {layers} of {all} layers"));
    }
    if apart && feed_forward == all_parts {
        parts.push(format!("the {part} of all layers"));
    } else if apart {
        parts.push(format!("the {part} of {feed_forward} of {all_parts} layers"));
    }
    if cache {
        parts.push("the KV cache".to_owned());
    }
    if parts.is_empty() {
        return "everything but the input embedding lies on the card".to_owned();
    }
    let is_one = matches!(parts.as_slice(), [_] if layers == 0 && cache && !apart);
    let verb = if is_one { "lies" } else { "lie" };
    format!("{} {verb} on the host, the rest on the card", parts.join(" and "))
}

/// The options of llama.cpp for a placement and the context of a workload.
pub fn options(placement: &Placement, model: &ModelArch, workload: &Workload) -> Vec<String> {
    let mut options = placing(placement, model);
    options.push(cells(model, workload));
    options
}

/// The sentence in place of options of llama.cpp, for an engine that has none of them.
pub fn no_option(engine: Engine) -> Option<&'static str> {
    (engine == Engine::Ollama).then_some(
        "Ollama has no option for this cut: it puts whole layers on the card by itself, and its cut may be another one",
    )
}

/// Number of tokens that an engine has to serve per sequence: the cached ones and the last, at most the model's context.
pub(super) fn served_tokens(arch: &ModelArch, workload: &Workload) -> u64 {
    let asked = workload.longest() + 1;
    arch.max_context.map_or(asked, |most| asked.min(most))
}

/// The options of llama.cpp that hold the sequences of a workload: `-c 4224 -np 1`.
pub(super) fn cells(model: &ModelArch, workload: &Workload) -> String {
    let cells = workload.batch.saturating_mul(served_tokens(model, workload));
    format!("-c {cells} -np {}", workload.batch)
}

/// The options of llama.cpp that make a placement.
pub fn placing(placement: &Placement, model: &ModelArch) -> Vec<String> {
    let Placement { layers, feed_forward, cache, copies } = *placement;
    let mut options = vec![format!("-ngl {}", layers_on_card(layers, model))];
    if feed_forward > Placement::of_layers(layers, model).feed_forward {
        let option = if model.has_experts() { "-ncmoe" } else { "-ncffn" };
        options.push(format!("{option} {}", first_layers(feed_forward, model)));
    }
    if cache {
        options.push("-nkvo".to_owned());
    }
    if !copies && (layers > 0 || feed_forward > 0) {
        options.push("--no-op-offload".to_owned());
    }
    options
}

/// The number of layers for `-ngl`, which counts from the last one: the output layer is one, and so is each layer that drafts in
/// files that have them. Others lack these, and there too large a number means all layers; with layers on the host, the smaller
/// number leaves the card no more than it has room for.
pub(super) fn layers_on_card(on_host: u64, model: &ModelArch) -> u64 {
    let drafting = if on_host == 0 { model.draft_layers } else { 0 };
    model.n_layers + 1 + drafting - on_host
}

/// Bytes on the host: `44.0 GB of weights, 1.2 GB of KV cache; 45.2 GB of 95.3 GB usable`.
pub fn bytes(host: &HostMemory) -> String {
    let cache = if host.kv_cache > Bytes::ZERO {
        format!(", {} of KV cache", n::bytes(host.kv_cache))
    } else {
        String::new()
    };
    let ssd = if host.on_ssd > Bytes::ZERO {
        format!(", and {} of the weights on the SSD", n::bytes(host.on_ssd))
    } else {
        String::new()
    };
    format!(
        "{} of weights{cache}; {} of {} usable in memory{ssd}",
        n::bytes(host.weights),
        n::bytes(host.in_memory()),
        n::bytes(host.usable)
    )
}

/// Measurements behind the factors of expected times on a host.
pub const MEASURED_ON: &str = "published runs of llama.cpp with weights in the memory of the host; the rate of its arithmetic and reads from an SSD are assumed";

/// Origin of the expected times on a host.
pub const BASIS: &str = "on the host: fitted on published runs of llama.cpp with weights in the memory of the host; the rate of its arithmetic and reads from an SSD are assumed";

/// Note that the energy of a split model leaves the processor out.
pub const ENERGY: &str =
    "the power of the processor is not counted: energy and power are those of the card";

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::catalog;

    #[test]
    fn layers_that_draft_are_among_those_on_the_card() {
        let mut model = catalog::model("deepseek-v3").expect("catalog key").arch.clone();
        let ngl = |placement: Placement, model: &ModelArch| placing(&placement, model).remove(0);
        let experts = Placement::of_feed_forward(20);
        model.draft_layers = 0;
        assert_eq!(ngl(experts, &model), "-ngl 62");
        // A file with the layer has blocks 0 to 61, and `-ngl 62` would leave the first on the processor.
        model.draft_layers = 1;
        assert_eq!(ngl(experts, &model), "-ngl 63");
        assert_eq!(ngl(Placement::of_layers(10, &model), &model), "-ngl 52");
    }
}
