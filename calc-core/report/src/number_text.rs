//! Numbers for people: three significant digits, a prefix, a unit; facts of a datasheet as published.
//!
//! Not here: sentences (`words`, `verdict`), and numbers for machines, which are plain JSON numbers.

mod digits;
#[cfg(test)]
mod tests;

use calc_core::explore::Criterion;
use calc_core::quant_format::ComputeClass;
use digits::Digits;

use calc_core::units::{
    Bytes, BytesPerSec, Flops, FlopsPerByte, FlopsPerSec, Hertz, Joules, Seconds, TokensPerSec,
    Watts,
};

/// Separator before units and between thousands: a narrow space that never breaks a line.
pub const SPACE: char = '\u{202f}';
/// Upper bound of the digits of a whole `f64`.
const WHOLE_DIGITS: usize = 400;
/// Text shown for a value that is not a finite number.
pub const NO_NUMBER: &str = "–";

/// Precision of computed numbers; more digits would claim a precision that no estimate has.
const COMPUTED: Precision = Precision { count: 3, keep_zeros: true };
/// Precision of published numbers, shown as published: 102.4 GB/s.
const PUBLISHED: Precision = Precision { count: 4, keep_zeros: false };

const DECIMAL: [(i32, &str); 7] =
    [(0, ""), (3, "k"), (6, "M"), (9, "G"), (12, "T"), (15, "P"), (18, "E")];
const TIME: [(i32, &str); 4] = [(-9, "n"), (-6, "µ"), (-3, "m"), (0, "")];
const PLAIN: [(i32, &str); 1] = [(0, "")];
/// The prefix of every compute peak, so that peaks compare at a glance.
const TERA: [(i32, &str); 1] = [(12, "T")];

/// Data volume in decimal units: `8.93 MB`.
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

/// Published bandwidth: `102.4 GB/s`, `1 555 GB/s`.
pub fn published_bandwidth(value: BytesPerSec) -> String {
    with_unit(value.get(), PUBLISHED, &[(9, "G")], "B/s")
}

/// Computed bandwidth beside published ones: `4 320 GB/s`.
pub fn bandwidth_in_giga(value: BytesPerSec) -> String {
    with_unit(value.get(), COMPUTED, &[(9, "G")], "B/s")
}

/// Computed compute rate: `386 GFLOP/s`, `0.386 TOP/s`.
pub fn rate(value: FlopsPerSec, class: ComputeClass) -> String {
    with_unit(value.get(), COMPUTED, &DECIMAL, rate_unit(class))
}

/// Measured compute rate of a kernel by its key and the format of its activations: `2.12 TOP/s` where it multiplies integers.
pub fn measured_rate(value: FlopsPerSec, kernel: &str, activations: Option<&str>) -> String {
    let int8 = ComputeClass::Int8.key();
    let is_integer = kernel.contains(int8) || activations == Some(int8);
    rate(value, if is_integer { ComputeClass::Int8 } else { ComputeClass::Fp32 })
}

/// Computed compute rate beside published peaks: `8.99 TFLOP/s`, `1 400 TFLOP/s`.
pub fn rate_in_tera(value: FlopsPerSec, class: ComputeClass) -> String {
    with_unit(value.get(), COMPUTED, &TERA, rate_unit(class))
}

/// Published compute peak: `16.7 TFLOP/s`, `33.4 TOP/s`.
pub fn published_rate(value: FlopsPerSec, class: ComputeClass) -> String {
    with_unit(value.get(), PUBLISHED, &TERA, rate_unit(class))
}

/// Unit of a rate: OP/s for integers, because they are not floating-point operations.
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

/// Number of floating-point operations: `33.6 MFLOP`.
pub fn flops(value: Flops) -> String {
    with_unit(value.get(), COMPUTED, &DECIMAL, "FLOP")
}

/// Duration: `87.2 µs`.
pub fn time(value: Seconds) -> String {
    with_unit(value.get(), COMPUTED, &TIME, "s")
}

/// Interval of durations in the unit of its upper end: `68.7–183 µs`.
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

/// Electric power: `25 W`.
pub fn power(value: Watts) -> String {
    with_unit(value.get(), PUBLISHED, &PLAIN, "W")
}

/// Energy in joules: `1.24 J`.
pub fn energy(value: Joules) -> String {
    with_unit(value.get(), COMPUTED, &[(-3, "m"), (0, ""), (3, "k")], "J")
}

/// Clock frequency: `1 020 MHz`.
pub fn clock(value: Hertz) -> String {
    with_unit(value.get(), PUBLISHED, &[(6, "M")], "Hz")
}

/// Token rate: `41.3 token/s`.
pub fn token_rate(value: TokensPerSec) -> String {
    with_unit(value.get(), COMPUTED, &PLAIN, "token/s")
}

/// A value by which points are compared, in base units; what is no number is unknown.
pub fn criterion(by: Criterion, value: f64) -> String {
    if value.is_nan() {
        return "unknown".to_owned();
    }
    match by {
        Criterion::Whole => time(Seconds::new(value)),
        Criterion::Rate | Criterion::Throughput => token_rate(TokensPerSec::new(value)),
        Criterion::Energy => energy(Joules::new(value)),
        Criterion::Memory => bytes(Bytes::new(value)),
        Criterion::Quality => format!("{}{SPACE}%", short(value, 3)),
    }
}

/// Ratio of two values: `3.83×`.
pub fn ratio(value: f64) -> String {
    format!("{}×", plain(value))
}

/// Share in percent, without decimals above one percent: `98 %`. A share below 1 is never rounded to 100 %.
pub fn percent(share: f64) -> String {
    let text = match share {
        share if share > 0.995 && share < 1.0 => "> 99".to_owned(),
        share if share > 0.0 && share < 0.005 => "< 1".to_owned(),
        share if share.is_finite() => whole(share * 100.0),
        share => plain(share),
    };
    format!("{text}{SPACE}%")
}

/// Count with separated thousands: `28 672`. Exact, because counts are not estimates.
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// Count with its noun, in the form that the count needs: `1 meter`, `2 meters`.
pub fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// Number rounded to a whole one: `1 250`.
fn whole(value: f64) -> String {
    let all = Precision { count: WHOLE_DIGITS, keep_zeros: false };
    Decimal::of(value.round_ties_even(), all)
        .map_or_else(|| "0".to_owned(), |decimal| decimal.shifted(0))
}

/// Number for machines and messages, with ASCII point and minus: `1555.5`, `-3`, `1e30`.
pub fn typed(value: f64) -> String {
    /// An `f64` returns a decimal number of up to 15 digits unchanged.
    const TYPED: Precision = Precision { count: 15, keep_zeros: false };
    let Some(decimal) = Decimal::of(value, TYPED) else {
        return if value.is_nan() {
            "no number"
        } else if value == 0.0 {
            "0"
        } else if value > 0.0 {
            "inf"
        } else {
            "-inf"
        }
        .to_owned();
    };
    let text = if (-4..15).contains(&decimal.exponent) {
        decimal.plain(0, str::to_owned)
    } else {
        let (first, rest) = decimal.digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{first}{point}{rest}e{}", decimal.exponent)
    };
    if decimal.negative { format!("-{text}") } else { text }
}

/// Computed number without a unit, three digits: `3.77`, `1 370`.
pub fn plain(value: f64) -> String {
    with_prefix(value, COMPUTED, &PLAIN).0
}

/// Number without a unit and without trailing zeros, for published values and sentences: `4.25`, `163`.
pub fn short(value: f64, digits: usize) -> String {
    with_prefix(value, Precision { count: digits, keep_zeros: false }, &PLAIN).0
}

fn with_unit(
    value: f64,
    digits: Precision,
    prefixes: &[(i32, &'static str)],
    unit: &str,
) -> String {
    let (text, prefix) = with_prefix(value, digits, prefixes);
    format!("{text}{SPACE}{prefix}{unit}")
}

/// Digits of a value and the prefix of its unit.
fn with_prefix(
    value: f64,
    digits: Precision,
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
struct Precision {
    count: usize,
    /// Keeps trailing zeros, `2.00` rather than `2`, so that a column of computed numbers has one precision.
    keep_zeros: bool,
}

/// Finite number other than zero, rounded once: `digits` with the point after the first, times ten to `exponent`.
#[derive(Debug)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i32,
}

impl Decimal {
    fn of(value: f64, digits: Precision) -> Option<Self> {
        if !value.is_finite() || value == 0.0 {
            return None;
        }
        let found = Digits::of(value.abs()).rounded(digits.count);
        let mut text: String = found.digits.into_iter().map(char::from).collect();
        if !digits.keep_zeros {
            text.truncate(text.trim_end_matches('0').len().max(1));
        }
        Some(Self { negative: value < 0.0, digits: text, exponent: found.exponent })
    }

    /// The largest prefix that leaves a digit before the point, or the smallest prefix.
    fn prefix(&self, prefixes: &[(i32, &'static str)]) -> (i32, &'static str) {
        let fitting = prefixes.iter().rev().find(|(exponent, _)| *exponent <= self.exponent);
        fitting.or(prefixes.first()).copied().unwrap_or((0, ""))
    }

    /// The number divided by ten to `exponent`, written out.
    fn shifted(&self, exponent: i32) -> String {
        self.signed(&self.plain(exponent, grouped))
    }

    /// The absolute value of the number divided by ten to `exponent`; `whole` formats the digits before the point.
    fn plain(&self, exponent: i32, whole: fn(&str) -> String) -> String {
        let before_point = self.exponent - exponent + 1;
        let length = i32::try_from(self.digits.len()).unwrap_or(i32::MAX);
        let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
        if before_point <= 0 {
            format!("0.{}{}", zeros(-before_point), self.digits)
        } else if before_point >= length {
            whole(&format!("{}{}", self.digits, zeros(before_point - length)))
        } else {
            let (before, rest) =
                self.digits.split_at(usize::try_from(before_point).unwrap_or_default());
            format!("{}.{rest}", whole(before))
        }
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

/// Digits with thousands separated, from four digits on.
fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(SPACE);
        }
        text.push(digit);
    }
    text
}
