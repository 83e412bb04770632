//! Warnings about measurements, and sizes of kernels.

use std::collections::BTreeMap;

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

/// Sizes of a kernel of a layer beside its products: `32/8 heads of 128, context 4096`, `1 × 4096`. Sizes of a later version are listed
/// by name.
pub fn bench_sizes(sizes: &BTreeMap<String, u64>) -> String {
    let has = |names: &[&str]| {
        let all = names.iter().map(|name| sizes.get(*name).copied()).collect::<Option<Vec<u64>>>();
        all.filter(|_| names.len() == sizes.len())
    };
    if let Some(of) = has(&["heads", "kv_heads", "head_dim", "context", "new", "batch"]) {
        let [heads, kv_heads, head_dim, context, new, batch] = of[..] else { return String::new() };
        let mut text = format!("{heads}/{kv_heads} heads of {head_dim}, context {context}");
        if new != 1 {
            text += &format!(", new {new}");
        }
        if batch != 1 {
            text += &format!(", batch {batch}");
        }
        return text;
    }
    let times = |of: Vec<u64>| of.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ");
    if let Some(of) = has(&["tokens", "width"]).or_else(|| has(&["tokens", "heads", "head_dim"])) {
        return times(of);
    }
    if let Some(of) = has(&["tokens", "width", "vocab"]) {
        return format!("{} of {} rows", times(of[..2].to_vec()), of[2]);
    }
    let each = sizes.iter().map(|(name, size)| format!("{name} {size}"));
    each.collect::<Vec<_>>().join(", ")
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
    fn sizes_are_a_few_words() {
        let attention = [
            ("batch", 1),
            ("heads", 32),
            ("kv_heads", 8),
            ("head_dim", 128),
            ("new", 1),
            ("context", 4096),
        ];
        let mut prefill = attention;
        (prefill[0].1, prefill[4].1) = (2, 64);
        let cases: [(&[(&str, u64)], &str); 7] = [
            (&attention, "32/8 heads of 128, context 4096"),
            (&prefill, "32/8 heads of 128, context 4096, new 64, batch 2"),
            (&[("tokens", 1), ("width", 4096)], "1 × 4096"),
            (&[("tokens", 2), ("heads", 40), ("head_dim", 128)], "2 × 40 × 128"),
            (&[("tokens", 2), ("width", 64), ("vocab", 100)], "2 × 64 of 100 rows"),
            (&[("tokens", 2), ("states", 64)], "states 64, tokens 2"),
            (&[], ""),
        ];
        for (sizes, expected) in cases {
            let sizes = sizes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect();
            assert_eq!(bench_sizes(&sizes), expected);
        }
    }

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
