//! Vocabulary of `rule_table`: the ways in which a family derives its structure from the fields.

use super::fields::{HfConfig, Named};
use crate::model_arch::{AttentionBias, GgufLayout, MlpKind, NormKind, QkNorm};

/// A bias that is always present, never, or by a field of the file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Switch {
    Never,
    Always,
    /// By this field; the second value is its default.
    Field(fn(&HfConfig) -> Named<'_, bool>, bool),
}

/// Number of key and value heads where the file does not state it.
#[derive(Debug, Clone, Copy)]
pub(super) enum KvHeads {
    /// One per query head: the family has no grouped attention.
    NotGrouped,
    AsHeads,
    Default(u64),
    /// By `multi_query` and `new_decoder_architecture`; the value is the default of the latter.
    Falcon(bool),
    /// The stated number with `multi_query_attention`, otherwise as many as query heads.
    Switched,
    /// One with `multi_query`, otherwise as many as query heads; the value is the default of the field.
    MultiQuery(bool),
}

/// The layers with a sliding window.
#[derive(Debug, Clone, Copy)]
pub(super) enum Windows {
    /// None, regardless of the file.
    Never,
    /// All layers, with this default size.
    Every(Option<u64>),
    /// All layers, with `use_sliding_window`.
    Switched,
    /// From layer `max_window_layers`, with `use_sliding_window`.
    SwitchedFrom,
    /// Even layers below `max_window_layers`, with `use_sliding_window`.
    SwitchedEven,
    /// Even layers, with this default size.
    Even(u64),
    /// All but every n-th layer, n by `sliding_window_pattern`; the defaults of the size and of n.
    Pattern { window: u64, every: u64 },
    /// The layers listed in `layer_types`; without the list a window is refused.
    Listed,
}

/// Norms of a layer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Norms {
    /// Before attention and before the MLP; norms after them count the same.
    Two,
    /// One for both; attention and MLP are parallel.
    One,
    /// Before and after attention and MLP.
    Four,
    /// One with `use_parallel_residual`, otherwise two.
    ParallelResidual,
    /// By `new_decoder_architecture`, `parallel_attn` and `num_ln_in_parallel_attn`; the value is the default of the first.
    Falcon(bool),
    /// Two, with OPT's switches for weights and for the last norm.
    Opt,
}

/// The dense layers of a mixture-of-experts model.
#[derive(Debug, Clone, Copy)]
pub(super) enum DenseWhere {
    Nowhere,
    /// The layers named by `mlp_only_layers` and `decoder_sparse_step`.
    Listed,
    /// The first `first_k_dense_replace` or `num_dense_layers` layers; the value is the default.
    First(u64),
    /// Layers outside of `moe_layer_start_index` to `moe_layer_end_index` or between `moe_layer_interval`; the value is the
    /// default of the first.
    Outside(u64),
}

/// Width of the shared experts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shared {
    Nothing,
    /// A width; the value is the default.
    Width(u64),
    /// A number of experts; the value is the default.
    Count(u64),
}

/// Experts of a family; numbers are defaults of absent fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Experts {
    pub(super) count: u64,
    pub(super) per_token: Option<u64>,
    /// `moe_intermediate_size`; `None` if `intermediate_size` is the width of an expert.
    pub(super) width: Option<u64>,
    pub(super) shared: Shared,
    pub(super) shared_gate: bool,
    pub(super) dense: DenseWhere,
    pub(super) biases: bool,
    pub(super) correction_bias: bool,
}

/// Default sizes of latent attention.
#[derive(Debug, Clone, Copy)]
pub(super) struct Latent {
    /// Rank of queries; `None` projects them directly.
    pub(super) query_rank: Option<u64>,
    /// Rank of keys and values.
    pub(super) rank: u64,
    /// Width of the part of a head with rotary position.
    pub(super) rope: u64,
    /// Width of the part of a head without position.
    pub(super) nope: u64,
    /// Width of a value head.
    pub(super) value: u64,
}

/// The way in which the layers of a family differ from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayerRule {
    /// All layers have the same heads; windows and experts by their own rules.
    Regular,
    /// Gated attention, with a window in most layers.
    Afmoe,
    /// Mamba-2 or attention, with an MLP.
    Bamba,
    /// Latent attention with an indexer.
    DeepseekSparse,
    /// Latent attention; a norm after the experts.
    Axk1,
    /// Latent attention with an indexer and a gate, and gated norms.
    Axk2,
    /// Kimi delta attention in all but every n-th layer, beside latent attention with a gate per head.
    BailingHybrid,
    /// Gated attention, with a window in all but every sixth layer.
    Beam,
    /// A norm after the embedding.
    Bloom,
    /// A pattern of windows, and another one in the first layers.
    Cohere2Moe,
    /// Heads and experts in objects of their own.
    Dbrx,
    /// Windows with compressed entries beside them.
    DeepseekV4,
    /// Two halves of the heads, weighed against each other.
    DiffLlama,
    /// Weighed residuals and masks.
    Doge,
    /// Latent attention with an indexer, or with a window and other ranks.
    Dots3Note,
    /// Experts for text and for images.
    ErnieVl,
    /// Full layers at the ends and in every fourth.
    Flint,
    /// Kimi delta attention between latent attention with a pooled indexer.
    Glm5Next,
    /// Latent attention with an indexer, a gate and residual streams.
    HyV4,
    /// A window in all but every fifth layer.
    Kolibri,
    /// Heads by layer, with gates.
    Laguna,
    /// Short convolutions between windows and full attention.
    Lfm3,
    /// Windows in the listed layers.
    Mellum,
    /// Latent attention with an indexer, without position in every fourth layer.
    MistralLarge4,
    /// Layers that attend to images.
    Mllama,
    /// A window in all but every third layer; no norm before the first attention.
    ModernBert,
    /// The width of the MLP as a multiple of the hidden size.
    Mpt,
    /// Gated attention and experts in a width of their own.
    MuseSpark,
    /// A gated delta net in all but every fourth layer, beside plain attention.
    OlmoHybrid,
    /// Norms of queries and keys with biases.
    Persimmon,
    /// Mamba-2 beside attention.
    FalconH1,
    /// Shared keys and values, per-layer embeddings, alternating updates.
    Gemma3n,
    /// Shared keys and values, heads by kind of layer, per-layer embeddings.
    Gemma4,
    /// Mamba-2 or attention, with a shared MLP.
    GraniteHybrid,
    /// Mamba-1 or attention, and experts in every n-th layer.
    Jamba,
    /// Kimi delta attention between latent attention.
    KimiLinear,
    /// Short convolutions between attention.
    Lfm2,
    /// Short convolutions, with experts.
    Lfm2Moe,
    /// Chunks, and experts in every n-th layer.
    Llama4,
    /// Two attentions and two MLPs per layer.
    Longcat,
    /// Mamba-1 alone.
    Mamba1Alone,
    /// Mamba-2 alone.
    Mamba2Alone,
    /// Sliding layers with heads of their own.
    Mimo,
    /// Lightning attention between full attention.
    Minimax,
    /// Blocks of tokens that an indexer selects.
    MinimaxM3,
    /// One part per layer, by a pattern of letters.
    NemotronH,
    /// Blocks of differing widths, some without attention.
    Blocks,
    /// Experts beside a dense MLP of the hidden size, with a norm of its own.
    Arctic,
    /// An MLP of half the stated width.
    Qwen1,
    /// As Qwen 1, with rows of the embedding apart.
    Molmo,
    /// Low-rank queries of plain attention.
    Step3Text,
    /// A gated delta net in all but every n-th layer.
    QwenNext,
    /// Sliding layers with more heads, and gates.
    Step3,
}

/// The rules of a family.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of a family and has a name in the table"
)]
pub(super) struct Rules {
    pub(super) tied: bool,
    pub(super) kv_heads: KvHeads,
    /// Default of `head_dim`; `None` for hidden size over heads.
    pub(super) head_dim: Option<u64>,
    pub(super) attention_bias: Switch,
    pub(super) bias_kind: AttentionBias,
    pub(super) windows: Windows,
    pub(super) qk_norm: QkNorm,
    /// Meaning of `qk_layernorm` or `use_qk_norm`; with `None` the first is refused.
    pub(super) qk_layernorm: Option<QkNorm>,
    pub(super) sinks: bool,
    /// Latent attention, with the defaults of its sizes.
    pub(super) latent: Option<Latent>,
    pub(super) layers: LayerRule,
    /// Default number of heads of an indexer.
    pub(super) index_heads: u64,
    /// Keys without effect on memory.
    pub(super) ignored: &'static [&'static str],
    pub(super) mlp: MlpKind,
    pub(super) mlp_bias: Switch,
    /// An absent `intermediate_size` defaults to four times the hidden size.
    pub(super) four_times: bool,
    /// A norm of the heads' outputs, and one of the MLP's intermediate values (BitNet).
    pub(super) inner_norms: bool,
    /// Number of further learned numbers per layer.
    pub(super) layer_vectors: u64,
    pub(super) norm: NormKind,
    pub(super) norms: Norms,
    pub(super) experts: Option<Experts>,
    /// Number of rows of learned positions beyond the context; `None` without learned positions.
    pub(super) position_rows: Option<u64>,
    /// Default context length in tokens.
    pub(super) context: Option<u64>,
    pub(super) lm_head_bias: Switch,
    /// Default width of the embeddings of each layer.
    pub(super) per_layer_width: u64,
    pub(super) gguf: GgufLayout,
}
