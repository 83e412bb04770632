//! Storage formats: bits of a block, of its scales, and of the tensor around it; and what a format computes as.
//! What is not here: the tables (`catalog::formats`, `catalog::format_facts`).

use crate::provenance::Provenance;
use crate::units::Bytes;

/// The name of a peak: what a format computes as.
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
    /// All classes, in the order of the peaks of a device.
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

    /// Place in [`ComputeClass::ALL`].
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

    /// Operand width [bit]; TF32 operands occupy 32.
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

    /// True for the floats of 16 bits and more: those that can carry what flows between matmuls.
    pub const fn is_carrier(self) -> bool {
        match self {
            Self::Fp64 | Self::Fp32 | Self::Tf32 | Self::Fp16 | Self::Bf16 => true,
            Self::Fp8 | Self::Fp6 | Self::Fp4 | Self::Int8 | Self::Int4 => false,
        }
    }
}

/// How the elements encode a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Encoding {
    /// Sign, exponent, mantissa.
    Float,
    /// Two's complement or offset integers.
    Int,
    /// Index into a table.
    Codebook,
    /// Minus one, zero, one.
    Ternary,
}

/// A storage format: elements, blocks, scales.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantFormat {
    /// Key in requests and JSON.
    pub key: &'static str,
    /// Full name, with how scales are stored where formats differ by it: `INT4 group 128 (symmetric, 16-bit scale)`.
    pub name: &'static str,
    /// Name in tables, charts and sentences; at most 22 characters and unique: `INT4 g128 symmetric`.
    pub short_name: &'static str,
    /// Kind of element.
    pub encoding: Encoding,
    /// Elements along K that share a scale; 1 for a plain format.
    pub block: u64,
    /// Bits of one whole block, payload, scales and zero points.
    pub block_bits: f64,
    /// Bits of scale per output channel.
    pub channel_bits: f64,
    /// Bits of scale per tensor.
    pub tensor_bits: f64,
    /// Scale that rows share, too; `None` where every scale is of one row or of the tensor.
    pub tile: Option<TileScale>,
    /// The peak it computes on; `None` is storage only (dequantized as a weight, refused for activations).
    pub class: Option<ComputeClass>,
    /// Mean bits per weight of a published file of this name, where it differs.
    pub file_bits: Option<f64>,
}

/// A scale that a tile of a weight shares. Inputs and caches are quantized row by row, so there it is one of `cols` elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TileScale {
    /// Rows of the tile (N).
    pub rows: u64,
    /// Columns of the tile (K).
    pub cols: u64,
    /// Bits of the scale.
    pub bits: f64,
}

/// What is known of a format beyond its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FormatFacts {
    /// Layout of an element.
    pub layout: &'static str,
    /// Scales and zero points in words; empty without any.
    pub scale: &'static str,
    /// Usual way to produce it.
    pub method: &'static str,
    /// Known loss of quality, with its own source; empty when unknown.
    pub accuracy: &'static str,
    /// Source of `accuracy`.
    pub accuracy_source: &'static str,
    /// NVIDIA compute capabilities whose tensor cores take it.
    pub nvidia: &'static [&'static str],
    /// Other hardware that takes it.
    pub other_native: &'static [&'static str],
    /// torchao configuration; empty when there is none.
    pub torchao: &'static str,
    /// Remarks.
    pub notes: &'static str,
    /// Source of the row.
    pub source: &'static str,
    /// How sure the row is.
    pub provenance: Provenance,
}

impl QuantFormat {
    /// Bits of one element of a weight, scales spread over the block and the tile [bit].
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

    /// Bytes of one element of a weight, scales spread likewise; channel and tensor scales are not in it.
    pub fn bytes_per_element(&self) -> f64 {
        self.bits_per_element() / 8.0
    }

    /// Bytes of one element of an input or of a cache, which are quantized row by row: no scale is shared between rows.
    ///
    /// ```
    /// let fp8 = calc_core::catalog::format("fp8_block128").unwrap();
    /// assert_eq!(fp8.row_bytes_per_element(), (8.0 + 32.0 / 128.0) / 8.0);
    /// ```
    pub fn row_bytes_per_element(&self) -> f64 {
        let tile = self.tile.map_or(0.0, |tile| tile.bits / tile.cols as f64);
        (self.block_bits / self.block as f64 + tile) / 8.0
    }

    /// Bytes of a matrix as stored: whole blocks along K, channel and tensor scales, and a scale for every tile.
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

    /// True when the last block of a row of `cols` elements is only partly used.
    pub fn pads(&self, cols: u64) -> bool {
        !cols.is_multiple_of(self.block)
    }
}
