//! Errors of the expectations in a sentence: the median and the largest, or of few points the largest alone; and the same before a
//! calibration.

use report::number_text::percent;
use report::output::accuracy::Typical;
use report::output::words::advice::capital;

/// Absolute values of relative errors.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Errors(Vec<f64>);

impl Errors {
    /// An empty collection.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds an error; its sign is dropped.
    pub fn push(&mut self, error: f64) {
        self.0.push(error.abs());
    }

    /// Adds an error, if there is one.
    pub fn extend(&mut self, error: Option<f64>) {
        self.0.extend(error.map(f64::abs));
    }

    /// Whether no error was added.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn worst(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }

    /// The error that stands for all; `None` without errors.
    fn typical(&self) -> Option<Typical> {
        (!self.is_empty()).then(|| Typical::of(self.0.iter().copied()))
    }

    /// The median and the largest error, and the former before a calibration; of few points the largest alone; empty without
    /// errors. `fitted` is the number of further points, to whose shapes the calibration was fitted.
    pub fn sentence(&self, before: &Self, fitted: usize) -> String {
        let part = match fitted {
            0 => "",
            _ => " that took no part in the calibration",
        };
        let Some(typical) = self.typical() else { return none_left(fitted) };
        let (off, worst) = (percent(typical.error()), percent(self.worst()));
        let now = match (typical, self.0.len()) {
            (_, 1) => format!("The expected time{part} is off by {off}."),
            (Typical::Largest(_), few) => {
                format!("{few} expected times{part} are off by at most {worst}.")
            }
            (Typical::Median(_), many) => {
                let half = format!("Of {many} expected times{part} half are off by at most {off}");
                format!("{half}, the worst by {worst}.")
            }
        };
        match before.typical() {
            Some(before) => format!(
                "{now} {} of these points: {} before, {off} with the calibration.",
                capital(typical.name()),
                percent(before.error())
            ),
            None => now,
        }
    }
}

/// All points are of shapes to which the calibration was fitted; empty without such points.
fn none_left(fitted: usize) -> String {
    if fitted == 0 {
        return String::new();
    }
    "The calibration was fitted to these shapes, so they do not test it; a spot check of another shape does.".to_owned()
}

/// Largest difference between measured roofs and those of the chosen device; empty without roofs.
pub fn roof_sentence(errors: &Errors) -> String {
    if errors.is_empty() {
        return String::new();
    }
    format!(
        "These are roofs: lines of the chart and no points. The largest difference to those of the chosen device is {}.",
        percent(errors.worst())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(all: &[f64]) -> Errors {
        let mut errors = Errors::new();
        for error in all {
            errors.push(*error);
        }
        errors
    }

    #[test]
    fn the_median_is_that_of_the_sizes() {
        assert_eq!(of(&[]).sentence(&of(&[]), 0), "");
        let mut many = [0.1; 10];
        (many[3], many[6]) = (-0.5, 0.02);
        let said = of(&many).sentence(&of(&[]), 0);
        assert!(said.contains(&format!("half are off by at most {}", percent(0.1))), "{said}");
        assert!(said.contains(&percent(0.5)) && !said.contains("before"), "{said}");
    }

    #[test]
    fn fewer_than_ten_points_have_no_median() {
        let said = of(&[-0.5, 0.1, 0.02, 0.1]).sentence(&of(&[0.6, 0.6, 0.6, 0.7]), 0);
        let (before, worst) = (percent(0.7), percent(0.5));
        assert!(
            said.starts_with(&format!("4 expected times are off by at most {worst}. ")),
            "{said}"
        );
        assert!(
            said.contains(&format!("Largest error of these points: {before} before, {worst} with"))
        );
    }

    #[test]
    fn a_calibration_says_what_the_median_was_before() {
        let said = of(&[-0.05; 11]).sentence(&of(&[0.31; 11]), 0);
        let (before, after) = (percent(0.31), percent(0.05));
        assert!(
            said.ends_with(&format!(
                "Median error of these points: {before} before, {after} with the calibration."
            )),
            "{said}"
        );
    }

    #[test]
    fn the_headline_is_of_points_that_took_no_part() {
        let said = of(&[0.05, 0.2]).sentence(&of(&[]), 33);
        assert!(said.starts_with("2 expected times that took no part in the"), "{said}");
        assert!(of(&[]).sentence(&of(&[]), 33).contains("do not test it"));
    }

    #[test]
    fn roofs_have_a_sentence_of_their_own() {
        assert_eq!(roof_sentence(&of(&[])), "");
        assert!(roof_sentence(&of(&[0.02, -0.07])).contains(&percent(0.07)));
    }
}
