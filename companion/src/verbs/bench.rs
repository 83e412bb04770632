//! `bench`: measurements on this machine.

mod diff;
mod expected;
mod flags;
mod layer;
pub(super) mod point;
mod point_file;
mod predicted;
mod product;
mod selftest;

use clap::{ArgMatches, Command};
use kernels::backend::{Cache, DeviceId, Kernel};
use kernels::measure::Plan;
use report::output::json::bench::BenchJson;
use report::output::summary;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{self, Answer, Form, Rows};
use flags::Settings;
pub(crate) use flags::{CUDA_LIBS, cuda_libs};
pub(super) use flags::{device, device_named, device_of};

pub(super) fn command() -> Command {
    Command::new("bench")
        .about("Measure on this machine: bandwidth, peaks, GEMV and GEMM, the other kernels of a layer; test the method; compare two results")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(cuda_libs().global(true))
        .subcommands([
            bandwidth(),
            flops(),
            product::gemv(),
            product::gemm(),
            product::sweep(),
        ])
        .subcommands(layer::commands())
        .subcommands([selftest::command(), diff::command()])
        .after_help(
            "Examples:\n  ridgepoint bench bandwidth\n  ridgepoint bench flops -o json > flops.json\n  \
             ridgepoint bench diff before.json after.json\n  ridgepoint bench selftest",
        )
}

fn bandwidth() -> Command {
    flags::add(Command::new("bandwidth"))
        .about("Memory bandwidth: read, copy, triad")
        .arg(flags::bytes())
        .arg(flags::cache())
        .arg(output::argument())
        .after_help(
            "Arrays rotate over four times the last-level cache unless --cache is hot.\n\n\
             Example:\n  ridgepoint bench bandwidth --bytes 1e9 -o json",
        )
}

fn flops() -> Command {
    flags::add(Command::new("flops"))
        .about("Arithmetic peaks: multiply-adds in FP32 and dot products in INT8, in registers; of a GPU tensor cores and large products of matrices, too")
        .arg(output::argument())
        .after_help("Example:\n  ridgepoint bench flops --isa avx2")
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    match matches.subcommand() {
        Some(("bandwidth", matches)) => run_bandwidth(matches),
        Some(("flops", matches)) => run_flops(matches),
        Some(("gemv", matches)) => product::run_gemv(matches),
        Some(("gemm", matches)) => product::run_gemm(matches),
        Some(("sweep", matches)) => product::run_sweep(matches),
        Some(("selftest", matches)) => selftest::run(matches),
        Some(("diff", matches)) => diff::run(matches),
        Some((verb, matches)) if layer::kind(verb).is_some() => layer::run(verb, matches),
        other => unreachable!("clap lets only known verbs through, not {other:?}"),
    }
}

/// Measures GEMV or GEMM with operands in memory, not in cache.
///
/// # Errors
/// A failure of the machine, too little memory, or a wrong result.
pub(super) fn products(device: DeviceId, kernels: &[Kernel]) -> Result<Vec<BenchJson>, Failure> {
    let points: Vec<(Kernel, Cache)> =
        kernels.iter().map(|kernel| (*kernel, Cache::Cold)).collect();
    planned(device, Settings::STANDARD.plan, &points)
}

/// Measures points by a plan.
///
/// # Errors
/// See [`products`].
pub(super) fn planned(
    device: DeviceId,
    plan: Plan,
    points: &[(Kernel, Cache)],
) -> Result<Vec<BenchJson>, Failure> {
    let settings = Settings { plan, device, ..Settings::STANDARD };
    let records = point::records(settings, |_| points.to_vec())?;
    point::complain(&records)?;
    Ok(records)
}

fn run_bandwidth(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = Settings::of(matches)?;
    let bytes = flags::bytes_of(matches)?;
    let cache = flags::cache_of(matches);
    point::all(settings, matches, |device| {
        let support = device.support();
        let usual = if cache == Cache::Hot { support.hot_bytes } else { support.cold_bytes };
        let bytes = bytes.unwrap_or(usual);
        [Kernel::Read { bytes }, Kernel::Copy { bytes }, Kernel::Triad { bytes }]
            .map(|kernel| (kernel, cache))
            .to_vec()
    })
}

fn run_flops(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = Settings::of(matches)?;
    point::all(settings, matches, |device| device.support().peaks())
}

fn print(records: &[BenchJson], matches: &ArgMatches) -> Result<(), Failure> {
    let rows: Vec<Value> = records.iter().map(|record| json!(record)).collect();
    Answer { document: summary::bench(records), value: Value::Array(rows), rows: Rows::List }
        .print(Form::of(matches))
}
