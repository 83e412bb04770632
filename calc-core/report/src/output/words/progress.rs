//! Progress of something that takes a while: how much is done, in its unit, and the time that is left.

use calc_core::units::Bytes;

use crate::number_text as n;

/// The unit in which progress counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressUnit {
    Points,
    Bytes,
    Tokens,
    /// One that this version does not know.
    Unknown,
}

/// Amount that is done, with its unit: `3 of 9 points`, `1.2 GB of 16 GB`, `512 of 4 096 tokens`.
pub fn done_of(done: u64, total: u64, unit: ProgressUnit) -> String {
    let counted = |one, many| format!("{} of {}", n::count(done), n::counted(total, one, many));
    match unit {
        ProgressUnit::Points => counted("point", "points"),
        ProgressUnit::Tokens => counted("token", "tokens"),
        ProgressUnit::Bytes => {
            let bytes = |count: u64| n::bytes(Bytes::new(count as f64));
            format!("{} of {}", bytes(done), bytes(total))
        }
        ProgressUnit::Unknown => format!("{} of {}", n::count(done), n::count(total)),
    }
}

/// Time that is left: `about 12 s left`.
pub fn time_left(seconds: f64) -> String {
    let digits = if seconds < 100.0 { 2 } else { 3 };
    format!("about {} s left", n::short(seconds.max(1.0), digits))
}

/// Time that is left [s], by the share that is done of what began so many seconds ago; `None` before anything is done.
pub fn seconds_left(done: u64, total: u64, passed: f64) -> Option<f64> {
    (done > 0).then(|| passed / done as f64 * total.saturating_sub(done) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_has_its_unit() {
        for (done, total, unit, expected) in [
            (3, 9, ProgressUnit::Points, "3 of 9 points"),
            (0, 1, ProgressUnit::Points, "0 of 1 point"),
            (1_200_000_000, 16_000_000_000, ProgressUnit::Bytes, "1.20 GB of 16.0 GB"),
            (5_000_000, 250_000_000, ProgressUnit::Bytes, "5.00 MB of 250 MB"),
            (512, 4096, ProgressUnit::Tokens, "512 of 4 096 tokens"),
            (7, 8, ProgressUnit::Unknown, "7 of 8"),
        ] {
            let plain = done_of(done, total, unit).replace([n::SPACE, '\u{a0}'], " ");
            assert_eq!(plain, expected);
        }
    }

    #[test]
    fn the_time_left_follows_what_is_done() {
        assert_eq!(seconds_left(0, 9, 5.0), None);
        assert_eq!(seconds_left(3, 9, 6.0), Some(12.0));
        assert_eq!(seconds_left(9, 9, 6.0), Some(0.0));
        assert_eq!(time_left(12.3), "about 12 s left");
        assert_eq!(time_left(0.0), "about 1 s left");
    }
}
