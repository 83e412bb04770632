//! The ranges in which the formulas are valid; a geometry outside them is refused with the name of the dimension.

use super::recurrent::Decay;
use super::{
    Attention, Compression, GroupedOutput, Indexer, Mla, ModelArch, Moe, Recurrent, Tower,
    TowerLayers,
};
use crate::error::{Error, in_range, in_ranges};
use crate::text::Text;

/// Largest width: hidden, intermediate, vocabulary, window.
pub(crate) const MAX_WIDTH: u64 = 1 << 32;
/// Largest width of a head, rank or state.
pub(crate) const MAX_HEAD: u64 = 1 << 16;
/// Largest number of layers, experts or heads.
pub(crate) const MAX_COUNT: u64 = 1 << 16;
/// Largest number of parameters, those of layers that draft included; ten thousand times the largest published model.
const MAX_PARAMS: u128 = 10_u128.pow(16);

impl ModelArch {
    /// Checks that every dimension is in the range in which the formulas are valid.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the first dimension that is outside.
    pub fn check(&self) -> Result<(), Error> {
        in_ranges(&[
            ("hidden_size", self.hidden_size, 1, MAX_WIDTH),
            ("num_hidden_layers", self.n_layers, 1, MAX_COUNT),
            ("vocab_size", self.vocab_size, 1, MAX_WIDTH),
            ("max_position_embeddings", self.position_rows, 0, MAX_WIDTH),
            ("num_nextn_predict_layers", self.draft_layers, 0, MAX_COUNT),
        ])?;
        self.check_counts()?;
        for group in self.attention.iter() {
            group.check()?;
        }
        for group in self.dense.iter().filter(|group| group.layers > 0) {
            in_range("intermediate_size", group.width, 1, MAX_WIDTH)?;
        }
        for group in self.moe.iter() {
            group.check()?;
        }
        for group in self.recurrent.iter() {
            group.check()?;
        }
        for matrix in self.projections.iter() {
            in_ranges(&[
                ("rows of a projection", matrix.rows, 1, MAX_WIDTH),
                ("columns of a projection", matrix.cols, 1, MAX_WIDTH),
                ("residual streams", matrix.streams, 0, matrix.cols),
            ])?;
        }
        for table in self.tables.iter() {
            in_ranges(&[
                ("rows of a table", table.rows, 1, MAX_WIDTH),
                ("columns of a table", table.cols, 1, MAX_WIDTH),
            ])?;
        }
        in_range("small parameters", self.other_vectors, 0, MAX_WIDTH)?;
        self.towers.iter().try_for_each(Tower::check)?;
        let drafts = self.own_draft().map_or(0, |draft| draft.count_drafts());
        let params = self.count_params() + drafts;
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
        let mut most = self.add_norms.max(self.post_norms);
        let mut count = |layers: u64| most = most.max(layers);
        for group in self.attention.iter() {
            let indexed = group.indexer.map_or(0, |indexer| indexer.layers);
            [group.full_layers, group.windowed_layers, indexed].into_iter().for_each(&mut count);
        }
        self.recurrent.iter().for_each(|group| count(group.layers()));
        self.dense.iter().for_each(|group| count(group.layers));
        self.moe.iter().for_each(|group| count(group.layers));
        self.projections.iter().for_each(|matrix| count(matrix.count));
        in_range("layers of one kind", most, 0, 4 * MAX_COUNT).map(drop)
    }
}

impl Attention {
    fn check(&self) -> Result<(), Error> {
        if self.layers() > 0 {
            in_ranges(&[
                ("num_attention_heads", self.n_heads, 1, MAX_COUNT),
                ("num_key_value_heads", self.n_kv_heads, 1, self.n_heads),
            ])?;
            shares("num_key_value_heads", self.n_kv_heads, self.n_heads)?;
            in_ranges(&[
                ("head_dim", self.head_dim, 1, MAX_HEAD),
                ("v_head_dim", self.v_head_dim, 1, MAX_HEAD),
                ("gate of attention", self.gate_outputs, 0, MAX_WIDTH),
            ])?;
        }
        if self.windowed_layers > 0 {
            in_range("sliding_window", self.window, 1, MAX_WIDTH)?;
        }
        in_range("q_lora_rank", self.query_rank, 0, MAX_HEAD)?;
        if let Some(GroupedOutput { groups, rank }) = self.output {
            in_range("o_groups", groups, 1, self.n_heads.max(1))?;
            shares("o_groups", groups, self.n_heads)?;
            in_range("o_lora_rank", rank, 1, MAX_HEAD)?;
        }
        self.compression.as_ref().map_or(Ok(()), Compression::check)?;
        self.latent.as_ref().map_or(Ok(()), Mla::check)?;
        self.indexer.as_ref().map_or(Ok(()), Indexer::check)
    }
}

impl Compression {
    fn check(&self) -> Result<(), Error> {
        in_range("tokens per compressed entry", self.ratio, 1, MAX_HEAD).map(|_| ())
    }
}

impl Indexer {
    fn check(&self) -> Result<(), Error> {
        in_ranges(&[
            ("index_n_heads", self.n_heads, 1, MAX_COUNT),
            ("index_head_dim", self.head_dim, 1, MAX_HEAD),
            ("index_topk", self.top_k, 1, MAX_WIDTH),
            ("q_lora_rank", self.query_inputs, 1, MAX_WIDTH),
        ])?;
        self.compression.as_ref().map_or(Ok(()), Compression::check)
    }
}

impl Moe {
    fn check(&self) -> Result<(), Error> {
        in_ranges(&[
            ("num_experts", self.n_experts, 1, MAX_COUNT),
            ("num_experts_per_tok", self.experts_per_token, 1, self.n_experts),
            ("zero_expert_num", self.idle_choices, 0, MAX_COUNT),
            ("moe_latent_size", self.latent.unwrap_or(1), 1, MAX_WIDTH),
            ("moe_intermediate_size", self.expert_width, 1, MAX_WIDTH),
            ("shared_expert_intermediate_size", self.shared_width, 0, MAX_WIDTH),
        ])
    }
}

impl Mla {
    fn check(&self) -> Result<(), Error> {
        in_ranges(&[
            ("kv_lora_rank", self.kv_lora_rank, 1, MAX_HEAD),
            ("q_lora_rank", self.q_lora_rank.unwrap_or(1), 1, MAX_HEAD),
            ("qk_rope_head_dim", self.rope_dim, 0, MAX_HEAD),
            ("qk_nope_head_dim", self.nope_dim, 1, MAX_HEAD),
        ])
    }
}

impl TowerLayers {
    fn check(&self) -> Result<(), Error> {
        in_ranges(&[
            ("layers of a tower", self.layers, 0, MAX_COUNT),
            ("hidden size of a tower", self.hidden_size, 1, MAX_WIDTH),
            ("heads of a tower", self.n_heads, 0, MAX_COUNT),
            ("heads of keys of a tower", self.n_kv_heads, 0, self.n_heads),
            ("head size of a tower", self.head_dim, 1, MAX_HEAD),
            ("intermediate size of a tower", self.width, 1, MAX_WIDTH),
            ("window of a tower", self.window.unwrap_or(1), 1, MAX_WIDTH),
            ("further matrices of a tower", self.other_matrices, 0, MAX_WIDTH),
            ("biases and norms of a tower", self.vectors, 0, MAX_WIDTH),
        ])
    }
}

impl Tower {
    fn check(&self) -> Result<(), Error> {
        self.layers.iter().try_for_each(TowerLayers::check)?;
        for end in self.ends.iter() {
            in_ranges(&[
                ("rows of a projector", end.rows, 1, MAX_WIDTH),
                ("columns of a projector", end.cols, 1, MAX_WIDTH),
                ("positions of a projector", end.merge, 1, MAX_WIDTH),
            ])?;
        }
        in_range("biases and norms of a tower", self.vectors, 0, MAX_WIDTH)?;
        self.images.check()
    }
}

impl Recurrent {
    fn check(&self) -> Result<(), Error> {
        match self {
            Self::Mamba1(m) => {
                in_ranges(&[
                    ("mamba_expand", m.inner, 1, MAX_WIDTH),
                    ("state_size", m.state, 1, MAX_HEAD),
                    ("time_step_rank", m.dt_rank, 1, MAX_HEAD),
                    ("conv_kernel", m.conv_kernel, 1, MAX_HEAD),
                ])?;
            }
            Self::Mamba2(m) => {
                in_ranges(&[
                    ("mamba_num_heads", m.n_heads, 1, MAX_COUNT),
                    ("mamba_head_dim", m.head_dim, 1, MAX_HEAD),
                    ("ssm_state_size", m.state, 1, MAX_HEAD),
                    ("n_groups", m.n_groups, 1, MAX_COUNT),
                    ("conv_kernel", m.conv_kernel, 1, MAX_HEAD),
                ])?;
            }
            Self::DeltaNet(d) => {
                in_ranges(&[
                    ("linear_num_key_heads", d.key_heads, 1, MAX_COUNT),
                    ("linear_num_value_heads", d.value_heads, 1, MAX_COUNT),
                    ("linear_key_head_dim", d.key_dim, 1, MAX_HEAD),
                    ("linear_value_head_dim", d.value_dim, 1, MAX_HEAD),
                    ("linear_conv_kernel_dim", d.conv_kernel, 0, MAX_HEAD),
                ])?;
                if let Decay::PerChannel { rank, full_gate } = d.decay {
                    // A gate of low rank has the rank of the decay.
                    in_range("rank of the decay", rank, u64::from(!full_gate), MAX_HEAD)?;
                }
            }
            Self::ShortConv(c) => {
                in_ranges(&[
                    ("conv_dim", c.channels, 1, MAX_WIDTH),
                    ("conv_L_cache", c.conv_kernel, 1, MAX_HEAD),
                ])?;
            }
        }
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
