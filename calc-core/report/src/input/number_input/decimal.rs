//! A decimal number as `f64`. The standard library's parser has a table of 10 kB that no compression makes smaller: it was 4 %
//! of what every visitor of the page fetched.

/// The digits of a number as a whole number, and the power of ten that belongs to it.
#[derive(Debug, Default)]
struct Digits {
    whole: u64,
    power: i64,
    /// There was at least one digit.
    any: bool,
}

/// Reads digits with an optional sign, point and exponent; `None` for other texts.
///
/// The result is the nearest `f64` for up to 19 digits where the power of ten behind them is from -19 to 19, so for everything
/// from 0.01 that the page writes. Elsewhere some last bits may differ, and what is beyond the range is infinite or zero.
pub(super) fn read(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, power(exponent)?),
        None => (text, 0),
    };
    let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
    let Digits { whole, power, any } = digits(unsigned)?;
    let size = scaled(whole, power.saturating_add(exponent));
    any.then_some(if mantissa.starts_with('-') { -size } else { size })
}

/// An exponent, clipped to where every number is infinite or zero.
fn power(text: &str) -> Option<i64> {
    const MOST: i64 = 100_000;
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut size = 0;
    for byte in unsigned.bytes() {
        let digit = char::from(byte).to_digit(10)?;
        size = (size * 10 + i64::from(digit)).min(MOST);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    (!unsigned.is_empty()).then_some(sign * size)
}

/// Reads digits around one point. What exceeds 19 digits only counts by its place.
fn digits(text: &str) -> Option<Digits> {
    let mut digits = Digits::default();
    let mut behind = false;
    for byte in text.bytes() {
        if byte == b'.' && !behind {
            behind = true;
            continue;
        }
        let digit = char::from(byte).to_digit(10)?;
        digits.any = true;
        let longer = digits.whole.checked_mul(10).and_then(|ten| ten.checked_add(digit.into()));
        match longer {
            Some(longer) => {
                digits.whole = longer;
                digits.power -= i64::from(behind);
            }
            None => digits.power += i64::from(!behind),
        }
    }
    Some(digits)
}

/// `whole` times a power of ten.
fn scaled(whole: u64, power: i64) -> f64 {
    const STEP: u32 = 19; // the largest power of ten in 64 bits
    if whole == 0 {
        return 0.0;
    }
    let ten = |power: u64| 10_u128.pow(u32::try_from(power).map_or(STEP, |power| power.min(STEP)));
    let mut rest = power.unsigned_abs().saturating_sub(STEP.into());
    let mut value = if power < 0 {
        divided(whole, ten(power.unsigned_abs()))
    } else {
        (u128::from(whole) * ten(power.unsigned_abs())) as f64
    };
    while rest > 0 && value > 0.0 && value.is_finite() {
        let step = ten(rest) as f64;
        value = if power < 0 { value / step } else { value * step };
        rest = rest.saturating_sub(STEP.into());
    }
    value
}

/// `whole / divisor`, rounded once. The quotient has 63 bits or more, the last of which says whether anything remains.
fn divided(whole: u64, divisor: u128) -> f64 {
    let free = whole.leading_zeros();
    let long = u128::from(whole << free) << 64;
    let quotient = (long / divisor) | u128::from(long % divisor != 0);
    let unit = 1.0 / (1_u128 << 64) as f64 / (1_u128 << free) as f64;
    quotient as f64 * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers with random bits, without a library for it.
    fn random() -> impl Iterator<Item = u64> {
        std::iter::successors(Some(0x9E37_79B9_7F4A_7C15_u64), |x| {
            let x = x ^ (x << 13);
            let x = x ^ (x >> 7);
            Some(x ^ (x << 17))
        })
        .take(20_000)
    }

    #[test]
    fn what_the_page_writes_is_read_to_the_last_bit() {
        for bits in random() {
            let power = (bits % 12) as f64 - 1.0;
            let value = (0.1 + bits as f64 / u64::MAX as f64) * calc_core::math::exp10(power);
            let text = value.to_string();
            let read = read(&text).map(f64::to_bits);
            assert_eq!(read, Some(value.to_bits()), "{text}");
        }
    }

    #[test]
    fn nineteen_digits_are_rounded_as_the_standard_library_does() {
        for bits in random() {
            for power in [-19, -7, 0, 3, 19] {
                let text = format!("-{}e{power}", bits >> (bits % 60));
                let usual: f64 = text.parse().expect("a number");
                assert_eq!(read(&text).map(f64::to_bits), Some(usual.to_bits()), "{text}");
            }
        }
    }

    #[test]
    fn long_numbers_and_large_exponents_are_near() {
        let texts =
            ["1e30", "1e-30", "1.7976931348623157e308", "12345678901234567890123.5", "2.5e-300"];
        for text in texts
            .map(str::to_owned)
            .into_iter()
            .chain(["9".repeat(200), format!("0.{}7", "0".repeat(90))])
        {
            let usual: f64 = text.parse().expect("a number");
            let read = read(&text).expect("a number");
            assert!((read / usual - 1.0).abs() < 1e-14, "{text}: {read}");
        }
        for (text, value) in [
            ("1e999", f64::INFINITY),
            ("-1e99999999999999999999", -f64::INFINITY),
            ("1e-9999999999999999999", 0.0),
            ("0e999", 0.0),
        ] {
            assert_eq!(read(text), Some(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_for_the_standard_library_is_none_here() {
        for text in [
            "", ".", "-", "+.", "1.", ".5", "+1", "--1", "1.2.3", "e5", "1e", "1e+", "1e+5",
            "1e--5", "-.5e-1", "1-2", "1e5.0",
        ] {
            assert_eq!(read(text), text.parse().ok(), "{text:?}");
        }
    }
}
