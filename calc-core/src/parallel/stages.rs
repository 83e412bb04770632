//! The stages of a pipeline: which layers an engine gives to each device.
//! Derivation: `docs/theory/parallel.md`.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::calibration::Engine;
use crate::model_arch::{Ends, ModelArch, Sliced};

/// Number of stages of a pipeline, and how a model is cut into them.
///
/// The cut is behind a pointer, so that the linker drops it from a program without pipelines, such as the first part of the page.
#[derive(Clone, Copy)]
pub struct Pipeline {
    stages: u64,
    cut: fn(&ModelArch, Engine, u64) -> Vec<Stage>,
}

impl Pipeline {
    /// All layers on each device.
    pub const ONE: Self = Self { stages: 1, cut: |_, _, _| Vec::new() };

    /// A number of stages.
    pub const fn of(stages: u64) -> Self {
        if stages == 1 { Self::ONE } else { Self { stages, cut: Stage::of_engine } }
    }

    /// Number of stages.
    pub const fn stages(self) -> u64 {
        self.stages
    }

    /// The stages of a model in an engine; none where there is one stage.
    pub(crate) fn cut(self, model: &ModelArch, engine: Engine) -> Vec<Stage> {
        (self.cut)(model, engine, self.stages)
    }
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} stages", self.stages)
    }
}

/// The cut follows from the number.
impl PartialEq for Pipeline {
    fn eq(&self, other: &Self) -> bool {
        self.stages == other.stages
    }
}

impl Eq for Pipeline {}

/// A stage of a pipeline: consecutive layers on one device.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// Its layers, counted from 0.
    pub layers: Range<u64>,
    pub ends: Ends,
    /// The model with these layers alone.
    pub part: ModelArch,
}

impl Stage {
    /// The stages of a model on equal devices.
    fn of_engine(model: &ModelArch, engine: Engine, stages: u64) -> Vec<Self> {
        let counts = stage_layers(engine, model.n_layers, stages);
        Self::of_counts(model, &counts, counts.len() - 1)
    }

    /// The stages of a model with a number of layers each; `head` is the index of the one with the LM head, which llama.cpp may
    /// leave without layers.
    pub fn of_counts(model: &ModelArch, counts: &[u64], head: usize) -> Vec<Self> {
        let sliced = Sliced::of(model);
        let mut start = 0;
        let stage = |(index, count): (usize, &u64)| {
            let layers = start..(start + count).min(model.n_layers);
            start = layers.end;
            let ends = Ends { first: layers.start == 0 && !layers.is_empty(), last: index == head };
            Self { part: sliced.stage(layers.clone(), ends), layers, ends }
        };
        counts.iter().enumerate().map(stage).collect()
    }

    /// True for a device without any part of the model.
    pub fn is_idle(&self) -> bool {
        self.layers.is_empty() && !self.ends.last
    }
}

/// Number of layers that an engine gives to each of `stages` equal devices.
///
/// ```text
/// N / n each; of the remainder one more for each stage from the last but one on to the first    vLLM
///                                        one more for each of the last stages                   SGLang
/// layer i to the stage floor(i n / (N + 1)): the LM head counts as a layer                      llama.cpp, Ollama
/// ```
///
/// Read in 2026: `get_pp_indices` of vLLM and of `SGLang`, `get_layer_buft_list` of llama.cpp, which splits by the free memory of
/// the devices, assumed to be equal here. Assumed: that other engines cut as vLLM does.
///
/// ```
/// use calc_core::{calibration::Engine, parallel::stage_layers};
/// assert_eq!(stage_layers(Engine::Vllm, 61, 8), [7, 7, 8, 8, 8, 8, 8, 7]);
/// assert_eq!(stage_layers(Engine::Sglang, 61, 8), [7, 7, 7, 8, 8, 8, 8, 8]);
/// assert_eq!(stage_layers(Engine::LlamaCpp, 32, 2), [17, 15]);
/// ```
pub fn stage_layers(engine: Engine, layers: u64, stages: u64) -> Vec<u64> {
    let (each, more) = (layers / stages, layers % stages);
    match engine {
        Engine::LlamaCpp | Engine::Ollama => {
            let start = |stage: u64| (stage * (layers + 1)).div_ceil(stages).min(layers);
            (0..stages).map(|stage| start(stage + 1) - start(stage)).collect()
        }
        Engine::Sglang => {
            (0..stages).map(|stage| each + u64::from(stage + more >= stages)).collect()
        }
        Engine::Vllm
        | Engine::TensorRtLlm
        | Engine::TensorRtEdgeLlm
        | Engine::GptFast
        | Engine::ExLlamaV2
        | Engine::Mlc
        | Engine::IdealKernels => {
            let has_more = |stage| stage + 1 < stages && stage + 1 + more >= stages;
            (0..stages).map(|stage| each + u64::from(has_more(stage))).collect()
        }
    }
}
