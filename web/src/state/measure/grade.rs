//! Grade of a measurement, and the warnings of a whole table.

use calc_core::device::Roof;
use protocol::bench::BenchRecord;
use report::number_text;
use report::output::verdict;
use report::output::words::roofs;

use super::predict::ExpectedTime;

/// How far a measured time can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Nothing disturbed it.
    Good,
    /// Disturbed: right in size, not in its last digits.
    Noisy,
    /// Wrong result, or faster than its roof.
    Unusable,
}

impl Grade {
    /// The grade in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Noisy => "noisy",
            Self::Unusable => "do not use",
        }
    }

    /// Consequence of the grade for a reader.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Good => "Nothing disturbed this measurement.",
            Self::Noisy => {
                "Something disturbed this measurement; measure it again before you rely on a few percent."
            }
            Self::Unusable => {
                "The result was wrong, or the time is shorter than the roof allows. If the roof was measured while other programs ran, measure it again first."
            }
        }
    }
}

/// Grade of a record, with a sentence for each flag and each contradiction.
pub fn grade(record: &BenchRecord, expected: Option<&ExpectedTime>) -> (Grade, Vec<String>) {
    let flagged = record.flags.iter().map(|flag| of_flag(flag));
    let wrong = is_wrong(record).then(|| (Grade::Unusable, wrong_by(record)));
    let above = above_roof(record, expected).map(|(times, disturbed)| match disturbed {
        // The roof is what cannot be trusted.
        Some(roof) => (Grade::Good, roofs::above_disturbed(times, roof)),
        None => (Grade::Unusable, impossible(times)),
    });
    let all: Vec<(Grade, String)> = wrong.into_iter().chain(above).chain(flagged).collect();
    let worst = all.iter().map(|(grade, _)| *grade).max().unwrap_or(Grade::Good);
    (worst, all.into_iter().map(|(_, text)| text).collect())
}

/// Warnings of a table: each kind once, with the names of its rows.
pub fn warnings<'a>(
    rows: impl Iterator<Item = (&'a BenchRecord, Option<&'a ExpectedTime>, &'a str)>,
) -> Vec<String> {
    let (mut wrong, mut above, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    let (mut too_low, mut farthest) = (Vec::new(), None::<(f64, Roof)>);
    for (record, expected, name) in rows {
        if is_wrong(record) {
            wrong.push(name);
        }
        match above_roof(record, expected) {
            None => {}
            Some((times, None)) => {
                above.push(name);
                most = most.max(times);
            }
            Some((times, Some(roof))) => {
                too_low.push(name);
                farthest = farthest.filter(|(most, _)| *most >= times).or(Some((times, roof)));
            }
        }
    }
    let wrong = (!wrong.is_empty())
        .then(|| format!("The result is wrong in {}: do not use the time.", listed(&mut wrong)));
    let above = verdict::above_roof(most).map(|text| format!("{}: {text}", listed(&mut above)));
    let too_low = farthest.map(|(times, roof)| {
        format!("{}: up to {}", listed(&mut too_low), roofs::above_disturbed(times, roof))
    });
    wrong.into_iter().chain(above).chain(too_low).collect()
}

/// Number of rows, and the distinct names of the first few.
fn listed(names: &mut Vec<&str>) -> String {
    const SHOWN: usize = 4;
    let rows = names.len();
    let mut known: Vec<&str> = Vec::new();
    names.retain(|name| {
        let is_new = !known.contains(name);
        known.push(name);
        is_new
    });
    let more = if names.len() > SHOWN { " and others" } else { "" };
    let names = names[..names.len().min(SHOWN)].join(", ");
    let noun = if rows == 1 { "row" } else { "rows" };
    format!("{} {noun} ({names}{more})", number_text::count(rows as u64))
}

fn impossible(times: f64) -> String {
    format!("{} the roof, which no kernel can be.", number_text::ratio(times))
}

const fn is_wrong(record: &BenchRecord) -> bool {
    !record.check.passed
}

fn wrong_by(record: &BenchRecord) -> String {
    let error = record.check.worst_error;
    let error = error.map_or_else(|| "more than any number".to_owned(), number_text::plain);
    let allowed = number_text::plain(record.check.tolerance);
    format!("The result is wrong by {error}, and {allowed} is allowed.")
}

/// Rate over the roof's, where it exceeds it, and the roof if something disturbed it while it was measured. Measured roofs may exceed those of a datasheet, so kernels without a shape, which are
/// roofs themselves, are never above one.
fn above_roof(
    record: &BenchRecord,
    expected: Option<&ExpectedTime>,
) -> Option<(f64, Option<Roof>)> {
    let product = expected.filter(|it| it.factors.is_some())?;
    let times = product.ideal.get() / record.time_s.median;
    verdict::above_roof(times).map(|_sentence| (times, product.disturbed))
}

/// Whether a flag says that something disturbed a record.
pub fn is_disturbed(record: &BenchRecord) -> bool {
    record.flags.iter().any(|flag| of_flag(flag).0 > Grade::Good)
}

/// A flag of the daemon in words.
fn of_flag(flag: &str) -> (Grade, String) {
    let text = match flag {
        "time_limit" => "The time limit came before the interval was narrow enough.",
        "unsteady" => "The time was not steady after the warm-up.",
        "drift" => "The time drifted while it was measured.",
        "throttled" => "The device lowered its clock.",
        "bimodal" => "The samples have two levels.",
        "contended" => "Other programs used the machine.",
        "autocorrelated" => {
            let text = "Samples depend on earlier ones; the interval accounts for it.";
            return (Grade::Good, text.to_owned());
        }
        "meters_apart" => {
            let text = "Two meters of the card disagree, so that its energy is doubtful.";
            return (Grade::Good, text.to_owned());
        }
        other => return (Grade::Noisy, format!("Flagged: {}.", other.replace('_', " "))),
    };
    (Grade::Noisy, text.to_owned())
}

#[cfg(test)]
mod tests {
    use calc_core::catalog;
    use calc_core::device::RoofSet;
    use calc_core::provenance::Provenance;
    use protocol::bench::Check;

    use super::*;
    use crate::state::measure::answer::tests::record;
    use crate::state::measure::predict::expected;
    use crate::state::place::Place;

    fn flagged(flags: &[&str]) -> BenchRecord {
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        BenchRecord { flags, ..record("int8", 0.001) }
    }

    fn wrong() -> BenchRecord {
        let check = Check { worst_error: None, tolerance: 1e-4, passed: false };
        BenchRecord { check, ..flagged(&["contended"]) }
    }

    #[test]
    fn a_row_has_the_worst_grade_of_its_flags_and_a_sentence_for_each() {
        for (record, expected, sentences) in [
            (flagged(&[]), Grade::Good, 0),
            (flagged(&["autocorrelated"]), Grade::Good, 1),
            (flagged(&["meters_apart"]), Grade::Good, 1),
            (flagged(&["throttled", "time_limit", "autocorrelated"]), Grade::Noisy, 3),
            (flagged(&["of_a_later_version"]), Grade::Noisy, 1),
            (wrong(), Grade::Unusable, 2),
        ] {
            let (grade, reasons) = grade(&record, None);
            assert_eq!((grade, reasons.len()), (expected, sentences), "{reasons:?}");
        }
    }

    #[test]
    fn a_time_above_the_roof_is_not_used() {
        let place = Place::of(catalog::device("epyc_9654").expect("catalog key"));
        let fast = record("int8", 1e-6);
        let known = expected(&fast, place).expect("it runs");
        let (grade, reasons) = grade(&fast, Some(&known));
        assert!(grade == Grade::Unusable && reasons[0].contains("the roof"), "{reasons:?}");
    }

    #[test]
    fn a_time_above_a_disturbed_roof_blames_the_roof() {
        let mut device = catalog::device("epyc_9654").expect("catalog key").clone();
        device.bandwidth.provenance = Provenance::Measured;
        device.measured.disturbed = RoofSet::NONE.with(Roof::Bandwidth);
        let fast = record("int8", 1e-6);
        let known = expected(&fast, Place::of(&device)).expect("it runs");
        let (grade, reasons) = grade(&fast, Some(&known));
        assert_eq!(grade, Grade::Good, "the point is not struck out");
        assert!(reasons[0].contains("roof is too low"), "{reasons:?}");
        let said = warnings([(&fast, Some(&known), "INT8")].into_iter());
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("1 row (INT8): up to "), "{said:?}");
        assert!(
            said[0].contains("the bandwidth was measured while other programs ran"),
            "{said:?}"
        );
    }

    #[test]
    fn a_warning_stands_once_for_all_its_rows() {
        let place = Place::of(catalog::device("epyc_9654").expect("catalog key"));
        let (wrong, fast, slow) = (wrong(), record("int8", 1e-6), record("int8", 1e-3));
        let known = expected(&fast, place).expect("it runs");
        let rows = [
            (&wrong, None, "FP16"),
            (&wrong, None, "FP16"),
            (&fast, Some(&known), "INT8"),
            (&slow, Some(&known), "INT8"),
        ];
        let said = warnings(rows.into_iter());
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("2 rows (FP16)"), "{said:?}");
        assert!(said[1].starts_with("1 row (INT8): ") && said[1].contains("Likely"), "{said:?}");
        assert!(warnings([(&slow, Some(&known), "INT8")].into_iter()).is_empty());
    }
}
