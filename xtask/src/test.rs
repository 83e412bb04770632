//! `cargo xtask test`: every check in stages. The first failure ends the run; the last line printed counts the stages, for CI.

use core::time::Duration;
use std::process::ExitCode;
use std::time::Instant;

use crate::child::{cargo, run};
use crate::lock::FolderLock;
use crate::places::Places;

mod browser;
mod examples;
mod readme;
mod stages;
mod trunk;
mod wasm_bits;

/// What a stage that did not fail has to say.
enum Outcome {
    Passed,
    /// It could not run here, and why. This is printed, never silent.
    NotRun(String),
}

struct Stage {
    name: &'static str,
    /// Also part of `--quick`.
    quick: bool,
    check: fn(&Run) -> anyhow::Result<Outcome>,
}

/// What a stage can look at.
struct Run<'a> {
    places: &'a Places,
    quick: bool,
}

/// One row of the final table.
struct Row {
    name: &'static str,
    verdict: String,
    time: Duration,
}

pub(crate) fn run_stages(places: &Places, quick: bool) -> anyhow::Result<ExitCode> {
    let _only_one_test_run = FolderLock::wait(&places.own)?;
    let mut rows = Vec::new();
    let mut passed = 0;
    let mut failed = 0;
    for stage in stages::STAGES {
        let (row, verdict) = if quick && !stage.quick {
            (
                Row {
                    name: stage.name,
                    verdict: "left out by --quick".to_owned(),
                    time: Duration::ZERO,
                },
                None,
            )
        } else {
            run_stage(stage, &Run { places, quick })
        };
        rows.push(row);
        match verdict {
            Some(true) => passed += 1,
            Some(false) => failed += 1,
            None => {}
        }
        if failed > 0 {
            break;
        }
    }
    print_table(&rows);
    println!("{passed} passed, {failed} failed");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The stage's row, and whether it passed if it ran.
fn run_stage(stage: &Stage, run: &Run) -> (Row, Option<bool>) {
    println!("\n== {}", stage.name);
    let start = Instant::now();
    let outcome = (stage.check)(run);
    let time = start.elapsed();
    let (verdict, passed) = match outcome {
        Ok(Outcome::Passed) => ("passed".to_owned(), Some(true)),
        Ok(Outcome::NotRun(reason)) => (format!("not run: {reason}"), None),
        Err(error) => {
            println!("{error:#}");
            ("FAILED; the stages after it did not run".to_owned(), Some(false))
        }
    };
    println!("== {}: {verdict} ({:.1} s)", stage.name, time.as_secs_f64());
    (Row { name: stage.name, verdict, time }, passed)
}

fn print_table(rows: &[Row]) {
    println!("\n{:>8}  stage", "seconds");
    for row in rows {
        println!("{:>8.1}  {:<32} {}", row.time.as_secs_f64(), row.name, row.verdict);
    }
    let total: Duration = rows.iter().map(|row| row.time).sum();
    println!("{:>8.1}  in all", total.as_secs_f64());
}

/// The property tests with many more cases, compiled for speed but with the checks of a debug build.
pub(crate) fn soak(places: &Places) -> anyhow::Result<()> {
    let _lock = FolderLock::wait(&places.target)?;
    let mut command = cargo(places);
    command.args(["test", "--workspace", "--profile", "native"]).env("PROPTEST_CASES", "20000");
    command
        .env("CARGO_PROFILE_NATIVE_DEBUG_ASSERTIONS", "true")
        .env("CARGO_PROFILE_NATIVE_OVERFLOW_CHECKS", "true");
    run(&mut command)
}

pub(crate) fn bench(places: &Places) -> anyhow::Result<()> {
    let _lock = FolderLock::wait(&places.target)?;
    run(cargo(places).args(["bench", "--workspace"]))
}
