//! The files that llama-quantize writes: which tensor is stored in which format, and what that makes of a model's bytes.
//!
//! Rules: llama.cpp `src/llama-quant.cpp` at 007dbbf3 (read), `llama_tensor_get_type_impl` and `tensor_type_fallback`, without
//! an importance matrix (with one, IQ4 files are 1 % smaller). One tensor of Q, K and V has the formats of its own branch there,
//! as published files have; since tensors have categories (2026), new files take those of V. Derivation:
//! `docs/theory/formats.md`.
//!
//! This file is longer than 400 lines because the rules of llama-quantize and their use belong together.

use core::ops::Range;

use crate::catalog::formats as f;
use crate::mixture::{MixedBytes, Mixture};
use crate::model_arch::{GgufLayout, Matrix, ModelArch, Parts};
use crate::op::OpKind;
use crate::quant_format::{GgufFile, QuantFormat};

/// A kind of tensor that the rules treat apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tensor {
    AttentionK,
    AttentionV,
    /// Queries, keys and values in one.
    AttentionQkv,
    AttentionOutput,
    Down,
    Other,
}

impl Tensor {
    /// True if the type depends on the layer.
    const fn varies(self) -> bool {
        match self {
            Self::AttentionV | Self::Down => true,
            Self::AttentionK | Self::AttentionQkv | Self::AttentionOutput | Self::Other => false,
        }
    }
}

/// Position of a tensor among those of its kind.
#[derive(Debug, Clone, Copy)]
struct Layer {
    index: u64,
    count: u64,
}

impl Layer {
    /// llama.cpp's `use_more_bits`: the first and the last eighth, and every third layer between them.
    const fn gets_more_bits(self) -> bool {
        let Self { index, count } = self;
        index < count / 8 || index >= 7 * count / 8 || (index - count / 8) % 3 == 2
    }

    const fn is_in_first(self, part: u64) -> bool {
        self.index < self.count / part
    }
}

/// The format of most tensors of a file.
const fn main_type(file: GgufFile) -> &'static QuantFormat {
    match file {
        GgufFile::Q8_0 => &f::GGUF_Q8_0,
        GgufFile::Q6K => &f::GGUF_Q6_K,
        GgufFile::Q5KM | GgufFile::Q5KS => &f::GGUF_Q5_K,
        GgufFile::Q5_0 => &f::GGUF_Q5_0,
        GgufFile::Q5_1 => &f::GGUF_Q5_1,
        GgufFile::Q4KM | GgufFile::Q4KS => &f::GGUF_Q4_K,
        GgufFile::Q4_0 => &f::GGUF_Q4_0,
        GgufFile::Q4_1 => &f::GGUF_Q4_1,
        GgufFile::Q3KL | GgufFile::Q3KM | GgufFile::Q3KS => &f::GGUF_Q3_K,
        GgufFile::Q2K => &f::GGUF_Q2_K,
        GgufFile::IQ4NL => &f::GGUF_IQ4_NL,
        GgufFile::IQ4XS => &f::GGUF_IQ4_XS,
        GgufFile::Mxfp4Moe => &f::GGUF_MXFP4,
        GgufFile::Nvfp4 => &f::GGUF_NVFP4,
        GgufFile::TQ1_0 => &f::GGUF_TQ1_0,
        GgufFile::TQ2_0 => &f::GGUF_TQ2_0,
    }
}

/// The format of a tensor with `cols` inputs: blocks of 256 that do not divide a row give way to blocks of 32. A row that no
/// block of 32 divides either is in FP16, or padded where llama-quantize would refuse it.
fn fitting(format: &'static QuantFormat, cols: u64) -> &'static QuantFormat {
    use GgufFile::{IQ4XS, Q2K, Q3KL, Q3KM, Q3KS, Q4KM, Q4KS, Q5KM, Q5KS, Q6K, TQ1_0, TQ2_0};
    let other = match format.file {
        _ if !format.pads(cols) => return format,
        Some(Q2K | Q3KL | Q3KM | Q3KS | TQ1_0 | TQ2_0) => &f::GGUF_Q4_0,
        Some(Q4KM | Q4KS) => &f::GGUF_Q5_0,
        Some(Q5KM | Q5KS) => &f::GGUF_Q5_1,
        Some(Q6K) => &f::GGUF_Q8_0,
        Some(IQ4XS) => &f::GGUF_IQ4_NL,
        _ => return format,
    };
    if other.pads(cols) { &f::FP16 } else { other }
}

/// The format in which rows of `cols` inputs are stored without padding: the format itself, or the one that steps in for it in
/// a GGUF file. `None` if its blocks do not divide the row.
pub fn row_format(format: &'static QuantFormat, cols: u64) -> Option<&'static QuantFormat> {
    Some(fitting(format, cols)).filter(|stored| !stored.pads(cols))
}

/// The format of the LM head; of the embedding too, where both are one matrix.
pub(crate) fn lm_head(file: GgufFile, model: &ModelArch) -> &'static QuantFormat {
    let main = main_type(file);
    let is_wide = matches!(file, GgufFile::Q8_0 | GgufFile::Mxfp4Moe);
    let is_falcon = model.gguf == GgufLayout::Falcon;
    if is_wide || is_falcon || !model.hidden_size.is_multiple_of(main.block) {
        &f::GGUF_Q8_0
    } else {
        fitting(&f::GGUF_Q6_K, model.hidden_size)
    }
}

/// The format of the embedding table.
pub(crate) fn embedding(file: GgufFile, model: &ModelArch) -> &'static QuantFormat {
    let own = match file {
        _ if model.tied_embeddings => return lm_head(file, model),
        GgufFile::Mxfp4Moe => &f::GGUF_Q8_0,
        GgufFile::TQ1_0 | GgufFile::TQ2_0 => &f::GGUF_Q4_K,
        other => main_type(other),
    };
    fitting(own, model.hidden_size)
}

/// The format of a matrix of a layer.
fn tensor_type(
    file: GgufFile,
    tensor: Tensor,
    layer: Layer,
    model: &ModelArch,
) -> &'static QuantFormat {
    let main = main_type(file);
    let eight_experts = model.moe.iter().any(|moe| moe.n_experts == 8);
    match tensor {
        Tensor::AttentionK | Tensor::AttentionV if eight_experts => &f::GGUF_Q8_0,
        Tensor::AttentionV => attention_v(file, layer, model).unwrap_or(main),
        Tensor::AttentionQkv => attention_qkv(file).unwrap_or(main),
        Tensor::AttentionOutput if model.gguf == GgufLayout::Falcon => match file {
            GgufFile::Q3KL => &f::GGUF_Q4_K,
            _ => main,
        },
        Tensor::AttentionOutput => attention_output(file, eight_experts).unwrap_or(main),
        Tensor::Down if model.gguf == GgufLayout::Falcon => {
            falcon_down(file, layer).unwrap_or(main)
        }
        Tensor::Down => down(file, layer).unwrap_or(main),
        Tensor::AttentionK | Tensor::Other => main,
    }
}

fn attention_v(file: GgufFile, layer: Layer, model: &ModelArch) -> Option<&'static QuantFormat> {
    let (heads, kv_heads) =
        model.main_attention().map_or((1, 1), |group| (group.n_heads, group.n_kv_heads));
    let is_shared = heads >= 4 * kv_heads;
    let own = match file {
        GgufFile::Q2K if is_shared => Some(&f::GGUF_Q4_K),
        GgufFile::Q2K => Some(&f::GGUF_Q3_K),
        GgufFile::Q3KM if layer.index < 2 => Some(&f::GGUF_Q5_K),
        GgufFile::Q3KM => Some(&f::GGUF_Q4_K),
        GgufFile::Q3KL => Some(&f::GGUF_Q5_K),
        GgufFile::IQ4NL | GgufFile::IQ4XS if is_shared => Some(&f::GGUF_Q5_K),
        GgufFile::Q4KM | GgufFile::Q5KM if layer.gets_more_bits() => Some(&f::GGUF_Q6_K),
        GgufFile::Q4KS if layer.index < 4 => Some(&f::GGUF_Q5_K),
        _ => None,
    };
    // llama.cpp's type 70B: 80 layers with grouped heads.
    let is_70b = model.n_layers == 80 && heads != kv_heads;
    let is_narrow = |format| format == &f::GGUF_Q3_K || format == &f::GGUF_Q4_K;
    if is_70b && is_narrow(own.unwrap_or(main_type(file))) { Some(&f::GGUF_Q5_K) } else { own }
}

const fn attention_qkv(file: GgufFile) -> Option<&'static QuantFormat> {
    match file {
        GgufFile::Q3KM | GgufFile::Q3KL => Some(&f::GGUF_Q4_K),
        GgufFile::Q4KM => Some(&f::GGUF_Q5_K),
        GgufFile::Q5KM => Some(&f::GGUF_Q6_K),
        _ => None,
    }
}

const fn attention_output(file: GgufFile, eight_experts: bool) -> Option<&'static QuantFormat> {
    match file {
        GgufFile::Q2K
        | GgufFile::Q3KS
        | GgufFile::Q3KM
        | GgufFile::Q4KS
        | GgufFile::Q4KM
        | GgufFile::IQ4NL
        | GgufFile::IQ4XS
            if eight_experts =>
        {
            Some(&f::GGUF_Q5_K)
        }
        _ if eight_experts => None,
        GgufFile::Q2K => Some(&f::GGUF_Q3_K),
        GgufFile::Q3KM => Some(&f::GGUF_Q4_K),
        GgufFile::Q3KL => Some(&f::GGUF_Q5_K),
        _ => None,
    }
}

const fn down(file: GgufFile, layer: Layer) -> Option<&'static QuantFormat> {
    match file {
        GgufFile::Q2K => Some(&f::GGUF_Q3_K),
        GgufFile::Q3KM if layer.is_in_first(16) => Some(&f::GGUF_Q5_K),
        GgufFile::Q3KM => Some(&f::GGUF_Q4_K),
        GgufFile::Q3KL => Some(&f::GGUF_Q5_K),
        GgufFile::Q4KM | GgufFile::Q5KM if layer.gets_more_bits() => Some(&f::GGUF_Q6_K),
        GgufFile::Q4KS | GgufFile::IQ4NL | GgufFile::IQ4XS if layer.is_in_first(8) => {
            Some(&f::GGUF_Q5_K)
        }
        _ => None,
    }
}

const fn falcon_down(file: GgufFile, layer: Layer) -> Option<&'static QuantFormat> {
    match file {
        GgufFile::Q3KM if layer.is_in_first(16) => Some(&f::GGUF_Q5_K),
        GgufFile::Q3KM if layer.gets_more_bits() => Some(&f::GGUF_Q4_K),
        GgufFile::Q3KL => Some(&f::GGUF_Q4_K),
        GgufFile::Q4KM if layer.is_in_first(16) => Some(&f::GGUF_Q6_K),
        GgufFile::Q4KM if layer.gets_more_bits() => Some(&f::GGUF_Q5_K),
        GgufFile::Q3KM | GgufFile::Q4KM | GgufFile::Q4KS => None,
        other => down(other, layer),
    }
}

/// True for formats of layers and experts whose files mix formats.
pub(crate) const fn is_mixed((weights, experts): (&QuantFormat, &QuantFormat)) -> bool {
    weights.file.is_some() || experts.file.is_some()
}

/// Layers that are looked at, one by one; of a deeper model as many, evenly spaced.
const MOST_LAYERS: u64 = 1024;

impl Mixture {
    /// The mixture of a model with layers and experts in these formats. Dense layers come first, those with experts last.
    pub(crate) fn of(
        weights: &'static QuantFormat,
        experts: &'static QuantFormat,
        model: &ModelArch,
    ) -> Self {
        Self::of_layers((weights, experts), model, 0..model.n_layers)
    }

    /// The mixture of consecutive layers: those that llama-quantize gives more bits are the first, the last and some between.
    pub(crate) fn of_layers(
        (weights, experts): (&'static QuantFormat, &'static QuantFormat),
        model: &ModelArch,
        layers: Range<u64>,
    ) -> Self {
        if !is_mixed((weights, experts)) {
            return Self::UNIFORM;
        }
        let mut sums = MixedBytes::NONE;
        let mut dense = 0;
        let with_experts =
            model.n_layers.saturating_sub(model.moe.iter().map(|group| group.layers).sum());
        let dense_layers: u64 = model.dense.iter().map(|group| group.layers).sum();
        model.matrices(&mut |matrix| {
            let base = if matrix.expert { experts } else { weights };
            let Some(file) = base.file else { return };
            let first = match matrix.kind {
                OpKind::Down if dense < dense_layers => {
                    dense += matrix.count;
                    dense - matrix.count
                }
                _ => with_experts,
            };
            sums.matrix((file, base), &matrix, first, (model, &layers));
        });
        sums.mixture()
    }
}

impl MixedBytes {
    /// Adds a matrix of a file, in the layers that are here.
    fn matrix(
        &mut self,
        (file, base): (GgufFile, &'static QuantFormat),
        matrix: &Matrix,
        first: u64,
        (model, here): (&ModelArch, &Range<u64>),
    ) {
        let Matrix { kind, count, rows, cols, parts, .. } = *matrix;
        let experts = model.moe.iter().map(|moe| moe.n_experts).max().unwrap_or(1);
        let per_layer = if matrix.expert { experts } else { 1 };
        let layers = count / per_layer;
        // `costed` is the shape whose bytes the ratio multiplies.
        let mut add_as = |kind, tensor: Tensor, (rows, cols): (u64, u64), costed: (u64, u64)| {
            let (first, count) =
                if tensor == Tensor::Down { (first, model.n_layers) } else { (0, layers) };
            let steps = if tensor.varies() { layers.min(MOST_LAYERS) } else { layers.min(1) };
            let index = |step: u64| first + step * layers / steps;
            // Places among the tensors of a kind, as places among all layers.
            let is_here = |step: u64| {
                let place = u128::from(index(step)) * u128::from(model.n_layers);
                let [start, end] =
                    [here.start, here.end].map(|end| u128::from(end) * u128::from(count));
                place >= start && place < end
            };
            let found = (0..steps).filter(|step| is_here(*step)).count() as f64;
            let is_any = !tensor.varies() || found < 1.0;
            let seen = if is_any { steps as f64 } else { found };
            let each = per_layer as f64 * layers as f64 / seen.max(1.0);
            for step in (0..steps).filter(|step| is_any || is_here(*step)) {
                let layer = Layer { index: index(step), count };
                let format = fitting(tensor_type(file, tensor, layer, model), cols);
                let mixed = format.stored_bytes(rows, cols) * each;
                self.add_to(kind, mixed, base.stored_bytes(costed.0, costed.1) * each);
            }
        };
        let mut add = |kind, tensor, shape| add_as(kind, tensor, shape, shape);
        match (kind, parts) {
            (OpKind::Qkv, _) if model.gguf != GgufLayout::Split => {
                add(kind, Tensor::AttentionQkv, (rows, cols));
            }
            (OpKind::Qkv, Parts::Qkv([queries, keys, values])) => {
                add(kind, Tensor::Other, (queries, cols));
                add(kind, Tensor::AttentionK, (keys, cols));
                add(kind, Tensor::AttentionV, (values, cols));
            }
            // Stored per head in two tensors: keys with `nope` inputs each, values with the rank. Both are costed with the rank
            // as inputs.
            (OpKind::KvB, Parts::Latent { heads, nope_dim, v_head_dim }) => {
                let keys = (heads * cols, nope_dim);
                let values = (heads * v_head_dim, cols);
                for kind in [OpKind::KvB, OpKind::WUv] {
                    add(kind, Tensor::Other, values);
                }
                for kind in [OpKind::KvB, OpKind::WUk] {
                    add_as(kind, Tensor::Other, keys, (heads * nope_dim, cols));
                }
            }
            (OpKind::OProj, _) => add(kind, Tensor::AttentionOutput, (rows, cols)),
            (OpKind::Down | OpKind::ExpertDown, _) => add(kind, Tensor::Down, (rows, cols)),
            _ => add(kind, Tensor::Other, (rows, cols)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn falcon_has_rules_of_its_own() {
        use GgufFile::{Q3KL, Q3KM, Q4KM, Q4KS};
        let llama = &catalog::model("llama-3.1-8b").expect("catalog key").arch;
        let falcon = ModelArch { gguf: GgufLayout::Falcon, ..llama.clone() };
        let key = |file, tensor, index| {
            tensor_type(file, tensor, Layer { index, count: 32 }, &falcon).key
        };
        for (file, tensor, index, expected) in [
            (Q4KM, Tensor::Down, 1, "gguf_q6_k"),
            (Q4KM, Tensor::Down, 31, "gguf_q5_k"),
            (Q4KM, Tensor::Down, 5, "gguf_q4_k"),
            (Q4KS, Tensor::Down, 0, "gguf_q4_k"),
            (Q3KM, Tensor::Down, 5, "gguf_q3_k"),
            (Q3KL, Tensor::AttentionOutput, 0, "gguf_q4_k"),
            (Q3KM, Tensor::AttentionOutput, 0, "gguf_q3_k"),
            (Q4KM, Tensor::AttentionQkv, 0, "gguf_q5_k"),
        ] {
            assert_eq!(key(file, tensor, index), expected, "{file:?} {tensor:?} {index}");
        }
        assert_eq!(lm_head(Q4KM, &falcon).key, "gguf_q8_0");
    }
}
