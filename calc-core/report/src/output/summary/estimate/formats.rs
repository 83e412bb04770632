//! The formats of an estimate in words.

use calc_core::precision::Precision;

/// Formats of embedding and LM head: `embedding and LM head FP16`, `embedding GGUF Q4_K, LM head GGUF Q6_K`.
pub(super) fn embedding_and_head(precision: &Precision) -> String {
    let Precision { embedding, lm_head, .. } = precision;
    if embedding == lm_head {
        format!("embedding and LM head {}", embedding.name)
    } else {
        format!("embedding {}, LM head {}", embedding.name, lm_head.name)
    }
}

/// Formats of the inputs of matmuls: `INT8`, or `INT8 for experts, FP16 for other layers`.
pub(super) fn activations(p: &Precision) -> String {
    let (experts, layers) = (p.activations, p.layer_inputs());
    if experts == layers {
        return experts.name.to_owned();
    }
    format!("{} for experts, {} for other layers", experts.name, layers.name)
}
