//! Bytes of the weights on one device by the role of their tensors.

use alloc::vec::Vec;

use super::held::{HeldPart, held_bytes};
use super::scaled;
use crate::model_arch::{LayerGroup, ModelArch};
use crate::precision::Precision;
use crate::software::HostTables;
use crate::units::Bytes;
use crate::weight_size::WeightScale;

/// Roles of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightRole {
    /// Tables of tokens.
    Embedding,
    LmHead,
    Attention,
    /// Layers with a state: Mamba, linear attention, short convolutions.
    Recurrent,
    Mlp,
    Experts,
    /// Matrices of layers with experts that every token uses.
    SharedExperts,
    /// Routers, norms, biases, learned positions.
    Vectors,
    /// Further matrices, such as those of embeddings per layer.
    Projections,
}

impl WeightRole {
    /// All roles, in the order of answers.
    pub const ALL: [Self; 9] = [
        Self::Embedding,
        Self::LmHead,
        Self::Attention,
        Self::Recurrent,
        Self::Mlp,
        Self::Experts,
        Self::SharedExperts,
        Self::Vectors,
        Self::Projections,
    ];

    /// The key in JSON: that of the same role of a file's tensors.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::LmHead => "lm_head",
            Self::Attention => "attention",
            Self::Recurrent => "state_space",
            Self::Mlp => "mlp",
            Self::Experts => "experts",
            Self::SharedExperts => "shared_experts",
            Self::Vectors => "norms",
            Self::Projections => "other",
        }
    }

    /// The role of a layer matrix.
    const fn of(group: LayerGroup, expert: bool) -> Self {
        match group {
            LayerGroup::Whole => Self::Projections,
            LayerGroup::Attention(_) => Self::Attention,
            LayerGroup::Recurrent(_) => Self::Recurrent,
            LayerGroup::Dense(_) => Self::Mlp,
            LayerGroup::Experts(_) if expert => Self::Experts,
            LayerGroup::Experts(_) => Self::SharedExperts,
        }
    }
}

/// Parameters of a model by role, without roles that it lacks; towers and layers that draft are no part of them.
pub fn parameter_roles(model: &ModelArch) -> Vec<(WeightRole, u64)> {
    let mut sums = [0; WeightRole::ALL.len()];
    let mut add = |role: WeightRole, count: u64| sums[role as usize] += count;
    let embedding = model.vocab_size * model.hidden_size;
    add(WeightRole::Embedding, embedding);
    add(WeightRole::LmHead, if model.tied_embeddings { 0 } else { embedding });
    for table in model.tables.iter() {
        add(WeightRole::Embedding, table.rows * table.cols);
    }
    add(WeightRole::Vectors, model.n_vector_params());
    model.matrices(&mut |matrix| {
        add(WeightRole::of(matrix.group, matrix.expert), matrix.count * matrix.rows * matrix.cols);
    });
    WeightRole::ALL.into_iter().zip(sums).filter(|(_, count)| *count > 0).collect()
}

/// Bytes of the weights of a part of a model by role, without roles that it lacks. The sum is that of the footprint.
pub(crate) fn weight_roles(
    held: &HeldPart<'_>,
    precision: &Precision,
    expert_parallel: u64,
    scale: &WeightScale,
) -> Vec<(WeightRole, Bytes)> {
    let mut sums = [Bytes::ZERO; WeightRole::ALL.len()];
    let mut add = |role: WeightRole, bytes: Bytes| sums[role as usize] += bytes;
    let model = held.part;
    let tables = scaled(&held_bytes(held, precision, expert_parallel), scale);
    // A card has the matrix of an embedding beside it as its LM head.
    let beside = held.host_tables != HostTables::None;
    let head = if beside { held.copied_head(precision) } else { Bytes::ZERO } * scale.embedding;
    add(WeightRole::Embedding, tables.embedding - head);
    add(WeightRole::LmHead, tables.lm_head + head);
    let share = 1.0 / expert_parallel as f64;
    let small = model.n_vector_params() as f64 - model.n_expert_biases() as f64 * (1.0 - share);
    add(
        WeightRole::Vectors,
        Bytes::new(small * precision.vectors.bytes_per_element()) * scale.layers,
    );
    model.matrices(&mut |matrix| {
        let (format, share) = if matrix.expert {
            (precision.experts, share * scale.experts)
        } else {
            (precision.weights, scale.layers)
        };
        let factor = matrix.count as f64 * precision.mixture.ratio(matrix.kind) * share;
        let bytes = format.stored_bytes(matrix.rows, matrix.cols) * factor;
        add(WeightRole::of(matrix.group, matrix.expert), bytes);
    });
    let roles = WeightRole::ALL.into_iter().zip(sums);
    roles.filter(|(_, bytes)| *bytes > Bytes::ZERO).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::models;

    #[test]
    fn roles_hold_all_parameters() {
        for model in models::all() {
            let roles = parameter_roles(&model.arch);
            let sum: u64 = roles.iter().map(|(_, count)| count).sum();
            assert_eq!(sum, model.arch.n_params(), "{}", model.key);
        }
    }
}
