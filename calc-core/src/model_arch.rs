//! The geometry of a decoder-only transformer: what its operators and parameters are computed from.
//! What is not here: names and sources (`catalog::models`), and reading a config.json (`hf_config`).

mod check;
mod matrices;
mod params;

pub(crate) use check::{MAX_COUNT, MAX_HEAD, MAX_WIDTH, shares};
pub use matrices::Matrix;

use crate::text::List;

/// Which projections of attention have a bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttentionBias {
    /// None.
    None,
    /// Queries, keys and values.
    Qkv,
    /// Queries, keys, values and output.
    Qkvo,
}

/// Which norm queries and keys pass before their product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QkNorm {
    /// None.
    None,
    /// One weight per element of a head, shared by all heads: d for queries and d for keys.
    Head,
    /// One weight per output of the projections: h d for queries and g d for keys (OLMo 2).
    Projection,
}

/// Softmax attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attention {
    /// Query heads (h).
    pub n_heads: u64,
    /// Key and value heads (g).
    pub n_kv_heads: u64,
    /// Size of a head (d).
    pub head_dim: u64,
    /// Layers that attend to everything.
    pub full_layers: u64,
    /// Layers that attend to a window.
    pub windowed_layers: u64,
    /// The window [token]; means nothing without windowed layers.
    pub window: u64,
    /// Biases.
    pub bias: AttentionBias,
    /// Norm of queries and keys.
    pub qk_norm: QkNorm,
    /// One learned sink per head.
    pub sinks: bool,
}

impl Attention {
    /// All attention layers.
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
    /// Part of a head with position.
    pub rope_dim: u64,
    /// Part of a head without position.
    pub nope_dim: u64,
    /// Size of a value head.
    pub v_head_dim: u64,
}

/// Mamba-2 layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mamba {
    /// How many.
    pub layers: u64,
    /// Heads (n).
    pub n_heads: u64,
    /// Size of a head (p).
    pub head_dim: u64,
    /// State per channel (s).
    pub state: u64,
    /// Groups that share B and C.
    pub n_groups: u64,
    /// Length of the convolution (f).
    pub conv_kernel: u64,
}

impl Mamba {
    /// d_i = n p.
    pub const fn inner(&self) -> u64 {
        self.n_heads * self.head_dim
    }

    /// Channels of the convolution: d_i + 2 `n_groups` s.
    pub const fn channels(&self) -> u64 {
        self.inner() + 2 * self.n_groups * self.state
    }

    /// Elements of the state of one sequence in one layer: d_i s + (f - 1) C.
    pub const fn state_elements(&self) -> u64 {
        self.inner() * self.state + self.conv_kernel.saturating_sub(1) * self.channels()
    }
}

/// Kind of MLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MlpKind {
    /// Gate and up, product, down (`SwiGLU` and kin).
    Gated,
    /// Up, activation, down.
    Plain,
}

/// Layers with a dense MLP of one width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DenseLayers {
    /// How many.
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
    /// How many.
    pub layers: u64,
    /// Experts (E).
    pub n_experts: u64,
    /// Experts of one token (k).
    pub experts_per_token: u64,
    /// Intermediate size of one expert (I_e).
    pub expert_width: u64,
    /// Intermediate size of the shared MLP; 0 without one.
    pub shared_width: u64,
    /// A learned gate of H weights scales the output of the shared MLP (Qwen 2 MoE).
    pub shared_gate: bool,
    /// The router has a bias.
    pub router_bias: bool,
    /// The router has a correction bias for balancing.
    pub correction_bias: bool,
    /// The experts have biases.
    pub expert_bias: bool,
}

/// Kind of normalization, as far as parameters are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormKind {
    /// A weight.
    RmsNorm,
    /// A weight and a bias.
    LayerNorm,
    /// Nothing learned.
    NoParameters,
}

impl NormKind {
    /// Learned vectors per norm.
    pub const fn vectors(self) -> u64 {
        match self {
            Self::RmsNorm => 1,
            Self::LayerNorm => 2,
            Self::NoParameters => 0,
        }
    }
}

/// The geometry. Layers of one kind are counted, not listed: their order changes no sum.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of a model and has a name at every use"
)]
pub struct ModelArch {
    /// Hidden size (H).
    pub hidden_size: u64,
    /// Layers, as the model counts them.
    pub n_layers: u64,
    /// Vocabulary (V).
    pub vocab_size: u64,
    /// Embedding and LM head are one matrix.
    pub tied_embeddings: bool,
    /// Softmax attention.
    pub attention: Attention,
    /// Latent attention in place of the plain projections.
    pub mla: Option<Mla>,
    /// Mamba-2 layers.
    pub mamba: Option<Mamba>,
    /// Kind of all MLPs and experts.
    pub mlp: MlpKind,
    /// Dense MLPs have biases.
    pub mlp_bias: bool,
    /// Dense MLPs by width.
    pub dense: List<DenseLayers>,
    /// Mixture-of-experts layers.
    pub moe: Option<Moe>,
    /// Kind of norms.
    pub norm: NormKind,
    /// Norms that first add the residual, without the final one.
    pub add_norms: u64,
    /// Further norms.
    pub post_norms: u64,
    /// There is a norm before the LM head.
    pub final_norm: bool,
    /// Rows of learned positions.
    pub position_rows: u64,
    /// The LM head has a bias.
    pub lm_head_bias: bool,
    /// Longest context that the model is made for; `None` when unknown.
    pub max_context: Option<u64>,
}

impl ModelArch {
    /// Layers of full attention and of windowed attention, with the window.
    pub fn attention_kinds(&self) -> [(u64, Option<u64>); 2] {
        let a = &self.attention;
        [(a.full_layers, None), (a.windowed_layers, Some(a.window))]
    }

    /// Outputs of the first MLP matmul per unit of width: 2 when gated.
    pub const fn mlp_inputs(&self) -> u64 {
        match self.mlp {
            MlpKind::Gated => 2,
            MlpKind::Plain => 1,
        }
    }
}
