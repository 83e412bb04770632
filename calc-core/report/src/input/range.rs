//! The values of one flag of a sweep, or of a range of the page: a list, each item of which may be a range. Values are
//! computed on demand.

mod decimal;

use calc_core::units::Bytes;

use crate::input::number_input;
use crate::number_text;
use decimal::Decimal;

/// Largest number of points of a sweep, and so of values of a flag.
pub const MAX_POINTS: u64 = 100_000_000;
/// Largest number of steps of a multiplicative range.
const MAX_MULTIPLES: usize = 10_000;

/// How the numbers of a flag are read: the kinds differ in the meaning of the suffixes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Numbers {
    Counts,
    Quantities,
    /// Amounts of memory, in this unit where a number has none.
    Memory(Bytes),
}

/// The values of a flag, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    segments: Vec<Segment>,
    len: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Values(Vec<String>),
    Steps { first: i128, step: i128, places: u32, count: u64 },
}

impl Axis {
    /// A list of names.
    ///
    /// # Errors
    /// An empty item, as a sentence.
    pub fn of_names(text: &str) -> Result<Self, String> {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        if names.iter().any(String::is_empty) && names.len() > 1 {
            return Err(format!("`{text}` has an empty item"));
        }
        Ok(Self { len: names.len() as u64, segments: vec![Segment::Values(names)] })
    }

    /// One name, which may contain commas and dots.
    pub fn of_name(text: &str) -> Self {
        Self { len: 1, segments: vec![Segment::Values(vec![text.to_owned()])] }
    }

    /// A list of numbers and ranges.
    ///
    /// # Errors
    /// A text that is no number and no range, as a sentence.
    pub fn of_numbers(text: &str, numbers: Numbers) -> Result<Self, String> {
        let mut axis = Self { segments: Vec::new(), len: 0 };
        for item in text.split(',') {
            let segment = match item.split_once("..") {
                None => one_number(item.trim(), numbers)?,
                Some((first, rest)) => range(first, rest, numbers)
                    .map_err(|why| format!("`{item}` is not a range: {why}"))?,
            };
            axis.len = axis.len.saturating_add(segment.len());
            axis.segments.push(segment);
        }
        Ok(axis)
    }

    /// Number of values.
    pub const fn count(&self) -> u64 {
        self.len
    }

    /// The value at this index; `None` past the end.
    pub fn value(&self, index: u64) -> String {
        let mut index = index;
        for segment in &self.segments {
            if index < segment.len() {
                return segment.value(index);
            }
            index -= segment.len();
        }
        String::new()
    }

    /// For a typed list all values, for a range both ends: enough to check them.
    pub fn samples(&self) -> impl Iterator<Item = String> + '_ {
        self.segments.iter().flat_map(|segment| match segment {
            Segment::Values(values) => values.clone(),
            Segment::Steps { count, .. } => vec![segment.value(0), segment.value(count - 1)],
        })
    }
}

impl Segment {
    fn len(&self) -> u64 {
        match self {
            Self::Values(values) => values.len() as u64,
            Self::Steps { count, .. } => *count,
        }
    }

    fn value(&self, index: u64) -> String {
        match self {
            Self::Values(values) => {
                usize::try_from(index).ok().and_then(|i| values.get(i)).cloned().unwrap_or_default()
            }
            Self::Steps { first, step, places, .. } => {
                Decimal { units: first + step * i128::from(index), places: *places }.text()
            }
        }
    }
}

fn one_number(item: &str, numbers: Numbers) -> Result<Segment, String> {
    if item.is_empty() {
        return Err("a list has an empty item".into());
    }
    if item.len() == 3 && item.starts_with('0') && item.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "`{item}` looks like the end of a number with a comma, which separates items here; write it without the comma"
        ));
    }
    let written = numbers.written(item).ok_or_else(|| not_a_number(item))?;
    Ok(Segment::Values(vec![written]))
}

fn not_a_number(item: &str) -> String {
    let range = if item.contains([':', '-']) { "; a range has two dots: 1k..4k+1k" } else { "" };
    format!("`{item}` is not a number{range}")
}

impl Numbers {
    /// A number in digits. An invalid one, such as half a token, keeps its spelling for the error in its row.
    fn written(self, item: &str) -> Option<String> {
        match self {
            Self::Counts => match number_input::count(item) {
                Some(count) => Some(count.to_string()),
                None => number_input::count_as_real(item).map(|_| item.to_owned()),
            },
            Self::Quantities => number_input::real(item).map(number_text::typed),
            Self::Memory(unit) => number_input::memory(item, unit.get()).map(number_text::typed),
        }
    }
}

/// Parses `a..b`, `a..b+step`, `a..bxfactor`.
fn range(first: &str, rest: &str, numbers: Numbers) -> Result<Segment, String> {
    let number = |text: &str| {
        let written = numbers.written(text);
        written
            .and_then(|text| Decimal::parse(&text))
            .ok_or_else(|| format!("`{}` is not a plain number", text.trim()))
    };
    let first = number(first)?;
    if let Some((last, factor)) = rest.split_once('x') {
        return multiples(first, number(last)?, number(factor)?);
    }
    let (last, step) = match rest.split_once('+') {
        Some((last, step)) => (number(last)?, number(step)?),
        None => (number(rest)?, Decimal { units: 1, places: 0 }),
    };
    let places = first.places.max(last.places).max(step.places);
    let (first, last, step) = (first.widened(places), last.widened(places), step.widened(places));
    if step <= 0 {
        return Err("its step must be positive".into());
    }
    if last < first {
        return Err("its end is before its start".into());
    }
    let count = u64::try_from((last - first) / step).unwrap_or(u64::MAX).saturating_add(1);
    Ok(Segment::Steps { first, step, places, count })
}

/// Whole numbers stay whole, also with a fractional factor.
fn multiples(first: Decimal, last: Decimal, factor: Decimal) -> Result<Segment, String> {
    let whole = first.places == 0 && last.places == 0;
    let real = |decimal: Decimal| decimal.text().parse::<f64>().unwrap_or(f64::NAN);
    let (start, end, factor) = (real(first), real(last), real(factor));
    if !(start > 0.0 && factor > 1.0) {
        return Err("a multiplicative range needs a start above 0 and a factor above 1".into());
    }
    if end < start {
        return Err("its end is before its start".into());
    }
    let mut values: Vec<String> = Vec::new();
    let mut value = start;
    let mut steps = 0;
    // The end is included in spite of rounding.
    while value <= end * (1.0 + 1e-12) {
        let text = format!("{}", if whole { value.round() } else { rounded(value) });
        if values.last() != Some(&text) {
            values.push(text);
        }
        steps += 1;
        if steps > MAX_MULTIPLES {
            return Err(format!("it has more than {MAX_MULTIPLES} steps; take a larger factor"));
        }
        value *= factor;
    }
    Ok(Segment::Values(values))
}

/// Rounds to twelve digits, which hides rounding errors.
fn rounded(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let axis = Axis::of_numbers(text, Numbers::Counts).expect(text);
        (0..axis.count()).map(|i| axis.value(i)).collect()
    }

    #[test]
    fn lists_and_ranges_expand_as_documented() {
        for (text, expected) in [
            ("1", "1"),
            ("1, 2,4", "1 2 4"),
            ("1..4", "1 2 3 4"),
            ("0..10+4", "0 4 8"),
            ("1,2,4..64x2,7", "1 2 4 8 16 32 64 7"),
            ("100..1000x10", "100 1000"),
            ("1..10x1.5", "1 2 3 5 8"),
            ("0.1..0.5+0.1", "0.1 0.2 0.3 0.4 0.5"),
            ("0.5..2x2", "0.5 1 2"),
            ("5..5", "5"),
            ("-1..1", "-1 0 1"),
            ("1e3", "1000"),
            ("8k,4_096,1e6", "8192 4096 1000000"),
            ("1k..8kx2", "1024 2048 4096 8192"),
            ("1k..4k+1k", "1024 2048 3072 4096"),
            ("1e3..1e4x10", "1000 10000"),
            ("1.5", "1.5"),
        ] {
            assert_eq!(values(text).join(" "), expected, "{text}");
        }
        let speeds = Axis::of_numbers("1k..2kx2,0.5", Numbers::Quantities).expect("quantities");
        let speeds: Vec<String> = (0..speeds.count()).map(|i| speeds.value(i)).collect();
        assert_eq!(speeds, ["1000", "2000", "0.5"]);
    }

    #[test]
    fn long_ranges_are_computed_on_demand() {
        let axis = Axis::of_numbers("1..999999999999", Numbers::Counts).expect("range");
        assert_eq!(
            (axis.count(), axis.value(999_999_999_998)),
            (999_999_999_999, "999999999999".to_owned())
        );
        assert_eq!(
            Axis::of_numbers("0..999999999999999999+0.00000000000000001", Numbers::Counts)
                .map(|axis| axis.count()),
            Ok(u64::MAX)
        );
    }

    #[test]
    fn malformed_ranges_are_refused_with_a_reason() {
        for (text, expected) in [
            ("", "empty item"),
            ("1,,2", "empty item"),
            ("abc", "`abc` is not a number"),
            ("nan", "`nan` is not a number"),
            ("4,096", "write it without the comma"),
            ("8kB", "`8kB` is not a number"),
            ("1k:4k:1k", "a range has two dots"),
            ("1-8", "a range has two dots"),
            ("4..1", "its end is before its start"),
            ("1..4+0", "step must be positive"),
            ("1..4+-1", "step must be positive"),
            ("1..4x1", "factor above 1"),
            ("0..4x2", "a start above 0"),
            ("1..", "`` is not a plain number"),
            ("1..2..3", "`2..3` is not a plain number"),
            ("1..1000000000x1.0000001", "more than 10000 steps"),
        ] {
            let error = Axis::of_numbers(text, Numbers::Counts).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
