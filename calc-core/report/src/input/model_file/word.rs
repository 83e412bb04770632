//! A model of a file as the page keeps it, and its geometry and formats as words of a link: numbers in hexadecimal digits, which
//! take the least place.

use calc_core::catalog;
use calc_core::model_arch::{
    Attention, AttentionBias, DenseLayers, GgufLayout, Mamba, Mla, MlpKind, ModelArch, Moe,
    NormKind, QkNorm,
};
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Provenance;
use calc_core::quant_format::QuantFormat;
use calc_core::text::List;

use super::import_notes;
use crate::input::named_model::NamedModel;

/// Version of the geometry's form; other versions are refused.
const VERSION: u64 = 1;
/// Separator of the groups of a geometry.
const GROUP: char = '.';
/// Separator of the numbers of a group.
const NUMBER: char = '-';
/// Separator of the formats of the stored roles.
const ROLE: char = '~';
/// Upper limit of the groups of dense layers.
const MOST_DENSE_GROUPS: usize = 1024;

/// The parts of a model file that the page needs.
#[derive(Debug, Clone, PartialEq)]
pub struct FileModel {
    pub name: String,
    /// Source of the geometry.
    pub source: String,
    /// Provenance of the geometry.
    pub provenance: Provenance,
    pub arch: ModelArch,
    pub stored: PrecisionChoice,
    /// Notes on assumed, omitted and rounded fields.
    pub notes: Vec<String>,
}

impl FileModel {
    /// The parts of an imported model; `None` where no word can hold the geometry.
    pub fn of(model: &NamedModel) -> Option<Self> {
        let one_line = |text: &str| text.replace(char::is_control, " ");
        let notes = import_notes(&model.assumed, &model.remarks);
        Some(Self {
            name: one_line(&model.name),
            source: one_line(&model.source),
            provenance: model.provenance,
            arch: read_geometry(&geometry(&model.arch))?,
            stored: model.stored,
            notes: notes.iter().map(|note| one_line(note)).collect(),
        })
    }
}

/// Writes a geometry as one word of letters, digits, dots and hyphens.
pub fn geometry(arch: &ModelArch) -> String {
    let a = &arch.attention;
    let mut kinds = vec![
        u64::from(arch.tied_embeddings),
        a.bias as u64,
        a.qk_norm as u64,
        u64::from(a.sinks),
        arch.mlp as u64,
        u64::from(arch.mlp_bias),
        arch.norm as u64,
        u64::from(arch.final_norm),
        u64::from(arch.lm_head_bias),
    ];
    // Words that were written before this number existed lack it.
    if arch.gguf != GgufLayout::Split {
        kinds.push(arch.gguf as u64);
    }
    let mla = arch.mla.map_or_else(Vec::new, |m| {
        vec![m.q_lora_rank.unwrap_or(0), m.kv_lora_rank, m.rope_dim, m.nope_dim, m.v_head_dim]
    });
    let mamba = arch.mamba.map_or_else(Vec::new, |m| {
        vec![m.layers, m.n_heads, m.head_dim, m.state, m.n_groups, m.conv_kernel]
    });
    let moe = arch.moe.map_or_else(Vec::new, |m| {
        let flags = [m.shared_gate, m.router_bias, m.correction_bias, m.expert_bias];
        let counts = [m.layers, m.n_experts, m.experts_per_token, m.expert_width, m.shared_width];
        counts.into_iter().chain(flags.map(u64::from)).collect()
    });
    let dense: Vec<u64> = arch.dense.iter().flat_map(|d| [d.layers, d.width]).collect();
    let groups: [&[u64]; 10] = [
        &[VERSION],
        &[arch.hidden_size, arch.n_layers, arch.vocab_size],
        &[a.n_heads, a.n_kv_heads, a.head_dim, a.full_layers, a.windowed_layers, a.window],
        &[arch.add_norms, arch.post_norms, arch.position_rows],
        &kinds,
        &arch.max_context.map_or_else(Vec::new, |max| vec![max]),
        &mla,
        &mamba,
        &moe,
        &dense,
    ];
    let text = |numbers: &&[u64]| {
        let digits: Vec<String> = numbers.iter().map(|number| format!("{number:x}")).collect();
        digits.join(&NUMBER.to_string())
    };
    groups.iter().map(text).collect::<Vec<_>>().join(&GROUP.to_string())
}

/// Parses the word of [`geometry`]; `None` for any other text and for impossible models.
pub fn read_geometry(text: &str) -> Option<ModelArch> {
    let groups: Vec<Vec<u64>> = text.split(GROUP).map(numbers).collect::<Option<_>>()?;
    let [version, sizes, attention, norms, kinds, max_context, mla, mamba, moe, dense] =
        <[Vec<u64>; 10]>::try_from(groups).ok()?;
    if *version != [VERSION] || dense.len() > 2 * MOST_DENSE_GROUPS || dense.len() % 2 != 0 {
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
    let arch = ModelArch {
        hidden_size,
        n_layers,
        vocab_size,
        tied_embeddings: flag(tied)?,
        attention: Attention {
            n_heads,
            n_kv_heads,
            head_dim,
            full_layers,
            windowed_layers,
            window,
            bias: nth(&[AttentionBias::None, AttentionBias::Qkv, AttentionBias::Qkvo], bias)?,
            qk_norm: nth(&[QkNorm::None, QkNorm::Head, QkNorm::Projection], qk_norm)?,
            sinks: flag(sinks)?,
        },
        mla: if mla.is_empty() { None } else { Some(read_mla(&mla)?) },
        mamba: if mamba.is_empty() { None } else { Some(read_mamba(&mamba)?) },
        mlp: nth(&[MlpKind::Gated, MlpKind::Plain], mlp)?,
        mlp_bias: flag(mlp_bias)?,
        dense: List::Owned(
            dense
                .chunks_exact(2)
                .map(|pair| DenseLayers { layers: pair[0], width: pair[1] })
                .collect(),
        ),
        moe: if moe.is_empty() { None } else { Some(read_moe(&moe)?) },
        norm: nth(&[NormKind::RmsNorm, NormKind::LayerNorm, NormKind::NoParameters], norm)?,
        add_norms,
        post_norms,
        final_norm: flag(final_norm)?,
        position_rows,
        lm_head_bias: flag(lm_head_bias)?,
        gguf: nth(&[GgufLayout::Split, GgufLayout::FusedQkv, GgufLayout::Falcon], layout)?,
        max_context: match *max_context {
            [] => None,
            [max] => Some(max),
            _ => return None,
        },
    };
    arch.check().is_ok().then_some(arch)
}

/// Writes the formats of the stored roles as one word.
pub fn stored(choice: &PrecisionChoice) -> String {
    let roles = [
        Some(choice.weights),
        choice.activations,
        choice.kv_cache,
        choice.embedding,
        choice.experts,
    ];
    let keys: Vec<&str> = roles.iter().map(|role| role.map_or("", |format| format.key)).collect();
    keys.join(&ROLE.to_string()).trim_end_matches(ROLE).to_owned()
}

/// Parses the word of [`stored`]; `None` for any other text.
pub fn read_stored(text: &str) -> Option<PrecisionChoice> {
    let mut keys = text.split(ROLE);
    let mut next = || -> Option<Option<&'static QuantFormat>> {
        match keys.next().unwrap_or_default() {
            "" => Some(None),
            key => catalog::format(key).ok().map(Some),
        }
    };
    let weights = next()??;
    Some(PrecisionChoice {
        weights,
        activations: next()?,
        kv_cache: next()?,
        embedding: next()?,
        experts: next()?,
    })
}

fn numbers(group: &str) -> Option<Vec<u64>> {
    if group.is_empty() {
        return Some(Vec::new());
    }
    group.split(NUMBER).map(|digits| u64::from_str_radix(digits, 16).ok()).collect()
}

fn flag(number: u64) -> Option<bool> {
    nth(&[false, true], number)
}

fn nth<T: Copy>(all: &[T], place: u64) -> Option<T> {
    all.get(usize::try_from(place).ok()?).copied()
}

fn read_mla(group: &[u64]) -> Option<Mla> {
    match *group {
        [query_rank, kv_lora_rank, rope_dim, nope_dim, v_head_dim] => {
            let q_lora_rank = (query_rank > 0).then_some(query_rank);
            Some(Mla { q_lora_rank, kv_lora_rank, rope_dim, nope_dim, v_head_dim })
        }
        _ => None,
    }
}

fn read_mamba(group: &[u64]) -> Option<Mamba> {
    match *group {
        [layers, n_heads, head_dim, state, n_groups, conv_kernel] => {
            Some(Mamba { layers, n_heads, head_dim, state, n_groups, conv_kernel })
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
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::catalog::models;
    use calc_core::hf_config::Unread;

    #[test]
    fn every_catalog_model_is_read_back_unchanged() {
        for model in models::all() {
            let named = NamedModel::from_catalog(model);
            let back = FileModel::of(&named).unwrap_or_else(|| panic!("{}", model.key));
            assert_eq!((&back.arch, back.stored), (&model.arch, model.stored.choice()));
            assert_eq!(read_stored(&stored(&back.stored)), Some(back.stored), "{}", model.key);
            assert_eq!((back.name.as_str(), back.provenance), (model.name, model.provenance));
            assert!(
                geometry(&back.arch).len() < 200,
                "{} is too long for an address",
                geometry(&back.arch)
            );
        }
    }

    #[test]
    fn a_file_keeps_its_notes_and_its_formats() {
        let text =
            include_str!("../../../../../docs/examples/custom-model.json").replacen('{', "{\"quantization_config\": {\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128},", 1);
        let named =
            NamedModel::from_file("mine\tand\nyours.json", &text, Unread::Refuse).expect("a model");
        let back = FileModel::of(&named).expect("a geometry");
        assert_eq!(read_stored(&stored(&back.stored)), Some(back.stored));
        assert_eq!((&back.arch, back.stored), (&*named.arch, named.stored));
        assert_eq!(back.notes, import_notes(&named.assumed, &named.remarks));
        assert_eq!(back.name, "mine and yours.json");
    }

    #[test]
    fn text_that_was_never_written_is_refused() {
        let model = catalog::model("deepseek-v3").expect("catalog key");
        let good = geometry(&model.arch);
        assert!(read_geometry(&good).is_some());
        let groups: Vec<&str> = good.split(GROUP).collect();
        for place in 0..groups.len() {
            for wrong in ["", "0", "zz", "1-2-3-4-5-6-7-8-9-a-b", "ffffffffffffffffff"] {
                if groups[place] == wrong {
                    continue;
                }
                let mut tampered = groups.clone();
                tampered[place] = wrong;
                let tampered = tampered.join(".");
                let read = read_geometry(&tampered);
                // A part that a model may lack can be left out; anything else is refused or still a possible model.
                assert!(read.as_ref().is_none_or(|arch| arch.check().is_ok()), "{tampered}");
                assert_ne!(read.as_ref(), Some(&model.arch), "{tampered}");
            }
        }
        for wrong in ["", "1", "2.0", &good[1..], &format!("{good}.1"), &good.replacen('1', "2", 1)]
        {
            assert_eq!(read_geometry(wrong), None, "{wrong}");
        }
        for wrong in ["", "~", "fp17", "bf16~fp17", "int4_g"] {
            assert_eq!(read_stored(wrong), None, "{wrong}");
        }
    }
}
