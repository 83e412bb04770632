//! Fields that several encoders share, and the towers that are made of them.

use alloc::vec::Vec;

use super::{Part, Sizes};
use crate::hf_config::refusal::ConfigError;
use crate::image::ImageRule;
use crate::model_arch::{MlpKind, Tower, TowerEnd, TowerKind, TowerLayers};

/// A tower for images.
pub(super) fn tower(
    layers: Vec<TowerLayers>,
    ends: Vec<TowerEnd>,
    vectors: u64,
    images: ImageRule,
) -> Tower {
    let (layers, ends) = (layers.into(), ends.into());
    Tower { kind: TowerKind::Vision, layers, ends, vectors, images, stored: None }
}

/// Patches of an image.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patches {
    /// Side of a patch in pixels.
    pub(super) side: u64,
    /// Patches per side of a token.
    pub(super) merge: u64,
    /// Number of values of a patch.
    pub(super) values: u64,
}

/// The fields of patches that the towers of Qwen and GLM share.
pub(super) fn patches(part: &mut Part<'_, '_>, side: u64) -> Result<Patches, ConfigError> {
    let side = small!(part, patch_size, side)?;
    let merge = small!(part, spatial_merge_size, 2)?;
    let frames = small!(part, temporal_patch_size, 2)?;
    let channels = small!(part, in_channels | in_chans | num_channels, 3)?;
    Ok(Patches { side, merge, values: channels * frames * side * side })
}

/// Layers of sizes named `depth`, `hidden_size`, `num_heads` and `intermediate_size`.
pub(super) fn deep(
    part: &mut Part<'_, '_>,
    [layers, hidden, heads, width]: [u64; 4],
    mlp: MlpKind,
) -> Result<Sizes, ConfigError> {
    Ok(Sizes {
        layers: vision!(part, depth, layers)?,
        hidden: vision!(part, hidden_size, hidden)?,
        heads: vision!(part, num_heads, heads)?,
        width: vision!(part, intermediate_size, width)?,
        mlp,
    })
}

/// Layers of sizes with the names of the language model.
pub(super) fn named(
    part: &mut Part<'_, '_>,
    [layers, hidden, heads, width]: [u64; 4],
    mlp: MlpKind,
) -> Result<Sizes, ConfigError> {
    Ok(Sizes {
        layers: vision!(part, num_hidden_layers | vt_num_hidden_layers, layers)?,
        hidden: vision!(part, hidden_size | vt_hidden_size, hidden)?,
        heads: vision!(part, num_attention_heads | vt_num_attention_heads, heads)?,
        width: vision!(part, intermediate_size | vt_intermediate_size, width)?,
        mlp,
    })
}

/// A tower for sound.
pub(super) fn sound(layers: Vec<TowerLayers>, ends: Vec<TowerEnd>, vectors: u64) -> Tower {
    Tower {
        kind: TowerKind::Audio,
        layers: layers.into(),
        ends: ends.into(),
        vectors,
        images: ImageRule::Unknown { merge: 1 },
        stored: None,
    }
}
