//! Logarithmic axes: ranges that follow the content in half decades, and ticks at whole decades. And linear ones.

use calc_core::math::{ceil, exp10, floor, log10};
use report::number_text;

/// Ranges end at half decades.
const STEP: f64 = 0.5;
/// Margin around the content: half a decade.
pub const AIR: f64 = 0.5;
/// Margin above a roof, enough for its label.
pub const AIR_ABOVE_ROOF: f64 = 0.3;

/// Least room for a number of a linear axis.
const TICK: f64 = 56.0;

/// A range between two powers of ten.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Logarithm to base 10 of the lower end.
    pub low: f64,
    /// Logarithm to base 10 of the upper end.
    pub high: f64,
}

impl Range {
    /// The range around some values: a margin of half a decade below, the given one above, ends at half decades. So it
    /// changes in steps, and only when a value comes near an end. Values that are not positive are left out; no value at all
    /// gives a range around one.
    pub fn around(values: impl IntoIterator<Item = f64>, air_above: f64) -> Self {
        let usable = values.into_iter().filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) =
            usable.map(log10).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| {
                (low.min(log), high.max(log))
            });
        if low > high {
            return Self { low: -1.0, high: 1.0 };
        }
        Self { low: floor((low - AIR) / STEP) * STEP, high: ceil((high + air_above) / STEP) * STEP }
    }

    /// From the smallest to the largest value without a margin; a single value gets a decade.
    pub fn tight(values: impl IntoIterator<Item = f64>) -> Self {
        let usable = values.into_iter().filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) =
            usable.map(log10).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| {
                (low.min(log), high.max(log))
            });
        match high - low {
            width if width > 0.0 => Self { low, high },
            width if width >= 0.0 => Self { low: low - STEP, high: high + STEP },
            _ => Self { low: -1.0, high: 1.0 },
        }
    }

    /// Exponents of the powers of ten in the range.
    pub fn decades(&self) -> impl Iterator<Item = i32> + use<> {
        #[expect(clippy::cast_possible_truncation, reason = "logarithms of f64 are within ±324")]
        let (first, last) = (ceil(self.low) as i32, floor(self.high) as i32);
        first..=last
    }
}

/// A range laid along pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogAxis {
    pub range: Range,
    /// Pixel of the lower end.
    pub start: f64,
    /// Pixel of the upper end; smaller than `start` where the axis goes up.
    pub end: f64,
}

impl LogAxis {
    /// Pixel of a logarithm.
    pub fn at_log(&self, log: f64) -> f64 {
        let share = (log - self.range.low) / (self.range.high - self.range.low);
        self.start + share * (self.end - self.start)
    }

    /// Pixel of a value; outside of the range for values outside.
    pub fn at(&self, value: f64) -> f64 {
        self.at_log(log10(value))
    }

    /// The value at a pixel.
    pub fn value(&self, at: f64) -> f64 {
        let share = (at - self.start) / (self.end - self.start);
        exp10(self.range.low + share * (self.range.high - self.range.low))
    }
}

/// A power of ten as people write it: `0.01`, `1`, `10 000`, and beyond that `10⁶`.
pub fn decade_text(exponent: i32) -> String {
    let text = number_text::short(calc_core::math::exp10(f64::from(exponent)), 1);
    match text.split_once('×') {
        Some((_, power)) => power.trim_start_matches(number_text::SPACE).to_owned(),
        None => text,
    }
}

/// A linear axis that begins and ends at a tick.
pub(crate) struct LinearAxis {
    low: f64,
    step: f64,
    steps: u32,
    start: f64,
    end: f64,
}

impl LinearAxis {
    /// An axis over all finite values, from zero or from the smallest.
    pub(crate) fn over(
        values: impl Iterator<Item = f64>,
        (start, end): (f64, f64),
        from_zero: bool,
    ) -> Self {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let low = if from_zero || low > high { 0.0 } else { low };
        let high = if high > low { high } else { low + 1.0 };
        let most = floor((end - start).abs() / TICK).clamp(2.0, 8.0);
        let step = nice((high - low) / most);
        let low = floor(low / step) * step;
        #[expect(clippy::cast_possible_truncation, reason = "at most 10 steps")]
        #[expect(clippy::cast_sign_loss, reason = "a number of steps")]
        let steps = ceil((high - low) / step).clamp(1.0, 10.0) as u32;
        Self { low, step, steps, start, end }
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.step * f64::from(self.steps));
        self.start + share * (self.end - self.start)
    }

    /// The value at a pixel.
    pub(crate) fn value(&self, at: f64) -> f64 {
        let share = (at - self.start) / (self.end - self.start);
        self.low + share * self.step * f64::from(self.steps)
    }

    pub(crate) fn ticks(&self) -> impl Iterator<Item = f64> {
        (0..=self.steps).map(|tick| self.low + f64::from(tick) * self.step)
    }
}

/// The next of 1, 2, 5, 10, … at or above a step.
fn nice(step: f64) -> f64 {
    let decade = exp10(floor(log10(step)));
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|part| part * decade)
        .find(|nice| *nice >= step * 0.999)
        .unwrap_or(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], low: f64, high: f64) {
        assert_eq!(Range::around(values.iter().copied(), AIR), Range { low, high }, "{values:?}");
    }

    #[test]
    fn ranges_follow_the_content_in_half_decades() {
        check(&[0.5, 326.0], -1.0, 3.5);
        check(&[1.0], -0.5, 0.5);
        check(&[3.0, 3.1], -0.5, 1.0);
        check(&[1e-30, 1e30], -30.5, 30.5);
    }

    #[test]
    fn ranges_do_not_jump_while_a_value_moves_a_little() {
        for value in [330.0, 500.0, 700.0, 999.0] {
            check(&[0.5, value], -1.0, 3.5);
        }
    }

    #[test]
    fn what_is_no_positive_number_is_left_out() {
        check(&[f64::NAN, -1.0, 0.0, f64::INFINITY], -1.0, 1.0);
        check(&[f64::NAN, 1.0], -0.5, 0.5);
    }

    #[test]
    fn ticks_are_whole_decades_inside() {
        assert_eq!(Range { low: -1.5, high: 2.0 }.decades().collect::<Vec<_>>(), [-1, 0, 1, 2]);
        assert_eq!(Range { low: 0.2, high: 0.8 }.decades().count(), 0);
    }

    #[test]
    fn decades_read_as_numbers() {
        for (exponent, expected) in
            [(-2, "0.01"), (0, "1"), (3, "1 000"), (4, "10 000"), (7, "10⁷"), (-5, "10⁻⁵")]
        {
            assert_eq!(decade_text(exponent).replace(number_text::SPACE, " "), expected);
        }
    }
}
