//! Rounding to small integers, with saturation.

/// Nearest integer within `low ..= high`, ties to even. NaN becomes 0.
#[expect(clippy::cast_possible_truncation, reason = "the value was clamped to a range of i16")]
pub(super) fn half_to_even(value: f32, low: i16, high: i16) -> i16 {
    value.round_ties_even().clamp(f32::from(low), f32::from(high)) as i16
}

/// Nearest integer within `low ..= high`, ties away from zero as in GGUF. NaN becomes 0.
#[expect(clippy::cast_possible_truncation, reason = "the value was clamped to a range of i16")]
pub(super) fn half_away_from_zero(value: f32, low: i16, high: i16) -> i16 {
    value.round().clamp(f32::from(low), f32::from(high)) as i16
}

/// Integer part within `low ..= high`. NaN becomes 0.
#[expect(clippy::cast_possible_truncation, reason = "the value was clamped to a range of i16")]
pub(super) fn toward_zero(value: f32, low: i16, high: i16) -> i16 {
    value.clamp(f32::from(low), f32::from(high)) as i16
}

/// The low byte: an integer from −128 to 127 in two's complement, or one from 0 to 255.
pub(super) fn byte(value: i16) -> u8 {
    value.to_le_bytes()[0]
}

/// Largest magnitude; 0 for an empty slice.
pub(super) fn largest(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_where_each_rule_says() {
        for (value, even, from_zero, towards) in [
            (0.5, 0, 1, 0),
            (1.5, 2, 2, 1),
            (-2.5, -2, -3, -2),
            (9.0, 7, 7, 7),
            (f32::NAN, 0, 0, 0),
        ] {
            assert_eq!(half_to_even(value, -8, 7), even);
            assert_eq!(half_away_from_zero(value, -8, 7), from_zero);
            assert_eq!(toward_zero(value, -8, 7), towards);
        }
    }
}
