//! What a family can build from its fields: the vocabulary of `rule_table`.

use super::fields::{HfConfig, Named};
use crate::model_arch::{AttentionBias, MlpKind, NormKind, QkNorm};

/// A bias that is always there, never, or by a field of the file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Switch {
    Never,
    Always,
    /// By this field; the second is its default.
    Field(fn(&HfConfig) -> Named<'_, bool>, bool),
}

/// Key and value heads where the file does not say.
#[derive(Debug, Clone, Copy)]
pub(super) enum KvHeads {
    /// As many as query heads: the family has no grouped attention.
    NotGrouped,
    AsHeads,
    Default(u64),
    /// By `multi_query` and `new_decoder_architecture`; true if the latter is the default.
    Falcon(bool),
    /// One with `multi_query`, else as many as query heads; the default of the field.
    MultiQuery(bool),
}

/// Which layers have a window.
#[derive(Debug, Clone, Copy)]
pub(super) enum Windows {
    /// None, whatever the file says.
    Never,
    /// All, of this size by default.
    Every(Option<u64>),
    /// With `use_sliding_window`: all.
    Switched,
    /// With `use_sliding_window`: from layer `max_window_layers`.
    SwitchedFrom,
    /// With `use_sliding_window`: even layers below `max_window_layers`.
    SwitchedEven,
    /// Even layers, of this size by default.
    Even(u64),
    /// All but every n-th, n by `sliding_window_pattern`; defaults of the size and of n.
    Pattern { window: u64, every: u64 },
    /// Those that `layer_types` lists; without the list a window is refused.
    Listed,
}

/// Norms of a layer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Norms {
    /// Before attention and before the MLP; the same count for norms after them.
    Two,
    /// One for both, attention and MLP side by side.
    One,
    /// Before and after attention and MLP.
    Four,
    /// One with `use_parallel_residual`, else two.
    ParallelResidual,
    /// By `new_decoder_architecture`, `parallel_attn` and `num_ln_in_parallel_attn`; true if the first is the default.
    Falcon(bool),
    /// Two, with the switches of OPT for weights and for the last norm.
    Opt,
}

/// Which layers of a mixture-of-experts model are dense.
#[derive(Debug, Clone, Copy)]
pub(super) enum DenseWhere {
    Nowhere,
    /// Those that `mlp_only_layers` and `decoder_sparse_step` name.
    Listed,
    /// The first `first_k_dense_replace`; the default.
    First(u64),
    /// Those outside of `moe_layer_start_index` to `moe_layer_end_index` or between `moe_layer_interval`; the default of the
    /// first.
    Outside(u64),
}

/// Width of the shared experts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shared {
    Nothing,
    /// A width; the default.
    Width(u64),
    /// A count of experts; the default.
    Count(u64),
}

/// Experts; numbers are defaults of absent fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Experts {
    pub(super) count: u64,
    pub(super) per_token: Option<u64>,
    /// `moe_intermediate_size`; without one `intermediate_size` is the width of an expert.
    pub(super) width: Option<u64>,
    pub(super) shared: Shared,
    pub(super) shared_gate: bool,
    pub(super) dense: DenseWhere,
    pub(super) biases: bool,
    pub(super) correction_bias: bool,
}

/// Sizes that a nested configuration leaves out when they are the defaults of its class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) vocab_size: u64,
    pub(super) hidden_size: u64,
    pub(super) ffn_size: u64,
    pub(super) n_layers: u64,
    pub(super) n_heads: u64,
}

/// What a family builds from its fields.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of a family and has a name in the table"
)]
pub(super) struct Rules {
    pub(super) tied: bool,
    pub(super) kv_heads: KvHeads,
    /// Default of `head_dim`; `None` is hidden size over heads.
    pub(super) head_dim: Option<u64>,
    pub(super) attention_bias: Switch,
    pub(super) bias_kind: AttentionBias,
    pub(super) windows: Windows,
    pub(super) qk_norm: QkNorm,
    /// The meaning of `qk_layernorm` or `use_qk_norm`; with `None` the first is refused.
    pub(super) qk_layernorm: Option<QkNorm>,
    pub(super) sinks: bool,
    pub(super) latent: bool,
    pub(super) mlp: MlpKind,
    pub(super) mlp_bias: Switch,
    /// An absent `intermediate_size` is four times the hidden size.
    pub(super) four_times: bool,
    pub(super) norm: NormKind,
    pub(super) norms: Norms,
    pub(super) experts: Option<Experts>,
    /// Rows of learned positions beyond the context; `None` without learned positions.
    pub(super) position_rows: Option<u64>,
    /// Default of the context length.
    pub(super) context: Option<u64>,
    pub(super) lm_head_bias: bool,
    pub(super) sizes: Option<Sizes>,
}
