//! Two files of records beside each other.

use super::*;

fn file(times: &[f64]) -> String {
    json!([{"kernel": "read", "cache": "cold", "bytes": 4096.0, "samples_s": times}]).to_string()
}

#[test]
fn slower_samples_are_reported_and_equal_ones_are_not() {
    let times: Vec<f64> = (0..40).map(|i| 1.0 + 0.001 * f64::from(i * 7 % 40)).collect();
    let slower: Vec<f64> = times.iter().map(|time| 1.05 * time).collect();
    for (other, verdict) in [(&times, "no difference found"), (&slower, "slower")] {
        let rows = differences(&parse(&file(&times)).unwrap(), &parse(&file(other)).unwrap(), None)
            .unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].1.verdict(), verdict);
    }
}

#[test]
fn the_interval_that_is_shown_is_the_one_that_decides() {
    let mut random = kernels::random::Random::new(3);
    let mut between = 0;
    for _ in 0..400 {
        let (a, b) = (noisy(&mut random, 1.0), noisy(&mut random, 1.006));
        let row = compare(&a, &b, None).unwrap();
        let [low, high] = row.usual;
        assert!(row.low <= low && high <= row.high, "{row:?}");
        assert_eq!(row.differs(), !(row.low..=row.high).contains(&1.0), "{row:?}");
        between += u32::from(!row.differs() && !(low..=high).contains(&1.0));
    }
    assert!(between > 10, "differences that 95 % shows and 99 % does not: {between}");
}

#[test]
fn points_of_other_sizes_are_other_points() {
    let record = |context: u64| {
        let sizes = json!({"heads": 8, "context": context});
        let precision = json!({"weights": "fp16", "activations": "fp32"});
        json!({"kernel": "attention", "cache": "cold", "sizes": sizes, "bytes": 1.0,
            "precision": precision, "samples_s": [1.0]})
    };
    let points = parse(&json!([record(64), record(128)]).to_string()).unwrap();
    assert_eq!(points[0].name, "attention fp16 fp32 context=64 heads=8 cold");
    assert_ne!(points[0].name, points[1].name);
}

#[test]
fn malformed_records_are_refused() {
    for (text, expected) in [
        ("[]", "no records"),
        ("{}", "record 1: it has no kernel"),
        (r#"{"kernel":"read"}"#, "no samples_s"),
        (r#"{"kernel":"read","samples_s":[]}"#, "must be numbers"),
        (r#"{"kernel":"read","samples_s":["x"]}"#, "must be numbers"),
        ("{\"kernel\":\"read\",\"samples_s\":[1]}\n{oops", "line 2"),
    ] {
        let why = parse(text).expect_err(text);
        assert!(why.contains(expected), "{text}: {why}");
    }
    assert!(
        differences(&parse(&file(&[1.0])).unwrap(), &parse(&file(&[-1.0])).unwrap(), None).is_err()
    );
}

#[test]
fn the_detectable_difference_by_hand() {
    // Side 1.02 at 99 %: 1.02^(3.417585 / 2.575829) = exp(0.0198026 · 1.326790) = 1.026622.
    let found = detectable(1.0, kernels::stats::Interval { low: 0.99, high: 1.02 });
    assert!((found - 0.026_622).abs() < 1e-6, "{found}");
    assert!(detectable(1.0, kernels::stats::Interval { low: 1.0, high: 1.0 }).abs() < 1e-12);
}

/// Samples around a median, with normal noise of 1 %.
fn noisy(random: &mut kernels::random::Random, median: f64) -> Vec<f64> {
    (0..40).map(|_| median * (1.0 + 0.01 * random.normal())).collect()
}

#[test]
fn a_detectable_difference_is_found_four_times_of_five_and_half_of_it_is_not() {
    let mut random = kernels::random::Random::new(5);
    let mut trial = |slower: f64| {
        let found = (0..400).filter(|_| {
            let (a, b) = (noisy(&mut random, 1.0), noisy(&mut random, 1.0));
            let size = compare(&a, &b, None).unwrap().detectable.unwrap();
            let b: Vec<f64> = b.iter().map(|time| time * (1.0 + slower * size)).collect();
            compare(&a, &b, None).unwrap().differs()
        });
        found.count() as f64 / 400.0
    };
    let found = [1.0, 0.5, 0.0].map(&mut trial);
    // The interval of the median is conservative, so more is found than promised; half the size is not.
    assert!(found[0] >= 0.8, "of the size that is told: {found:?}");
    assert!(found[1] < 0.5, "of half of it: {found:?}");
    assert!(found[2] < 0.03, "where nothing differs: {found:?}");
}

#[test]
fn a_threshold_is_missed_only_outside_the_interval() {
    // Ratios of time 1.02 to 1.04 are speeds of 0.962 to 0.980.
    for (least, expected) in [
        (0.95, Judged::Reached),
        (0.97, Judged::Open),
        (0.99, Judged::Missed),
        (1.0, Judged::Missed),
    ] {
        assert_eq!(Judged::of(1.02, 1.04, least), expected, "{least}");
    }
}
