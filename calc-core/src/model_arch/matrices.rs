//! The layer matrices with their shapes, from which parameters, memory and padding are counted. Embedding and LM head are
//! not included. In decode, MLA uses the up-projection of keys and values in two parts; it is stored as one matrix.

use super::{
    Attention, Decay, DeltaNet, GroupedOutput, Indexer, LayerGroup, Mla, MlpKind, ModelArch,
    Projection, Recurrent,
};
use crate::op::OpKind;

/// A group of matrices of one shape, in the format of the layer or expert weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matrix {
    /// The operator that reads it in prefill.
    pub kind: OpKind,
    /// The layers that have it.
    pub group: LayerGroup,
    /// True if the matrices belong to experts.
    pub expert: bool,
    /// Number of matrices over all layers and experts.
    pub count: u64,
    /// Number of outputs (N).
    pub rows: u64,
    /// Number of inputs (K).
    pub cols: u64,
    /// The tensors that a GGUF file stores it as.
    pub parts: Parts,
}

/// The tensors that make up a matrix in a GGUF file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// One tensor.
    Whole,
    /// Queries with their gate, keys and values: rows of each.
    Qkv([u64; 3]),
    /// The up-projection of latent keys and values.
    Latent {
        heads: u64,
        /// Width of the part of a key head without position.
        nope_dim: u64,
        /// Width of a value head.
        v_head_dim: u64,
    },
    /// The input projection of a delta net, whose last rows are the gates and decays of its heads: `in_proj_a` and `in_proj_b`.
    State { gates: u64 },
    /// The keys of an indexer, and rows that weigh its heads: `weights_proj`.
    Index { weights: u64 },
}

impl Parts {
    /// Number of rows that files and engines with quantized weights keep in 16 bits: vLLM and `SGLang` give `weights_proj` no
    /// quantizer, and published files list `in_proj_a` and `in_proj_b` among what they do not convert (read in 2026).
    pub(crate) const fn kept_rows(self) -> u64 {
        match self {
            Self::State { gates } => gates,
            Self::Index { weights } => weights,
            Self::Whole | Self::Qkv(_) | Self::Latent { .. } => 0,
        }
    }
}

impl ModelArch {
    /// Visits the matrices of all layers.
    pub fn matrices(&self, visit: &mut impl FnMut(Matrix)) {
        let hidden = self.hidden_size;
        let (first, first_of_experts) = match self.mlp {
            MlpKind::Gated => (OpKind::GateUp, OpKind::ExpertGateUp),
            MlpKind::Plain => (OpKind::Up, OpKind::ExpertUp),
        };
        for (index, group) in self.attention.iter().enumerate() {
            if group.layers() > 0 {
                group.matrices(LayerGroup::Attention(index), hidden, visit);
            }
        }
        for (index, group) in self.recurrent.iter().enumerate().filter(|(_, one)| one.layers() > 0)
        {
            visit(group.input_matrix(LayerGroup::Recurrent(index), hidden));
        }
        let mut matrix = |group, kind, expert, count, rows, cols| {
            if count > 0 {
                visit(Matrix { kind, group, expert, count, rows, cols, parts: Parts::Whole });
            }
        };
        for (index, moe) in self.moe.iter().enumerate() {
            let width = moe.latent.unwrap_or(hidden);
            let count = moe.layers * moe.n_experts;
            let inputs = self.mlp_inputs() * moe.expert_width;
            let group = LayerGroup::Experts(index);
            matrix(group, first_of_experts, true, count, inputs, width);
            matrix(group, OpKind::ExpertDown, true, count, width, moe.expert_width);
        }
        let mut layer =
            |group, kind, count, rows, cols| matrix(group, kind, false, count, rows, cols);
        for (index, group) in self.recurrent.iter().enumerate() {
            let own = LayerGroup::Recurrent(index);
            for (rows, cols) in group.others(hidden) {
                layer(own, OpKind::Projection, group.layers(), rows, cols);
            }
            layer(own, OpKind::OutProj, group.layers(), hidden, group.inner());
        }
        for &Projection { count, rows, cols, .. } in self.projections.iter() {
            layer(LayerGroup::Whole, OpKind::Projection, count, rows, cols);
        }
        let dense = self.dense.iter().enumerate();
        let dense = dense.map(|(index, one)| (LayerGroup::Dense(index), one.layers, one.width));
        let shared = self.moe.iter().enumerate().filter(|(_, moe)| moe.shared_width > 0);
        let shared =
            shared.map(|(index, moe)| (LayerGroup::Experts(index), moe.layers, moe.shared_width));
        for (group, layers, width) in dense.chain(shared) {
            layer(group, first, layers, self.mlp_inputs() * width, hidden);
            layer(group, OpKind::Down, layers, hidden, width);
        }
        for (index, moe) in self.moe.iter().enumerate() {
            if let Some(latent) = moe.latent {
                let group = LayerGroup::Experts(index);
                layer(group, OpKind::Projection, moe.layers, latent, hidden);
                layer(group, OpKind::Projection, moe.layers, hidden, latent);
            }
        }
    }
}

impl Attention {
    fn matrices(&self, group: LayerGroup, hidden: u64, visit: &mut impl FnMut(Matrix)) {
        let layers = self.layers();
        let mut layer = |kind, count, rows, cols, parts| {
            if count > 0 && rows > 0 && cols > 0 {
                visit(Matrix { kind, group, expert: false, count, rows, cols, parts });
            }
        };
        if let Some(mla) = &self.latent {
            let queries = self.n_heads * (mla.nope_dim + mla.rope_dim);
            let rows = self.latent_outputs(mla);
            layer(OpKind::QkvA, layers, rows, hidden, Parts::Whole);
            layer(OpKind::QB, layers, queries, mla.q_lora_rank.unwrap_or(0), Parts::Whole);
            let rows = self.n_heads * (mla.nope_dim + self.v_head_dim);
            layer(OpKind::KvB, layers, rows, mla.kv_lora_rank, self.latent_parts(mla));
        } else if self.query_rank > 0 {
            layer(OpKind::QkvA, layers, self.low_rank_outputs(), hidden, Parts::Whole);
            let [queries, ..] = self.qkv_outputs();
            layer(OpKind::QB, layers, queries, self.query_rank, Parts::Whole);
        } else {
            let [queries, keys, values] = self.qkv_outputs();
            let queries = queries + self.gate_outputs;
            let parts = Parts::Qkv([queries, keys, values]);
            layer(OpKind::Qkv, layers, queries + keys + values, hidden, parts);
        }
        if let Some(indexer) = &self.indexer {
            let [(rows, cols), keys] = indexer.projections(hidden);
            layer(OpKind::IndexProj, indexer.layers, rows, cols, Parts::Whole);
            let parts = Parts::Index { weights: indexer.weights() };
            layer(OpKind::IndexProj, indexer.layers, keys.0, keys.1, parts);
        }
        let outputs = self.n_heads * self.v_head_dim;
        let Some(GroupedOutput { groups, rank }) = self.output else {
            return layer(OpKind::OProj, layers, hidden, outputs, Parts::Whole);
        };
        layer(OpKind::OProj, layers, groups * rank, outputs / groups.max(1), Parts::Whole);
        layer(OpKind::OProj, layers, hidden, groups * rank, Parts::Whole);
    }

    /// Number of outputs of the first projection of latent attention: queries or their latents, the latent keys and values, and
    /// the gate.
    pub(crate) const fn latent_outputs(&self, mla: &Mla) -> u64 {
        let queries = match mla.q_lora_rank {
            Some(rank) => rank,
            None => self.n_heads * (mla.nope_dim + mla.rope_dim),
        };
        queries + mla.cache_row() + self.gate_outputs
    }

    /// Number of outputs of the first projection of attention with queries of low rank: latent queries, keys and values, the
    /// gate, and what the compression makes entries from.
    pub(crate) fn low_rank_outputs(&self) -> u64 {
        let [_, keys, values] = self.qkv_outputs();
        let compressed = self.compression.map_or(0, |compression| compression.outputs(keys));
        self.query_rank + keys + values + self.gate_outputs + compressed
    }

    const fn latent_parts(&self, mla: &Mla) -> Parts {
        let (heads, nope_dim, v_head_dim) = (self.n_heads, mla.nope_dim, self.v_head_dim);
        Parts::Latent { heads, nope_dim, v_head_dim }
    }
}

impl Recurrent {
    /// The input projection of all layers.
    fn input_matrix(&self, group: LayerGroup, cols: u64) -> Matrix {
        let gates = match self {
            Self::DeltaNet(DeltaNet { decay: Decay::PerHead, value_heads, .. }) => 2 * value_heads,
            Self::DeltaNet(_) | Self::Mamba1(_) | Self::Mamba2(_) | Self::ShortConv(_) => 0,
        };
        let parts = if gates > 0 { Parts::State { gates } } else { Parts::Whole };
        let (kind, count, rows) = (OpKind::InProj, self.layers(), self.inputs());
        Matrix { kind, group, expert: false, count, rows, cols, parts }
    }
}

impl Indexer {
    /// Its matrices as (outputs, inputs): queries; the key and the weights of the heads.
    pub fn projections(&self, hidden: u64) -> [(u64, u64); 2] {
        let queries = (self.n_heads * self.head_dim, self.query_inputs);
        let weights = self.weights();
        let keys = self.compression.map_or(self.head_dim, |one| one.outputs(self.head_dim));
        [queries, (keys + weights, hidden)]
    }

    /// Number of rows that weigh the heads.
    const fn weights(&self) -> u64 {
        if self.weighs_heads { self.n_heads } else { 0 }
    }

    /// Number of tokens per cached key.
    pub fn tokens_per_key(&self) -> u64 {
        self.compression.map_or(1, |compression| compression.ratio)
    }
}
