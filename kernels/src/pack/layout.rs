//! The layouts: which catalog format each stores, and how many bytes of a row lie in which plane.

use calc_core::quant_format::QuantFormat;

/// How a matrix of weights lies in memory, row by row along K.
///
/// A row has codes, and where the layout keeps them apart, scales and zero points. The layouts of GGUF have their scales
/// between the codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// IEEE 754 binary32.
    Fp32,
    /// IEEE 754 binary16.
    Fp16,
    /// The upper half of binary32.
    Bf16,
    /// OCP E4M3 (fn: no infinity), an FP32 scale per tensor that multiplies.
    Fp8E4m3,
    /// OCP E5M2, an FP32 scale per tensor that multiplies.
    Fp8E5m2,
    /// Two's complement, an FP32 scale per row.
    Int8,
    /// Two's complement, a BF16 scale per 128.
    Int8G128,
    /// Nibbles `q` of w = (q − z)·s; BF16 scale and BF16 zero point (a whole number) per 32.
    Int4G32,
    /// Nibbles `q` of w = (q − 8)·s; a BF16 scale per 32.
    Int4G32Sym,
    /// As [`Layout::Int4G32`], per 128.
    Int4G128,
    /// As [`Layout::Int4G32Sym`], per 128.
    Int4G128Sym,
    /// Nibbles into the sixteen quantiles of a normal distribution, high nibble first; an FP32 maximum per 64.
    Nf4,
    /// E2M1, low nibble first; a power of two (E8M0) per 32.
    Mxfp4,
    /// E2M1, low nibble first; an E4M3 scale per 16, an FP32 scale per tensor that divides.
    Nvfp4,
    /// GGUF: FP16 scale, then 32 bytes in two's complement.
    GgufQ8_0,
    /// GGUF: FP16 scale, then 16 bytes; byte j has element j low and element j + 16 high.
    GgufQ4_0,
}

/// What the bytes of a layout differ by from the catalog's row of the format, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// The layout.
    pub layout: Layout,
    /// Bits of a block more (or fewer) than the catalog says.
    pub bits_per_block: i32,
    /// Why.
    pub why: &'static str,
}

/// All layouts whose bytes are not those of the catalog. Everything else is tied to it by a test.
pub const DIFFERENCES: &[Difference] = &[Difference {
    layout: Layout::Int4G32Sym,
    bits_per_block: -16,
    why: "the catalog has groups of 32 only with a zero point; the symmetric layout has none",
}];

impl Layout {
    /// All layouts, wide ones first.
    pub const ALL: [Self; 16] = [
        Self::Fp32,
        Self::Fp16,
        Self::Bf16,
        Self::Fp8E4m3,
        Self::Fp8E5m2,
        Self::Int8,
        Self::Int8G128,
        Self::Int4G32,
        Self::Int4G32Sym,
        Self::Int4G128,
        Self::Int4G128Sym,
        Self::Nf4,
        Self::Mxfp4,
        Self::Nvfp4,
        Self::GgufQ8_0,
        Self::GgufQ4_0,
    ];

    /// Key of the layout: that of the catalog where the catalog has a row for it alone.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Int4G32Sym => "int4_g32_sym",
            _ => self.format_key(),
        }
    }

    /// Key of the catalog format that it stores.
    pub const fn format_key(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Fp16 => "fp16",
            Self::Bf16 => "bf16",
            Self::Fp8E4m3 => "fp8_e4m3",
            Self::Fp8E5m2 => "fp8_e5m2",
            Self::Int8 => "int8",
            Self::Int8G128 => "int8_g128",
            Self::Int4G32 | Self::Int4G32Sym => "int4_g32",
            Self::Int4G128 => "int4_g128",
            Self::Int4G128Sym => "int4_g128_sym",
            Self::Nf4 => "nf4",
            Self::Mxfp4 => "mxfp4",
            Self::Nvfp4 => "nvfp4",
            Self::GgufQ8_0 => "gguf_q8_0",
            Self::GgufQ4_0 => "gguf_q4_0",
        }
    }

    /// The layout of a key, if there is one.
    pub fn by_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.key() == key)
    }

    /// The catalog format that it stores.
    ///
    /// # Panics
    /// Never: a test looks up the key of every layout.
    pub fn format(self) -> &'static QuantFormat {
        calc_core::catalog::format(self.format_key()).expect("a test looks up every layout's key")
    }

    /// Elements along K that share a scale; 1 where none is shared along a part of K.
    pub const fn block(self) -> usize {
        match self {
            Self::Fp32 | Self::Fp16 | Self::Bf16 | Self::Fp8E4m3 | Self::Fp8E5m2 | Self::Int8 => 1,
            Self::Nvfp4 => 16,
            Self::Int4G32 | Self::Int4G32Sym | Self::Mxfp4 | Self::GgufQ8_0 | Self::GgufQ4_0 => 32,
            Self::Nf4 => 64,
            Self::Int8G128 | Self::Int4G128 | Self::Int4G128Sym => 128,
        }
    }

    /// Bytes of codes in a block.
    pub const fn block_code_bytes(self) -> usize {
        match self {
            Self::Fp32 => 4,
            Self::Fp16 | Self::Bf16 => 2,
            Self::Fp8E4m3 | Self::Fp8E5m2 | Self::Int8 => 1,
            Self::Int8G128 => 128,
            Self::Int4G32 | Self::Int4G32Sym | Self::Mxfp4 => 16,
            Self::Int4G128 | Self::Int4G128Sym => 64,
            Self::Nf4 => 32,
            Self::Nvfp4 => 8,
            Self::GgufQ8_0 => 34,
            Self::GgufQ4_0 => 18,
        }
    }

    /// Bytes of scales in a block, where they have a plane of their own.
    pub const fn block_scale_bytes(self) -> usize {
        match self {
            Self::Nf4 => 4,
            Self::Int8G128
            | Self::Int4G32
            | Self::Int4G32Sym
            | Self::Int4G128
            | Self::Int4G128Sym => 2,
            Self::Mxfp4 | Self::Nvfp4 => 1,
            Self::Fp32
            | Self::Fp16
            | Self::Bf16
            | Self::Fp8E4m3
            | Self::Fp8E5m2
            | Self::Int8
            | Self::GgufQ8_0
            | Self::GgufQ4_0 => 0,
        }
    }

    /// Bytes of zero points in a block.
    pub const fn block_zero_bytes(self) -> usize {
        match self {
            Self::Int4G32 | Self::Int4G128 => 2,
            _ => 0,
        }
    }

    /// Blocks of a row of `cols` elements; the last is stored whole.
    pub const fn blocks(self, cols: usize) -> usize {
        cols.div_ceil(self.block())
    }

    /// Bytes of codes in a row.
    pub const fn row_code_bytes(self, cols: usize) -> usize {
        self.blocks(cols) * self.block_code_bytes()
    }

    /// Bytes of scales in a row; `int8` has one for the whole row.
    pub const fn row_scale_bytes(self, cols: usize) -> usize {
        match self {
            Self::Int8 => 4,
            _ => self.blocks(cols) * self.block_scale_bytes(),
        }
    }

    /// Bytes of zero points in a row.
    pub const fn row_zero_bytes(self, cols: usize) -> usize {
        self.blocks(cols) * self.block_zero_bytes()
    }

    /// Bytes that the tensor has beside its rows: an FP32 scale, or nothing.
    pub const fn tensor_bytes(self) -> usize {
        match self {
            Self::Fp8E4m3 | Self::Fp8E5m2 | Self::Nvfp4 => 4,
            _ => 0,
        }
    }

    /// Bytes of a matrix.
    pub const fn bytes(self, rows: usize, cols: usize) -> usize {
        let row =
            self.row_code_bytes(cols) + self.row_scale_bytes(cols) + self.row_zero_bytes(cols);
        rows * row + self.tensor_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_layout_are_those_of_the_catalog_but_for_the_table() {
        for layout in Layout::ALL {
            let format = layout.format();
            assert_eq!(layout.block() as u64, format.block, "{layout:?}");
            let more = DIFFERENCES.iter().find(|d| d.layout == layout);
            for (rows, cols) in [(1, 1), (3, 127), (5, 128), (2, 129), (7, 5000)] {
                let stored = format.stored_bytes(rows as u64, cols as u64).get();
                let bits = more.map_or(0.0, |d| f64::from(d.bits_per_block));
                let expected = stored + bits / 8.0 * (rows * layout.blocks(cols)) as f64;
                let got = layout.bytes(rows, cols) as f64;
                assert!((got - expected).abs() < 0.5, "{layout:?}: {got} B, not {expected} B");
            }
        }
    }

    #[test]
    fn a_difference_is_a_difference() {
        for difference in DIFFERENCES {
            assert_ne!(difference.bits_per_block, 0);
            assert!(!difference.why.is_empty());
        }
    }

    #[test]
    fn a_key_leads_back_to_its_layout() {
        for layout in Layout::ALL {
            assert_eq!(Layout::by_key(layout.key()), Some(layout));
        }
        assert_eq!(Layout::by_key("fp31"), None);
    }
}
