//! Memory of a plan: one device of the group, the draft model included.

use alloc::vec::Vec;

use super::Plan;
use super::place::Place;
use super::request::EstimateRequest;
use crate::calibration::Engine;
use crate::device::Device;
use crate::error::{Error, real_in_range};
use crate::footprint::{
    DraftMemory, HeldPart, MemoryFootprint, Pages, Pooled, WeightRole, footprint, input_tables,
    pages, part_bytes, pooled_rounding, table_bytes, weight_bytes, weight_roles,
};
use crate::model_arch::ModelArch;
use crate::parallel::{Parallel, Stage};
use crate::precision::Precision;
use crate::roofline::Roofs;
use crate::software::{CacheRule, HostTables, TowerStages};
use crate::units::Bytes;
use crate::weight_size::{WEIGHT_BITS, WEIGHT_GB, WeightScale, WeightSize};
use crate::workload::Workload;

impl Plan<'_> {
    /// Memory of one device of the group.
    pub fn footprint(&self) -> MemoryFootprint {
        self.footprint_of(&self.request.workload)
    }

    /// Memory of one device of the group for another workload with the same split, and of its host.
    pub fn footprint_of(&self, workload: &Workload) -> MemoryFootprint {
        self.memory_of(workload)
    }

    /// Bytes of the weights of one device by role, without those of a draft model and of towers. Weights on a host are included.
    pub fn weight_roles(&self) -> Vec<(WeightRole, Bytes)> {
        let workload = &self.request.workload;
        let (held, _) = self.fullest(workload);
        weight_roles(&held, &self.precision, workload.parallel.expert, &self.weight_scale)
    }

    /// The parts of the model on the devices of a pipeline, each with the index of its stage; all of it without one.
    fn held(&self) -> impl Iterator<Item = (usize, HeldPart<'_>)> {
        let all = || (0, HeldPart::all(self.model(), self.host_tables()));
        let all = self.stages.is_empty().then(all);
        let stages = (0..self.stages.len()).filter_map(|index| Some((index, self.held_at(index)?)));
        all.into_iter().chain(stages)
    }

    /// The part of the model that a stage has; `None` for one without layers.
    pub(super) fn held_at(&self, stage: usize) -> Option<HeldPart<'_>> {
        let Stage { part, ends, layers } =
            self.stages.get(stage).filter(|stage| !stage.is_idle())?;
        let (whole, host_tables) = (self.model(), self.host_tables());
        Some(HeldPart { whole, part, layers: Some(layers), ends: *ends, host_tables })
    }

    /// The tables that lie beside the card. With a host, a placement divides them.
    pub(super) fn host_tables(&self) -> HostTables {
        if self.tiers.is_some() {
            return HostTables::None;
        }
        HostTables::of(self.tuned.engine, self.request.device)
    }

    /// Bytes of the tables beside the cards of the group, of model and draft model.
    fn tables_on_host(&self) -> Bytes {
        let tables = self.host_tables();
        let own = input_tables(self.model(), &self.precision, tables) * self.weight_scale.embedding;
        let draft = self.draft.filter(|_| !self.has_own_drafts());
        let draft = draft.map_or(Bytes::ZERO, |draft| {
            input_tables(draft.model, &draft.precision, tables) * draft.scale.embedding
        });
        own * self.request.workload.parallel.tensor as f64 + draft
    }

    /// The part of the model with the least memory to spare on its device, and its memory without a draft model.
    fn fullest(&self, workload: &Workload) -> (HeldPart<'_>, MemoryFootprint) {
        let short = |footprint: &MemoryFootprint| footprint.total() - footprint.usable.bytes;
        let all = self
            .held()
            .map(|(stage, held)| (held, self.memory_on(&held, workload, &self.place_of(stage))));
        let fullest = all.reduce(|a, b| if short(&b.1) > short(&a.1) { b } else { a });
        fullest.expect("a model has layers, and some device has them")
    }

    /// Memory of a part of the model on a device, without a draft model.
    pub(super) fn memory_on(
        &self,
        held: &HeldPart<'_>,
        workload: &Workload,
        place: &Place<'_>,
    ) -> MemoryFootprint {
        let own = (place.device, self.tuned.engine, place.memory_limit);
        let largest = (self.largest_step(workload), &self.weight_scale);
        let footprint = footprint(own, held, &self.precision, workload, largest);
        let encoder = || self.encoded(workload).map_or(Bytes::ZERO, |encoded| encoded.activations);
        let runs_towers = TowerStages::of(self.tuned.engine).run(held.ends);
        let towers = if runs_towers { encoder() } else { Bytes::ZERO };
        let logits = || micro_batch_logits(own, held.whole, workload);
        let last = if held.ends.last { logits() } else { Bytes::ZERO };
        MemoryFootprint { activations: footprint.activations.max(towers).max(last), ..footprint }
    }

    /// Memory of one device of the group if all of the model lies on it.
    pub(super) fn on_card(&self, workload: &Workload) -> MemoryFootprint {
        let EstimateRequest { device, memory_limit, .. } = self.request;
        let place = (device, self.tuned.engine, memory_limit);
        let (held, own) = self.fullest(workload);
        let draft = self.draft.map(|StoredDraft { model, precision, scale }| {
            let workload = workload.alone();
            let largest = (self.largest_step(&workload), &scale);
            let (tables, shared) = if self.has_own_drafts() {
                (HostTables::None, table_bytes(model, &precision))
            } else {
                (self.host_tables(), Bytes::ZERO)
            };
            let MemoryFootprint { weights, kv_cache, cache_rounding, activations, .. } =
                footprint(place, &HeldPart::all(model, tables), &precision, &workload, largest);
            let activations = activations.max(micro_batch_logits(place, model, &workload));
            let layers = self.draft_layers(model) as f64;
            DraftMemory {
                weights: (weights - shared) * layers,
                kv_cache: kv_cache * layers,
                cache_rounding: cache_rounding * layers,
                activations,
            }
        });
        let tables_on_host = self.tables_on_host();
        let other_towers = self.model().tower_bytes() * self.towers() as f64 - own.towers;
        let own = MemoryFootprint { tables_on_host, other_towers, draft, ..own };
        let more = self.drafting_rounding(&held, workload, own.kv_caches());
        MemoryFootprint { cache_rounding: own.cache_rounding + more, ..own }
    }

    /// Number of devices of the group with towers; a tensor-parallel group, which shares them, counts as one.
    fn towers(&self) -> u64 {
        let Parallel { pipeline, expert, .. } = self.request.workload.parallel;
        match TowerStages::of(self.tuned.engine) {
            TowerStages::First | TowerStages::Last => 1,
            TowerStages::Each => pipeline.stages().saturating_mul(expert),
        }
    }

    /// The pages of the cache of the fullest device, the draft model's included; `None` where its engine has none.
    pub fn pages(&self) -> Option<Pages> {
        let (held, _) = self.fullest(&self.request.workload);
        self.in_pool(&held, pages)
    }

    /// Bytes of the pages that layers of the draft model add to those of the model, beside the caches of each `alone`.
    fn drafting_rounding(&self, held: &HeldPart<'_>, workload: &Workload, alone: Bytes) -> Bytes {
        if self.draft.is_none() {
            return Bytes::ZERO;
        }
        self.in_pool(held, |pooled, rule| pooled_rounding(pooled, alone, rule, workload))
    }

    /// Calls a function with all that takes pages from the pool of a device, and with the rule of its engine. The engine divides
    /// the layers of a draft model as those of the model.
    fn in_pool<T>(
        &self,
        held: &HeldPart<'_>,
        call: impl FnOnce(&[Pooled<'_>], &CacheRule) -> T,
    ) -> T {
        let rule = CacheRule::of(self.tuned.engine, self.request.device, held.whole);
        let own = held.pooled(&self.precision);
        let Some(draft) = &self.draft else { return call(&[own], &rule) };
        let model = &draft.model.shard(self.request.workload.parallel.tensor);
        let times = self.draft_layers(draft.model);
        call(&[own, Pooled { model, whole: model, precision: &draft.precision, times }], &rule)
    }

    /// Allotted KV cache bytes of one device, including the draft model's, at a context, or at the end of the generation where that is
    /// longer. Of the stages of a pipeline the one with the largest cache counts.
    pub fn kv_caches_at(&self, context: u64) -> Bytes {
        let workload = Workload { context, ..self.request.workload };
        let place = (self.tuned.engine, self.request.device);
        let draft = self.draft.as_ref().map_or(Bytes::ZERO, |draft| {
            let held = HeldPart::all(draft.model, HostTables::None);
            let one = held.cache_bytes(&draft.precision, place, &workload.alone());
            one.total() * self.draft_layers(draft.model) as f64
        });
        let all = self.held().map(|(_, held)| {
            let alone = held.cache_bytes(&self.precision, place, &workload).total() + draft;
            alone + self.drafting_rounding(&held, &workload, alone)
        });
        all.fold(Bytes::ZERO, Bytes::max)
    }

    /// Number of times that a draft model is in memory: each of several own layers has weights and a cache of its own, and a drafted
    /// token comes from one of them.
    fn draft_layers(&self, draft: &ModelArch) -> u64 {
        if self.has_own_drafts() { draft.draft_layers.max(1) } else { 1 }
    }

    /// True if the model's own layers draft, which share its embedding and LM head.
    fn has_own_drafts(&self) -> bool {
        self.request.workload.speculation.is_some_and(|speculation| speculation.own_layers)
    }
}

/// Bytes per logit, and per number of its input, in the buffers of llama.cpp: FP32.
const LOGIT_BYTES: f64 = 4.0;

/// The buffer that llama.cpp reserves for a micro-batch: the logits of all its tokens and their inputs of the LM head, whatever
/// the prompt; published logs have 300.75 MiB for Qwen3-30B-A3B. Other engines compute the logits that are read.
fn micro_batch_logits(
    (device, engine, _): (&Device, Engine, Option<Bytes>),
    model: &ModelArch,
    workload: &Workload,
) -> Bytes {
    if !model.has_head || !matches!(engine, Engine::LlamaCpp | Engine::Ollama) {
        return Bytes::ZERO;
    }
    let context = workload.longest().saturating_mul(workload.batch);
    let tokens = engine.chunk(device).tokens.map_or(context, |chunk| chunk.min(context));
    Bytes::new(tokens as f64 * (model.vocab_size + model.hidden_size) as f64 * LOGIT_BYTES)
}

/// The draft model with its formats and the size of its weights, as its own plan has them.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredDraft<'a> {
    model: &'a ModelArch,
    precision: Precision,
    scale: WeightScale,
}

/// The draft model of a request, if it has one.
pub(super) fn stored_draft<'a>(
    request: &EstimateRequest<'a>,
    roofs: &Roofs,
) -> Result<Option<StoredDraft<'a>>, Error> {
    let Some(alone) = request.draft_alone() else { return Ok(None) };
    let EstimateRequest { device, model, engine, precision, weight_size, .. } = alone;
    let precision = precision.filled(engine, device, model, roofs).resolve_model(model, roofs);
    let scale = weight_scale(model, &precision, weight_size)?;
    Ok(Some(StoredDraft { model, precision, scale }))
}

/// Factors that make the weight bytes of the formats the known ones.
pub(super) fn weight_scale(
    model: &ModelArch,
    precision: &Precision,
    size: Option<WeightSize>,
) -> Result<WeightScale, Error> {
    let computed = weight_bytes(model, precision);
    let known = match size {
        // `Plan::new` scales by the streamed bytes, because that needs the kernels of a step.
        None | Some(WeightSize::Streamed(_)) => return Ok(WeightScale::NONE),
        Some(WeightSize::Total(bytes)) => checked(model, bytes)?,
        Some(WeightSize::Parts(files)) => {
            checked(model, files.total())?;
            let head = precision.lm_head.stored_bytes(model.vocab_size, model.hidden_size);
            return Ok(WeightScale::of_parts(&files, &part_bytes(model, precision, 1), head));
        }
        Some(WeightSize::BitsPerWeight(bits)) => Bytes::from_bits(
            real_in_range("weight_bits", bits, WEIGHT_BITS.0, WEIGHT_BITS.1)?
                * model.n_params() as f64,
        ),
    };
    Ok(WeightScale::alike(known / computed))
}

/// A size of all weights within its range: a file may have at most as many bits per weight as `weight_bits` allows.
fn checked(model: &ModelArch, bytes: Bytes) -> Result<Bytes, Error> {
    let widest = Bytes::from_bits(WEIGHT_BITS.1 * model.n_params() as f64).get() / 1e9;
    Ok(Bytes::from_gb(real_in_range("weight_gb", bytes.get() / 1e9, WEIGHT_GB.0, widest)?))
}
