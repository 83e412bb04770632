//! Points one after the other, with a line on stderr that says how far it is.

use std::io::{self, IsTerminal, Write};

use clap::ArgMatches;
use kernels::backend::{Backend, Cache, Fault, Kernel, Work};
use kernels::cpu::backend::Cpu;
use kernels::cpu::clock::SystemClock;
use kernels::measure::{Stage, Stopped};

use report::output::json::bench::BenchJson;

use super::flags::Settings;
use crate::failure::Failure;
use crate::measure::record;

/// Measures points and prints their records.
pub(super) fn all(
    settings: Settings,
    matches: &ArgMatches,
    points: impl Fn(&Cpu) -> Vec<(Kernel, Cache)>,
) -> Result<(), Failure> {
    let records = records(settings, points)?;
    super::print(&records, matches)?;
    complain(&records)
}

/// Measures points and keeps their records.
pub(super) fn records(
    settings: Settings,
    points: impl Fn(&Cpu) -> Vec<(Kernel, Cache)>,
) -> Result<Vec<BenchJson>, Failure> {
    let mut cpu = cpu(settings)?;
    let points = points(&cpu);
    let mut records = Vec::new();
    run(&mut cpu, settings, &points, |record| {
        records.push(record);
        Ok(())
    })?;
    Ok(records)
}

/// Measures points and gives away their records one by one.
pub(super) fn each(
    settings: Settings,
    points: &[(Kernel, Cache)],
    take: impl FnMut(BenchJson) -> Result<(), Failure>,
) -> Result<(), Failure> {
    run(&mut cpu(settings)?, settings, points, take)
}

fn cpu(settings: Settings) -> Result<Cpu, Failure> {
    let mut cpu = Cpu::new(settings.threads, settings.isa);
    cpu.probe().map_err(|fault| failure(Stopped::Failed(fault)))?;
    Ok(cpu)
}

fn run(
    cpu: &mut Cpu,
    settings: Settings,
    points: &[(Kernel, Cache)],
    mut take: impl FnMut(BenchJson) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let clock = SystemClock::new();
    for (index, (kernel, cache)) in points.iter().enumerate() {
        let work = Work { kernel: *kernel, cache: *cache, seed: settings.seed };
        let line = Line::new(format!("{} of {}: {}", index + 1, points.len(), kernel.key()));
        let measured =
            record::measure(&clock, cpu, &work, &settings.plan, &mut |stage| line.show(stage));
        line.end();
        take(measured.map_err(failure)?)?;
    }
    Ok(())
}

/// A wrong result is a failure, after its record was shown.
pub(super) fn complain(records: &[BenchJson]) -> Result<(), Failure> {
    let wrong: Vec<&str> =
        records.iter().filter(|it| !it.check.passed).map(|it| it.kernel.as_str()).collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Failure::Failed(format!(
            "results are wrong, so their times say nothing: {}",
            wrong.join(", ")
        )))
    }
}

/// Why there is no record.
pub(super) fn failure(stopped: Stopped<Fault>) -> Failure {
    match stopped {
        Stopped::Failed(Fault::NoDevice) => Failure::NoDevice("there is no such device".into()),
        Stopped::Failed(Fault::NoMemory { bytes }) => Failure::bad(format!(
            "this needs {} GB of memory, more than is free; choose less",
            bytes.div_ceil(1_000_000_000)
        )),
        Stopped::Failed(Fault::NoCache { bytes, cache }) => Failure::bad(format!(
            "{} MB do not stay in a last-level cache of {} MB; choose less, or leave --cache hot out",
            bytes.div_ceil(1_000_000),
            cache / 1_000_000
        )),
        Stopped::Failed(Fault::TooSmall { bytes, least }) => Failure::bad(format!(
            "an operand of {bytes} bytes stays in the cache; at least {least} bytes are measured cold, so choose a larger \
             shape or --cache hot"
        )),
        Stopped::Failed(Fault::Unsupported) => Failure::bad("this backend has no kernel for that"),
        Stopped::Failed(Fault::Device(why)) => Failure::Failed(format!("the device failed: {why}")),
        Stopped::Failed(fault) => Failure::Failed(format!("the device failed: {fault:?}")),
        Stopped::NoTime => Failure::Failed("the clock of this machine stands still".into()),
        Stopped::Canceled => Failure::Failed("it was canceled".into()),
        other => Failure::Failed(format!("it stopped: {other:?}")),
    }
}

/// A line that is written over itself, for people only.
pub(super) struct Line {
    name: String,
    shown: bool,
}

impl Line {
    pub(super) fn new(name: String) -> Self {
        Self { name, shown: io::stderr().is_terminal() }
    }

    fn show(&self, stage: Stage) {
        let text = match stage {
            Stage::WarmUp(slices) if slices % 4 == 0 => "warming up".to_owned(),
            // Writing takes time of a core, so it is done seldom.
            Stage::Sampling { n, half_width } if n % 64 == 1 && half_width.is_finite() => {
                format!("{n} samples, median certain to {:.2} %", half_width * 100.0)
            }
            Stage::WarmUp(_) | Stage::Begin | Stage::Sampling { .. } | Stage::End => return,
        };
        self.write(&text);
    }

    pub(super) fn write(&self, text: &str) {
        if self.shown {
            // Nobody may be there to see it.
            let _ = write!(io::stderr(), "\r\x1b[K{}: {text}", self.name);
        }
    }

    pub(super) fn end(&self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
