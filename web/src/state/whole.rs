//! Whole numbers as people type them: `4096`, `4 096`, `4,096`, `1e3`. What could mean two things, such as `4k`, is refused.

/// The number, if the text is unambiguously one that fits.
pub fn whole(typed: &str) -> Option<u64> {
    let text: String = typed.chars().filter(|letter| !letter.is_whitespace()).collect();
    match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => scaled(mantissa, exponent),
        None if text.contains(',') => grouped(&text),
        None => digits(&text),
    }
}

fn digits(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { text.parse().ok() } else { None }
}

/// Thousands apart by commas, every group of three: `1,024` and not `1,5`.
fn grouped(text: &str) -> Option<u64> {
    let (first, rest) = text.split_once(',')?;
    let is_grouped =
        (1..=3).contains(&first.len()) && rest.split(',').all(|group| group.len() == 3);
    digits(&text.replace(',', "")).filter(|_| is_grouped)
}

/// `1.5` and `3`, as long as the number stays whole.
fn scaled(mantissa: &str, exponent: &str) -> Option<u64> {
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let after = after.trim_end_matches('0');
    let exponent = digits(exponent.strip_prefix('+').unwrap_or(exponent))?;
    let zeros = exponent.checked_sub(after.len() as u64)?;
    let power = 10_u64.checked_pow(u32::try_from(zeros).ok()?)?;
    digits(before)?;
    digits(&format!("{before}{after}"))?.checked_mul(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unambiguous_is_read() {
        for (typed, expected) in [
            ("1", 1),
            (" 4096 ", 4096),
            ("28\u{202f}672", 28_672),
            ("28 672", 28_672),
            ("4,096", 4096),
            ("1,000,000", 1_000_000),
            ("1e3", 1000),
            ("1.5E3", 1500),
            ("1.50e1", 15),
            ("2e+2", 200),
            ("0e9", 0),
            ("007", 7),
        ] {
            assert_eq!(whole(typed), Some(expected), "{typed:?}");
        }
    }

    #[test]
    fn what_is_not_is_refused() {
        for typed in [
            "",
            " ",
            "-1",
            "1.5",
            "1.5e0",
            "1e-3",
            "e3",
            "1e",
            ".5e3",
            "1e99999999999999999999",
            "1e20",
            "4k",
            "1,5",
            "1,0000",
            "1000,000",
            ",100",
            "1,,000",
            "10^30",
            "NaN",
            "inf",
            "+5",
            "0x10",
            "٣",
            "99999999999999999999999999999999999999",
        ] {
            assert_eq!(whole(typed), None, "{typed:?}");
        }
    }
}
