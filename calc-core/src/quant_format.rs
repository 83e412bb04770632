//! Storage formats: bits per block, per block scale and per tensor, and the compute class that executes a format.
//! The tables are in `catalog::formats` and `catalog::format_facts`.

use crate::provenance::Provenance;
use crate::units::Bytes;

/// Compute class: the data type of a peak, on which a format is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
#[expect(missing_docs, reason = "the names are the formats themselves")]
pub enum ComputeClass {
    Fp64,
    Fp32,
    Tf32,
    Fp16,
    Bf16,
    Fp8,
    Fp6,
    Fp4,
    Int8,
    Int4,
}

impl ComputeClass {
    /// All classes, in the order of [`crate::device::Peaks`].
    pub const ALL: [Self; 10] = [
        Self::Fp64,
        Self::Fp32,
        Self::Tf32,
        Self::Fp16,
        Self::Bf16,
        Self::Fp8,
        Self::Fp6,
        Self::Fp4,
        Self::Int8,
        Self::Int4,
    ];

    /// Index into [`Self::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Fp64 => "fp64",
            Self::Fp32 => "fp32",
            Self::Tf32 => "tf32",
            Self::Fp16 => "fp16",
            Self::Bf16 => "bf16",
            Self::Fp8 => "fp8",
            Self::Fp6 => "fp6",
            Self::Fp4 => "fp4",
            Self::Int8 => "int8",
            Self::Int4 => "int4",
        }
    }

    /// Operand width [bit]; TF32 operands occupy 32 bits.
    pub const fn width(self) -> u32 {
        match self {
            Self::Fp64 => 64,
            Self::Fp32 | Self::Tf32 => 32,
            Self::Fp16 | Self::Bf16 => 16,
            Self::Fp8 | Self::Int8 => 8,
            Self::Fp6 => 6,
            Self::Fp4 | Self::Int4 => 4,
        }
    }

    /// True for floats of 16 bits and more, which can carry the activations between matmuls.
    pub const fn is_carrier(self) -> bool {
        match self {
            Self::Fp64 | Self::Fp32 | Self::Tf32 | Self::Fp16 | Self::Bf16 => true,
            Self::Fp8 | Self::Fp6 | Self::Fp4 | Self::Int8 | Self::Int4 => false,
        }
    }
}

/// Encoding of an element's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Encoding {
    /// Floating point: sign, exponent and mantissa.
    Float,
    /// Two's complement or offset integers.
    Int,
    /// Index into a table of values.
    Codebook,
    /// -1, 0 or 1.
    Ternary,
}

/// A storage format: elements, blocks, scales.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantFormat {
    /// Key in requests and in JSON.
    pub key: &'static str,
    /// Full name, with the scale layout where formats differ by it: `INT4 group 128 (symmetric, 16-bit scale)`.
    pub name: &'static str,
    /// Name in tables, charts and sentences; unique, at most 22 characters: `INT4 g128 symmetric`.
    pub short_name: &'static str,
    pub encoding: Encoding,
    /// Number of elements along K that share a scale; 1 for a plain format.
    pub block: u64,
    /// Bits of one whole block: payload, scales and zero points.
    pub block_bits: f64,
    /// Scale bits per output channel.
    pub channel_bits: f64,
    /// Scale bits per tensor.
    pub tensor_bits: f64,
    /// A scale shared across rows as well; `None` if every scale belongs to one row or to the whole tensor.
    pub tile: Option<TileScale>,
    /// Class it computes on; `None` for storage only (weights are dequantized, activations are refused).
    pub class: Option<ComputeClass>,
    /// The file that the name of a GGUF format means; `None` for all other formats.
    pub file: Option<GgufFile>,
}

/// File types of llama.cpp. Most are mixtures; `gguf_file` says which tensor gets which format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of llama-quantize")]
pub enum GgufFile {
    Q8_0,
    Q6K,
    Q5KM,
    Q5KS,
    Q5_0,
    Q5_1,
    Q4KM,
    Q4KS,
    Q4_0,
    Q4_1,
    Q3KL,
    Q3KM,
    Q3KS,
    Q2K,
    IQ4NL,
    IQ4XS,
    Mxfp4Moe,
    Nvfp4,
    TQ1_0,
    TQ2_0,
}

impl GgufFile {
    /// The name as llama-quantize takes it and as files end: `Q4_K_M`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Q8_0 => "Q8_0",
            Self::Q6K => "Q6_K",
            Self::Q5KM => "Q5_K_M",
            Self::Q5KS => "Q5_K_S",
            Self::Q5_0 => "Q5_0",
            Self::Q5_1 => "Q5_1",
            Self::Q4KM => "Q4_K_M",
            Self::Q4KS => "Q4_K_S",
            Self::Q4_0 => "Q4_0",
            Self::Q4_1 => "Q4_1",
            Self::Q3KL => "Q3_K_L",
            Self::Q3KM => "Q3_K_M",
            Self::Q3KS => "Q3_K_S",
            Self::Q2K => "Q2_K",
            Self::IQ4NL => "IQ4_NL",
            Self::IQ4XS => "IQ4_XS",
            Self::Mxfp4Moe => "MXFP4_MOE",
            Self::Nvfp4 => "NVFP4",
            Self::TQ1_0 => "TQ1_0",
            Self::TQ2_0 => "TQ2_0",
        }
    }
}

/// A scale shared by a tile of a weight. Inputs and caches are quantized row by row, so there it covers `cols` elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TileScale {
    /// Rows of the tile, along N.
    pub rows: u64,
    /// Columns of the tile, along K.
    pub cols: u64,
    /// Bits of the scale.
    pub bits: f64,
}

/// Catalog facts about a format beyond its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FormatFacts {
    /// Bit layout of an element.
    pub layout: &'static str,
    /// Description of scales and zero points; empty if there are none.
    pub scale: &'static str,
    /// Usual method of quantizing to the format.
    pub method: &'static str,
    /// Known loss of quality; empty if unknown.
    pub accuracy: &'static str,
    pub accuracy_source: &'static str,
    /// NVIDIA compute capabilities whose tensor cores support it natively.
    pub nvidia: &'static [&'static str],
    /// Other hardware with native support.
    pub other_native: &'static [&'static str],
    /// torchao configuration; empty if there is none.
    pub torchao: &'static str,
    pub notes: &'static str,
    pub source: &'static str,
    /// Provenance of the facts in this row.
    pub provenance: Provenance,
}

impl QuantFormat {
    /// Bits per weight element, with block and tile scales spread over their elements [bit].
    ///
    /// ```text
    /// bits = element_bits + (scale_bits + zero_bits) / block + tile_bits / (tile_rows * tile_cols)
    /// ```
    ///
    /// ```
    /// let nvfp4 = calc_core::catalog::format("nvfp4").unwrap();
    /// assert_eq!(nvfp4.bits_per_element(), 4.5); // 4 + 8/16
    /// ```
    pub fn bits_per_element(&self) -> f64 {
        let tile = self.tile.map_or(0.0, |tile| tile.bits / (tile.rows * tile.cols) as f64);
        self.block_bits / self.block as f64 + tile
    }

    /// Bytes per weight element, with scales spread likewise; channel and tensor scales are excluded.
    pub fn bytes_per_element(&self) -> f64 {
        self.bits_per_element() / 8.0
    }

    /// Bytes per element of an input or a cache; these are quantized row by row, so no scale is shared between rows.
    ///
    /// ```
    /// let fp8 = calc_core::catalog::format("fp8_block128").unwrap();
    /// assert_eq!(fp8.row_bytes_per_element(), (8.0 + 32.0 / 128.0) / 8.0);
    /// ```
    pub fn row_bytes_per_element(&self) -> f64 {
        let tile = self.tile.map_or(0.0, |tile| tile.bits / tile.cols as f64);
        (self.block_bits / self.block as f64 + tile) / 8.0
    }

    /// Bytes of a matrix as stored: whole blocks along K, channel and tensor scales, and one scale per tile.
    ///
    /// ```text
    /// bytes = rows * ceil(cols / block) * block_bits / 8 + rows * channel_bits / 8 + tensor_bits / 8
    ///       + ceil(rows / tile_rows) * ceil(cols / tile_cols) * tile_bits / 8
    /// ```
    ///
    /// `rows` are outputs (N), `cols` inputs (K). Derivation: `docs/theory/formats.md`.
    ///
    /// ```
    /// let q8_0 = calc_core::catalog::format("gguf_q8_0").unwrap();
    /// // 5000 = 156.25 blocks of 32, so 157 blocks of 34 bytes in each of 5120 rows.
    /// assert_eq!(q8_0.stored_bytes(5120, 5000).get(), 5120.0 * 157.0 * 34.0);
    /// let fp8 = calc_core::catalog::format("fp8_block128").unwrap();
    /// // 576 x 7168: an element takes a byte, and 4.5 x 56 tiles are 5 x 56 scales of 4 bytes.
    /// assert_eq!(fp8.stored_bytes(576, 7168).get(), 576.0 * 7168.0 + 5.0 * 56.0 * 4.0);
    /// ```
    pub fn stored_bytes(&self, rows: u64, cols: u64) -> Bytes {
        let blocks = cols.div_ceil(self.block) as f64;
        let per_row = blocks * self.block_bits + self.channel_bits;
        let tiles = self.tile.map_or(0.0, |tile| {
            tile.bits * (rows.div_ceil(tile.rows) * cols.div_ceil(tile.cols)) as f64
        });
        Bytes::from_bits(rows as f64 * per_row + self.tensor_bits + tiles)
    }

    /// True if the last block of a row of `cols` elements is only partly used.
    pub fn pads(&self, cols: u64) -> bool {
        !cols.is_multiple_of(self.block)
    }
}
