//! The model's own layers for multi-token prediction, as the draft model of speculative decoding.
//! Derivation: `docs/theory/towers.md`.

use alloc::vec;

use super::params::{narrow, wide};
use super::{Attention, DenseLayers, ModelArch, Moe, Projection};
use crate::text::List;

/// Norms of a layer for multi-token prediction: of the layer itself, of the embedding, of the hidden state, and before the head.
const NORMS: u64 = 5;

impl ModelArch {
    /// A layer for multi-token prediction as a model that shares embedding and LM head: a decoder layer with full attention and
    /// the last kind of MLP, after a projection of hidden state and embedding. `None` without such a layer. Its `draft_layers`
    /// says how many there are: the n-th drafted token comes from the n-th of them, and each has a cache of its own.
    pub fn own_draft(&self) -> Option<Self> {
        let attention = self.main_full_attention().filter(|_| self.draft_layers > 0)?;
        let indexer = attention.indexer.map(|indexer| super::Indexer { layers: 1, ..indexer });
        let attention = Attention { full_layers: 1, windowed_layers: 0, indexer, ..*attention };
        let moe = self.moe.iter().filter(|moe| moe.layers > 0).max_by_key(|moe| moe.layers);
        let moe: Option<Moe> = moe.map(|moe| Moe { layers: 1, ..*moe });
        let dense = self.dense.iter().filter(|_| moe.is_none()).max_by_key(|dense| dense.layers);
        let dense = dense.map(|dense| DenseLayers { layers: 1, ..*dense });
        Some(self.draft_of(attention, moe, dense))
    }

    /// A layer for multi-token prediction with this attention and MLP.
    pub(crate) fn draft_of(
        &self,
        attention: Attention,
        moe: Option<Moe>,
        dense: Option<DenseLayers>,
    ) -> Self {
        let joined =
            Projection { rows: self.hidden_size, cols: 2 * self.hidden_size, ..Projection::PLAIN };
        Self {
            n_layers: 1,
            attention: vec![attention].into(),
            recurrent: List::Borrowed(&[]),
            dense: dense.into_iter().collect(),
            moe: moe.into_iter().collect(),
            projections: vec![joined].into(),
            tables: List::Borrowed(&[]),
            other_vectors: 0,
            add_norms: NORMS - 1,
            post_norms: 0,
            final_norm: true,
            position_rows: 0,
            towers: List::Borrowed(&[]),
            ..self.clone()
        }
    }

    /// Number of parameters of the own layers for multi-token prediction; `None` if their geometry is not known.
    pub fn n_draft_params(&self) -> Option<u64> {
        self.own_draft().map(|draft| narrow(draft.count_drafts()))
    }

    /// Number of parameters of as many of these layers as the model has, without embedding and LM head.
    pub(super) fn count_drafts(&self) -> u128 {
        self.count_without_tables() * wide(self.draft_layers)
    }

    /// Number of parameters without embedding and LM head.
    pub(crate) fn n_params_without_tables(&self) -> u64 {
        narrow(self.count_without_tables())
    }

    fn count_without_tables(&self) -> u128 {
        let matrices = if self.tied_embeddings { 1 } else { 2 };
        self.count_params() - matrices * wide(self.vocab_size) * wide(self.hidden_size)
    }

    /// The group with the most layers of full attention.
    fn main_full_attention(&self) -> Option<&Attention> {
        let full = self.attention.iter().filter(|group| group.full_layers > 0);
        full.max_by_key(|group| group.full_layers)
    }
}
