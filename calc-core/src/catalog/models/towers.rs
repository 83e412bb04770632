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

qwen3_5!(QWEN3_5_9B, 4096);
qwen3_5!(QWEN3_5_27B, 5120);
qwen3_5!(QWEN3_5_35B, 2048);
qwen3_5!(QWEN3_5_122B, 3072);

/// Layers of an encoder with the biases and norms of `SigLIP`: layers, hidden size, heads, width.
const fn plain([layers, hidden_size, n_heads, width]: [u64; 4]) -> TowerLayers {
    TowerLayers {
        layers,
        hidden_size,
        n_heads,
        n_kv_heads: n_heads,
        head_dim: hidden_size / n_heads,
        width,
        vectors: 9 * hidden_size + width,
        ..SO400M
    }
}

const LAYERS_24: TowerLayers = plain([24, 1024, 16, 4096]);

/// The tower of a smaller Qwen3.5: its layers, and the hidden size of the language model.
macro_rules! qwen3_5_small {
    ($name:ident, $layers:expr, $text:literal) => {
        pub(super) static $name: [Tower; 1] = [{
            let hidden = $layers.hidden_size;
            Tower {
                kind: TowerKind::Vision,
                layers: List::Borrowed(const { &[$layers] }),
                ends: List::Borrowed(
                    const {
                        &[
                            end($layers.hidden_size, 3 * 2 * 16 * 16, 1),
                            end(4 * $layers.hidden_size, 4 * $layers.hidden_size, 4),
                            end($text, 4 * $layers.hidden_size, 4),
                        ]
                    },
                ),
                vectors: (1 + 2304 + 2 + 4) * hidden + $text,
                images: ImageRule::Area { patch: 16, merge: 2, least: 65_536, most: 16_777_216 },
                stored: None,
            }
        }];
    };
}

qwen3_5_small!(QWEN3_5_0_8B, plain([12, 768, 12, 3072]), 1024);
qwen3_5_small!(QWEN3_5_2B, LAYERS_24, 2048);
qwen3_5_small!(QWEN3_5_4B, LAYERS_24, 2560);

/// The tower of Qwen3-VL: as that of Qwen3.5, with three more projectors, which feed the first layers of the language model.
macro_rules! qwen3_vl {
    ($name:ident, $layers:expr, $text:literal) => {
        pub(super) static $name: [Tower; 1] = [{
            const IN: u64 = 4 * $layers.hidden_size;
            Tower {
                kind: TowerKind::Vision,
                layers: List::Borrowed(const { &[$layers] }),
                ends: List::Borrowed(&[
                    end(IN / 4, 3 * 2 * 16 * 16, 1),
                    end(IN, IN, 4),
                    end($text, IN, 4),
                    end(IN, IN, 4),
                    end($text, IN, 4),
                    end(IN, IN, 4),
                    end($text, IN, 4),
                    end(IN, IN, 4),
                    end($text, IN, 4),
                ]),
                vectors: (1 + 2304 + 2) * IN / 4 + 4 * (IN + $text) + 3 * 2 * IN,
                images: ImageRule::Area { patch: 16, merge: 2, least: 65_536, most: 16_777_216 },
                stored: None,
            }
        }];
    };
}

qwen3_vl!(QWEN3_VL_4B, LAYERS_24, 2560);
qwen3_vl!(QWEN3_VL_8B, SO400M, 4096);
qwen3_vl!(QWEN3_VL_30B, SO400M, 2048);
qwen3_vl!(QWEN3_VL_32B, SO400M, 5120);

/// The tower of Qwen2.5-VL with this width and a language model of this hidden size: patches of 14 pixels, four of which are a
/// token; four of 32 layers see the whole image.
macro_rules! qwen2_5_vl {
    ($name:ident, $width:literal, $text:literal) => {
        pub(super) static $name: [Tower; 1] = [{
            const LAYERS: TowerLayers = TowerLayers {
                layers: 28,
                mlp: MlpKind::Gated,
                window: Some(64),
                vectors: 7 * 1280 + 2 * $width,
                ..plain([0, 1280, 16, $width])
            };
            Tower {
                kind: TowerKind::Vision,
                layers: List::Borrowed(&[
                    LAYERS,
                    TowerLayers { layers: 4, window: None, ..LAYERS },
                ]),
                ends: List::Borrowed(&[
                    end(1280, 3 * 2 * 14 * 14, 1),
                    end(5120, 5120, 4),
                    end($text, 5120, 4),
                ]),
                vectors: 1280 + 5120 + $text,
                images: ImageRule::Area { patch: 14, merge: 2, least: 3136, most: 12_845_056 },
                stored: None,
            }
        }];
    };
}

qwen2_5_vl!(QWEN2_5_VL_7B, 3420, 3584);
qwen2_5_vl!(QWEN2_5_VL_72B, 3456, 8192);

/// The tower of Mistral with a language model of this hidden size: patches of 14 pixels, four of which are a token.
macro_rules! pixtral {
    ($name:ident, $text:literal) => {
        pub(super) static $name: [Tower; 1] = [Tower {
            kind: TowerKind::Vision,
            layers: List::Borrowed(
                const { &[TowerLayers { mlp: MlpKind::Gated, vectors: 2 * 1024, ..LAYERS_24 }] },
            ),
            ends: List::Borrowed(&[
                end(1024, 3 * 14 * 14, 1),
                end(1024, 4 * 1024, 4),
                end($text, 1024, 4),
                end($text, $text, 4),
            ]),
            vectors: 2 * 1024,
            images: ImageRule::Rows { patch: 14, merge: 2, longest: 1540 },
            stored: None,
        }];
    };
}

pixtral!(PIXTRAL_3B, 3072);
pixtral!(PIXTRAL_8B, 4096);
pixtral!(PIXTRAL_24B, 5120);

/// The towers of Gemma 3n. That for images is a convolutional network, whose parameters are counted among the vectors.
pub(super) static GEMMA_3N: [Tower; 2] = [
    Tower {
        kind: TowerKind::Vision,
        layers: List::Borrowed(&[]),
        ends: List::Borrowed(&[end(128, 2048, 1), end(2048, 2048, 1)]),
        vectors: 294_131_008,
        images: ImageRule::Fixed { tile: ImageTile { positions: 256, tokens: 256 }, separators: 4 },
        stored: None,
    },
    Tower {
        kind: TowerKind::Audio,
        layers: List::Borrowed(
            const {
                &[TowerLayers {
                    other_matrices: 28_311_552,
                    vectors: 21_696,
                    ..plain([12, 1536, 8, 6144])
                }]
            },
        ),
        ends: List::Borrowed(&[end(1536, 1024, 1), end(128, 1536, 1), end(2048, 1536, 1)]),
        vectors: 41_248,
        images: ImageRule::Unknown { merge: 1 },
        stored: None,
    },
];

/// The towers of the small Gemma 4 with a language model of this hidden size: images as in the larger one, and sound.
macro_rules! gemma4_small {
    ($name:ident, $text:literal) => {
        pub(super) static $name: [Tower; 2] = [
            Tower {
                kind: TowerKind::Vision,
                layers: List::Borrowed(
                    const {
                        &[TowerLayers {
                            mlp: MlpKind::Gated,
                            vectors: 4 * 768 + 2 * 64,
                            ..plain([16, 768, 12, 3072])
                        }]
                    },
                ),
                ends: List::Borrowed(&[end(768, 3 * 16 * 16, 1), end($text, 768, 9)]),
                vectors: 2 * 10_240 * 768,
                images: ImageRule::Budget { patch: 16, merge: 3, most: 280 },
                stored: None,
            },
            Tower {
                kind: TowerKind::Audio,
                layers: List::Borrowed(
                    const {
                        &[TowerLayers {
                            other_matrices: 12_582_912,
                            vectors: 14_464,
                            ..plain([12, 1024, 8, 4096])
                        }]
                    },
                ),
                ends: List::Borrowed(&[
                    end(1024, 1024, 1),
                    end(1536, 1024, 1),
                    end($text, 1536, 1),
                ]),
                vectors: 39_712,
                images: ImageRule::Unknown { merge: 1 },
                stored: None,
            },
        ];
    };
}

gemma4_small!(GEMMA_4_E2B, 1536);
gemma4_small!(GEMMA_4_E4B, 2560);

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

/// The tower of Kimi K2.5: patches of 14 pixels, four of which are a token.
pub(super) static KIMI_K2_5: [Tower; 1] = [Tower {
    kind: TowerKind::Vision,
    layers: List::Borrowed(&[SO400M]),
    ends: List::Borrowed(&[end(1152, 3 * 14 * 14, 1), end(4608, 4608, 4), end(7168, 4608, 4)]),
    vectors: (64 * 64 + 5) * 1152 + 4608 + 7168,
    images: ImageRule::Padded { patch: 14, merge: 2, most: 16_384 },
    stored: None,
}];

/// The tower of `MiniMax`-M3: patches of 14 pixels, four of which are a token.
pub(super) static MINIMAX_M3: [Tower; 1] = [Tower {
    kind: TowerKind::Vision,
    layers: List::Borrowed(const { &[plain([32, 1280, 16, 5120])] }),
    ends: List::Borrowed(&[
        end(1280, 3 * 2 * 14 * 14, 1),
        end(6144, 1280, 1),
        end(6144, 6144, 1),
        end(6144, 4 * 6144, 4),
        end(6144, 6144, 4),
    ]),
    vectors: 2 * 1280 + 4 * 6144,
    images: ImageRule::Area { patch: 14, merge: 2, least: 3136, most: 451_584 },
    stored: None,
}];
