//! Towers of models that see and hear: dots3 note, MiMo V2.5, Muse Spark.

use alloc::vec;
use alloc::vec::Vec;

use super::fields::{deep, named, patches, sound, tower};
use super::{Biases, MOST, Part, Sizes, end};
use crate::hf_config::entry::{Entry, Found};
use crate::hf_config::refusal::ConfigError;
use crate::hf_config::{Allowed, AssumedValue};
use crate::image::ImageRule;
use crate::model_arch::{MlpKind, Tower, TowerLayers};

/// The image tower of dots3 note, with experts in the later layers. Only those that are chosen take time.
pub(super) fn dots3_vision(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let side = small!(part, patch_size, 14)?;
    let channels = small!(part, num_channels, 3)?;
    let merge = small!(part, spatial_merge_size, 2)?;
    let sizes = named(part, [42, 1536, 24, 4224], MlpKind::Gated)?;
    let experts = vision!(part, num_local_experts, 64)?;
    let chosen = vision!(part, num_experts_per_tok, 2)?.min(experts);
    let width = vision!(part, moe_intermediate_size, 2112)?;
    let outputs = vision!(part, adapter_out_dim, 5120)?;
    let kinds = ("vision_config.mlp_layer_types", &part.config.mlp_layer_types);
    let sparse = part.layers_of(kinds, &["sparse"], (sizes.layers, sizes.layers))?;
    let hidden = sizes.hidden;
    let mut dense = sizes.with(Biases::NONE);
    // Norms of queries and keys.
    dense.vectors += 2 * dense.head_dim;
    let idle = (experts - chosen) * 3 * hidden * width;
    let with_experts = TowerLayers {
        layers: sparse,
        width: chosen * width,
        vectors: dense.vectors + idle + experts * hidden,
        ..dense
    };
    dense.layers -= sparse;
    let (merged, area) = (hidden * merge * merge, merge * merge);
    let ends = vec![
        end(hidden, channels * side * side, 1),
        end(merged, merged, area),
        end(outputs, merged, area),
    ];
    // The bias and the norm of the patches, the norm after the layers, and that of the projector.
    let vectors = 5 * hidden + merged + outputs;
    let rule = ImageRule::Unknown { merge: area.max(1) };
    Ok(tower(vec![dense, with_experts], ends, vectors, rule))
}

/// The audio tower of dots3 note: convolutions, layers with gated MLPs, and two matrices.
pub(super) fn dots3_audio(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let sizes = Sizes {
        layers: audio!(part, num_hidden_layers, 32)?,
        hidden: audio!(part, hidden_size, 1280)?,
        heads: audio!(part, num_attention_heads, 20)?,
        width: audio!(part, intermediate_size, 5120)?,
        mlp: MlpKind::Gated,
    };
    let channels = audio!(part, downsample_hidden_size, 480)?;
    let bands = audio!(part, feature_size, 128)?;
    let inputs = audio!(part, adapter_input_size, 1280)?;
    let outputs = audio!(part, adapter_out_dim, 5120)?;
    let hidden = sizes.hidden;
    // Keys have no bias.
    let layers = sizes.with(Biases { attention: 3, mlp: true, ..Biases::NONE });
    let ends = vec![
        end(channels, 9, 1),
        end(channels, 9 * channels, 1),
        end(channels, 9 * channels, 1),
        end(hidden, channels * bands.div_ceil(8), 1),
        end(outputs, inputs, 1),
        end(outputs, outputs, 1),
    ];
    Ok(sound(vec![layers], ends, 3 * channels + hidden + 2 * inputs + 2 * outputs))
}

/// Size of a head of the image tower of MiMo V2.5, which its file does not state.
const MIMO_HEAD: u64 = 64;

/// The image tower of MiMo V2.5: grouped heads, windows in most layers, and sinks in these.
pub(super) fn mimo_vision(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let patches = patches(part, 16)?;
    let sizes = deep(part, [28, 1280, 32, 4608], MlpKind::Gated)?;
    let kv_heads = vision!(part, num_key_value_heads, 8)?;
    let head_dim = vision!(part, head_dim, MIMO_HEAD)?;
    let outputs = vision!(part, out_hidden_size, part.text)?;
    let window = vision!(part, window_size, 128)?;
    let config = part.config;
    let (name, list) = ("vision_config.fullatt_block_indexes", &config.fullatt_block_indexes);
    let full = part.list(name, list, &[0, 9, 18, 27])?;
    let full = full.iter().filter(|index| **index < sizes.layers).count() as u64;
    let full = full.min(sizes.layers);
    let has_sinks = part.flag("vision_config.use_sink", &config.use_sink, true)?;
    let (hidden, width) = (sizes.hidden, sizes.width);
    let mut all = sizes.with(Biases::NONE);
    (all.head_dim, all.n_kv_heads) = (head_dim, kv_heads.min(all.n_heads));
    // Norms, and biases of all matrices.
    all.vectors = 4 * hidden + all.inner() + 2 * all.kv_inner() + 2 * width;
    let windowed = TowerLayers {
        layers: sizes.layers - full,
        window: Some((2 * window).max(1)),
        vectors: all.vectors + if has_sinks { all.n_heads } else { 0 },
        ..all
    };
    let layers = vec![windowed, TowerLayers { layers: full, ..all }];
    let area = patches.merge * patches.merge;
    let merged = hidden * area;
    let ends =
        vec![end(hidden, patches.values, 1), end(merged, merged, area), end(outputs, merged, area)];
    Ok(tower(layers, ends, hidden, ImageRule::Unknown { merge: area.max(1) }))
}

/// Rows of an embedding of sound of MiMo V2.5.
const MIMO_ROWS: u64 = 1280;

/// The audio tower of MiMo V2.5: an embedding per channel of codes, layers, and two matrices that read groups of positions.
pub(super) fn mimo_audio(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let sizes = Sizes {
        layers: audio!(part, input_local_layers, 6)?,
        hidden: audio!(part, input_local_dim, 1024)?,
        heads: audio!(part, input_local_attn_heads, 16)?,
        width: audio!(part, input_local_intermediate_size, 4096)?,
        mlp: MlpKind::Gated,
    };
    let channels = audio!(part, audio_channels, 20)?;
    let group = audio!(part, group_size, 4)?;
    let outputs = audio!(part, out_hidden_size, part.text)?;
    let rows = rows_of_text(part)?;
    let (hidden, joined) = (sizes.hidden, group * sizes.hidden);
    let layers = sizes.with(Biases { attention: 3, ..Biases::NONE });
    let ends = vec![end(4 * joined, joined, group.max(1)), end(outputs, 4 * joined, group.max(1))];
    Ok(sound(vec![layers], ends, channels * rows * hidden + hidden))
}

/// Reads `speech_vocab_size`, a number or the text of one.
fn rows_of_text(part: &mut Part<'_, '_>) -> Result<u64, ConfigError> {
    let field = "audio_config.speech_vocab_size";
    let wrong = |found| ConfigError::WrongType { field, allowed: Allowed::Count, found };
    let rows = match &part.config.speech_vocab_size {
        Entry::Absent | Entry::Null => {
            part.reader.assume(field, AssumedValue::Count(MIMO_ROWS));
            return Ok(MIMO_ROWS);
        }
        Entry::Value(text) => {
            let parsed: Result<u64, _> = text.parse();
            parsed.ok().ok_or_else(|| wrong(Found::Text(text.clone())))?
        }
        Entry::Wrong(Found::Number(number)) if (0.0..=MOST as f64).contains(number) => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
            let rows = *number as u64;
            rows
        }
        Entry::Wrong(found) => return Err(wrong(found.clone())),
    };
    crate::error::in_range(field, rows, 0, MOST).map_err(ConfigError::Value)
}

/// The image tower of Muse Spark: windows of as many patches as its table of positions in most layers.
pub(super) fn muse_vision(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let side = small!(part, patch_size, 14)?;
    let channels = small!(part, num_channels, 3)?;
    let frames = small!(part, patch_temporal, 2)?;
    let merge = small!(part, merge_size, 2)?;
    let (rows, columns) = (small!(part, pos_emb_height, 32)?, small!(part, pos_emb_width, 32)?);
    let sizes = named(part, [50, 1536, 16, 8960], MlpKind::Plain)?;
    let outer = part.reader.outer;
    let inner =
        part.count(&[("projector_hidden_size", &outer.projector_hidden_size)], 4096, MOST)?;
    let joined = part.count(&[("out_hidden_size", &outer.out_hidden_size)], 6144, MOST)?;
    let kinds = ("vision_config.layer_types", &part.config.layer_types);
    let windowed = part.layers_of(kinds, &["window_attention"], (sizes.layers, 0))?;
    let all = sizes.with(Biases::ALL);
    let layers = vec![
        TowerLayers { layers: windowed, window: Some((rows * rows).max(1)), ..all },
        TowerLayers { layers: sizes.layers - windowed, ..all },
    ];
    let (hidden, area) = (sizes.hidden, (merge * merge).max(1));
    let ends = vec![
        end(hidden, channels * frames * side * side, 1),
        end(inner, joined, area),
        end(inner, inner, area),
        end(part.text, inner, area),
    ];
    // Positions, and the norms before and after the layers.
    let vectors = (rows * columns + 4) * hidden;
    Ok(tower(layers, ends, vectors, ImageRule::Unknown { merge: area }))
}

/// Defaults of the stages of the audio tower of Muse Spark: patches, widths, blocks.
const MUSE_STAGES: [[u64; 4]; 3] = [[16, 6, 5, 4], [256, 512, 1024, 2048], [2, 2, 2, 2]];

/// The audio tower of Muse Spark: four stages of convolutions with MLPs, each after a merge of patches.
pub(super) fn muse_audio(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let config = part.config;
    let [patches, widths, blocks] = MUSE_STAGES;
    let patches = part.list("audio_config.patch_sizes", &config.patch_sizes, &patches)?.to_vec();
    let widths = part.list("audio_config.hidden_sizes", &config.hidden_sizes, &widths)?.to_vec();
    let blocks = part.list("audio_config.depths", &config.depths, &blocks)?.to_vec();
    let kernel = audio!(part, conv_kernel_size, 7)?;
    let ratio = audio!(part, mlp_ratio, 4)?;
    let outputs = audio!(part, out_hidden_size, 8192)?;
    let (mut layers, mut ends, mut vectors): (Vec<TowerLayers>, _, u64) = (vec![], vec![], 0);
    let mut inputs = 1;
    for ((patch, hidden), blocks) in patches.into_iter().zip(widths).zip(blocks) {
        let [patch, hidden, blocks] = [patch, hidden, blocks].map(|size| size.min(MOST));
        ends.push(end(hidden, inputs * patch, 1));
        vectors += 2 * hidden;
        let mut group =
            Sizes { layers: blocks, hidden, heads: 0, width: ratio * hidden, mlp: MlpKind::Plain }
                .with(Biases { norms: 1, mlp: true, ..Biases::NONE });
        // A convolution with a bias.
        group.vectors += (kernel + 1) * hidden;
        layers.push(group);
        inputs = hidden;
    }
    ends.push(end(outputs, inputs, 1));
    Ok(sound(layers, ends, vectors + inputs + 2 * outputs))
}
