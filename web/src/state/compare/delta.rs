//! The difference of a number from the one in the first column, in words.

use calc_core::calibration::Engine;
use report::number_text as text;

/// Relative difference below which two numbers count as equal.
const EQUAL: f64 = 0.005;

/// Ratio below which two numbers with a common error are not told apart: the scaling of clocks has an error of its own.
const NEAR: f64 = 1.02;

/// A number of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedNumber {
    pub value: f64,
    /// Ends of its interval, the smaller one first; equal to the value where there is none.
    pub low: f64,
    pub high: f64,
    /// Where the error of the number comes from; numbers with the same source err alike.
    pub source: Option<ErrorSource>,
}

/// The factors of an expected time: those of an engine on a device, for a scheme and a number of users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorSource {
    pub device: String,
    pub engine: Option<Engine>,
    pub scheme: &'static str,
    pub users: u64,
}

impl ComparedNumber {
    /// A number without an interval.
    pub const fn exact(value: f64) -> Self {
        Self { value, low: value, high: value, source: None }
    }

    fn overlaps(&self, other: &Self) -> bool {
        if self.source.is_some() && self.source == other.source {
            return self.value.max(other.value) < NEAR * self.value.min(other.value);
        }
        let both_exact = self.low >= self.high && other.low >= other.high;
        !both_exact && self.low <= other.high && other.low <= self.high
    }
}

/// Quantity of a row, which says how its differences are worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A duration: shorter is faster.
    Time,
    /// A rate: higher is faster.
    Rate,
    /// An amount of which less is better, such as energy.
    Cost,
    /// An amount that is neither good nor bad while there is enough of it, such as memory.
    Need,
    /// An amount of which more is better, such as bandwidth.
    Supply,
    /// A loss in percent.
    Loss,
}

/// Whether a difference is for the better; never shown by color alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Better,
    Worse,
    /// The intervals overlap.
    Unclear,
    /// Neither better nor worse.
    Plain,
}

/// A difference in words: `1.9 × faster`, `38 % less, better`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    pub text: String,
    pub tone: Tone,
}

/// The difference from the first column; `None` where the numbers are equal or cannot be divided.
pub fn delta(quantity: Quantity, first: &ComparedNumber, this: &ComparedNumber) -> Option<Delta> {
    let ratio = this.value / first.value;
    let is_equal = (this.value - first.value).abs() <= EQUAL * first.value.abs();
    if is_equal || !this.value.is_finite() || !first.value.is_finite() {
        return None;
    }
    let is_better = match quantity {
        Quantity::Time | Quantity::Cost | Quantity::Need | Quantity::Loss => {
            this.value < first.value
        }
        Quantity::Rate | Quantity::Supply => this.value > first.value,
    };
    let words = match quantity {
        Quantity::Loss => points(this.value - first.value),
        _ if !(ratio.is_finite() && ratio > 0.0) => return None,
        Quantity::Time | Quantity::Rate => speed(ratio, is_better),
        Quantity::Cost | Quantity::Need | Quantity::Supply => amount(ratio),
    };
    if first.overlaps(this) {
        let text = format!("no clear difference: {words}, within the intervals");
        return Some(Delta { text, tone: Tone::Unclear });
    }
    let tone = if is_better { Tone::Better } else { Tone::Worse };
    Some(match quantity {
        Quantity::Need => Delta { text: words, tone: Tone::Plain },
        Quantity::Time | Quantity::Rate => Delta { text: words, tone },
        Quantity::Cost | Quantity::Supply | Quantity::Loss => judged(&words, is_better),
    })
}

/// A difference with the word for its tone.
pub fn judged(words: &str, is_better: bool) -> Delta {
    let (tone, word) = if is_better { (Tone::Better, "better") } else { (Tone::Worse, "worse") };
    Delta { text: format!("{words}, {word}"), tone }
}

/// How many times as fast, whichever way the ratio stands: `1.9 × faster`.
pub fn speed(ratio: f64, is_better: bool) -> String {
    let word = if is_better { "faster" } else { "slower" };
    format!("{} {word}", times(ratio.max(1.0 / ratio)))
}

/// A factor: `1.9 ×`.
pub fn times(factor: f64) -> String {
    let digits = if (1.0..1.1).contains(&factor) || factor >= 10.0 { 3 } else { 2 };
    format!("{}{}×", text::short(factor, digits), text::SPACE)
}

fn amount(ratio: f64) -> String {
    if ratio >= 2.0 {
        return format!("{} as much", times(ratio));
    }
    if ratio < 0.4 {
        return format!("{} less", times(1.0 / ratio));
    }
    let word = if ratio < 1.0 { "less" } else { "more" };
    format!("{} {word}", text::percent((ratio - 1.0).abs()))
}

fn points(difference: f64) -> String {
    let word = if difference < 0.0 { "less" } else { "more" };
    format!("{} points {word}", text::short(difference.abs(), 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(quantity: Quantity, first: f64, this: f64) -> String {
        let found = delta(quantity, &ComparedNumber::exact(first), &ComparedNumber::exact(this));
        found.map_or_else(String::new, |delta| delta.text.replace(text::SPACE, " "))
    }

    #[test]
    fn differences_say_better_or_worse() {
        for (quantity, first, this, words) in [
            (Quantity::Time, 19.0, 10.0, "1.9 × faster"),
            (Quantity::Time, 10.0, 19.0, "1.9 × slower"),
            (Quantity::Rate, 10.0, 105.0, "10.5 × faster"),
            (Quantity::Time, 1.0, 1.04, "1.04 × slower"),
            (Quantity::Cost, 10.0, 6.2, "38 % less, better"),
            (Quantity::Cost, 10.0, 24.0, "2.4 × as much, worse"),
            (Quantity::Supply, 102.4, 204.8, "2 × as much, better"),
            (Quantity::Supply, 204.8, 102.4, "50 % less, worse"),
            (Quantity::Supply, 10.0, 3.33, "3 × less, worse"),
            (Quantity::Supply, 15.0, 1.0, "15 × less, worse"),
            (Quantity::Loss, 0.0, 2.8, "2.8 points more, worse"),
            (Quantity::Cost, 10.0, 10.0, ""),
            (Quantity::Need, 10.0, 24.0, "2.4 × as much"),
            (Quantity::Rate, 0.0, 10.0, ""),
            (Quantity::Time, f64::NAN, 10.0, ""),
        ] {
            assert_eq!(said(quantity, first, this), words, "{quantity:?} {first} {this}");
        }
    }

    #[test]
    fn overlapping_intervals_are_no_clear_difference() {
        let number = |value: f64| ComparedNumber {
            low: value * 0.9,
            high: value * 1.1,
            ..ComparedNumber::exact(value)
        };
        let near = delta(Quantity::Time, &number(10.0), &number(11.0)).expect("a difference");
        assert!(near.tone == Tone::Unclear && near.text.starts_with("no clear difference"));
        let far = delta(Quantity::Time, &number(10.0), &number(15.0)).expect("a difference");
        assert_eq!(far.tone, Tone::Worse);
        let source = ErrorSource { device: "t4".to_owned(), engine: None, scheme: "fp8", users: 1 };
        let alike = |value| ComparedNumber { source: Some(source.clone()), ..number(value) };
        let near = delta(Quantity::Time, &alike(10.0), &alike(11.0)).expect("a difference");
        assert_eq!(near.tone, Tone::Worse, "both err alike");
        let nearer = delta(Quantity::Time, &alike(10.0), &alike(10.1)).expect("a difference");
        assert_eq!(nearer.tone, Tone::Unclear);
    }
}
