//! The rules of each family in transformers 5.23.0. `..LLAMA` means "like LLAMA, except for the lines above".
//! Numbers are the defaults of absent fields.

use super::rules::{DenseWhere, Experts, KvHeads, Norms, Rules, Shared, Sizes, Switch, Windows};
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
    latent: false,
    mlp: MlpKind::Gated,
    mlp_bias: Switch::Field(field!(mlp_bias), false),
    four_times: false,
    norm: NormKind::RmsNorm,
    norms: Norms::Two,
    experts: None,
    position_rows: None,
    context: None,
    lm_head_bias: false,
    gguf: GgufLayout::Split,
    sizes: Some(Sizes {
        vocab_size: 32_000,
        hidden_size: 4096,
        ffn_size: 11_008,
        n_layers: 32,
        n_heads: 32,
    }),
};

pub(super) const MISTRAL: Rules = Rules {
    kv_heads: KvHeads::Default(8),
    attention_bias: Switch::Never,
    windows: Windows::Every(Some(4096)),
    mlp_bias: Switch::Never,
    sizes: Some(Sizes {
        vocab_size: 32_000,
        hidden_size: 4096,
        ffn_size: 14_336,
        n_layers: 32,
        n_heads: 32,
    }),
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
    Rules { windows: Windows::Every(None), experts: Some(EXPERTS), sizes: None, ..MISTRAL };

pub(super) const QWEN2: Rules = Rules {
    kv_heads: KvHeads::Default(32),
    attention_bias: Switch::Always,
    bias_kind: AttentionBias::Qkv,
    windows: Windows::SwitchedFrom,
    mlp_bias: Switch::Never,
    sizes: Some(Sizes {
        vocab_size: 151_936,
        hidden_size: 4096,
        ffn_size: 22_016,
        n_layers: 32,
        n_heads: 32,
    }),
    ..LLAMA
};

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
    sizes: None,
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
    sizes: None,
    ..QWEN3
};

pub(super) const GEMMA: Rules = Rules {
    tied: true,
    kv_heads: KvHeads::Default(16),
    head_dim: Some(256),
    mlp_bias: Switch::Never,
    sizes: Some(Sizes {
        vocab_size: 256_000,
        hidden_size: 3072,
        ffn_size: 24_576,
        n_layers: 28,
        n_heads: 16,
    }),
    ..LLAMA
};

pub(super) const GEMMA2: Rules = Rules {
    kv_heads: KvHeads::Default(4),
    windows: Windows::Even(4096),
    norms: Norms::Four,
    sizes: Some(Sizes {
        vocab_size: 256_000,
        hidden_size: 2304,
        ffn_size: 9216,
        n_layers: 26,
        n_heads: 8,
    }),
    ..GEMMA
};

pub(super) const GEMMA3: Rules = Rules {
    windows: Windows::Pattern { window: 4096, every: 6 },
    qk_norm: QkNorm::Head,
    context: Some(131_072),
    sizes: Some(Sizes {
        vocab_size: 262_208,
        hidden_size: 2304,
        ffn_size: 9216,
        n_layers: 26,
        n_heads: 8,
    }),
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
    sizes: None,
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
    lm_head_bias: true,
    ..GPT2
};

pub(super) const PHI3: Rules = Rules {
    attention_bias: Switch::Never,
    windows: Windows::Every(None),
    mlp_bias: Switch::Never,
    sizes: Some(Sizes {
        vocab_size: 32_064,
        hidden_size: 3072,
        ffn_size: 8192,
        n_layers: 32,
        n_heads: 32,
    }),
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
    sizes: None,
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
    Rules { mlp_bias: Switch::Never, norm: NormKind::NoParameters, sizes: None, ..LLAMA };

pub(super) const OLMO2: Rules =
    Rules { mlp_bias: Switch::Never, qk_norm: QkNorm::Projection, sizes: None, ..LLAMA };

pub(super) const GRANITE: Rules = Rules { sizes: None, ..LLAMA };

pub(super) const GRANITE_MOE: Rules = Rules {
    mlp_bias: Switch::Never,
    experts: Some(Experts { shared: Shared::Width(0), ..EXPERTS }),
    ..GRANITE
};

pub(super) const DEEPSEEK_V2: Rules = Rules {
    attention_bias: Switch::Never,
    latent: true,
    mlp_bias: Switch::Never,
    experts: Some(Experts {
        count: 64,
        per_token: None,
        width: Some(1407),
        shared: Shared::Count(2),
        dense: DenseWhere::First(0),
        ..EXPERTS
    }),
    sizes: None,
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
    sizes: None,
    ..LLAMA
};

/// Plain MLP with squared ReLU; `LayerNorm` with weight and bias.
pub(super) const NEMOTRON: Rules =
    Rules { mlp: MlpKind::Plain, norm: NormKind::LayerNorm, sizes: None, ..LLAMA };

pub(super) const SMOLLM3: Rules = Rules {
    tied: true,
    kv_heads: KvHeads::Default(4),
    windows: Windows::Switched,
    sizes: None,
    ..LLAMA
};

/// GPT-2 with one key and value head for all query heads.
pub(super) const GPT_BIGCODE: Rules = Rules { kv_heads: KvHeads::MultiQuery(true), ..GPT2 };

/// Attention and MLP in parallel after one norm, which has a weight and no bias.
pub(super) const COHERE: Rules = Rules {
    tied: true,
    qk_layernorm: Some(QkNorm::Projection),
    mlp_bias: Switch::Never,
    norms: Norms::One,
    sizes: None,
    ..LLAMA
};

pub(super) const COHERE2: Rules =
    Rules { windows: Windows::Pattern { window: 4096, every: 4 }, qk_layernorm: None, ..COHERE };

pub(super) const ERNIE: Rules = Rules {
    tied: true,
    kv_heads: KvHeads::Default(2),
    head_dim: Some(128),
    attention_bias: Switch::Field(field!(use_bias), false),
    mlp_bias: Switch::Field(field!(use_bias), false),
    sizes: None,
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
