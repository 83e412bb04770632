//! Towers of multimodal files: `vision_config` and `audio_config` by the rules of their family. A tower that no rule knows is not
//! counted, and a remark says so. `docs/theory/towers.md` lists the terms.

/// Reads a count of a tower: the first given of several names, or the default.
macro_rules! read {
    ($part:ident, $outer:literal, $($field:ident)|+, $default:expr, $most:expr) => {{
        let config = $part.config;
        $part.count(
            &[$((concat!($outer, ".", stringify!($field)), &config.$field)),+],
            $default,
            $most,
        )
    }};
}

/// Reads a count of `vision_config`.
macro_rules! vision {
    ($part:ident, $($field:ident)|+, $default:expr) => {
        read!($part, "vision_config", $($field)|+, $default, $crate::hf_config::tower::MOST)
    };
}

/// Reads a small count of `vision_config`.
macro_rules! small {
    ($part:ident, $($field:ident)|+, $default:expr) => {
        read!($part, "vision_config", $($field)|+, $default, $crate::hf_config::tower::MOST_PER_PATCH)
    };
}

/// Reads a count of `audio_config`.
macro_rules! audio {
    ($part:ident, $($field:ident)|+, $default:expr) => {
        read!($part, "audio_config", $($field)|+, $default, $crate::hf_config::tower::MOST)
    };
}

mod audio;
mod fields;
mod gemma;
mod omni;
mod own;
mod plain;
mod resampler;
mod siglip;
mod squares;
mod tiles;
mod vision;

use alloc::string::String;
use alloc::vec::Vec;

use super::entry::{Entry, Found};
use super::fields::{HfConfig, Named};
use super::reader::{Reader, value};
use super::refusal::ConfigError;
use super::tower_fields::TowerConfig;
use super::{AssumedValue, Length, Remark};
use crate::error::in_range;
use crate::model_arch::{MlpKind, Tower, TowerEnd, TowerKind, TowerLayers};

/// Model types with towers, or with parts that speak, that no rule reads: their files describe them elsewhere.
const UNREAD: [&str; 4] = ["granite_speech", "molmo", "qwen2_5_omni", "qwen3_omni_moe"];
/// Largest width or number in a tower's configuration, so that no product of a few overflows.
const MOST: u64 = 1 << 20;
/// Largest side of a patch, and largest number of channels, frames or merged patches per side.
const MOST_PER_PATCH: u64 = 1 << 10;

/// A tower's configuration being read.
struct Part<'r, 'a> {
    reader: &'r mut Reader<'a>,
    config: &'a TowerConfig,
    /// Hidden size of the language model.
    text: u64,
}

impl Part<'_, '_> {
    fn count(
        &mut self,
        names: &[(&'static str, &Entry<u64>)],
        default: u64,
        most: u64,
    ) -> Result<u64, ConfigError> {
        let given = names.iter().find(|(_, entry)| entry.is_given()).or_else(|| names.first());
        let Some(&(name, entry)) = given else { return Ok(default) };
        let count = self.reader.count_or(&Named { name, entry }, default)?;
        in_range(name, count, 0, most).map_err(ConfigError::Value)
    }

    fn flag(
        &mut self,
        name: &'static str,
        entry: &Entry<bool>,
        default: bool,
    ) -> Result<bool, ConfigError> {
        self.reader.flag_or(&Named { name, entry }, default)
    }

    /// Number of entries of a list, or the default.
    fn length(
        &mut self,
        name: &'static str,
        entry: &Entry<Length>,
        default: u64,
    ) -> Result<u64, ConfigError> {
        if let Some(Length(entries)) = value(&Named { name, entry })? {
            return in_range(name, *entries, 0, MOST).map_err(ConfigError::Value);
        }
        self.reader.assume(name, AssumedValue::Count(default));
        Ok(default)
    }

    /// Number of layers whose kind is among these; a file without the list has them in `absent` layers.
    fn layers_of(
        &mut self,
        (name, entry): (&'static str, &Entry<Vec<String>>),
        kinds: &[&str],
        (layers, absent): (u64, u64),
    ) -> Result<u64, ConfigError> {
        if let Some(list) = value(&Named { name, entry })? {
            let found = list.iter().filter(|kind| kinds.contains(&&***kind)).count() as u64;
            return Ok(found.min(layers));
        }
        self.reader.assume(name, AssumedValue::Word("by the rule of the family"));
        Ok(absent)
    }

    /// The list of a file, or the default.
    fn list<'b>(
        &mut self,
        name: &'static str,
        entry: &'b Entry<Vec<u64>>,
        default: &'b [u64],
    ) -> Result<&'b [u64], ConfigError> {
        if let Some(list) = value(&Named { name, entry })? {
            return Ok(list);
        }
        self.reader.assume(name, AssumedValue::Count(default.len() as u64));
        Ok(default)
    }
}

/// Parameters of a layer of an encoder beside its matrices.
#[derive(Debug, Clone, Copy)]
struct Biases {
    /// Number of norms of the hidden size.
    norms: u64,
    /// Vectors per norm: a weight, or a weight and a bias.
    per_norm: u64,
    /// Number of the four projections of attention with a bias.
    attention: u64,
    /// The matrices of the MLP have biases.
    mlp: bool,
}

impl Biases {
    /// Norms with a bias, and biases everywhere: the layers of CLIP and `SigLIP`.
    const ALL: Self = Self { norms: 2, per_norm: 2, attention: 4, mlp: true };
    /// Norms without bias, and no bias.
    const NONE: Self = Self { norms: 2, per_norm: 1, attention: 0, mlp: false };

    fn vectors(&self, layers: &TowerLayers) -> u64 {
        let mlp = if self.mlp { layers.mlp_inputs() + layers.hidden_size } else { 0 };
        (self.norms * self.per_norm + self.attention) * layers.hidden_size + mlp
    }
}

/// Sizes of the layers of an encoder.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    layers: u64,
    hidden: u64,
    heads: u64,
    width: u64,
    mlp: MlpKind,
}

impl Sizes {
    /// Layers whose heads share the hidden size.
    fn with(&self, biases: Biases) -> TowerLayers {
        let Self { layers, hidden, heads, width, mlp } = *self;
        let mut group = TowerLayers {
            layers,
            hidden_size: hidden,
            n_heads: heads,
            n_kv_heads: heads,
            head_dim: hidden / heads.max(1),
            width,
            mlp,
            window: None,
            other_matrices: 0,
            vectors: 0,
        };
        group.vectors = biases.vectors(&group);
        group
    }
}

impl TowerLayers {
    /// The layers with fewer heads of keys and values, of which `biases` projections have a bias.
    fn grouped(self, kv_heads: u64, biases: u64) -> Self {
        let n_kv_heads = kv_heads.min(self.n_heads);
        let less = biases * (self.n_heads - n_kv_heads) * self.head_dim;
        Self { n_kv_heads, vectors: self.vectors.saturating_sub(less), ..self }
    }
}

/// A matrix that reads one row per `merge` positions.
const fn end(rows: u64, cols: u64, merge: u64) -> TowerEnd {
    TowerEnd { rows, cols, merge }
}

/// Keys of files that describe a tower in a form of their own.
const OF_TOWERS: [&str; 18] = [
    "acoustic_tokenizer_config",
    "audio_processor",
    "audio_tower",
    "encoder_config",
    "gen_vision_config",
    "image_tower",
    "img_processor",
    "mm_audio_tower",
    "mm_vision_tower",
    "sound_tower_cfg",
    "speech_config",
    "vision_cfg",
    "vision_tower",
    "vision_tower_cfg",
    "visual",
    "visual_config",
    "visual_tokenizer_config",
    "vit_config",
];

/// True if a file has a tower in a form that no rule reads.
fn describes_tower(config: &HfConfig) -> bool {
    let keys = config.unknown.iter().chain(&config.others);
    keys.map(|key| key.name.split('.').next().unwrap_or("")).any(|key| OF_TOWERS.contains(&key))
}

/// Reads the towers of a file.
pub(super) fn read(reader: &mut Reader<'_>, text: u64) -> Result<Vec<Tower>, ConfigError> {
    let outer = reader.outer;
    let model_type = outer.model_type.value().map_or("", |name| &**name);
    let mut towers = Vec::new();
    let mut left_out = UNREAD.contains(&model_type);
    // In a model that speaks, the part that thinks has the towers.
    let (vision, audio) = match outer.thinker_config.value() {
        Some(thinker) => (&thinker.vision_config, &thinker.audio_config),
        None => (&outer.vision_config, &outer.audio_config),
    };
    let kinds =
        [(TowerKind::Vision, vision, "vision_config"), (TowerKind::Audio, audio, "audio_config")];
    for (kind, entry, field) in kinds {
        let Some(config) = value(&Named { name: field, entry })? else {
            // A class with a tower has one whether the file describes it or not; `null` is a model without it.
            // MiMo V2 has both towers, or none.
            let of_both = model_type == "mimo_v2" && (vision.is_given() || audio.is_given());
            left_out |= *entry == Entry::Absent && (of_both || has_tower(model_type, kind));
            continue;
        };
        let mut part = Part { reader: &mut *reader, config, text };
        let tower = match kind {
            TowerKind::Vision => vision::read(&mut part, model_type)?,
            TowerKind::Audio => audio::read(&mut part, model_type)?,
        };
        left_out |= tower.is_none();
        towers.extend(tower);
    }
    left_out |= towers.is_empty() && (describes_tower(outer) || describes_tower(reader.text));
    if left_out {
        reader.remarks.push(Remark::TowersNotCounted);
    }
    Ok(towers)
}

/// True for model types whose files describe such a tower.
fn has_tower(model_type: &str, kind: TowerKind) -> bool {
    match kind {
        TowerKind::Vision => vision::is_known(model_type),
        TowerKind::Audio => audio::is_known(model_type),
    }
}

/// Patches per side of a token, from a ratio of sides such as 0.5.
fn merge_of(name: &'static str, entry: &Entry<super::Present>) -> Result<u64, ConfigError> {
    let ratio = match entry {
        Entry::Absent | Entry::Null => 0.5,
        Entry::Wrong(Found::Number(ratio)) => *ratio,
        Entry::Value(_) => 1.0,
        Entry::Wrong(found) => {
            let (field, found) = (name, found.clone());
            return Err(ConfigError::WrongType { field, allowed: super::Allowed::Count, found });
        }
    };
    (1..=16)
        .find(|merge| (ratio * *merge as f64 - 1.0).abs() < 1e-6)
        .ok_or_else(|| ConfigError::Value(ratio_error(name, ratio)))
}

fn ratio_error(name: &'static str, ratio: f64) -> crate::error::Error {
    crate::error::Error::OutOfRange { what: name.into(), value: ratio, min: 1.0 / 16.0, max: 1.0 }
}
