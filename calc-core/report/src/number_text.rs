//! Numbers as people read them: three significant digits, a prefix, a unit; facts of a datasheet as published.
//!
//! What is not here: sentences (`words`, `verdict`), and numbers for machines, which are plain JSON numbers.

use calc_core::quant_format::ComputeClass;
use calc_core::units::{
    Bytes, BytesPerSec, Flops, FlopsPerByte, FlopsPerSec, Hertz, Joules, Seconds, TokensPerSec,
    Watts,
};

/// Between a number and its unit, and between thousands: narrow, and never a line break.
pub const SPACE: char = '\u{202f}';
/// What stands for a number that is none.
pub const NO_NUMBER: &str = "–";

/// Digits that a computed number shows; more would claim a precision that no estimate has.
const COMPUTED: Digits = Digits { count: 3, keep_zeros: true };
/// Digits of a published number, which is shown as published: 102.4 GB/s.
const PUBLISHED: Digits = Digits { count: 4, keep_zeros: false };

const DECIMAL: [(i32, &str); 7] =
    [(0, ""), (3, "k"), (6, "M"), (9, "G"), (12, "T"), (15, "P"), (18, "E")];
const TIME: [(i32, &str); 4] = [(-9, "n"), (-6, "µ"), (-3, "m"), (0, "")];
const PLAIN: [(i32, &str); 1] = [(0, "")];
/// Compute peaks are compared in tera, whatever their size.
const TERA: [(i32, &str); 1] = [(12, "T")];

/// Data volume, decimal: `8.93 MB`.
pub fn bytes(value: Bytes) -> String {
    with_unit(value.get(), COMPUTED, &DECIMAL, "B")
}

/// Capacity of a memory that is sold in powers of two: `8 GiB`.
pub fn capacity(value: Bytes) -> String {
    const GIB: f64 = 1_073_741_824.0;
    const UNITS: [(f64, &str); 3] = [(GIB, "GiB"), (GIB / 1024.0, "MiB"), (1024.0, "KiB")];
    let fits = UNITS.iter().find(|(size, _)| value.get() >= *size);
    let (size, unit) = fits.copied().unwrap_or((1.0, "B"));
    with_unit(value.get() / size, PUBLISHED, &PLAIN, unit)
}

/// Bandwidth that was computed or measured: `99.2 GB/s`.
pub fn bandwidth(value: BytesPerSec) -> String {
    with_unit(value.get(), COMPUTED, &DECIMAL, "B/s")
}

/// Bandwidth as a datasheet has it: `102.4 GB/s`, `1 555 GB/s`.
pub fn published_bandwidth(value: BytesPerSec) -> String {
    with_unit(value.get(), PUBLISHED, &[(9, "G")], "B/s")
}

/// Compute rate that follows from a formula: `386 GFLOP/s`, `0.386 TOP/s`.
pub fn rate(value: FlopsPerSec, class: ComputeClass) -> String {
    with_unit(value.get(), COMPUTED, &DECIMAL, rate_unit(class))
}

/// Compute peak as a datasheet has it: `16.7 TFLOP/s`, `33.4 TOP/s`.
pub fn published_rate(value: FlopsPerSec, class: ComputeClass) -> String {
    with_unit(value.get(), PUBLISHED, &TERA, rate_unit(class))
}

/// Integers are no floating-point operations.
const fn rate_unit(class: ComputeClass) -> &'static str {
    match class {
        ComputeClass::Int8 | ComputeClass::Int4 => "OP/s",
        ComputeClass::Fp64
        | ComputeClass::Fp32
        | ComputeClass::Tf32
        | ComputeClass::Fp16
        | ComputeClass::Bf16
        | ComputeClass::Fp8
        | ComputeClass::Fp6
        | ComputeClass::Fp4 => "FLOP/s",
    }
}

/// Work: `33.6 MFLOP`.
pub fn flops(value: Flops) -> String {
    with_unit(value.get(), COMPUTED, &DECIMAL, "FLOP")
}

/// Time: `87.2 µs`.
pub fn time(value: Seconds) -> String {
    with_unit(value.get(), COMPUTED, &TIME, "s")
}

/// An interval of time in the unit of its slow end: `68.7–183 µs`.
pub fn time_range(low: Seconds, high: Seconds) -> String {
    let Some(high) = Decimal::of(high.get(), COMPUTED) else {
        return format!("{}–{}", time(low), time(high));
    };
    let (exponent, prefix) = high.prefix(&TIME);
    let low = Decimal::of(low.get(), COMPUTED)
        .map_or_else(|| NO_NUMBER.to_owned(), |low| low.shifted(exponent));
    format!("{low}–{}{SPACE}{prefix}s", high.shifted(exponent))
}

/// Arithmetic intensity: `3.77 FLOP/B`.
pub fn intensity(value: FlopsPerByte) -> String {
    with_unit(value.get(), COMPUTED, &PLAIN, "FLOP/B")
}

/// Power: `25 W`.
pub fn power(value: Watts) -> String {
    with_unit(value.get(), PUBLISHED, &PLAIN, "W")
}

/// Energy: `1.24 J`.
pub fn energy(value: Joules) -> String {
    with_unit(value.get(), COMPUTED, &[(-3, "m"), (0, ""), (3, "k")], "J")
}

/// Clock: `1 020 MHz`.
pub fn clock(value: Hertz) -> String {
    with_unit(value.get(), PUBLISHED, &[(6, "M")], "Hz")
}

/// Token rate: `41.3 token/s`.
pub fn token_rate(value: TokensPerSec) -> String {
    with_unit(value.get(), COMPUTED, &PLAIN, "token/s")
}

/// How many times: `3.83×`.
pub fn ratio(value: f64) -> String {
    format!("{}×", plain(value))
}

/// A share as percent, whole above one percent: `98 %`. Nearly all is never shown as all.
pub fn percent(share: f64) -> String {
    let text = match share {
        share if share > 0.995 && share < 1.0 => "> 99".to_owned(),
        share if share > 0.0 && share < 0.005 => "< 1".to_owned(),
        share if share.is_finite() => {
            grouped(&format!("{:.0}", if share == 0.0 { 0.0 } else { share * 100.0 }))
        }
        share => plain(share),
    };
    format!("{text}{SPACE}%")
}

/// A count with its thousands apart: `28 672`. Exact, because a count is no estimate.
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// A computed number without a unit: three digits, `3.77`, `1 370`.
pub fn plain(value: f64) -> String {
    with_prefix(value, COMPUTED, &PLAIN).0
}

/// A published number without a unit, or one in a sentence: `4.25`, `163`, no zeros at the end.
pub fn short(value: f64, digits: usize) -> String {
    with_prefix(value, Digits { count: digits, keep_zeros: false }, &PLAIN).0
}

fn with_unit(value: f64, digits: Digits, prefixes: &[(i32, &'static str)], unit: &str) -> String {
    let (text, prefix) = with_prefix(value, digits, prefixes);
    format!("{text}{SPACE}{prefix}{unit}")
}

/// The digits, and the prefix that belongs before the unit.
fn with_prefix(
    value: f64,
    digits: Digits,
    prefixes: &[(i32, &'static str)],
) -> (String, &'static str) {
    if value == 0.0 {
        return ("0".to_owned(), "");
    }
    let Some(decimal) = Decimal::of(value, digits) else {
        let text = if value.is_nan() {
            NO_NUMBER
        } else if value > 0.0 {
            "∞"
        } else {
            "−∞"
        };
        return (text.to_owned(), "");
    };
    let (exponent, prefix) = decimal.prefix(prefixes);
    match decimal.exponent - exponent {
        -3..6 => (decimal.shifted(exponent), prefix),
        _ => (decimal.scientific(), ""),
    }
}

#[derive(Debug, Clone, Copy)]
struct Digits {
    count: usize,
    /// `2.00` rather than `2`, so that a column of computed numbers is of one precision.
    keep_zeros: bool,
}

/// A finite number other than zero, rounded once: `digits` with the point after the first, times ten to `exponent`.
#[derive(Debug)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i32,
}

impl Decimal {
    fn of(value: f64, digits: Digits) -> Option<Self> {
        if !value.is_finite() || value == 0.0 {
            return None;
        }
        let text = format!("{:.*e}", digits.count - 1, value.abs());
        let (mantissa, exponent) = text.split_once('e')?;
        let mut mantissa: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        if !digits.keep_zeros {
            mantissa.truncate(mantissa.trim_end_matches('0').len().max(1));
        }
        Some(Self { negative: value < 0.0, digits: mantissa, exponent: exponent.parse().ok()? })
    }

    /// The largest prefix that leaves a digit before the point, or the smallest of all.
    fn prefix(&self, prefixes: &[(i32, &'static str)]) -> (i32, &'static str) {
        let fitting = prefixes.iter().rev().find(|(exponent, _)| *exponent <= self.exponent);
        fitting.or(prefixes.first()).copied().unwrap_or((0, ""))
    }

    /// The number in units of ten to `exponent`, written out.
    fn shifted(&self, exponent: i32) -> String {
        let before_point = self.exponent - exponent + 1;
        let length = i32::try_from(self.digits.len()).unwrap_or(i32::MAX);
        let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
        let text = if before_point <= 0 {
            format!("0.{}{}", zeros(-before_point), self.digits)
        } else if before_point >= length {
            grouped(&format!("{}{}", self.digits, zeros(before_point - length)))
        } else {
            let (whole, rest) =
                self.digits.split_at(usize::try_from(before_point).unwrap_or_default());
            format!("{}.{rest}", grouped(whole))
        };
        self.signed(&text)
    }

    fn scientific(&self) -> String {
        let (first, rest) = self.digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let mut text = format!("{first}{point}{rest}{SPACE}×{SPACE}10");
        text.extend(self.exponent.to_string().chars().map(superscript));
        self.signed(&text)
    }

    fn signed(&self, text: &str) -> String {
        format!("{}{text}", if self.negative { "−" } else { "" })
    }
}

fn superscript(digit: char) -> char {
    const HIGH: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit.to_digit(10).and_then(|digit| HIGH.get(digit as usize)).copied().unwrap_or('⁻')
}

/// Thousands apart, from four digits on.
fn grouped(whole: &str) -> String {
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("−", digits));
    let mut text = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(SPACE);
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plain blanks in `expected` stand for narrow ones.
    fn check(text: &str, expected: &str) {
        assert_eq!(text.replace(SPACE, " "), expected);
    }

    #[test]
    fn computed_numbers_have_three_digits() {
        for (value, expected) in [
            (0.0, "0"),
            (1.0, "1.00"),
            (3.768_99, "3.77"),
            (42.96, "43.0"),
            (999.4, "999"),
            (999.6, "1 000"),
            (1365.3, "1 370"),
            (123_456.0, "123 000"),
            (0.000_499_9, "5.00 × 10⁻⁴"),
            (0.0123, "0.0123"),
            (1.5e7, "1.50 × 10⁷"),
            (-2.5, "−2.50"),
            (f64::NAN, "–"),
            (f64::INFINITY, "∞"),
            (f64::NEG_INFINITY, "−∞"),
            (f64::MAX, "1.80 × 10³⁰⁸"),
            (f64::MIN_POSITIVE, "2.23 × 10⁻³⁰⁸"),
        ] {
            check(&plain(value), expected);
        }
    }

    #[test]
    fn sizes_are_decimal_and_capacities_binary() {
        check(&bytes(Bytes::new(8_929_280.0)), "8.93 MB");
        check(&bytes(Bytes::new(0.0)), "0 B");
        check(&bytes(Bytes::new(999.9)), "1.00 kB");
        check(&bytes(Bytes::new(2e27)), "2.00 × 10²⁷ B");
        check(&capacity(Bytes::from_gib(8.0)), "8 GiB");
        check(&capacity(Bytes::from_gib(141.0)), "141 GiB");
        check(&capacity(Bytes::from_mib(1.5)), "1.5 MiB");
        check(&capacity(Bytes::from_kib(100.0)), "100 KiB");
    }

    #[test]
    fn datasheet_facts_stand_as_published() {
        for (gb, expected) in [
            (102.4, "102.4 GB/s"),
            (68.3, "68.3 GB/s"),
            (1555.0, "1 555 GB/s"),
            (8000.0, "8 000 GB/s"),
            (10.0, "10 GB/s"),
        ] {
            check(&published_bandwidth(BytesPerSec::from_gb(gb)), expected);
        }
        for (tera, class, expected) in [
            (16.7, ComputeClass::Fp16, "16.7 TFLOP/s"),
            (33.4, ComputeClass::Int8, "33.4 TOP/s"),
            (989.4, ComputeClass::Bf16, "989.4 TFLOP/s"),
            (0.472, ComputeClass::Fp16, "0.472 TFLOP/s"),
            (5_000.0, ComputeClass::Fp4, "5 000 TFLOP/s"),
        ] {
            check(&published_rate(FlopsPerSec::from_tera(tera), class), expected);
        }
        check(&clock(Hertz::from_mhz(1020.0)), "1 020 MHz");
        check(&power(Watts::new(25.0)), "25 W");
    }

    #[test]
    fn times_choose_their_prefix_after_rounding() {
        for (seconds, expected) in [
            (87.2e-6, "87.2 µs"),
            (999.7e-9, "1.00 µs"),
            (12e-9, "12.0 ns"),
            (0.3e-9, "0.300 ns"),
            (3e-14, "3.00 × 10⁻¹⁴ s"),
            (0.405, "405 ms"),
            (1.0, "1.00 s"),
            (12_345.0, "12 300 s"),
            (2e9, "2.00 × 10⁹ s"),
        ] {
            check(&time(Seconds::new(seconds)), expected);
        }
    }

    #[test]
    fn an_interval_has_one_unit() {
        check(&time_range(Seconds::new(67.2e-6), Seconds::new(179.2e-6)), "67.2–179 µs");
        check(&time_range(Seconds::new(0.9e-3), Seconds::new(2.4e-3)), "0.900–2.40 ms");
        check(&time_range(Seconds::new(f64::NAN), Seconds::new(1.0)), "––1.00 s");
    }

    #[test]
    fn shares_never_round_to_none_or_all() {
        for (share, expected) in [
            (0.9767, "98 %"),
            (0.999, "> 99 %"),
            (1.0, "100 %"),
            (0.001, "< 1 %"),
            (0.0, "0 %"),
            (-0.0, "0 %"),
            (12.5, "1 250 %"),
            (f64::NAN, "– %"),
        ] {
            check(&percent(share), expected);
        }
    }

    #[test]
    fn the_rest() {
        check(&rate(FlopsPerSec::new(385.9e9), ComputeClass::Fp16), "386 GFLOP/s");
        check(&rate(FlopsPerSec::new(1.2e12), ComputeClass::Int4), "1.20 TOP/s");
        check(&flops(Flops::new(33_554_432.0)), "33.6 MFLOP");
        check(&intensity(FlopsPerByte::new(3.757)), "3.76 FLOP/B");
        check(&ratio(3.827), "3.83×");
        check(&count(28_672), "28 672");
        check(&count(u64::MAX), "18 446 744 073 709 551 615");
        check(&short(163.08, 3), "163");
        check(&short(4.25, 3), "4.25");
        check(&short(1.0, 3), "1");
        check(&energy(Joules::new(0.25)), "250 mJ");
        check(&token_rate(TokensPerSec::new(41.26)), "41.3 token/s");
    }
}
