//! The order of the layers, as the readers of a file come upon it. Nothing that is computed depends on it.

use alloc::vec::Vec;

use crate::model_arch::{LayerGroup, LayerPart, ModelArch, write_order};
use crate::text::Text;

/// Kind of a layer's token mixer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Full,
    Sliding,
    Chunked,
    /// Linear attention or Mamba.
    Recurrent,
    Convolution,
}

/// The order of the layers, as far as the readers know it.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    /// The kind of each layer's mixer; empty if they are all of one kind.
    pub(super) mixers: Vec<Kind>,
    /// Whether each layer has experts; empty if all have, or none.
    pub(super) experts: Vec<bool>,
    /// The parts of each layer, where a family's reader says them itself.
    pub(super) parts: Vec<Vec<LayerPart>>,
    /// Groups of one kind follow each other in the order of their list.
    pub(super) groups_in_sequence: bool,
}

impl Order {
    /// The text of the order; empty if it is unknown, or if all layers have the same parts.
    pub(super) fn text(&self, arch: &ModelArch) -> Text {
        let parts =
            if self.parts.is_empty() { self.assigned(arch) } else { Some(self.parts.clone()) };
        let Some(parts) = parts else { return Text::default() };
        let equal = parts.windows(2).all(|pair| pair.first() == pair.last());
        if equal {
            return Text::default();
        }
        let ordered = ModelArch { order: Text::from(write_order(&parts)), ..arch.clone() };
        // An order that is not that of the groups is none.
        if ordered.sections().is_some() { ordered.order } else { Text::default() }
    }

    /// The parts of each layer, by their kinds; `None` where a kind has several groups in no known order.
    fn assigned(&self, arch: &ModelArch) -> Option<Vec<Vec<LayerPart>>> {
        let mut left = arch.layer_parts();
        let n_layers = usize::try_from(arch.n_layers).ok()?;
        let mut layers = Vec::with_capacity(n_layers);
        for index in 0..n_layers {
            let mixer = self.mixers.get(index).copied();
            let no_experts = (!arch.has_experts()).then_some(false);
            let experts = self.experts.get(index).copied().or(no_experts);
            let mut parts = Vec::new();
            for is_kind in [is_full, is_windowed, is_recurrent, is_dense, is_experts]
                as [fn(&LayerPart) -> bool; 5]
            {
                let of_kind = left.iter().filter(|(part, _)| is_kind(part)).count();
                let Some(next) =
                    left.iter_mut().find(|(part, layers)| is_kind(part) && *layers > 0)
                else {
                    continue;
                };
                let part = next.0;
                // A part that every layer has needs no list.
                let everywhere = of_kind == 1 && part.layers(arch) == arch.n_layers;
                if !everywhere && !has(part, mixer, experts)? {
                    continue;
                }
                if of_kind > 1 && !self.groups_in_sequence {
                    return None;
                }
                next.1 -= 1;
                parts.push(part);
            }
            layers.push(parts);
        }
        Some(layers)
    }
}

/// Whether a layer with this mixer, and with experts or without, has a part; `None` if that is unknown.
fn has(part: LayerPart, mixer: Option<Kind>, experts: Option<bool>) -> Option<bool> {
    match part.group {
        LayerGroup::Whole => Some(false),
        LayerGroup::Attention(_) if part.windowed => {
            mixer.map(|kind| matches!(kind, Kind::Sliding | Kind::Chunked))
        }
        LayerGroup::Attention(_) => mixer.map(|kind| kind == Kind::Full),
        LayerGroup::Recurrent(_) => {
            mixer.map(|kind| matches!(kind, Kind::Recurrent | Kind::Convolution))
        }
        LayerGroup::Dense(_) => experts.map(|experts| !experts),
        LayerGroup::Experts(_) => experts,
    }
}

const fn is_full(part: &LayerPart) -> bool {
    matches!(part.group, LayerGroup::Attention(_)) && !part.windowed
}

const fn is_windowed(part: &LayerPart) -> bool {
    matches!(part.group, LayerGroup::Attention(_)) && part.windowed
}

const fn is_recurrent(part: &LayerPart) -> bool {
    matches!(part.group, LayerGroup::Recurrent(_))
}

const fn is_dense(part: &LayerPart) -> bool {
    matches!(part.group, LayerGroup::Dense(_))
}

const fn is_experts(part: &LayerPart) -> bool {
    matches!(part.group, LayerGroup::Experts(_))
}
