//! The part of a model that one device holds: all of it, or a stage of a pipeline, without tables that lie beside a card.

use core::ops::Range;

use super::cache::{CacheBytes, cache_bytes};
use super::pages::Pooled;
use super::{embedding_weights, layer_weights, tied};
use crate::calibration::Engine;
use crate::device::Device;
use crate::gguf_file::is_mixed;
use crate::mixture::Mixture;
use crate::model_arch::{Ends, ModelArch};
use crate::precision::Precision;
use crate::software::{CacheRule, HostTables};
use crate::units::Bytes;
use crate::weight_size::PartBytes;
use crate::workload::Workload;

/// The part of a model on one device: all of it, or a stage of a pipeline.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeldPart<'a> {
    /// The tensor-parallel part of the model, from which the rules of an engine follow.
    pub whole: &'a ModelArch,
    /// Its layers on this device.
    pub part: &'a ModelArch,
    /// Their places in the model; `None` for all.
    pub layers: Option<&'a Range<u64>>,
    pub ends: Ends,
    /// Tables that the device does not have.
    pub host_tables: HostTables,
}

impl<'a> HeldPart<'a> {
    /// All layers on one device.
    pub(crate) const fn all(model: &'a ModelArch, host_tables: HostTables) -> Self {
        Self { whole: model, part: model, layers: None, ends: Ends::BOTH, host_tables }
    }

    /// The formats with the mixture of these layers; where those of a model file differ, the largest that they can have.
    pub(super) fn precision(&self, all: &Precision) -> Precision {
        let (stored, Some(layers)) = ((all.weights, all.experts), self.layers) else {
            return *all;
        };
        let mixture = if is_mixed(stored) {
            Mixture::of_layers(stored, self.whole, layers.clone())
        } else {
            all.mixture.of_part(stored, self.part, self.whole)
        };
        Precision { mixture, ..*all }
    }

    /// The matrix of the LM head that a device has in place of the embedding that is the same matrix, as stored.
    pub(super) fn copied_head(&self, precision: &Precision) -> Bytes {
        let is_copy = self.host_tables != HostTables::None || !self.ends.first;
        let has = is_copy && self.ends.last && self.part.tied_embeddings && self.part.has_head;
        if has { tied(self.part, precision) } else { Bytes::ZERO }
    }

    /// The KV cache of these layers.
    pub(crate) fn cache_bytes(
        &self,
        precision: &Precision,
        (engine, device): (Engine, &Device),
        workload: &Workload,
    ) -> CacheBytes {
        let rule = CacheRule::of(engine, device, self.whole);
        cache_bytes(&self.pooled(precision), &rule, workload)
    }

    /// These layers as pages of a pool have them.
    pub(crate) const fn pooled<'b>(&'b self, precision: &'b Precision) -> Pooled<'b> {
        Pooled { model: self.part, whole: self.whole, precision, times: 1 }
    }
}

/// [`part_bytes`] of a part of a model. A last stage has a copy of an embedding that is the LM head, too, and so has a card whose
/// embedding lies beside it.
pub(super) fn held_bytes(
    held: &HeldPart<'_>,
    precision: &Precision,
    expert_parallel: u64,
) -> PartBytes {
    let HeldPart { part, ends, host_tables, .. } = *held;
    let precision = &held.precision(precision);
    let (embedding, lm_head) = embedding_weights(part, precision);
    let own = embedding - input_tables(part, precision, host_tables);
    let embedding = if ends.first { own } else { Bytes::ZERO } + held.copied_head(precision);
    let lm_head = if ends.last { lm_head } else { Bytes::ZERO };
    let (layers, experts) = layer_weights(part, precision, expert_parallel);
    PartBytes { embedding, lm_head, layers, experts }
}

/// Bytes of the tables that an engine keeps beside a card, as stored.
pub(crate) fn input_tables(model: &ModelArch, precision: &Precision, tables: HostTables) -> Bytes {
    let tokens = tied(model, precision);
    match tables {
        HostTables::None => Bytes::ZERO,
        HostTables::Tokens => tokens,
        HostTables::All => tokens + layer_tables(model, precision),
    }
}

/// Bytes of embeddings per layer: the tables that a tensor split divides. Those of routers belong to their layers.
fn layer_tables(model: &ModelArch, precision: &Precision) -> Bytes {
    let tables = model.tables.iter().filter(|table| table.is_split);
    tables.map(|table| precision.embedding.stored_bytes(table.rows, table.cols)).sum()
}
