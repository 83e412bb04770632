//! `monitor`: runs a program and samples power, clocks, utilization, memory and temperature of the machine around it.

mod cards;
mod energy;
mod run;
mod sampler;
mod series;
mod signals;
mod statistic;
mod summary;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, ValueHint, value_parser};

use super::interval::{self, Range};
use super::sensor_device;
use crate::failure::Failure;
use crate::files;
use crate::output::{self, Form};
use run::Run;
use series::Series;

/// At most 10 samples per second.
const INTERVALS: Range = Range { least: Duration::from_millis(100), most: Duration::from_mins(1) };

pub(super) fn command() -> Command {
    let file = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("FILE")
            .value_hint(ValueHint::FilePath)
            .value_parser(value_parser!(PathBuf))
            .help(help)
    };
    Command::new("monitor")
        .about("Run any program and sample power, clocks, utilization, memory and temperature around it")
        .args([
            interval::argument("Time between two samples, 100ms (default) to 1min"),
            file("series", "Write every sample to this file, by its ending as .csv or .jsonl"),
            file("output-file", "Write the summary to this file instead of stderr; as JSON unless -o says otherwise"),
            sensor_device::argument(
                "Meters of power of this device alone, and no other card: cpu, or a card as telemetry names it; the rest of the summary stays that of the machine",
            ),
            output::argument().help("Form of the summary on stderr; default: table"),
            Arg::new("command")
                .value_name("COMMAND")
                .value_hint(ValueHint::CommandWithArguments)
                .value_parser(value_parser!(OsString))
                .num_args(1..)
                .last(true)
                .required(true)
                .help("The program and its arguments"),
        ])
        .after_help(
            "The program keeps stdin, stdout and stderr; signals are passed on to it, and its exit code is that of monitor: 128 \
             and the signal's number if a signal ended it, 3 if it cannot be started. A sensor that cannot be read is null with \
             the reason, also one that does not answer within a second.\n\n\
             Examples:\n  ridgepoint monitor -- llama-bench -m model.gguf\n  \
             ridgepoint monitor --series run.csv --output-file run.json -- python3 train.py",
        )
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let path = |key: &str| matches.get_one::<PathBuf>(key);
    let command: Vec<OsString> =
        matches.get_many::<OsString>("command").into_iter().flatten().cloned().collect();
    let interval = interval::of(matches, INTERVALS.least, INTERVALS)?;
    if let Some(path) = path("output-file") {
        // Refused before the program runs for an hour.
        files::output(path).map_err(|why| Failure::bad(format!("{}: {why}", path.display())))?;
    }
    let device = sensor_device::asked(matches)?;
    let series = path("series").map(|path| Series::create(path)).transpose()?;
    let run = Run::of(&command, interval, device, series)?;
    let answer = summary::answer(&run);
    let asked = Form::asked(matches);
    let written = path("output-file").map_or(Ok(()), |path| {
        files::write(path, answer.text(asked.unwrap_or(Form::Json)).as_bytes())
    });
    if path("output-file").is_none() {
        // stderr may be closed; the exit code is the program's in any case.
        let _ = io::stderr().write_all(answer.text(asked.unwrap_or(Form::Table)).as_bytes());
    }
    for lost in
        [run.lost.clone(), written.err().map(|failure| failure.to_string())].into_iter().flatten()
    {
        let _ = writeln!(io::stderr(), "monitor: {}", output::one_line(&lost));
    }
    std::process::exit(run.exit_code())
}
