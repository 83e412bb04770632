//! The geometry of a decoder-only transformer, from which operators and parameters are computed.
//! Names and sources are in `catalog::models`; reading a config.json is in `hf_config`.

mod check;
mod matrices;
mod params;

pub(crate) use check::{MAX_COUNT, MAX_HEAD, MAX_WIDTH, shares};
pub use matrices::Matrix;

use crate::text::List;

/// Attention projections with a bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttentionBias {
    None,
    /// Queries, keys and values.
    Qkv,
    /// Queries, keys, values and output.
    Qkvo,
}

/// Norm applied to queries and keys before their product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QkNorm {
    None,
    /// One weight per element of a head, shared by all heads: d for queries and d for keys.
    Head,
    /// One weight per output of the projections: h d for queries and g d for keys (OLMo 2).
    Projection,
}

/// Softmax attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attention {
    /// Number of query heads (h).
    pub n_heads: u64,
    /// Number of key and value heads (g).
    pub n_kv_heads: u64,
    /// Width of a head (d).
    pub head_dim: u64,
    /// Number of layers with full attention.
    pub full_layers: u64,
    /// Number of layers with sliding-window attention.
    pub windowed_layers: u64,
    /// Window in tokens; unused without windowed layers.
    pub window: u64,
    pub bias: AttentionBias,
    pub qk_norm: QkNorm,
    /// Each head has a learned attention sink.
    pub sinks: bool,
}

impl Attention {
    /// Number of attention layers.
    pub const fn layers(&self) -> u64 {
        self.full_layers + self.windowed_layers
    }
}

/// Multi-head latent attention (DeepSeek): replaces the projections of [`Attention`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mla {
    /// Rank of the query projection; `None` projects queries directly.
    pub q_lora_rank: Option<u64>,
    /// Rank of keys and values (r).
    pub kv_lora_rank: u64,
    /// Width of the part of a head with rotary position.
    pub rope_dim: u64,
    /// Width of the part of a head without position.
    pub nope_dim: u64,
    /// Width of a value head.
    pub v_head_dim: u64,
}

/// Mamba-2 layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mamba {
    pub layers: u64,
    /// Number of heads (n).
    pub n_heads: u64,
    /// Width of a head (p).
    pub head_dim: u64,
    /// State size per channel (s).
    pub state: u64,
    /// Number of groups that share B and C.
    pub n_groups: u64,
    /// Kernel length of the convolution (f).
    pub conv_kernel: u64,
}

impl Mamba {
    /// Inner width: d_i = n p.
    pub const fn inner(&self) -> u64 {
        self.n_heads * self.head_dim
    }

    /// Number of channels of the convolution: C = d_i + 2 `n_groups` s.
    pub const fn channels(&self) -> u64 {
        self.inner() + 2 * self.n_groups * self.state
    }

    /// Number of state elements per sequence and layer: d_i s + (f - 1) C.
    pub const fn state_elements(&self) -> u64 {
        self.inner() * self.state + self.conv_kernel.saturating_sub(1) * self.channels()
    }
}

/// Matrices of an MLP: two, or three with a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MlpKind {
    /// Gate and up, product, down (`SwiGLU` and similar).
    Gated,
    /// Up, activation, down, without a gate.
    Plain,
}

/// Layers with a dense MLP of the same width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DenseLayers {
    pub layers: u64,
    /// Intermediate size (I).
    pub width: u64,
}

/// Layers with a mixture of experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of a model and has a name at every use"
)]
pub struct Moe {
    pub layers: u64,
    /// Number of experts (E).
    pub n_experts: u64,
    /// Number of experts per token (k).
    pub experts_per_token: u64,
    /// Intermediate size of one expert (I_e).
    pub expert_width: u64,
    /// Intermediate size of the shared MLP; 0 if there is none.
    pub shared_width: u64,
    /// A learned gate of H weights scales the output of the shared MLP (Qwen 2 MoE).
    pub shared_gate: bool,
    pub router_bias: bool,
    /// The router has a correction bias for load balancing.
    pub correction_bias: bool,
    pub expert_bias: bool,
}

/// Kind of normalization, by its learned parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormKind {
    /// One weight vector.
    RmsNorm,
    /// A weight and a bias.
    LayerNorm,
    /// No learned parameters.
    NoParameters,
}

impl NormKind {
    /// Number of learned vectors per norm.
    pub const fn vectors(self) -> u64 {
        match self {
            Self::RmsNorm => 1,
            Self::LayerNorm => 2,
            Self::NoParameters => 0,
        }
    }
}

/// Tensors of a GGUF file that llama-quantize treats apart from those of other models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GgufLayout {
    /// Queries, keys and values are three tensors.
    Split,
    /// Queries, keys and values are one tensor, `attn_qkv`.
    FusedQkv,
    /// As [`Self::FusedQkv`], with rules for `ffn_down`, `attn_output` and the LM head.
    Falcon,
}

/// The geometry of a model. Layers of one kind are counted, not listed: their order does not affect any sum.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of a model and has a name at every use"
)]
pub struct ModelArch {
    /// Hidden size (H).
    pub hidden_size: u64,
    /// Number of layers as the model counts them.
    pub n_layers: u64,
    /// Vocabulary size (V).
    pub vocab_size: u64,
    /// Embedding and LM head share one matrix.
    pub tied_embeddings: bool,
    pub attention: Attention,
    /// Latent attention, which replaces the plain projections.
    pub mla: Option<Mla>,
    pub mamba: Option<Mamba>,
    /// Kind of all MLPs and experts.
    pub mlp: MlpKind,
    pub mlp_bias: bool,
    /// Dense MLP layers, grouped by width.
    pub dense: List<DenseLayers>,
    pub moe: Option<Moe>,
    pub norm: NormKind,
    /// Number of norms that first add the residual, without the final one.
    pub add_norms: u64,
    /// Number of other norms.
    pub post_norms: u64,
    /// A norm precedes the LM head.
    pub final_norm: bool,
    /// Number of rows of learned positions; 0 if there are none.
    pub position_rows: u64,
    pub lm_head_bias: bool,
    pub gguf: GgufLayout,
    /// Longest context that the model supports; `None` if unknown.
    pub max_context: Option<u64>,
}

impl ModelArch {
    /// Number of layers with full and with windowed attention, each with its window.
    pub fn attention_kinds(&self) -> [(u64, Option<u64>); 2] {
        let a = &self.attention;
        [(a.full_layers, None), (a.windowed_layers, Some(a.window))]
    }

    /// Number of outputs of the first MLP matmul per unit of width: 2 if gated, else 1.
    pub const fn mlp_inputs(&self) -> u64 {
        match self.mlp {
            MlpKind::Gated => 2,
            MlpKind::Plain => 1,
        }
    }
}
