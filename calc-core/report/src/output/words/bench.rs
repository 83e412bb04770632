//! Warnings about measurements.

/// Flag of a record as a sentence with advice.
pub const fn bench_flag(key: &str) -> &'static str {
    match key.as_bytes() {
        b"time_limit" => {
            "the time was up before the median was certain; the interval says how certain it is"
        }
        b"unsteady" => "it was still getting faster or slower when sampling began; warm up longer",
        b"drift" => "a later part differs from an earlier one; something changed meanwhile",
        b"throttled" => {
            "the clock fell while it was measured; cool the device or name its power mode"
        }
        b"bimodal" => {
            "samples sit on two levels, as with two clocks or two kinds of cores; the median is one of them"
        }
        b"autocorrelated" => {
            "samples depend on those before them; the interval is wider for that reason"
        }
        b"contended" => {
            "other programs or the host took time of the cores; measure again when they rest"
        }
        _ => "flagged for a reason that this version does not know",
    }
}

/// Limits of an interval from two runs.
pub const fn two_runs() -> &'static str {
    "Two runs differ by more than their samples tell: memory is placed anew, clocks and neighbors change. \
     A difference of a percent needs several runs of each, or both in turns in one run."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_has_words_of_its_own() {
        let unknown = bench_flag("?");
        for key in [
            "time_limit",
            "unsteady",
            "drift",
            "throttled",
            "bimodal",
            "autocorrelated",
            "contended",
        ] {
            assert_ne!(bench_flag(key), unknown, "{key}");
        }
    }
}
