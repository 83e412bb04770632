//! The rules of each family in transformers 5.23.0. `..LLAMA` means "like LLAMA, except for the lines above".
//! Numbers are the defaults of absent fields.
//!
//! This file is longer than 400 lines because it is one table: its rows change for one reason, a rule of their family.

use super::rules::{
    DenseWhere, Experts, KvHeads, Latent, LayerRule, Norms, Rules, Shared, Switch, Windows,
};
use crate::model_arch::{AttentionBias, GgufLayout, MlpKind, NormKind, QkNorm};

macro_rules! field {
    ($name:ident) => {
        |config| config.named(stringify!($name), &config.$name)
    };
}

pub(super) const LLAMA: Rules = Rules {
    tied: false,
    kv_heads: KvHeads::AsHeads,
    head_dim: None,
    attention_bias: Switch::Field(field!(attention_bias), false),
    bias_kind: AttentionBias::Qkvo,
    windows: Windows::Never,
    qk_norm: QkNorm::None,
    qk_layernorm: None,
    sinks: false,
    latent: None,
    layers: LayerRule::Regular,
    index_heads: 64,
    ignored: &[],
    mlp: MlpKind::Gated,
    mlp_bias: Switch::Field(field!(mlp_bias), false),
    four_times: false,
    inner_norms: false,
    layer_vectors: 0,
    norm: NormKind::RmsNorm,
    norms: Norms::Two,
    experts: None,
    position_rows: None,
    context: None,
    lm_head_bias: Switch::Never,
    per_layer_width: 256,
    gguf: GgufLayout::Split,
};

pub(super) const MISTRAL: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    attention_bias: Switch::Never,
    windows: Windows::Every(Some(4096)),
    mlp_bias: Switch::Never,
    ..LLAMA
};

const EXPERTS: Experts = Experts {
    count: 8,
    per_token: Some(2),
    width: None,
    shared: Shared::Nothing,
    shared_gate: false,
    dense: DenseWhere::Nowhere,
    biases: false,
    correction_bias: false,
};

pub(super) const MIXTRAL: Rules =
    Rules { windows: Windows::Every(None), experts: Some(EXPERTS), ..MISTRAL };

pub(super) const QWEN2: Rules = Rules {
    kv_heads: KvHeads::Default(32),
    attention_bias: Switch::Always,
    bias_kind: AttentionBias::Qkv,
    windows: Windows::SwitchedFrom,
    mlp_bias: Switch::Never,
    ..LLAMA
};

pub(super) const QWEN2_VL: Rules = Rules { kv_heads: KvHeads::Default(8), ..QWEN2 };

pub(super) const QWEN2_5_OMNI: Rules = Rules { kv_heads: KvHeads::Default(4), ..QWEN2 };

pub(super) const QWEN2_MOE: Rules = Rules {
    kv_heads: KvHeads::Default(16),
    attention_bias: Switch::Field(field!(qkv_bias), true),
    windows: Windows::SwitchedEven,
    experts: Some(Experts {
        count: 60,
        per_token: Some(4),
        width: Some(1408),
        shared: Shared::Width(5632),
        shared_gate: true,
        dense: DenseWhere::Listed,
        ..EXPERTS
    }),
    ..QWEN2
};

pub(super) const QWEN3: Rules = Rules {
    head_dim: Some(128),
    attention_bias: Switch::Field(field!(attention_bias), false),
    bias_kind: AttentionBias::Qkvo,
    qk_norm: QkNorm::Head,
    ..QWEN2
};

pub(super) const QWEN3_MOE: Rules = Rules {
    kv_heads: KvHeads::Default(4),
    head_dim: None,
    windows: Windows::Switched,
    experts: Some(Experts {
        count: 128,
        per_token: Some(8),
        width: Some(768),
        dense: DenseWhere::Listed,
        ..EXPERTS
    }),
    ignored: &["intermediate_size"],
    ..QWEN3
};

pub(super) const GEMMA: Rules = Rules {
    tied: true,
    kv_heads: KvHeads::Default(16),
    head_dim: Some(256),
    mlp_bias: Switch::Never,
    ..LLAMA
};

pub(super) const GEMMA2: Rules = Rules {
    kv_heads: KvHeads::Default(4),
    windows: Windows::Even(4096),
    norms: Norms::Four,
    ..GEMMA
};

pub(super) const GEMMA3: Rules = Rules {
    windows: Windows::Pattern { window: 4096, every: 6 },
    qk_norm: QkNorm::Head,
    context: Some(131_072),
    ..GEMMA2
};

/// GPT-like: plain MLP, biases everywhere, `LayerNorm` with weight and bias.
pub(super) const GPT2: Rules = Rules {
    tied: true,
    kv_heads: KvHeads::NotGrouped,
    attention_bias: Switch::Always,
    mlp: MlpKind::Plain,
    mlp_bias: Switch::Always,
    four_times: true,
    norm: NormKind::LayerNorm,
    position_rows: Some(0),
    context: Some(1024),
    gguf: GgufLayout::FusedQkv,
    ..LLAMA
};

/// OPT numbers positions from 2.
pub(super) const OPT: Rules = Rules {
    attention_bias: Switch::Field(field!(enable_bias), true),
    mlp_bias: Switch::Field(field!(enable_bias), true),
    four_times: false,
    norms: Norms::Opt,
    position_rows: Some(2),
    context: Some(2048),
    gguf: GgufLayout::Split,
    ..GPT2
};

pub(super) const PHI: Rules = Rules {
    tied: false,
    kv_heads: KvHeads::AsHeads,
    norms: Norms::One,
    position_rows: None,
    context: None,
    lm_head_bias: Switch::Always,
    ..GPT2
};

pub(super) const PHI3: Rules = Rules {
    // Embeddings of images and sound, and adapters that engines merge or load on demand.
    ignored: &["embd_layer", "speech_lora.layer", "vision_lora.layer"],
    attention_bias: Switch::Never,
    windows: Windows::Every(None),
    mlp_bias: Switch::Never,
    gguf: GgufLayout::FusedQkv,
    ..LLAMA
};

pub(super) const FALCON: Rules = Rules {
    kv_heads: KvHeads::Falcon(false),
    attention_bias: Switch::Field(field!(bias), false),
    mlp_bias: Switch::Field(field!(bias), false),
    norms: Norms::Falcon(false),
    position_rows: None,
    context: Some(2048),
    gguf: GgufLayout::Falcon,
    ..GPT2
};

/// Falcon-40B before its inclusion in transformers: the new architecture, without a field that states it.
pub(super) const REFINED_WEB: Rules =
    Rules { kv_heads: KvHeads::Falcon(true), norms: Norms::Falcon(true), ..FALCON };

/// Two norms per layer even where attention and MLP are parallel.
pub(super) const GPT_NEOX: Rules = Rules {
    tied: false,
    attention_bias: Switch::Field(field!(attention_bias), true),
    four_times: false,
    position_rows: None,
    context: None,
    ..GPT2
};

pub(super) const STABLELM: Rules = Rules {
    kv_heads: KvHeads::Default(32),
    attention_bias: Switch::Field(field!(use_qkv_bias), false),
    bias_kind: AttentionBias::Qkv,
    qk_layernorm: Some(QkNorm::Projection),
    mlp_bias: Switch::Never,
    norm: NormKind::LayerNorm,
    norms: Norms::ParallelResidual,
    ..LLAMA
};

pub(super) const STARCODER2: Rules = Rules {
    kv_heads: KvHeads::Default(2),
    attention_bias: Switch::Field(field!(use_bias), true),
    windows: Windows::Every(None),
    mlp_bias: Switch::Field(field!(use_bias), true),
    four_times: false,
    position_rows: None,
    context: None,
    gguf: GgufLayout::Split,
    ..GPT2
};

pub(super) const OLMO: Rules =
    Rules { mlp_bias: Switch::Never, norm: NormKind::NoParameters, ..LLAMA };

pub(super) const OLMO2: Rules =
    Rules { mlp_bias: Switch::Never, qk_norm: QkNorm::Projection, ..LLAMA };

pub(super) const GRANITE: Rules = Rules { ..LLAMA };

pub(super) const GRANITE_MOE: Rules = Rules {
    mlp_bias: Switch::Never,
    experts: Some(Experts { shared: Shared::Width(0), ..EXPERTS }),
    ..GRANITE
};

pub(super) const LATENT: Latent =
    Latent { query_rank: Some(1536), rank: 512, rope: 64, nope: 128, value: 128 };

pub(super) const DEEPSEEK_V2: Rules = Rules {
    attention_bias: Switch::Never,
    latent: Some(LATENT),
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 64,
        per_token: None,
        width: Some(1407),
        shared: Shared::Count(2),
        dense: DenseWhere::First(0),
        ..EXPERTS
    }),
    ..LLAMA
};

pub(super) const DEEPSEEK_V3: Rules = Rules {
    experts: Some(Experts {
        count: 256,
        per_token: Some(8),
        width: Some(2048),
        shared: Shared::Count(1),
        dense: DenseWhere::First(3),
        correction_bias: true,
        ..EXPERTS
    }),
    ..DEEPSEEK_V2
};

pub(super) const GPT_OSS: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    head_dim: Some(64),
    attention_bias: Switch::Field(field!(attention_bias), true),
    windows: Windows::Even(128),
    sinks: true,
    mlp_bias: Switch::Never,
    experts: Some(Experts { count: 128, per_token: Some(4), biases: true, ..EXPERTS }),
    ..LLAMA
};

/// Plain MLP with squared ReLU; `LayerNorm` with weight and bias.
pub(super) const NEMOTRON: Rules =
    Rules { mlp: MlpKind::Plain, norm: NormKind::LayerNorm, ..LLAMA };

pub(super) const SMOLLM3: Rules =
    Rules { tied: true, kv_heads: KvHeads::Default(4), windows: Windows::Switched, ..LLAMA };

/// GPT-2 with one key and value head for all query heads.
pub(super) const GPT_BIGCODE: Rules = Rules { kv_heads: KvHeads::MultiQuery(true), ..GPT2 };

/// Attention and MLP in parallel after one norm, which has a weight and no bias.
pub(super) const COHERE: Rules = Rules {
    tied: true,
    qk_layernorm: Some(QkNorm::Projection),
    mlp_bias: Switch::Never,
    norms: Norms::One,
    ..LLAMA
};

pub(super) const COHERE2: Rules = Rules {
    windows: Windows::Pattern { window: 4096, every: 4 },
    qk_layernorm: None,
    // The full layer is the last of each four in all published files.
    ignored: &["order_of_interleaved_layers"],
    ..COHERE
};

pub(super) const ERNIE: Rules = Rules {
    tied: true,
    kv_heads: KvHeads::Default(2),
    head_dim: Some(128),
    attention_bias: Switch::Field(field!(use_bias), false),
    mlp_bias: Switch::Field(field!(use_bias), false),
    ..LLAMA
};

pub(super) const ERNIE_MOE: Rules = Rules {
    kv_heads: KvHeads::Default(4),
    head_dim: None,
    experts: Some(Experts {
        count: 64,
        per_token: Some(6),
        width: Some(1536),
        shared: Shared::Count(2),
        dense: DenseWhere::Outside(1),
        correction_bias: true,
        ..EXPERTS
    }),
    ..ERNIE
};

/// Three of four layers have a gated delta net instead of attention.
pub(super) const QWEN3_NEXT: Rules = Rules {
    kv_heads: KvHeads::Default(2),
    head_dim: Some(256),
    windows: Windows::Never,
    layers: LayerRule::QwenNext,
    experts: Some(Experts {
        count: 512,
        per_token: Some(10),
        width: Some(512),
        shared: Shared::Width(512),
        shared_gate: true,
        dense: DenseWhere::Listed,
        ..EXPERTS
    }),
    ..QWEN3
};

pub(super) const QWEN3_5: Rules =
    Rules { kv_heads: KvHeads::Default(4), experts: None, ..QWEN3_NEXT };

pub(super) const QWEN3_5_MOE: Rules = Rules {
    kv_heads: KvHeads::Default(2),
    experts: Some(Experts {
        count: 256,
        per_token: Some(8),
        width: Some(512),
        shared: Shared::Width(512),
        shared_gate: true,
        ..EXPERTS
    }),
    ..QWEN3_NEXT
};

pub(super) const GEMMA3N: Rules = Rules {
    kv_heads: KvHeads::Default(2),
    windows: Windows::Never,
    layers: LayerRule::Gemma3n,
    context: Some(32_768),
    ..GEMMA3
};

pub(super) const GEMMA4: Rules = Rules {
    kv_heads: KvHeads::Default(4),
    windows: Windows::Never,
    layers: LayerRule::Gemma4,
    ..GEMMA3
};

/// Latent attention with an indexer.
pub(super) const DEEPSEEK_V32: Rules = Rules { layers: LayerRule::DeepseekSparse, ..DEEPSEEK_V3 };

pub(super) const GLM_DSA: Rules = Rules {
    index_heads: 32,
    latent: Some(Latent { query_rank: Some(2048), nope: 192, value: 256, ..LATENT }),
    ..DEEPSEEK_V32
};

/// Windows and compressed entries; experts in all layers, chosen by a table in the first.
pub(super) const DEEPSEEK_V4: Rules = Rules {
    kv_heads: KvHeads::Default(1),
    head_dim: Some(512),
    attention_bias: Switch::Never,
    qk_norm: QkNorm::Keys,
    sinks: true,
    layers: LayerRule::DeepseekV4,
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 256,
        per_token: Some(6),
        width: Some(2048),
        shared: Shared::Count(1),
        correction_bias: true,
        ..EXPERTS
    }),
    context: Some(1_048_576),
    ..LLAMA
};

pub(super) const GLM4_MOE: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    bias_kind: AttentionBias::Qkv,
    qk_layernorm: Some(QkNorm::Head),
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 128,
        per_token: Some(8),
        width: Some(1408),
        shared: Shared::Count(1),
        dense: DenseWhere::First(1),
        correction_bias: true,
        ..EXPERTS
    }),
    ..LLAMA
};

pub(super) const LLAMA4: Rules = Rules {
    // An older name of `no_rope_layer_interval`, which the class does not read.
    ignored: &["nope_layer_interval"],
    kv_heads: KvHeads::Default(8),
    head_dim: Some(128),
    layers: LayerRule::Llama4,
    mlp_bias: Switch::Never,
    ..LLAMA
};

/// One part per layer: Mamba-2, attention, a plain MLP or experts.
pub(super) const NEMOTRON_H: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    head_dim: Some(128),
    layers: LayerRule::NemotronH,
    mlp: MlpKind::Plain,
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 8,
        per_token: Some(2),
        width: Some(7688),
        shared: Shared::Width(7688),
        correction_bias: true,
        ..EXPERTS
    }),
    ignored: &["time_step_rank"],
    ..LLAMA
};

pub(super) const KIMI_LINEAR: Rules = Rules {
    latent: Some(Latent { query_rank: None, ..LATENT }),
    layers: LayerRule::KimiLinear,
    experts: Some(Experts {
        count: 256,
        per_token: Some(8),
        width: Some(1024),
        shared: Shared::Count(1),
        dense: DenseWhere::First(1),
        correction_bias: true,
        ..EXPERTS
    }),
    ..DEEPSEEK_V3
};

/// Lightning attention in most layers.
pub(super) const MINIMAX: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    layers: LayerRule::Minimax,
    attention_bias: Switch::Never,
    mlp_bias: Switch::Never,
    experts: Some(EXPERTS),
    ignored: &["block_size"],
    ..LLAMA
};

pub(super) const MINIMAX_M2: Rules = Rules {
    ignored: &["mtp_transformer_layers"],
    kv_heads: KvHeads::Default(8),
    head_dim: Some(128),
    attention_bias: Switch::Never,
    qk_norm: QkNorm::Projection,
    mlp_bias: Switch::Never,
    experts: Some(Experts { count: 256, per_token: Some(8), correction_bias: true, ..EXPERTS }),
    ..LLAMA
};

/// Short convolutions in most layers.
pub(super) const LFM2: Rules = Rules {
    tied: true,
    kv_heads: KvHeads::Default(8),
    layers: LayerRule::Lfm2,
    attention_bias: Switch::Never,
    qk_norm: QkNorm::Head,
    mlp_bias: Switch::Never,
    ignored: &["conv_dim", "conv_dim_out", "block_dim"],
    ..LLAMA
};

pub(super) const LFM2_MOE: Rules = Rules {
    layers: LayerRule::Lfm2Moe,
    experts: Some(Experts {
        count: 32,
        per_token: Some(4),
        width: Some(1792),
        dense: DenseWhere::First(2),
        correction_bias: true,
        ..EXPERTS
    }),
    ..LFM2
};

pub(super) const GRANITE_HYBRID: Rules = Rules {
    layers: LayerRule::GraniteHybrid,
    experts: Some(Experts { shared: Shared::Width(1024), ..EXPERTS }),
    ..GRANITE_MOE
};

pub(super) const BAMBA: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    layers: LayerRule::Bamba,
    mlp_bias: Switch::Never,
    ..LLAMA
};

/// Attention and Mamba-2 side by side.
pub(super) const FALCON_H1: Rules = Rules { layers: LayerRule::FalconH1, ..BAMBA };

pub(super) const JAMBA: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    attention_bias: Switch::Never,
    layers: LayerRule::Jamba,
    mlp_bias: Switch::Never,
    ..LLAMA
};

pub(super) const MAMBA: Rules =
    Rules { tied: true, layers: LayerRule::Mamba1Alone, ignored: &["d_inner"], ..LLAMA };

pub(super) const MAMBA2: Rules =
    Rules { tied: false, ignored: &["time_step_rank"], layers: LayerRule::Mamba2Alone, ..MAMBA };

/// Three of four layers have a window.
pub(super) const OLMO3: Rules =
    Rules { windows: Windows::Pattern { window: 4096, every: 4 }, ..OLMO2 };

pub(super) const OLMOE: Rules =
    Rules { experts: Some(Experts { count: 64, per_token: Some(8), ..EXPERTS }), ..OLMO2 };

pub(super) const FLEX_OLMO: Rules =
    Rules { experts: Some(Experts { count: 7, per_token: Some(5), ..EXPERTS }), ..OLMO2 };

pub(super) const EXAONE4: Rules = Rules {
    attention_bias: Switch::Never,
    windows: Windows::Pattern { window: 4096, every: 4 },
    qk_norm: QkNorm::Head,
    mlp_bias: Switch::Never,
    ..LLAMA
};

pub(super) const EXAONE_MOE: Rules = Rules {
    experts: Some(Experts {
        count: 64,
        per_token: Some(8),
        width: Some(1024),
        shared: Shared::Count(1),
        dense: DenseWhere::First(1),
        correction_bias: true,
        ..EXPERTS
    }),
    ..EXAONE4
};

pub(super) const GLM: Rules = Rules {
    kv_heads: KvHeads::Default(2),
    head_dim: Some(128),
    attention_bias: Switch::Field(field!(attention_bias), true),
    bias_kind: AttentionBias::Qkv,
    mlp_bias: Switch::Never,
    ..LLAMA
};

/// Norms before and after attention and MLP.
pub(super) const GLM4: Rules = Rules { norms: Norms::Four, ..GLM };

/// Latent attention as in DeepSeek V3, with sizes of its own.
pub(super) const GLM4_MOE_LITE: Rules = Rules {
    latent: Some(Latent { query_rank: Some(768), nope: 192, value: 256, ..LATENT }),
    experts: Some(Experts {
        count: 64,
        per_token: Some(4),
        width: Some(1536),
        shared: Shared::Count(1),
        dense: DenseWhere::First(1),
        correction_bias: true,
        ..EXPERTS
    }),
    ..DEEPSEEK_V3
};

pub(super) const SEED_OSS: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    head_dim: Some(128),
    attention_bias: Switch::Field(field!(attention_bias), true),
    bias_kind: AttentionBias::Qkv,
    ..LLAMA
};

/// Plain MLP with two learned numbers in its activation (xIELU).
pub(super) const APERTUS: Rules = Rules {
    mlp: MlpKind::Plain,
    qk_norm: QkNorm::Head,
    layer_vectors: 2,
    mlp_bias: Switch::Never,
    ..LLAMA
};

pub(super) const DOTS1: Rules = Rules {
    qk_norm: QkNorm::Head,
    windows: Windows::SwitchedFrom,
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 128,
        per_token: None,
        width: Some(1408),
        shared: Shared::Count(0),
        dense: DenseWhere::First(0),
        correction_bias: true,
        ..EXPERTS
    }),
    ..LLAMA
};

pub(super) const HY_V3: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    head_dim: Some(128),
    qk_norm: QkNorm::Head,
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 192,
        per_token: Some(8),
        width: Some(1536),
        shared: Shared::Count(1),
        dense: DenseWhere::First(1),
        correction_bias: true,
        ..EXPERTS
    }),
    ..LLAMA
};

/// Norms before and after attention and MLP.
pub(super) const HYPERCLOVAX: Rules = Rules { norms: Norms::Four, ..LLAMA };

/// A norm within attention and one within the MLP.
pub(super) const BITNET: Rules =
    Rules { kv_heads: KvHeads::Default(5), inner_norms: true, mlp_bias: Switch::Never, ..LLAMA };

/// Norms without weights.
pub(super) const NANOCHAT: Rules = Rules {
    kv_heads: KvHeads::Default(6),
    mlp: MlpKind::Plain,
    mlp_bias: Switch::Never,
    norm: NormKind::NoParameters,
    ..LLAMA
};

pub(super) const MINISTRAL: Rules = Rules { windows: Windows::Every(Some(4096)), ..MISTRAL };

pub(super) const MINISTRAL3: Rules =
    Rules { head_dim: Some(128), windows: Windows::Every(None), ..MISTRAL };

pub(super) const ARCEE: Rules = Rules { mlp: MlpKind::Plain, ..LLAMA };

pub(super) const HUNYUAN: Rules = Rules { qk_norm: QkNorm::Head, mlp_bias: Switch::Never, ..LLAMA };

pub(super) const HUNYUAN_MOE: Rules = Rules {
    experts: Some(Experts { count: 1, per_token: Some(1), shared: Shared::Count(1), ..EXPERTS }),
    ..HUNYUAN
};

pub(super) const SOLAR_OPEN: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    head_dim: Some(128),
    attention_bias: Switch::Never,
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 128,
        per_token: Some(8),
        width: Some(1280),
        shared: Shared::Count(1),
        dense: DenseWhere::First(0),
        correction_bias: true,
        ..EXPERTS
    }),
    ..LLAMA
};

/// Each head has a sink; a window counts where `layer_types` names it.
pub(super) const GRANITE_SWA: Rules = Rules {
    tied: true,
    kv_heads: KvHeads::Default(4),
    sinks: true,
    windows: Windows::Listed,
    ..GRANITE
};

pub(super) const GRANITE_MOE_SWA: Rules =
    Rules { sinks: true, windows: Windows::Listed, ..GRANITE_MOE };

pub(super) const MISTRAL4: Rules = Rules {
    latent: Some(Latent { query_rank: Some(1024), rank: 256, nope: 64, ..LATENT }),
    experts: Some(Experts {
        count: 128,
        per_token: Some(4),
        width: Some(2048),
        shared: Shared::Count(1),
        dense: DenseWhere::First(0),
        ..EXPERTS
    }),
    ..DEEPSEEK_V2
};

pub(super) const HELIUM: Rules =
    Rules { kv_heads: KvHeads::Default(20), head_dim: Some(128), ..LLAMA };

/// Gemma 4 without embeddings of each layer.
pub(super) const GEMMA4_UNIFIED: Rules = Rules { per_layer_width: 0, ..GEMMA4 };

pub(super) const GLM_OCR: Rules =
    Rules { kv_heads: KvHeads::Default(8), norms: Norms::Four, ..LLAMA };

/// Norms with weight and bias; biases by field.
pub(super) const PHIMOE: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    windows: Windows::Every(None),
    mlp_bias: Switch::Never,
    norm: NormKind::LayerNorm,
    experts: Some(Experts { count: 16, ..EXPERTS }),
    lm_head_bias: Switch::Field(field!(lm_head_bias), false),
    ..LLAMA
};

/// Sliding layers with heads of their own, and sinks.
pub(super) const MIMO: Rules = Rules {
    kv_heads: KvHeads::Default(4),
    head_dim: Some(192),
    layers: LayerRule::Mimo,
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 256,
        per_token: Some(8),
        width: Some(2048),
        shared: Shared::Count(0),
        dense: DenseWhere::First(1),
        correction_bias: true,
        ..EXPERTS
    }),
    ..LLAMA
};

/// Two attentions and two dense MLPs per layer beside the experts.
pub(super) const LONGCAT: Rules = Rules { layers: LayerRule::Longcat, ..DEEPSEEK_V3 };

/// An indexer selects blocks of tokens in most layers.
pub(super) const MINIMAX_M3: Rules = Rules {
    kv_heads: KvHeads::Default(4),
    head_dim: Some(128),
    layers: LayerRule::MinimaxM3,
    attention_bias: Switch::Never,
    qk_norm: QkNorm::Head,
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 128,
        per_token: Some(4),
        shared: Shared::Width(3072),
        dense: DenseWhere::First(0),
        correction_bias: true,
        ..EXPERTS
    }),
    ignored: &["first_k_dense_replace", "num_mtp_modules", "merged_hidden_size"],
    ..LLAMA
};

/// Sliding layers with more heads; a gate per head.
pub(super) const STEP3: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    head_dim: Some(128),
    layers: LayerRule::Step3,
    attention_bias: Switch::Never,
    qk_norm: QkNorm::Head,
    qk_layernorm: Some(QkNorm::Head),
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 288,
        per_token: Some(8),
        width: Some(1280),
        shared: Shared::Width(1280),
        dense: DenseWhere::First(3),
        correction_bias: true,
        ..EXPERTS
    }),
    ..LLAMA
};

/// Gated attention; every fourth layer without a window; four norms per layer.
pub(super) const AFMOE: Rules = Rules {
    kv_heads: KvHeads::Default(16),
    head_dim: Some(128),
    layers: LayerRule::Afmoe,
    attention_bias: Switch::Never,
    qk_norm: QkNorm::Head,
    mlp_bias: Switch::Never,
    norms: Norms::Four,
    experts: Some(Experts {
        count: 64,
        per_token: Some(6),
        width: Some(1408),
        shared: Shared::Count(2),
        dense: DenseWhere::First(1),
        correction_bias: true,
        ..EXPERTS
    }),
    ..LLAMA
};

/// GLM-4.5V, which states the size of a head.
pub(super) const GLM4V_MOE: Rules = GLM4_MOE;

/// Blocks of differing widths, from a search over architectures.
pub(super) const NEMOTRON_NAS: Rules = Rules { layers: LayerRule::Blocks, ..LLAMA };

/// Latent attention; a norm after the experts.
pub(super) const AXK1: Rules = Rules {
    layers: LayerRule::Axk1,
    experts: Some(Experts {
        count: 192,
        per_token: Some(8),
        width: Some(2048),
        shared: Shared::Count(1),
        dense: DenseWhere::First(1),
        correction_bias: true,
        ..EXPERTS
    }),
    ..DEEPSEEK_V3
};

/// Gated attention, four norms per layer.
pub(super) const BEAM: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    head_dim: Some(128),
    layers: LayerRule::Beam,
    qk_norm: QkNorm::Head,
    mlp_bias: Switch::Never,
    norms: Norms::Four,
    experts: Some(Experts {
        count: 256,
        per_token: Some(8),
        width: Some(2560),
        dense: DenseWhere::First(3),
        correction_bias: true,
        ..EXPERTS
    }),
    ..LLAMA
};

/// Positions by the distance of tokens (ALiBi), which has no parameters.
pub(super) const BLOOM: Rules =
    Rules { layers: LayerRule::Bloom, position_rows: None, context: None, ..GPT2 };

pub(super) const COHERE2_MOE: Rules = Rules {
    head_dim: Some(128),
    windows: Windows::Never,
    layers: LayerRule::Cohere2Moe,
    experts: Some(Experts { shared: Shared::Count(0), dense: DenseWhere::First(0), ..EXPERTS }),
    ..COHERE2
};

/// Norms with a weight and no bias.
pub(super) const DBRX: Rules =
    Rules { layers: LayerRule::Dbrx, attention_bias: Switch::Never, context: None, ..LLAMA };

pub(super) const DIFFLLAMA: Rules =
    Rules { layers: LayerRule::DiffLlama, mlp_bias: Switch::Never, ..LLAMA };

pub(super) const DOGE: Rules = Rules {
    layers: LayerRule::Doge,
    qk_norm: QkNorm::Head,
    windows: Windows::Every(None),
    ignored: &["keep_window_size"],
    ..LLAMA
};

pub(super) const DOTS3_NOTE: Rules = Rules {
    latent: Some(Latent { query_rank: Some(1024), ..LATENT }),
    layers: LayerRule::Dots3Note,
    experts: Some(Experts {
        count: 256,
        per_token: Some(8),
        width: Some(1536),
        shared: Shared::Width(1536),
        dense: DenseWhere::First(1),
        correction_bias: true,
        ..EXPERTS
    }),
    ignored: &["n_shared_experts"],
    ..DEEPSEEK_V32
};

/// Experts for text and for images.
pub(super) const ERNIE_VL: Rules = Rules {
    layers: LayerRule::ErnieVl,
    experts: Some(Experts {
        count: 64,
        per_token: Some(6),
        width: Some(1536),
        shared: Shared::Count(2),
        dense: DenseWhere::First(1),
        correction_bias: true,
        ..EXPERTS
    }),
    ..ERNIE_MOE
};

pub(super) const FLINT: Rules = Rules {
    kv_heads: KvHeads::Default(4),
    head_dim: Some(128),
    layers: LayerRule::Flint,
    qk_norm: QkNorm::Head,
    sinks: true,
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 256,
        per_token: Some(6),
        width: Some(512),
        shared: Shared::Width(1024),
        dense: DenseWhere::Listed,
        ..EXPERTS
    }),
    ..LLAMA
};

pub(super) const GLM5_NEXT: Rules = Rules {
    latent: Some(Latent { rope: 0, nope: 256, value: 256, ..LATENT }),
    layers: LayerRule::Glm5Next,
    index_heads: 32,
    experts: Some(Experts {
        count: 288,
        per_token: Some(8),
        width: Some(2048),
        shared: Shared::Count(1),
        dense: DenseWhere::First(3),
        correction_bias: true,
        ..EXPERTS
    }),
    ..DEEPSEEK_V32
};

/// Attention and MLP after one norm; biases of MLP and head.
pub(super) const GPTJ: Rules = Rules {
    tied: false,
    attention_bias: Switch::Never,
    norms: Norms::One,
    position_rows: None,
    context: Some(2048),
    lm_head_bias: Switch::Always,
    gguf: GgufLayout::Split,
    ..GPT2
};

pub(super) const HY_V4: Rules = Rules {
    latent: Some(Latent { nope: 192, value: 256, ..LATENT }),
    sinks: true,
    layers: LayerRule::HyV4,
    index_heads: 16,
    experts: Some(Experts {
        count: 256,
        per_token: Some(8),
        width: Some(768),
        shared: Shared::Count(1),
        dense: DenseWhere::First(1),
        correction_bias: true,
        ..EXPERTS
    }),
    ..DEEPSEEK_V32
};

/// Experts in all layers; four norms per layer.
pub(super) const KOLIBRI: Rules = Rules {
    kv_heads: KvHeads::Default(4),
    head_dim: Some(128),
    layers: LayerRule::Kolibri,
    qk_norm: QkNorm::Head,
    norms: Norms::Four,
    experts: Some(Experts {
        count: 384,
        per_token: Some(6),
        width: Some(512),
        shared: Shared::Width(512),
        correction_bias: true,
        ..EXPERTS
    }),
    ..LLAMA
};

pub(super) const LAGUNA: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    head_dim: Some(128),
    layers: LayerRule::Laguna,
    qk_norm: QkNorm::Head,
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 256,
        per_token: Some(8),
        width: Some(512),
        shared: Shared::Width(512),
        dense: DenseWhere::First(1),
        correction_bias: true,
        ..EXPERTS
    }),
    ..LLAMA
};

pub(super) const LFM3: Rules =
    Rules { kv_heads: KvHeads::Default(4), head_dim: Some(128), layers: LayerRule::Lfm3, ..LFM2 };

pub(super) const MELLUM: Rules = Rules {
    kv_heads: KvHeads::Default(4),
    head_dim: Some(128),
    layers: LayerRule::Mellum,
    qk_norm: QkNorm::Head,
    mlp_bias: Switch::Never,
    experts: Some(Experts { count: 64, per_token: Some(8), width: Some(896), ..EXPERTS }),
    ..LLAMA
};

pub(super) const MISTRAL_LARGE4: Rules = Rules {
    layers: LayerRule::MistralLarge4,
    latent: Some(Latent { query_rank: None, nope: 64, ..LATENT }),
    index_heads: 32,
    experts: Some(Experts {
        count: 128,
        per_token: Some(4),
        width: Some(6144),
        shared: Shared::Count(1),
        dense: DenseWhere::First(1),
        ..EXPERTS
    }),
    ..DEEPSEEK_V32
};

/// Layers that attend to images.
pub(super) const MLLAMA: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    layers: LayerRule::Mllama,
    attention_bias: Switch::Never,
    mlp_bias: Switch::Never,
    ..LLAMA
};

/// Norms with a weight and no bias; positions by the distance of tokens.
pub(super) const MPT: Rules = Rules {
    layers: LayerRule::Mpt,
    attention_bias: Switch::Never,
    mlp_bias: Switch::Never,
    norm: NormKind::RmsNorm,
    position_rows: None,
    context: None,
    ..GPT2
};

pub(super) const MUSE_SPARK: Rules = Rules {
    kv_heads: KvHeads::Default(16),
    head_dim: Some(64),
    layers: LayerRule::MuseSpark,
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 256,
        per_token: Some(8),
        width: Some(4096),
        correction_bias: true,
        ..EXPERTS
    }),
    ..LLAMA
};

pub(super) const OLMO_HYBRID: Rules = Rules {
    layers: LayerRule::OlmoHybrid,
    ignored: &[
        "linear_a_log_min",
        "linear_a_log_max",
        "linear_dt_min",
        "linear_dt_max",
        "linear_dt_init_floor",
        "linear_allow_neg_eigval",
    ],
    ..OLMO2
};

pub(super) const PERSIMMON: Rules = Rules {
    layers: LayerRule::Persimmon,
    tied: false,
    four_times: false,
    position_rows: None,
    context: None,
    ..GPT2
};

/// Positions as sines and cosines, which have no parameters.
pub(super) const XGLM: Rules =
    Rules { position_rows: None, context: None, gguf: GgufLayout::Split, ..GPT2 };

pub(super) const AXK2: Rules = Rules {
    latent: Some(Latent { query_rank: Some(384), rank: 128, rope: 32, nope: 64, value: 64 }),
    layers: LayerRule::Axk2,
    index_heads: 16,
    experts: Some(Experts {
        count: 128,
        per_token: Some(8),
        width: Some(512),
        shared: Shared::Count(1),
        dense: DenseWhere::First(1),
        correction_bias: true,
        ..EXPERTS
    }),
    ..DEEPSEEK_V32
};

pub(super) const BAILING_HYBRID: Rules = Rules {
    latent: Some(Latent { query_rank: None, ..LATENT }),
    layers: LayerRule::BailingHybrid,
    experts: Some(Experts {
        count: 512,
        per_token: Some(8),
        width: Some(768),
        shared: Shared::Count(1),
        dense: DenseWhere::First(2),
        correction_bias: true,
        ..EXPERTS
    }),
    ..DEEPSEEK_V3
};

/// A decoder of the `ModernBERT` kind: norms with a weight, a head with a matrix and a norm before the embedding.
pub(super) const MODERNBERT: Rules = Rules {
    tied: true,
    kv_heads: KvHeads::NotGrouped,
    layers: LayerRule::ModernBert,
    lm_head_bias: Switch::Field(field!(decoder_bias), true),
    ..LLAMA
};

/// Biases of all projections of attention, under another name.
pub(super) const INTERNLM2: Rules =
    Rules { attention_bias: Switch::Field(field!(bias), false), mlp_bias: Switch::Never, ..LLAMA };

pub(super) const BAICHUAN: Rules = Rules {
    kv_heads: KvHeads::NotGrouped,
    attention_bias: Switch::Never,
    mlp_bias: Switch::Never,
    ..LLAMA
};

/// Key and value heads by `multi_query_attention`.
pub(super) const CHATGLM: Rules = Rules {
    kv_heads: KvHeads::Switched,
    attention_bias: Switch::Field(field!(add_qkv_bias), false),
    bias_kind: AttentionBias::Qkv,
    mlp_bias: Switch::Never,
    ..LLAMA
};

/// The first Qwen: gate and up projection share the stated width.
pub(super) const QWEN1: Rules = Rules {
    kv_heads: KvHeads::NotGrouped,
    attention_bias: Switch::Always,
    bias_kind: AttentionBias::Qkv,
    layers: LayerRule::Qwen1,
    mlp_bias: Switch::Never,
    ..LLAMA
};

/// The first Molmo: the width is that of gate and up together, and 128 rows of the embedding are apart.
pub(super) const MOLMO: Rules = Rules {
    attention_bias: Switch::Field(field!(qkv_bias), false),
    bias_kind: AttentionBias::Qkv,
    layers: LayerRule::Molmo,
    mlp_bias: Switch::Never,
    ..LLAMA
};

/// `LayerNorm` with weight and bias.
pub(super) const ORION: Rules = Rules { norm: NormKind::LayerNorm, ..LLAMA };

/// `DeepSeek` `MoE`, before latent attention.
pub(super) const DEEPSEEK_MOE: Rules = Rules {
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 64,
        per_token: Some(6),
        width: Some(1408),
        shared: Shared::Count(2),
        dense: DenseWhere::First(0),
        ..EXPERTS
    }),
    ..LLAMA
};

/// Ling and Ring, 1.5 and 2.0.
pub(super) const BAILING_MOE: Rules = Rules {
    attention_bias: Switch::Field(field!(use_qkv_bias), false),
    bias_kind: AttentionBias::Qkv,
    windows: Windows::Switched,
    qk_layernorm: Some(QkNorm::Head),
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 64,
        per_token: Some(6),
        width: Some(1408),
        shared: Shared::Count(0),
        dense: DenseWhere::First(0),
        ..EXPERTS
    }),
    ignored: &["intermediate_size"],
    ..LLAMA
};

pub(super) const MINICPM: Rules = Rules { tied: true, mlp_bias: Switch::Never, ..LLAMA };

pub(super) const MINICPM3: Rules = Rules {
    latent: Some(Latent { query_rank: Some(768), rank: 256, rope: 32, nope: 64, value: 64 }),
    ..MINICPM
};

pub(super) const YOUTU: Rules =
    Rules { tied: true, latent: Some(LATENT), mlp_bias: Switch::Never, ..LLAMA };

/// A window counts where `layer_types` names it.
pub(super) const CWM: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    head_dim: Some(128),
    attention_bias: Switch::Never,
    windows: Windows::Listed,
    ..LLAMA
};

/// Norms before attention and before the MLP only.
pub(super) const VAULTGEMMA: Rules =
    Rules { norms: Norms::Two, windows: Windows::Even(512), ..GEMMA2 };

/// Plain MLP with squared ReLU; `LayerNorm` with weight and bias, biases everywhere.
pub(super) const JAIS2: Rules = Rules {
    attention_bias: Switch::Field(field!(attention_bias), true),
    mlp_bias: Switch::Field(field!(mlp_bias), true),
    ..NEMOTRON
};

pub(super) const COSMOS3_EDGE: Rules = Rules { mlp: MlpKind::Plain, ..LLAMA };

pub(super) const ARIA: Rules =
    Rules { experts: Some(Experts { shared: Shared::Count(2), ..EXPERTS }), ..LLAMA };

/// Experts beside a dense MLP of the hidden size.
pub(super) const ARCTIC: Rules = Rules {
    layers: LayerRule::Arctic,
    attention_bias: Switch::Never,
    mlp_bias: Switch::Never,
    experts: Some(EXPERTS),
    ..LLAMA
};

/// Low-rank queries, and one head of keys and values.
pub(super) const STEP3_TEXT: Rules = Rules {
    kv_heads: KvHeads::Default(1),
    head_dim: Some(256),
    layers: LayerRule::Step3Text,
    attention_bias: Switch::Never,
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 48,
        per_token: Some(3),
        width: Some(5120),
        shared: Shared::Width(5120),
        dense: DenseWhere::First(4),
        ..EXPERTS
    }),
    ..LLAMA
};
