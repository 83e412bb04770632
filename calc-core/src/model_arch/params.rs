//! Parameter counts computed from the geometry. `docs/theory/transformer.md` lists the terms.

use super::{AttentionBias, DenseLayers, Mamba, ModelArch, Moe, QkNorm};

impl ModelArch {
    /// Number of parameters of the whole model.
    ///
    /// The elements of every matrix, the embedding once if tied, learned positions, biases and norms.
    /// `docs/theory/transformer.md` lists the terms; a test compares the result with the official count of every catalog model
    /// that has one.
    pub fn n_params(&self) -> u64 {
        narrow(self.count_params())
    }

    /// Number of parameters used per token: k of E experts.
    pub fn n_active_params(&self) -> u64 {
        let idle = self.moe.map_or(0, |moe| {
            let expert = self.mlp_params(moe.expert_width) + wide(self.expert_biases());
            wide(moe.layers) * wide(moe.n_experts - moe.experts_per_token) * expert
        });
        narrow(self.count_params() - idle)
    }

    /// Number of biases of all experts, a part of [`ModelArch::n_vector_params`].
    pub fn n_expert_biases(&self) -> u64 {
        let experts = self.moe.map_or(0, |moe| wide(moe.layers) * wide(moe.n_experts));
        narrow(experts * wide(self.expert_biases()))
    }

    /// Number of biases of one expert.
    fn expert_biases(&self) -> u64 {
        let with_bias = self.moe.filter(|moe| moe.expert_bias);
        with_bias.map_or(0, |moe| self.mlp_inputs() * moe.expert_width + self.hidden_size)
    }

    /// Number of parameters in small tensors (router, learned positions, biases, norms, sinks), stored in the carrier.
    pub fn n_vector_params(&self) -> u64 {
        narrow(self.vector_params())
    }

    pub(super) fn count_params(&self) -> u128 {
        let embedding = wide(self.vocab_size) * wide(self.hidden_size);
        let copies = if self.tied_embeddings { 1 } else { 2 };
        self.matrix_params() + copies * embedding + self.vector_params()
    }

    /// Number of elements of an MLP's matrices.
    fn mlp_params(&self, width: u64) -> u128 {
        wide(self.mlp_inputs() + 1) * wide(width) * wide(self.hidden_size)
    }

    /// Number of elements of the layer matrices that are stored in the weight or expert format.
    fn matrix_params(&self) -> u128 {
        let mut sum = 0;
        self.matrices(&mut |matrix| {
            sum += wide(matrix.count) * wide(matrix.rows) * wide(matrix.cols);
        });
        sum
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

    /// Number of biases, norm weights and sinks of one attention layer.
    fn attention_vectors(&self) -> u128 {
        let a = &self.attention;
        let qkv = (a.n_heads + 2 * a.n_kv_heads) * a.head_dim;
        let bias = match a.bias {
            AttentionBias::None => 0,
            AttentionBias::Qkv => qkv,
            AttentionBias::Qkvo => qkv + self.hidden_size,
        };
        let qk_norm = match a.qk_norm {
            QkNorm::None => 0,
            QkNorm::Head => 2 * a.head_dim,
            QkNorm::Projection => (a.n_heads + a.n_kv_heads) * a.head_dim,
        };
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

    /// Number of router weights and biases of one mixture-of-experts layer.
    fn moe_vectors(&self, moe: &Moe) -> u128 {
        let router = self.hidden_size + u64::from(moe.router_bias) + u64::from(moe.correction_bias);
        let shared_gate = if moe.shared_gate { self.hidden_size } else { 0 };
        wide(moe.n_experts) * wide(router + self.expert_biases()) + wide(shared_gate)
    }
}

/// Widens a count: products of four dimensions can exceed 2^64 before [`ModelArch::check`] refuses them.
const fn wide(count: u64) -> u128 {
    count as u128
}

fn narrow(count: u128) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl Mamba {
    /// Number of elements of the convolution and its bias, A, D and dt per head, and the gated norm.
    const fn vector_params(&self) -> u128 {
        wide((self.conv_kernel + 1) * self.channels() + 3 * self.n_heads + self.inner())
    }
}
