//! The kinds of placements that are tried, and the memory of card and host in one of them.

use crate::footprint::MemoryFootprint;
use crate::model_arch::ModelArch;
use crate::op::OpKind;
use crate::tiers::{Divisible, Host, HostMemory, Placement, feed_forward_layers};

/// A kind of placement: the most that it puts on the host, and the placement with a number of layers there.
pub(super) type PlacementKind = (u64, fn(u64, &ModelArch) -> Placement);

/// The kinds of placements: MLPs or experts, the same with the cache, whole layers, and whole layers beside all experts.
pub(super) fn kinds(model: &ModelArch) -> [PlacementKind; 4] {
    let feed_forward = feed_forward_layers(model);
    [
        (feed_forward, |count, _| Placement::of_feed_forward(count)),
        (feed_forward, |count, _| Placement { cache: true, ..Placement::of_feed_forward(count) }),
        (model.n_layers, Placement::of_layers),
        (model.n_layers, |count, model| Placement {
            layers: count,
            ..Placement::of_feed_forward(feed_forward_layers(model))
        }),
    ]
}

/// The memory of a model on a card, divided between card and host.
pub(super) fn split(
    all: &MemoryFootprint,
    parts: &Divisible,
    (placement, model): (&Placement, &ModelArch),
    host: &Host,
) -> MemoryFootprint {
    let weights = parts.host_weights(placement, model);
    let there = (weights + parts.copy, parts.copy);
    let cache = placement.share(OpKind::KvAppend, model);
    MemoryFootprint {
        weights: all.weights - weights,
        kv_cache: all.kv_cache * (1.0 - cache),
        cache_rounding: all.cache_rounding * (1.0 - cache),
        activations: all.activations + parts.copied(placement),
        host: Some(HostMemory::new(there, all.allotted_cache() * cache, host)),
        ..*all
    }
}
