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
    /// The first `first_k_dense_replace` layers; the value is the default.
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

/// Default sizes of the family's class, which a nested configuration may leave out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) vocab_size: u64,
    pub(super) hidden_size: u64,
    pub(super) ffn_size: u64,
    pub(super) n_layers: u64,
    pub(super) n_heads: u64,
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
    pub(super) latent: bool,
    pub(super) mlp: MlpKind,
    pub(super) mlp_bias: Switch,
    /// An absent `intermediate_size` defaults to four times the hidden size.
    pub(super) four_times: bool,
    pub(super) norm: NormKind,
    pub(super) norms: Norms,
    pub(super) experts: Option<Experts>,
    /// Number of rows of learned positions beyond the context; `None` without learned positions.
    pub(super) position_rows: Option<u64>,
    /// Default context length in tokens.
    pub(super) context: Option<u64>,
    pub(super) lm_head_bias: bool,
    pub(super) gguf: GgufLayout,
    pub(super) sizes: Option<Sizes>,
}
