//! The geometry of a decoder-only transformer: what its operators and parameters are computed from.
//! What is not here: names and sources (`catalog::models`), and reading a config.json (`hf_config`).

use crate::error::{Error, in_range};
use crate::text::{List, Text};

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
    /// Queries and keys are normalized.
    pub qk_norm: bool,
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

/// Largest width: hidden, intermediate, vocabulary, window.
const MAX_WIDTH: u64 = 1 << 32;
/// Largest size of a head, rank or state.
const MAX_HEAD: u64 = 1 << 16;
/// Most layers, experts or heads.
const MAX_COUNT: u64 = 1 << 16;
/// Most parameters; ten thousand times the largest published model.
const MAX_PARAMS: u128 = 10_u128.pow(16);

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

    /// Checks that every dimension is in a range in which the formulas mean something.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the first dimension that is not.
    pub fn check(&self) -> Result<(), Error> {
        in_range("hidden_size", self.hidden_size, 1, MAX_WIDTH)?;
        in_range("num_hidden_layers", self.n_layers, 1, MAX_COUNT)?;
        in_range("vocab_size", self.vocab_size, 1, MAX_WIDTH)?;
        in_range("max_position_embeddings", self.position_rows, 0, MAX_WIDTH)?;
        self.check_attention()?;
        for group in self.dense.iter().filter(|group| group.layers > 0) {
            in_range("intermediate_size", group.width, 1, MAX_WIDTH)?;
        }
        self.moe.as_ref().map_or(Ok(()), Moe::check)?;
        self.mla.as_ref().map_or(Ok(()), Mla::check)?;
        self.mamba.as_ref().map_or(Ok(()), Mamba::check)?;
        let params = self.count_params();
        if params > MAX_PARAMS {
            let (value, max) = (params as f64, MAX_PARAMS as f64);
            return Err(Error::OutOfRange {
                what: Text::Borrowed("parameters"),
                value,
                min: 1.0,
                max,
            });
        }
        Ok(())
    }

    fn check_attention(&self) -> Result<(), Error> {
        let a = &self.attention;
        if a.layers() > 0 {
            in_range("num_attention_heads", a.n_heads, 1, MAX_COUNT)?;
            in_range("num_key_value_heads", a.n_kv_heads, 1, a.n_heads)?;
            in_range("head_dim", a.head_dim, 1, MAX_HEAD)?;
        }
        if a.windowed_layers > 0 {
            in_range("sliding_window", a.window, 1, MAX_WIDTH)?;
        }
        Ok(())
    }

    /// All parameters.
    ///
    /// The elements of every matrix, the embedding once if tied, learned positions, biases and norms.
    /// `docs/theory/transformer.md` lists the terms; for every catalog model whose official count is known the two are
    /// equal (a test).
    pub fn n_params(&self) -> u64 {
        narrow(self.count_params())
    }

    /// Parameters that one token uses: k of E experts.
    pub fn n_active_params(&self) -> u64 {
        let idle = self.moe.map_or(0, |moe| {
            let bias = if moe.expert_bias {
                wide(self.mlp_inputs() * moe.expert_width + self.hidden_size)
            } else {
                0
            };
            let expert = self.mlp_params(moe.expert_width) + bias;
            wide(moe.layers) * wide(moe.n_experts - moe.experts_per_token) * expert
        });
        narrow(self.count_params() - idle)
    }

    /// Everything small: router, learned positions, biases, norms, sinks. Stored in the carrier.
    pub fn n_vector_params(&self) -> u64 {
        narrow(self.vector_params())
    }

    fn count_params(&self) -> u128 {
        let embedding = wide(self.vocab_size) * wide(self.hidden_size);
        let copies = if self.tied_embeddings { 1 } else { 2 };
        self.matrix_params() + copies * embedding + self.vector_params()
    }

    /// Elements of both matrices of an MLP.
    fn mlp_params(&self, width: u64) -> u128 {
        wide(self.mlp_inputs() + 1) * wide(width) * wide(self.hidden_size)
    }

    /// Elements of the layer matrices that are stored in the weight format.
    fn matrix_params(&self) -> u128 {
        let (h, a) = (wide(self.hidden_size), &self.attention);
        let attention = match &self.mla {
            Some(mla) => mla.params(h, wide(a.n_heads)),
            None => 2 * h * wide((a.n_heads + a.n_kv_heads) * a.head_dim),
        };
        let mamba = self
            .mamba
            .map_or(0, |m| wide(m.layers) * h * wide(2 * m.inner() + m.channels() + m.n_heads));
        let dense: u128 =
            self.dense.iter().map(|group| wide(group.layers) * self.mlp_params(group.width)).sum();
        let experts = self.moe.map_or(0, |moe| {
            let layer = wide(moe.n_experts) * self.mlp_params(moe.expert_width)
                + self.mlp_params(moe.shared_width);
            wide(moe.layers) * layer
        });
        wide(a.layers()) * attention + mamba + dense + experts
    }

    fn vector_params(&self) -> u128 {
        let h = wide(self.hidden_size);
        let norms = wide(self.add_norms + self.post_norms + u64::from(self.final_norm));
        wide(self.attention.layers()) * self.attention_vectors()
            + self.mamba.map_or(0, |m| wide(m.layers) * m.vector_params())
            + self.dense_biases()
            + self.moe.map_or(0, |moe| wide(moe.layers) * self.moe_vectors(&moe))
            + norms * wide(self.norm.vectors()) * h
            + wide(self.position_rows) * h
            + if self.lm_head_bias { wide(self.vocab_size) } else { 0 }
    }

    /// Biases, norms and sinks of one attention layer.
    fn attention_vectors(&self) -> u128 {
        let a = &self.attention;
        let qkv = (a.n_heads + 2 * a.n_kv_heads) * a.head_dim;
        let bias = match a.bias {
            AttentionBias::None => 0,
            AttentionBias::Qkv => qkv,
            AttentionBias::Qkvo => qkv + self.hidden_size,
        };
        let qk_norm = if a.qk_norm { 2 * a.head_dim } else { 0 };
        let latent_norms =
            self.mla.map_or(0, |mla| mla.q_lora_rank.unwrap_or(0) + mla.kv_lora_rank);
        let sinks = if a.sinks { a.n_heads } else { 0 };
        wide(bias + qk_norm + latent_norms + sinks)
    }

    fn dense_biases(&self) -> u128 {
        if !self.mlp_bias {
            return 0;
        }
        let one = |group: &DenseLayers| {
            wide(group.layers) * wide(self.mlp_inputs() * group.width + self.hidden_size)
        };
        self.dense.iter().map(one).sum()
    }

    /// Router and biases of one mixture-of-experts layer.
    fn moe_vectors(&self, moe: &Moe) -> u128 {
        let router = self.hidden_size + u64::from(moe.router_bias) + u64::from(moe.correction_bias);
        let expert_bias = if moe.expert_bias {
            self.mlp_inputs() * moe.expert_width + self.hidden_size
        } else {
            0
        };
        wide(moe.n_experts) * wide(router + expert_bias)
    }
}

/// Products of four dimensions can pass 2^64 before [`ModelArch::check`] has refused them.
const fn wide(count: u64) -> u128 {
    count as u128
}

fn narrow(count: u128) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl Moe {
    fn check(&self) -> Result<(), Error> {
        in_range("num_experts", self.n_experts, 1, MAX_COUNT)?;
        in_range("num_experts_per_tok", self.experts_per_token, 1, self.n_experts)?;
        in_range("moe_intermediate_size", self.expert_width, 1, MAX_WIDTH)?;
        in_range("shared_expert_intermediate_size", self.shared_width, 0, MAX_WIDTH)?;
        Ok(())
    }
}

impl Mla {
    fn check(&self) -> Result<(), Error> {
        in_range("kv_lora_rank", self.kv_lora_rank, 1, MAX_HEAD)?;
        in_range("q_lora_rank", self.q_lora_rank.unwrap_or(1), 1, MAX_HEAD)?;
        in_range("qk_rope_head_dim", self.rope_dim, 0, MAX_HEAD)?;
        in_range("qk_nope_head_dim", self.nope_dim, 1, MAX_HEAD)?;
        in_range("v_head_dim", self.v_head_dim, 1, MAX_HEAD)?;
        Ok(())
    }

    /// Elements of the matrices of one layer with `h` hidden units and `heads` heads.
    fn params(&self, h: u128, heads: u128) -> u128 {
        let queries = heads * wide(self.nope_dim + self.rope_dim);
        let latent = wide(self.kv_lora_rank + self.rope_dim);
        let down_and_q = match self.q_lora_rank {
            Some(rank) => (wide(rank) + latent) * h + queries * wide(rank),
            None => (queries + latent) * h,
        };
        let up = heads * wide(self.nope_dim + self.v_head_dim) * wide(self.kv_lora_rank);
        down_and_q + up + h * heads * wide(self.v_head_dim)
    }
}

impl Mamba {
    fn check(&self) -> Result<(), Error> {
        in_range("mamba_num_heads", self.n_heads, 1, MAX_COUNT)?;
        in_range("mamba_head_dim", self.head_dim, 1, MAX_HEAD)?;
        in_range("ssm_state_size", self.state, 1, MAX_HEAD)?;
        in_range("n_groups", self.n_groups, 1, MAX_COUNT)?;
        in_range("conv_kernel", self.conv_kernel, 1, MAX_HEAD)?;
        Ok(())
    }

    /// Convolution and its bias, A, D and dt per head, and the gated norm.
    const fn vector_params(&self) -> u128 {
        wide((self.conv_kernel + 1) * self.channels() + 3 * self.n_heads + self.inner())
    }
}
