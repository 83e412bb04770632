//! Measures points one after the other and shows progress on stderr.

use std::io::{self, IsTerminal, Write};
use std::time::Instant;

use clap::ArgMatches;
use kernels::backend::{Backend, Cache, Description, DeviceId, Fault, Kernel, Work};
use kernels::cpu::clock::SystemClock;
use kernels::devices;
use kernels::measure::{Plan, Stage, Stopped};

use report::number_text::counted;
use report::output::json::bench::BenchJson;
use report::output::words::progress::{self, ProgressUnit};

use super::expected::Expectation;
use super::flags::Settings;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::hooks::Hooks;
use crate::measure::turn::Turn;
use crate::measure::{machine, record};
use crate::output;
use crate::telemetry::SensorReader;

pub(super) fn all(
    settings: Settings,
    matches: &ArgMatches,
    points: impl Fn(&dyn Backend) -> Vec<(Kernel, Cache)>,
) -> Result<(), Failure> {
    let expectation = Expectation::of(matches, &settings)?;
    let mut device = open(settings)?;
    let points = points(&*device);
    let mut records = Vec::new();
    let measured = run(&mut *device, settings, &points, |mut record| {
        expectation.add(&mut record);
        records.push(record);
        Ok(())
    });
    // A device that fails leaves the points before.
    if measured.is_ok() || !records.is_empty() {
        super::print(&records, matches)?;
    }
    measured.and_then(|()| complain(&records))
}

/// Measures points and returns their records.
pub(super) fn records(
    settings: Settings,
    points: impl Fn(&dyn Backend) -> Vec<(Kernel, Cache)>,
) -> Result<Vec<BenchJson>, Failure> {
    let mut device = open(settings)?;
    let points = points(&*device);
    let mut records = Vec::new();
    run(&mut *device, settings, &points, |record| {
        records.push(record);
        Ok(())
    })?;
    Ok(records)
}

/// Measures points and passes each record to a callback.
pub(super) fn each(
    settings: Settings,
    points: &[(Kernel, Cache)],
    take: impl FnMut(BenchJson) -> Result<(), Failure>,
) -> Result<(), Failure> {
    run(&mut *open(settings)?, settings, points, take)
}

/// The device with an id.
pub(in crate::verbs) fn found(id: DeviceId) -> Result<devices::Device, Failure> {
    let asked = id.to_string();
    let devices = machine::devices(&Hooks::read().map_err(Failure::BadInput)?, Some(&asked));
    let device = devices.into_iter().find(|device| device.id == id);
    device.ok_or_else(|| Failure::NoDevice(format!("{id} is gone")))
}

/// Opens the device of these settings.
pub(super) fn open(settings: Settings) -> Result<Box<dyn Backend>, Failure> {
    let device = &found(settings.device)?;
    let opened = device.open(&devices::Settings { workers: settings.threads, isa: settings.isa });
    opened.map_err(|fault| Failure::NoDevice(machine::unopened(device, &fault)))
}

fn run(
    device: &mut dyn Backend,
    settings: Settings,
    points: &[(Kernel, Cache)],
    mut take: impl FnMut(BenchJson) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let clock = SystemClock::new();
    let card = device.describe().address;
    let card = card.as_deref();
    measurable(device, points)?;
    let _turn = Turn::wait()?;
    let (start, total) = (Instant::now(), points.len() as u64);
    let (mut left_out, mut is_any) = (LeftOut::default(), false);
    for (done, (kernel, cache)) in (0..).zip(points) {
        let work = Work { kernel: *kernel, cache: *cache, seed: settings.seed };
        let begun = begun(done, total, start.elapsed().as_secs_f64());
        let line = Line::new(format!("{begun}: {}", kernel.key()));
        let mut measure = |plan: &Plan| {
            record::measure(&clock, device, &work, plan, &mut |stage| line.show(stage))
        };
        let measured = measure(&settings.plan).and_then(|burst| {
            let Some(plan) = settings.sustained_plan() else { return Ok(vec![burst]) };
            let mut sustained = measure(&plan)?;
            sustained.conditions.sustained_s = settings.sustained.map(|load| load.as_secs_f64());
            Ok(vec![burst, sustained])
        });
        line.end();
        let records = match measured {
            Ok(records) => records,
            // Other points may have room, and kernels of other formats may take these sizes.
            Err(Stopped::Failed(fault)) if machine::is_of_the_point(&fault) => {
                left_out.0.push((*kernel, failure(&*device, Stopped::Failed(fault))));
                continue;
            }
            Err(stopped) => {
                left_out.tell();
                return Err(failure(&*device, stopped));
            }
        };
        is_any = true;
        for mut record in records {
            if let Some(card) = card {
                let sensed = SensorReader::new(Clock::default()).sensed();
                sensed.users_of(card).add_to_own(&mut record.flags, &mut record.conditions);
            }
            take(record)?;
        }
    }
    if is_any {
        left_out.tell();
        return Ok(());
    }
    left_out.0.into_iter().next().map_or(Ok(()), |(_, why)| Err(why))
}

/// Points without a record, with the reason.
#[derive(Default)]
struct LeftOut(Vec<(Kernel, Failure)>);

impl LeftOut {
    fn tell(&self) {
        for (kernel, why) in &self.0 {
            say(&format!("left out: {}: {why}", machine::point(*kernel)));
        }
    }
}

/// Prints a note on stderr, which may be closed.
pub(super) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", output::one_line(line));
}

/// Points that are measured, and the time that the rest takes: `3 of 9 points, about 12 s left`.
fn begun(done: u64, total: u64, passed: f64) -> String {
    let left = progress::seconds_left(done, total, passed);
    let left = left.map_or_else(String::new, |left| format!(", {}", progress::time_left(left)));
    format!("{}{left}", progress::done_of(done, total, ProgressUnit::Points))
}

/// Refuses kernels that the device lacks.
fn measurable(device: &dyn Backend, points: &[(Kernel, Cache)]) -> Result<(), Failure> {
    let support = device.support();
    let Some((kernel, _)) = points.iter().find(|(kernel, _)| !support.has(*kernel)) else {
        return Ok(());
    };
    let known: Vec<&str> = support.kernels.iter().map(|known| known.key).collect();
    let (id, key) = (device.describe().id, kernel.key());
    Err(Failure::bad(format!("{key} is not measured on {id}; it measures {}", known.join(", "))))
}

/// A wrong result is a failure, returned after its record was printed.
pub(super) fn complain(records: &[BenchJson]) -> Result<(), Failure> {
    let wrong: Vec<&str> =
        records.iter().filter(|it| !it.check.passed).map(|it| it.kernel.as_str()).collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Failure::Failed(format!(
            "wrong results, so their times are invalid: {}",
            wrong.join(", ")
        )))
    }
}

/// The message for a point without a record.
pub(super) fn failure(device: &dyn Backend, stopped: Stopped<Fault>) -> Failure {
    match stopped {
        Stopped::Failed(fault @ Fault::NoDevice) => {
            let Description { id, device, .. } = device.describe();
            Failure::NoDevice(format!("{id} ({device}): {}", machine::said(&fault)))
        }
        Stopped::Failed(fault @ Fault::NoMemory { .. }) => {
            let Description { id, device, .. } = device.describe();
            Failure::bad(format!(
                "{id} ({device}): {}; choose a smaller size",
                machine::said(&fault)
            ))
        }
        Stopped::Failed(Fault::NoCache { bytes, cache }) => Failure::bad(format!(
            "{} MB do not fit into the last-level cache of {} MB; choose a smaller size, or omit --cache hot",
            bytes.div_ceil(1_000_000),
            cache / 1_000_000
        )),
        Stopped::Failed(Fault::TooSmall { bytes, least }) => Failure::bad(format!(
            "an operand of {bytes} bytes stays in the cache; a cold measurement needs at least {least} bytes, so choose a larger \
             shape or --cache hot"
        )),
        Stopped::Failed(Fault::Unsupported) => Failure::bad("this backend has no such kernel"),
        Stopped::Failed(Fault::Refused(why)) => Failure::bad(why),
        Stopped::Failed(Fault::Device(why)) => Failure::Failed(format!("the device failed: {why}")),
        Stopped::Failed(fault) => Failure::Failed(format!("the device failed: {fault:?}")),
        Stopped::NoTime => Failure::Failed("the clock of this machine does not advance".into()),
        Stopped::Canceled => Failure::Failed("canceled".into()),
        other => Failure::Failed(format!("it stopped: {other:?}")),
    }
}

/// A progress line that overwrites itself; only shown on a terminal.
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
            Stage::Choosing(tried) => format!("{tried} algorithms tried"),
            Stage::WarmUp(slices) if slices % 4 == 0 => "warming up".to_owned(),
            Stage::Sampling { n: 1, .. } => counted(1, "sample", "samples"),
            // Writing takes CPU time, so the line is updated seldom.
            Stage::Sampling { n, half_width } if n % 64 == 1 && half_width.is_finite() => {
                format!("{n} samples, median ±{:.2} %", half_width * 100.0)
            }
            Stage::WarmUp(_) | Stage::Begin | Stage::Sampling { .. } | Stage::End => return,
        };
        self.write(&text);
    }

    pub(super) fn write(&self, text: &str) {
        if self.shown {
            // stderr may be closed, which is no reason to fail.
            let _ = write!(io::stderr(), "\r\x1b[K{}: {text}", self.name);
        }
    }

    pub(super) fn end(&self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_says_how_much_is_done_and_how_long_the_rest_takes() {
        assert_eq!(begun(0, 9, 0.1), "0 of 9 points");
        assert_eq!(begun(3, 9, 6.0), "3 of 9 points, about 12 s left");
    }
}
