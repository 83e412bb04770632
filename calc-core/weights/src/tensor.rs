//! A tensor of a weight file, and the types that its elements may have.
//!
//! Types and numbers: ggml.h and `gguf.constants` of the Python package gguf 0.19.0, and the types of safetensors 0.8.0.
//! Sizes of blocks are those of `calc_core::catalog::formats` where that has the format.

use calc_core::catalog::formats as f;
use calc_core::quant_format::QuantFormat;

/// A tensor as the header states it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    pub name: String,
    /// Sizes from the outermost to the innermost, as PyTorch prints them; GGUF stores them in reverse.
    pub shape: Vec<u64>,
    pub kind: &'static TensorType,
    /// Size of the data [byte].
    pub bytes: u64,
    /// Place of the data in the file [byte].
    pub offset: u64,
}

impl Tensor {
    /// Stored elements; a packed one may hold several weights.
    pub fn elements(&self) -> u64 {
        elements(&self.shape).unwrap_or(u64::MAX)
    }

    /// The place after the data in the file [byte].
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// True for at most one size above 1: norms, biases, scales.
    pub fn is_vector(&self) -> bool {
        self.shape.iter().filter(|&&size| size > 1).count() <= 1
    }
}

/// The product of all sizes; `None` above 64 bits.
pub(crate) fn elements(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1_u64, |product, size| product.checked_mul(*size))
}

/// A type of elements: a block of them and its size.
#[derive(Debug, PartialEq)]
pub struct TensorType {
    /// Name in the format's own words: `Q4_K`, `BF16`.
    pub name: &'static str,
    /// Catalog format with the same block.
    pub format: Option<&'static QuantFormat>,
    size: Size,
}

/// Elements and bits of a block.
#[derive(Debug, PartialEq)]
enum Size {
    /// The block of the catalog format.
    Catalog,
    Own {
        block: u64,
        bits: u64,
    },
}

impl TensorType {
    const fn catalog(name: &'static str, format: &'static QuantFormat) -> Self {
        Self { name, format: Some(format), size: Size::Catalog }
    }

    const fn own(name: &'static str, block: u64, bits: u64) -> Self {
        Self { name, format: None, size: Size::Own { block, bits } }
    }

    /// Number of elements in a block.
    pub fn block(&self) -> u64 {
        match (&self.size, self.format) {
            (Size::Own { block, .. }, _) => *block,
            (Size::Catalog, format) => format.map_or(1, |format| format.block),
        }
    }

    /// Bits of a block.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bits of a block are whole numbers under 10,000"
    )]
    pub fn block_bits(&self) -> u64 {
        match (&self.size, self.format) {
            (Size::Own { bits, .. }, _) => *bits,
            (Size::Catalog, format) => format.map_or(0, |format| format.block_bits as u64),
        }
    }

    /// Mean bits per element.
    pub fn bits_per_element(&self) -> f64 {
        self.block_bits() as f64 / self.block() as f64
    }

    /// Bytes of `elements`, which are whole blocks; `None` if they end inside a byte.
    pub(crate) fn bytes(&self, elements: u64) -> Option<u64> {
        let bits = u128::from(elements / self.block()) * u128::from(self.block_bits());
        if bits % 8 == 0 { u64::try_from(bits / 8).ok() } else { None }
    }

    /// True for the floats in which unquantized weights are stored.
    pub fn is_plain_float(&self) -> bool {
        ["F64", "F32", "F16", "BF16"].contains(&self.name)
    }
}

/// Types of GGUF by number. Numbers that ggml has taken back (4, 5, 31 to 33, 36 to 38) are missing.
pub static GGML_TYPES: &[(u32, TensorType)] = &[
    (0, TensorType::catalog("F32", &f::FP32)),
    (1, TensorType::catalog("F16", &f::FP16)),
    (2, TensorType::catalog("Q4_0", &f::GGUF_Q4_0)),
    (3, TensorType::catalog("Q4_1", &f::GGUF_Q4_1)),
    (6, TensorType::catalog("Q5_0", &f::GGUF_Q5_0)),
    (7, TensorType::catalog("Q5_1", &f::GGUF_Q5_1)),
    (8, TensorType::catalog("Q8_0", &f::GGUF_Q8_0)),
    (9, TensorType::own("Q8_1", 32, 320)),
    (10, TensorType::catalog("Q2_K", &f::GGUF_Q2_K)),
    (11, TensorType::catalog("Q3_K", &f::GGUF_Q3_K)),
    (12, TensorType::catalog("Q4_K", &f::GGUF_Q4_K)),
    (13, TensorType::catalog("Q5_K", &f::GGUF_Q5_K)),
    (14, TensorType::catalog("Q6_K", &f::GGUF_Q6_K)),
    (15, TensorType::own("Q8_K", 256, 2336)),
    (16, TensorType::own("IQ2_XXS", 256, 528)),
    (17, TensorType::own("IQ2_XS", 256, 592)),
    (18, TensorType::own("IQ3_XXS", 256, 784)),
    (19, TensorType::own("IQ1_S", 256, 400)),
    (20, TensorType::catalog("IQ4_NL", &f::GGUF_IQ4_NL)),
    (21, TensorType::own("IQ3_S", 256, 880)),
    (22, TensorType::own("IQ2_S", 256, 656)),
    (23, TensorType::catalog("IQ4_XS", &f::GGUF_IQ4_XS)),
    (24, TensorType::own("I8", 1, 8)),
    (25, TensorType::own("I16", 1, 16)),
    (26, TensorType::own("I32", 1, 32)),
    (27, TensorType::own("I64", 1, 64)),
    (28, TensorType::catalog("F64", &f::FP64)),
    (29, TensorType::own("IQ1_M", 256, 448)),
    (30, TensorType::catalog("BF16", &f::BF16)),
    (34, TensorType::catalog("TQ1_0", &f::GGUF_TQ1_0)),
    (35, TensorType::catalog("TQ2_0", &f::GGUF_TQ2_0)),
    (39, TensorType::catalog("MXFP4", &f::GGUF_MXFP4)),
    (40, TensorType::catalog("NVFP4", &f::GGUF_NVFP4)),
    (41, TensorType::own("Q1_0", 128, 144)),
];

/// Types of safetensors, by their names in the header.
pub static SAFETENSORS_TYPES: &[TensorType] = &[
    TensorType::own("BOOL", 1, 8),
    TensorType::own("F4", 1, 4),
    TensorType::own("F6_E2M3", 1, 6),
    TensorType::own("F6_E3M2", 1, 6),
    TensorType::own("U8", 1, 8),
    TensorType::own("I8", 1, 8),
    TensorType::catalog("F8_E5M2", &f::FP8_E5M2),
    TensorType::catalog("F8_E4M3", &f::FP8_E4M3),
    TensorType::own("F8_E8M0", 1, 8),
    TensorType::own("F8_E4M3FNUZ", 1, 8),
    TensorType::own("F8_E5M2FNUZ", 1, 8),
    TensorType::own("I16", 1, 16),
    TensorType::own("U16", 1, 16),
    TensorType::catalog("F16", &f::FP16),
    TensorType::catalog("BF16", &f::BF16),
    TensorType::own("I32", 1, 32),
    TensorType::own("U32", 1, 32),
    TensorType::catalog("F32", &f::FP32),
    TensorType::own("C64", 1, 64),
    TensorType::catalog("F64", &f::FP64),
    TensorType::own("I64", 1, 64),
    TensorType::own("U64", 1, 64),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_the_catalog_are_those_of_ggml() {
        // Bytes of a block as `gguf.constants.GGML_QUANT_SIZES` has them.
        for (name, block, bytes) in [
            ("Q4_0", 32, 18),
            ("Q5_1", 32, 24),
            ("Q8_0", 32, 34),
            ("Q2_K", 256, 84),
            ("Q3_K", 256, 110),
            ("Q4_K", 256, 144),
            ("Q6_K", 256, 210),
            ("IQ4_XS", 256, 136),
            ("IQ1_S", 256, 50),
            ("TQ1_0", 256, 54),
            ("MXFP4", 32, 17),
            ("NVFP4", 64, 36),
            ("BF16", 1, 2),
        ] {
            let (_, kind) = GGML_TYPES.iter().find(|(_, kind)| kind.name == name).expect(name);
            assert_eq!((kind.block(), kind.bytes(kind.block())), (block, Some(bytes)), "{name}");
        }
    }
}
