//! Towers of the models in the catalog. Geometry: the published config.json of each, recalled, as transformers 5.23.0 builds them;
//! a test compares each with the fixture of its name.

use crate::image::{ImageRule, ImageTile};
use crate::model_arch::{MlpKind, Tower, TowerEnd, TowerKind, TowerLayers};
use crate::text::List;

/// A matrix that reads one row per `merge` positions.
const fn end(rows: u64, cols: u64, merge: u64) -> TowerEnd {
    TowerEnd { rows, cols, merge }
}

/// 27 layers with the biases and norms of `SigLIP`, which several models have.
const SO400M: TowerLayers = TowerLayers {
    layers: 27,
    hidden_size: 1152,
    n_heads: 16,
    n_kv_heads: 16,
    head_dim: 72,
    width: 4304,
    mlp: MlpKind::Plain,
    window: None,
    other_matrices: 0,
    vectors: 8 * 1152 + 4304 + 1152,
};

/// The tower of Gemma 3 with a language model of this hidden size: 4,096 patches of 14 pixels, pooled to 256 tokens.
macro_rules! gemma3 {
    ($name:ident, $text:literal) => {
        pub(super) static $name: [Tower; 1] = [Tower {
            kind: TowerKind::Vision,
            layers: List::Borrowed(&[SO400M]),
            ends: List::Borrowed(&[end(1152, 3 * 14 * 14, 1), end($text, 1152, 16)]),
            vectors: (1 + 4096 + 2 + 1) * 1152,
            images: ImageRule::Fixed {
                tile: ImageTile { positions: 4096, tokens: 256 },
                separators: 4,
            },
            stored: None,
        }];
    };
}

gemma3!(GEMMA_3_4B, 2560);
gemma3!(GEMMA_3_12B, 3840);
gemma3!(GEMMA_3_27B, 5376);

/// The tower of Qwen3.5 with a language model of this hidden size: patches of 16 pixels, four of which are a token.
macro_rules! qwen3_5 {
    ($name:ident, $text:literal) => {
        pub(super) static $name: [Tower; 1] = [Tower {
            kind: TowerKind::Vision,
            layers: List::Borrowed(&[SO400M]),
            ends: List::Borrowed(&[
                end(1152, 3 * 2 * 16 * 16, 1),
                end(4 * 1152, 4 * 1152, 4),
                end($text, 4 * 1152, 4),
            ]),
            vectors: (1 + 2304 + 2 + 4) * 1152 + $text,
            images: ImageRule::Area { patch: 16, merge: 2, least: 65_536, most: 16_777_216 },
            stored: None,
        }];
    };
}

qwen3_5!(QWEN3_5_27B, 5120);
qwen3_5!(QWEN3_5_35B, 2048);
qwen3_5!(QWEN3_5_122B, 3072);

/// The tower of the larger Gemma 4 with a language model of this hidden size: patches of 16 pixels, nine of which are a token.
macro_rules! gemma4 {
    ($name:ident, $text:literal) => {
        pub(super) static $name: [Tower; 1] = [Tower {
            kind: TowerKind::Vision,
            layers: List::Borrowed(&[TowerLayers {
                mlp: MlpKind::Gated,
                vectors: 4 * 1152 + 2 * 72,
                ..SO400M
            }]),
            ends: List::Borrowed(&[end(1152, 3 * 16 * 16, 1), end($text, 1152, 9)]),
            vectors: 2 * 10_240 * 1152,
            images: ImageRule::Budget { patch: 16, merge: 3, most: 280 },
            stored: None,
        }];
    };
}

gemma4!(GEMMA_4_26B, 2816);
gemma4!(GEMMA_4_31B, 5376);

/// The tower of Llama 4: tiles of 336 pixels, 576 patches and a class position each.
pub(super) static LLAMA_4: [Tower; 1] = [Tower {
    kind: TowerKind::Vision,
    layers: List::Borrowed(&[TowerLayers {
        layers: 34,
        hidden_size: 1408,
        n_heads: 16,
        n_kv_heads: 16,
        head_dim: 88,
        width: 5632,
        mlp: MlpKind::Plain,
        window: None,
        other_matrices: 0,
        vectors: 8 * 1408 + 5632 + 1408,
    }]),
    ends: List::Borrowed(&[
        end(1408, 3 * 14 * 14, 1),
        end(4096, 5632, 4),
        end(4096, 4096, 4),
        end(5120, 4096, 4),
    ]),
    vectors: (1 + 577 + 4) * 1408,
    images: ImageRule::Canvas {
        side: 336,
        tile: ImageTile { positions: 577, tokens: 144 },
        most: 16,
    },
    stored: None,
}];

/// The tower of Kimi K3: patches of 14 pixels, four of which are a token.
pub(super) static KIMI_K3: [Tower; 1] = [Tower {
    kind: TowerKind::Vision,
    layers: List::Borrowed(&[TowerLayers {
        layers: 27,
        hidden_size: 1024,
        n_heads: 12,
        n_kv_heads: 12,
        head_dim: 128,
        width: 4096,
        mlp: MlpKind::Plain,
        window: None,
        other_matrices: 0,
        vectors: 2 * 1024,
    }]),
    ends: List::Borrowed(&[end(1024, 3 * 14 * 14, 1), end(4096, 4096, 4), end(7168, 4096, 4)]),
    vectors: (64 * 64 + 1) * 1024 + 7168,
    images: ImageRule::Padded { patch: 14, merge: 2, most: 16_384 },
    stored: None,
}];
