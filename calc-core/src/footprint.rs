//! Memory of one device: weights, KV cache, activations and reserve; and whether they fit.
//! Derivation: `docs/theory/memory.md`.

mod cache;
mod held;
mod pages;
mod roles;

pub(crate) use cache::pooled_rounding;
pub use cache::{CacheElements, cache_elements};
pub(crate) use held::{HeldPart, input_tables};
pub use pages::Pages;
pub(crate) use pages::{Pooled, pages};
pub(crate) use roles::weight_roles;
pub use roles::{WeightRole, parameter_roles};

use crate::calibration::Engine;
use crate::device::{Device, DeviceClass, UsableMemory};
use crate::gguf_file::is_mixed;
use crate::lowering::{Lowering, Step};
use crate::mixture::Mixture;
use crate::model_arch::ModelArch;
use crate::op::OpKind;
use crate::precision::Precision;
use crate::quant_format::QuantFormat;
use crate::software::{HostTables, TowerStages, largest_share};
use crate::tiers::{Divisible, feed_forward_layers, is_feed_forward};
use held::held_bytes;

pub use crate::tiers::HostMemory;
use crate::units::Bytes;
use crate::weight_size::{PartBytes, WeightScale};
use crate::workload::Workload;

/// Bytes per logit, whatever the carrier: samplers read FP32.
const LOGIT_BYTES: f64 = 4.0;

/// Memory that a model needs on one device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryFootprint {
    /// All weights of the language model on this device, as stored.
    pub weights: Bytes,
    /// Tables of the input that the engine keeps in the memory of the machine around the card, see [`crate::software::HostTables`]; in no sum.
    pub tables_on_host: Bytes,
    /// Weights of the towers for images and sound on this device, which has them whole, or not at all: see
    /// [`crate::software::TowerStages`].
    pub towers: Bytes,
    /// Weights of towers on the other devices of the group; in no sum but [`MemoryFootprint::group_total`].
    pub other_towers: Bytes,
    /// Keys, values and recurrent state of all sequences, which the model has to keep.
    pub kv_cache: Bytes,
    /// Bytes that the engine allots beside it, see [`crate::software::CacheRule`].
    pub cache_rounding: Bytes,
    /// The largest working set of a single operator of prefill, in the engine's chunks.
    pub activations: Bytes,
    /// Runtime, driver context, workspaces; assumed.
    pub reserve: Bytes,
    /// The draft model, which is whole on this device.
    pub draft: Option<DraftMemory>,
    /// Memory that a model may use.
    pub usable: UsableMemory,
    /// Bytes on the host of the card; the other parts are then those of the card alone.
    pub host: Option<HostMemory>,
}

/// Memory that the draft model of speculative decoding needs beside the model that it drafts for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DraftMemory {
    pub weights: Bytes,
    /// Keys, values and recurrent state of all sequences.
    pub kv_cache: Bytes,
    /// Bytes that the engine allots beside it.
    pub cache_rounding: Bytes,
    /// The largest working set of a single operator of prefill.
    pub activations: Bytes,
}

impl DraftMemory {
    /// The sum of all parts.
    pub fn total(&self) -> Bytes {
        self.weights + self.allotted_cache() + self.activations
    }

    /// The KV cache as the engine allots it.
    pub fn allotted_cache(&self) -> Bytes {
        self.kv_cache + self.cache_rounding
    }
}

/// Whether a model fits in memory: an answer, not an error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MemoryVerdict {
    Fits {
        /// Memory that is left.
        headroom: Bytes,
    },
    DoesNotFit {
        /// Memory that is short.
        missing: Bytes,
    },
    /// The installed memory is unknown; the supported maximum would suffice.
    Unknown {
        /// Memory that a model could use of the supported maximum.
        most: Bytes,
    },
}

impl MemoryVerdict {
    /// Compares the needed bytes with the usable memory.
    pub fn of(needs: Bytes, usable: UsableMemory) -> Self {
        let UsableMemory { bytes, is_known, .. } = usable;
        if needs > bytes {
            Self::DoesNotFit { missing: needs - bytes }
        } else if is_known {
            Self::Fits { headroom: bytes - needs }
        } else {
            Self::Unknown { most: bytes }
        }
    }

    /// True unless the model is known not to fit.
    pub const fn may_fit(&self) -> bool {
        match self {
            Self::Fits { .. } | Self::Unknown { .. } => true,
            Self::DoesNotFit { .. } => false,
        }
    }

    /// Whether the model fits; `None` if unknown.
    pub const fn fits(&self) -> Option<bool> {
        match self {
            Self::Fits { .. } => Some(true),
            Self::DoesNotFit { .. } => Some(false),
            Self::Unknown { .. } => None,
        }
    }
}

impl MemoryFootprint {
    /// The sum of all parts.
    pub fn total(&self) -> Bytes {
        self.split() + self.on_some_devices()
    }

    /// The sum of the parts that every device of a group has.
    fn split(&self) -> Bytes {
        self.weights + self.allotted_cache() + self.activations + self.reserve
    }

    /// The KV cache as the engine allots it.
    pub fn allotted_cache(&self) -> Bytes {
        self.kv_cache + self.cache_rounding
    }

    /// The sum of the parts that not every device of a group has: towers and draft model.
    fn on_some_devices(&self) -> Bytes {
        self.towers + self.draft.map_or(Bytes::ZERO, |draft| draft.total())
    }

    /// Memory of a group of devices that each need as much as this one; the draft model is on one of them, and towers where the
    /// engine has them.
    pub fn group_total(&self, devices: u64) -> Bytes {
        self.split() * devices as f64 + self.on_some_devices() + self.other_towers
    }

    /// KV caches of the model and of its draft model, as the engine allots them.
    pub fn kv_caches(&self) -> Bytes {
        self.allotted_cache() + self.draft.map_or(Bytes::ZERO, |draft| draft.allotted_cache())
    }

    /// Activations of the model and of its draft model.
    pub fn working_set(&self) -> Bytes {
        self.activations + self.draft.map_or(Bytes::ZERO, |draft| draft.activations)
    }

    /// Whether it fits, on the host, too.
    pub fn verdict(&self) -> MemoryVerdict {
        let own = MemoryVerdict::of(self.total(), self.usable);
        let missing = self.missing();
        if missing > Bytes::ZERO { MemoryVerdict::DoesNotFit { missing } } else { own }
    }

    /// Memory that is short, on the card and on its host.
    pub fn missing(&self) -> Bytes {
        let own = (self.total() - self.usable.bytes).max(Bytes::ZERO);
        own + self.host.map_or(Bytes::ZERO, |host| host.missing())
    }

    /// All that the model needs, and what card and host leave to it; for comparisons that know no places.
    pub fn both(&self) -> (Bytes, UsableMemory) {
        let Some(host) = self.host else { return (self.total(), self.usable) };
        let usable = UsableMemory { bytes: self.usable.bytes + host.usable, ..self.usable };
        let needs = self.total() + host.in_memory();
        let short = self.missing();
        (if short > Bytes::ZERO { needs.max(usable.bytes + short) } else { needs }, usable)
    }
}

/// Memory that the runtime occupies, by kind of device; assumed.
pub fn reserve(class: DeviceClass) -> Bytes {
    match class {
        DeviceClass::DiscreteGpu => Bytes::from_gb(0.6),
        DeviceClass::UnifiedGpu => Bytes::from_gb(0.4),
        DeviceClass::Cpu => Bytes::ZERO,
    }
}

/// Memory of one device of the group. `prefill` is the step with the largest activations; `scale` multiplies the weight bytes;
/// `engine` and `limit` cap what may be used.
pub(crate) fn footprint(
    (device, engine, limit): (&Device, Engine, Option<Bytes>),
    held: &HeldPart<'_>,
    precision: &Precision,
    workload: &Workload,
    (prefill, scale): (Step, &WeightScale),
) -> MemoryFootprint {
    let expert_parallel = workload.parallel.expert;
    let cache = held.cache_bytes(precision, (engine, device), workload);
    let parts = scaled(&held_bytes(held, precision, expert_parallel), scale);
    let PartBytes { embedding, lm_head, .. } = parts;
    let has_towers = TowerStages::of(engine).hold(held.ends);
    let towers = if has_towers { held.whole.tower_bytes() } else { Bytes::ZERO };
    MemoryFootprint {
        weights: (parts.layers + parts.experts) + (embedding + lm_head),
        tables_on_host: Bytes::ZERO,
        towers,
        other_towers: Bytes::ZERO,
        kv_cache: cache.kept,
        cache_rounding: cache.rounding,
        activations: activation_bytes(held, precision, prefill, expert_parallel),
        reserve: reserve(device.class),
        draft: None,
        usable: device.usable_memory(limit).allotted(
            device,
            largest_share(engine),
            reserve(device.class),
        ),
        host: None,
    }
}

/// The bytes that a placement divides. `scale` multiplies the weight bytes; `all` has the sums on one device with all `tables`, of
/// which an engine keeps some on the host.
pub(crate) fn divisible(
    (model, tables): (&ModelArch, HostTables),
    precision: &Precision,
    scale: &WeightScale,
    all: &MemoryFootprint,
) -> Divisible {
    let parts = scaled(&part_bytes(model, precision, 1), scale);
    let tables = input_tables(model, precision, tables);
    let copy =
        if model.tied_embeddings && model.has_head { tied(model, precision) } else { Bytes::ZERO };
    let (mut feed_forward, mut largest) = (Bytes::ZERO, Bytes::ZERO);
    // The first and the last layer of a GGUF file are among those with the most bits.
    let stored = (precision.weights, precision.experts);
    let ends = is_mixed(stored)
        .then(|| [0, model.n_layers - 1].map(|at| Mixture::of_layers(stored, model, at..at + 1)));
    model.matrices(&mut |matrix| {
        let (format, scale) = if matrix.expert {
            (precision.experts, scale.experts)
        } else {
            (precision.weights, scale.layers)
        };
        let mean = precision.mixture.ratio(matrix.kind);
        let ends = ends.iter().flatten().map(|mixture| mixture.ratio(matrix.kind));
        let most = ends.fold(mean, f64::max);
        let plain = format.stored_bytes(matrix.rows, matrix.cols) * scale;
        let one = plain * mean;
        let is_part = is_feed_forward(matrix.kind, model);
        if is_part {
            feed_forward += one * matrix.count as f64;
        }
        let layers = if matrix.expert { feed_forward_layers(model) } else { matrix.count };
        largest = largest.max(plain * most * (matrix.count / layers.max(1)) as f64);
    });
    Divisible {
        weights: all.weights,
        embedding: (tables - copy).max(Bytes::ZERO) * scale.embedding,
        copy: copy * scale.embedding,
        feed_forward,
        rest: parts.layers + parts.experts - feed_forward,
        largest,
    }
}

/// The matrix that is embedding and LM head.
fn tied(model: &ModelArch, precision: &Precision) -> Bytes {
    precision.embedding.stored_bytes(model.vocab_size, model.hidden_size)
}

/// Bytes of all weights of a whole model on one device.
pub fn weight_bytes(model: &ModelArch, precision: &Precision) -> Bytes {
    part_bytes(model, precision, 1).total()
}

/// Bytes of the weights by part, with the experts of one of `expert_parallel` devices.
pub(crate) fn part_bytes(
    model: &ModelArch,
    precision: &Precision,
    expert_parallel: u64,
) -> PartBytes {
    let (embedding, lm_head) = embedding_weights(model, precision);
    let (layers, experts) = layer_weights(model, precision, expert_parallel);
    PartBytes { embedding, lm_head, layers, experts }
}

fn scaled(parts: &PartBytes, scale: &WeightScale) -> PartBytes {
    PartBytes {
        embedding: parts.embedding * scale.embedding,
        lm_head: parts.lm_head * scale.lm_head,
        layers: parts.layers * scale.layers,
        experts: parts.experts * scale.experts,
    }
}

/// Mean bits per weight of a whole model, embeddings included.
pub fn bits_per_weight(model: &ModelArch, precision: &Precision) -> f64 {
    weight_bytes(model, precision).get() * 8.0 / model.n_params() as f64
}

/// Bytes of embedding and LM head together, with further tables.
pub fn table_bytes(model: &ModelArch, precision: &Precision) -> Bytes {
    let (embedding, lm_head) = embedding_weights(model, precision);
    embedding + lm_head
}

/// Bytes of the embedding and of the LM head; the latter are zero where both are one matrix.
fn embedding_weights(model: &ModelArch, precision: &Precision) -> (Bytes, Bytes) {
    let stored = |format: &QuantFormat| format.stored_bytes(model.vocab_size, model.hidden_size);
    let lm_head = if model.tied_embeddings { Bytes::ZERO } else { stored(precision.lm_head) };
    let tables: Bytes =
        model.tables.iter().map(|t| precision.embedding.stored_bytes(t.rows, t.cols)).sum();
    (stored(precision.embedding) + tables, lm_head)
}

/// Bytes of every layer matrix in its format with the vectors, and of the experts.
fn layer_weights(model: &ModelArch, precision: &Precision, expert_parallel: u64) -> (Bytes, Bytes) {
    let share = 1.0 / expert_parallel as f64;
    // Biases of experts are stored with their experts.
    let elsewhere = model.n_expert_biases() as f64 * (1.0 - share);
    let small = model.n_vector_params() as f64 - elsewhere;
    let mut layers = Bytes::new(small * precision.vectors.bytes_per_element());
    let mut experts = Bytes::ZERO;
    model.matrices(&mut |matrix| {
        let (sum, format, share) = if matrix.expert {
            (&mut experts, precision.experts, share)
        } else {
            (&mut layers, precision.weights, 1.0)
        };
        let bytes = format.stored_bytes(matrix.rows, matrix.cols) * (matrix.count as f64 * share);
        *sum += bytes * precision.mixture.ratio(matrix.kind);
    });
    (layers, experts)
}

/// The largest `activations` traffic of a single operator of a step with a prompt or a chunk of one, logits at 4 bytes each.
fn activation_bytes(
    HeldPart { part: model, ends, .. }: &HeldPart<'_>,
    precision: &Precision,
    prefill: Step,
    expert_parallel: u64,
) -> Bytes {
    let lowering = Lowering { model, precision, expert_parallel };
    let mut largest = Bytes::ZERO;
    lowering.step(prefill, &mut |op| {
        let mut bytes = op.cost.traffic.activations;
        match op.kind {
            OpKind::LmHead if !ends.last => return,
            OpKind::Embedding if !ends.first => return,
            OpKind::LmHead => {
                let logits = prefill.logits() as f64 * model.vocab_size as f64;
                bytes += Bytes::new(logits * (LOGIT_BYTES - precision.carrier.bytes_per_element()));
            }
            _ => {}
        }
        largest = largest.max(bytes);
    });
    largest
}
