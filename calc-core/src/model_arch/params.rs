//! Parameter counts computed from the geometry. `docs/theory/transformer.md` lists the terms.

use super::{Attention, AttentionBias, DenseLayers, Indexer, KvSource, ModelArch, Moe, QkNorm};

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
        let idle: u128 = self
            .moe
            .iter()
            .map(|moe| {
                let chosen = if moe.for_images { 0 } else { moe.experts_per_token };
                let used = chosen * moe.n_experts / moe.choices().max(1);
                let unused = moe.n_experts.saturating_sub(used);
                wide(moe.layers) * wide(unused) * self.expert_params(moe)
            })
            .sum();
        narrow(self.count_params() - idle)
    }

    /// Number of parameters of one expert.
    fn expert_params(&self, moe: &Moe) -> u128 {
        wide(self.mlp_inputs() + 1) * wide(moe.expert_width) * wide(self.expert_inputs(moe))
            + wide(self.expert_biases(moe))
    }

    /// Number of inputs of an expert.
    pub(crate) fn expert_inputs(&self, moe: &Moe) -> u64 {
        moe.latent.unwrap_or(self.hidden_size)
    }

    /// Number of biases of all experts, a part of [`ModelArch::n_vector_params`].
    pub fn n_expert_biases(&self) -> u64 {
        let all =
            |moe: &Moe| wide(moe.layers) * wide(moe.n_experts) * wide(self.expert_biases(moe));
        narrow(self.moe.iter().map(all).sum())
    }

    /// Number of biases of one expert.
    fn expert_biases(&self, moe: &Moe) -> u64 {
        if moe.expert_bias {
            self.mlp_inputs() * moe.expert_width + self.expert_inputs(moe)
        } else {
            0
        }
    }

    /// Number of parameters in small tensors (router, learned positions, biases, norms, sinks), stored in the carrier.
    pub fn n_vector_params(&self) -> u64 {
        narrow(self.vector_params())
    }

    pub(super) fn count_params(&self) -> u128 {
        let embedding = wide(self.vocab_size) * wide(self.hidden_size);
        let copies = if self.tied_embeddings { 1 } else { 2 };
        let tables: u128 = self.tables.iter().map(|t| wide(t.rows) * wide(t.cols)).sum();
        self.matrix_params() + copies * embedding + tables + self.vector_params()
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
        let attention = |group: &Attention| group.vector_params(self.hidden_size);
        let recurrent: u128 = self
            .recurrent
            .iter()
            .map(|group| wide(group.layers()) * wide(group.vector_params(self.hidden_size)))
            .sum();
        self.attention.iter().map(attention).sum::<u128>()
            + recurrent
            + self.dense_biases()
            + self.moe.iter().map(|moe| wide(moe.layers) * self.moe_vectors(moe)).sum::<u128>()
            + wide(self.other_vectors)
            + norms * wide(self.norm.vectors()) * h
            + wide(self.position_rows) * h
            + if self.lm_head_bias { wide(self.vocab_size) } else { 0 }
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
        wide(moe.choices()) * wide(router)
            + wide(moe.n_experts) * wide(self.expert_biases(moe))
            + wide(shared_gate)
    }
}

impl Attention {
    /// Number of biases, norm weights and sinks of all layers of the group.
    fn vector_params(&self, hidden: u64) -> u128 {
        let [queries, keys, values] = self.qkv_outputs();
        let qkv = queries + keys + values;
        // Latent attention has biases where it projects to latents; a direct projection of queries has none.
        let biased = self.latent.map_or(qkv, |mla| mla.q_lora_rank.unwrap_or(0) + mla.cache_row());
        let bias = match self.bias {
            AttentionBias::None => 0,
            AttentionBias::Qkv => biased,
            AttentionBias::Qkvo => biased + hidden,
        };
        let own_keys = self.kv_source != KvSource::EarlierLayer;
        let qk_norm = match self.qk_norm {
            QkNorm::None => 0,
            QkNorm::Head => (1 + u64::from(own_keys)) * self.head_dim,
            QkNorm::Projection => queries + keys,
            QkNorm::Keys => self.head_dim,
        };
        let latent_norms =
            self.latent.map_or(0, |mla| mla.q_lora_rank.unwrap_or(0) + mla.kv_lora_rank);
        let sinks = if self.sinks { self.n_heads } else { 0 };
        let compressed = self.compression.map_or(0, |one| one.vector_params(keys));
        let indexers = self.indexer.map_or(0, |index| wide(index.layers) * wide(index.vectors()));
        let layer = bias + qk_norm + self.query_rank + latent_norms + sinks + compressed;
        wide(self.layers()) * wide(layer) + indexers
    }
}

impl Indexer {
    /// Number of small parameters of a layer: the norm of the key has a weight and a bias; that of compressed keys has a weight,
    /// beside a bias per position.
    fn vectors(&self) -> u64 {
        self.compression.map_or(2 * self.head_dim, |one| one.vector_params(self.head_dim))
    }
}

/// Widens a count: products of four dimensions can exceed 2^64 before [`ModelArch::check`] refuses them.
pub(super) const fn wide(count: u64) -> u128 {
    count as u128
}

pub(super) fn narrow(count: u128) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
