//! Integers in groups as formats of the catalog.

use super::QuantizerFormats;
use crate::catalog::formats;
use crate::hf_config::Remark;

/// Integers with one scale per group of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grouped {
    pub(super) bits: u64,
    /// Number of weights per scale; `None` for one scale per row.
    pub(super) group: Option<u64>,
    pub(super) zeros: Zeros,
}

/// The zero points of a group of integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zeros {
    None,
    /// Packed like the weights (GPTQ, AWQ).
    Packed,
    /// In 16 bits (MLX).
    Half,
}

impl Grouped {
    /// Bits per weight with scales of 16 bits; `None` where there is no group.
    fn exact_bits(self) -> Option<f64> {
        let zeros = match self.zeros {
            Zeros::None => 0,
            Zeros::Packed => self.bits,
            Zeros::Half => 16,
        };
        let group = self.group.filter(|&group| group > 0)?;
        Some(self.bits as f64 + (16 + zeros) as f64 / group as f64)
    }
}

/// The catalog format of grouped integers, or the nearest in size with the bytes of the file, and a remark.
pub(super) fn integers(stored: Grouped) -> Option<QuantizerFormats> {
    let Grouped { bits, group, zeros } = stored;
    let is_packed = zeros == Zeros::Packed;
    let (format, exact) = match (bits, group, zeros) {
        (4, Some(128), Zeros::Packed) => (&formats::INT4_GPTQ_G128, true),
        (4, Some(128), Zeros::None) => (&formats::INT4_G128_SYM, true),
        (4, Some(128), Zeros::Half) => (&formats::INT4_G128, true),
        (4, Some(32), Zeros::None) | (4, Some(64), Zeros::Half) => (&formats::INT4_G32_SYM, true),
        (4, Some(32), Zeros::Half) => (&formats::INT4_G32, true),
        (4, Some(32), Zeros::Packed) => (&formats::INT4_G32, false),
        (4, _, _) if is_packed => (&formats::INT4_GPTQ_G128, false),
        (4, _, _) => (&formats::INT4_G128_SYM, false),
        (8, Some(128), Zeros::None) => (&formats::INT8_G128, true),
        (8, None, _) => (&formats::INT8, true),
        (8, Some(_), _) | (5 | 6, _, Zeros::Half) => (&formats::INT8_G128, false),
        (3, Some(128), Zeros::None) => (&formats::INT3_G128, true),
        (3, _, _) => (&formats::INT3_G128, false),
        (2, Some(64), Zeros::None) => (&formats::INT2_G64, true),
        (2, _, _) => (&formats::INT2_G64, false),
        _ => return None,
    };
    let remark = (!exact).then_some(Remark::FormatRounded { bits, group, format });
    let of_file = stored.exact_bits().filter(|_| !exact);
    let factor = of_file.map_or(1.0, |bits| bits / format.bits_per_element());
    Some(QuantizerFormats { factor, remark, ..QuantizerFormats::weight_only(format) })
}
