//! Geometries of links that were published before models had groups of layers: one kind of attention, Mamba-2 and experts each.

use calc_core::model_arch::{Attention, DenseLayers, Mamba2, Mla, ModelArch, Moe, Recurrent};
use calc_core::text::List;

use super::numbers::{BIASES, GROUP, LAYOUTS, MLPS, NORMS, QK_NORMS, flag, nth, numbers};

/// Upper limit of the groups of dense layers.
const MOST_DENSE_GROUPS: usize = 1024;

/// Parses a word of version 1; `None` for any other text and for impossible models.
pub(super) fn read(text: &str) -> Option<ModelArch> {
    let groups: Vec<Vec<u64>> = text.split(GROUP).map(numbers).collect::<Option<_>>()?;
    let [version, sizes, attention, norms, kinds, max_context, mla, mamba, moe, dense] =
        <[Vec<u64>; 10]>::try_from(groups).ok()?;
    if *version != [1] || dense.len() > 2 * MOST_DENSE_GROUPS || dense.len() % 2 != 0 {
        return None;
    }
    let [hidden_size, n_layers, vocab_size] = *sizes else { return None };
    let [n_heads, n_kv_heads, head_dim, full_layers, windowed_layers, window] = *attention else {
        return None;
    };
    let [add_norms, post_norms, position_rows] = *norms else { return None };
    let [
        tied,
        bias,
        qk_norm,
        sinks,
        mlp,
        mlp_bias,
        norm,
        final_norm,
        lm_head_bias,
        ref layout @ ..,
    ] = *kinds
    else {
        return None;
    };
    let layout = match *layout {
        [] => 0,
        [layout] => layout,
        _ => return None,
    };
    let latent = if mla.is_empty() { None } else { Some(read_mla(&mla)?) };
    let mamba = if mamba.is_empty() { None } else { Some(read_mamba(&mamba)?) };
    let moe = if moe.is_empty() { None } else { Some(read_moe(&moe)?) };
    let arch = ModelArch {
        hidden_size,
        n_layers,
        order: calc_core::text::Text::default(),
        vocab_size,
        tied_embeddings: flag(tied)?,
        attention: vec![Attention {
            n_heads,
            n_kv_heads,
            head_dim,
            v_head_dim: latent.map_or(head_dim, |(_, v_head_dim)| v_head_dim),
            full_layers,
            windowed_layers,
            window,
            bias: nth(&BIASES, bias)?,
            qk_norm: nth(&QK_NORMS, qk_norm)?,
            sinks: flag(sinks)?,
            latent: latent.map(|(mla, _)| mla),
            ..Attention::PLAIN
        }]
        .into(),
        recurrent: mamba.into_iter().map(Recurrent::Mamba2).collect(),
        mlp: nth(&MLPS, mlp)?,
        mlp_bias: flag(mlp_bias)?,
        dense: List::Owned(
            dense
                .chunks_exact(2)
                .map(|pair| DenseLayers { layers: pair[0], width: pair[1] })
                .collect(),
        ),
        moe: moe.into_iter().collect(),
        projections: List::default(),
        tables: List::default(),
        other_vectors: 0,
        norm: nth(&NORMS, norm)?,
        add_norms,
        post_norms,
        final_norm: flag(final_norm)?,
        position_rows,
        lm_head_bias: flag(lm_head_bias)?,
        has_head: true,
        towers: vec![].into(),
        draft_layers: 0,
        gguf: nth(&LAYOUTS, layout)?,
        max_context: match *max_context {
            [] => None,
            [max] => Some(max),
            _ => return None,
        },
    };
    arch.check().is_ok().then_some(arch)
}

/// Latent attention, and the width of a value head.
fn read_mla(group: &[u64]) -> Option<(Mla, u64)> {
    match *group {
        [query_rank, kv_lora_rank, rope_dim, nope_dim, v_head_dim] => {
            let q_lora_rank = (query_rank > 0).then_some(query_rank);
            Some((Mla { q_lora_rank, kv_lora_rank, rope_dim, nope_dim }, v_head_dim))
        }
        _ => None,
    }
}

fn read_mamba(group: &[u64]) -> Option<Mamba2> {
    match *group {
        [layers, n_heads, head_dim, state, n_groups, conv_kernel] => {
            let sizes =
                Mamba2 { layers, n_heads, head_dim, state, n_groups, conv_kernel, ..Mamba2::PLAIN };
            Some(sizes)
        }
        _ => None,
    }
}

fn read_moe(group: &[u64]) -> Option<Moe> {
    match *group {
        [
            layers,
            n_experts,
            experts_per_token,
            expert_width,
            shared_width,
            gate,
            bias,
            correction,
            expert,
        ] => Some(Moe {
            layers,
            n_experts,
            experts_per_token,
            expert_width,
            shared_width,
            shared_gate: flag(gate)?,
            router_bias: flag(bias)?,
            correction_bias: flag(correction)?,
            expert_bias: flag(expert)?,
            ..Moe::PLAIN
        }),
        _ => None,
    }
}
