//! Published runs with weights on the host: the committed constants are the best fit of some, and the others are predicted.

use calc_core::tiers::{HostFactors, fitted};
use calc_core::units::Seconds;
use validation::tiers::{ROWS, SplitRun, Use, errors, median, read};

fn rows() -> Vec<SplitRun> {
    read(ROWS).expect("our file")
}

/// Mean error of the rows of the fit.
fn loss(rows: &[SplitRun], factors: HostFactors) -> f64 {
    let errors = errors(rows, Use::Fit, Some(factors)).expect("predictions");
    errors.iter().sum::<f64>() / errors.len() as f64
}

#[test]
fn no_other_constants_fit_better() {
    let rows = rows();
    let best = loss(&rows, fitted::HOST);
    for (memory, crossing, experts) in [
        (0.02, 0.0, 0.0),
        (-0.02, 0.0, 0.0),
        (0.0, 10e-6, 0.0),
        (0.0, -10e-6, 0.0),
        (0.0, 0.0, -0.05),
        (0.0, 0.0, 0.05),
        (0.02, 10e-6, 0.0),
        (-0.02, -10e-6, 0.0),
    ] {
        let mut other = fitted::HOST;
        other.processor.eta_memory += memory;
        other.crossing += Seconds::new(crossing);
        other.experts += experts;
        let worse = loss(&rows, other);
        assert!(worse >= best, "{worse} with {other:?}, {best} with the committed ones");
    }
}

#[test]
fn runs_that_were_not_used_are_predicted() {
    let rows = rows();
    let unused = errors(&rows, Use::Predict, None).expect("predictions");
    assert!(rows.len() >= 20 && unused.len() * 3 >= rows.len() * 2, "most are not used");
    let error = median(unused);
    assert!(error <= 0.25, "{error}");
    // The figure of docs/theory/two-tiers.md.
    assert!((error - 0.10).abs() < 0.005, "{error}");
}

#[test]
fn the_interval_holds_the_published_runs() {
    let rows = rows();
    // The interval that an answer prints.
    let inside = rows.iter().filter(|row| {
        let expected = row.span(None).expect("a prediction").expected;
        (expected.low..=expected.high).contains(&row.measured_time())
    });
    // The figure of docs/theory/two-tiers.md.
    assert_eq!((inside.count(), rows.len()), (22, 24));
}

#[test]
fn no_published_run_beats_the_roofs() {
    for row in rows() {
        let ideal = row.span(None).expect("a prediction").ideal;
        assert!(row.measured_time() >= ideal, "{}: {ideal:?}", row.id);
    }
}

#[test]
fn a_row_that_is_not_understood_is_refused() {
    for (from, to) in [("rtx_2080", "rtx_2081"), ("decode", "decoding"), (",fit,", ",fitted,")] {
        let wrong = ROWS.replacen(from, to, 1);
        assert!(read(&wrong).expect_err("a wrong cell").starts_with("t01"), "{to}");
    }
}
