//! `cargo xtask test`: every check in stages. The first failure ends the run; the last line printed counts the stages, for CI.

use core::fmt::{self, Display};
use core::time::Duration;
use std::process::ExitCode;
use std::time::Instant;

use crate::child::{cargo, run};
use crate::lock::FolderLock;
use crate::places::Places;

pub(crate) mod browser;
mod counts;
mod cuda;
mod deny;
mod engine;
mod examples;
mod mcp;
mod mutants;
mod readme;
mod stages;
mod trunk;
mod wasm_bits;

/// The result of a stage that did not fail.
enum Outcome {
    Passed,
    /// It could not run here, and why.
    NotRun(String),
}

struct Stage {
    name: &'static str,
    /// Also part of `--quick`.
    quick: bool,
    check: fn(&Run) -> anyhow::Result<Outcome>,
}

/// The input of every stage.
struct Run<'a> {
    places: &'a Places,
    quick: bool,
}

/// How a stage ended. Only the first two count; the others are named in the table, never silent.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    NotRun(String),
    LeftOut,
}

/// One row of the final table.
struct StageRow {
    name: &'static str,
    verdict: Verdict,
    time: Duration,
}

pub(crate) fn run_stages(places: &Places, quick: bool) -> anyhow::Result<ExitCode> {
    let _only_one_test_run = FolderLock::wait(&places.own)?;
    let rows = rows_until_failure(stages::STAGES, &Run { places, quick });
    print_table(&rows);
    let failed = count(&rows, &Verdict::Failed);
    println!("{} passed, {failed} failed", count(&rows, &Verdict::Passed));
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn rows_until_failure(stages: &[Stage], run: &Run) -> Vec<StageRow> {
    let mut rows = Vec::new();
    for stage in stages {
        let row = run_stage(stage, run);
        let failed = row.verdict == Verdict::Failed;
        rows.push(row);
        if failed {
            break;
        }
    }
    rows
}

fn run_stage(stage: &Stage, run: &Run) -> StageRow {
    if run.quick && !stage.quick {
        return StageRow { name: stage.name, verdict: Verdict::LeftOut, time: Duration::ZERO };
    }
    println!("\n== {}", stage.name);
    let start = Instant::now();
    let verdict = match (stage.check)(run) {
        Ok(Outcome::Passed) => Verdict::Passed,
        Ok(Outcome::NotRun(reason)) => Verdict::NotRun(reason),
        Err(error) => {
            println!("{error:#}");
            Verdict::Failed
        }
    };
    let time = start.elapsed();
    println!("== {}: {verdict} ({:.1} s)", stage.name, time.as_secs_f64());
    StageRow { name: stage.name, verdict, time }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::Failed => f.write_str("FAILED; the stages after it were not run"),
            Self::NotRun(reason) => write!(f, "stage not run: {reason}"),
            Self::LeftOut => f.write_str("left out by --quick"),
        }
    }
}

fn count(rows: &[StageRow], verdict: &Verdict) -> usize {
    rows.iter().filter(|row| row.verdict == *verdict).count()
}

fn print_table(rows: &[StageRow]) {
    println!("\n{:>8}  stage", "seconds");
    for row in rows {
        println!("{:>8.1}  {:<32}  {}", row.time.as_secs_f64(), row.name, row.verdict);
    }
    let total: Duration = rows.iter().map(|row| row.time).sum();
    println!("{:>8.1}  in all", total.as_secs_f64());
}

/// Seconds of each fuzz target in a soak; without it they have three.
const FUZZ_SECONDS: &str = "300";

/// The property tests with many more cases, the fuzz targets for minutes, and the daemon under load for ten minutes, compiled for speed
/// but with the checks of a debug build; then the mutants.
pub(crate) fn soak(places: &Places) -> anyhow::Result<()> {
    let _lock = FolderLock::of_target(places)?;
    let mut command = cargo(places);
    command
        .args(["test", "--workspace", "--exclude", "xtask", "--profile", "native"])
        .args(["--features", "companion/soak"])
        .env("PROPTEST_CASES", "20000")
        .env("RIDGEPOINT_ALL_SHAPES", "1")
        .env("RIDGEPOINT_FUZZ_SECONDS", FUZZ_SECONDS);
    command
        .env("CARGO_PROFILE_NATIVE_DEBUG_ASSERTIONS", "true")
        .env("CARGO_PROFILE_NATIVE_OVERFLOW_CHECKS", "true");
    run(&mut command)?;
    mutants::test_all(places)
}

pub(crate) fn bench(places: &Places) -> anyhow::Result<()> {
    let _lock = FolderLock::of_target(places)?;
    run(cargo(places).args(["bench", "--workspace", "--exclude", "xtask"]))
}

/// Fits the constants of expected times; about a minute on two cores.
pub(crate) fn fit(places: &Places) -> anyhow::Result<()> {
    let _lock = FolderLock::of_target(places)?;
    let fit = ["run", "--release", "--quiet", "--package", "validation", "--bin", "fit"];
    run(cargo(places).args(fit))
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    const GOOD: Stage = Stage { name: "good", quick: true, check: |_| Ok(Outcome::Passed) };
    const SLOW: Stage = Stage { name: "slow", quick: false, check: |_| Ok(Outcome::Passed) };
    const ABSENT: Stage = Stage {
        name: "absent",
        quick: true,
        check: |_| Ok(Outcome::NotRun("no trunk".to_owned())),
    };
    const BAD: Stage = Stage { name: "bad", quick: true, check: |_| bail!("broken on purpose") };

    fn rows(stages: &[Stage], quick: bool) -> Vec<StageRow> {
        let nowhere = || std::path::PathBuf::new();
        let places =
            Places { root: nowhere(), target: nowhere(), cache: nowhere(), own: nowhere() };
        rows_until_failure(stages, &Run { places: &places, quick })
    }

    #[test]
    fn the_first_failure_ends_the_run() {
        let rows = rows(&[GOOD, BAD, GOOD], false);
        assert_eq!(rows.len(), 2);
        assert_eq!(count(&rows, &Verdict::Passed), 1);
        assert_eq!(count(&rows, &Verdict::Failed), 1);
    }

    #[test]
    fn what_did_not_run_has_not_passed() {
        let rows = rows(&[GOOD, SLOW, ABSENT], true);
        assert_eq!(rows[1].verdict, Verdict::LeftOut);
        assert_eq!(rows[2].verdict.to_string(), "stage not run: no trunk");
        assert_eq!(count(&rows, &Verdict::Passed), 1);
    }
}
