//! The layers that an operator belongs to.

use super::OpInstances;
use crate::model_arch::{LayerGroup, LayerPart, ModelArch};

/// Passes operators on as those of a group.
pub(super) fn tag(
    group: LayerGroup,
    visit: &mut impl FnMut(OpInstances),
) -> impl FnMut(OpInstances) {
    move |op| visit(OpInstances { group, ..op })
}

/// The parts of layers that instances of an operator belong to, with the number of instances in each; zero where there are none.
pub(crate) fn parts_of(model: &ModelArch, op: &OpInstances) -> [(LayerPart, u64); 2] {
    let part = |windowed| LayerPart { group: op.group, windowed };
    let windowed = match (op.group, op.windowed) {
        (_, Some(windowed)) => {
            if windowed {
                op.count
            } else {
                0
            }
        }
        // Layers with and without a window have these operators alike.
        (LayerGroup::Attention(index), None) => model
            .attention
            .get(index)
            .map_or(0, |group| op.count * group.windowed_layers / group.layers().max(1)),
        (_, None) => 0,
    };
    [(part(false), op.count - windowed), (part(true), windowed)]
}
