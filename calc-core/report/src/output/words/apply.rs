//! Commands and configurations that apply a scheme with the usual tools.
//!
//! Sources: options of llama.cpp and vLLM from
//! their documentation, as of vLLM 0.33.0 and llama.cpp's `docs/multi-gpu.md` and `docs/speculative.md`; those of the other
//! engines are named in their modules.

mod exllamav2;
mod llama_cpp;
mod make;
mod ollama;
mod server_flags;
mod sglang;
mod tensorrt_llm;
mod torchao;
mod vllm;

use calc_core::calibration::Engine;
use calc_core::catalog::{formats, links};
use calc_core::device::Device;
use calc_core::footprint::reserve;
use calc_core::model_arch::ModelArch;
use calc_core::parallel::{NoSplit, check_split};
use calc_core::plan::serving_engine;
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::QuantFormat;
use calc_core::recommend::Outcome;
use calc_core::scheme::{FormatFamily, Scheme, SchemeWeights, engine_runs, usual_engine};
use calc_core::tiers::Placement;
use calc_core::units::Bytes;
use calc_core::workload::Workload;

pub use torchao::Torchao;

use super::placement::served_tokens;
use crate::input::named_model::NamedModel;
use crate::input::request::{RecommendInputs, Subject};
use crate::number_text as text;

/// Target of a scheme: model, device and workload.
#[derive(Debug, Clone, Copy)]
pub struct Deployment<'a> {
    pub repositories: Repositories<'a>,
    pub device: &'a Device,
    /// Geometry and workload; `None` for a single product.
    pub served: Option<(&'a ModelArch, &'a Workload)>,
    /// Format of the KV cache; `None` for the default.
    pub kv_cache: Option<&'static QuantFormat>,
    /// Memory that the scheme needs on each device.
    pub memory: Bytes,
    /// Upper limit of the memory in use; `None` leaves the limit to the device.
    pub limit: Option<Bytes>,
    /// The engine that the request names: no command of another one is given.
    pub engine: Option<Engine>,
    /// Where the parts of the model lie; `None` without a host.
    pub placement: Option<Placement>,
}

/// Names of the models in commands: repositories of the Hugging Face hub, or folders.
#[derive(Debug, Clone, Copy)]
pub struct Repositories<'a> {
    /// The weights in 16 bits, which quantizers read.
    pub model: &'a str,
    /// The weights in the published format: the model itself, or a quantized copy that the request names.
    pub published: &'a str,
    /// Format of the published weights.
    pub stored: Option<PrecisionChoice>,
    /// Tag of Ollama that the request names.
    pub tag: Option<&'a str>,
    /// False where `model` has quantized weights, too: no command here makes another scheme from them.
    pub has_half: bool,
    pub draft: Option<&'a str>,
    /// The GGUF file that the request names as the model.
    pub file: Option<&'a str>,
}

impl Repositories<'static> {
    /// A stand-in for the model that a single product is part of.
    pub const STAND_IN: Self = Self {
        model: "MODEL",
        published: "MODEL",
        stored: None,
        has_half: true,
        draft: None,
        tag: None,
        file: None,
    };
}

impl<'a> Repositories<'a> {
    /// The repositories of a request.
    pub fn of(model: &'a NamedModel, draft: Option<&'a NamedModel>) -> Self {
        Self {
            model: &model.hub_id,
            published: &model.published_id,
            stored: Some(model.stored),
            has_half: model.has_half,
            tag: model.tag.as_deref(),
            draft: draft.map(|draft| draft.published_id.as_str()),
            file: Some(&*model.key).filter(|key| key.to_ascii_lowercase().ends_with(".gguf")),
        }
    }
}

impl<'a> Deployment<'a> {
    /// The deployment of a ranked scheme of a request.
    pub fn of(inputs: &'a RecommendInputs, outcome: &Outcome) -> Self {
        let Outcome { memory, placement, .. } = *outcome;
        let (device, limit) = (&*inputs.device, inputs.memory_limit());
        match &inputs.subject {
            Subject::Shape { engine, .. } => Self {
                repositories: Repositories::STAND_IN,
                device,
                served: None,
                kv_cache: None,
                memory,
                limit,
                engine: *engine,
                placement,
            },
            Subject::Model(model) => Self {
                repositories: Repositories::of(&model.model, model.draft.as_ref()),
                device,
                served: Some((&model.model.arch, &model.workload)),
                kv_cache: model.precision.kv_cache,
                memory,
                limit,
                // Beside a host only llama.cpp computes.
                engine: model.engine.or(placement.map(|_| Engine::LlamaCpp)),
                placement,
            },
        }
    }

    /// Whether an engine has kernels for a scheme on the device.
    fn has_kernels(&self, engine: Engine, scheme: &Scheme) -> bool {
        let choice = self.stored(scheme);
        let family = match scheme.weights {
            SchemeWeights::Published => {
                FormatFamily::of(choice.weights, choice.experts.unwrap_or(choice.weights))
            }
            SchemeWeights::Half | SchemeWeights::Format(_) => scheme.family(),
        };
        let activations = scheme.activations.or(choice.activations);
        family.served_by(engine, self.device, activations.is_some()).is_ok()
    }

    /// The formats that a scheme stores.
    fn stored(&self, scheme: &Scheme) -> PrecisionChoice {
        let half = PrecisionChoice::weights(&formats::FP16);
        match scheme.weights {
            SchemeWeights::Half => half,
            SchemeWeights::Published => self.repositories.stored.unwrap_or(half),
            SchemeWeights::Format(format) => PrecisionChoice::weights(format),
        }
    }

    /// The engine whose kernels the expected times of a scheme are of.
    fn timed(&self, scheme: &Scheme) -> Engine {
        let choice = self.stored(scheme);
        let choice = PrecisionChoice { kv_cache: self.kv_cache, ..choice };
        let experts = choice.experts.unwrap_or(choice.weights);
        self.engine.unwrap_or_else(|| match self.served {
            Some((arch, workload)) => {
                serving_engine(self.device, &choice, (arch, &workload.parallel))
            }
            None => usual_engine(self.device, choice.weights, experts),
        })
    }

    /// Bytes of the 16-bit weights on each device, where a device cannot hold them: engines that quantize while they load
    /// keep them in its memory first.
    fn half_that_does_not_fit(&self) -> Option<Bytes> {
        let (arch, workload) = self.served?;
        let split = &workload.parallel;
        let devices = (split.tensor * split.pipeline) as f64;
        let half = Bytes::new(2.0 * arch.n_params() as f64 / devices);
        let usable = self.device.usable_memory(self.limit).bytes;
        (half + reserve(self.device.class) > usable).then_some(half)
    }

    /// Number of tokens per sequence.
    fn tokens(&self) -> Option<u64> {
        self.served.map(|(arch, workload)| served_tokens(arch, workload))
    }

    /// The reason why no engine serves the workload: it is longer than the model's context.
    fn too_long(&self) -> Option<String> {
        let (arch, workload) = self.served?;
        let most = arch.max_context.filter(|most| workload.longest() > *most)?;
        let (asked, most) = (text::count(workload.longest()), text::count(most));
        Some(format!("serves at most {most} tokens of this model, and {asked} are asked"))
    }

    /// Checks that an engine can split the model as estimated; the reason is the rest of a sentence about it.
    fn check_split(&self, engine: Engine) -> Result<(), String> {
        let Some((arch, workload)) = self.served else { return Ok(()) };
        let cache = self.kv_cache.unwrap_or(&formats::FP16);
        check_split(engine, self.device, (arch, &workload.parallel), cache).map_err(|reason| {
            format!("{}: it cannot run the estimated configuration", no_split(reason))
        })
    }

    /// True if every device is a machine of its own, by itself or by a link that is a network.
    fn is_over_machines(&self) -> bool {
        let several = self.served.is_some_and(|(_, workload)| workload.parallel.devices() > 1);
        several && (self.device.is_machine() || links::is_network(&self.device.interconnect))
    }

    /// The drafter and its number of tokens, where the workload has both.
    fn drafts(&self) -> Option<(&'a str, u64)> {
        let (_, workload) = self.served?;
        Some((self.repositories.draft?, workload.speculation?.draft_tokens))
    }

    /// True if the model drafts with layers of its own.
    fn has_own_drafts(&self) -> bool {
        let speculation = self.served.and_then(|(_, workload)| workload.speculation);
        speculation.is_some_and(|speculation| speculation.own_layers)
    }
}

/// Commands of one engine: lines that make its files, then the line that serves them; or one line with the reason why there
/// is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serve {
    pub engine: Engine,
    pub text: String,
}

/// Ways to apply a scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Apply {
    /// The engine whose kernels the expected times of the scheme are of.
    pub timed: Engine,
    /// `None` where torchao has no such configuration, or where the engine does not read its files.
    pub torchao: Option<Torchao>,
    /// The engine of the request alone; without one, each that can, the timed one first.
    pub serve: Vec<Serve>,
}

impl Apply {
    /// Commands of an engine.
    pub fn of(&self, engine: Engine) -> Option<&str> {
        self.serve.iter().find(|serve| serve.engine == engine).map(|serve| serve.text.as_str())
    }
}

/// Name of an engine as its project writes it.
pub const fn engine_name(engine: Engine) -> &'static str {
    match engine {
        Engine::LlamaCpp => "llama.cpp",
        Engine::TensorRtLlm => "TensorRT-LLM",
        Engine::TensorRtEdgeLlm => "TensorRT Edge-LLM",
        Engine::Vllm => "vLLM",
        Engine::Sglang => "SGLang",
        Engine::GptFast => "gpt-fast",
        Engine::ExLlamaV2 => "ExLlamaV2",
        Engine::Mlc => "MLC LLM",
        Engine::Ollama => "Ollama",
        Engine::IdealKernels => "ideal-kernels",
    }
}

/// Reason why an engine does not split a model in the way that is asked for, after its name.
pub const fn no_split(reason: NoSplit) -> &'static str {
    match reason {
        NoSplit::Experts => "has no expert parallelism",
        NoSplit::TensorsAndLayers => "splits by tensors or by layers, not by both",
        NoSplit::TensorsOnly => "splits by tensors only",
        NoSplit::Devices => "does not split a model over several of these devices",
        NoSplit::TensorsOnDevices => {
            "has no tensor parallelism (--split-mode tensor) on this device"
        }
        NoSplit::TensorsOverMachines => {
            "splits matrices over the devices of one machine only, and layers over several machines (pipeline_parallel)"
        }
        NoSplit::TensorsOfArchitecture => {
            "has no tensor parallelism (--split-mode tensor) for this architecture"
        }
        NoSplit::TensorsWithCache => {
            "has no tensor parallelism (--split-mode tensor) with a quantized KV cache"
        }
        NoSplit::ByItself => "decides by itself how to split a model",
    }
}

/// Ways to apply a scheme to a deployment.
pub fn apply(scheme: &Scheme, to: &Deployment<'_>) -> Apply {
    let timed = to.timed(scheme);
    let reads_torchao = matches!(to.engine, None | Some(Engine::Vllm | Engine::Sglang));
    let mut serve: Vec<Serve> = match to.engine {
        Some(engine) => vec![Serve { engine, text: named(engine, scheme, to) }],
        None => [timed, Engine::Vllm, Engine::LlamaCpp]
            .into_iter()
            .enumerate()
            .filter(|(place, engine)| *place == 0 || *engine != timed)
            .filter(|(_, engine)| to.has_kernels(*engine, scheme))
            .filter_map(|(_, engine)| Some(Serve { engine, text: command(engine, scheme, to)? }))
            .collect(),
    };
    if serve.is_empty() {
        serve.push(Serve { engine: timed, text: named(timed, scheme, to) });
    }
    let is_made = to.repositories.has_half && reads_torchao;
    Apply { timed, torchao: torchao::configuration(scheme).filter(|_| is_made), serve }
}

/// Commands of the engine that a request names, or the reason why there are none.
fn named(engine: Engine, scheme: &Scheme, to: &Deployment<'_>) -> String {
    let name = engine_name(engine);
    if !engine_runs(engine, to.device) {
        return format!("# {name} has no build for this device");
    }
    if !to.has_kernels(engine, scheme) {
        return format!("# {name} has no kernels for these formats on this device");
    }
    let is_made_from_half = scheme.weights != SchemeWeights::Published;
    command(engine, scheme, to).unwrap_or_else(|| {
        if is_made_from_half && !to.repositories.has_half {
            return format!("# {name}: the model is published in quantized weights, and no command is known here that makes this scheme from them");
        }
        format!("# {name}: no command is known that serves this scheme")
    })
}

/// Commands of an engine, or the reason why it cannot run the estimated configuration; `None` where none is known.
fn command(engine: Engine, scheme: &Scheme, to: &Deployment<'_>) -> Option<String> {
    let reason = |text: &str| Some(format!("# {} {text}", engine_name(engine)));
    match engine {
        Engine::LlamaCpp => llama_cpp::command(scheme, to),
        Engine::Vllm => vllm::command(scheme, to),
        Engine::Sglang => sglang::command(scheme, to),
        Engine::TensorRtLlm => tensorrt_llm::command(scheme, to),
        Engine::ExLlamaV2 => Some(exllamav2::command(scheme, to)),
        Engine::Ollama => ollama::command(scheme, to),
        Engine::TensorRtEdgeLlm => reason(
            "has no server: a model is exported to ONNX on another machine and built into an engine for this one, as its documentation says",
        ),
        Engine::GptFast => reason(
            "has no server: its generate.py answers one prompt, for the models that it lists",
        ),
        Engine::Mlc => reason(
            "compiles a model with a chat template that is chosen by hand (mlc_llm gen_config), so no command is given",
        ),
        Engine::IdealKernels => {
            reason("are the ideal times; no program serves a model at this speed")
        }
    }
}

/// A word of a command: quoted for the shell unless its letters are plain, because names come from links and files.
fn argument(word: &str) -> String {
    if word.chars().any(char::is_control) {
        return "MODEL".to_owned();
    }
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-/:@+".contains(letter);
    if word.chars().all(is_plain) && !word.starts_with('-') {
        return word.to_owned();
    }
    // A leading dash would be an option.
    let dash = if word.starts_with('-') { "./" } else { "" };
    format!("'{dash}{}'", word.replace('\'', r"'\''"))
}

/// Last component of a name or path.
fn short(model: &str) -> &str {
    model.trim_end_matches('/').rsplit('/').next().unwrap_or(model)
}

#[cfg(test)]
mod tests;
