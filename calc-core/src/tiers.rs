//! Memory in two tiers: a card, and behind a link the processor with its DRAM, and behind that an SSD. Here are the host as
//! its facts, the placements of a model that llama.cpp can make, and the bytes in each place.
//! Derivation: `docs/theory/two-tiers.md`; times and the choice of a placement are in `plan::tiers`.

use alloc::vec::Vec;

use crate::calibration::{Engine, Factors};
use crate::device::{Device, DeviceClass, Link};
use crate::model_arch::{LayerGroup, LayerRun, ModelArch};
use crate::op::{OpKind, Shape};
use crate::provenance::{Fact, Provenance};
use crate::quant_format::ComputeClass;
use crate::software::engine_runs;
use crate::text::Text;
use crate::units::{Bytes, BytesPerSec, FlopsPerSec, Seconds};

pub mod fitted;

/// Fewest tokens of a step in which llama.cpp copies weights of the host to the card instead of computing on the processor.
pub const COPIED_FROM: u64 = 32;

/// INT8 operations per byte of DRAM of a processor of which only the memory is known [FLOP/B]; assumed: those of a desktop with six
/// cores, 3.9 TOP/s at 83 GB/s. Those of the catalog have 44 to 261.
const USUAL_RIDGE: f64 = 47.0;

/// Memory that a running desktop takes; assumed: a compositor, a browser with a few pages, no games.
pub const DESKTOP: Bytes = Bytes::from_gb(2.0);

/// The machine around a card.
#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    /// Name for display, e.g. of the processor.
    pub name: Text,
    /// Bandwidth of the DRAM.
    pub bandwidth: Fact<BytesPerSec>,
    /// Dense peaks of the processor, indexed by [`ComputeClass::index`]; none where only the memory is known.
    pub peaks: [Option<FlopsPerSec>; 10],
    /// Installed DRAM.
    pub installed: Bytes,
    /// DRAM that a model may use.
    pub usable: Bytes,
    /// Link between card and host, with the line rate of one direction.
    pub link: Fact<Link>,
    pub link_name: Text,
    /// Read bandwidth of the SSD from which weights are mapped; `None` keeps all of them in memory.
    pub ssd: Option<BytesPerSec>,
}

impl Host {
    /// The reason why a device cannot have a host with a part of the model; none for cards that llama.cpp runs on.
    pub fn impossible(device: &Device) -> Option<&'static str> {
        if device.class != DeviceClass::DiscreteGpu || device.memory_platform.is_shared() {
            Some("a device that shares its memory with its processor")
        } else if !engine_runs(Engine::LlamaCpp, device) {
            Some("a device for which llama.cpp has no build")
        } else {
            None
        }
    }

    /// The peak of expected times: that of the processor, or an assumed one where only the memory is known.
    pub(crate) fn likely_peak(&self) -> FlopsPerSec {
        self.peak().unwrap_or_else(|| FlopsPerSec::new(self.bandwidth.value.get() * USUAL_RIDGE))
    }

    /// The fastest peak that matrix products of a step may run on: llama.cpp multiplies quantized weights in INT8.
    pub(crate) fn peak(&self) -> Option<FlopsPerSec> {
        let classes =
            [ComputeClass::Int8, ComputeClass::Fp16, ComputeClass::Bf16, ComputeClass::Fp32];
        let peaks = classes.into_iter().filter_map(|class| self.peaks[class.index()]);
        peaks.reduce(FlopsPerSec::max)
    }
}

/// Shares of the roofs that programs reach on a host, and the time that a change of sides costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostFactors {
    /// Operators on the processor.
    pub processor: Factors,
    /// Share of the link's line rate that copies reach.
    pub link: f64,
    /// Share of the experts of uniform routing that copies move: tokens of one text prefer the same ones.
    pub experts: f64,
    /// Time that one change between card and processor costs, beside the transfer.
    pub crossing: Seconds,
}

impl HostFactors {
    /// The constants of an engine that computes on a host; `None` for others.
    pub const fn of(engine: Engine) -> Option<Self> {
        match engine {
            Engine::LlamaCpp | Engine::Ollama => Some(fitted::HOST),
            Engine::IdealKernels => Some(Self::IDEAL),
            Engine::Vllm
            | Engine::Sglang
            | Engine::TensorRtLlm
            | Engine::TensorRtEdgeLlm
            | Engine::GptFast
            | Engine::ExLlamaV2
            | Engine::Mlc => None,
        }
    }

    /// The roofs themselves.
    pub const IDEAL: Self =
        Self { processor: Factors::IDEAL, link: 1.0, experts: 1.0, crossing: Seconds::ZERO };

    /// A host whose rates are the shares that programs reach.
    pub(crate) fn sustained(&self, host: &Host) -> Host {
        let Factors { eta_memory, eta_compute, provenance, .. } = self.processor;
        let link = host.link.value;
        let link = Link { bandwidth: link.bandwidth * self.link, ..link };
        Host {
            bandwidth: Fact { value: host.bandwidth.value * eta_memory, provenance },
            peaks: host.peaks.map(|peak| peak.map(|peak| peak * eta_compute)),
            link: Fact { value: link, provenance },
            ssd: host.ssd.map(|rate| rate * self.ssd().eta_memory),
            ..host.clone()
        }
    }

    /// The factors of reads from the SSD: nothing was fitted there, so the shares are the assumed ones.
    pub(crate) fn ssd(&self) -> Factors {
        let factors = if *self == Self::IDEAL { Factors::IDEAL } else { Factors::ASSUMED };
        Factors { floor: Seconds::ZERO, ..factors }
    }
}

/// Where the parts of a model lie: what llama.cpp can be told with a few flags. Layers are counted from the first one, and
/// each counts as an average one. The input embedding is always on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Placement {
    /// Layers that lie wholly on the host, cache included.
    pub layers: u64,
    /// Layers whose routed experts lie on the host, or the whole MLP in a model without experts; those of `layers` included.
    pub feed_forward: u64,
    /// The KV cache lies on the host, and the processor computes attention.
    pub cache: bool,
    /// Large steps copy weights of the host to the card and compute there.
    pub copies: bool,
}

impl Placement {
    /// Everything but the input embedding on the card.
    pub const ON_CARD: Self = Self { layers: 0, feed_forward: 0, cache: false, copies: true };

    /// The first layers on the host, nothing else.
    pub fn of_layers(layers: u64, model: &ModelArch) -> Self {
        let all = feed_forward_layers(model);
        let feed_forward = match (in_order(model), dense_first(model)) {
            (Some(order), _) => {
                let first = order.iter().zip(0..layers);
                first.filter(|(has_part, _)| **has_part).count() as u64
            }
            (None, Some(dense)) => layers.saturating_sub(dense),
            (None, None) => layers * all / model.n_layers,
        };
        Self { layers, feed_forward, ..Self::ON_CARD }
    }

    /// The experts, or the MLPs, of a number of layers on the host, nothing else.
    pub const fn of_feed_forward(feed_forward: u64) -> Self {
        Self { feed_forward, ..Self::ON_CARD }
    }

    /// True if a layer or the cache is on the host.
    pub const fn is_split(&self) -> bool {
        self.layers > 0 || self.feed_forward > 0 || self.cache
    }

    /// Share of an operator's instances that the host computes in a step that copies nothing.
    pub fn share(&self, kind: OpKind, model: &ModelArch) -> f64 {
        if is_feed_forward(kind, model) {
            share(self.feed_forward, feed_forward_layers(model))
        } else if self.cache && is_of_cache(kind) {
            1.0
        } else if matches!(kind, OpKind::LmHead | OpKind::Embedding) {
            0.0
        } else {
            share(self.layers, model.n_layers)
        }
    }

    /// Number of times that a step changes between card and processor.
    pub fn crossings(&self, model: &ModelArch) -> f64 {
        let apart = self.feed_forward.saturating_sub(
            Self::of_layers(self.layers, model).feed_forward.min(self.feed_forward),
        );
        let cached = if self.cache { model.n_layers - self.layers.min(model.n_layers) } else { 0 };
        (2 * apart + 2 * cached + u64::from(self.layers > 0)) as f64
    }
}

/// Whether an operator's weights are those that `feed_forward` of a placement counts.
pub(crate) fn is_feed_forward(kind: OpKind, model: &ModelArch) -> bool {
    let experts = matches!(kind, OpKind::ExpertGateUp | OpKind::ExpertUp | OpKind::ExpertDown);
    let dense = matches!(kind, OpKind::GateUp | OpKind::Up | OpKind::Down);
    experts || dense && !model.has_experts()
}

/// Whether an operator reads or writes the KV cache.
pub(crate) fn is_of_cache(kind: OpKind) -> bool {
    matches!(kind, OpKind::Attention | OpKind::IndexScores | OpKind::KvAppend)
}

/// Share of the experts of uniform routing that copies move at the roof. Tokens of one text prefer the same experts; the fastest of
/// the published prompts takes 1.5 times as long as this.
pub const LEAST_CHOSEN: f64 = 0.5;

/// Share of the weights that a copy moves at the roof, of those that a step of a number of tokens reads with uniform routing: no fewer
/// than the experts of one token.
pub fn least_read(shape: &Shape, tokens: u64) -> f64 {
    match shape {
        Shape::Experts { product, distinct } => {
            LEAST_CHOSEN.max(product.rows / tokens as f64 / distinct)
        }
        Shape::Product(_) | Shape::Attention { .. } | Shape::Scan | Shape::Stream => 1.0,
    }
}

pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Layers with routed experts; in a model without experts, layers with an MLP.
pub fn feed_forward_layers(model: &ModelArch) -> u64 {
    let experts: u64 = model.moe.iter().map(|group| group.layers).sum();
    let dense: u64 = model.dense.iter().map(|group| group.layers).sum();
    if experts > 0 { experts } else { dense }
}

/// Number of first layers among which a number of layers have experts, or an MLP.
pub fn first_layers(feed_forward: u64, model: &ModelArch) -> u64 {
    match (in_order(model), dense_first(model)) {
        (Some(order), _) => {
            let places = order.iter().zip(1..).filter(|(has_part, _)| **has_part);
            let mut through = places.map(|(_, place)| place).zip(0..feed_forward);
            through.by_ref().last().map_or(0, |(place, _)| place)
        }
        (None, Some(dense)) => dense + feed_forward,
        (None, None) => (feed_forward * model.n_layers).div_ceil(feed_forward_layers(model).max(1)),
    }
}

/// Whether each layer has experts, or an MLP in a model without experts; `None` if the order of the layers is unknown.
fn in_order(model: &ModelArch) -> Option<Vec<bool>> {
    let has_part = |run: &LayerRun| {
        run.parts.iter().any(|part| match part.group {
            LayerGroup::Experts(_) => true,
            LayerGroup::Dense(_) => !model.has_experts(),
            LayerGroup::Whole | LayerGroup::Attention(_) | LayerGroup::Recurrent(_) => false,
        })
    };
    let mut layers = Vec::new();
    for section in model.sections()? {
        for _ in 0..section.repeat {
            for run in &section.runs {
                layers.extend((0..run.count).map(|_| has_part(run)));
            }
        }
    }
    Some(layers)
}

/// Dense layers before those with experts, where the order of the layers is unknown: where they are few, they come first; other layers without experts alternate.
fn dense_first(model: &ModelArch) -> Option<u64> {
    let experts = feed_forward_layers(model);
    let dense: u64 = model.dense.iter().map(|group| group.layers).sum();
    let is_all = dense + experts == model.n_layers;
    (model.has_experts() && is_all && dense * 4 <= experts).then_some(dense)
}

/// Bytes of a model that a placement divides between card and host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Divisible {
    /// All weights.
    pub weights: Bytes,
    /// The tables of the input that the engine keeps on the host, see [`crate::software::HostTables`], without an embedding that is
    /// the LM head, too.
    pub embedding: Bytes,
    /// An embedding that is the LM head, too: the card has it for the head, and the host has a copy.
    pub copy: Bytes,
    /// Routed experts, or MLPs, of all layers.
    pub feed_forward: Bytes,
    /// The other weights of all layers.
    pub rest: Bytes,
    /// Weights of the largest operator, which the card needs a second time when it computes with copies.
    pub largest: Bytes,
}

impl Divisible {
    /// Weights on the host, with these shares of experts or MLPs and of the other weights.
    pub fn host_weights(&self, feed_forward: f64, rest: f64) -> Bytes {
        self.embedding + self.feed_forward * feed_forward + self.rest * rest
    }

    /// Memory of the card for copies of weights of the host.
    pub fn copied(&self, placement: &Placement) -> Bytes {
        let copies = placement.copies && (placement.layers > 0 || placement.feed_forward > 0);
        if copies { self.largest } else { Bytes::ZERO }
    }
}

/// Bytes on the host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostMemory {
    /// Weights, those on the SSD included.
    pub weights: Bytes,
    /// The part of the weights that the card has, too: an embedding that is its LM head.
    pub copy: Bytes,
    /// The part of the weights that the DRAM does not hold, and that is read from the SSD.
    pub on_ssd: Bytes,
    /// KV cache and recurrent state, as the engine allots them.
    pub kv_cache: Bytes,
    /// DRAM that a model may use.
    pub usable: Bytes,
}

impl HostMemory {
    /// The bytes of a placement, and those of the weights that the card has, too; what exceeds the DRAM lies on the SSD, if there
    /// is one.
    pub fn new((weights, copy): (Bytes, Bytes), kv_cache: Bytes, host: &Host) -> Self {
        let over = (weights + kv_cache - host.usable).max(Bytes::ZERO);
        let on_ssd = if host.ssd.is_some() { over.min(weights) } else { Bytes::ZERO };
        Self { weights, copy, on_ssd, kv_cache, usable: host.usable }
    }

    /// Bytes in the DRAM.
    pub fn in_memory(&self) -> Bytes {
        self.weights + self.kv_cache - self.on_ssd
    }

    /// Bytes that are left in the DRAM.
    pub fn spare(&self) -> Bytes {
        let spare = self.usable - self.in_memory();
        // Sums of parts differ from the whole in their last bits.
        if spare < Bytes::new(1.0) { Bytes::ZERO } else { spare }
    }

    /// Bytes that neither DRAM nor SSD hold.
    pub fn missing(&self) -> Bytes {
        let missing = self.in_memory() - self.usable;
        if missing < Bytes::new(1.0) { Bytes::ZERO } else { missing }
    }

    /// Share of the weights on the SSD.
    pub fn ssd_share(&self) -> f64 {
        if self.weights > Bytes::ZERO { self.on_ssd / self.weights } else { 0.0 }
    }
}

/// Memory of a number of channels: `ddr5-6000x2` has 2 · 8 B · 6000 MT/s.
///
/// ```
/// let two = calc_core::tiers::dram(6000, 2);
/// assert_eq!(two.get(), 96e9);
/// ```
pub fn dram(megatransfers: u32, channels: u32) -> BytesPerSec {
    BytesPerSec::new(f64::from(megatransfers) * 1e6 * 8.0 * f64::from(channels))
}

/// Origin of a bandwidth that follows from the transfers per second of the modules.
pub const FROM_MODULES: Provenance = Provenance::Derived;
