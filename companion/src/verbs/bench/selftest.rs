//! `bench selftest`: the method's error rates on this machine now: how often equal work is reported as different, and how often 2 %
//! more work is detected. With a device instead: its kernels against their references.

mod checks;
mod vectors;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgMatches, Command, ValueHint, value_parser};
use kernels::cpu::clock::SystemClock;
use kernels::cpu::isa::Isa;
use kernels::cpu::peak;
use kernels::cpu::threads::Pool;
use kernels::measure::{Clock, Pair, Plan, StopRule, Stopped, WarmUp, interleave};
use report::output::summary::Document;
use report::output::table::{Align, Table};
use serde_json::{Value, json};

use super::flags;
use super::point::Line;
use crate::failure::Failure;
use crate::measure::turn::Turn;
use crate::output::{self, Answer, Form, Rows};

/// Number of rounds of the reference work; about 100 µs.
const ROUNDS: u64 = 50_000;
/// Number of rounds of the work that is 2 % longer.
const MORE: u64 = ROUNDS / 50;
/// Default number of comparisons of each kind.
const TRIALS: u64 = 40;

pub(super) fn command() -> Command {
    let trials = clap::Arg::new("trials")
        .long("trials")
        .value_name("N")
        .allow_negative_numbers(true)
        .help("Number of comparisons of each kind; default 40");
    let file = |name: &'static str, help: &'static str| {
        let file = clap::Arg::new(name).long(name).value_name("FILE").requires("device");
        file.value_hint(ValueHint::FilePath).value_parser(value_parser!(PathBuf)).help(help)
    };
    let device = flags::device().conflicts_with("trials").help(
        "Check every kernel of this device against the f64 reference instead, at small sizes: cpu, cuda:0",
    );
    Command::new("selftest")
        .about("Error rates of the method here: how often equal work seems different, and how often 2 % more work is found; or the kernels of a device against their references")
        .arg(trials)
        .arg(device)
        .arg(file("vectors", "With --device: write outputs of its products with packed weights to this file, as numbers"))
        .arg(file("against", "With --device: compare its outputs with those of another device in this file"))
        .arg(output::argument())
        .after_help(
            "On a quiet machine at most 5 % of the equal pairs seem different and at least 95 % of the slower ones are found. \
             The result does not change the exit code, because a busy machine finds less. \
             With --device wrong results end with exit code 1.\n\nExamples:\n  ridgepoint bench selftest --trials 100\n  \
             ridgepoint bench selftest --device cpu --vectors cpu.jsonl\n  \
             ridgepoint bench selftest --device cuda:0 --against cpu.jsonl",
        )
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    if matches.contains_id("device") {
        return checks::run(matches);
    }
    let trials = flags::whole(matches, "trials", 1, 10_000)?.unwrap_or(TRIALS);
    let mut test =
        SelfTest { clock: SystemClock::new(), pool: Pool::new(Some(1)), isa: Isa::best() };
    let _turn = Turn::wait()?;
    let line = Line::new("self-test".into());
    let (mut alarms, mut found, mut unsure) = (0, 0, 0);
    for trial in 0..trials {
        line.write(&format!("{} of {trials}", trial + 1));
        let equal = test.compare(ROUNDS, trial)?;
        let slower = test.compare(ROUNDS + MORE, trial + trials)?;
        alarms += u64::from(equal.0);
        found += u64::from(slower.0);
        unsure += u64::from(equal.1) + u64::from(slower.1);
    }
    line.end();
    answer(trials, alarms, found, unsure).print(Form::of(matches))
}

/// Runs on one thread: interference by other programs is part of the test.
struct SelfTest {
    clock: SystemClock,
    pool: Pool,
    isa: Isa,
}

impl SelfTest {
    /// Compares work of this many rounds with the reference. Returns whether they differ, and whether the time limit was reached.
    fn compare(&mut self, rounds: u64, seed: u64) -> Result<(bool, bool), Failure> {
        let plan = Plan {
            warm_up: WarmUp {
                least: Duration::ZERO,
                most: Duration::from_millis(200),
                ..Plan::STANDARD.warm_up
            },
            window: Duration::from_micros(200),
            rule: StopRule::Certain {
                half_width: 0.005,
                least: 20,
                shortest: Duration::from_millis(50),
                limit: Duration::from_secs(2),
            },
        };
        let (isa, pool) = (self.isa, std::cell::RefCell::new(&mut self.pool));
        let work = |rounds: u64| {
            pool.borrow_mut().run(|_| {
                std::hint::black_box(peak::fma(isa, std::hint::black_box(rounds)));
            });
            Ok::<(), ()>(())
        };
        let mut pair = Pair { a: &mut |_| work(ROUNDS), b: &mut |_| work(rounds), seed };
        let clock: &dyn Clock = &self.clock;
        let compared = interleave(clock, &plan, &mut pair, &mut |_| ControlFlow::Continue(()));
        let compared = compared.map_err(|stopped: Stopped<()>| {
            Failure::Failed(format!("the self-test stopped: {stopped:?}"))
        })?;
        let late = compared.flags.contains(&kernels::measure::Flag::TimeLimit);
        Ok((compared.differs, late))
    }
}

fn answer(trials: u64, alarms: u64, found: u64, unsure: u64) -> Answer {
    let share = |count: u64| count as f64 / trials as f64;
    let (false_alarms, detected) = (share(alarms), share(found));
    let holds = false_alarms <= 0.05 && detected >= 0.95;
    let mut document = Document::default();
    document.heading("The method on this machine");
    let mut table = Table::new(&[
        ("what", Align::Left),
        ("comparisons", Align::Right),
        ("reported different", Align::Right),
        ("target", Align::Left),
    ]);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    table.push(vec![
        "equal work".into(),
        trials.to_string(),
        percent(false_alarms),
        "at most 5 %".into(),
    ]);
    table.push(vec![
        "2 % more work".into(),
        trials.to_string(),
        percent(detected),
        "at least 95 %".into(),
    ]);
    document.table(table);
    document.line(if holds {
        "This machine can resolve differences of 2 % now."
    } else {
        "This machine is too busy now to resolve differences of 2 %. Close other programs and try again."
    });
    let value: Value = json!({
        "schema": 1,
        "trials": trials,
        "false_alarm_share": false_alarms,
        "detected_share": detected,
        "time_limit_share": unsure as f64 / (2 * trials) as f64,
        "holds": holds,
    });
    Answer { document, value, rows: Rows::One }
}
