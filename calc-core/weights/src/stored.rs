//! The formats in which a model's roles are stored, by the header.

use calc_core::catalog::formats as f;
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::QuantFormat;

use crate::files::{Group, Weights};
use crate::metadata::Value;
use crate::role::Role;
use crate::tensor::TensorType;

/// The type with the most bytes among groups of these roles.
pub fn main_type(groups: &[Group], roles: &[Role]) -> Option<&'static TensorType> {
    let of_roles = groups.iter().filter(|group| roles.contains(&group.role));
    let mut bytes: Vec<(&'static TensorType, u64)> = Vec::new();
    for group in of_roles {
        match bytes.iter_mut().find(|(kind, _)| kind.name == group.kind.name) {
            Some((_, sum)) => *sum += group.sum.bytes,
            None => bytes.push((group.kind, group.sum.bytes)),
        }
    }
    bytes.into_iter().max_by_key(|(_, bytes)| *bytes).map(|(kind, _)| kind)
}

/// Roles of a layer that have the format of the weights.
pub const LAYER_ROLES: [Role; 4] =
    [Role::Attention, Role::StateSpace, Role::Mlp, Role::SharedExperts];

/// The catalog formats nearest to the types of a GGUF model: of the layers, the LM head with the embedding, and the experts.
/// `None` without a matrix of a layer.
pub fn gguf_formats(groups: &[Group]) -> Option<PrecisionChoice> {
    let format = |roles: &[Role]| main_type(groups, roles).map(nearest);
    let experts = format(&[Role::Experts]);
    let weights = format(&LAYER_ROLES).or(experts)?;
    let table = format(&[Role::Embedding]);
    let head = format(&[Role::LmHead]);
    // Two types have no place in one format. Where the head is as llama-quantize writes it, its rules give both.
    let is_by_rule = weights.file.is_some() && head == Some(&f::GGUF_Q6_K) && table != head;
    let embedding = head.or(table).filter(|_| !is_by_rule);
    Some(PrecisionChoice { embedding, experts, ..PrecisionChoice::weights(weights) })
}

/// The catalog format of a type; for a type that the catalog lacks, the GGUF format nearest in bits. The size of the file
/// replaces the bytes of either.
pub fn nearest(kind: &TensorType) -> &'static QuantFormat {
    let bits = kind.bits_per_element();
    let distance = |format: &QuantFormat| (format.bits_per_element() - bits).abs();
    let by_size = || {
        let gguf = f::FORMATS.iter().copied().filter(|format| format.file.is_some());
        gguf.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    };
    kind.format.or_else(by_size).unwrap_or(&f::FP16)
}

/// Names of `general.file_type`, and the type of most tensors of such a file: `LlamaFileType` of the Python package gguf
/// 0.19.0.
const FILE_TYPES: [(u64, &str, &str); 35] = [
    (0, "F32", "F32"),
    (1, "F16", "F16"),
    (2, "Q4_0", "Q4_0"),
    (3, "Q4_1", "Q4_1"),
    (7, "Q8_0", "Q8_0"),
    (8, "Q5_0", "Q5_0"),
    (9, "Q5_1", "Q5_1"),
    (10, "Q2_K", "Q2_K"),
    (11, "Q3_K_S", "Q3_K"),
    (12, "Q3_K_M", "Q3_K"),
    (13, "Q3_K_L", "Q3_K"),
    (14, "Q4_K_S", "Q4_K"),
    (15, "Q4_K_M", "Q4_K"),
    (16, "Q5_K_S", "Q5_K"),
    (17, "Q5_K_M", "Q5_K"),
    (18, "Q6_K", "Q6_K"),
    (19, "IQ2_XXS", "IQ2_XXS"),
    (20, "IQ2_XS", "IQ2_XS"),
    (21, "Q2_K_S", "Q2_K"),
    (22, "IQ3_XS", "IQ3_S"),
    (23, "IQ3_XXS", "IQ3_XXS"),
    (24, "IQ1_S", "IQ1_S"),
    (25, "IQ4_NL", "IQ4_NL"),
    (26, "IQ3_S", "IQ3_S"),
    (27, "IQ3_M", "IQ3_S"),
    (28, "IQ2_S", "IQ2_XS"),
    (29, "IQ2_M", "IQ2_S"),
    (30, "IQ4_XS", "IQ4_XS"),
    (31, "IQ1_M", "IQ1_M"),
    (32, "BF16", "BF16"),
    (36, "TQ1_0", "TQ1_0"),
    (37, "TQ2_0", "TQ2_0"),
    (38, "MXFP4_MOE", "MXFP4"),
    (39, "NVFP4", "NVFP4"),
    (40, "Q1_0", "Q1_0"),
];

/// The nominal type of a GGUF file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileType {
    /// Name as files end: `Q4_K_M`.
    pub name: &'static str,
    /// Type that most of its tensors should have.
    pub main: &'static str,
}

/// The nominal type that the metadata state; `None` if they do not, or with an unknown number.
pub fn file_type(weights: &Weights) -> Option<FileType> {
    let number = weights.metadata.get("general.file_type").and_then(Value::count)?;
    let known = FILE_TYPES.iter().find(|(known, _, _)| *known == number)?;
    Some(FileType { name: known.1, main: known.2 })
}
