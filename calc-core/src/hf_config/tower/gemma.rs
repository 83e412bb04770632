//! Towers of Gemma 3n and Gemma 4: images and sound.

use alloc::vec;

use super::fields::{named, sound, tower};
use super::{Biases, MOST, Part, Sizes, end};
use crate::hf_config::refusal::ConfigError;
use crate::image::{ImageRule, ImageTile};
use crate::model_arch::{MlpKind, Tower, TowerEnd, TowerLayers};

/// The image tower of Gemma 3n, a convolutional network of timm: its name, and its parameters there.
const MOBILENET: (&str, u64) = ("mobilenetv5_300m_enc", 294_126_912);
/// Tokens of an image of Gemma 3n, without the four around it.
const MOBILENET_TOKENS: u64 = 256;
/// Largest number of tokens of an image by the processor of Gemma 4.
const GEMMA4_TOKENS: u64 = 280;

/// Reads the image tower of Gemma 3n, whose layers are not modeled; `None` for another network.
pub(super) fn mobilenet(part: &mut Part<'_, '_>) -> Result<Option<Tower>, ConfigError> {
    let (name, params) = MOBILENET;
    if part.config.architecture.value().is_some_and(|own| own != name) {
        return Ok(None);
    }
    let hidden = vision!(part, hidden_size, 2048)?;
    let vocabulary = vision!(part, vocab_size, 128)?;
    let (count, outer) = (MOBILENET_TOKENS, part.reader.outer);
    let tokens = part.count(
        &[("vision_soft_tokens_per_image", &outer.vision_soft_tokens_per_image)],
        count,
        MOST,
    )?;
    let tile = ImageTile { positions: tokens.max(1), tokens: tokens.max(1) };
    let ends = embedder(part.text, hidden, vocabulary);
    let rule = ImageRule::Fixed { tile, separators: 4 };
    Ok(Some(tower(vec![], ends.into(), params + 2 * hidden, rule)))
}

/// The embedder of Gemma 3n: a table of tokens and a projection; its two norms are not in it.
const fn embedder(text: u64, hidden: u64, vocabulary: u64) -> [TowerEnd; 2] {
    [end(vocabulary, hidden, 1), end(text, hidden, 1)]
}

pub(super) fn vision_of_4(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let patch = small!(part, patch_size, 16)?;
    let merge = small!(part, pooling_kernel_size, 3)?;
    let positions = vision!(part, position_embedding_size, 10_240)?;
    let sizes = named(part, [16, 768, 12, 3072], MlpKind::Gated)?;
    let head_dim = vision!(part, head_dim, 64)?;
    let mut layers = TowerLayers { head_dim, ..sizes.with(Biases { norms: 4, ..Biases::NONE }) };
    // Norms of queries and keys.
    layers.vectors += 2 * head_dim;
    let ends =
        vec![end(sizes.hidden, 3 * patch * patch, 1), end(part.text, sizes.hidden, merge * merge)];
    let rule = ImageRule::Budget { patch, merge, most: GEMMA4_TOKENS };
    Ok(tower(vec![layers], ends, 2 * positions * sizes.hidden, rule))
}

/// Sizes of a conformer of Gemma.
#[derive(Debug, Clone, Copy)]
struct Conformer {
    layers: u64,
    hidden: u64,
    heads: u64,
    /// Width of the depthwise convolution.
    kernel: u64,
    /// Channels of the two convolutions that reduce the spectrum.
    channels: [u64; 2],
    /// Number of bands of the spectrum.
    bands: u64,
}

impl Conformer {
    fn layers(&self) -> TowerLayers {
        let Self { layers, hidden, heads, kernel, .. } = *self;
        let width = 4 * hidden;
        let sizes = Sizes { layers, hidden, heads, width, mlp: MlpKind::Plain };
        let mut group = sizes.with(Biases { norms: 9, ..Biases::NONE });
        // A second MLP, the projection of positions, and a convolution between two projections.
        group.other_matrices = 2 * hidden * width + hidden * hidden + 3 * hidden * hidden;
        group.vectors += group.head_dim + kernel * hidden;
        group
    }

    /// The convolutions of 3 by 3 with their norms, and the projection to the hidden size.
    fn reduction(&self) -> (TowerEnd, u64) {
        let [first, second] = self.channels;
        let vectors = 9 * first + first + 9 * first * second + second;
        (end(self.hidden, second * self.bands / 4, 1), vectors)
    }
}

fn channels(list: &[u64]) -> [u64; 2] {
    match list {
        [first, second] => [(*first).min(MOST), (*second).min(MOST)],
        _ => [128, 32],
    }
}

pub(super) fn sound_of_3n(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let config = part.config;
    let list = &config.sscp_conv_channel_size;
    let list = part.list("audio_config.sscp_conv_channel_size", list, &[128, 32])?;
    let conformer = Conformer {
        layers: audio!(part, conf_num_hidden_layers, 12)?,
        hidden: audio!(part, hidden_size, 1536)?,
        heads: audio!(part, conf_num_attention_heads, 8)?,
        kernel: audio!(part, conf_conv_kernel_size, 5)?,
        channels: channels(list),
        bands: audio!(part, input_feat_size, 128)?,
    };
    let vocabulary = audio!(part, vocab_size, 128)?;
    let (first, reduction) = conformer.reduction();
    let hidden = conformer.hidden;
    let [table, projection] = embedder(part.text, hidden, vocabulary);
    Ok(sound(vec![conformer.layers()], vec![first, table, projection], reduction + 2 * hidden))
}

pub(super) fn sound_of_4(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let config = part.config;
    let list = &config.subsampling_conv_channels;
    let list = part.list("audio_config.subsampling_conv_channels", list, &[128, 32])?;
    let conformer = Conformer {
        layers: audio!(part, num_hidden_layers, 12)?,
        hidden: audio!(part, hidden_size, 1024)?,
        heads: audio!(part, num_attention_heads, 8)?,
        kernel: audio!(part, conv_kernel_size, 5)?,
        channels: channels(list),
        bands: 128,
    };
    let outputs = audio!(part, output_proj_dims, 1536)?;
    let (first, reduction) = conformer.reduction();
    let ends = vec![first, end(outputs, conformer.hidden, 1), end(part.text, outputs, 1)];
    Ok(sound(vec![conformer.layers()], ends, reduction + outputs))
}
