//! The verbs that calculate and measure: each turns flags or fields into an answer. The command line runs them all, and the daemon
//! answers REST requests with some of them (`api`).

mod analyze;
pub(crate) mod answer_keys;
pub(crate) mod api;
pub(crate) mod attach;
mod bench;
mod calibrate;
mod catalog;
mod check;
mod compare;
mod estimate;
mod flags;
mod inspect;
mod interval;
pub(crate) mod lines;
mod merge;
mod monitor;
mod plot;
mod power;
mod recommend;
mod requests;
mod schedule;
mod sensor_device;
mod sweep;
mod telemetry;
mod tiling;
mod unknown_file;
mod validate;
mod watch;

pub(crate) use bench::{CUDA_LIBS, cuda_libs};
use clap::{ArgMatches, Command};

use crate::failure::Failure;
use crate::interrupt;

/// The definitions of the verbs, in the order of the help.
pub(crate) fn commands() -> Vec<Command> {
    vec![
        catalog::hardware(),
        catalog::models(),
        catalog::formats(),
        inspect::command(),
        analyze::command(),
        estimate::command(),
        recommend::command(),
        schedule::command(),
        sweep::command(),
        merge::command(),
        tiling::command(),
        compare::command(),
        validate::command(),
        calibrate::command(),
        bench::command(),
        telemetry::command(),
        power::command(),
        monitor::command(),
        attach::command(),
        check::command(),
        plot::command(),
    ]
}

/// Ctrl-C during the verb with this name: the usual end of what runs until then, an interruption of all others.
pub(crate) fn listen_for_interrupts(verb: &str, matches: &ArgMatches) {
    match verb {
        // Its program decides what an interrupt means.
        "monitor" => {}
        "telemetry" | "attach" if watch::is_endless(matches) => interrupt::exits_with(0),
        "power" if power::watches(matches) => interrupt::exits_with(0),
        _ => interrupt::exits_with(interrupt::INTERRUPTED),
    }
}

/// Runs the verb with this name, which is one of [`commands`].
pub(crate) fn run(verb: &str, matches: &ArgMatches) -> Result<(), Failure> {
    match verb {
        "hardware" => catalog::run_hardware(matches),
        "models" => catalog::run_models(matches),
        "formats" => catalog::run_formats(matches),
        "inspect" => inspect::run(matches),
        "analyze" => requests::run(requests::Verb::Analyze, matches),
        "estimate" => requests::run(requests::Verb::Estimate, matches),
        "recommend" => recommend::run(matches),
        "schedule" => schedule::run(matches),
        "sweep" => sweep::run(matches),
        "merge" => merge::run(matches),
        "tiling" => tiling::run(matches),
        "compare" => compare::run(matches),
        "validate" => validate::run(matches),
        "calibrate" => calibrate::run(matches),
        "bench" => bench::run(matches),
        "telemetry" => telemetry::run(matches),
        "power" => power::run(matches),
        "monitor" => monitor::run(matches),
        "attach" => attach::run(matches),
        "check" => check::run(matches),
        "plot" => plot::run(matches),
        other => unreachable!("clap lets only known verbs through, not {other}"),
    }
}

/// The hidden verb that reads an inference server for a session of the daemon.
pub(crate) fn read_engine() -> Result<(), Failure> {
    attach::run_order()
}
