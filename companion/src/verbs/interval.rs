//! Intervals between readings as people type them: `1s`, `200ms`, `0.5`.

use std::time::Duration;

use clap::{Arg, ArgMatches, ValueHint};
use report::input::number_input;

use crate::failure::Failure;

/// Units with their length in s, the longest suffix first; a number alone is in s.
const UNITS: [(&str, f64); 5] = [("ms", 1e-3), ("min", 60.0), ("s", 1.0), ("h", 3600.0), ("", 1.0)];

/// The range that a verb allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) least: Duration,
    pub(super) most: Duration,
}

pub(super) fn argument(help: &'static str) -> Arg {
    Arg::new("interval").long("interval").value_name("TIME").value_hint(ValueHint::Other).help(help)
}

/// The interval that the user asked for, else `usual`.
pub(super) fn of(matches: &ArgMatches, usual: Duration, range: Range) -> Result<Duration, Failure> {
    let Some(text) = matches.get_one::<String>("interval") else { return Ok(usual) };
    let found = parse(text).filter(|found| (range.least..=range.most).contains(found));
    found.ok_or_else(|| {
        Failure::bad(format!(
            "interval must be a time from {} ms to {} s, such as 1s or 500ms; got {text}",
            range.least.as_millis(),
            range.most.as_secs()
        ))
    })
}

fn parse(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (number, unit) =
        UNITS.iter().find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, unit)))?;
    let number = number.trim_end();
    // In `1k` the letter would be a factor of quantities.
    let is_plain = number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let seconds = number_input::real(number).filter(|_| is_plain)? * unit;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_with_and_without_a_unit() {
        for (text, ms) in [
            ("1s", 1000),
            ("200ms", 200),
            ("0.5", 500),
            ("2 s", 2000),
            ("1min", 60_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(parse(text), Some(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "s", "ms", "-1s", "1d", "NaN", "inf", "1e400", "1k", "1 2s"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
