//! Numbers typed by people, the same on the command line, in JSON texts and on the page: `4096`, `4,096`, `4_096`, `1e6`, `8k`.
//!
//! In counts (tokens, rows, bytes) k is 1,024 and M is 1,048,576, because an 8k context has 8,192 tokens; in other quantities
//! they are 1,000 and 1,000,000. Amounts of memory may have a unit: `24GB` is the bare number of its field, `24GiB` is 24 times
//! 2^30 bytes. Any other unit is refused.

mod decimal;

/// Parses a count; `None` for other texts and for numbers beyond `u64`.
pub fn count(typed: &str) -> Option<u64> {
    let Parts { text, power } = Parts::of(typed)?;
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
    if ![before, after, exponent].into_iter().all(is_digits) {
        return None;
    }
    let after = after.trim_end_matches('0');
    let digits: u128 = format!("{before}{after}").parse().ok()?;
    let ten = |exponent: u32| 10_u128.checked_pow(exponent);
    let scaled =
        digits.checked_mul(ten(exponent.parse().ok()?)?)?.checked_mul(1024_u128.pow(power))?;
    let parts = ten(u32::try_from(after.len()).ok()?)?;
    if scaled % parts == 0 { u64::try_from(scaled / parts).ok() } else { None }
}

/// Parses a count that may be fractional or beyond `u64`, so that a message can name the reason of the refusal.
pub fn count_as_real(typed: &str) -> Option<f64> {
    let Parts { text, power } = Parts::of(typed)?;
    let factor = [1.0, 1024.0, 1_048_576.0].get(power as usize)?;
    decimal::read(plain(&text)?).map(|value| value * factor)
}

/// Rewrites a quantity without prefix and separators: `1.5e3` for `1.5k`.
fn quantity(typed: &str) -> Option<String> {
    let Parts { text, power } = Parts::of(typed)?;
    let text = plain(&text)?;
    Some(if power == 0 { text.to_owned() } else { format!("{text}e{}", 3 * power) })
}

/// Parses a quantity; a value beyond the range of `f64` is infinite.
pub fn real(typed: &str) -> Option<f64> {
    decimal::read(&quantity(typed)?)
}

/// Parses an amount of memory as a number of `unit` [B], the unit of a bare number: `24`, `24G`, `24 GB`, and `24GiB` in 2^30
/// bytes.
pub fn memory(typed: &str, unit: f64) -> Option<f64> {
    const GIB: f64 = 1_073_741_824.0;
    let typed = typed.trim().to_ascii_lowercase();
    let binary = ["gib", "gi"].iter().find_map(|name| typed.strip_suffix(name));
    if let Some(number) = binary {
        return real(number).map(|number| number * GIB / unit);
    }
    let plain = ["gb", "g"].iter().find_map(|name| typed.strip_suffix(name));
    real(plain.unwrap_or(&typed))
}

/// The text, if it has only digits, a point, a sign and an exponent.
fn plain(text: &str) -> Option<&str> {
    let is_plain = |byte: u8| byte.is_ascii_digit() || b".eE+-".contains(&byte);
    (text.bytes().any(|byte| byte.is_ascii_digit()) && text.bytes().all(is_plain)).then_some(text)
}

/// A number without separators, and the power of its prefix: 1 for k, 2 for M.
struct Parts {
    text: String,
    power: u32,
}

impl Parts {
    fn of(typed: &str) -> Option<Self> {
        let typed = typed.trim();
        let (number, power) = match typed.strip_suffix(['k', 'K']) {
            Some(number) => (number, 1),
            None => typed.strip_suffix('M').map_or((typed, 0), |number| (number, 2)),
        };
        let number = number.trim_end();
        // `1e3k` would be scaled twice.
        if power > 0 && number.contains(['e', 'E']) {
            return None;
        }
        Some(Self { text: ungrouped(number)?, power })
    }
}

/// The number without the separators between thousands: commas or spaces between groups of three, underscores anywhere.
fn ungrouped(number: &str) -> Option<String> {
    let separators = |letter: char| letter == ',' || letter.is_whitespace();
    let whole = number.find(['.', 'e', 'E']).map_or(number, |end| &number[..end]);
    let mut groups = whole.split(separators);
    let first = groups.next()?.trim_start_matches(['-', '+']);
    let rest: Vec<&str> = groups.collect();
    let is_grouped = (1..=3).contains(&first.len()) && rest.iter().all(|group| group.len() == 3);
    let behind = number[whole.len()..].contains(separators);
    let doubled = number.as_bytes().windows(2).any(|pair| pair == b"__");
    let apart = !number.starts_with('_') && !number.ends_with('_') && !doubled;
    if behind || !apart || !rest.is_empty() && (!is_grouped || number.contains('_')) {
        return None;
    }
    Some(number.chars().filter(|letter| *letter != '_' && !separators(*letter)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_they_are_written() {
        for (typed, expected) in [
            ("1", 1),
            (" 4096 ", 4096),
            ("28\u{202f}672", 28_672),
            ("28 672", 28_672),
            ("4,096", 4096),
            ("1,000,000", 1_000_000),
            ("1_000", 1000),
            ("1e3", 1000),
            ("1e6", 1_000_000),
            ("1e9", 1_000_000_000),
            ("1.5E3", 1500),
            ("1.50e1", 15),
            ("2e+2", 200),
            ("0e9", 0),
            ("007", 7),
            ("4.0", 4),
            ("8k", 8192),
            ("8K", 8192),
            ("128 k", 131_072),
            ("1.5k", 1536),
            ("1M", 1_048_576),
        ] {
            assert_eq!(count(typed), Some(expected), "{typed:?}");
        }
    }

    #[test]
    fn texts_that_are_not_counts_are_refused() {
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
            "1e20",
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
            "1 5",
            "8kk",
            "8kB",
            "8m",
            "1e3k",
            "0.3k",
            "k",
            "M",
            "_1",
            "1__0",
            "1_000,000",
            "1.5 tokens",
            "1e99999999999999999999",
            "99999999999999999999999999999999999999",
            "99999999999999999999999999999999999999999999k",
        ] {
            assert_eq!(count(typed), None, "{typed:?}");
        }
        assert_eq!(count_as_real("0.5k"), Some(512.0));
        assert_eq!(count_as_real("1e30"), Some(1e30));
    }

    #[test]
    fn memory_may_have_its_unit() {
        let gib = 1_073_741_824.0;
        for (typed, decimal, as_sold) in [
            ("24", 24.0, 24.0),
            ("24GB", 24.0, 24.0),
            ("24 gb", 24.0, 24.0),
            ("24G", 24.0, 24.0),
            ("24GiB", 24.0 * gib / 1e9, 24.0),
            ("24 GiB", 24.0 * gib / 1e9, 24.0),
            ("1.5 Gi", 1.5 * gib / 1e9, 1.5),
        ] {
            assert_eq!(memory(typed, 1e9), Some(decimal), "{typed}");
            assert_eq!(memory(typed, gib), Some(as_sold), "{typed}");
        }
        for typed in ["", "GB", "24 GBs", "24 ms", "24GiBGB", "24 B"] {
            assert_eq!(memory(typed, 1e9), None, "{typed}");
        }
    }

    #[test]
    fn prefixes_of_quantities_are_decimal() {
        for (typed, expected) in [
            ("3.8", 3.8),
            (" 1 024 ", 1024.0),
            ("1e-3", 1e-3),
            ("-2", -2.0),
            ("2k", 2000.0),
            ("1.5M", 1.5e6),
            ("1,555.5", 1555.5),
        ] {
            assert!(
                real(typed).is_some_and(|found| (found / expected - 1.0).abs() < 1e-15),
                "{typed}"
            );
        }
        for typed in [
            "", " ", "x", "1,5", "0x10", "NaN", "inf", "Infinity", "1.2.3", "--1", "e5", "5 ms",
            "2e3k",
        ] {
            assert_eq!(real(typed), None, "{typed:?}");
        }
        assert_eq!(real("1e999"), Some(f64::INFINITY));
    }
}
