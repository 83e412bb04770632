//! Editor of a model's geometry: its changeable numbers, and the consequences of a change for the rest of the geometry.

use calc_core::model_arch::{Attention, DenseLayers, ModelArch};
use calc_core::text::List;

use super::fields::{Field, ModelFault, count};
use super::inputs::ModelInputs;

/// Fields that this kind of model has.
pub fn fields(arch: &ModelArch) -> Vec<Field> {
    Field::geometry().filter(|field| value(arch, *field).is_some()).collect()
}

/// A number of the model; `None` if its kind has none or several.
pub fn value(arch: &ModelArch, field: Field) -> Option<u64> {
    let a = only(&arch.attention);
    let plain = a.filter(|a| a.latent.is_none());
    let moe = only(&arch.moe);
    match field {
        Field::Layers => Some(arch.n_layers),
        Field::Hidden => Some(arch.hidden_size),
        Field::Vocabulary => Some(arch.vocab_size),
        Field::Heads => a.map(|a| a.n_heads),
        Field::KvHeads => plain.map(|a| a.n_kv_heads),
        Field::HeadSize => plain.filter(|a| a.head_dim == a.v_head_dim).map(|a| a.head_dim),
        Field::Window => {
            a.filter(|a| !a.chunked).map(|a| if a.windowed_layers > 0 { a.window } else { 0 })
        }
        Field::Intermediate => dense_width(arch),
        Field::Experts => moe.map(|moe| moe.n_experts),
        Field::ExpertsPerToken => moe.map(|moe| moe.experts_per_token),
        Field::ExpertWidth => moe.map(|moe| moe.expert_width),
        Field::Batch
        | Field::Prompt
        | Field::Context
        | Field::Generate
        | Field::Tensor
        | Field::Pipeline
        | Field::Expert
        | Field::Memory
        | Field::WeightBits
        | Field::Draft
        | Field::Acceptance => None,
    }
}

/// The group of a list; `None` if there is none or there are several.
fn only<T>(groups: &[T]) -> Option<&T> {
    match groups {
        [group] => Some(group),
        _ => None,
    }
}

/// The width of the dense MLPs; `None` if they differ.
fn dense_width(arch: &ModelArch) -> Option<u64> {
    let mut widths = arch.dense.iter().filter(|group| group.layers > 0).map(|group| group.width);
    let first = widths.next()?;
    widths.all(|width| width == first).then_some(first)
}

/// The geometry with the user's changes.
///
/// # Errors
/// Returns all fields that are invalid or contradict another one.
pub fn changed(inputs: &ModelInputs) -> Result<ModelArch, Vec<ModelFault>> {
    let mut arch = inputs.base.arch().clone();
    let mut faults = Vec::new();
    for field in fields(&arch) {
        match count(field, inputs.text(field)) {
            Ok(Some(value)) => faults.extend(apply(&mut arch, field, value).err()),
            Ok(None) => {}
            Err(fault) => faults.push(fault),
        }
    }
    arch.tied_embeddings = inputs.tied.unwrap_or(arch.tied_embeddings);
    if faults.is_empty() { Ok(arch) } else { Err(faults) }
}

fn apply(arch: &mut ModelArch, field: Field, value: u64) -> Result<(), ModelFault> {
    match field {
        Field::Layers => return set_layers(arch, value),
        Field::Hidden => arch.hidden_size = value,
        Field::Vocabulary => arch.vocab_size = value,
        Field::Heads | Field::KvHeads | Field::HeadSize | Field::Window => {
            for group in arch.attention.to_mut() {
                set_attention(group, field, value);
            }
        }
        Field::Intermediate => {
            for group in arch.dense.to_mut() {
                group.width = value;
            }
        }
        Field::Experts | Field::ExpertsPerToken | Field::ExpertWidth => {
            for moe in arch.moe.to_mut() {
                match field {
                    Field::Experts => moe.n_experts = value,
                    Field::ExpertsPerToken => moe.experts_per_token = value,
                    _ => moe.expert_width = value,
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn set_attention(a: &mut Attention, field: Field, value: u64) {
    match field {
        Field::Heads => {
            // Latent attention has one key head per query head, and no field for them.
            a.n_kv_heads = if a.latent.is_some() { value } else { a.n_kv_heads };
            // A gate of all heads stays one.
            a.gate_outputs = a.gate_outputs / a.n_heads * value;
            a.n_heads = value;
        }
        Field::KvHeads => a.n_kv_heads = value,
        Field::HeadSize => (a.head_dim, a.v_head_dim) = (value, value),
        Field::Window if value == 0 => {
            (a.full_layers, a.windowed_layers) = (a.layers(), 0);
        }
        Field::Window => {
            if a.windowed_layers == 0 {
                (a.full_layers, a.windowed_layers) = (0, a.layers());
            }
            a.window = value;
        }
        _ => {}
    }
}

/// Adds or removes layers: of Mamba, or of the most frequent MLP kind, because the others are few and come first. Norms follow.
fn set_layers(arch: &mut ModelArch, layers: u64) -> Result<(), ModelFault> {
    let old = arch.n_layers;
    if layers == old {
        return Ok(());
    }
    let too_few = |kept: u64| {
        let text =
            format!("Layers must be at least {}: the other layers are of another kind.", kept + 1);
        ModelFault::of(Field::Layers, text)
    };
    let resized = |count: u64| {
        let kept = old.saturating_sub(count);
        layers.checked_sub(kept).filter(|count| *count > 0).ok_or_else(|| too_few(kept))
    };
    if let Some(group) = arch.recurrent.to_mut().iter_mut().max_by_key(|group| group.layers()) {
        *group.layers_mut() = resized(group.layers())?;
    } else {
        // Alternating kinds of attention keep their proportion.
        for a in arch.attention.to_mut() {
            let all = layers * a.layers() / old;
            a.windowed_layers = layers * a.windowed_layers / old;
            a.full_layers = all - a.windowed_layers;
        }
        resize_mlps(arch, resized)?;
    }
    arch.add_norms = arch.add_norms * layers / old;
    arch.post_norms = arch.post_norms * layers / old;
    arch.n_layers = layers;
    Ok(())
}

fn resize_mlps(
    arch: &mut ModelArch,
    resized: impl Fn(u64) -> Result<u64, ModelFault>,
) -> Result<(), ModelFault> {
    let most_dense = arch.dense.iter().map(|group| group.layers).max().unwrap_or(0);
    let most_experts = arch.moe.iter().map(|group| group.layers).max().unwrap_or(0);
    match arch.moe.to_mut().iter_mut().find(|group| group.layers == most_experts) {
        Some(moe) if moe.layers >= most_dense => moe.layers = resized(moe.layers)?,
        _ => {
            let mut groups: Vec<DenseLayers> = arch.dense.to_vec();
            if let Some(group) = groups.iter_mut().find(|group| group.layers == most_dense) {
                group.layers = resized(most_dense)?;
            }
            arch.dense = List::Owned(groups);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::model::inputs::ModelSource;
    use calc_core::catalog::{self, models};

    fn inputs(model: &str, texts: &[(Field, &str)]) -> ModelInputs {
        let mut inputs = ModelInputs::default();
        inputs.set_base(ModelSource::Catalog(catalog::model(model).expect("catalog key")));
        for (field, text) in texts {
            inputs.set_text(*field, (*text).to_owned());
        }
        inputs
    }

    #[test]
    fn typing_what_the_model_has_changes_nothing() {
        for model in models::all() {
            let mut inputs = inputs(model.key, &[]);
            for field in fields(&model.arch) {
                inputs
                    .set_text(field, value(&model.arch, field).expect("a field of it").to_string());
            }
            assert_eq!(changed(&inputs).as_ref(), Ok(&model.arch), "{}", model.key);
        }
    }

    #[test]
    fn half_the_layers_are_half_the_layer_parameters() {
        for model in ["llama-3.1-8b", "mixtral-8x7b", "gemma-2-9b"] {
            let whole = &catalog::model(model).expect("catalog key").arch;
            let half = (whole.n_layers / 2).to_string();
            let arch = changed(&inputs(model, &[(Field::Layers, &half)])).expect("a model");
            let embeddings =
                whole.vocab_size * whole.hidden_size * if whole.tied_embeddings { 1 } else { 2 };
            let (all, part) = (whole.n_params() - embeddings, arch.n_params() - embeddings);
            assert!((all as f64 / part as f64 - 2.0).abs() < 1e-5, "{model}: {all} {part}");
            assert_eq!(arch.check(), Ok(()));
        }
    }

    #[test]
    fn every_change_arrives_in_the_geometry() {
        for model in ["llama-3.1-8b", "deepseek-v3", "gpt-oss-20b"] {
            let whole = &catalog::model(model).expect("catalog key").arch;
            for field in fields(whole) {
                let other = value(whole, field).expect("a field of it") * 2 + 2;
                let arch =
                    changed(&inputs(model, &[(field, &other.to_string())])).expect("a model");
                assert_eq!(value(&arch, field), Some(other), "{model} {field:?}");
            }
        }
    }

    #[test]
    fn faults_name_their_fields() {
        let wrong = inputs("deepseek-v3", &[(Field::Layers, "3"), (Field::Hidden, "x")]);
        let faults = changed(&wrong).expect_err("two faults");
        assert_eq!(
            faults.iter().map(|fault| fault.field).collect::<Vec<_>>(),
            [Some(Field::Layers), Some(Field::Hidden)]
        );
        assert!(faults[0].text.contains("at least 4"), "{}", faults[0].text);
    }

    #[test]
    fn a_window_can_come_and_go() {
        let arch = changed(&inputs("llama-3.1-8b", &[(Field::Window, "1024")])).expect("a model");
        assert_eq!((arch.attention[0].full_layers, arch.attention[0].windowed_layers), (0, 32));
        let arch = changed(&inputs("gemma-2-9b", &[(Field::Window, "0")])).expect("a model");
        assert_eq!(arch.attention[0].windowed_layers, 0);
        assert_eq!(arch.attention[0].full_layers, arch.n_layers);
    }
}
