//! The ranges in which the formulas are valid; a geometry outside them is refused with the name of the dimension.

use super::{Mamba, Mla, ModelArch, Moe};
use crate::error::{Error, in_range};
use crate::text::Text;

/// Largest width: hidden, intermediate, vocabulary, window.
pub(crate) const MAX_WIDTH: u64 = 1 << 32;
/// Largest width of a head, rank or state.
pub(crate) const MAX_HEAD: u64 = 1 << 16;
/// Largest number of layers, experts or heads.
pub(crate) const MAX_COUNT: u64 = 1 << 16;
/// Largest number of parameters; ten thousand times the largest published model.
const MAX_PARAMS: u128 = 10_u128.pow(16);

impl ModelArch {
    /// Checks that every dimension is in the range in which the formulas are valid.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the first dimension that is outside.
    pub fn check(&self) -> Result<(), Error> {
        in_range("hidden_size", self.hidden_size, 1, MAX_WIDTH)?;
        in_range("num_hidden_layers", self.n_layers, 1, MAX_COUNT)?;
        in_range("vocab_size", self.vocab_size, 1, MAX_WIDTH)?;
        in_range("max_position_embeddings", self.position_rows, 0, MAX_WIDTH)?;
        self.check_counts()?;
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

    /// Checks layer and norm counts, so that no sum of them can overflow.
    fn check_counts(&self) -> Result<(), Error> {
        let layers = [self.attention.full_layers, self.attention.windowed_layers];
        let dense = self.dense.iter().map(|group| group.layers);
        let parts =
            [self.moe.map_or(0, |moe| moe.layers), self.mamba.map_or(0, |mamba| mamba.layers)];
        for count in
            layers.into_iter().chain(dense).chain(parts).chain([self.add_norms, self.post_norms])
        {
            in_range("layers of one kind", count, 0, 4 * MAX_COUNT)?;
        }
        Ok(())
    }

    fn check_attention(&self) -> Result<(), Error> {
        let a = &self.attention;
        if a.layers() > 0 {
            in_range("num_attention_heads", a.n_heads, 1, MAX_COUNT)?;
            in_range("num_key_value_heads", a.n_kv_heads, 1, a.n_heads)?;
            shares("num_key_value_heads", a.n_kv_heads, a.n_heads)?;
            in_range("head_dim", a.head_dim, 1, MAX_HEAD)?;
        }
        if a.windowed_layers > 0 {
            in_range("sliding_window", a.window, 1, MAX_WIDTH)?;
        }
        Ok(())
    }
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
}

/// Checks that every key-value head serves the same number of query heads.
pub(crate) fn shares(what: &'static str, kv_heads: u64, heads: u64) -> Result<(), Error> {
    if heads.is_multiple_of(kv_heads) {
        Ok(())
    } else {
        Err(Error::UnevenSplit {
            parallel: what,
            ways: kv_heads,
            what: "the query heads",
            count: heads,
        })
    }
}
