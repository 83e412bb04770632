//! Encoders of sound: Whisper and its relatives, and the conformer of Phi-4.

use alloc::vec;

use super::fields::sound;
use super::{Biases, Part, Sizes, end, gemma, omni};
use crate::hf_config::refusal::ConfigError;
use crate::model_arch::{MlpKind, Tower};

/// Model types whose `audio_config` is known and always there.
const KNOWN: [&str; 10] = [
    "gemma3n",
    "gemma4",
    "voxtral",
    "qwen2_audio",
    "qwen3_asr",
    "qwen3_omni_moe",
    "phi4_multimodal",
    "glmasr",
    "dots3_note",
    "muse_spark",
];

pub(super) fn is_known(model_type: &str) -> bool {
    KNOWN.contains(&model_type)
}

/// Reads the tower of a known model type; `None` for any other.
pub(super) fn read(
    part: &mut Part<'_, '_>,
    model_type: &str,
) -> Result<Option<Tower>, ConfigError> {
    Ok(Some(match model_type {
        "gemma3n" => gemma::sound_of_3n(part)?,
        "gemma4" => gemma::sound_of_4(part)?,
        "voxtral" | "qwen2_audio" => whisper(part, model_type)?,
        "qwen3_asr" | "qwen3_omni_moe" => qwen3(part)?,
        "glmasr" => glm(part)?,
        "dots3_note" => omni::dots3_audio(part)?,
        "mimo_v2" => omni::mimo_audio(part)?,
        "muse_spark" => omni::muse_audio(part)?,
        "phi4_multimodal" => phi4(part)?,
        _ => return Ok(None),
    }))
}

fn whisper_sizes(
    part: &mut Part<'_, '_>,
    [layers, hidden, heads, width]: [u64; 4],
) -> Result<Sizes, ConfigError> {
    Ok(Sizes {
        layers: audio!(part, num_hidden_layers | encoder_layers, layers)?,
        hidden: audio!(part, hidden_size | d_model, hidden)?,
        heads: audio!(part, num_attention_heads | encoder_attention_heads, heads)?,
        width: audio!(part, intermediate_size | encoder_ffn_dim, width)?,
        mlp: MlpKind::Plain,
    })
}

/// The encoder of Whisper, whose keys have no bias, with the projector of Voxtral or Qwen2-Audio.
fn whisper(part: &mut Part<'_, '_>, model_type: &str) -> Result<Tower, ConfigError> {
    let sizes = whisper_sizes(part, [32, 1280, 20, 5120])?;
    let bands = audio!(part, num_mel_bins, 128)?;
    let positions = audio!(part, max_source_positions, 1500)?;
    let (hidden, text) = (sizes.hidden, part.text);
    let mut ends = vec![end(hidden, 3 * bands, 1), end(hidden, 3 * hidden, 1)];
    let biases = if model_type == "voxtral" {
        // Four positions are one row of the width of the MLP.
        ends.extend([end(text, sizes.width, 4), end(text, text, 4)]);
        0
    } else {
        ends.push(end(text, hidden, 2));
        text
    };
    // The biases of two convolutions, positions, and the norm after the layers.
    let vectors = (2 + positions + 2) * hidden + biases;
    Ok(sound(vec![sizes.with(Biases { attention: 3, ..Biases::ALL })], ends, vectors))
}

/// The encoder of Qwen3-ASR.
fn qwen3(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let sizes = whisper_sizes(part, [24, 1024, 16, 4096])?;
    let bands = audio!(part, num_mel_bins, 128)?;
    let channels = audio!(part, downsample_hidden_size, 480)?;
    let outputs = audio!(part, output_dim, 3584)?;
    let hidden = sizes.hidden;
    let ends = vec![
        end(channels, 9, 1),
        end(channels, 9 * channels, 1),
        end(channels, 9 * channels, 1),
        end(hidden, channels * bands.div_ceil(8), 1),
        end(hidden, hidden, 1),
        end(outputs, hidden, 1),
    ];
    let vectors = 3 * channels + 2 * hidden + hidden + outputs;
    Ok(sound(vec![sizes.with(Biases::ALL)], ends, vectors))
}

/// The encoder of GLM-ASR: that of Whisper with rotary positions. Four positions are a row of the projector.
fn glm(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let sizes = whisper_sizes(part, [32, 1280, 20, 5120])?;
    let bands = audio!(part, num_mel_bins, 128)?;
    let (hidden, text) = (sizes.hidden, part.text);
    let ends = vec![
        end(hidden, 3 * bands, 1),
        end(hidden, 3 * hidden, 1),
        end(2 * text, sizes.width, 4),
        end(text, 2 * text, 4),
    ];
    // The biases of two convolutions, the norm after the layers, and the biases of the projector.
    let layers = vec![sizes.with(Biases { attention: 3, ..Biases::ALL })];
    Ok(sound(layers, ends, 4 * hidden + 3 * text))
}

/// The conformer of Phi-4 multimodal, with its projectors for speech alone and beside images.
fn phi4(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let sizes = Sizes {
        layers: audio!(part, num_blocks, 24)?,
        hidden: audio!(part, hidden_size, 1024)?,
        heads: audio!(part, num_attention_heads, 16)?,
        width: audio!(part, intermediate_size, 1536)?,
        mlp: MlpKind::Gated,
    };
    let bands = audio!(part, input_size, 80)?;
    let channels = audio!(part, nemo_conv_channels, 1024)?;
    let outputs = audio!(part, ext_pw_out_channel, 1024)?;
    let kernel = audio!(part, kernel_size, 3)?;
    let distance = audio!(part, bias_max_distance, 1000)?;
    let (hidden, text) = (sizes.hidden, part.text);
    let mut layers = sizes.with(Biases { norms: 5, ..Biases::ALL });
    // A second MLP, and a convolution: to twice the outputs, a pointwise one, and one back.
    layers.other_matrices =
        3 * hidden * sizes.width + 2 * outputs * hidden + hidden * hidden + hidden * outputs;
    layers.vectors += 2 * sizes.width + hidden;
    layers.vectors += 4 * outputs + kernel * hidden + 3 * hidden;
    let ends = vec![
        end(channels, 9, 1),
        end(channels, 9, 1),
        end(channels, 9, 1),
        end(channels, channels, 1),
        end(channels, channels, 1),
        end(hidden, channels * bands.div_ceil(8), 1),
        end(text, hidden, 1),
        end(text, text, 1),
        end(text, hidden, 1),
        end(text, text, 1),
    ];
    let vectors = 5 * channels + hidden + 2 * distance * sizes.heads + 4 * text;
    Ok(sound(vec![layers], ends, vectors))
}
