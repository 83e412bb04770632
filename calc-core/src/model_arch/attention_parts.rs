//! Parts that only some attention has: latents, an indexer, compressed entries, an output projection of low rank.

/// An output projection of low rank: each group of heads has a matrix of its own, and one matrix joins the groups (DeepSeek V4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupedOutput {
    /// Number of groups.
    pub groups: u64,
    /// Number of outputs of a group.
    pub rank: u64,
}

/// Compression of tokens to entries of the cache: a weighted mean of as many tokens as the ratio (DeepSeek V4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression {
    /// Number of tokens per entry.
    pub ratio: u64,
    /// An entry also has a part of the tokens of the entry before it, from a projection of twice the width.
    pub overlaps: bool,
    /// The vectors and weights of all tokens are kept, in place of the entries (the indexer of GLM-5 Next).
    pub keeps_tokens: bool,
}

impl Compression {
    /// Number of projected vectors per token and purpose: one, or two where entries overlap.
    pub const fn series(&self) -> u64 {
        if self.overlaps { 2 } else { 1 }
    }

    /// Number of outputs of the projections of vectors and weights for entries of a width.
    pub const fn outputs(&self, width: u64) -> u64 {
        2 * self.series() * width
    }

    /// Number of small parameters for entries of a width: a bias per position in a window, and the norm, which has a bias
    /// where it is of tokens.
    pub const fn vector_params(&self, width: u64) -> u64 {
        let norm = if self.keeps_tokens { 2 * width } else { width };
        self.ratio * self.series() * width + norm
    }

    /// Number of elements in the cache after `tokens` tokens: an entry for each window of them, or vector, weight and a flag
    /// per token.
    pub const fn kept(&self, width: u64, tokens: u64) -> u64 {
        if self.keeps_tokens {
            (self.outputs(width) + 1) * tokens
        } else {
            tokens / self.ratio * width
        }
    }

    /// Number of elements that a sequence keeps of tokens whose entry is not complete: vectors and weights of one window, and of
    /// the window before it where entries overlap.
    pub const fn state_elements(&self, width: u64) -> u64 {
        if self.keeps_tokens {
            return 0;
        }
        self.ratio * self.outputs(width) * self.series()
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
}

impl Mla {
    /// Number of elements per token in the cache: r + rope.
    pub const fn cache_row(&self) -> u64 {
        self.kv_lora_rank + self.rope_dim
    }
}

/// Sparse attention: heads of its own score all cached tokens, and the best of them are attended to (DeepSeek V3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Indexer {
    /// Number of layers that have an indexer; the others use the selection of an earlier layer.
    pub layers: u64,
    /// Number of heads.
    pub n_heads: u64,
    /// Width of a head, and of the key that it caches per token.
    pub head_dim: u64,
    /// Number of inputs of its query projection: the rank of the latent queries, or the hidden size.
    pub query_inputs: u64,
    /// Number of tokens that are attended to.
    pub top_k: u64,
    /// A projection weighs the heads of each token.
    pub weighs_heads: bool,
    /// Compression of the keys; `None` for a key per token.
    pub compression: Option<Compression>,
}
