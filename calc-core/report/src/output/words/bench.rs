//! Warnings about measurements, and sizes of kernels.

use std::collections::BTreeMap;

use calc_core::catalog;
use calc_core::gguf_file::row_format;

use crate::number_text::{self as n, counted};

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
            "other programs or the hypervisor used the device; measure again on an idle machine"
        }
        b"meters_apart" => {
            "the card's counter of energy and its power over time differ by more than 3 %; its energy is doubtful, its times are not"
        }
        _ => "flagged for a reason that this version does not know",
    }
}

/// A row of so many inputs that ends with a block of its format that is only partly used; `None` where all blocks are whole.
pub fn padded(format: &str, inputs: u64) -> Option<String> {
    let format = catalog::format(format).ok().filter(|format| format.pads(inputs))?;
    let (blocks, block) = (inputs.div_ceil(format.block), format.block);
    let blocks = counted(blocks, "block", "blocks");
    let padded = format!(
        "{} inputs take {blocks} of {block}, the last one padded with zeros",
        n::count(inputs)
    );
    let other = row_format(format, inputs).filter(|other| other.key != format.key);
    Some(match other {
        Some(other) => format!("{padded}; a GGUF file stores such rows in {}", other.short_name),
        None => padded,
    })
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

/// A threshold beside the differences that samples could have found; sizes are shares of the time.
#[derive(Debug)]
pub struct ThresholdReach {
    /// Distance of the threshold from equal speeds.
    pub threshold: String,
    /// Largest of the differences that the points could find: of the hidden ones, or of all where none is hidden.
    pub size: String,
    /// Points that could not find a difference as small as the threshold.
    pub hidden: usize,
    pub all: usize,
    /// Hidden points whose interval contains the threshold.
    pub open: usize,
}

/// How small a difference the samples could have found, and what that means for a threshold.
pub fn threshold_reach(reach: &ThresholdReach) -> String {
    let ThresholdReach { threshold, size, hidden, all, open } = reach;
    if *hidden == 0 {
        return format!(
            "The threshold is {threshold} of the time, and every point could have found a difference of {size} or less: the noise hides none of this size."
        );
    }
    let follows = match open {
        0 => {
            "Their intervals decide all the same, because the difference is larger than the noise."
                .to_owned()
        }
        _ => format!(
            "At {} the noise is too large to judge by this threshold: a regression of this size may be there unseen. Take more samples, or measure on an idle machine.",
            counted(*open as u64, "point", "points")
        ),
    };
    format!(
        "The threshold is {threshold} of the time, below what {hidden} of {} could have found: differences from {size} on. {follows}",
        counted(*all as u64, "point", "points")
    )
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
    fn a_threshold_is_above_or_below_what_could_be_found() {
        let said = |hidden, open| {
            let (threshold, size) = ("5.26 %".into(), "27.7 %".into());
            threshold_reach(&ThresholdReach { threshold, size, hidden, all: 3, open })
        };
        assert!(said(0, 0).contains("every point could have found a difference of 27.7 % or less"));
        let below = "below what 2 of 3 points could have found: differences from 27.7 % on";
        assert!(said(2, 0).contains(below) && said(2, 0).contains("decide all the same"));
        assert!(
            said(2, 1).contains(below) && said(2, 1).contains("At 1 point the noise is too large")
        );
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
            "meters_apart",
        ] {
            assert_ne!(bench_flag(key), unknown, "{key}");
        }
    }
}
