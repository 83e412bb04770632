//! The layer matrices with their shapes, from which parameters, memory and padding are counted. Embedding and LM head are
//! not included. In decode, MLA uses the up-projection of keys and values in two parts; it is stored as one matrix.

use super::{Mla, MlpKind, ModelArch};
use crate::op::OpKind;

/// A group of matrices of one shape, in the format of the layer or expert weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matrix {
    /// The operator that reads it in prefill.
    pub kind: OpKind,
    /// True if the matrices belong to experts.
    pub expert: bool,
    /// Number of matrices over all layers and experts.
    pub count: u64,
    /// Number of outputs (N).
    pub rows: u64,
    /// Number of inputs (K).
    pub cols: u64,
}

impl ModelArch {
    /// Visits the matrices of all layers.
    pub fn matrices(&self, visit: &mut impl FnMut(Matrix)) {
        let hidden = self.hidden_size;
        let mut layer = |kind, count, rows, cols| {
            if count > 0 {
                visit(Matrix { kind, expert: false, count, rows, cols });
            }
        };
        let a = &self.attention;
        if let Some(mla) = &self.mla {
            self.latent_matrices(mla, &mut layer);
        } else {
            let heads = a.n_heads * a.head_dim;
            layer(OpKind::Qkv, a.layers(), heads + 2 * a.n_kv_heads * a.head_dim, hidden);
            layer(OpKind::OProj, a.layers(), hidden, heads);
        }
        if let Some(mamba) = &self.mamba {
            let inputs = mamba.inner() + mamba.channels() + mamba.n_heads;
            layer(OpKind::InProj, mamba.layers, inputs, hidden);
            layer(OpKind::OutProj, mamba.layers, hidden, mamba.inner());
        }
        let (first, first_of_experts) = match self.mlp {
            MlpKind::Gated => (OpKind::GateUp, OpKind::ExpertGateUp),
            MlpKind::Plain => (OpKind::Up, OpKind::ExpertUp),
        };
        let shared = self.moe.iter().filter(|moe| moe.shared_width > 0);
        let shared = shared.map(|moe| (moe.layers, moe.shared_width));
        for (layers, width) in
            self.dense.iter().map(|group| (group.layers, group.width)).chain(shared)
        {
            layer(first, layers, self.mlp_inputs() * width, hidden);
            layer(OpKind::Down, layers, hidden, width);
        }
        if let Some(moe) = &self.moe {
            let mut experts = |kind, rows, cols| {
                visit(Matrix { kind, expert: true, count: moe.layers * moe.n_experts, rows, cols });
            };
            experts(first_of_experts, self.mlp_inputs() * moe.expert_width, hidden);
            experts(OpKind::ExpertDown, hidden, moe.expert_width);
        }
    }

    fn latent_matrices(&self, mla: &Mla, layer: &mut impl FnMut(OpKind, u64, u64, u64)) {
        let (layers, heads, hidden) =
            (self.attention.layers(), self.attention.n_heads, self.hidden_size);
        let queries = heads * (mla.nope_dim + mla.rope_dim);
        let latent = mla.kv_lora_rank + mla.rope_dim;
        match mla.q_lora_rank {
            Some(rank) => {
                layer(OpKind::QkvA, layers, rank + latent, hidden);
                layer(OpKind::QB, layers, queries, rank);
            }
            None => layer(OpKind::QkvA, layers, queries + latent, hidden),
        }
        layer(OpKind::KvB, layers, heads * (mla.nope_dim + mla.v_head_dim), mla.kv_lora_rank);
        layer(OpKind::OProj, layers, hidden, heads * mla.v_head_dim);
    }
}
