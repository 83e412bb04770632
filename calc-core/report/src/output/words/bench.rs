//! Warnings about measurements.

/// Flag of a record as a sentence with advice.
pub const fn bench_flag(key: &str) -> &'static str {
    match key.as_bytes() {
        b"time_limit" => {
            "the time limit ended the measurement before the median was certain; the interval shows the uncertainty"
        }
        b"unsteady" => "times were still falling or rising when sampling began; warm up longer",
        b"drift" => {
            "later samples differ from earlier ones; conditions changed during the measurement"
        }
        b"throttled" => {
            "the clock fell during the measurement; cool the device or name its power mode"
        }
        b"bimodal" => {
            "samples form two clusters, as with two clocks or two kinds of cores; the median is in one of them"
        }
        b"autocorrelated" => {
            "samples depend on those before them; the interval is wider for that reason"
        }
        b"contended" => {
            "other programs or the hypervisor used the cores; measure again on an idle machine"
        }
        _ => "flagged for a reason that this version does not know",
    }
}

/// Limits of an interval from two runs.
pub const fn two_runs() -> &'static str {
    "Two runs differ by more than the spread of their samples: placement in memory, clocks and other programs change. \
     To resolve a difference of one percent, compare several runs of each, or alternate both in one run."
}

/// Meaning of the smallest difference that samples show.
pub const fn could_find() -> &'static str {
    "\"Could find\" is the smallest difference that samples like these show at least four times of five; a smaller one may be there unseen."
}

/// Samples without an interval.
pub const fn too_few_samples() -> &'static str {
    "A point with fewer than 8 samples on either side has no interval that could tell a difference with 99 % confidence."
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
