//! The flags that all measurements share.

use std::time::Duration;

use clap::{Arg, ArgMatches, Command, ValueHint};
use kernels::backend::{BackendKind, Cache, DeviceId};
use kernels::cpu::isa::{Isa, Level};
use kernels::cpu::threads::Cores;
use kernels::measure::{Plan, StopRule, WarmUp};
use report::input::number_input;
use report::number_text::typed;

use crate::failure::Failure;
use crate::hooks::Hooks;
use crate::measure::machine::{self, NotFound};

/// Upper bound of the sample count and of the time limit in s.
const MOST_SAMPLES: u64 = 100_000;
const MOST_SECONDS: f64 = 3600.0;
/// Longest load before a second measurement [s].
const MOST_SUSTAINED: f64 = 600.0;
/// Smallest array: one page, which belongs to one worker. Cold iterations rotate over arrays, and thousands of smaller ones would
/// be needed to exceed the cache.
const LEAST_BYTES: u64 = 4096;
/// Largest array, in bytes; no known machine has more memory.
const MOST_BYTES: u64 = 10_000_000_000_000;

/// The settings of a measurement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub(super) plan: Plan,
    pub(super) device: DeviceId,
    pub(super) threads: Option<usize>,
    pub(super) isa: Option<Isa>,
    pub(super) seed: u64,
    /// Load before a second measurement of each point.
    pub(super) sustained: Option<Duration>,
}

/// Adds the flags of a measurement to a verb.
pub(super) fn add(command: Command) -> Command {
    command.args([
        device(),
        text("iterations", "N").help(
            "Fixed number of samples, instead of sampling until the median is known to half a percent",
        ),
        text("time-limit", "SECONDS")
            .help("Time limit for the samples of a point, in s; default 10. A result that needed more is flagged"),
        text("warm-up", "SECONDS")
            .help("Time limit for the warm-up before a point, in s; default 3. It ends earlier if times are stable"),
        text("sustained", "SECONDS")
            .help("Measure each point again after so many seconds of its own load, at most 600: first in a burst, then with the clocks and the temperature of steady load"),
        text("threads", "N").help("Threads; default: one per physical core"),
        text("isa", "NAME").help("Instruction set; default: the widest of this processor"),
        text("seed", "N").help("Seed of the random data; default 1"),
        text("hardware", "NAME").help(
            "Device whose expected times stand beside the measured ones: a name of the catalog or a file; default: this one where the catalog has it",
        ),
    ])
}

/// The device that is measured; `--backend` is its older name.
pub(in crate::verbs) fn device() -> Arg {
    text("device", "NAME").alias("backend").help(
        "Device: auto (default), cpu, or another one of this machine by key and index such as cuda:0; a name that it lacks lists those it has",
    )
}

/// Name of the flag of [`cuda_libs`].
pub(crate) const CUDA_LIBS: &str = "cuda-libs";

/// Folders in which CUDA's libraries are looked for first.
pub(crate) fn cuda_libs() -> Arg {
    Arg::new(CUDA_LIBS)
        .long(CUDA_LIBS)
        .value_name("DIR")
        .value_hint(ValueHint::DirPath)
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .action(clap::ArgAction::Append)
        .help("Folder of CUDA's libraries, looked through before the loader's path and the folders of Python packages; may be repeated")
}

/// The device of [`device`].
///
/// # Errors
/// A device that this machine lacks, and a text that names no device.
pub(in crate::verbs) fn device_of(matches: &ArgMatches) -> Result<DeviceId, Failure> {
    device_named(matches.get_one::<String>("device").map(String::as_str))
}

/// The device with a name; without a name the first one.
///
/// # Errors
/// See [`device_of`].
pub(in crate::verbs) fn device_named(asked: Option<&str>) -> Result<DeviceId, Failure> {
    let devices = machine::devices(&Hooks::read().map_err(Failure::BadInput)?, asked);
    match machine::find(&devices, asked) {
        Ok(device) => Ok(device.id),
        Err(why @ NotFound::Absent { .. }) => {
            Err(Failure::NoDevice(machine::absent(&why, asked.unwrap_or_default())))
        }
        Err(why @ NotFound::NoName(..)) => Err(Failure::BadInput(why.to_string())),
    }
}

fn text(name: &'static str, value: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name(value)
        .value_hint(ValueHint::Other)
        .allow_negative_numbers(true)
}

pub(super) fn bytes() -> Arg {
    text("bytes", "BYTES").help(
        "Size of an array; default: four times the last-level cache, a quarter of it with --cache hot",
    )
}

pub(super) fn cache() -> Arg {
    Arg::new("cache")
        .long("cache")
        .value_name("STATE")
        .value_parser(["cold", "hot"])
        .help("cold (default): arrays rotate over four times the last-level cache; hot: one array that fits into it")
}

pub(super) fn cache_of(matches: &ArgMatches) -> Cache {
    let hot = matches.get_one::<String>("cache").is_some_and(|state| state == "hot");
    if hot { Cache::Hot } else { Cache::Cold }
}

pub(super) fn bytes_of(matches: &ArgMatches) -> Result<Option<u64>, Failure> {
    whole(matches, "bytes", LEAST_BYTES, MOST_BYTES)
}

impl Settings {
    /// The defaults.
    pub(super) const STANDARD: Self = Self {
        plan: Plan::STANDARD,
        device: DeviceId::CPU,
        threads: None,
        isa: None,
        seed: 1,
        sustained: None,
    };

    pub(super) fn of(matches: &ArgMatches) -> Result<Self, Failure> {
        let (device, threads, isa) = (device_of(matches)?, threads(matches)?, isa(matches)?);
        if device.backend != BackendKind::Cpu && (threads.is_some() || isa.is_some()) {
            return Err(Failure::bad(format!(
                "--threads and --isa are of processors; omit them for {device}"
            )));
        }
        Ok(Self {
            plan: Plan { warm_up: warm_up(matches)?, rule: rule(matches)?, ..Plan::STANDARD },
            device,
            threads,
            isa,
            seed: whole(matches, "seed", 0, u64::MAX)?.unwrap_or(1),
            sustained: number(matches, "sustained", 1.0, MOST_SUSTAINED)?
                .map(Duration::from_secs_f64),
        })
    }

    /// The plan of the second measurement of a point, if there is one.
    pub(super) fn sustained_plan(&self) -> Option<Plan> {
        let load = self.sustained?;
        let warm_up = self.plan.warm_up;
        let warm_up = WarmUp { least: load, most: load.max(warm_up.most), ..warm_up };
        Some(Plan { warm_up, ..self.plan })
    }
}

/// More threads than cores would wait for each other.
fn threads(matches: &ArgMatches) -> Result<Option<usize>, Failure> {
    let most = Cores::of_this_process().logical() as u64;
    Ok(whole(matches, "threads", 1, most)?.and_then(|n| usize::try_from(n).ok()))
}

fn warm_up(matches: &ArgMatches) -> Result<WarmUp, Failure> {
    let standard = Plan::STANDARD.warm_up;
    let most = number(matches, "warm-up", 0.0, MOST_SECONDS)?.map(Duration::from_secs_f64);
    let most = most.unwrap_or(standard.most);
    Ok(WarmUp { most, least: standard.least.min(most), ..standard })
}

fn rule(matches: &ArgMatches) -> Result<StopRule, Failure> {
    let limit = number(matches, "time-limit", 0.01, MOST_SECONDS)?;
    let iterations = whole(matches, "iterations", 1, MOST_SAMPLES)?;
    match (iterations, limit, Plan::STANDARD.rule) {
        (Some(_), Some(_), _) => Err(Failure::bad(
            "--iterations and --time-limit exclude each other: a fixed number of samples has no time limit",
        )),
        (Some(n), None, _) => Ok(StopRule::Iterations(usize::try_from(n).unwrap_or(usize::MAX))),
        (None, Some(seconds), StopRule::Certain { half_width, least, shortest, .. }) => {
            let limit = Duration::from_secs_f64(seconds);
            Ok(StopRule::Certain { half_width, least, shortest: shortest.min(limit), limit })
        }
        (None, _, rule) => Ok(rule),
    }
}

fn isa(matches: &ArgMatches) -> Result<Option<Isa>, Failure> {
    let Some(key) = matches.get_one::<String>("isa") else { return Ok(None) };
    let here: Vec<&str> = Isa::available().map(|isa| isa.level().key()).collect();
    let found = Level::of_key(key).and_then(Isa::of);
    found.map(Some).ok_or_else(|| {
        Failure::bad(format!("this processor has no `{key}`; it has {}", here.join(", ")))
    })
}

/// A whole number within bounds; `None` if the flag was not given.
pub(super) fn whole(
    matches: &ArgMatches,
    name: &str,
    least: u64,
    most: u64,
) -> Result<Option<u64>, Failure> {
    let Some(text) = matches.get_one::<String>(name) else { return Ok(None) };
    let value = number_input::count(text).filter(|value| (least..=most).contains(value));
    value.map(Some).ok_or_else(|| {
        Failure::bad(format!("{name} must be a whole number from {least} to {most}; got {text}"))
    })
}

/// Whole numbers within bounds, separated by commas; `None` if the flag was not given.
pub(super) fn counts(
    matches: &ArgMatches,
    name: &str,
    (least, most): (u64, u64),
) -> Result<Option<Vec<u64>>, Failure> {
    // Not every verb has each of these flags.
    let Ok(Some(list)) = matches.try_get_one::<String>(name) else { return Ok(None) };
    let count = |word: &str| {
        let count = number_input::count(word).filter(|count| (least..=most).contains(count));
        count.ok_or_else(|| {
            let got = if word.trim().is_empty() { "an empty item" } else { word };
            Failure::bad(format!("{name} must be a whole number from {least} to {most}; got {got}"))
        })
    };
    let counts: Vec<u64> = list.split(',').map(count).collect::<Result<_, _>>()?;
    match counts.iter().enumerate().find(|(i, count)| counts[..*i].contains(count)) {
        Some((_, twice)) => Err(Failure::bad(format!("{name} has {twice} twice"))),
        None => Ok(Some(counts)),
    }
}

/// Words separated by commas, each once whatever its case; `None` if the flag was not given.
pub(super) fn words(matches: &ArgMatches, name: &str) -> Result<Option<Vec<String>>, Failure> {
    let Some(list) = matches.get_one::<String>(name) else { return Ok(None) };
    let words: Vec<String> = list.split(',').map(|word| word.trim().to_owned()).collect();
    for (i, word) in words.iter().enumerate() {
        if word.is_empty() {
            return Err(Failure::bad(format!("{name} has an empty item")));
        }
        if words[..i].iter().any(|other| other.eq_ignore_ascii_case(word)) {
            return Err(Failure::bad(format!("{name} has {word} twice")));
        }
    }
    Ok(Some(words))
}

fn number(matches: &ArgMatches, name: &str, least: f64, most: f64) -> Result<Option<f64>, Failure> {
    let Some(text) = matches.get_one::<String>(name) else { return Ok(None) };
    let value = number_input::real(text).filter(|value| (least..=most).contains(value));
    value.map(Some).ok_or_else(|| {
        Failure::bad(format!(
            "{name} must be a number from {} to {}; got {text}",
            typed(least),
            typed(most)
        ))
    })
}
