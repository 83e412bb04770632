//! The matrices of the layers, each with its shape: what parameters, memory and padding are counted from. Embedding and LM
//! head are not among them. In decode, MLA uses the up-projection of keys and values in two parts; it is stored as one.

use super::{Mla, ModelArch};

/// Matrices of one shape, in the format of the weights or of the experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matrix {
    /// It belongs to an expert.
    pub expert: bool,
    /// How many, over all layers and experts.
    pub count: u64,
    /// Outputs (N).
    pub rows: u64,
    /// Inputs (K).
    pub cols: u64,
}

impl ModelArch {
    /// Visits the matrices of all layers.
    pub fn matrices(&self, visit: &mut impl FnMut(Matrix)) {
        let hidden = self.hidden_size;
        let mut layer = |count, rows, cols| {
            if count > 0 {
                visit(Matrix { expert: false, count, rows, cols });
            }
        };
        let a = &self.attention;
        if let Some(mla) = &self.mla {
            self.latent_matrices(mla, &mut layer);
        } else {
            let heads = a.n_heads * a.head_dim;
            layer(a.layers(), heads + 2 * a.n_kv_heads * a.head_dim, hidden);
            layer(a.layers(), hidden, heads);
        }
        if let Some(mamba) = &self.mamba {
            layer(mamba.layers, mamba.inner() + mamba.channels() + mamba.n_heads, hidden);
            layer(mamba.layers, hidden, mamba.inner());
        }
        let shared = self
            .moe
            .iter()
            .filter(|moe| moe.shared_width > 0)
            .map(|moe| (moe.layers, moe.shared_width));
        for (layers, width) in
            self.dense.iter().map(|group| (group.layers, group.width)).chain(shared)
        {
            layer(layers, self.mlp_inputs() * width, hidden);
            layer(layers, hidden, width);
        }
        if let Some(moe) = &self.moe {
            let (count, width) = (moe.layers * moe.n_experts, moe.expert_width);
            visit(Matrix { expert: true, count, rows: self.mlp_inputs() * width, cols: hidden });
            visit(Matrix { expert: true, count, rows: hidden, cols: width });
        }
    }

    fn latent_matrices(&self, mla: &Mla, layer: &mut impl FnMut(u64, u64, u64)) {
        let (layers, heads, hidden) =
            (self.attention.layers(), self.attention.n_heads, self.hidden_size);
        let queries = heads * (mla.nope_dim + mla.rope_dim);
        let latent = mla.kv_lora_rank + mla.rope_dim;
        match mla.q_lora_rank {
            Some(rank) => {
                layer(layers, rank + latent, hidden);
                layer(layers, queries, rank);
            }
            None => layer(layers, queries + latent, hidden),
        }
        layer(layers, heads * (mla.nope_dim + mla.v_head_dim), mla.kv_lora_rank);
        layer(layers, hidden, heads * mla.v_head_dim);
    }
}
