//! The flags that become fields of a request: same names, dashes for underscores. Parsing them is the work of `report`.
//! It is longer than 400 lines because it is the table of all flags.

use calc_core::calibration::Engine;
use calc_core::catalog::{devices, formats, models};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use report::input::request::SEARCHED;
use serde_json::{Map, Value};

/// The type of a flag's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Key of a device, or a file.
    Hardware,
    /// Key of a model, or a file.
    Model,
    Format,
    Engine,
    File,
    /// A name from a short list.
    Word,
    Number,
    /// No value.
    Switch,
}

/// A field of a request as a flag.
#[derive(Debug)]
pub(super) struct Flag {
    /// Key in JSON, and the name of the flag with underscores for dashes.
    pub(super) key: &'static str,
    pub(super) kind: Kind,
    pub(super) help: &'static str,
}

const fn flag(key: &'static str, kind: Kind, help: &'static str) -> Flag {
    Flag { key, kind, help }
}

/// All flags. A sweep iterates over them in this order, the last one fastest.
static FLAGS: &[Flag] = &[
    flag(
        "hardware",
        Kind::Hardware,
        "Device: key or alias of `hardware`, a device file, or several cards: \"4090 + 2x 3090\"",
    ),
    flag("power_mode", Kind::Word, "Power mode of the device; default: the device's own peaks"),
    flag("memory_gb", Kind::Number, "Installed memory in GB as sold (2^30 bytes)"),
    flag(
        "model",
        Kind::Model,
        "Model: a key of `ridgepoint models`, a Hugging Face id of it, a config.json, or weight files (.gguf, .safetensors, a folder)",
    ),
    flag("model_upper_bound", Kind::Switch, "Model file: unknown geometry at its upper bound"),
    flag(
        "op",
        Kind::Word,
        "Operator: gemm (default), gemv, attention, kv_append, add_norm, norm, activation, ffn, moe",
    ),
    flag("m", Kind::Number, "Rows of the GEMM: tokens; other operators take --tokens"),
    flag("n", Kind::Number, "Columns of the GEMM: outputs"),
    flag("k", Kind::Number, "Depth of the GEMM: inputs"),
    flag("heads", Kind::Number, "Attention: query heads"),
    flag("kv_heads", Kind::Number, "Attention: key and value heads; default: as many as heads"),
    flag("head_dim", Kind::Number, "Attention: head dimension"),
    flag("v_dim", Kind::Number, "Attention: head dimension of the values; default: --head-dim"),
    flag("new", Kind::Number, "Attention: new tokens of each sequence; default 1"),
    flag("cached", Kind::Number, "Attention: tokens in the cache; default 0"),
    flag("window", Kind::Number, "Attention: tokens that a query attends to; default: all"),
    flag("unfused", Kind::Switch, "Attention: scores are written to memory and read back"),
    flag("tokens", Kind::Number, "Other operators: tokens"),
    flag("hidden", Kind::Number, "Norms, ffn, moe: hidden size"),
    flag("width", Kind::Number, "Activation, ffn: intermediate size; moe: that of one expert"),
    flag("plain", Kind::Switch, "Activation, ffn, moe: without a gate"),
    flag("n_experts", Kind::Number, "Mixture of experts: experts"),
    flag("per_token", Kind::Number, "Mixture of experts: experts that a token uses"),
    flag(
        "shared_width",
        Kind::Number,
        "moe: intermediate size of the shared expert; default: none",
    ),
    flag("weights", Kind::Format, "Format of the weights; default for a model: as stored"),
    flag("activations", Kind::Format, "Format of the activations, the input of a GEMM"),
    flag("kv", Kind::Format, "Format of the KV cache"),
    flag("embedding", Kind::Format, "Format of embedding and LM head"),
    flag("experts", Kind::Format, "Format of the experts; default: that of the weights"),
    flag("weight_gb", Kind::Number, "Size of all weights in GB (10^9 bytes), e.g. of a file"),
    flag("weight_bits", Kind::Number, "Mean bits per weight, for mixes such as Q4_K_M"),
    flag("streamed_gb", Kind::Number, "Weight bytes that a decode step reads, in GB (10^9 bytes)"),
    flag("batch", Kind::Number, "Concurrent sequences; default 1"),
    flag("prompt", Kind::Number, "Tokens of each prompt; default 512"),
    flag("image", Kind::Word, "Images in each prompt: 1024x768 pixels, or 3x1024x768 for three"),
    flag("image_tokens", Kind::Number, "Tokens of an image; default: by the model's processor"),
    flag(
        "language_model_only",
        Kind::Switch,
        "Without the towers for images and sound, as vLLM's flag of this name; llama.cpp: no mmproj file",
    ),
    flag("cached_prefix", Kind::Number, "Cached tokens per sequence before the prompt; default 0"),
    flag("inner_chunk", Kind::Switch, "The prompt is a chunk of a longer one: no LM head"),
    flag("context", Kind::Number, "Cached tokens at the decode step shown; default: the prompt"),
    flag("new_tokens", Kind::Number, "Tokens to generate; default 1"),
    flag("tensor_parallel", Kind::Number, "Devices over which every layer is split; default 1"),
    flag("pipeline_parallel", Kind::Number, "Devices over which layers are distributed; default 1"),
    flag("expert_parallel", Kind::Number, "Devices over which experts are distributed; default 1"),
    flag(
        "link",
        Kind::Word,
        "Link between the devices, e.g. nvlink4, pcie_4_x16, 200gbe; default: the catalog's",
    ),
    flag(
        "host",
        Kind::Word,
        "Host of the card, whose memory takes what the card does not hold: a processor, memory such as ddr5-6000x2, or both",
    ),
    flag("host_memory_gb", Kind::Number, "Memory of the host in GB as sold (2^30 bytes)"),
    flag(
        "host_link",
        Kind::Word,
        "Link between card and host, e.g. pcie_4_x8; default: the card's",
    ),
    flag(
        "ssd_gb_s",
        Kind::Number,
        "Read bandwidth of the SSD that holds what the host does not, in GB/s",
    ),
    flag(
        "reserve_gb",
        Kind::Word,
        "Memory that other programs take, in GB (10^9 bytes), or `desktop`: of the host, or of the device where there is none",
    ),
    flag(
        "static_batch",
        Kind::Switch,
        "Prefill the prompts of the whole batch together; default: one request joins a decoding batch",
    ),
    flag("draft_tokens", Kind::Number, "Speculative decoding: tokens drafted per round"),
    flag("acceptance", Kind::Number, "Speculative decoding: acceptance probability, 0 to 1"),
    flag(
        "draft_model",
        Kind::Model,
        "Speculative decoding: draft model, or mtp for the model's own layer; default: drafting is free",
    ),
    flag("engine", Kind::Engine, "Engine whose factors the expected times use"),
    flag(
        "calibration",
        Kind::File,
        "Calibration file of `calibrate`, made from own measurements; its factors replace the fitted ones",
    ),
    flag(
        "phase",
        Kind::Word,
        "Phase to optimize: prefill, decode or whole; default: whole if more than one token is generated, else decode",
    ),
    flag(
        "objective",
        Kind::Word,
        "Goal of the ranking: latency (default), throughput, energy, quality; of recommend also memory",
    ),
    flag("memory_limit_gb", Kind::Number, "Upper limit of the memory used, in GB (10^9 bytes)"),
    flag("max_quality_loss", Kind::Number, "Upper limit of the quality loss in percent; default 5"),
    flag("max_tpot_ms", Kind::Number, "Upper limit of the time per output token, in ms"),
    flag("max_ttft_ms", Kind::Number, "Upper limit of the time to first token, in ms"),
    flag("min_tokens_per_s", Kind::Number, "Lower limit of the batch's decode throughput, token/s"),
    flag("power_cap_w", Kind::Number, "Upper limit of the power budget of a mode, in W"),
    flag("max_batch", Kind::Number, "Largest batch in the search; default 256"),
    flag("tokens_per_s", Kind::Number, "Claim: decode throughput of the batch, in token/s"),
    flag("per_user", Kind::Switch, "Claim: --tokens-per-s is per sequence"),
    flag("time_us", Kind::Number, "Claim: time of the operator, or of a decode step, in µs"),
    flag("seconds", Kind::Number, "Claim: time of the prompt and all new tokens together, in s"),
];

/// Flags of `analyze`.
pub(super) const ANALYZE: &[&str] = &[
    "hardware",
    "power_mode",
    "op",
    "m",
    "n",
    "k",
    "heads",
    "kv_heads",
    "head_dim",
    "v_dim",
    "new",
    "cached",
    "window",
    "unfused",
    "tokens",
    "hidden",
    "width",
    "plain",
    "n_experts",
    "per_token",
    "shared_width",
    "weights",
    "activations",
    "kv",
    "experts",
    "batch",
    "engine",
    "calibration",
];

/// Flags of `estimate`.
pub(super) const ESTIMATE: &[&str] = &[
    "hardware",
    "power_mode",
    "memory_gb",
    "memory_limit_gb",
    "model",
    "model_upper_bound",
    "weights",
    "activations",
    "kv",
    "embedding",
    "experts",
    "weight_gb",
    "weight_bits",
    "streamed_gb",
    "batch",
    "prompt",
    "image",
    "image_tokens",
    "language_model_only",
    "cached_prefix",
    "inner_chunk",
    "context",
    "new_tokens",
    "tensor_parallel",
    "pipeline_parallel",
    "expert_parallel",
    "link",
    "host",
    "host_memory_gb",
    "host_link",
    "ssd_gb_s",
    "reserve_gb",
    "static_batch",
    "draft_tokens",
    "acceptance",
    "draft_model",
    "engine",
    "calibration",
];

/// Flags of `recommend`: those of one GEMM, of a model, and of the goal.
pub(super) const RECOMMEND: &[&str] = &[
    "hardware",
    "power_mode",
    "memory_gb",
    "model",
    "model_upper_bound",
    "m",
    "n",
    "k",
    "weights",
    "activations",
    "kv",
    "embedding",
    "experts",
    "weight_gb",
    "weight_bits",
    "batch",
    "prompt",
    "image",
    "image_tokens",
    "language_model_only",
    "cached_prefix",
    "inner_chunk",
    "context",
    "new_tokens",
    "tensor_parallel",
    "pipeline_parallel",
    "expert_parallel",
    "link",
    "host",
    "host_memory_gb",
    "host_link",
    "ssd_gb_s",
    "reserve_gb",
    "static_batch",
    "draft_tokens",
    "acceptance",
    "draft_model",
    "engine",
    "calibration",
    "phase",
    "objective",
    "memory_limit_gb",
    "max_quality_loss",
    "max_tpot_ms",
    "max_ttft_ms",
    "min_tokens_per_s",
];

/// Bounds of the search of `schedule`.
const SEARCH: &[&str] = &["power_cap_w", "max_batch"];

/// Flags of `schedule`: those of `recommend` without what is searched, and the bounds of the search.
pub(super) fn schedule() -> Vec<&'static str> {
    let kept = RECOMMEND.iter().filter(|key| !SEARCHED.contains(key));
    kept.chain(SEARCH).copied().collect()
}

/// Flags of `check` in addition to those of `analyze` and `estimate`.
const CLAIM: &[&str] = &["tokens_per_s", "per_user", "time_us", "seconds"];

/// Flags of `check`: those of an operator, of a model, and of the claim.
pub(super) fn check() -> Vec<&'static str> {
    FLAGS
        .iter()
        .map(|flag| flag.key)
        .filter(|key| ANALYZE.contains(key) || ESTIMATE.contains(key) || CLAIM.contains(key))
        .collect()
}

/// Flags of a GEMM, without an engine.
pub(super) const PRODUCT: &[&str] =
    &["hardware", "power_mode", "m", "n", "k", "weights", "activations"];

/// Flags of a GEMM with an expected time.
pub(super) const EXPECTED_PRODUCT: &[&str] =
    &["hardware", "power_mode", "m", "n", "k", "weights", "activations", "calibration"];

/// Flags of `compare`: those of a product, and those of a model for the runs of a benchmark.
pub(super) fn compare() -> Vec<&'static str> {
    FLAGS
        .iter()
        .map(|flag| flag.key)
        .filter(|key| EXPECTED_PRODUCT.contains(key) || ESTIMATE.contains(key))
        .collect()
}

/// The flags with these keys, in the order of the table.
pub(super) fn of(keys: &[&str]) -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().filter(|flag| keys.contains(&flag.key))
}

/// Adds flags to a verb.
pub(super) fn add(command: Command, keys: &[&str]) -> Command {
    of(keys).fold(command, |command, flag| command.arg(flag.argument()))
}

/// The fields that the user gave.
pub(super) fn fields(matches: &ArgMatches, keys: &[&str]) -> Map<String, Value> {
    of(keys).filter_map(|flag| flag.given(matches).map(|value| (flag.key.into(), value))).collect()
}

impl Flag {
    fn argument(&self) -> Arg {
        let arg = Arg::new(self.key).long(self.key.replace('_', "-")).help(self.help);
        let arg = match *self.key.as_bytes() {
            [letter] => arg.short(char::from(letter)),
            _ => arg,
        };
        match self.kind {
            Kind::Hardware | Kind::Model => known(arg.value_name("KEY_OR_FILE"), self.kind),
            Kind::Format => known(arg.value_name("FORMAT"), self.kind),
            Kind::Engine => known(arg.value_name("ENGINE"), self.kind),
            Kind::File => arg.value_name("FILE").value_hint(ValueHint::FilePath),
            Kind::Word => arg.value_name("NAME").value_hint(ValueHint::Other),
            Kind::Number => {
                arg.value_name("NUMBER").value_hint(ValueHint::Other).allow_negative_numbers(true)
            }
            Kind::Switch => arg.action(ArgAction::SetTrue),
        }
    }

    fn given(&self, matches: &ArgMatches) -> Option<Value> {
        match self.kind {
            Kind::Switch => matches.get_flag(self.key).then_some(Value::Bool(true)),
            Kind::Hardware
            | Kind::Model
            | Kind::Format
            | Kind::Engine
            | Kind::File
            | Kind::Word
            | Kind::Number => {
                matches.get_one::<String>(self.key).map(|text| Value::String(text.clone()))
            }
        }
    }
}

/// Accepts any text; shells complete the keys of a catalog, and files where a file may replace a key.
pub(super) fn known(arg: Arg, kind: Kind) -> Arg {
    let (keys, hint): (fn() -> Vec<&'static str>, _) = match kind {
        Kind::Hardware => (device_keys, ValueHint::AnyPath),
        Kind::Model => (model_keys, ValueHint::AnyPath),
        Kind::Format => (format_keys, ValueHint::Other),
        Kind::Engine => (engine_keys, ValueHint::Other),
        Kind::File | Kind::Word | Kind::Number | Kind::Switch => return arg,
    };
    arg.value_parser(AnyOf { keys }).hide_possible_values(true).value_hint(hint)
}

/// Accepts any text, and lists the known values for completions.
#[derive(Debug, Clone, Copy)]
struct AnyOf {
    keys: fn() -> Vec<&'static str>,
}

impl TypedValueParser for AnyOf {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.keys)().into_iter().map(PossibleValue::new)))
    }
}

fn device_keys() -> Vec<&'static str> {
    devices::all().map(|device| &*device.key).collect()
}

fn model_keys() -> Vec<&'static str> {
    models::all().map(|model| model.key).collect()
}

fn format_keys() -> Vec<&'static str> {
    formats::FORMATS.iter().map(|format| format.key).collect()
}

fn engine_keys() -> Vec<&'static str> {
    Engine::ALL.iter().map(|(key, _)| *key).collect()
}
