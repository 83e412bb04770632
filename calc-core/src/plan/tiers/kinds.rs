//! The kinds of placements that are tried, and the memory of card and host in one of them.

use alloc::vec::Vec;

use crate::footprint::MemoryFootprint;
use crate::gguf_file::is_mixed;
use crate::mixture::Mixture;
use crate::model_arch::ModelArch;
use crate::op::OpKind;
use crate::plan::Plan;
use crate::precision::Precision;
use crate::tiers::{
    Divisible, Host, HostMemory, Placement, feed_forward_layers, first_layers, is_feed_forward,
    share,
};
use crate::units::Bytes;
use crate::workload::Workload;

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
    (host, shares): (&Host, &PrefixShares),
) -> MemoryFootprint {
    let feed_forward = shares.feed_forward(placement.feed_forward, model);
    let weights = parts.host_weights(feed_forward, shares.rest(placement.layers, model));
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

impl Plan<'_> {
    /// The placement without which least is missing; everything is on the host if the card holds nothing.
    pub(super) fn least_missing(&self, workload: &Workload) -> Placement {
        let model = self.model();
        let missing = |placement: &Placement| self.divided(workload, placement).missing().get();
        let all = kinds(model).into_iter().flat_map(|(most, kind)| {
            (0..=most).map(move |count| Placement { copies: false, ..kind(count, model) })
        });
        all.min_by(|a, b| missing(a).total_cmp(&missing(b))).unwrap_or(Placement::ON_CARD)
    }
}

/// Shares of the bytes in the first layers of a GGUF file, whose layers have different formats; empty where all are alike.
#[derive(Debug, Clone, Default)]
pub(super) struct PrefixShares {
    /// Share of the routed experts, or MLPs, in the first layers that have them, by the number of these layers.
    feed_forward: Vec<f64>,
    /// Share of the other weights in the first layers, by the number of layers.
    rest: Vec<f64>,
}

impl PrefixShares {
    /// The shares of a model in these formats.
    pub(super) fn of(model: &ModelArch, precision: &Precision) -> Self {
        let stored = (precision.weights, precision.experts);
        if !is_mixed(stored) {
            return Self::default();
        }
        let bytes = |layer: u64| {
            let mixture = Mixture::of_layers(stored, model, layer..layer + 1);
            let (mut feed_forward, mut rest) = (Bytes::ZERO, Bytes::ZERO);
            model.matrices(&mut |matrix| {
                let format = if matrix.expert { stored.1 } else { stored.0 };
                let all = format.stored_bytes(matrix.rows, matrix.cols) * matrix.count as f64;
                let is_part = is_feed_forward(matrix.kind, model);
                let sum = if is_part { &mut feed_forward } else { &mut rest };
                *sum += all * mixture.ratio(matrix.kind);
            });
            (feed_forward, rest)
        };
        let layers: Vec<(Bytes, Bytes)> = (0..model.n_layers).map(bytes).collect();
        let place = |count| usize::try_from(first_layers(count, model).max(1) - 1).unwrap_or(0);
        let parts = (1..=feed_forward_layers(model)).map(place);
        let feed_forward = parts.map(|place| layers.get(place).map_or(Bytes::ZERO, |it| it.0));
        Self {
            feed_forward: prefixes(&feed_forward.collect::<Vec<_>>()),
            rest: prefixes(&layers.iter().map(|it| it.1).collect::<Vec<_>>()),
        }
    }

    /// Share of the experts, or MLPs, in the first `count` layers that have them.
    fn feed_forward(&self, count: u64, model: &ModelArch) -> f64 {
        Self::at(&self.feed_forward, count, feed_forward_layers(model))
    }

    /// Share of the other weights in the first `count` layers.
    fn rest(&self, count: u64, model: &ModelArch) -> f64 {
        Self::at(&self.rest, count, model.n_layers)
    }

    fn at(prefixes: &[f64], count: u64, all: u64) -> f64 {
        let known = usize::try_from(count).ok().and_then(|count| prefixes.get(count));
        known.copied().unwrap_or_else(|| share(count, all))
    }
}

/// Shares of the sum in the first terms, from none to all of them.
fn prefixes(terms: &[Bytes]) -> Vec<f64> {
    let all: Bytes = terms.iter().copied().sum();
    let sums = terms.iter().scan(Bytes::ZERO, |sum, term| {
        *sum += *term;
        Some(if all > Bytes::ZERO { *sum / all } else { 0.0 })
    });
    core::iter::once(0.0).chain(sums).collect()
}
