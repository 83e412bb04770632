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

    /// The median and the largest error, and the former before a calibration; of few points the largest alone; empty without errors.
    pub fn sentence(&self, before: &Self) -> String {
        let Some(typical) = self.typical() else { return String::new() };
        let (off, worst) = (percent(typical.error()), percent(self.worst()));
        let now = match (typical, self.0.len()) {
            (_, 1) => format!("The expected time is off by {off}."),
            (Typical::Largest(_), few) => {
                format!("{few} expected times are off by at most {worst}.")
            }
            (Typical::Median(_), many) => {
                format!(
                    "Of {many} expected times half are off by at most {off}, the worst by {worst}."
                )
            }
        };
        self.since(now, before)
    }

    /// The errors of points that took no part in a calibration, by kernel as the calibration file tells them; beside points to which it
    /// was fitted.
    pub fn held_out(&self, by_kernel: &[(String, Self)], before: &Self) -> String {
        if self.is_empty() {
            return "The calibration was fitted to these shapes, so they do not test it; a spot check of another shape does.".to_owned();
        }
        let part = |(kernel, errors): &(String, Self)| {
            let typical = errors.typical()?;
            let (name, off) = (typical.name(), percent(typical.error()));
            Some(format!("{name} {off} of {} of {kernel}", counted(errors.0.len())))
        };
        let parts: Vec<String> = by_kernel.iter().filter_map(part).collect();
        let now = format!("Not fitted, but expected: {}.", parts.join(", "));
        self.since(now, before)
    }

    /// A sentence, and one about the same points before a calibration.
    fn since(&self, now: String, before: &Self) -> String {
        let Some(typical) = self.typical() else { return now };
        let off = percent(typical.error());
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

/// The sentence about measured times that lie outside their expected intervals, if they are more than the fifth that intervals leave
/// out; else empty.
pub fn outside_sentence(outside: usize, of: usize) -> String {
    if outside * 5 <= of {
        return String::new();
    }
    let are = if outside == 1 { "time is" } else { "times are" };
    format!(
        " {outside} of {of} measured {are} outside the expected interval: a calibration, some minutes, measures the factors of this machine."
    )
}

/// A number of points with its noun.
fn counted(points: usize) -> String {
    format!("{points} {}", if points == 1 { "point" } else { "points" })
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
        assert_eq!(of(&[]).sentence(&of(&[])), "");
        let mut many = [0.1; 10];
        (many[3], many[6]) = (-0.5, 0.02);
        let said = of(&many).sentence(&of(&[]));
        assert!(said.contains(&format!("half are off by at most {}", percent(0.1))), "{said}");
        assert!(said.contains(&percent(0.5)) && !said.contains("before"), "{said}");
    }

    #[test]
    fn fewer_than_ten_points_have_no_median() {
        let said = of(&[-0.5, 0.1, 0.02, 0.1]).sentence(&of(&[0.6, 0.6, 0.6, 0.7]));
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
        let said = of(&[-0.05; 11]).sentence(&of(&[0.31; 11]));
        let (before, after) = (percent(0.31), percent(0.05));
        assert!(
            said.ends_with(&format!(
                "Median error of these points: {before} before, {after} with the calibration."
            )),
            "{said}"
        );
    }

    #[test]
    fn points_that_took_no_part_in_a_calibration_are_told_by_kernel() {
        let kinds = [("GEMV".to_owned(), of(&[0.05; 10])), ("GEMM".to_owned(), of(&[0.2]))];
        let all = of(&[0.05, 0.2]);
        let said = all.held_out(&kinds, &of(&[0.5, 0.6]));
        let (half, one, before) = (percent(0.05), percent(0.2), percent(0.6));
        assert_eq!(
            said,
            format!(
                "Not fitted, but expected: median error {half} of 10 points of GEMV, largest error {one} of 1 point of GEMM. Largest error of these points: {before} before, {one} with the calibration."
            )
        );
        assert!(of(&[]).held_out(&[], &of(&[])).contains("do not test it"));
    }

    #[test]
    fn a_calibration_is_advised_where_more_than_a_fifth_is_outside() {
        assert_eq!([(0, 0), (0, 9), (1, 5)].map(|(a, b)| outside_sentence(a, b)).concat(), "");
        assert!(outside_sentence(1, 1).starts_with(" 1 of 1 measured time is outside"));
        assert!(outside_sentence(13, 18).starts_with(" 13 of 18 measured times are outside"));
    }

    #[test]
    fn roofs_have_a_sentence_of_their_own() {
        assert_eq!(roof_sentence(&of(&[])), "");
        assert!(roof_sentence(&of(&[0.02, -0.07])).contains(&percent(0.07)));
    }
}
