//! A target: its corpus whole, then damaged, until its time is over.

use core::cell::Cell;
use std::env;
use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::test_runner::{Config, TestError, TestRunner};

use crate::damage::{Damage, Material, damage};
use crate::limits::{Watch, within_memory};

/// The seconds that each target may take; `cargo xtask soak` sets it.
const SECONDS: &str = "RIDGEPOINT_FUZZ_SECONDS";
/// Without it: eight targets take some 30 s in all.
const USUAL: Duration = Duration::from_secs(3);
/// Longest further time of a target that accepted or refused all inputs until then.
const MORE: Duration = Duration::from_secs(30);
/// Damaged inputs between two looks at the clock.
const BATCH: u32 = 50;
/// Most damages of one input.
const MOST: usize = 5;

/// A reader's inputs.
#[derive(Debug)]
pub struct Target<'a> {
    pub name: &'a str,
    /// Inputs of real use, and those that once failed.
    pub inputs: Vec<Vec<u8>>,
    /// Words of the format.
    pub words: &'a [&'a str],
}

/// An input of a target.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The number of the input from which it was made.
    pub of: usize,
    /// That input.
    pub whole: &'a [u8],
    pub bytes: &'a [u8],
}

impl Case<'_> {
    /// True for an input as it is in the corpus.
    pub fn is_whole(&self) -> bool {
        self.whole == self.bytes
    }

    /// The input as text; what is not UTF-8 becomes replacement characters, as a file that is dropped on the page.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.bytes).into_owned()
    }
}

/// The answer of the reader to a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    Refused,
}

impl Target<'_> {
    /// Checks every input as it is, then damaged ones until the time is over. `check` panics where something does not hold.
    ///
    /// # Panics
    /// If `check` does, if a case takes too much memory, and if no damaged input was accepted or none refused: then nothing was checked.
    pub fn run(&self, check: impl Fn(&Case<'_>) -> Verdict) {
        self.run_for(time(env::var(SECONDS).ok().as_deref()), check);
    }

    fn run_for(&self, time: Duration, check: impl Fn(&Case<'_>) -> Verdict) {
        let watch = Watch::start(self.name);
        let end = Instant::now() + time;
        let answered = |of: usize, bytes: &[u8]| {
            watch.begin(format!("{:?}", bytes.escape_ascii().to_string()));
            within_memory(|| check(&Case { of, whole: &self.inputs[of], bytes }))
        };
        for (of, input) in self.inputs.iter().enumerate() {
            answered(of, input);
        }
        let (accepted, refused) = (Cell::new(0_u64), Cell::new(0_u64));
        let cases = (0..self.inputs.len(), vec(damage(), 1..=MOST));
        let config = Config { cases: BATCH, failure_persistence: None, ..Config::default() };
        let is_one_sided = || accepted.get() == 0 || refused.get() == 0;
        while Instant::now() < end || (is_one_sided() && Instant::now() < end + MORE) {
            // A runner counts its cases to the end of its life.
            let batch = TestRunner::new(config.clone()).run(&cases, |(of, damages)| {
                let count = match answered(of, &self.damaged(of, &damages)) {
                    Verdict::Accepted => &accepted,
                    Verdict::Refused => &refused,
                };
                count.set(count.get() + 1);
                Ok(())
            });
            if let Err(error) = batch {
                panic!("{}", self.told(&error));
            }
        }
        let (accepted, refused) = (accepted.get(), refused.get());
        seen(self.name, accepted, refused);
    }

    fn damaged(&self, of: usize, damages: &[Damage]) -> Vec<u8> {
        let mut bytes = self.inputs[of].clone();
        let material = Material { inputs: &self.inputs, words: self.words };
        for damage in damages {
            damage.apply(&mut bytes, material);
        }
        bytes
    }

    /// A failure with the smallest input that still fails, to be put into the corpus.
    fn told(&self, error: &TestError<(usize, Vec<Damage>)>) -> String {
        let TestError::Fail(reason, (of, damages)) = error else { return error.to_string() };
        let bytes = self.damaged(*of, damages);
        format!(
            "fuzz target {}: {reason}\ninput {of} with {damages:?}:\nb\"{}\"",
            self.name,
            bytes.escape_ascii()
        )
    }
}

/// Says how many damaged inputs a target had; without both kinds nothing was checked.
fn seen(target: &str, accepted: u64, refused: u64) {
    println!("fuzz target {target}: {accepted} damaged inputs accepted, {refused} refused");
    assert!(accepted > 0 && refused > 0, "{target}: nothing was checked");
}

/// The time of a target.
fn time(seconds: Option<&str>) -> Duration {
    seconds.map_or(USUAL, |seconds| {
        Duration::from_secs(seconds.parse().unwrap_or_else(|_| panic!("{SECONDS} is no number")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_millis(300);

    fn target() -> Target<'static> {
        Target { name: "test", inputs: vec![b"a=1\n".to_vec(), b"b=22\n".to_vec()], words: &["=="] }
    }

    fn verdict(accepted: bool) -> Verdict {
        if accepted { Verdict::Accepted } else { Verdict::Refused }
    }

    #[test]
    fn the_corpus_comes_first_and_then_damaged_forms_of_all_of_it() {
        let (seen, whole) = (Cell::new([0_u32; 2]), Cell::new(0_usize));
        target().run_for(TIME, |case| {
            if case.is_whole() && whole.get() < 2 {
                assert_eq!(case.of, whole.get(), "in order");
                whole.set(whole.get() + 1);
            }
            let mut counts = seen.get();
            counts[case.of] += 1;
            seen.set(counts);
            verdict(case.bytes.starts_with(b"a"))
        });
        assert_eq!(whole.get(), 2);
        assert!(seen.get().iter().all(|count| *count > 10), "{:?}", seen.get());
    }

    /// A reader that trusts a number is found out, with the bytes that show it.
    #[test]
    #[should_panic(expected = "fuzz target test: too large")]
    fn a_reader_that_breaks_is_found() {
        target().run_for(Duration::from_mins(1), |case| {
            let text = case.text();
            let number =
                text.split('=').nth(1).and_then(|number| number.trim().parse::<u64>().ok());
            assert!(number.is_none_or(|number| number < 1 << 40), "too large");
            verdict(number.is_some())
        });
    }

    #[test]
    fn a_reader_that_refuses_everything_is_found() {
        for (accepted, refused, checks) in [(0, 9, false), (9, 0, false), (1, 1, true)] {
            assert_eq!(
                std::panic::catch_unwind(|| seen("test", accepted, refused)).is_ok(),
                checks
            );
        }
    }

    #[test]
    fn the_time_comes_from_one_place() {
        assert_eq!(time(None), USUAL);
        assert_eq!(time(Some("300")), Duration::from_mins(5));
    }
}
