//! Numbers of a geometry in a link, and the places of its words, in all versions.

use calc_core::model_arch::{AttentionBias, GgufLayout, MlpKind, NormKind, QkNorm};

/// Separator of the parts of a geometry.
pub(super) const GROUP: char = '.';
/// Separator of the numbers of a row.
pub(super) const NUMBER: char = '-';

pub(super) const BIASES: [AttentionBias; 3] =
    [AttentionBias::None, AttentionBias::Qkv, AttentionBias::Qkvo];
pub(super) const QK_NORMS: [QkNorm; 4] =
    [QkNorm::None, QkNorm::Head, QkNorm::Projection, QkNorm::Keys];
pub(super) const MLPS: [MlpKind; 2] = [MlpKind::Gated, MlpKind::Plain];
pub(super) const NORMS: [NormKind; 3] =
    [NormKind::RmsNorm, NormKind::LayerNorm, NormKind::NoParameters];
pub(super) const LAYOUTS: [GgufLayout; 3] =
    [GgufLayout::Split, GgufLayout::FusedQkv, GgufLayout::Falcon];
pub(super) fn numbers(group: &str) -> Option<Vec<u64>> {
    if group.is_empty() {
        return Some(Vec::new());
    }
    group.split(NUMBER).map(|digits| u64::from_str_radix(digits, 16).ok()).collect()
}

pub(super) fn flag(number: u64) -> Option<bool> {
    nth(&[false, true], number)
}

pub(super) fn nth<T: Copy>(all: &[T], place: u64) -> Option<T> {
    all.get(usize::try_from(place).ok()?).copied()
}

/// The numbers of a row that are not read yet; those left out at its end are 0.
pub(super) struct Row<'a>(pub(super) core::slice::Iter<'a, u64>);

impl Row<'_> {
    pub(super) fn next(&mut self) -> u64 {
        self.0.next().copied().unwrap_or(0)
    }

    /// True if no number is left.
    pub(super) fn is_read(&self) -> bool {
        self.0.as_slice().is_empty()
    }

    /// The next number as flags; `None` if it has more of them.
    pub(super) fn flags<const N: usize>(&mut self) -> Option<[bool; N]> {
        let number = self.next();
        (number >> N == 0).then(|| core::array::from_fn(|place| number >> place & 1 == 1))
    }
}
